//! Rendering of scenes to PNG. Only this module uses the `plotters` library.

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
    use super::super::svg::{AREA_OPACITY, FONT, FONT_NAME};
    use crate::export_error::ExportError;
    use plotters::coord::Shift;
    use plotters::prelude::*;
    use plotters::style::text_anchor::{HPos, Pos, VPos};
    use sim_base::escape::for_terminal;
    use std::path::Path;

    pub fn save(scene: &DrawScene, path: &Path) -> Result<(), ExportError> {
        plotters::style::register_font(FONT_NAME, FontStyle::Normal, FONT).map_err(|_| ExportError::InvalidFont)?;
        let size = (scene.width, scene.height);
        let mut rgb = vec![0; 3 * size.0 as usize * size.1 as usize];
        {
            let root = BitMapBackend::with_buffer(&mut rgb, size).into_drawing_area();
            draw(scene, &root).map_err(|error| ExportError::Rasterization { reason: error.to_string() })?;
        }
        Ok(std::fs::write(path, super::super::png::encode(&rgb, size))?)
    }

    /// Ratio of the line height to the em size of the bundled font (ascent 1901 + descent 483 of 2048 units).
    /// `plotters` interprets a font size as the line height, scenes specify the em size.
    const LINE_HEIGHT_RATIO: f64 = 2384.0 / 2048.0;

    fn rgb((r, g, b): scene::Rgb) -> RGBColor {
        RGBColor(r, g, b)
    }

    type DrawResult<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

    fn draw<DB: DrawingBackend>(scene: &DrawScene, root: &DrawingArea<DB, Shift>) -> DrawResult<DB> {
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
                    let h = match anchor {
                        TextAnchor::Left => HPos::Left,
                        TextAnchor::Middle => HPos::Center,
                        TextAnchor::Right => HPos::Right,
                    };
                    let color = rgb(*color);
                    let style = TextStyle::from((FONT_NAME, f64::from(*size) * LINE_HEIGHT_RATIO).into_font())
                        .color(&color)
                        .pos(Pos::new(h, VPos::Center));
                    //  `plotters` centers the line box, whose center is above the center of the letters.
                    let text = for_terminal(text, false).replace('\n', " ");
                    root.draw_text(&text, &style, (*x, *y + size / 10))?;
                }
            }
        }
        root.present()
    }
}
