//! Sensitivity of a metric to one value: variants with a smaller and a larger value, compared with the scenario itself.

use super::compare::is_below_resolution;
use super::metric::{MeasuredMetric, metrics, sample_kind};
use super::replication::ReplicationResult;
use serde::Serialize;
use sim_base::stats::{PairedDifference, StudentMean};

/// Change of a metric per 1 % change of a value.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricDerivative {
    /// Change in the metric's unit.
    pub per_percent: f64,
    /// 95 % confidence interval of the paired difference; infinite for one replication.
    pub ci95: [f64; 2],
    /// Change in percent of the metric.
    pub elasticity: Option<f64>,
    /// Number of replications with all values.
    pub n: usize,
}

impl MetricDerivative {
    /// Returns true if the interval excludes zero; false for one replication.
    pub fn is_separated(&self) -> bool {
        let [low, high] = self.ci95;
        low > 0.0 || high < 0.0
    }
}

/// Replications with the value changed by a share.
pub struct DerivativeSide<'r> {
    /// Relative change of the value.
    pub share: f64,
    /// Replications in the order of their numbers.
    pub replications: &'r [ReplicationResult],
}

/// Computes the derivative over the replications in which the scenario and both sides have the metric. `names` are
/// the names of the JobSets.
pub fn derivative(
    base: &[ReplicationResult], (smaller, larger): (&DerivativeSide<'_>, &DerivativeSide<'_>),
    (names, metric): (&[String], &str),
) -> Option<MetricDerivative> {
    let of = |r: &ReplicationResult| value(r, names, metric);
    let sides = smaller.replications.iter().zip(larger.replications);
    let all = base.iter().zip(sides);
    let all = all.filter_map(|(b, (s, l))| Some((of(b)?, of(s)?, of(l)?)));
    let all: Vec<(f64, f64, f64)> = all.collect();
    let pairs: Vec<(f64, f64)> = all.iter().map(|(_, s, l)| (*s, *l)).collect();
    let paired = PairedDifference::from_pairs(&pairs, sample_kind(metric))?;
    let percent = 100.0 * (larger.share - smaller.share);
    let bases: Vec<f64> = all.iter().map(|(b, ..)| *b).collect();
    let mean = StudentMean::from_values(&bases)?.mean;
    // Differences below the resolution of the metric are none.
    let scale = if is_below_resolution(&pairs) { 0.0 } else { 1.0 / percent };
    let per_percent = paired.mean * scale;
    Some(MetricDerivative {
        per_percent,
        ci95: paired.ci95.map(|limit| limit * scale),
        elasticity: (mean != 0.0).then_some(100.0 * per_percent / mean),
        n: paired.n,
    })
}

/// Returns the metric of one replication, or `None` if it has none.
pub fn value(replication: &ReplicationResult, names: &[String], metric: &str) -> Option<f64> {
    let mut all = metrics(replication, names).into_iter();
    all.find(|(name, _)| name == metric).and_then(|(_, measured): (String, MeasuredMetric)| measured.value())
}

/// Returns the first metric, of a fixed list in order of importance, that the replications have, for the first
/// JobSet that has it.
pub fn headline(replications: &[ReplicationResult], names: &[String]) -> Option<String> {
    const FIRST: [&str; 5] =
        ["goodput", "effective_training_ratio", "restartLatency_s.p50", "training_time_h", "end.t_s"];
    let all = replications.iter().flat_map(|r| metrics(r, names));
    let known: Vec<String> = all.filter(|(_, m)| m.value().is_some()).map(|(name, _)| name).collect();
    let is = |name: &str, wanted: &str| {
        name.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let matching = FIRST.iter().find_map(|wanted| known.iter().find(|name| is(name, wanted)));
    matching.cloned()
}
