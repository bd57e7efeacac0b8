//! Which Workloads may be preempted, and in which order they are tried.

use crate::requests::FlavorResource;
use crate::snapshot::Snapshot;
use crate::workload::info::QueueIndex;
use crate::workload::{ConditionType, Info, Workload};
use sim_api::spec::kueue::{PreemptionPolicy, RequeuingTimestamp};
use sim_base::SimTime;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Returns whether the policy permits to preempt the candidate.
pub fn satisfies_policy(
    preemptor: &Workload, candidate: &Workload, timestamp: RequeuingTimestamp, policy: PreemptionPolicy,
) -> bool {
    let has_lower_priority = preemptor.priority > candidate.priority;
    match policy {
        PreemptionPolicy::Never => false,
        PreemptionPolicy::Any => true,
        PreemptionPolicy::LowerPriority => has_lower_priority,
        PreemptionPolicy::LowerOrNewerEqualPriority => {
            let is_newer = preemptor.queue_time(timestamp) < candidate.queue_time(timestamp);
            has_lower_priority || (preemptor.priority == candidate.priority && is_newer)
        }
    }
}

/// Order of candidates.
#[derive(Copy, Clone, Debug)]
pub struct CandidateOrder {
    /// ClusterQueue of the preemptor.
    pub queue: QueueIndex,
    pub has_admission_fair_sharing: bool,
    pub now: SimTime,
}

impl CandidateOrder {
    /// Compares two candidates: evicted ones first, then those of other ClusterQueues, those of LocalQueues with more
    /// usage, those with lower priority, and those with a newer reservation.
    pub fn compare(&self, a: &Info, b: &Info) -> Ordering {
        let evicted = b.workload.is_evicted().cmp(&a.workload.is_evicted());
        let own_queue = (a.queue == self.queue).cmp(&(b.queue == self.queue));
        let by_usage = || match (a.local_queue_usage, b.local_queue_usage) {
            (Some(a_usage), Some(b_usage))
                if self.has_admission_fair_sharing && a.queue == b.queue && a.workload.queue != b.workload.queue =>
            {
                b_usage.total_cmp(&a_usage)
            }
            _ => Ordering::Equal,
        };
        let by_reservation = || self.reserved_at(b).cmp(&self.reserved_at(a));
        evicted
            .then(own_queue)
            .then_with(by_usage)
            .then_with(|| a.priority().cmp(&b.priority()))
            .then_with(by_reservation)
            .then_with(|| (&a.workload.uid, a.key).cmp(&(&b.workload.uid, b.key)))
    }

    fn reserved_at(&self, info: &Info) -> SimTime {
        let reserved = info.workload.condition(ConditionType::QuotaReserved);
        reserved.filter(|c| c.status).map_or(self.now, |c| c.since)
    }
}

/// Returns whether a ClusterQueue in a cohort uses more than its nominal quota of one of the resources.
pub fn is_borrowing_any(snapshot: &Snapshot, queue: QueueIndex, resources: &BTreeSet<FlavorResource>) -> bool {
    let node = snapshot.node(queue);
    node.parent.is_some() && resources.iter().any(|fr| node.quota(fr).nominal < node.usage(fr))
}
