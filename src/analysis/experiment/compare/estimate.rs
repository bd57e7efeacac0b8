//! The estimate of a metric over the replications of a variant.

use crate::experiment::metric::{BetterDirection, MeasuredMetric, better, metric_mean, sample_kind};
use serde::Serialize;
use sim_base::stats::{StatisticalWarning, quantile, quantile_interval, sorted, statistical_warnings};

/// Estimate of one metric of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricEstimate {
    /// Arithmetic mean; null if there are no values, as for the fields below.
    pub mean: Option<f64>,
    /// 95 % confidence interval of the mean: by Student's t, of the share of an outcome by Wilson's score.
    pub ci95: Option<[f64; 2]>,
    /// The 10th percentile.
    pub p10: Option<f64>,
    /// Median of the values.
    pub p50: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// Number of replications with a value.
    pub n: usize,
    /// Distribution-free 95 % confidence intervals of the three quantiles; null for bounds that require more values.
    #[serde(rename = "quantiles_ci95")]
    pub quantile_intervals: [[Option<f64>; 2]; 3],
    /// Number of replications in which a JobSet failed before the metric was defined.
    pub failed: usize,
    /// Number of replications that were blocked before the metric was defined.
    pub blocked: usize,
    /// Number of replications whose time limit came before the metric was defined.
    pub censored: usize,
    /// Number of replications in which the metric does not exist.
    pub absent: usize,
    /// Reasons why the estimate is unreliable.
    pub weaknesses: Vec<StatisticalWarning>,
}

impl MetricEstimate {
    /// Computes the estimate of a metric from one value per replication. Quantiles treat replications without completed
    /// work as the worst value and are unknown if they are among these.
    pub fn from_column(metric: &str, column: &[MeasuredMetric]) -> MetricEstimate {
        let count = |what: MeasuredMetric| column.iter().filter(|m| **m == what).count();
        let failed = count(MeasuredMetric::Failed);
        let blocked = count(MeasuredMetric::Blocked);
        let censored = count(MeasuredMetric::Censored);
        let values: Vec<f64> = column.iter().filter_map(|m| m.value()).collect();
        let mut weaknesses =
            if values.is_empty() { Vec::new() } else { statistical_warnings(&values, sample_kind(metric)) };
        if failed + blocked + censored > 0 {
            weaknesses.push(StatisticalWarning::Excluded { failed, blocked, censored, of: column.len() });
        }
        let worst = match better(metric) {
            BetterDirection::Lower => f64::INFINITY,
            BetterDirection::Higher => f64::NEG_INFINITY,
        };
        let ranked = column.iter().filter_map(|m| match m {
            MeasuredMetric::Value(value) => Some(*value),
            m => m.is_worst().then_some(worst),
        });
        let ranked = sorted(ranked.collect());
        let known = |v: Option<f64>| v.filter(|v| v.is_finite());
        let quantiles = [0.1, 0.5, 0.9].map(|p| known(quantile(&ranked, p)));
        let n = values.len();
        let estimate = metric_mean(metric, values);
        MetricEstimate {
            mean: estimate.map(|e| e.mean),
            ci95: estimate.map(|e| e.ci95),
            p10: quantiles[0],
            p50: quantiles[1],
            p90: quantiles[2],
            n,
            quantile_intervals: [0.1, 0.5, 0.9].map(|p| quantile_interval(&ranked, p, 0.95).map(known)),
            failed,
            blocked,
            censored,
            absent: count(MeasuredMetric::Absent),
            weaknesses,
        }
    }

    /// Returns the number of replications without completed work, which are not in the mean.
    pub fn excluded(&self) -> usize {
        self.failed + self.blocked + self.censored
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/analysis/experiment/compare/estimate.rs"]
mod tests;
