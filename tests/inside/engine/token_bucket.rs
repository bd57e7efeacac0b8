//! Unit tests of `sim_engine::token_bucket`.

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
