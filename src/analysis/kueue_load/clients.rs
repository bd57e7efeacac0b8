//! Rate limits of clients (`golang.org/x/time/rate`): requests get their tokens in the order in which they ask.

use sim_api::spec::kueue::ClientLimits;
use sim_base::SimTime;

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
