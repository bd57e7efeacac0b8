//! Rate limits of clients (`golang.org/x/time/rate`): requests get their tokens in the order in which they ask. And the
//! API server, which handles a number of requests at a time, in the order of their arrival.

use sim_api::spec::kueue::ClientLimits;
use sim_base::{Duration, SimTime};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nanoseconds per second.
const SECOND: f64 = 1e9;

#[derive(Clone, Debug)]
pub struct RateLimit {
    /// Time in which one token is produced.
    interval: u64,
    /// Time for all tokens but one.
    depth: u64,
    /// Time at which the bucket is full again.
    full_at: u64,
}

impl RateLimit {
    pub fn new(limits: ClientLimits) -> RateLimit {
        let interval = (SECOND / limits.requests_per_s).round() as u64;
        RateLimit { interval, depth: interval * u64::from(limits.burst.max(1) - 1), full_at: 0 }
    }

    /// Takes a token. Returns the time at which it is there.
    pub fn take(&mut self, now: SimTime) -> SimTime {
        let at = now.0.max(self.full_at.saturating_sub(self.depth));
        self.full_at = self.full_at.max(now.0) + self.interval;
        SimTime(at)
    }
}

pub struct ApiServer {
    /// When each of its processors is free.
    free: BinaryHeap<Reverse<SimTime>>,
}

impl ApiServer {
    pub fn new(at_once: usize) -> ApiServer {
        ApiServer { free: (0..at_once).map(|_| Reverse(SimTime::ZERO)).collect() }
    }

    /// Handles a request that arrives now. Returns the time of its response.
    pub fn handle(&mut self, now: SimTime, request: Duration) -> SimTime {
        let free = self.free.pop().map_or(now, |Reverse(at)| at.max(now));
        let answered = free + request;
        self.free.push(Reverse(answered));
        answered
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/analysis/kueue_load/clients.rs"]
mod tests;
