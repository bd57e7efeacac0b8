//! Tests of `sim_recordings::calibrate::bucket`.

use sim_recordings::calibrate::bucket::*;
fn bucket(q: f64, b: usize, n: usize) -> Vec<f64> {
    let at = |i: usize| {
        if i < b { 0.001 * i as f64 } else { (i - b + 1) as f64 / q }
    };
    (0..n).map(at).collect()
}

#[test]
fn slope_and_height_of_the_line_are_rate_and_burst() {
    for (q, b, n) in [(20.0, 30, 200), (100.0, 100, 600), (50.0, 50, 400)] {
        let line = longest_line(&bucket(q, b, n), 0.001).unwrap();
        assert!((line.qps / q - 1.0).abs() < 0.02, "{line:?}");
        assert!((line.burst / b as f64 - 1.0).abs() < 0.1, "{line:?}");
        assert!(line.qps_interval[0] <= q && q <= line.qps_interval[1], "{line:?}");
        assert!(line.has_burst);
    }
}

#[test]
fn a_client_that_is_never_held_has_no_line_or_no_burst() {
    // All requests come at once, so the burst limit is unknown.
    assert_eq!(longest_line(&bucket(1e9, 80, 80), 0.001), None);
    assert_eq!(max_requests_in_one_second(&bucket(1e9, 80, 80)), 80.0);
    // Sequential requests: either a rate limit or the duration of each request determines the pace.
    let paced = longest_line(&bucket(10.0, 1, 100), 0.001).unwrap();
    assert!(!paced.has_burst, "{paced:?}");
}
