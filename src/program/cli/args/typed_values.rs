//! Parsers for option values.

use sim_api::spec::BASELINE;
use sim_base::Duration;
use sim_base::stats::TargetPrecision;

/// A field override: path and value.
pub type FieldOverride = (String, String);

pub fn path_value(text: &str) -> Result<FieldOverride, String> {
    match text.split_once('=') {
        Some((path, value)) if !path.is_empty() => Ok((path.to_owned(), value.to_owned())),
        _ => Err("expected PATH=VALUE, e.g. controlPlane.preset=stock".to_owned()),
    }
}

/// Parses a number of days: `30`, `30d` or any other duration. The result is in days.
pub fn days(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let days = match text.strip_suffix('d').unwrap_or(text).parse::<f64>() {
        Ok(days) => Some(days),
        Err(_) => text.parse::<Duration>().ok().map(|d| d.seconds() / 86_400.0),
    };
    match days {
        Some(days) if days > 0.0 && days <= 36_500.0 => Ok(days),
        _ => Err("expected a duration above 0 and up to 36500 days, e.g. 30 (days) or 36h".to_owned()),
    }
}

/// A variant of `compare`, written as `NAME: PATH=VALUE, PATH=VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantArg {
    /// Argument text as given on the command line.
    pub text: String,
    pub name: String,
    pub sets: Vec<FieldOverride>,
}

pub fn parse_variant(text: &str) -> Result<VariantArg, String> {
    let bad = || "expected NAME: PATH=VALUE, PATH=VALUE, e.g. patient: spec.failurePolicy.maxRestarts=50";
    // Without a name, the text of the overrides serves as the name.
    let (name, fields) = match text.split_once(':') {
        Some((name, fields)) if !name.contains('=') => (name.trim(), fields),
        _ => (text.trim(), text),
    };
    if name.is_empty() || name == BASELINE {
        return Err(format!("{name:?} is not a valid variant name; {}", bad()));
    }
    let mut sets = Vec::new();
    for field in fields_of(fields) {
        let (path, value) = field.split_once('=').ok_or_else(bad)?;
        if path.trim().is_empty() {
            return Err(bad().to_owned());
        }
        sets.push((path.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(VariantArg { text: text.to_owned(), name: name.to_owned(), sets })
}

/// Splits at commas that are not within brackets or quotes.
pub fn fields_of(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0i32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A precision target of `--until`, written as `METRIC ±0.2%`.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeLimit {
    /// Argument text as given on the command line.
    pub text: String,
    pub metric: String,
    pub precision: TargetPrecision,
}

pub fn parse_until(text: &str) -> Result<TimeLimit, String> {
    let bad = || "expected METRIC ±SHARE% or METRIC ±NUMBER, e.g. 'restartLatency_s.p50 ±1%'".to_owned();
    let parts = text.split_once('±').or_else(|| text.split_once("+-"));
    let (metric, precision) = parts.ok_or_else(bad)?;
    let (metric, precision) = (metric.trim(), precision.trim());
    let (number, is_share) = match precision.strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (precision, false),
    };
    let number: f64 = number.parse().map_err(|_| bad())?;
    if metric.is_empty() || !number.is_finite() || number <= 0.0 {
        return Err(bad());
    }
    Ok(TimeLimit {
        text: text.to_owned(),
        metric: metric.to_owned(),
        precision: if is_share { TargetPrecision::Relative(number / 100.0) } else { TargetPrecision::Absolute(number) },
    })
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/args/typed_values.rs"]
mod tests;
