//! The pending events: a 4-ary heap of packed 128-bit keys over a slab of events.
//!
//! The key is (time, class, sequence, slab slot) in one integer, so one comparison settles the total order
//! (time, class, sequence); four children share a cache line. The heap moves 16-byte keys only.

use super::event::Event;
use crate::base::Time;
use crate::record::NO_TICKET;

/// Bits of the key below the time: class 4, sequence 36, slot 24.
const SLOT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 36;
const ARITY: usize = 4;

#[derive(Default)]
pub struct EventQueue {
    keys: Vec<u128>,
    slab: Vec<(Event, u32)>,
    /// The ticket of each event in the slab; empty while nobody wants tickets.
    tickets: Vec<u32>,
    free: Vec<u32>,
    sequence: u64,
}

impl EventQueue {
    pub fn clear(&mut self) {
        self.keys.clear();
        self.slab.clear();
        self.tickets.clear();
        self.free.clear();
        self.sequence = 0;
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// `cause`: the record that brings the event about; it comes back with the event.
    pub fn push(&mut self, at: Time, event: Event, cause: u32) {
        self.push_with_ticket(at, event, cause, NO_TICKET);
    }

    pub fn push_with_ticket(&mut self, at: Time, event: Event, cause: u32, ticket: u32) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slab[slot as usize] = (event, cause);
                slot
            }
            None => {
                self.slab.push((event, cause));
                self.slab.len() as u32 - 1
            }
        };
        if ticket != NO_TICKET {
            self.tickets.resize(self.slab.len(), NO_TICKET);
            self.tickets[slot as usize] = ticket;
        }
        assert!(slot < 1 << SLOT_BITS, "more than 16 million pending events");
        self.sequence += 1;
        assert!(
            self.sequence < 1 << SEQUENCE_BITS,
            "event sequence exhausted"
        );
        let low = (u64::from(event.class()) << SEQUENCE_BITS | self.sequence) << SLOT_BITS
            | u64::from(slot);
        self.sift_up(u128::from(at.0) << 64 | u128::from(low));
    }

    pub fn next_time(&self) -> Option<Time> {
        self.keys.first().map(|k| Time((k >> 64) as u64))
    }

    /// The next event, its cause, its ticket.
    pub fn pop(&mut self) -> Option<(Time, Event, u32, u32)> {
        let top = *self.keys.first()?;
        let last = self.keys.pop()?;
        if !self.keys.is_empty() {
            self.sift_down(last);
        }
        let slot = (top as u64 & ((1 << SLOT_BITS) - 1)) as u32;
        self.free.push(slot);
        let (event, cause) = self.slab[slot as usize];
        let ticket = self.tickets.get(slot as usize).copied();
        Some((
            Time((top >> 64) as u64),
            event,
            cause,
            ticket.unwrap_or(NO_TICKET),
        ))
    }

    fn sift_up(&mut self, key: u128) {
        let mut hole = self.keys.len();
        self.keys.push(key);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[hole] = self.keys[parent];
            hole = parent;
        }
        self.keys[hole] = key;
    }

    /// Walks the hole at the root to a leaf along the smallest children, then lifts `key` from there: most keys taken
    /// from the end belong near the leaves, so this saves a comparison per level.
    fn sift_down(&mut self, key: u128) {
        let keys = &mut self.keys[..];
        let n = keys.len();
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            if first + ARITY <= n {
                let group: &[u128; ARITY] = keys[first..first + ARITY]
                    .try_into()
                    .expect("four children");
                let left = usize::from(group[1] < group[0]);
                let right = 2 + usize::from(group[3] < group[2]);
                let best = if group[right] < group[left] {
                    right
                } else {
                    left
                };
                keys[hole] = group[best];
                hole = first + best;
            } else if first < n {
                let best = (first..n)
                    .min_by_key(|&i| keys[i])
                    .expect("at least one child");
                keys[hole] = keys[best];
                hole = best;
            } else {
                break;
            }
        }
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if keys[parent] <= key {
                break;
            }
            keys[hole] = keys[parent];
            hole = parent;
        }
        keys[hole] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{JobId, JobSetId};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_leave_by_time_then_class_then_sequence(times in prop::collection::vec(0u64..50, 1..300)) {
            let mut queue = EventQueue::default();
            let mut expected = Vec::new();
            for (i, &t) in times.iter().enumerate() {
                let event = if t % 3 == 0 { Event::Submit(JobSetId(i as u32)) } else { Event::JobDue(JobId(i as u32)) };
                queue.push(Time(t), event, i as u32);
                expected.push((t, event.class(), i as u32));
            }
            expected.sort();
            let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(t, e, c, _)| (t.0, e.class(), c)).collect();
            prop_assert_eq!(order, expected);
        }
    }
}
