//! Charts written to files. The file extension selects the format.

use super::scene::DrawScene;
use crate::{export, export::ExportSubject, export_error::ExportFileError};
use std::path::Path;

/// Width and height of a 16:9 slide in pixels.
pub const SLIDE: (u32, u32) = (1600, 900);

/// Writes a scene to a file. The file extension selects the format: `.svg`, or `.png` with the feature `png`.
pub fn save(scene: &DrawScene, path: &Path) -> Result<(), ExportFileError> {
    export::save(ExportSubject::Chart(scene), path)
}

#[cfg(test)]
#[path = "../../../tests/inside/report/draw/chart.rs"]
mod tests;
