//! Estimate of a metric over replications: mean with confidence interval, and quantiles.

use super::proportion::share_interval;
use super::quantile::{quantile, sorted};
use super::student::StudentMean;
use serde::Serialize;

/// Kind of the values of a sample, which determines the confidence interval of their mean.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum SampleKind {
    /// Numbers without a common range.
    #[default]
    Number,
    /// Each value is 0 or 1, and the mean is a proportion.
    Indicator,
}

/// Confidence interval of the mean at this level: by Student's t, or of a proportion. `None` without values; infinite
/// for a single number.
pub fn mean_interval(values: &[f64], kind: SampleKind, level: f64) -> Option<[f64; 2]> {
    let mean = StudentMean::from_values(values)?;
    Some(match kind {
        SampleKind::Number => mean.interval(level),
        SampleKind::Indicator => share_interval(values.iter().filter(|v| **v > 0.5).count(), mean.n, level),
    })
}

/// The reported estimate of a metric over replications.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct MeanEstimate {
    /// The arithmetic mean.
    pub mean: f64,
    /// 95 % confidence interval of the mean, see `mean_interval`; the mean itself twice for a single number.
    pub ci95: [f64; 2],
    /// The 10th percentile.
    pub p10: f64,
    /// Median of the values.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// Number of values.
    pub n: usize,
}

impl MeanEstimate {
    /// The estimate of numbers; `None` if there are no values.
    pub fn from_values(values: Vec<f64>) -> Option<MeanEstimate> {
        MeanEstimate::from_sample(values, SampleKind::Number)
    }

    /// The estimate of values of that kind; `None` if there are no values.
    pub fn from_sample(values: Vec<f64>, kind: SampleKind) -> Option<MeanEstimate> {
        let values = sorted(values);
        let mean = StudentMean::from_values(&values)?;
        Some(MeanEstimate {
            mean: mean.mean,
            ci95: match (mean.n, kind) {
                (1, SampleKind::Number) => [mean.mean, mean.mean],
                _ => mean_interval(&values, kind, 0.95)?,
            },
            p10: quantile(&values, 0.10)?,
            p50: quantile(&values, 0.50)?,
            p90: quantile(&values, 0.90)?,
            n: mean.n,
        })
    }
}
