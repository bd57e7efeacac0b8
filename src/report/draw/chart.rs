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
#[path = "../../../tests/inside/report/draw/chart.rs"]
mod tests;
