//! The pending events: a timing wheel of four levels over a slab of events. Time is divided into slices of one
//! millisecond. An event waits unsorted in the list of its slice or, if it is further away, in the list of 4,096
//! slices, of 4,096² or of more; it moves down a level when its time approaches. Only the events of the current slice
//! are sorted, by one 128-bit key: (time, class, sequence). The cost of an event is a few moves, independent of the
//! number of pending events. Source: G. Varghese and T. Lauck, "Hashed and hierarchical timing wheels", 1987, scheme 7.

use super::event::SimulationEvent;
use super::wheel_level::WheelLevel;
use crate::record::NO_TICKET;
use sim_base::SimTime;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bits of the key below the time: class 4, sequence 36, slot 24.
const SLOT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 36;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
/// End marker of a list of slots.
const NONE: u32 = SLOT_MASK as u32;

/// Length of a slice: 2^20 ns = 1.05 ms, so that a busy run has a few events in each. Affects speed only.
const SLICE_BITS: u32 = 20;
const LEVEL_BITS: u32 = WheelLevel::BITS;
const LEVELS: usize = (u64::BITS - SLICE_BITS).div_ceil(LEVEL_BITS) as usize;

#[derive(Copy, Clone)]
struct PendingEvent {
    at: SimTime,
    /// Class and sequence, in the bits above the next slot of the same list.
    order: u64,
    event: SimulationEvent,
    cause: u32,
}

#[derive(Clone)]
pub struct EventQueue {
    slab: Vec<PendingEvent>,
    /// First slot of the list of free slots.
    free: u32,
    /// Ticket of each event in the slab; empty if tickets are not collected.
    tickets: Vec<u32>,
    levels: [WheelLevel; LEVELS],
    /// Number of the current slice. The lists hold later slices only.
    slice: u64,
    /// Events that were in the current slice when it began, sorted, last one first.
    due: Vec<u128>,
    /// Events added to the current slice since it began.
    added: BinaryHeap<Reverse<u128>>,
    sequence: u64,
    len: usize,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue {
            slab: Vec::new(),
            free: NONE,
            tickets: Vec::new(),
            levels: std::array::from_fn(|_| WheelLevel::new(NONE)),
            slice: 0,
            due: Vec::new(),
            added: BinaryHeap::new(),
            sequence: 0,
            len: 0,
        }
    }
}

impl EventQueue {
    pub const BYTES_PER_EVENT: usize = size_of::<PendingEvent>();

