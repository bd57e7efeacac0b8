//! The state of a story, as it is compared with a recording.

use sim_kueue::control::{JobView, QueueUsage};
use sim_kueue::workload::{Workload, WorkloadKey};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A JobSet of the story.
#[derive(Clone)]
pub struct Job {
    pub name: String,
    pub view: JobView,
}

pub type Workloads = BTreeMap<WorkloadKey, Arc<Workload>>;

/// State in which no controller has anything to do before a timer fires.
#[derive(Clone)]
pub struct Rest {
    pub jobs: Vec<Job>,
    pub workloads: Workloads,
    /// States between which the queues alternate, if they do.
    pub alternatives: Vec<Workloads>,
}

/// Counts and usage of a ClusterQueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueStatus {
    pub pending: usize,
    pub usage: QueueUsage,
}

/// States of a ClusterQueue since the end of the last step. Kueue writes the status up to a second later.
#[derive(Clone, Debug)]
pub struct QueueHistory {
    pub name: String,
    pub states: Vec<QueueStatus>,
}
