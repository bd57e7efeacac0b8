//! Number of requests that the API server executes, by time.
//!
//! A request is entered when it is sent, with the later instants at which its token lets it leave and at which it is
//! answered. Arrivals are therefore not in order of time, and time is divided into slots with one count each.

use sim_base::SimTime;

/// Number of bits of the length of a slot in ns: 8.4 ms, a typical latency.
const SLOT_BITS: u32 = 23;
/// Number of slots, 34 s. Requests that leave later are limited by their tokens; they are not counted.
const SLOTS: usize = 4096;

#[derive(Clone)]
pub struct RequestsInFlight {
    /// Ring of (slot number, requests in flight).
    slots: Box<[(u64, u32); SLOTS]>,
}

impl Default for RequestsInFlight {
    fn default() -> RequestsInFlight {
        RequestsInFlight { slots: Box::new([(0, 0); SLOTS]) }
    }
}

impl RequestsInFlight {
    pub fn reset(&mut self) {
        self.slots.fill((0, 0));
    }

    /// Number of requests, among those sent so far, that are in flight at an instant.
    pub fn count(&self, at: SimTime) -> u32 {
        let number = at.0 >> SLOT_BITS;
        let slot = self.slots[number as usize % SLOTS];
        if slot.0 == number { slot.1 } else { 0 }
    }

    /// Enters a request that is sent at `now`, leaves at `from` and is answered at `to`.
    pub fn enter(&mut self, now: SimTime, from: SimTime, to: SimTime) {
        let end = (now.0 >> SLOT_BITS) + SLOTS as u64;
        for number in from.0 >> SLOT_BITS..end.min((to.0 >> SLOT_BITS) + 1) {
            let slot = &mut self.slots[number as usize % SLOTS];
            *slot = if slot.0 == number { (number, slot.1 + 1) } else { (number, 1) };
        }
    }
}