    pub fn clear(&mut self) {
        self.slab.clear();
        self.free = NONE;
        self.tickets.clear();
        self.levels.iter_mut().for_each(WheelLevel::clear);
        self.slice = 0;
        self.due.clear();
        self.added.clear();
        self.sequence = 0;
        self.len = 0;
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event. `cause` is the record that causes it, returned together with the event.
    pub fn push(&mut self, at: SimTime, event: SimulationEvent, cause: u32) {
        self.push_with_ticket(at, event, cause, NO_TICKET);
    }

    pub fn push_with_ticket(&mut self, at: SimTime, event: SimulationEvent, cause: u32, ticket: u32) {
        self.sequence += 1;
        assert!(self.sequence < 1 << SEQUENCE_BITS, "event sequence exhausted");
        let class_and_sequence = u64::from(event.class()) << SEQUENCE_BITS | self.sequence;
        let mut pending = PendingEvent { at, order: class_and_sequence << SLOT_BITS, event, cause };
        let is_new = self.free == NONE;
        let slot = if is_new { self.slab.len() as u32 } else { self.free };
        assert!(slot < NONE, "more than 16 million pending events");
        if at.0 >> SLICE_BITS > self.slice {
            pending.order |= u64::from(self.link_later(at, slot));
        } else {
            self.added.push(Reverse(pending.key(slot)));
        }
        if is_new {
            self.slab.push(pending);
        } else {
            let place = &mut self.slab[slot as usize];
            self.free = place.next();
            *place = pending;
        }
        if ticket != NO_TICKET {
            self.tickets.resize(self.slab.len(), NO_TICKET);
            self.tickets[slot as usize] = ticket;
        }
        self.len += 1;
    }

    pub fn next_at(&mut self) -> Option<SimTime> {
        if self.due.is_empty() && self.added.is_empty() && !self.advance_slice() {
            return None;
        }
        let added = self.added.peek().map(|Reverse(key)| key);
        let next = self.due.last().into_iter().chain(added).min();
        next.map(|key| SimTime((key >> 64) as u64))
    }

    /// Returns the time of the first pending event that `matches`. The events of the current slice are before those of
    /// the lowest level, and those of a level are before those of the next one, so far events are rarely visited.
    pub fn first_at(&self, matches: impl Fn(SimTime, SimulationEvent) -> bool) -> Option<SimTime> {
        let first = |slots: &mut dyn Iterator<Item = u32>| {
            let pending = slots.map(|slot| &self.slab[slot as usize]);
            pending.filter(|pending| matches(pending.at, pending.event)).map(|pending| pending.at).min()
        };
        let next = |slot: &u32| Some(self.slab[*slot as usize].next()).filter(|next| *next != NONE);
        let keys = self.due.iter().chain(self.added.iter().map(|Reverse(key)| key));
        first(&mut keys.map(|key| (*key as u64 & SLOT_MASK) as u32)).or_else(|| {
            let list = |head| std::iter::successors(Some(head), next);
            self.levels.iter().find_map(|level| first(&mut level.heads().flat_map(list)))
        })
    }

    /// Removes the next event and returns it with its time, cause and ticket.
    #[inline]
    pub fn pop(&mut self) -> Option<(SimTime, SimulationEvent, u32, u32)> {
        if self.due.is_empty() && self.added.is_empty() && !self.advance_slice() {
            return None;
        }
        let is_added = match (self.due.last(), self.added.peek()) {
            (Some(due), Some(Reverse(added))) => added < due,
            (due, _) => due.is_none(),
        };
        let key = if is_added { self.added.pop()?.0 } else { self.due.pop()? };
        let slot = (key as u64 & SLOT_MASK) as u32;
        let pending = &mut self.slab[slot as usize];
        let PendingEvent { at, event, cause, .. } = *pending;
        pending.set_next(self.free);
        let ticket = self.tickets.get(slot as usize).copied();
        self.free = slot;
        self.len -= 1;
        Some((at, event, cause, ticket.unwrap_or(NO_TICKET)))
    }

    /// Advances to the next slice that has events. Returns false if there is none.
    fn advance_slice(&mut self) -> bool {
        while self.due.is_empty() {
            let Some(place) = self.levels[0].next_occupied(self.slice as usize) else {
                if self.move_down().is_some() {
                    continue;
                }
                return false;
            };
            self.slice = self.slice >> LEVEL_BITS << LEVEL_BITS | place as u64;
            let mut slot = self.levels[0].take_list(place);
            while slot != NONE {
                let pending = &self.slab[slot as usize];
                self.due.push(pending.key(slot));
                slot = pending.next();
            }
        }
        if self.due.len() > 1 {
            self.due.sort_unstable_by(|a, b| b.cmp(a));
        }
        true
    }

    /// Advances to the first slice of the next place with events above the lowest level, and moves these events down.
    /// Returns `None` if there is none.
    fn move_down(&mut self) -> Option<()> {
        let within = |level: usize| (self.slice >> (level as u32 * LEVEL_BITS)) as usize;
        let later = |level: usize| self.levels[level].next_occupied(within(level));
        let (level, place) = (1..LEVELS).find_map(|level| Some((level, later(level)?)))?;
        let shift = level as u32 * LEVEL_BITS;
        let above = self.slice >> shift >> LEVEL_BITS << LEVEL_BITS;
        self.slice = (above | place as u64) << shift;
        let mut slot = self.levels[level].take_list(place);
        while slot != NONE {
            let pending = self.slab[slot as usize];
            if pending.at.0 >> SLICE_BITS == self.slice {
                self.due.push(pending.key(slot));
            } else {
                let next = self.link_later(pending.at, slot);
                self.slab[slot as usize].set_next(next);
            }
            slot = pending.next();
        }
        Some(())
    }

    /// Makes a slot the first of the list of a later slice, on the level of the highest digit in which that slice
    /// differs from the current one. Returns the next slot of the list.
    #[inline]
    fn link_later(&mut self, at: SimTime, slot: u32) -> u32 {
        let slice = at.0 >> SLICE_BITS;
        let level = (slice ^ self.slice).ilog2() / LEVEL_BITS;
        self.levels[level as usize].push((slice >> (level * LEVEL_BITS)) as usize, slot)
    }
}

impl PendingEvent {
    fn key(&self, slot: u32) -> u128 {
        let low = self.order & !SLOT_MASK | u64::from(slot);
        u128::from(self.at.0) << 64 | u128::from(low)
    }

    fn next(&self) -> u32 {
        (self.order & SLOT_MASK) as u32
    }

    fn set_next(&mut self, next: u32) {
        self.order = self.order & !SLOT_MASK | u64::from(next);
    }
}

#[cfg(test)]
#[path = "../../tests/inside/engine/queue.rs"]
mod tests;
