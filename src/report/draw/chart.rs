//! Charts written to files. The file extension selects the format.

use super::scene::DrawScene;
use crate::{export, export::ExportSubject, export_error::ExportFileError};
use std::fmt;
use std::path::Path;

/// Width and height of a 16:9 slide in pixels.
pub const SLIDE: (u32, u32) = (1600, 900);

/// Charts are laid out for at least this width and height, and scaled down for smaller pictures.
const SMALLEST_LAYOUT: (u32, u32) = (1280, 600);
/// Texts of fewer pixels are not legible.
const SMALLEST_TEXT: f64 = 8.5;
/// Ratio of the sizes of consecutive layouts that are tried, and their number.
const LAYOUT_STEP: f64 = 1.125;
const LAYOUTS: i32 = 16;

/// Error if a chart is not legible at the requested size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartSizeError {
    pub requested: (u32, u32),
    pub needed: (u32, u32),
}

impl fmt::Display for ChartSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(width, height), needed] = [self.requested, self.needed];
        write!(
            f,
            "--size {width}x{height}: the texts of this chart would be illegible; use at least {}x{}, or no --size",
            needed.0, needed.1
        )
    }
}

impl std::error::Error for ChartSizeError {}

/// Draws a chart that has exactly this size. `draw` lays it out for a given size; its height may exceed that size. The
/// chart is laid out on a larger page and scaled down until all texts have room.
pub fn fitted(size: (u32, u32), mut draw: impl FnMut((u32, u32)) -> DrawScene) -> Result<DrawScene, ChartSizeError> {
    let part = |of: u32, own: u32| f64::from(of) / f64::from(own.max(1));
    //  Pictures larger than a slide are enlarged slides.
    let ratio = |layout: (u32, u32)| part(layout.0, size.0).max(part(layout.1, size.1));
    let smallest = ratio(SMALLEST_LAYOUT).max(ratio(SLIDE).min(1.0));
    let page = |factor: f64| [size.0, size.1].map(|side| (f64::from(side) * factor).round() as u32);
    for step in 0..LAYOUTS {
        let factor = smallest * libm::pow(LAYOUT_STEP, f64::from(step));
        let [width, height] = page(factor);
        let mut scene = draw((width, height));
        if scene.height > height {
            continue;
        }
        scene.height = height;
        if scene.layout_defect().is_some() {
            continue;
        }
        match scaled(&scene, size) {
            Ok(scaled) if scaled.layout_defect().is_none() => return Ok(scaled),
            Ok(_) => {}
            //  A layout of another size may be larger by one step.
            Err(error) => {
                let larger = |side: u32| (f64::from(side) * LAYOUT_STEP).ceil() as u32;
                let needed = (larger(error.needed.0), larger(error.needed.1));
                return Err(ChartSizeError { needed, ..error });
            }
        }
    }
    let [width, height] = page(smallest * libm::pow(LAYOUT_STEP, f64::from(LAYOUTS)));
    Err(ChartSizeError { requested: size, needed: (width, height) })
}

/// Scales a chart to this size, unless its texts become too small.
pub fn scaled(scene: &DrawScene, size: (u32, u32)) -> Result<DrawScene, ChartSizeError> {
    let part = |of: u32, own: u32| f64::from(of) / f64::from(own.max(1));
    let factor = part(size.0, scene.width).min(part(size.1, scene.height));
    let font = f64::from(scene.smallest_font_size().unwrap_or(i32::MAX));
    if factor >= 1.0 || font * factor >= SMALLEST_TEXT {
        return Ok(scene.scaled_to(size));
    }
    let needed = [scene.width, scene.height].map(|side| (f64::from(side) * SMALLEST_TEXT / font).ceil() as u32);
    Err(ChartSizeError { requested: size, needed: (needed[0].max(size.0), needed[1].max(size.1)) })
}

/// Writes a scene to a file. The file extension selects the format: `.svg`, or `.png` with the feature `png`.
pub fn save(scene: &DrawScene, path: &Path) -> Result<(), ExportFileError> {
    export::save(ExportSubject::Chart(scene), path)
}

#[cfg(test)]
#[path = "../../../tests/inside/report/draw/chart.rs"]
mod tests;
