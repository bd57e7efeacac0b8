//! Formatting of samples and labels as OpenMetrics text.

use sim_base::SimTime;
use std::fmt::Write;

pub(crate) struct MetricsText(pub(crate) String);

impl MetricsText {
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# TYPE {name} {kind}\n# HELP {name} {help}");
    }

    pub(crate) fn sample(&mut self, name: &str, labels: &str, value: impl std::fmt::Display, at: SimTime) {
        let ms = at.0 / 1_000_000;
        let (s, ms) = (ms / 1000, ms % 1000);
        let _ = writeln!(self.0, "{name}{{{labels}}} {value} {s}.{ms:03}");
    }
}

/// Formats a label as `name="value"` with backslashes, quotes and line feeds escaped.
pub(crate) fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}
