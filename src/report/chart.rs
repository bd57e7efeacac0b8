//! Scenes to files, SVG and PNG. The only file that names the drawing library.

use super::export::{self, Subject};
use super::figure;
use super::growth_figure;
use super::scene::Scene;
use crate::metrics::Restart;
use std::path::Path;

pub use super::growth_figure::Panel;

/// What a slide of 16:9 has.
pub const SLIDE: (u32, u32) = (1600, 900);

/// Restarts as stacked bars. The name of the file says the format: `.svg`, or `.png` where it is built in.
pub fn restart_chart(
    title: &str,
    subtitle: &str,
    (bars, below): (&[(String, Restart)], &[String]),
    size: (u32, u32),
    path: &Path,
) -> Result<(), String> {
    save(&figure::restarts(title, subtitle, bars, below, size), path)
}

/// Quantities against the number of nodes, as lines.
pub fn growth_chart(
    title: &str,
    panels: &[Panel],
    size: (u32, u32),
    path: &Path,
) -> Result<(), String> {
    save(&growth_figure::growth(title, panels, size), path)
}

/// The name of the file says the format: `.svg`, or `.png` where it is built in.
pub fn save(scene: &Scene, path: &Path) -> Result<(), String> {
    export::save(Subject::Chart(scene), path)
}

#[cfg(feature = "png")]
pub fn png(scene: &Scene, path: &Path) -> Result<(), String> {
    bitmap::save(scene, path)
}

#[cfg(not(feature = "png"))]
pub fn png(_: &Scene, _: &Path) -> Result<(), String> {
    Err("this program was built without PNG; write an .svg".to_owned())
}

#[cfg(feature = "png")]
mod bitmap {
    use super::super::scene::{self, Anchor, PAPER, Scene, Shape};
    use super::super::svg::{AREA_OPACITY, FONT, FONT_NAME};
    use crate::base::plain::for_terminal;
    use plotters::coord::Shift;
    use plotters::prelude::*;
    use plotters::style::text_anchor::{HPos, Pos, VPos};
    use std::path::Path;

    pub fn save(scene: &Scene, path: &Path) -> Result<(), String> {
        plotters::style::register_font(FONT_NAME, FontStyle::Normal, FONT)
            .map_err(|_| "the bundled font cannot be read".to_owned())?;
        let root = BitMapBackend::new(path, (scene.width, scene.height)).into_drawing_area();
        draw(scene, &root).map_err(why)
    }

    /// The library's size of a font is from its highest to its lowest letter, everybody else's its em: of the bundled
    /// font (ascent 1901 and descent 483 of 2048) so many ems.
    const LINE: f64 = 2384.0 / 2048.0;

    fn rgb((r, g, b): scene::Color) -> RGBColor {
        RGBColor(r, g, b)
    }

    /// The library tells what is wrong with a file as it tells data: what the system said is the first text in quotes.
    fn why(error: impl std::fmt::Display) -> String {
        let told = error.to_string();
        told.split('"').nth(1).unwrap_or(&told).to_owned()
    }

    type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

    fn draw<DB: DrawingBackend>(scene: &Scene, root: &DrawingArea<DB, Shift>) -> Drawn<DB> {
        root.fill(&rgb(PAPER))?;
        for shape in &scene.shapes {
            match shape {
                Shape::Rect { x, y, w, h, color } => {
                    let corners = [(*x, *y), (x + w, y + h)];
                    root.draw(&Rectangle::new(corners, rgb(*color).filled()))?;
                }
                Shape::Line {
                    points,
                    width,
                    color,
                } => {
                    let style = rgb(*color).stroke_width(*width);
                    root.draw(&PathElement::new(points.clone(), style))?;
                }
                Shape::Area { points, color } => {
                    let style = rgb(*color).mix(AREA_OPACITY).filled();
                    root.draw(&Polygon::new(points.clone(), style))?;
                }
                Shape::Text {
                    x,
                    y,
                    size,
                    anchor,
                    color,
                    text,
                } => {
                    let h = match anchor {
                        Anchor::Left => HPos::Left,
                        Anchor::Middle => HPos::Center,
                        Anchor::Right => HPos::Right,
                    };
                    let color = rgb(*color);
                    let style = TextStyle::from((FONT_NAME, f64::from(*size) * LINE).into_font())
                        .color(&color)
                        .pos(Pos::new(h, VPos::Center));
                    // The library centers the box of the font, which sits higher than its letters.
                    let text = for_terminal(text, false).replace('\n', " ");
                    root.draw_text(&text, &style, (*x, *y + size / 10))?;
                }
            }
        }
        root.present()
    }
}

#[cfg(test)]
mod tests {
    use super::figure::tests::{bars, panels};
    use super::*;

    #[test]
    fn a_name_in_a_chart_is_only_text() {
        let dir = std::env::temp_dir().join(format!("jobset-sim-test-name-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("a.svg");
        let title = "<script>&\"\u{1b}[2J\u{202e}";
        restart_chart(title, title, (&bars(), &[]), SLIDE, &file).unwrap();
        let svg = std::fs::read_to_string(&file).unwrap();
        assert!(
            !svg.contains("<script") && svg.contains("&lt;script"),
            "{svg}"
        );
        assert!(!svg.contains(['\u{1b}', '\u{202e}']), "{svg}");
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn both_formats_are_written_and_others_refused() {
        let dir =
            std::env::temp_dir().join(format!("jobset-sim-test-chart-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let draw =
            |name: &str| restart_chart("Title", "subtitle", (&bars(), &[]), SLIDE, &dir.join(name));
        draw("a.svg").unwrap();
        let svg = std::fs::read_to_string(dir.join("a.svg")).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("InPlaceRestart"));
        if cfg!(feature = "png") {
            draw("a.png").unwrap();
            growth_chart("Growth", &panels(), SLIDE, &dir.join("g.png")).unwrap();
            assert_eq!(&std::fs::read(dir.join("a.png")).unwrap()[1..4], b"PNG");
        }
        assert!(draw("a.pdf").is_err());
        let nowhere = draw("nowhere/a.png").unwrap_err();
        assert!(!nowhere.contains(['{', '"']), "in plain words: {nowhere}");
        std::fs::remove_dir_all(dir).unwrap();
    }
}
