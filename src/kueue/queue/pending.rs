//! The pending Workloads of one ClusterQueue: active ones, and inadmissible ones that wait for an event.

use super::rank::Rank;
use crate::workload::{ConditionType, Info, Workload, WorkloadKey, reasons};
use sim_api::spec::kueue::{KueueBehavior, QueueingStrategy, RequeuingTimestamp};
use sim_base::SimTime;
use std::collections::{BTreeMap, BTreeSet};

/// The Workload at the head of a queue.
#[derive(Clone, Debug)]
pub struct Head {
    pub info: Info,
    /// Whether Workloads are being preempted for it.
    pub is_preemptor: bool,
}

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
    pub behavior: KueueBehavior,
    active: BTreeMap<WorkloadKey, Info>,
    /// Order of the active Workloads.
    ranks: BTreeSet<Rank>,
    inadmissible: BTreeMap<WorkloadKey, Info>,
    /// The head that a cycle took last, until it returns to the queue or is removed.
    in_cycle: Option<WorkloadKey>,
    /// All pending Workloads by shape.
    shapes: BTreeSet<(u64, WorkloadKey)>,
    /// Workloads that received a bypass reason since [`PendingQueue::take_bypassed`].
    bypassed: BTreeSet<WorkloadKey>,
    /// Reasons of Workloads that failed since the last wake-up, by shape. Workloads with the same shape are not tried.
    failed_shapes: BTreeMap<u64, &'static str>,
    preemptor: Option<PreemptorState>,
    /// Number of cycles that took a head, and its value at the last wake-up.
    cycle: u64,
    woken_in: u64,
}

