//! The pending events of a replication, in the order of their times and, at one time, of their scheduling.

use super::run::NodesEvent;
use sim_base::SimTime;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Pending events.
#[derive(Default)]
pub struct NodesQueue {
    heap: BinaryHeap<Reverse<PendingEvent>>,
    sequence: u64,
}

/// An event and its place in the order: the time in nanoseconds in the upper half, the number of the event in the lower
/// one. One number is compared faster than the fields of a tuple.
#[derive(Copy, Clone)]
struct PendingEvent {
    place: u128,
    event: NodesEvent,
}

impl PendingEvent {
    fn at(&self) -> SimTime {
        SimTime((self.place >> 64) as u64)
    }
}

impl PartialEq for PendingEvent {
    fn eq(&self, other: &PendingEvent) -> bool {
        self.place == other.place
    }
}

impl Eq for PendingEvent {}

impl PartialOrd for PendingEvent {
    fn partial_cmp(&self, other: &PendingEvent) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PendingEvent {
    fn cmp(&self, other: &PendingEvent) -> Ordering {
        self.place.cmp(&other.place)
    }
}

impl NodesQueue {
    pub fn schedule(&mut self, at: SimTime, event: NodesEvent) {
        self.sequence += 1;
        let place = u128::from(at.0) << 64 | u128::from(self.sequence);
        self.heap.push(Reverse(PendingEvent { place, event }));
    }

    /// Time of the next event, if there is one before `until`.
    pub fn next_before(&self, until: SimTime) -> Option<SimTime> {
        self.heap.peek().map(|Reverse(next)| next.at()).filter(|at| *at < until)
    }

    /// Removes the next event.
    pub fn pop(&mut self) -> Option<NodesEvent> {
        self.heap.pop().map(|Reverse(next)| next.event)
    }

    /// The events from a time on, in no order.
    pub fn from(&self, limit: SimTime) -> impl Iterator<Item = NodesEvent> {
        self.heap.iter().filter(move |Reverse(pending)| pending.at() >= limit).map(|Reverse(pending)| pending.event)
    }
}
