//! What a sweep keeps of one replication: its exact metrics.

use crate::experiment::{Measured, Replication, is_by_cause, metrics};
use std::sync::Arc;

/// One replication of one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub point: usize,
    pub replication: u64,
    /// The hash over its records.
    pub digest: u64,
    pub end_reason: String,
    /// Names of its metrics, in the order of reports; most replications share them.
    pub names: Arc<Vec<String>>,
    /// One for each name.
    pub values: Vec<Measured>,
    /// What the run warned of.
    pub warnings: Vec<String>,
    /// Which JobSet never found nodes for all its pods, and why.
    pub never_placed: Option<String>,
}

impl Row {
    /// `jobsets`: the names of its JobSets.
    pub fn of(point: usize, replication: &Replication, jobsets: &[String]) -> Row {
        let (names, values) = metrics(replication, jobsets).into_iter().unzip();
        Row {
            point,
            replication: replication.replication,
            digest: replication.digest,
            end_reason: replication.end_reason.to_owned(),
            names: Arc::new(names),
            values,
            warnings: replication.warnings.clone(),
            never_placed: replication.never_placed.clone(),
        }
    }

    /// What it comes to of a metric, whether it names it or not.
    pub fn measured(&self, metric: &str) -> Measured {
        match self.names.iter().position(|name| name == metric) {
            Some(at) => self.values[at],
            None if is_by_cause(metric) && self.end_reason != "Stuck" => Measured::Value(0.0),
            None => Measured::Absent,
        }
    }

    /// The replication's name in a sweep.
    pub fn key(&self) -> (usize, u64) {
        (self.point, self.replication)
    }
}
