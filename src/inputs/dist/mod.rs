//! Reads distributions such as `2s`, `{uniform: [a, b]}` and `{logNormal: {median, sigma}}`. All input formats use this
//! reader.

mod error;

pub use error::DistributionError;

use super::read::{self, SecondsError};
use super::schema::check::{UnmodelledFields, check};
use super::schema::definitions::distribution::DELAY;
use super::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use super::text::node::YamlNode;
use super::text::path::YamlPath;
use super::text::yaml;
use sim_base::Duration;
use sim_base::random::{Distribution, EmpiricalDistribution};

/// Distribution fields whose values are not times.
pub const SHAPES: [&str; 3] = ["sigma", "shape", "weights"];

/// Reads the delay in field `key`. Returns zero if the object or the field is absent.
pub fn delay(of: Option<&YamlNode>, key: &str, report: &mut DiagnosticReport) -> Distribution {
    let Some(node) = of.and_then(|n| n.get(key)) else {
        return Distribution::ZERO;
    };
    dist(node).unwrap_or_else(|error| {
        report.error(node.at, error.to_string());
        Distribution::ZERO
    })
}

/// Reads a distribution from the text of an option.
pub fn parse_distribution(option: &str, text: &str) -> Result<Distribution, Diagnostics> {
    let source = SourceText { file: option.to_owned(), text: text.to_owned() };
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(&source, &none);
    let documents = yaml::parse(&source)?;
    let Some(node) = documents.first() else {
        return Err(Diagnostic::of_file(option, "a distribution is missing").into());
    };
    check(node, &DELAY, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    let parsed = dist(node);
    if let (Err(error), true) = (&parsed, report.is_clean()) {
        report.error(node.at, error.to_string());
    }
    report.finish()?;
    parsed.map_err(|error| Diagnostic::of_file(option, error.to_string()).into())
}

/// Converts a schema-checked node to a distribution. Returns an error for values that the schema cannot rule out.
pub fn dist(node: &YamlNode) -> Result<Distribution, DistributionError> {
    if let Some(text) = node.scalar_text() {
        return Ok(Distribution::Fixed(text.parse::<Duration>()?));
    }
    let [(key, value)] = node.entries() else {
        return Err(DistributionError::UnknownForm);
    };
    match key.name.as_str() {
        "uniform" => uniform(value),
        "logNormal" => log_normal(value),
        "exponential" => Ok(Distribution::Exponential { mean_s: seconds(value, "mean")? }),
        "weibull" => Ok(weibull(seconds(value, "mean")?, shape_of(value))),
        "gamma" => Ok(Distribution::Gamma { mean_s: seconds(value, "mean")?, shape: shape_of(value) }),
        "empirical" => empirical(value).map(Distribution::Empirical),
        other => Err(DistributionError::UnknownName { name: other.to_owned() }),
    }
}

fn seconds(node: &YamlNode, field: &'static str) -> Result<f64, DistributionError> {
    let value = node.get(field);
    let value = value.ok_or(DistributionError::MissingField { field })?;
    Ok(read::seconds(value)?)
}

fn shape_of(node: &YamlNode) -> f64 {
    node.get("shape").and_then(YamlNode::as_f64).unwrap_or(1.0)
}

/// Returns the Weibull distribution with mean `mean_s`: the mean is scale · Γ(1 + 1/shape).
pub fn weibull(mean_s: f64, shape: f64) -> Distribution {
    Distribution::Weibull { scale_s: mean_s / libm::tgamma(1.0 + 1.0 / shape), shape }
}

/// Reads an empirical distribution, written as `[values]` or `{values, weights}`.
pub fn empirical(node: &YamlNode) -> Result<EmpiricalDistribution, DistributionError> {
    let values = node.get("values").unwrap_or(node).items();
    let values: Result<Vec<f64>, SecondsError> = values.iter().map(read::seconds).collect();
    let values = values?;
    let weights: Vec<f64> = match node.get("weights") {
        Some(weights) => weights.items().iter().filter_map(YamlNode::as_f64).collect(),
        None => vec![1.0; values.len()],
    };
    if weights.len() != values.len() {
        let (values, weights) = (values.len(), weights.len());
        return Err(DistributionError::WeightCount { values, weights });
    }
    let weighted: Vec<(f64, f64)> = values.into_iter().zip(weights).collect();
    EmpiricalDistribution::new(&weighted).ok_or(DistributionError::ZeroWeights)
}

fn uniform(node: &YamlNode) -> Result<Distribution, DistributionError> {
    let [low, high] = node.items() else {
        return Err(DistributionError::UniformLength);
    };
    let (low_s, high_s) = (read::seconds(low)?, read::seconds(high)?);
    if low_s > high_s {
        return Err(DistributionError::EmptyRange { low_s, high_s });
    }
    Ok(Distribution::Uniform { low_s, high_s })
}

fn log_normal(node: &YamlNode) -> Result<Distribution, DistributionError> {
    let has = |key: &str| node.get(key).is_some();
    match (has("median"), has("sigma"), has("p50"), has("p95")) {
        (true, true, false, false) => {
            let sigma = node.get("sigma").and_then(YamlNode::as_f64).unwrap_or(0.0);
            Ok(Distribution::LogNormal { median_s: seconds(node, "median")?, sigma })
        }
        (false, false, true, true) => {
            let (p50_s, p95_s) = (seconds(node, "p50")?, seconds(node, "p95")?);
            if p50_s <= 0.0 || p95_s < p50_s {
                return Err(DistributionError::QuantileOrder { p50_s, p95_s });
            }
            Ok(Distribution::from_p50_p95(p50_s, p95_s))
        }
        _ => Err(DistributionError::LogNormalFields),
    }
}
