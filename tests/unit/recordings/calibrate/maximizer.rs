//! Tests of `sim_recordings::calibrate::maximizer`.

use sim_recordings::calibrate::maximizer::*;
#[test]
fn the_top_of_a_hill_and_its_width_are_found() {
    // The sum of two normal log-likelihoods with standard deviations 0.5 and 2, correlated.
    let hill = |[x, y]: [f64; 2]| -0.5 * ((x - 3.0) / 0.5).powi(2) - 0.5 * ((y - x) / 2.0).powi(2);
    let top = maximize(&hill, [0.0, 0.0], [1.0, 1.0]);
    assert!((top[0] - 3.0).abs() < 1e-4 && (top[1] - 3.0).abs() < 1e-3, "{top:?}");
    let [low, high] = profile_interval(&hill, top, 0, 0.1);
    assert!((low - (3.0 - 1.96 * 0.5)).abs() < 0.01, "{low}");
    assert!((high - (3.0 + 1.96 * 0.5)).abs() < 0.01, "{high}");
}
