//! The comparison of two variants in one metric, and its verdict.

use super::ComparisonTable;
use crate::experiment::metric::{BetterDirection, TIME_LIMIT, accumulates, better, grows_with_time, sample_kind};
use crate::experiment::outcome::ReplicationOutcome;
use serde::Serialize;
use sim_base::stats::{PairedDifference, sign_test, wilcoxon};
use std::cmp::Ordering;

/// Comparison of two variants in one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairedEstimate {
    /// The first variant.
    pub a: String,
    /// The second variant.
    pub b: String,
    /// Name of the metric.
    pub metric: String,
    /// Mean, interval and standard deviation of "b − a" over the replications in which both have a value.
    #[serde(flatten)]
    pub difference: PairedDifference,
    /// The better variant, if the interval excludes zero.
    pub verdict: CompareVerdict,
    /// Whether lower or higher values are better.
    pub better: BetterDirection,
    /// Number of replications in which only one of them has a value.
    pub unpaired: usize,
    /// Number of replications that are not compared in this metric, because one of the runs failed or was blocked and
    /// has had less time.
    #[serde(rename = "cutShort")]
    pub cut_short: usize,
    /// Numbers of common replications that `a` and `b` completed; null if they are equal.
    pub completed: Option<[usize; 2]>,
    /// p-value of the sign test.
    pub sign_p: f64,
    /// p-value of Wilcoxon's test; null if all differences are 0.
    pub wilcoxon_p: Option<f64>,
}

/// The better of two variants.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CompareVerdict {
    /// The first variant is better.
    A,
    /// The second variant is better.
    B,
    /// The interval contains zero.
    Inconclusive,
    /// The difference is below the resolution of the metric.
    NoDifference,
    /// The variant with the better value completes fewer of the common replications, so it is not better.
    CompletesLess,
}

pub(super) fn pair(a: &ComparisonTable, b: &ComparisonTable, metric: &str) -> Option<PairedEstimate> {
    let (first, second) = (a.column(metric)?, b.column(metric)?);
    let (mut pairs, mut unpaired, mut cut_short, mut completed) = (Vec::new(), 0, 0, [0, 0]);
    let numbers = |t: &ComparisonTable| t.variant.replications.iter().map(|r| r.replication).collect();
    let (left, right): (Vec<u64>, Vec<u64>) = (numbers(a), numbers(b));
    let is_completed =
        |t: &ComparisonTable, at: usize| t.variant.replications[at].outcome() == ReplicationOutcome::Completed;
    for (i, (number, measured)) in left.iter().zip(first).enumerate() {
        // Interrupted replications are missing.
        let Ok(at) = right.binary_search(number) else {
            continue;
        };
        completed[0] += usize::from(is_completed(a, i));
        completed[1] += usize::from(is_completed(b, at));
        let replications = [&a.variant.replications[i], &b.variant.replications[at]];
        let is_cut = |r: &&crate::experiment::ReplicationResult| r.outcome().is_cut_short();
        let differ = replications[0].end_s != replications[1].end_s;
        if accumulates(metric) && differ && replications.iter().any(is_cut) {
            // The replication that failed or was blocked early has had less time for events.
            cut_short += 1;
            continue;
        }
        let is_limited = |r: &crate::experiment::ReplicationResult| r.end_reason == TIME_LIMIT;
        if differ && grows_with_time(metric) && replications.into_iter().all(is_limited) {
            // Neither did a fixed amount of work, so the longer run has more of everything.
            continue;
        }
        match (measured.value(), second[at].value()) {
            (Some(x), Some(y)) => pairs.push((x, y)),
            (None, None) => {}
            _ => unpaired += 1,
        }
    }
    let difference = PairedDifference::from_pairs(&pairs, sample_kind(metric))?;
    let differences: Vec<f64> = pairs.iter().map(|(x, y)| y - x).collect();
    let better = better(metric);
    let separated = difference.significant_order();
    Some(PairedEstimate {
        a: a.variant.name.clone(),
        b: b.variant.name.clone(),
        metric: metric.to_owned(),
        difference,
        verdict: if is_below_resolution(&pairs) {
            CompareVerdict::NoDifference
        } else {
            verdict(separated, better, completed)
        },
        better,
        unpaired,
        cut_short,
        completed: (completed[0] != completed[1]).then_some(completed),
        sign_p: sign_test(&differences).p,
        wilcoxon_p: wilcoxon(&differences).map(|w| w.p),
    })
}

/// Relative resolution of metrics: differences of less than 1 in 100,000 are not printed with the values.
const METRIC_RESOLUTION: f64 = 1e-5;

/// Returns true if every difference of a metric is smaller than the resolution of the values.
pub fn is_below_resolution(pairs: &[(f64, f64)]) -> bool {
    let size = pairs.iter().fold(0.0, |size: f64, (x, y)| size.max(x.abs()).max(y.abs()));
    pairs.iter().all(|(x, y)| (y - x).abs() <= size * METRIC_RESOLUTION)
}

/// Returns the verdict. `separated` is the order of the second variant relative to the first, `completed` their numbers
/// of completed replications: a variant that completes fewer is never better.
fn verdict(separated: Option<Ordering>, better: BetterDirection, completed: [usize; 2]) -> CompareVerdict {
    let winner = match (separated, better) {
        (Some(Ordering::Less), BetterDirection::Lower) | (Some(Ordering::Greater), BetterDirection::Higher) => {
            CompareVerdict::B
        }
        (Some(Ordering::Less | Ordering::Greater), _) => CompareVerdict::A,
        (Some(Ordering::Equal) | None, _) => CompareVerdict::Inconclusive,
    };
    match winner {
        CompareVerdict::A if completed[0] < completed[1] => CompareVerdict::CompletesLess,
        CompareVerdict::B if completed[1] < completed[0] => CompareVerdict::CompletesLess,
        winner => winner,
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/analysis/experiment/compare/paired.rs"]
mod tests;
