//! Selects targets for an assignment, and simulates preemptions for a single resource.

use super::order::CandidateOrder;
use super::search::{PreemptionRequest, Target};
use super::{classical, fair};
use crate::amount::Amount;
use crate::flavors::assigner::PreemptionOracle;
use crate::flavors::{Assignment, PreemptionPossibility};
use crate::requests::FlavorResource;
use crate::snapshot::{Snapshot, Usage};
use crate::topology::PlacementRequests;
use crate::workload::Info;
use sim_api::spec::kueue::{FairSharingStrategy, RequeuingTimestamp};
use sim_base::SimTime;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Configuration of preemption.
#[derive(Clone, Debug)]
pub struct Preemptor {
    /// Strategies of fair sharing. `None` is the classical preemption.
    pub fair_sharing: Option<Vec<FairSharingStrategy>>,
    pub has_admission_fair_sharing: bool,
    pub timestamp: RequeuingTimestamp,
    pub now: SimTime,
}

impl Preemptor {
    fn search(
        &self, snapshot: &mut Snapshot, info: &Info, usage: Usage, resources: BTreeSet<FlavorResource>,
        placements: PlacementRequests,
    ) -> Vec<Target> {
        let order = CandidateOrder {
            queue: info.queue,
            has_admission_fair_sharing: self.has_admission_fair_sharing,
            now: self.now,
        };
        let request = PreemptionRequest { info, usage, resources, placements, timestamp: self.timestamp, order };
        match &self.fair_sharing {
            Some(strategies) => fair::targets(&request, snapshot, strategies),
            None => classical::targets(&request, snapshot),
        }
    }

    /// Returns the Workloads to preempt for an assignment. Empty if preemption does not help.
    pub fn targets(&self, snapshot: &mut Snapshot, info: &Info, assignment: &mut Assignment) -> Vec<Target> {
        let placements = assignment.placement_requests(snapshot, info, info.queue);
        let usage = Usage { quota: assignment.total_requests(info), topology: snapshot.topology.usage_of(info) };
        self.search(snapshot, info, usage, assignment.resources_to_preempt(), placements)
    }
}

impl PreemptionOracle for Preemptor {
    fn simulate(
        &self, snapshot: &mut Snapshot, info: &Info, fr: &FlavorResource, amount: Amount,
    ) -> (PreemptionPossibility, usize) {
        let usage = Usage { quota: [(fr.clone(), amount)].into(), ..Usage::default() };
        let targets = self.search(snapshot, info, usage, [fr.clone()].into(), PlacementRequests::new());
        let queue = info.queue;
        let height = |snapshot: &mut Snapshot| snapshot.tree.lowest_fitting_height(queue, fr, amount).0;
        if targets.is_empty() {
            return (PreemptionPossibility::NoCandidates, height(snapshot));
        }
        let infos: Vec<Arc<Info>> = targets.into_iter().map(|target| target.info).collect();
        let borrowing = snapshot.without_usage_of(&infos, height);
        let is_own = infos.iter().any(|target| target.queue == queue);
        (if is_own { PreemptionPossibility::Preempt } else { PreemptionPossibility::Reclaim }, borrowing)
    }
}
