//! What is kept of the replications of one candidate: one number each, and what it cost.

use crate::experiment::{Better, Measured, Replication, better, metrics, unnamed};
use std::ops::Range;

/// One replication of a candidate.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number.
    pub replication: u64,
    /// The metric; none where there was nothing to measure.
    pub value: Option<f64>,
    /// What the accelerators cost, or node-hours of a fleet.
    pub cost: f64,
    /// The run got stuck or was cut before it was measured: its value is the worst there can be.
    pub left_out: bool,
    /// The hash over its records.
    pub digest: u64,
}

/// Replications of a candidate, in the order of their numbers.
pub type Sample = Vec<Row>;

/// Plays replications of a candidate; fewer than asked for where somebody has interrupted it.
pub type Play<'a, C, E> = dyn FnMut(&C, Range<u64>) -> Result<Sample, E> + 'a;

impl Row {
    /// Of a replication, the metric of that name; an error names the metrics that there are.
    pub fn of(
        replication: &Replication,
        jobsets: &[String],
        metric: &str,
        price: Option<f64>,
    ) -> Result<Row, Vec<String>> {
        let all = metrics(replication, jobsets);
        let found = all.iter().find(|(name, _)| name == metric);
        let measured = match found.map_or(unnamed(metric, replication), |(_, m)| *m) {
            Measured::Absent if found.is_none() => {
                return Err(all.into_iter().map(|(name, _)| name).collect());
            }
            measured => measured,
        };
        let worst = match better(metric) {
            Better::Lower => f64::INFINITY,
            Better::Higher => f64::NEG_INFINITY,
        };
        let left_out = matches!(measured, Measured::Stuck | Measured::Cut);
        let hours = |(name, m): &(String, Measured)| match name.starts_with("nodeHours.") {
            true => m.value(),
            false => None,
        };
        let hours: f64 = all.iter().filter_map(hours).sum();
        Ok(Row {
            replication: replication.replication,
            value: if left_out {
                Some(worst)
            } else {
                measured.value()
            },
            cost: match price {
                Some(price) => hours * price,
                None if replication.outputs.is_empty() => replication.cost,
                None => hours,
            },
            left_out,
            digest: replication.digest,
        })
    }
}

/// The values of a sample that has any.
pub fn values(sample: &[Row]) -> Vec<f64> {
    sample.iter().filter_map(|row| row.value).collect()
}

/// Pairs of values of the replications that both samples have, first and second; none of them without bounds.
pub fn pairs(first: &[Row], second: &[Row]) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    for row in first {
        let at = second.binary_search_by_key(&row.replication, |r| r.replication);
        let other = at.ok().and_then(|at| second[at].value);
        let pair = row.value.zip(other);
        all.extend(pair.filter(|(a, b)| a.is_finite() && b.is_finite()));
    }
    all
}
