//! Reasons not to trust an estimate, as data; the text is produced elsewhere.

use super::binomial::values_for_quantile_interval;
use super::estimate::SampleKind;
use serde::Serialize;

/// One reason not to trust an estimate.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "weakness")]
pub enum StatisticalWarning {
    /// Too few values for a confidence interval of the outer quantiles p10 and p90.
    TooFew {
        /// Number of values.
        n: usize,
        /// Number of values required for p10 and p90.
        needed: usize,
    },
    /// The values are so skewed that the confidence interval of their mean covers less than stated.
    HeavyTail {
        /// Skewness of the values.
        skewness: f64,
        /// Number of values.
        n: usize,
        /// Number of values for which the interval is accurate enough at this skewness.
        needed: usize,
    },
    /// Replications without completed work, which are excluded from the mean; the others do not represent them.
    Excluded {
        /// Number of failed replications.
        failed: usize,
        /// Number of blocked replications.
        blocked: usize,
        /// Number of replications whose time limit came before the metric was defined.
        censored: usize,
        /// Total number of runs.
        of: usize,
    },
}

/// Minimum skewness to which the rule below applies.
const MIN_SKEWNESS: f64 = 1.0;

/// Weaknesses of the values; the caller counts the runs without a value.
pub fn statistical_warnings(values: &[f64], kind: SampleKind) -> Vec<StatisticalWarning> {
    let n = values.len();
    let mut result = Vec::new();
    let needed = values_for_quantile_interval(0.9, 0.95);
    if n < needed {
        result.push(StatisticalWarning::TooFew { n, needed });
    }
    // The interval of a proportion is not affected by skewness.
    let skewness = skewness(values).filter(|s| kind == SampleKind::Number && s.abs() >= MIN_SKEWNESS);
    if let Some(skewness) = skewness {
        let needed = values_for_mean_interval(skewness);
        if n < needed {
            result.push(StatisticalWarning::HeavyTail { skewness, n, needed });
        }
    }
    result
}

/// Number of values of this skewness for which a 95 % interval of their mean misses it in at most 6 % of all samples.
/// Source: W. Cochran, "Sampling Techniques", 3rd edition, 1977, 2.15: more than 25 times the square of the skewness.
pub fn values_for_mean_interval(skewness: f64) -> usize {
    (25.0 * skewness * skewness).floor() as usize + 1
}

/// The third central moment over the cube of the deviation, by n; `None` if all values are equal.
pub fn skewness(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    let cubes = values.iter().map(|v| (v - mean) * (v - mean) * (v - mean));
    let skewness = cubes.sum::<f64>() / n / (squares * libm::sqrt(squares));
    skewness.is_finite().then_some(skewness)
}
