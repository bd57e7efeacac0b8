//! Tests of `sim_recordings::calibrate::lognormal`.

use sim_base::random::Distribution;
use sim_recordings::calibrate::lognormal::*;
fn sample(n: u32, width: f64) -> Vec<HistogramCell> {
    let dist = Distribution::LogNormal { median_s: 8.0, sigma: 0.4 };
    let one = |i: u32| {
        let x = dist.quantile((f64::from(i) + 0.5) / f64::from(n)).seconds();
        let low = if width >= 1.0 { x.floor() } else { x - width / 2.0 };
        HistogramCell { low, high: low + width, n: 1.0 }
    };
    (0..n).map(one).collect()
}

#[test]
fn whole_seconds_hide_little_of_a_distribution() {
    for width in [0.001, 1.0] {
        let fit = fit(&sample(200, width)).unwrap();
        assert!((fit.median_s - 8.0).abs() < 0.1, "{fit:?}");
        assert!((fit.sigma - 0.4).abs() < 0.01, "{fit:?}");
        // 1.96 · sigma / √n on the logarithmic scale.
        let wide = libm::log(fit.median_interval[1] / fit.median_interval[0]);
        assert!((wide - 2.0 * 1.96 * 0.4 / 200f64.sqrt()).abs() < 0.01, "{fit:?}");
        assert!(fit.p > 0.5, "{fit:?}");
    }
}

#[test]
fn two_kinds_of_pods_are_not_log_normal() {
    let two: Vec<HistogramCell> = (0..200)
        .map(|i| {
            let x = if i % 2 == 0 { 2.0 } else { 60.0 } + f64::from(i) * 1e-3;
            HistogramCell { low: x, high: x + 1e-3, n: 1.0 }
        })
        .collect();
    assert!(fit(&two).unwrap().p < 0.01);
    assert_eq!(fit(&two[..4]), None);
}
