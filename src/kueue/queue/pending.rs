//! The pending Workloads of one ClusterQueue: active ones, and inadmissible ones that wait for an event.

use crate::cycle::Head;
use crate::workload::{ConditionType, Info, WorkloadKey, reasons};
use sim_api::spec::kueue::{QueueingStrategy, RequeuingTimestamp};
use sim_base::SimTime;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Why a head returns to its queue.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum RequeueReason {
    #[default]
    Generic,
    FailedAfterNomination,
    NamespaceMismatch,
    PendingPreemption,
    NoFit,
    PreemptionNoCandidates,
}

/// The Workload for which others are being preempted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct PreemptorState {
    key: WorkloadKey,
    /// Whether it stays at the head of the queue.
    is_sticky: bool,
}

#[derive(Clone, Debug)]
pub struct PendingQueue {
    pub strategy: QueueingStrategy,
    pub timestamp: RequeuingTimestamp,
    active: BTreeMap<WorkloadKey, Info>,
    inadmissible: BTreeMap<WorkloadKey, Info>,
    /// Reasons of Workloads that failed since the last wake-up, by shape. Workloads with the same shape are not tried.
    failed_shapes: BTreeMap<u64, &'static str>,
    preemptor: Option<PreemptorState>,
}

impl PendingQueue {
    pub fn new(strategy: QueueingStrategy, timestamp: RequeuingTimestamp) -> PendingQueue {
        PendingQueue {
            strategy,
            timestamp,
            active: BTreeMap::new(),
            inadmissible: BTreeMap::new(),
            failed_shapes: BTreeMap::new(),
            preemptor: None,
        }
    }

    /// Returns the number of pending Workloads.
    pub fn len(&self) -> usize {
        self.active.len() + self.inadmissible.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn has_active(&self) -> bool {
        !self.active.is_empty()
    }

    pub fn contains(&self, key: WorkloadKey) -> bool {
        self.active.contains_key(&key) || self.inadmissible.contains_key(&key)
    }

    /// Returns the pending Workload.
    pub fn get(&self, key: WorkloadKey) -> Option<&Info> {
        self.active.get(&key).or_else(|| self.inadmissible.get(&key))
    }

    /// Returns all pending Workloads.
    pub fn iter(&self) -> impl Iterator<Item = &Info> {
        self.active.values().chain(self.inadmissible.values())
    }

    /// Returns the reason for which the Workload was put aside without an attempt, because one of the same shape failed.
    pub fn bypass_reason(&self, key: WorkloadKey) -> Option<&'static str> {
        self.failed_shapes.get(&self.inadmissible.get(&key)?.shape).copied()
    }