impl PendingQueue {
    pub fn new(strategy: QueueingStrategy, timestamp: RequeuingTimestamp) -> PendingQueue {
        PendingQueue {
            strategy,
            timestamp,
            behavior: KueueBehavior::default(),
            active: BTreeMap::new(),
            ranks: BTreeSet::new(),
            inadmissible: BTreeMap::new(),
            in_cycle: None,
            shapes: BTreeSet::new(),
            bypassed: BTreeSet::new(),
            failed_shapes: BTreeMap::new(),
            preemptor: None,
            cycle: 0,
            woken_in: 0,
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

    /// Returns the number of active Workloads.
    pub fn active_len(&self) -> usize {
        self.active.len()
    }

    /// Returns the Workload that blocks an active one, because the queue is StrictFIFO.
    pub fn head_before(&self, key: WorkloadKey) -> Option<WorkloadKey> {
        let is_blocked = self.strategy == QueueingStrategy::StrictFifo && self.active.contains_key(&key);
        let head = self.ranks.first().filter(|_| is_blocked)?.key;
        (head != key).then_some(head)
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

    /// Returns the reason for which the Workload was put aside without an attempt: one of the same shape failed.
    pub fn bypass_reason(&self, key: WorkloadKey) -> Option<&'static str> {
        self.failed_shapes.get(&self.inadmissible.get(&key)?.shape).copied()
    }

    /// Returns whether [`PendingQueue::take_bypassed`] returns any Workload.
    pub fn has_bypassed(&self) -> bool {
        !self.bypassed.is_empty()
    }

    /// Takes the Workloads that were put aside without an attempt since the last call.
    pub fn take_bypassed(&mut self) -> BTreeSet<WorkloadKey> {
        std::mem::take(&mut self.bypassed)
    }

    fn take(&mut self, key: WorkloadKey) -> Option<Info> {
        let active = self.active.remove(&key);
        if let Some(info) = &active {
            self.ranks.remove(&Rank::new(info, self.timestamp));
        }
        let taken = active.or_else(|| self.inadmissible.remove(&key));
        if let Some(info) = &taken {
            self.shapes.remove(&(info.shape, key));
        }
        taken
    }

    fn add_active(&mut self, info: Info) {
        self.take(info.key);
        self.ranks.insert(Rank::new(&info, self.timestamp));
        self.shapes.insert((info.shape, info.key));
        self.active.insert(info.key, info);
    }

    fn add_inadmissible(&mut self, info: Info) {
        self.take(info.key);
        if self.failed_shapes.contains_key(&info.shape) {
            self.bypassed.insert(info.key);
        }
        self.shapes.insert((info.shape, info.key));
        self.inadmissible.insert(info.key, info);
    }

    /// Adds a Workload, or replaces it by its new state. A Workload that waits for an event continues to wait
    /// unless something changed that may make it admissible. The head of the current cycle is not added: it returns
    /// with its newest state at the end of the cycle (`PushOrUpdate` in `pkg/cache/queue/cluster_queue.go`).
    pub fn push_or_update(&mut self, mut info: Info, now: SimTime) {
        let key = info.key;
        if self.behavior.holds_head_in_cycle && self.in_cycle == Some(key) {
            return;
        }
        if let Some(tracked) = self.get(key).filter(|tracked| tracked.shape == info.shape) {
            info.last_assignment.clone_from(&tracked.last_assignment);
        }
        if self.inadmissible.get(&key).is_some_and(|old| is_equivalent(old, &info)) {
            return self.add_inadmissible(info);
        }
        let is_bypassed =
            self.strategy == QueueingStrategy::BestEffortFifo && self.failed_shapes.contains_key(&info.shape);
        if !self.active.contains_key(&key) && (is_bypassed || !is_backoff_over(&info, now)) {
            self.add_inadmissible(info);
        } else {
            self.add_active(info);
        }
    }

    /// Orders the Workloads by the present usage of their LocalQueues.
    pub fn update_usages(&mut self, usage: impl Fn(&Workload) -> f64) {
        for info in self.active.values_mut().chain(self.inadmissible.values_mut()) {
            info.local_queue_usage = Some(usage(&info.workload));
        }
        self.ranks = self.active.values().map(|info| Rank::new(info, self.timestamp)).collect();
    }

    /// Removes a Workload.
    pub fn remove(&mut self, key: WorkloadKey) {
        self.take(key);
        self.in_cycle = self.in_cycle.filter(|head| *head != key);
        self.preemptor = self.preemptor.filter(|p| p.key != key);
    }

    /// Takes the first active Workload: the sticky preemptor, or the one of the lowest rank.
    pub fn pop(&mut self) -> Option<Head> {
        self.cycle += 1;
        self.in_cycle = None;
        let first = self.ranks.first()?;
        let sticky = self.preemptor.filter(|p| p.is_sticky).and_then(|p| self.active.get(&p.key));
        let sticky = sticky.filter(|info| Rank::new(info, self.timestamp).compare_usage(first).is_eq());
        let key = sticky.map_or(first.key, |info| info.key);
        let info = self.take(key)?;
        self.in_cycle = Some(key);
        Some(Head { info, is_preemptor: self.preemptor.is_some_and(|p| p.key == key) })
    }

    /// Returns a head to the queue. It is tried again at once or waits for an event.
    pub fn requeue(&mut self, info: Info, reason: RequeueReason, quota_reason: &'static str, now: SimTime) {
        let key = info.key;
        self.in_cycle = self.in_cycle.filter(|head| *head != key);
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
        // After a wake-up during the cycle, the decision may be outdated.
        let is_woken = self.woken_in >= self.cycle;
        if is_backoff_over(&info, now) && (is_immediate || is_woken || has_pending_flavors) {
            return self.add_active(info);
        }
        if self.contains(key) {
            return;
        }
        let shape = info.shape;
        self.add_inadmissible(info);
        let is_final = matches!(reason, RequeueReason::NoFit | RequeueReason::PreemptionNoCandidates);
        if is_final && self.behavior.skips_equal_shapes && self.strategy == QueueingStrategy::BestEffortFifo {
            let quota_reason = if quota_reason.is_empty() { reasons::PENDING_EVALUATION } else { quota_reason };
            self.failed_shapes.insert(shape, quota_reason);
            self.bypass(shape);
        }
    }

    /// Puts all Workloads of a shape aside.
    fn bypass(&mut self, shape: u64) {
        let of_shape: Vec<WorkloadKey> = self.shapes.range((shape, 0)..=(shape, usize::MAX)).map(|s| s.1).collect();
        for key in of_shape.iter().filter(|key| self.active.contains_key(key)).copied().collect::<Vec<_>>() {
            if let Some(info) = self.take(key) {
                self.add_inadmissible(info);
            }
        }
        self.bypassed.extend(of_shape);
    }

    /// Makes all inadmissible Workloads active, except those that wait for the end of a back-off. `is_selected` is
    /// false for Workloads whose namespace the ClusterQueue does not select.
    pub fn wake(&mut self, now: SimTime, is_selected: impl Fn(&Info) -> bool) {
        self.failed_shapes.clear();
        self.woken_in = self.cycle;
        self.bypassed.clear();
        let (woken, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.inadmissible)
            .into_iter()
            .partition(|(_, info)| is_selected(info) && is_backoff_over(info, now));
        self.inadmissible = left.into_iter().collect();
        for (key, info) in woken {
            self.ranks.insert(Rank::new(&info, self.timestamp));
            self.active.insert(key, info);
        }
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
