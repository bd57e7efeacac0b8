//! Formats the values of metrics with their units.

use super::is_headline_metric;
use sim_analysis::format::seconds;
use sim_analysis::metrics::restarts::waits::thousands;
use sim_base::Duration;

/// Returns whether the metric is in seconds, according to the suffix of its name or of a part of it.
fn is_seconds(metric: &str) -> bool {
    metric.ends_with("_s") || metric.contains("_s.")
}

pub(crate) fn unit(metric: &str) -> &'static str {
    match metric {
        m if m.contains("ledger.") => "accelerator-hours; ",
        m if is_seconds(m) => "seconds of virtual time; ",
        m if m.starts_with("nodeHours.") => "node-hours; ",
        m if m.ends_with("_h") => "hours of virtual time; ",
        _ => "",
    }
}

pub fn format_metric_value(metric: &str, v: f64) -> String {
    let sign = if v < 0.0 { "-" } else { "" };
    let size = v.abs();
    if metric.contains("ledger.") {
        return format!("{sign}{}", format_significant(size / 3600.0));
    }
    if ["completed", "failed", "blocked"].iter().any(|name| is_headline_metric(metric, name)) {
        return format!("{sign}{:.1} %", size * 100.0);
    }
    if is_seconds(metric) && size >= 0.9995 {
        return format!("{sign}{}", seconds(Duration::from_seconds_f64(size)));
    }
    let unit = match metric {
        m if is_seconds(m) => " s",
        m if m.ends_with("_h") => " h",
        _ => "",
    };
    format!("{sign}{}{unit}", format_significant(size))
}

/// Formats a number with three or four significant digits. Values below 1e-9 are shown as 0.
fn format_significant(v: f64) -> String {
    match v {
        v if v < 1e-9 => "0".to_owned(),
        v if v == v.trunc() && v < 1e15 => thousands(v as u64),
        v if v < 0.1 => format!("{v:.0$}", (2.0 - libm::log10(v).floor()) as usize),
        v if v < 9.995 => format!("{v:.3}"),
        v if v < 99.95 => format!("{v:.2}"),
        v if v < 9999.5 => format!("{v:.1}"),
        v if v < 1e15 => thousands(v.round() as u64),
        v => format!("{v:.3e}"),
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/report/console/compare/values.rs"]
mod tests;
