//! Reads failure rates: one of three rate fields, a multiplier, and the distribution around the mean.

use crate::{dist, read};
use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode};
use sim_base::Duration;
use sim_base::random::Distribution;

/// Reads the distribution of the time to failure from a node with the fields `shapes::rate::RATE`.
pub fn life(node: &YamlNode, report: &mut DiagnosticReport) -> Distribution {
    let per_day = read::number(node, "per1000NodeDays").map(|n| n / 1000.0 / 86_400.0);
    let per_minute = read::number(node, "perMinute").map(|n| n / 60.0);
    let mtbf = read::duration(node, "mtbf").map(|mean| 1.0 / mean.seconds());
    let times = read::number(node, "times").unwrap_or(1.0);
    let rate_per_s = per_minute.or(per_day).or(mtbf).unwrap_or(0.0) * times;
    if rate_per_s.is_infinite() {
        report.error(node.at, "the mean time to failure is 0: it must be positive");
    }
    of_rate(node, rate_per_s, report)
}

/// Returns the configured distribution with mean 1 / `rate_per_s`.
fn of_rate(node: &YamlNode, rate_per_s: f64, report: &mut DiagnosticReport) -> Distribution {
    let mean_s = 1.0 / rate_per_s;
    if !mean_s.is_finite() {
        return Distribution::Fixed(Duration(u64::MAX));
    }
    let number = |path: [&str; 3]| node.at_path(&path).and_then(YamlNode::as_f64);
    if let Some(shape) = number(["distribution", "weibull", "shape"]) {
        return dist::weibull(mean_s, shape);
    }
    if let Some(shape) = number(["distribution", "gamma", "shape"]) {
        return Distribution::Gamma { mean_s, shape };
    }
    if let Some(table) = node.at_path(&["distribution", "empirical"]) {
        return relative(table, mean_s, report);
    }
    if let Some(sigma) = number(["distribution", "logNormal", "sigma"]) {
        // The mean of a log-normal distribution is median · exp(sigma²/2).
        return Distribution::LogNormal { median_s: mean_s * libm::exp(-sigma * sigma / 2.0), sigma };
    }
    Distribution::Exponential { mean_s }
}

/// Returns the empirical distribution scaled to the mean `mean_s`.
fn relative(table: &YamlNode, mean_s: f64, report: &mut DiagnosticReport) -> Distribution {
    let refused = match dist::empirical(table) {
        Ok(lives) if lives.mean_s() > 0.0 => {
            return Distribution::Empirical(lives.scale(mean_s / lives.mean_s()));
        }
        Ok(_) => "all lifetimes are 0: at least one must be positive".to_owned(),
        Err(error) => error.to_string(),
    };
    report.error(table.at, refused);
    Distribution::ZERO
}
