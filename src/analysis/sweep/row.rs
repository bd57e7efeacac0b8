//! The data that a sweep stores for one replication: the exact values of its metrics.

use crate::experiment::{MeasuredMetric, ReplicationOutcome, ReplicationResult, is_by_cause, metrics};
use std::sync::Arc;

/// Result of one replication of one point.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    pub point: usize,
    pub replication: u64,
    /// Hash over the records of the replication.
    pub digest: u64,
    pub end_reason: String,
    pub outcome: ReplicationOutcome,
    /// Names of the metrics in the order of reports; most replications share the list.
    pub names: Arc<Vec<String>>,
    /// Value of each metric in `names`.
    pub values: Vec<MeasuredMetric>,
    pub warnings: Vec<String>,
    /// The JobSet whose pods were never all placed, with the reason.
    pub never_placed: Option<String>,
}

impl SweepRow {
    /// Creates the row of a replication; `jobsets` contains the names of its JobSets.
    pub fn from_replication(point: usize, replication: &ReplicationResult, jobsets: &[String]) -> SweepRow {
        let (names, values) = metrics(replication, jobsets).into_iter().unzip();
        SweepRow {
            point,
            replication: replication.replication,
            digest: replication.digest,
            end_reason: replication.end_reason.to_owned(),
            outcome: replication.outcome(),
            names: Arc::new(names),
            values,
            warnings: replication.warnings.clone(),
            never_placed: replication.never_placed.clone(),
        }
    }

    /// Returns the value of a metric; zero for a metric of a cause that did not occur.
    pub fn measured(&self, metric: &str) -> MeasuredMetric {
        match self.names.iter().position(|name| name == metric) {
            Some(at) => self.values[at],
            None if is_by_cause(metric) && self.outcome != ReplicationOutcome::Blocked => MeasuredMetric::Value(0.0),
            None => MeasuredMetric::Absent,
        }
    }

    /// Returns the point and the number of the replication, which identify it in the sweep.
    pub fn key(&self) -> (usize, u64) {
        (self.point, self.replication)
    }
}
