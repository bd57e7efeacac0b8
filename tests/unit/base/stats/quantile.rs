//! Tests of `sim_base::stats::quantile`.

use sim_base::stats::quantile::*;
#[test]
fn quantiles_interpolate_between_order_statistics() {
    let v = [1.0, 2.0, 4.0, 8.0];
    for (p, expected) in [(0.0, 1.0), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
        assert!((quantile(&v, p).unwrap() - expected).abs() < 1e-12, "{p}");
    }
    assert_eq!(quantile(&[], 0.5), None);
    assert_eq!(quantile(&[3.0], 0.9), Some(3.0));
    let some = [1.0, 2.0, f64::INFINITY, f64::INFINITY];
    let of = |p| quantile(&some, p);
    assert_eq!((of(1.0 / 3.0), of(0.5), of(1.0)), (Some(2.0), Some(f64::INFINITY), Some(f64::INFINITY)));
}
