//! A client-go token bucket as a FIFO lane: who asks is told when its turn is.
//!
//! client-go reserves a token at the time of asking and waits for it; callers are served in order and nothing is
//! dropped (kubernetes.md 1.2). So a lane needs no queue: the grant time is known at once.

use sim_api::spec::ClientRate;
use sim_base::*;

/// Times during which somebody waited; disjoint and ascending, neighbours merged.
#[derive(Clone, Default)]
pub struct BusyTimes {
    spans: Vec<(Time, Time)>,
}

/// Gaps shorter than this are bridged: a server that pauses for it is still the one that paces.
const BRIDGE: Duration = Duration::from_millis(50);

impl BusyTimes {
    pub fn clear(&mut self) {
        self.spans.clear();
    }

    /// Spans must begin in ascending order.
    pub fn add(&mut self, from: Time, to: Time) {
        if to <= from {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if from <= last.1 + BRIDGE => last.1 = last.1.max(to),
            _ => self.spans.push((from, to)),
        }
    }

    pub fn spans(&self) -> &[(Time, Time)] {
        &self.spans
    }
}

#[derive(Clone)]
pub struct Lane {
    interval: u64,
    burst: u64,
    /// Theoretical arrival time of the generic cell rate algorithm, the integer form of a token bucket.
    arrival: u64,
    pub requests: u64,
    pub longest_queue: u32,
    pub busy: BusyTimes,
}

impl Lane {
    pub fn new(rate: ClientRate) -> Lane {
        let interval = (1e9 / rate.qps + 0.5) as u64;
        Lane {
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

    /// Takes the next token; the request may leave at the returned time.
    pub fn reserve(&mut self, now: Time) -> Time {
        self.requests += 1;
        let arrival = self.arrival.max(now.0) + self.interval;
        self.arrival = arrival;
        let allowed = arrival.saturating_sub(self.burst * self.interval);
        if allowed <= now.0 {
            return now;
        }
        let waiting = (allowed - now.0).div_ceil(self.interval) as u32;
        self.longest_queue = self.longest_queue.max(waiting);
        self.busy.add(now, Time(allowed));
        Time(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let mut lane = Lane::new(ClientRate::new(100.0, 50));
        let at = Time(5 * NANOS);
        let grants: Vec<u64> = (0..150)
            .map(|_| lane.reserve(at).since(at).0 / 1_000_000)
            .collect();
        assert!(grants[..50].iter().all(|&g| g == 0));
        assert_eq!((grants[50], grants[51], grants[149]), (10, 20, 1000));
        assert_eq!(lane.longest_queue, 100);
    }

    /// calibration.md 6.6: the last of n requests passes at (n - b) / q.
    #[test]
    fn the_last_of_five_thousand_passes_when_the_token_bucket_says() {
        for (rate, burst, expected) in [(50.0, 100, 98.0), (20.0, 30, 248.5), (500.0, 500, 9.0)] {
            let mut lane = Lane::new(ClientRate::new(rate, burst));
            let last = (0..5_000).map(|_| lane.reserve(Time(0))).last();
            let found = last.map_or(0.0, Time::seconds);
            assert!(
                (found - expected).abs() <= 1e-6 * expected,
                "{rate}/{burst}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn tokens_come_back_up_to_the_burst() {
        let mut lane = Lane::new(ClientRate::new(10.0, 2));
        for _ in 0..2 {
            assert_eq!(lane.reserve(Time(0)), Time(0));
        }
        assert_eq!(lane.reserve(Time(0)), Time(100_000_000));
        let later = Time(60 * NANOS);
        assert_eq!((lane.reserve(later), lane.reserve(later)), (later, later));
        assert_eq!(lane.reserve(later), later + Duration::from_millis(100));
    }

    const NANOS: u64 = 1_000_000_000;
}
