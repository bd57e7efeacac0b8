//! A client-go token bucket, as a FIFO: each caller gets its grant time with its request.
//!
//! client-go reserves a token at the time of the call and waits for it; callers are served in order and none is
//! dropped (kubernetes.md 1.2). Therefore no queue is stored: the grant time is known immediately.

use sim_api::spec::ClientRate;
use sim_base::{Duration, SimTime};

/// Periods with at least one waiting caller: disjoint, ascending, neighbors merged.
#[derive(Clone, Default)]
pub struct BusyTimes {
    spans: Vec<(SimTime, SimTime)>,
}

/// Gaps shorter than this are bridged: a server that pauses for less is still the bottleneck.
const MAX_BRIDGED_GAP: Duration = Duration::from_millis(50);

impl BusyTimes {
    pub fn clear(&mut self) {
        self.spans.clear();
    }

    /// Adds a period. Periods must be added in ascending order of their start.
    pub fn add(&mut self, from: SimTime, to: SimTime) {
        if to <= from {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if from <= last.1 + MAX_BRIDGED_GAP => last.1 = last.1.max(to),
            _ => self.spans.push((from, to)),
        }
    }

    pub fn spans(&self) -> &[(SimTime, SimTime)] {
        &self.spans
    }
}

#[derive(Clone)]
pub struct TokenBucket {
    interval: u64,
    burst: u64,
    /// Theoretical arrival time of the generic cell rate algorithm (GCRA), the integer form of a token bucket.
    arrival: u64,
    pub requests: u64,
    pub longest_queue: u32,
    pub busy: BusyTimes,
}

impl TokenBucket {
    pub fn new(rate: ClientRate) -> TokenBucket {
        let interval = (1e9 / rate.qps + 0.5) as u64;
        TokenBucket {
            interval: interval.max(1),
            burst: u64::from(rate.burst.max(1)),
            arrival: 0,
            requests: 0,
            longest_queue: 0,
            busy: BusyTimes::default(),
        }
    }

    pub fn reset(&mut self) {
        self.arrival = 0;
        self.requests = 0;
        self.longest_queue = 0;
        self.busy.clear();
    }

    /// Reserves the next token and returns the time at which the request may leave.
    pub fn reserve(&mut self, now: SimTime) -> SimTime {
        self.requests += 1;
        let arrival = self.arrival.max(now.0) + self.interval;
        self.arrival = arrival;
        let allowed = arrival.saturating_sub(self.burst * self.interval);
        if allowed <= now.0 {
            return now;
        }
        // Divides only if the queue is longer than before.
        if allowed - now.0 > u64::from(self.longest_queue) * self.interval {
            self.longest_queue = (allowed - now.0).div_ceil(self.interval) as u32;
        }
        self.busy.add(now, SimTime(allowed));
        SimTime(allowed)
    }
}

#[cfg(test)]
#[path = "../../tests/inside/engine/token_bucket.rs"]
mod tests;
