//! Estimate of a metric over replications: mean with confidence interval, and quantiles.

use super::quantile::{quantile, sorted};
use super::student::StudentMean;
use serde::Serialize;

/// The reported estimate of a metric over replications.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct MeanEstimate {
    /// The arithmetic mean.
    pub mean: f64,
    /// 95 % confidence interval of the mean by Student's t; the mean itself twice for a single value.
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
    /// Returns `None` if there are no values.
    pub fn from_values(values: Vec<f64>) -> Option<MeanEstimate> {
        let values = sorted(values);
        let mean = StudentMean::from_values(&values)?;
        Some(MeanEstimate {
            mean: mean.mean,
            ci95: match mean.n {
                1 => [mean.mean, mean.mean],
                _ => mean.interval(0.95),
            },
            p10: quantile(&values, 0.10)?,
            p50: quantile(&values, 0.50)?,
            p90: quantile(&values, 0.90)?,
            n: mean.n,
        })
    }
}
