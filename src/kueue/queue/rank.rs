//! The order in which the active Workloads of a ClusterQueue are taken.

use crate::workload::{Info, Workload, WorkloadKey};
use sim_api::spec::kueue::RequeuingTimestamp;
use sim_base::SimTime;
use std::cmp::Ordering;
use std::sync::Arc;

/// Place of a Workload in its queue: less usage of the LocalQueue, higher priority, and age.
#[derive(Clone, Debug)]
pub struct Rank {
    pub key: WorkloadKey,
    workload: Arc<Workload>,
    usage: Option<f64>,
    since: SimTime,
}

impl Rank {
    pub fn new(info: &Info, timestamp: RequeuingTimestamp) -> Rank {
        Rank {
            key: info.key,
            workload: info.workload.clone(),
            usage: info.local_queue_usage,
            since: info.workload.queue_time(timestamp),
        }
    }

    /// Compares the usages of the LocalQueues. All Workloads of a queue have one, or none.
    pub fn compare_usage(&self, other: &Rank) -> Ordering {
        match (self.usage, other.usage) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => Ordering::Equal,
        }
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        let (a, b) = (&self.workload, &other.workload);
        self.compare_usage(other)
            .then_with(|| b.priority.cmp(&a.priority))
            .then_with(|| self.since.cmp(&other.since))
            .then_with(|| (&a.uid, self.key).cmp(&(&b.uid, other.key)))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Rank) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rank {}
