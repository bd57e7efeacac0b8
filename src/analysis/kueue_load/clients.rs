//! Rate limits of clients, and the API server, which handles a number of requests at a time, in the order of their
//! arrival.

use sim_api::spec::ClientRate;
use sim_api::spec::kueue::ClientLimits;
use sim_base::{Duration, SimTime};
use sim_engine::token_bucket::TokenBucket;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub fn rate_limit(limits: ClientLimits) -> TokenBucket {
    TokenBucket::new(ClientRate::new(limits.requests_per_s, limits.burst))
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
