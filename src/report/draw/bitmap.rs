//! Rendering of scenes to PNG. Only this module uses the libraries `plotters` and `ab_glyph`.

use super::scene::DrawScene;
use crate::export_error::ExportError;
use std::path::Path;

#[cfg(feature = "png")]
pub fn save(scene: &DrawScene, path: &Path) -> Result<(), ExportError> {
    drawing::save(scene, path)
}

#[cfg(not(feature = "png"))]
pub fn save(_: &DrawScene, _: &Path) -> Result<(), ExportError> {
    Err(ExportError::PngDisabled)
}

#[cfg(feature = "png")]
mod drawing {
    use super::super::scene::{self, BACKGROUND_COLOR, DrawScene, SceneShape, TextAnchor};
    use super::super::svg::{AREA_OPACITY, FONT};
    use crate::export_error::ExportError;
    use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
    use plotters::coord::Shift;
    use plotters::prelude::*;
    use sim_base::escape::for_terminal;
    use std::path::Path;

    pub fn save(scene: &DrawScene, path: &Path) -> Result<(), ExportError> {
        let font = FontRef::try_from_slice(FONT).map_err(|_| ExportError::InvalidFont)?;
        let size = (scene.width, scene.height);
        let mut rgb = vec![0; 3 * size.0 as usize * size.1 as usize];
        {
            let root = BitMapBackend::with_buffer(&mut rgb, size).into_drawing_area();
            draw(scene, &font, &root).map_err(|error| ExportError::Rasterization { reason: error.to_string() })?;
        }
        Ok(std::fs::write(path, super::super::png::encode(&rgb, size))?)
    }

    /// Ratio of the line height to the em size of the bundled font (ascent 1901 + descent 483 of 2048 units).
    /// `ab_glyph` interprets a scale as the line height, scenes specify the em size.
    const LINE_HEIGHT_RATIO: f32 = 2384.0 / 2048.0;

    fn rgb((r, g, b): scene::Rgb) -> RGBColor {
        RGBColor(r, g, b)
    }

    type DrawResult<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

    fn draw<DB: DrawingBackend>(
        scene: &DrawScene, font: &FontRef<'_>, root: &DrawingArea<DB, Shift>,
    ) -> DrawResult<DB> {
        root.fill(&rgb(BACKGROUND_COLOR))?;
        for shape in &scene.shapes {
            match shape {
                SceneShape::Rect { x, y, w, h, color } => {
                    let corners = [(*x, *y), (x + w, y + h)];
                    root.draw(&Rectangle::new(corners, rgb(*color).filled()))?;
                }
                SceneShape::Line { points, width, color } => {
                    let style = rgb(*color).stroke_width(*width);
                    root.draw(&PathElement::new(points.clone(), style))?;
                }
                SceneShape::Area { points, color } => {
                    let style = rgb(*color).mix(AREA_OPACITY).filled();
                    root.draw(&Polygon::new(points.clone(), style))?;
                }
                SceneShape::Text { x, y, size, anchor, color, text } => {
                    let text = for_terminal(text, false).replace('\n', " ");
                    let glyphs = glyphs(font, &text, (*x, *y), *size, *anchor);
                    draw_glyphs(root, font, glyphs, rgb(*color))?;
                }
            }
        }
        root.present()
    }

    /// Returns the glyphs of a text at exact positions. Rounding them to pixels would space the letters unevenly.
    fn glyphs(font: &FontRef<'_>, text: &str, (x, y): (i32, i32), size: i32, anchor: TextAnchor) -> Vec<Glyph> {
        let scale = PxScale::from(size as f32 * LINE_HEIGHT_RATIO);
        let scaled = font.as_scaled(scale);
        let ids: Vec<_> = text.chars().map(|c| font.glyph_id(c)).collect();
        let width: f32 = ids.iter().map(|id| scaled.h_advance(*id)).sum();
        let mut at = x as f32
            - match anchor {
                TextAnchor::Left => 0.0,
                TextAnchor::Middle => width / 2.0,
                TextAnchor::Right => width,
            };
        //  The baseline is half the capital height below the center, as in SVG.
        let baseline = (y + size * 36 / 100) as f32;
        let one = |id: &ab_glyph::GlyphId| {
            let glyph = id.with_scale_and_position(scale, point(at, baseline));
            at += scaled.h_advance(*id);
            glyph
        };
        ids.iter().map(one).collect()
    }

    fn draw_glyphs<DB: DrawingBackend>(
        root: &DrawingArea<DB, Shift>, font: &FontRef<'_>, glyphs: Vec<Glyph>, color: RGBColor,
    ) -> DrawResult<DB> {
        for outline in glyphs.into_iter().filter_map(|glyph| font.outline_glyph(glyph)) {
            let corner = outline.px_bounds().min;
            let mut pixels = Vec::new();
            outline.draw(|x, y, coverage| pixels.push((x as i32, y as i32, coverage)));
            for (x, y, coverage) in pixels.into_iter().filter(|pixel| pixel.2 > 0.0) {
                let place = (corner.x as i32 + x, corner.y as i32 + y);
                root.draw_pixel(place, &color.mix(f64::from(coverage.min(1.0))))?;
            }
        }
        Ok(())
    }
}
