//! Charts written to files. The file extension selects the format.

use super::scene::DrawScene;
use crate::export;
use crate::export::ExportSubject;
use crate::export_error::ExportFileError;
use crate::figures::growth_figure;
use crate::figures::restart_figure;
use sim_analysis::metrics::RestartMetrics;
use std::path::Path;

pub use crate::figures::growth_figure::GrowthPanel;

/// Width and height of a 16:9 slide in pixels.
pub const SLIDE: (u32, u32) = (1600, 900);

/// Writes restarts as stacked bars. The file extension selects the format: `.svg`, or `.png` with the feature `png`.
pub fn restart_chart(
    title: &str,
    subtitle: &str,
    (bars, below): (&[(String, RestartMetrics)], &[String]),
    size: (u32, u32),
    path: &Path,
) -> Result<(), ExportFileError> {
    save(&restart_figure::restart_bars(title, subtitle, bars, below, size), path)
}

/// Writes a line chart of quantities against the number of nodes.
pub fn growth_chart(title: &str, panels: &[GrowthPanel], size: (u32, u32), path: &Path) -> Result<(), ExportFileError> {
    save(&growth_figure::growth(title, panels, size), path)
}

/// Writes a scene to a file. The file extension selects the format: `.svg`, or `.png` with the feature `png`.
pub fn save(scene: &DrawScene, path: &Path) -> Result<(), ExportFileError> {
    export::save(ExportSubject::Chart(scene), path)
}

#[cfg(test)]
mod tests {
    use super::restart_figure::tests::{bars, panels};
    use super::*;

    #[test]
    fn markup_in_chart_names_is_escaped() {
        let dir = std::env::temp_dir().join(format!("jobset-sim-test-name-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("a.svg");
        let title = "<script>&\"\u{1b}[2J\u{202e}";
        restart_chart(title, title, (&bars(), &[]), SLIDE, &file).unwrap();
        let svg = std::fs::read_to_string(&file).unwrap();
        assert!(!svg.contains("<script") && svg.contains("&lt;script"), "{svg}");
        assert!(!svg.contains(['\u{1b}', '\u{202e}']), "{svg}");
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn svg_and_png_are_written_and_other_formats_rejected() {
        let dir = std::env::temp_dir().join(format!("jobset-sim-test-chart-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let draw = |name: &str| restart_chart("Title", "subtitle", (&bars(), &[]), SLIDE, &dir.join(name));
        draw("a.svg").unwrap();
        let svg = std::fs::read_to_string(dir.join("a.svg")).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("InPlaceRestart"));
        if cfg!(feature = "png") {
            draw("a.png").unwrap();
            growth_chart("Growth", &panels(), SLIDE, &dir.join("g.png")).unwrap();
            assert_eq!(&std::fs::read(dir.join("a.png")).unwrap()[1..4], b"PNG");
        }
        assert!(draw("a.pdf").is_err());
        let nowhere = draw("nowhere/a.png").unwrap_err().to_string();
        assert!(!nowhere.contains(['{', '"']), "in plain words: {nowhere}");
        std::fs::remove_dir_all(dir).unwrap();
    }
}
