//! Export of charts, pages, traces and metrics. The file extension selects the format.

use super::atomic_write;
use super::draw::scene::DrawScene;
use super::draw::svg::Animation;
use super::draw::{bitmap, svg};
use super::export_error::{ExportError, ExportFileError, FormatName};
use super::files::openmetrics;
use super::files::openmetrics::MetricFamilies;
use super::files::perfetto;
use super::files::perfetto::PerfettoTrace;
use super::page::{ReportPage, html, markdown};
use std::path::Path;

/// The content to write.
#[derive(Copy, Clone)]
pub enum ExportSubject<'a> {
    Chart(&'a DrawScene),
    Animation(&'a Animation),
    Page(&'a ReportPage),
    Trace(&'a PerfettoTrace<'a>),
    Metrics(&'a MetricFamilies<'a>),
}

impl ExportSubject<'_> {
    fn name(&self) -> &'static str {
        match self {
            ExportSubject::Chart(_) => "a chart",
            ExportSubject::Animation(_) => "an animation",
            ExportSubject::Page(_) => "a report",
            ExportSubject::Trace(_) => "a trace",
            ExportSubject::Metrics(_) => "run metrics",
        }
    }
}

/// A file format.
pub trait RunExporter: Sync {
    /// Returns the name of the format in messages.
    fn name(&self) -> &'static str;

    /// Returns the file extensions written by this exporter.
    fn extensions(&self) -> &'static [&'static str];

    /// Returns whether the format supports this kind of content.
    fn supports(&self, subject: ExportSubject<'_>) -> bool;

    /// Writes the content to `path`.
    fn write(&self, subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportError>;
}

pub const EXPORTERS: &[&dyn RunExporter] =
    &[&SvgExporter, &PngExporter, &HtmlExporter, &MarkdownExporter, &PerfettoExporter, &OpenMetricsExporter];

pub fn save(subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportFileError> {
    write(subject, path).map_err(|cause| ExportFileError { path: path.to_owned(), cause })
}

/// Writes the content to `path` in the format of the file extension. The error message does not include the path.
pub fn write(subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportError> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let mut fit = EXPORTERS.iter().filter(|e| e.supports(subject));
    match fit.find(|e| e.extensions().contains(&ending)) {
        Some(exporter) => exporter.write(subject, path),
        None => Err(unsupported_format(subject)),
    }
}

fn unsupported_format(subject: ExportSubject<'_>) -> ExportError {
    let fit = EXPORTERS.iter().filter(|e| e.supports(subject));
    let supported = fit.map(|e| FormatName { name: e.name(), extensions: e.extensions() });
    ExportError::UnsupportedFormat { subject: subject.name(), supported: supported.collect() }
}

fn bytes(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    Ok(atomic_write::write(path, bytes)?)
}

struct SvgExporter;

impl RunExporter for SvgExporter {
    fn name(&self) -> &'static str {
        "SVG"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["svg"]
    }

    fn supports(&self, subject: ExportSubject<'_>) -> bool {
        matches!(subject, ExportSubject::Chart(_) | ExportSubject::Animation(_))
    }

    fn write(&self, subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportError> {
        match subject {
            ExportSubject::Chart(scene) => bytes(path, svg::file(scene).as_bytes()),
            ExportSubject::Animation(film) => bytes(path, svg::animated_svg(film).as_bytes()),
            _ => Err(unsupported_format(subject)),
        }
    }
}

struct PngExporter;

impl RunExporter for PngExporter {
    fn name(&self) -> &'static str {
        "PNG"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["png"]
    }

    fn supports(&self, subject: ExportSubject<'_>) -> bool {
        matches!(subject, ExportSubject::Chart(_))
    }

    fn write(&self, subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportError> {
        match subject {
            ExportSubject::Chart(scene) => atomic_write::write_with(path, |path| bitmap::save(scene, path)),
            _ => Err(unsupported_format(subject)),
        }
    }
}

struct HtmlExporter;

impl RunExporter for HtmlExporter {
    fn name(&self) -> &'static str {
        "HTML"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm"]
    }

    fn supports(&self, subject: ExportSubject<'_>) -> bool {
        matches!(subject, ExportSubject::Page(_))
    }

    fn write(&self, subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportError> {
        match subject {
            ExportSubject::Page(page) => bytes(path, html::html(page).as_bytes()),
            _ => Err(unsupported_format(subject)),
        }
    }
}

struct MarkdownExporter;

impl RunExporter for MarkdownExporter {
    fn name(&self) -> &'static str {
        "Markdown"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["md"]
    }

    fn supports(&self, subject: ExportSubject<'_>) -> bool {
        matches!(subject, ExportSubject::Page(_))
    }

    /// Writes the page, and its charts as SVG files into a directory `<name>.charts` next to it.
    fn write(&self, subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportError> {
        let ExportSubject::Page(page) = subject else {
            return Err(unsupported_format(subject));
        };
        let assets = path.with_extension("charts");
        let name = assets.file_name().map(|n| n.to_string_lossy().into_owned());
        let charts: Vec<_> = page.charts().collect();
        let new = !charts.is_empty() && !assets.exists();
        if !charts.is_empty() {
            let mut partial = atomic_write::partial();
            std::fs::create_dir_all(&assets)?;
            partial.extend(new.then(|| (assets.clone(), Vec::new())));
        }
        let drawn = charts.into_iter().try_for_each(|chart| {
            let file = assets.join(format!("{}.svg", chart.name));
            bytes(&file, svg::file(&chart.scene).as_bytes())
        });
        let text = markdown::markdown(page, name.as_deref());
        let written = drawn.and_then(|()| bytes(path, text.as_bytes()));
        atomic_write::partial().retain(|(directory, _)| *directory != assets);
        if written.is_err() && new {
            //  Removes the charts so that no incomplete report remains.
            let _ = std::fs::remove_dir_all(&assets);
        }
        written
    }
}

struct PerfettoExporter;

impl RunExporter for PerfettoExporter {
    fn name(&self) -> &'static str {
        "Perfetto"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["perfetto-trace", "pftrace"]
    }

    fn supports(&self, subject: ExportSubject<'_>) -> bool {
        matches!(subject, ExportSubject::Trace(_))
    }

    fn write(&self, subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportError> {
        match subject {
            ExportSubject::Trace(of) => bytes(path, &perfetto::trace(of)),
            _ => Err(unsupported_format(subject)),
        }
    }
}

struct OpenMetricsExporter;

impl RunExporter for OpenMetricsExporter {
    fn name(&self) -> &'static str {
        "OpenMetrics"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["om", "prom", "txt"]
    }

    fn supports(&self, subject: ExportSubject<'_>) -> bool {
        matches!(subject, ExportSubject::Metrics(_))
    }

    fn write(&self, subject: ExportSubject<'_>, path: &Path) -> Result<(), ExportError> {
        match subject {
            ExportSubject::Metrics(of) => bytes(path, openmetrics::text(of).as_bytes()),
            _ => Err(unsupported_format(subject)),
        }
    }
}
