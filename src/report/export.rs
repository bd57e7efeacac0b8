//! Export of charts, pages, traces and metrics. The file extension selects the format.

use super::atomic_write;
use super::draw::scene::Scene;
use super::draw::svg::Film;
use super::draw::{bitmap, svg};
use super::files::openmetrics;
use super::files::openmetrics::Metrics;
use super::files::perfetto;
use super::files::perfetto::Trace;
use super::page::{Page, html, markdown};
use std::path::Path;

/// The content to write.
#[derive(Copy, Clone)]
pub enum Subject<'a> {
    Chart(&'a Scene),
    Film(&'a Film),
    Page(&'a Page),
    Trace(&'a Trace<'a>),
    Metrics(&'a Metrics<'a>),
}

impl Subject<'_> {
    fn name(&self) -> &'static str {
        match self {
            Subject::Chart(_) => "a chart",
            Subject::Film(_) => "a film",
            Subject::Page(_) => "a report",
            Subject::Trace(_) => "a trace",
            Subject::Metrics(_) => "a run's metrics",
        }
    }
}

/// A file format.
pub trait Exporter: Sync {
    /// Returns the name of the format in messages.
    fn name(&self) -> &'static str;

    /// Returns the file extensions written by this exporter.
    fn endings(&self) -> &'static [&'static str];

    /// Returns whether the format supports this kind of content.
    fn takes(&self, subject: Subject<'_>) -> bool;

    /// Writes the content to `path`.
    fn write(&self, subject: Subject<'_>, path: &Path) -> Result<(), String>;
}

/// All exporters.
pub const EXPORTERS: &[&dyn Exporter] = &[&Svg, &Png, &Html, &Markdown, &Perfetto, &OpenMetrics];

pub fn save(subject: Subject<'_>, path: &Path) -> Result<(), String> {
    write(subject, path).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Writes the content to `path` in the format of the file extension. The error message does not include the path.
pub fn write(subject: Subject<'_>, path: &Path) -> Result<(), String> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let mut fit = EXPORTERS.iter().filter(|e| e.takes(subject));
    match fit.find(|e| e.endings().contains(&ending)) {
        Some(exporter) => exporter.write(subject, path),
        None => Err(unknown(subject)),
    }
}

fn unknown(subject: Subject<'_>) -> String {
    let fit = EXPORTERS.iter().filter(|e| e.takes(subject));
    let known: Vec<String> = fit
        .map(|e| format!("{} (.{})", e.name(), e.endings().join(", .")))
        .collect();
    format!("{} is written as {}", subject.name(), known.join(" or "))
}

fn bytes(path: &Path, bytes: &[u8]) -> Result<(), String> {
    atomic_write::write(path, bytes)
}

struct Svg;

impl Exporter for Svg {
    fn name(&self) -> &'static str {
        "SVG"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["svg"]
    }

    fn takes(&self, subject: Subject<'_>) -> bool {
        matches!(subject, Subject::Chart(_) | Subject::Film(_))
    }

    fn write(&self, subject: Subject<'_>, path: &Path) -> Result<(), String> {
        match subject {
            Subject::Chart(scene) => bytes(path, svg::file(scene).as_bytes()),
            Subject::Film(film) => bytes(path, svg::film(film).as_bytes()),
            _ => Err(unknown(subject)),
        }
    }
}

struct Png;

impl Exporter for Png {
    fn name(&self) -> &'static str {
        "PNG"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["png"]
    }

    fn takes(&self, subject: Subject<'_>) -> bool {
        matches!(subject, Subject::Chart(_))
    }

    fn write(&self, subject: Subject<'_>, path: &Path) -> Result<(), String> {
        match subject {
            Subject::Chart(scene) => atomic_write::through(path, |path| bitmap::save(scene, path)),
            _ => Err(unknown(subject)),
        }
    }
}

struct Html;

impl Exporter for Html {
    fn name(&self) -> &'static str {
        "HTML"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["html", "htm"]
    }

    fn takes(&self, subject: Subject<'_>) -> bool {
        matches!(subject, Subject::Page(_))
    }

    fn write(&self, subject: Subject<'_>, path: &Path) -> Result<(), String> {
        match subject {
            Subject::Page(page) => bytes(path, html::html(page).as_bytes()),
            _ => Err(unknown(subject)),
        }
    }
}

struct Markdown;

impl Exporter for Markdown {
    fn name(&self) -> &'static str {
        "Markdown"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["md"]
    }

    fn takes(&self, subject: Subject<'_>) -> bool {
        matches!(subject, Subject::Page(_))
    }

    /// Writes the page, and its charts as SVG files into a directory `<name>.charts` next to it.
    fn write(&self, subject: Subject<'_>, path: &Path) -> Result<(), String> {
        let Subject::Page(page) = subject else {
            return Err(unknown(subject));
        };
        let assets = path.with_extension("charts");
        let name = assets.file_name().map(|n| n.to_string_lossy().into_owned());
        let charts: Vec<_> = page.charts().collect();
        let new = !charts.is_empty() && !assets.exists();
        if !charts.is_empty() {
            std::fs::create_dir_all(&assets).map_err(|e| e.to_string())?;
        }
        let drawn = charts.into_iter().try_for_each(|chart| {
            let file = assets.join(format!("{}.svg", chart.name));
            bytes(&file, svg::file(&chart.scene).as_bytes())
        });
        let text = markdown::markdown(page, name.as_deref());
        let written = drawn.and_then(|()| bytes(path, text.as_bytes()));
        if written.is_err() && new {
            //  Removes the charts so that no incomplete report remains.
            let _ = std::fs::remove_dir_all(&assets);
        }
        written
    }
}

struct Perfetto;

impl Exporter for Perfetto {
    fn name(&self) -> &'static str {
        "Perfetto"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["perfetto-trace", "pftrace"]
    }

    fn takes(&self, subject: Subject<'_>) -> bool {
        matches!(subject, Subject::Trace(_))
    }

    fn write(&self, subject: Subject<'_>, path: &Path) -> Result<(), String> {
        match subject {
            Subject::Trace(of) => bytes(path, &perfetto::trace(of)),
            _ => Err(unknown(subject)),
        }
    }
}

struct OpenMetrics;

impl Exporter for OpenMetrics {
    fn name(&self) -> &'static str {
        "OpenMetrics"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["om", "prom", "txt"]
    }

    fn takes(&self, subject: Subject<'_>) -> bool {
        matches!(subject, Subject::Metrics(_))
    }

    fn write(&self, subject: Subject<'_>, path: &Path) -> Result<(), String> {
        match subject {
            Subject::Metrics(of) => bytes(path, openmetrics::text(of).as_bytes()),
            _ => Err(unknown(subject)),
        }
    }
}
