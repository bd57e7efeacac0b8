//! The pending events of a replication, in the order of their times and, at one time, of their scheduling.

use sim_base::SimTime;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The pending events, of type `E`.
pub struct NodesQueue<E> {
    heap: BinaryHeap<Reverse<PendingEvent<E>>>,
    sequence: u64,
}

/// An event and its place in the order: the time in nanoseconds in the upper half, the number of the event in the lower
/// one. One number is compared faster than the fields of a tuple.
#[derive(Copy, Clone)]
struct PendingEvent<E> {
    place: u128,
    event: E,
}

impl<E> PendingEvent<E> {
    fn at(&self) -> SimTime {
        SimTime((self.place >> 64) as u64)
    }
}

impl<E> PartialEq for PendingEvent<E> {
    fn eq(&self, other: &PendingEvent<E>) -> bool {
        self.place == other.place
    }
}

impl<E> Eq for PendingEvent<E> {}

impl<E> PartialOrd for PendingEvent<E> {
    fn partial_cmp(&self, other: &PendingEvent<E>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for PendingEvent<E> {
    fn cmp(&self, other: &PendingEvent<E>) -> Ordering {
        self.place.cmp(&other.place)
    }
}

impl<E: Copy> NodesQueue<E> {
    /// A queue without events.
    pub fn new() -> NodesQueue<E> {
        NodesQueue { heap: BinaryHeap::new(), sequence: 0 }
    }

    pub fn schedule(&mut self, at: SimTime, event: E) {
        self.sequence += 1;
        let place = u128::from(at.0) << 64 | u128::from(self.sequence);
        self.heap.push(Reverse(PendingEvent { place, event }));
    }

    /// Time of the next event, if there is one before `until`.
    pub fn next_before(&self, until: SimTime) -> Option<SimTime> {
        self.heap.peek().map(|Reverse(next)| next.at()).filter(|at| *at < until)
    }

    /// Removes the next event.
    pub fn pop(&mut self) -> Option<E> {
        self.heap.pop().map(|Reverse(next)| next.event)
    }

    /// The events from a time on, in no order.
    pub fn from(&self, limit: SimTime) -> impl Iterator<Item = E> {
        self.heap.iter().filter(move |Reverse(pending)| pending.at() >= limit).map(|Reverse(pending)| pending.event)
    }
}
