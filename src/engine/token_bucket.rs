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
        let waiting = (allowed - now.0).div_ceil(self.interval) as u32;
        self.longest_queue = self.longest_queue.max(waiting);
        self.busy.add(now, SimTime(allowed));
        SimTime(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let mut bucket = TokenBucket::new(ClientRate::new(100.0, 50));
        let at = SimTime(5 * NANOS);
        let grants: Vec<u64> = (0..150).map(|_| bucket.reserve(at).since(at).0 / 1_000_000).collect();
        assert!(grants[..50].iter().all(|&g| g == 0));
        assert_eq!((grants[50], grants[51], grants[149]), (10, 20, 1000));
        assert_eq!(bucket.longest_queue, 100);
    }

    /// calibration.md 6.6: the last of n requests passes at (n − b) / q.
    #[test]
    fn last_of_5000_requests_passes_at_the_computed_time() {
        for (rate, burst, expected) in [(50.0, 100, 98.0), (20.0, 30, 248.5), (500.0, 500, 9.0)] {
            let mut bucket = TokenBucket::new(ClientRate::new(rate, burst));
            let last = (0..5_000).map(|_| bucket.reserve(SimTime(0))).last();
            let actual = last.map_or(0.0, SimTime::seconds);
            assert!((actual - expected).abs() <= 1e-6 * expected, "{rate}/{burst}: {actual}, not {expected}");
        }
    }

    #[test]
    fn tokens_refill_up_to_the_burst() {
        let mut bucket = TokenBucket::new(ClientRate::new(10.0, 2));
        for _ in 0..2 {
            assert_eq!(bucket.reserve(SimTime(0)), SimTime(0));
        }
        assert_eq!(bucket.reserve(SimTime(0)), SimTime(100_000_000));
        let later = SimTime(60 * NANOS);
        assert_eq!((bucket.reserve(later), bucket.reserve(later)), (later, later));
        assert_eq!(bucket.reserve(later), later + Duration::from_millis(100));
    }

    const NANOS: u64 = 1_000_000_000;
}
