//! The scheduler's queues: the active queue by priority and age, the back-off queue, and the unschedulable pods
//! (kubernetes.md 2.1).

use crate::ctx::ContextMark;
use priority_queue::PriorityQueue;
use sim_base::{Duration, PodId, SimTime, TextId};
use std::cmp::Reverse;

/// Hasher of the keyed queues: ids are dense and trusted, and no order depends on it.
#[derive(Clone, Default)]
pub struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u32(u32::from(*b));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(n)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

type FixedHasher = std::hash::BuildHasherDefault<IdHasher>;

/// podInitialBackoffSeconds, podMaxBackoffSeconds (kubernetes.md 2.1).
const BACKOFF_INITIAL_S: u64 = 1;
const BACKOFF_MAX_S: u64 = 10;

#[derive(Clone, Default)]
pub struct SchedulingQueues {
    /// activeQ: priority, then enqueue order (PrioritySort).
    active: PriorityQueue<PodId, (i32, Reverse<u64>), FixedHasher>,
    /// Pods for which no node fits, until a relevant change.
    unschedulable: Vec<(PodId, u32)>,
    /// The end of each back-off; pods are popped early if activeQ is empty (PopFromBackoffQ).
    backoff: PriorityQueue<PodId, (Reverse<SimTime>, Reverse<u64>), FixedHasher>,
    enqueued: u64,
    rows: Vec<QueueRow>,
    pub longest: u32,
}

/// The scheduler's data about a queued pod.
#[derive(Copy, Clone)]
struct QueueRow {
    /// Number of attempts that found no node.
    tries: u8,
    unschedulable: bool,
    /// Reason of its last failed attempt.
    reason: TextId,
    enqueued: ContextMark,
}

impl Default for QueueRow {
    fn default() -> QueueRow {
        QueueRow { tries: 0, unschedulable: false, reason: TextId::NONE, enqueued: ContextMark::default() }
    }
}

impl SchedulingQueues {
    pub fn reset(&mut self) {
        self.active.clear();
        self.unschedulable.clear();
        self.backoff.clear();
        self.rows.clear();
        self.enqueued = 0;
        self.longest = 0;
    }

    fn row(&mut self, pod: PodId) -> &mut QueueRow {
        if self.rows.len() <= pod.ix() {
            self.rows.resize(pod.ix() + 1, QueueRow::default());
        }
        &mut self.rows[pod.ix()]
    }

    /// Resets the row for another object.
    pub fn forget(&mut self, pod: PodId) {
        *self.row(pod) = QueueRow::default();
    }

    pub fn contains(&self, pod: PodId) -> bool {
        self.active.get(&pod).is_some() || self.is_unschedulable(pod)
    }

    pub fn is_unschedulable(&self, pod: PodId) -> bool {
        self.rows.get(pod.ix()).is_some_and(|r| r.unschedulable)
    }

    pub fn activate(&mut self, pod: PodId, priority: i32, since: ContextMark) {
        self.row(pod).enqueued = since;
        self.row(pod).unschedulable = false;
        self.enqueued += 1;
        let order = (priority, Reverse(self.enqueued));
        self.active.push(pod, order);
        self.longest = self.longest.max(self.active.len() as u32);
    }

    /// The next pod and its trigger; if activeQ is empty, a pod leaves its back-off early.
    pub fn pop(&mut self) -> Option<(PodId, ContextMark)> {
        let active = self.active.pop().map(|(pod, _)| pod);
        let pod = active.or_else(|| self.backoff.pop().map(|(pod, _)| pod))?;
        let row = self.row(pod);
        row.unschedulable = false;
        Some((pod, row.enqueued))
    }

    /// No node fits the pod; returns true if the reason differs from that of its last attempt. Equal Events are merged.
    pub fn mark_unschedulable(&mut self, pod: (PodId, u32), reason: TextId, since: ContextMark) -> bool {
        let row = self.row(pod.0);
        row.tries = row.tries.saturating_add(1);
        row.unschedulable = true;
        row.enqueued = since;
        let last = std::mem::replace(&mut row.reason, reason);
        self.unschedulable.push(pod);
        last != reason
    }

    /// Message of the pod's last attempt that found no node.
    pub fn last_message(&self, pod: PodId) -> TextId {
        self.rows.get(pod.ix()).map_or(TextId::NONE, |row| row.reason)
    }

    /// Number of attempts of the pod that found no node.
    pub fn attempts(&self, pod: PodId) -> u32 {
        self.rows.get(pod.ix()).map_or(0, |row| row.tries.into())
    }

    pub fn has_unschedulable(&self) -> bool {
        !self.unschedulable.is_empty()
    }

    /// Moves all unschedulable pods to the back-off queue, and returns them with their back-off.
    pub fn move_to_backoff(&mut self, now: SimTime, into: &mut Vec<(PodId, u32, Duration)>) {
        let parked = std::mem::take(&mut self.unschedulable);
        for (pod, incarnation) in &parked {
            let tries = u32::from(self.row(*pod).tries).clamp(1, 8);
            let wait = Duration::from_secs((BACKOFF_INITIAL_S << (tries - 1)).min(BACKOFF_MAX_S));
            self.enqueued += 1;
            let order = (Reverse(now + wait), Reverse(self.enqueued));
            self.backoff.push(*pod, order);
            into.push((*pod, *incarnation, wait));
        }
        self.unschedulable = parked;
        self.unschedulable.clear();
    }

    /// Returns the mark from which the path of a queued pod continues.
    pub fn enqueued(&self, pod: PodId) -> ContextMark {
        self.rows.get(pod.ix()).map_or(ContextMark::default(), |row| row.enqueued)
    }

    pub fn set_enqueued(&mut self, pod: PodId, since: ContextMark) {
        self.row(pod).enqueued = since;
    }

    /// The back-off of the pod ends; false if it was popped early.
    pub fn leave_backoff(&mut self, pod: PodId) -> bool {
        self.backoff.remove(&pod).is_some()
    }

    pub fn remove(&mut self, pod: PodId) {
        if self.is_unschedulable(pod) {
            self.unschedulable.retain(|(p, _)| *p != pod);
            self.backoff.remove(&pod);
            self.row(pod).unschedulable = false;
        }
        self.active.remove(&pod);
    }
}
