//! Formats the values of metrics with their units.

use super::is_headline_metric;
use sim_analysis::experiment::is_by_cause;
use sim_analysis::format::{LONG_S, seconds};
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

/// Returns the unit of a metric as the beginning of a description; costs are in `currency`.
pub(crate) fn unit_with_currency(metric: &str, currency: &str) -> String {
    match money(metric, currency) {
        Some(currency) => format!("{currency}; "),
        None => unit(metric).to_owned(),
    }
}

/// Returns the currency of a metric, if it is a cost and the currency is known.
pub(crate) fn money<'c>(metric: &str, currency: &'c str) -> Option<&'c str> {
    let is_cost = metric.split('.').any(|part| part == "cost") && !is_by_cause(metric);
    (is_cost && !currency.is_empty()).then_some(currency)
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

/// Formats the values of a row. All times of a row have the same unit.
pub fn format_metric_row<const N: usize>(metric: &str, values: [Option<f64>; N]) -> [String; N] {
    let text = |v: Option<f64>| v.map_or("-".to_owned(), |v| format_metric_value(metric, v));
    if is_seconds(metric) {
        return format_seconds_row(values, |v| format_metric_value(metric, v));
    }
    values.map(text)
}

/// Formats the times of a row, in seconds, with the same unit: `format` is used for times below 100 h unless some are
/// shorter and some longer than an hour, and if the shortest is less than 1 % of the unit.
pub fn format_seconds_row<const N: usize>(values: [Option<f64>; N], format: impl Fn(f64) -> String) -> [String; N] {
    const HOUR_S: f64 = 3_599.5;
    let sizes = || values.iter().flatten().map(|v| v.abs()).filter(|v| v.is_finite() && *v > 0.0);
    let (longest, shortest) = (sizes().fold(0.0, f64::max), sizes().fold(f64::MAX, f64::min));
    let (unit, name) = match longest {
        longest if longest >= LONG_S => (86_400.0, "d"),
        longest if longest >= HOUR_S && shortest < HOUR_S => (3_600.0, "h"),
        _ => return values.map(|v| v.map_or("-".to_owned(), &format)),
    };
    let is_unreadable = shortest < unit / 100.0;
    values.map(|v| match v {
        Some(v) if v.is_finite() && is_unreadable => format(v),
        Some(v) if v.is_finite() => {
            let sign = if v < 0.0 { "-" } else { "" };
            format!("{sign}{} {name}", three_digits(v.abs() / unit))
        }
        _ => "-".to_owned(),
    })
}

/// Formats a number with three significant digits, or all digits before the decimal point.
fn three_digits(v: f64) -> String {
    match v {
        v if v < 1e-9 => "0".to_owned(),
        v if v < 0.1 => format!("{v:.0$}", (2.0 - libm::log10(v).floor()) as usize),
        v if v < 0.9995 => format!("{v:.3}"),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => thousands(v.round() as u64),
    }
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
