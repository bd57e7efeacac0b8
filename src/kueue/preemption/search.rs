//! What a preemption has to achieve, and the state of its search.

use super::order::CandidateOrder;
use crate::requests::FlavorResource;
use crate::snapshot::{Snapshot, Usage};
use crate::topology::PlacementRequests;
use crate::workload::Info;
use sim_api::spec::kueue::RequeuingTimestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A Workload to preempt.
#[derive(Clone, Debug)]
pub struct Target {
    pub info: Arc<Info>,
    /// Reason of the condition Preempted.
    pub reason: &'static str,
}

/// A Workload that needs room.
pub struct PreemptionRequest<'a> {
    pub info: &'a Info,
    /// Requests by assigned flavor.
    pub usage: Usage,
    /// Resources in flavors without enough unused quota.
    pub resources: BTreeSet<FlavorResource>,
    /// Pod sets that must be placed by topology.
    pub placements: PlacementRequests,
    pub timestamp: RequeuingTimestamp,
    pub order: CandidateOrder,
}

impl PreemptionRequest<'_> {
    /// Returns whether the Workload fits.
    pub fn fits(&self, snapshot: &Snapshot, may_borrow: bool) -> bool {
        let queue = self.info.queue;
        let node = snapshot.node(queue);
        for (fr, amount) in &self.usage.quota {
            let borrows = node.quota(fr).nominal < node.usage(fr) + *amount;
            if (borrows && !may_borrow) || *amount > snapshot.available(queue, fr) {
                return false;
            }
        }
        snapshot.topology.place(&self.placements, self.info, false).is_ok()
    }

    /// Adds Workloads back that need not be preempted, the last one removed first. The last target is needed anyway.
    pub fn fill_back(&self, snapshot: &mut Snapshot, targets: &mut Vec<Target>, may_borrow: bool) {
        for index in (0..targets.len().saturating_sub(1)).rev() {
            snapshot.add_workload(&targets[index].info);
            if self.fits(snapshot, may_borrow) {
                targets.swap_remove(index);
            } else {
                snapshot.remove_workload(&targets[index].info);
            }
        }
    }

    /// Returns whether the ClusterQueue uses less than its nominal quota of all resources that need preemption.
    pub fn is_under_nominal(&self, snapshot: &Snapshot) -> bool {
        let node = snapshot.node(self.info.queue);
        self.resources.iter().all(|fr| node.usage(fr) < node.quota(fr).nominal)
    }

    /// Returns whether the ClusterQueue uses at most its nominal quota of all resources that need preemption.
    pub fn is_within_nominal(&self, snapshot: &Snapshot) -> bool {
        let node = snapshot.node(self.info.queue);
        self.resources.iter().all(|fr| node.usage(fr) <= node.quota(fr).nominal)
    }
}

/// Restores the Workloads of the targets.
pub fn restore(snapshot: &mut Snapshot, targets: &[Target]) {
    targets.iter().for_each(|target| snapshot.add_workload(&target.info));
}