    /// Compares two Workloads: the sticky preemptor first, then less usage of the LocalQueue, higher priority, and age.
    fn compare(&self, a: &Info, b: &Info) -> Ordering {
        let is_sticky = |info: &Info| self.preemptor.is_some_and(|p| p.is_sticky && p.key == info.key);
        let by_usage = match (a.local_queue_usage, b.local_queue_usage) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => Ordering::Equal,
        };
        let time = |info: &Info| info.workload.queue_time(self.timestamp);
        by_usage
            .then_with(|| is_sticky(b).cmp(&is_sticky(a)))
            .then_with(|| b.priority().cmp(&a.priority()))
            .then_with(|| time(a).cmp(&time(b)))
            .then_with(|| (&a.workload.uid, a.key).cmp(&(&b.workload.uid, b.key)))
    }

    /// Adds a Workload, or replaces it by its new state. A Workload that waits for an event goes on waiting unless
    /// something changed that may make it admissible.
    pub fn push_or_update(&mut self, mut info: Info, now: SimTime) {
        let key = info.key;
        if let Some(tracked) = self.get(key).filter(|tracked| tracked.shape == info.shape) {
            info.last_assignment.clone_from(&tracked.last_assignment);
        }
        if let Some(old) = self.inadmissible.get(&key) {
            if is_equivalent(old, &info) {
                self.inadmissible.insert(key, info);
                return;
            }
            self.inadmissible.remove(&key);
        }
        let is_active = self.active.contains_key(&key);
        let is_bypassed =
            self.strategy == QueueingStrategy::BestEffortFifo && self.failed_shapes.contains_key(&info.shape);
        if !is_active && (is_bypassed || !is_backoff_over(&info, now)) {
            self.inadmissible.insert(key, info);
        } else {
            self.active.insert(key, info);
        }
    }

    /// Removes a Workload.
    pub fn remove(&mut self, key: WorkloadKey) {
        self.active.remove(&key);
        self.inadmissible.remove(&key);
        self.preemptor = self.preemptor.filter(|p| p.key != key);
    }

    /// Takes the first active Workload.
    pub fn pop(&mut self) -> Option<Head> {
        let first = self.active.values().min_by(|a, b| self.compare(a, b))?.key;
        let info = self.active.remove(&first)?;
        let is_preemptor = self.preemptor.is_some_and(|p| p.key == first);
        Some(Head { info, is_preemptor })
    }

    /// Returns a head to the queue. It is tried again at once or waits for an event.
    pub fn requeue(&mut self, info: Info, reason: RequeueReason, quota_reason: &'static str, now: SimTime) {
        let key = info.key;
        if reason == RequeueReason::PendingPreemption {
            let is_sticky = self.strategy == QueueingStrategy::BestEffortFifo;
            self.preemptor = Some(PreemptorState { key, is_sticky });
        }
        let is_immediate = match self.strategy {
            QueueingStrategy::StrictFifo => reason != RequeueReason::NamespaceMismatch,
            QueueingStrategy::BestEffortFifo => {
                matches!(reason, RequeueReason::FailedAfterNomination | RequeueReason::PendingPreemption)
            }
        };
        let has_pending_flavors = info.last_assignment.as_ref().is_some_and(|last| last.has_pending_flavors());
        if is_backoff_over(&info, now) && (is_immediate || has_pending_flavors) {
            self.inadmissible.remove(&key);
            self.active.insert(key, info);
            return;
        }
        if self.contains(key) {
            return;
        }
        let shape = info.shape;
        self.inadmissible.insert(key, info);
        let is_final = matches!(reason, RequeueReason::NoFit | RequeueReason::PreemptionNoCandidates);
        if is_final && self.strategy == QueueingStrategy::BestEffortFifo {
            let quota_reason = if quota_reason.is_empty() { reasons::PENDING_EVALUATION } else { quota_reason };
            self.failed_shapes.insert(shape, quota_reason);
            let (failed, left) = std::mem::take(&mut self.active).into_iter().partition(|(_, i)| i.shape == shape);
            self.active = left;
            self.inadmissible.extend::<BTreeMap<_, _>>(failed);
        }
    }

    /// Makes all inadmissible Workloads active, except those that wait for the end of a back-off. `is_selected` is
    /// false for Workloads whose namespace the ClusterQueue does not select.
    pub fn wake(&mut self, now: SimTime, is_selected: impl Fn(&Info) -> bool) {
        self.failed_shapes.clear();
        let (woken, left) = std::mem::take(&mut self.inadmissible)
            .into_iter()
            .partition(|(_, info)| is_selected(info) && is_backoff_over(info, now));
        self.inadmissible = left;
        self.active.extend::<BTreeMap<_, _>>(woken);
    }
}

/// Returns whether a Workload may be considered: it is not held back by the condition Requeued or by a back-off.
fn is_backoff_over(info: &Info, now: SimTime) -> bool {
    let requeued = info.workload.condition(ConditionType::Requeued);
    if requeued.is_some_and(|c| !c.status) {
        return false;
    }
    info.workload.status.requeue.and_then(|requeue| requeue.at).is_none_or(|at| at <= now)
}

/// Returns whether nothing changed that may make a Workload admissible.
fn is_equivalent(old: &Info, new: &Info) -> bool {
    let (a, b) = (&old.workload, &new.workload);
    let same = |kind: ConditionType| a.condition(kind) == b.condition(kind);
    a.pod_sets == b.pod_sets
        && a.priority == b.priority
        && a.queue == b.queue
        && a.active == b.active
        && a.status.reclaimable == b.status.reclaimable
        && same(ConditionType::Evicted)
        && same(ConditionType::Requeued)
}
