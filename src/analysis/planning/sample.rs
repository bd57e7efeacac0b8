//! The result of a candidate's replications: one value each, and the cost.

use crate::experiment::{
    BetterDirection, MeasuredMetric, ReplicationOutcome, ReplicationResult, better, is_below_resolution, metric_mean,
    metrics, sample_kind, unnamed,
};
use sim_base::stats::{MeanEstimate, PairedDifference, SampleKind};
use std::ops::Range;

/// One replication of a candidate.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SampleRow {
    /// Number of the replication.
    pub replication: u64,
    /// Value of the metric; `None` if it does not exist.
    pub value: Option<f64>,
    /// Cost of the accelerators, or node-hours of a fleet.
    pub cost: f64,
    /// True if the replication did not complete its work: its value counts as the worst, except for outcomes.
    pub is_worst: bool,
    /// Hash over its records.
    pub digest: u64,
}

/// Returns the worst possible value of a metric.
fn worst(metric: &str) -> f64 {
    match better(metric) {
        BetterDirection::Lower => f64::INFINITY,
        BetterDirection::Higher => f64::NEG_INFINITY,
    }
}

/// Replications of a candidate, in the order of their numbers.
pub type SampleMetric = Vec<SampleRow>;

/// Runs replications of a candidate; returns fewer than requested if interrupted.
pub type SampleRun<'a, C, E> = dyn FnMut(&C, Range<u64>) -> Result<SampleMetric, E> + 'a;

impl SampleRow {
    /// Counts the replication as the worst value, except for outcomes.
    pub fn count_as_worst(&mut self, metric: &str) {
        self.is_worst = true;
        if sample_kind(metric) == SampleKind::Number {
            self.value = Some(worst(metric));
        }
    }

    /// Extracts a metric from a replication; an unknown name is an error that lists the available metrics.
    pub fn from_replications(
        replication: &ReplicationResult, jobsets: &[String], metric: &str, price: Option<f64>,
    ) -> Result<SampleRow, Vec<String>> {
        let all = metrics(replication, jobsets);
        let matching = all.iter().find(|(name, _)| name == metric);
        let measured = match matching.map_or(unnamed(metric, replication), |(_, m)| *m) {
            MeasuredMetric::Absent if matching.is_none() => {
                return Err(all.into_iter().map(|(name, _)| name).collect());
            }
            measured => measured,
        };
        let is_worst = match replication.outcome() {
            ReplicationOutcome::Failed | ReplicationOutcome::Blocked => true,
            // A ratio such as goodput is measured up to the time limit; times and costs are unknown.
            ReplicationOutcome::Unfinished | ReplicationOutcome::Completed | ReplicationOutcome::Running => {
                measured.is_worst()
            }
        };
        let of_nodes = replication.outputs.iter();
        let of_nodes = of_nodes.filter(|(name, _)| name.starts_with("nodeHours."));
        let hours: f64 = of_nodes.map(|(_, hours)| hours).sum();
        Ok(SampleRow {
            replication: replication.replication,
            value: match sample_kind(metric) {
                SampleKind::Number if is_worst => Some(worst(metric)),
                _ => measured.value(),
            },
            cost: match price {
                Some(price) => hours * price,
                None if replication.outputs.is_empty() => replication.cost,
                None => hours,
            },
            is_worst,
            digest: replication.digest,
        })
    }
}

/// Returns the values of the replications that have one.
pub fn values(sample: &[SampleRow]) -> Vec<f64> {
    sample.iter().filter_map(|row| row.value).collect()
}

/// Returns the estimate of the finite values of a metric.
pub fn mean_estimate(metric: &str, sample: &[SampleRow]) -> Option<MeanEstimate> {
    let finite = values(sample).into_iter().filter(|v| v.is_finite());
    metric_mean(metric, finite.collect())
}

/// Returns the paired difference "second − first" in a metric; zero if it is below the resolution of the metric.
pub fn paired_difference(metric: &str, first: &[SampleRow], second: &[SampleRow]) -> Option<PairedDifference> {
    let mut pairs = pairs(first, second);
    if is_below_resolution(&pairs) {
        pairs.iter_mut().for_each(|pair| pair.1 = pair.0);
    }
    PairedDifference::from_pairs(&pairs, sample_kind(metric))
}

/// Returns pairs of finite values, for the replications that both samples have.
pub fn pairs(first: &[SampleRow], second: &[SampleRow]) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    for row in first {
        let at = second.binary_search_by_key(&row.replication, |r| r.replication);
        let other = at.ok().and_then(|at| second[at].value);
        let pair = row.value.zip(other);
        all.extend(pair.filter(|(a, b)| a.is_finite() && b.is_finite()));
    }
    all
}
