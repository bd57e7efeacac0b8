//! Tests of `sim_base::stats::estimate`.

use sim_base::stats::estimate::*;
#[test]
fn the_interval_of_the_mean_uses_students_t() {
    let e = MeanEstimate::from_values(vec![3.0, 1.0, 2.0]).unwrap();
    assert_eq!((e.mean, e.p50, e.n), (2.0, 2.0, 3));
    assert!((e.ci95[1] - (2.0 + 4.302_652_729_911_275 / 3f64.sqrt())).abs() < 1e-9);
    assert_eq!(MeanEstimate::from_values(vec![5.0]).unwrap().ci95, [5.0, 5.0]);
    assert_eq!(MeanEstimate::from_values(vec![]), None);
}
