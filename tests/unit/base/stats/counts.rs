//! Tests of `sim_base::stats::counts`.

use sim_base::stats::counts::*;
#[test]
fn poisson_chances_are_those_of_the_calibration_table() {
    // reference 6.3, perfect checkpoints: lambda W; then m = 0, 1, 2, 3.
    for (mean, expected) in [
        (0.5, [0.606531, 0.909796, 0.985612, 0.998248]),
        (1.0, [0.367879, 0.735759, 0.919699, 0.981012]),
        (2.0, [0.135335, 0.406006, 0.676676, 0.857123]),
    ] {
        for (m, expected) in (0..).zip(expected) {
            let actual = poisson_cdf(m, mean);
            assert!((actual - expected).abs() < 1e-6, "{mean} {m}: {actual}");
            assert!((poisson_sf(m, mean) + actual - 1.0).abs() < 1e-12);
        }
    }
    // In the tail: the first term times the series of the following terms, calculated by hand: 1/(9! e) (1 + 1/10 +
    // 1/110 + ...).
    let tail =
        libm::exp(-1.0) / 362_880.0 * (1.0 + 0.1 + 1.0 / 110.0 + 1.0 / 1320.0 + 1.0 / 17_160.0 + 1.0 / 240_240.0);
    assert!((poisson_sf(8, 1.0) / tail - 1.0).abs() < 1e-6);
    assert!((poisson_cdf(400, 400.0) - 0.5133).abs() < 1e-3);
    assert!(poisson_sf(5000, 4000.0) < 1e-50 && poisson_cdf(3000, 4000.0) < 1e-50);
}

#[test]
fn failures_before_one_success_are_geometric() {
    // reference 6.3, from scratch, lambda W = 1: 1 - (1 - 1/e)^(m + 1).
    for (m, expected) in (0..).zip([0.367879, 0.600424, 0.747420, 0.840339]) {
        let actual = negative_binomial_cdf(m, 1.0, libm::exp(-1.0));
        assert!((actual - expected).abs() < 1e-6, "{m}: {actual}");
    }
    // Two successes with probability 1/2: 1/4 + 2/8 + 3/16.
    assert!((negative_binomial_cdf(2, 2.0, 0.5) - 0.6875).abs() < 1e-12);
}
