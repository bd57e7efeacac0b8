//! Preemption under fair sharing.

use super::fair_order::{TargetOrder, TargetQueue};
use super::order::{is_borrowing_any, satisfies_policy};
use super::search::{PreemptionRequest, Target, restore};
use crate::quota::Share;
use crate::snapshot::Snapshot;
use crate::workload::info::QueueIndex;
use crate::workload::{Info, reasons};
use sim_api::spec::kueue::{FairSharingStrategy, PreemptionPolicy};
use std::sync::Arc;

/// Removes Workloads of the ClusterQueues with the largest shares until the Workload fits, then adds back those that
/// are not needed. The snapshot is unchanged afterwards.
pub fn targets(
    request: &PreemptionRequest, snapshot: &mut Snapshot, strategies: &[FairSharingStrategy],
) -> Vec<Target> {
    let mut candidates = find_candidates(request, snapshot);
    candidates.sort_by(|a, b| request.order.compare(a, b));
    let Some(first) = strategies.first().filter(|_| !candidates.is_empty()) else {
        return Vec::new();
    };
    // Shares include the new Workload.
    snapshot.add_usage(request.info.queue, &request.usage);
    let mut search = Search { request, targets: Vec::new(), retry: Vec::new() };
    let mut fits = search.run_first(snapshot, candidates, *first);
    if !fits && strategies.len() > 1 {
        fits = search.run_second(snapshot);
    }
    let mut targets = search.targets;
    snapshot.remove_usage(request.info.queue, &request.usage);
    if !fits {
        restore(snapshot, &targets);
        return Vec::new();
    }
    request.fill_back(snapshot, &mut targets, true);
    restore(snapshot, &targets);
    targets
}

fn find_candidates(request: &PreemptionRequest, snapshot: &Snapshot) -> Vec<Arc<Info>> {
    let own = request.info.queue;
    let policy = snapshot.queues[own].spec.preemption;
    let of_queue = |queue: QueueIndex, policy: PreemptionPolicy| {
        let permitted = move |info: &&Arc<Info>| {
            satisfies_policy(&request.info.workload, &info.workload, request.timestamp, policy)
                && info.uses_any(&request.resources)
        };
        snapshot.queues[queue].workloads.values().filter(permitted).cloned().collect::<Vec<_>>()
    };
    let mut candidates = of_queue(own, policy.within_cluster_queue);
    if snapshot.parent(own).is_some() && policy.reclaim_within_cohort != PreemptionPolicy::Never {
        for queue in snapshot.tree.queues_below(snapshot.tree.root(own)) {
            if queue != own && snapshot.queues[queue].is_active && is_borrowing_any(snapshot, queue, &request.resources)
            {
                candidates.extend(of_queue(queue, policy.reclaim_within_cohort));
            }
        }
    }
    candidates
}

struct Search<'a> {
    request: &'a PreemptionRequest<'a>,
    targets: Vec<Target>,
    /// Candidates that did not pass the first strategy.
    retry: Vec<Arc<Info>>,
}

impl Search<'_> {
    fn take(&mut self, snapshot: &mut Snapshot, info: Arc<Info>, reason: &'static str) -> bool {
        snapshot.remove_workload(&info);
        self.targets.push(Target { info, reason });
        snapshot.remove_usage(self.request.info.queue, &self.request.usage);
        let fits = self.request.fits(snapshot, true);
        snapshot.add_usage(self.request.info.queue, &self.request.usage);
        fits
    }

    fn run_first(
        &mut self, snapshot: &mut Snapshot, candidates: Vec<Arc<Info>>, strategy: FairSharingStrategy,
    ) -> bool {
        let is_entitled = self.request.is_within_nominal(snapshot);
        let mut order = TargetOrder::new(self.request, snapshot, candidates);
        while let Some(queue) = order.next(snapshot) {
            let own_queue = queue.queue == self.request.info.queue;
            if own_queue || is_entitled {
                let Some(info) = order.pop(&queue) else { continue };
                let reason = if own_queue { reasons::IN_CLUSTER_QUEUE } else { reasons::IN_COHORT_RECLAMATION };
                if self.take(snapshot, info, reason) {
                    return true;
                }
                continue;
            }
            if self.run_queue(snapshot, &mut order, &queue, strategy) {
                return true;
            }
        }
        false
    }

    /// Takes the first candidate of a ClusterQueue that passes the strategy. The others are kept for the second one.
    fn run_queue(
        &mut self, snapshot: &mut Snapshot, order: &mut TargetOrder, queue: &TargetQueue, strategy: FairSharingStrategy,
    ) -> bool {
        let (preemptor, target) = order.shares(snapshot, queue);
        while let Some(info) = order.pop(queue) {
            let passes = match strategy {
                FairSharingStrategy::LessThanInitialShare => preemptor.compare(&target).is_lt(),
                FairSharingStrategy::LessThanOrEqualToFinalShare => {
                    preemptor.compare(&self.share_without(snapshot, order, queue, &info)).is_le()
                }
            };
            if passes {
                return self.take(snapshot, info, reasons::IN_COHORT_FAIR_SHARING);
            }
            self.retry.push(info);
        }
        false
    }

    fn share_without(
        &self, snapshot: &mut Snapshot, order: &TargetOrder, queue: &TargetQueue, info: &Arc<Info>,
    ) -> Share {
        let usage = snapshot.usage_of(info);
        snapshot.remove_usage(info.queue, &usage);
        let share = order.shares(snapshot, queue).1;
        snapshot.add_usage(info.queue, &usage);
        share
    }

    /// Applies the rule LessThanInitialShare to the candidates that did not pass, once for each ClusterQueue.
    fn run_second(&mut self, snapshot: &mut Snapshot) -> bool {
        let mut order = TargetOrder::new(self.request, snapshot, std::mem::take(&mut self.retry));
        while let Some(queue) = order.next(snapshot) {
            let (preemptor, target) = order.shares(snapshot, &queue);
            let popped = order.pop(&queue);
            if let Some(info) = popped.filter(|_| preemptor.compare(&target).is_lt())
                && self.take(snapshot, info, reasons::IN_COHORT_FAIR_SHARING)
            {
                return true;
            }
            order.drop_queue(&queue);
        }
        false
    }
}
