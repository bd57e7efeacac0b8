//! Tests of `sim_analysis::planning::interval`.

use sim_analysis::planning::SampleRow;
use sim_analysis::planning::interval::*;
use sim_analysis::planning::sample::SampleMetric;
/// Searches for the best interval with a checkpoint overhead of 60 s and a mean time between failures of one hour,
/// with noise that is nearly equal for all intervals.
fn search_interval(start_s: f64, noise: f64) -> BestInterval {
    let search = IntervalSearch { start_s, now_s: None, bounds_s: [1.0, 1e6], first: 64, most: 1024 };
    let mut play = |every: &u64, which: std::ops::Range<u64>| -> Result<SampleMetric, ()> {
        let every = *every as f64 / 1e3;
        let row = |replication: u64| {
            let noisy = |k: u64| ((replication * k) % 101) as f64 / 101.0 - 0.5;
            let own = noisy(every as u64 % 89 + 5) * noise;
            let value = 1.0 - 60.0 / every - every / 7200.0 + noisy(37) + own;
            SampleRow { replication, value: Some(value), cost: 0.0, is_worst: false, digest: 0 }
        };
        Ok(which.map(row).collect())
    };
    best(&search, "goodput", &mut play).unwrap()
}

#[test]
fn the_top_of_an_exact_curve_is_found_from_far_off() {
    let exact = libm::sqrt(2.0 * 60.0 * 3600.0);
    for start in [20.0, 600.0, 20_000.0] {
        let best = search_interval(start, 0.0).every_s.unwrap();
        assert!((best / exact - 1.0).abs() < 0.01, "{start}: {best}");
    }
}

#[test]
fn noise_makes_an_interval_in_which_the_top_is() {
    let exact = libm::sqrt(2.0 * 60.0 * 3600.0);
    let text = search_interval(300.0, 0.2);
    let [low, high] = text.ci95_s.unwrap();
    assert!(low < exact && exact < high && high < 2.0 * low, "{low} {high}");
    assert!(text.points.len() >= 5 && !text.at_edge);
}
