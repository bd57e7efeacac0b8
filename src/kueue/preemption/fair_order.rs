//! The order in which ClusterQueues lose Workloads under fair sharing (`preemption/fairsharing`).

use super::order::CandidateOrder;
use super::search::PreemptionRequest;
use crate::quota::{NodeId, Share};
use crate::snapshot::Snapshot;
use crate::workload::Info;
use crate::workload::info::QueueIndex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A ClusterQueue with candidates.
#[derive(Clone, Debug)]
pub struct TargetQueue {
    pub queue: QueueIndex,
}

/// Walks from the root to the child with the largest share, repeatedly.
pub struct TargetOrder {
    preemptor: QueueIndex,
    ancestors: BTreeSet<NodeId>,
    candidates: BTreeMap<QueueIndex, VecDeque<Arc<Info>>>,
    /// Nodes without further candidates.
    pruned: BTreeSet<NodeId>,
    order: CandidateOrder,
}

impl TargetOrder {
    pub fn new(request: &PreemptionRequest, snapshot: &Snapshot, candidates: Vec<Arc<Info>>) -> TargetOrder {
        let mut by_queue: BTreeMap<QueueIndex, VecDeque<Arc<Info>>> = BTreeMap::new();
        for info in candidates {
            by_queue.entry(info.queue).or_default().push_back(info);
        }
        TargetOrder {
            preemptor: request.info.queue,
            ancestors: snapshot.tree.ancestors(request.info.queue).collect(),
            candidates: by_queue,
            pruned: BTreeSet::new(),
            order: CandidateOrder { has_admission_fair_sharing: false, ..request.order },
        }
    }

    /// Returns the next ClusterQueue. The caller must take a candidate of it or drop it.
    pub fn next(&mut self, snapshot: &Snapshot) -> Option<TargetQueue> {
        if snapshot.parent(self.preemptor).is_none() {
            let is_left = !self.pruned.contains(&self.preemptor) && self.has_candidates(self.preemptor);
            return is_left.then_some(TargetQueue { queue: self.preemptor });
        }
        let root = snapshot.tree.root(self.preemptor);
        while !self.pruned.contains(&root) {
            if let Some(queue) = self.descend(snapshot, root) {
                return Some(TargetQueue { queue });
            }
        }
        None
    }

    fn has_candidates(&self, queue: QueueIndex) -> bool {
        self.candidates.get(&queue).is_some_and(|list| !list.is_empty())
    }

    pub fn pop(&mut self, queue: &TargetQueue) -> Option<Arc<Info>> {
        self.candidates.get_mut(&queue.queue)?.pop_front()
    }

    pub fn drop_queue(&mut self, queue: &TargetQueue) {
        self.pruned.insert(queue.queue);
    }

    /// Returns the ClusterQueue below a cohort, or `None` if only nodes were pruned.
    fn descend(&mut self, snapshot: &Snapshot, cohort: NodeId) -> Option<QueueIndex> {
        let best_queue = self.best_queue(snapshot, cohort);
        let best_cohort = self.best_cohort(snapshot, cohort);
        match (best_queue, best_cohort) {
            (None, None) => {
                self.pruned.insert(cohort);
                None
            }
            (Some((queue, _)), None) => Some(queue),
            (None, Some((child, _))) => self.descend(snapshot, child),
            (Some((queue, queue_share)), Some((child, cohort_share))) => {
                if cohort_share.compare(&queue_share).is_ge() {
                    return self.descend(snapshot, child);
                }
                Some(queue)
            }
        }
    }

    fn best_queue(&mut self, snapshot: &Snapshot, cohort: NodeId) -> Option<(QueueIndex, Share)> {
        let mut best: Option<(QueueIndex, Share)> = None;
        for queue in snapshot.tree.nodes[cohort].queues.iter().copied() {
            if self.pruned.contains(&queue) {
                continue;
            }
            let share = snapshot.tree.share(queue);
            if (!share.is_borrowing() && queue != self.preemptor) || !self.has_candidates(queue) {
                self.pruned.insert(queue);
                continue;
            }
            let is_better = match &best {
                None => true,
                Some((other, other_share)) => {
                    let by_share = share.compare(other_share);
                    by_share.then_with(|| self.compare_first(*other, queue)).is_gt()
                }
            };
            if is_better {
                best = Some((queue, share));
            }
        }
        best
    }

    /// Compares the first candidates of two ClusterQueues.
    fn compare_first(&self, a: QueueIndex, b: QueueIndex) -> std::cmp::Ordering {
        let first = |queue| self.candidates.get(&queue).and_then(VecDeque::front);
        match (first(a), first(b)) {
            (Some(a), Some(b)) => self.order.compare(a, b),
            _ => std::cmp::Ordering::Equal,
        }
    }

    fn best_cohort(&mut self, snapshot: &Snapshot, cohort: NodeId) -> Option<(NodeId, Share)> {
        let mut best: Option<(NodeId, Share)> = None;
        for child in snapshot.tree.nodes[cohort].cohorts.iter().copied() {
            if self.pruned.contains(&child) {
                continue;
            }
            let share = snapshot.tree.share(child);
            if !share.is_borrowing() && !self.ancestors.contains(&child) {
                self.pruned.insert(child);
            } else if best.as_ref().is_none_or(|(_, other)| share.compare(other).is_ge()) {
                best = Some((child, share));
            }
        }
        best
    }

    /// Returns the shares of the preemptor's and the target's subtree directly below their lowest common cohort.
    pub fn shares(&self, snapshot: &Snapshot, target: &TargetQueue) -> (Share, Share) {
        let common = snapshot.tree.ancestors(target.queue).find(|cohort| self.ancestors.contains(cohort));
        let below = |queue: QueueIndex| {
            let path = std::iter::once(queue).chain(snapshot.tree.ancestors(queue));
            path.take_while(|node| Some(*node) != common).last().unwrap_or(queue)
        };
        (snapshot.tree.share(below(self.preemptor)), snapshot.tree.share(below(target.queue)))
    }
}
