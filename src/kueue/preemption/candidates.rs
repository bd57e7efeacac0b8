//! Candidates of the classical preemption (`preemption/classical`).

use super::order::satisfies_policy;
use super::search::PreemptionRequest;
use crate::quota::NodeId;
use crate::snapshot::Snapshot;
use crate::workload::info::QueueIndex;
use crate::workload::{Info, reasons};
use sim_api::spec::kueue::PreemptionPolicy;
use std::sync::Arc;

/// Why a candidate may be preempted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PreemptionVariant {
    WithinQueue,
    /// The preemptor is closer to the quota that the candidate uses.
    HierarchicalReclaim,
    /// Only if the preemptor's ClusterQueue does not borrow afterwards.
    ReclaimWithoutBorrowing,
    ReclaimWhileBorrowing,
}

impl PreemptionVariant {
    pub fn reason(self) -> &'static str {
        match self {
            PreemptionVariant::WithinQueue => reasons::IN_CLUSTER_QUEUE,
            PreemptionVariant::HierarchicalReclaim | PreemptionVariant::ReclaimWithoutBorrowing => {
                reasons::IN_COHORT_RECLAMATION
            }
            PreemptionVariant::ReclaimWhileBorrowing => reasons::IN_COHORT_RECLAIM_WHILE_BORROWING,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Candidate {
    pub info: Arc<Info>,
    /// The lowest cohort above both ClusterQueues. `None` within the own ClusterQueue.
    pub common_cohort: Option<NodeId>,
    pub variant: PreemptionVariant,
}

/// All candidates in the order in which they are tried.
pub struct Candidates {
    pub list: Vec<Candidate>,
    pub has_other_queues: bool,
    pub has_hierarchical: bool,
}

/// Collects the candidates.
pub fn collect(request: &PreemptionRequest, snapshot: &Snapshot) -> Candidates {
    let mut own = Vec::new();
    let policy = snapshot.queues[request.info.queue].spec.preemption;
    if policy.within_cluster_queue != PreemptionPolicy::Never {
        from_queue(request, snapshot, request.info.queue, None, false, &mut own);
    }
    let (mut hierarchical, mut by_priority) = collect_from_cohorts(request, snapshot);
    let has_hierarchical = !hierarchical.is_empty();
    let has_other_queues = has_hierarchical || !by_priority.is_empty();
    for list in [&mut hierarchical, &mut by_priority, &mut own] {
        list.sort_by(|a, b| request.order.compare(&a.info, &b.info));
    }
    let all = || [&hierarchical, &by_priority, &own].into_iter().flatten();
    let evicted = all().filter(|c| c.info.workload.is_evicted());
    let list = evicted.chain(all().filter(|c| !c.info.workload.is_evicted())).cloned().collect();
    Candidates { list, has_other_queues, has_hierarchical }
}

fn collect_from_cohorts(request: &PreemptionRequest, snapshot: &Snapshot) -> (Vec<Candidate>, Vec<Candidate>) {
    let (mut hierarchical, mut by_priority) = (Vec::new(), Vec::new());
    let queue = request.info.queue;
    if snapshot.queues[queue].spec.preemption.reclaim_within_cohort == PreemptionPolicy::Never {
        return (hierarchical, by_priority);
    }
    let (mut has_advantage, mut rest) = snapshot.tree.fits_in_subtree(queue, &request.usage.quota);
    let mut done = None;
    for cohort in snapshot.tree.ancestors(queue) {
        let list = if has_advantage { &mut hierarchical } else { &mut by_priority };
        let search = SubtreeSearch { request, snapshot, common: cohort, done, has_advantage };
        search.collect(cohort, list);
        let fits;
        (fits, rest) = snapshot.tree.fits_in_subtree(cohort, &rest);
        has_advantage |= fits;
        done = Some(cohort);
    }
    (hierarchical, by_priority)
}

struct SubtreeSearch<'a> {
    request: &'a PreemptionRequest<'a>,
    snapshot: &'a Snapshot,
    common: NodeId,
    /// Subtree whose candidates are already collected.
    done: Option<NodeId>,
    has_advantage: bool,
}

impl SubtreeSearch<'_> {
    /// Collects the candidates of all ClusterQueues that exceed their quota, in subtrees that exceed theirs.
    fn collect(&self, cohort: NodeId, list: &mut Vec<Candidate>) {
        let node = &self.snapshot.tree.nodes[cohort];
        let is_within = |node: NodeId| self.snapshot.tree.nodes[node].is_within_nominal(self.request.resources.iter());
        for child in node.cohorts.iter().filter(|child| Some(**child) != self.done && !is_within(**child)) {
            self.collect(*child, list);
        }
        // Kueue's snapshot has no inactive ClusterQueues, so their Workloads are never preempted.
        let is_active = |queue: NodeId| self.snapshot.queues[queue].is_active;
        let others = node.queues.iter().filter(|q| **q != self.request.info.queue && is_active(**q));
        for queue in others.filter(|q| !is_within(**q)) {
            from_queue(self.request, self.snapshot, *queue, Some(self.common), self.has_advantage, list);
        }
    }
}

fn from_queue(
    request: &PreemptionRequest, snapshot: &Snapshot, queue: QueueIndex, common_cohort: Option<NodeId>,
    has_advantage: bool, list: &mut Vec<Candidate>,
) {
    for info in snapshot.queues[queue].workloads.values() {
        if let Some(variant) = classify(request, snapshot, info, has_advantage) {
            list.push(Candidate { info: info.clone(), common_cohort, variant });
        }
    }
}

fn classify(
    request: &PreemptionRequest, snapshot: &Snapshot, candidate: &Info, has_advantage: bool,
) -> Option<PreemptionVariant> {
    let preemption = &snapshot.queues[request.info.queue].spec.preemption;
    let is_own = candidate.queue == request.info.queue;
    let policy = if is_own { preemption.within_cluster_queue } else { preemption.reclaim_within_cohort };
    let permitted = satisfies_policy(&request.info.workload, &candidate.workload, request.timestamp, policy);
    if !permitted || !candidate.uses_any(&request.resources) {
        return None;
    }
    if is_own {
        return Some(PreemptionVariant::WithinQueue);
    }
    if has_advantage {
        return Some(PreemptionVariant::HierarchicalReclaim);
    }
    let borrowing = &preemption.borrow_within_cohort;
    let is_above_threshold = candidate.priority() >= request.info.priority()
        || borrowing.max_priority_threshold.is_some_and(|threshold| candidate.priority() > threshold);
    if !borrowing.lower_priority || is_above_threshold {
        return Some(PreemptionVariant::ReclaimWithoutBorrowing);
    }
    Some(PreemptionVariant::ReclaimWhileBorrowing)
}

impl Candidate {
    /// Returns whether the candidate still exceeds its quota after earlier removals.
    pub fn is_valid(&self, request: &PreemptionRequest, snapshot: &Snapshot, may_borrow: bool) -> bool {
        let queue = self.info.queue;
        if queue == request.info.queue {
            return true;
        }
        if may_borrow && self.variant == PreemptionVariant::ReclaimWithoutBorrowing {
            return false;
        }
        let mut path = std::iter::once(queue).chain(snapshot.tree.ancestors(queue));
        let below = path.by_ref().take_while(|node| Some(*node) != self.common_cohort);
        below.into_iter().all(|node| !snapshot.tree.nodes[node].is_within_nominal(request.resources.iter()))
    }
}
