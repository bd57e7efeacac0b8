//! Tests of `sim_base::stats::lambert`.

use sim_base::stats::lambert::*;
#[test]
fn it_is_the_inverse_of_w_times_e_to_the_w() {
    for w in [-0.999, -0.9, -0.5, -1e-3, 1e-9, 0.3, 1.0, 5.0, 100.0] {
        let result = lambert_w0(w * libm::exp(w));
        assert!((result - w).abs() < 1e-9 * w.abs().max(1e-3), "{w}: {result}");
    }
    assert!((lambert_w0(1.0) - 0.567_143_290_409_783_8).abs() < 1e-15);
    assert_eq!(lambert_w0(0.0), 0.0);
    assert!(lambert_w0(-0.4).is_nan());
}
