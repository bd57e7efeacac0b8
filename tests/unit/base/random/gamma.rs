//! Tests of `sim_base::random::gamma`.

use sim_base::random::gamma::*;
use sim_base::random::normal_quantile;
#[test]
fn quantiles_agree_with_closed_forms() {
    for u in [1e-9, 0.01, 0.3, 0.5, 0.500_001, 0.9, 0.999, 1.0 - 1e-12] {
        let near = |actual: f64, exact: f64, what: &str| {
            let error = (actual - exact).abs() - 1e-16;
            assert!(error < 5e-9 * exact, "{what} at {u}: {actual}, expected {exact}");
        };
        near(quantile(1.0, u), -libm::log1p(-u), "exponential");
        // Half a chi-square variable with one degree of freedom: the square of a normal one.
        if u > 0.001 && u < 0.9999 {
            let z = normal_quantile(0.5 + u / 2.0);
            near(quantile(0.5, u), z * z / 2.0, "chi-square");
        }
        // Erlang distribution of two events.
        let x = quantile(2.0, u);
        let above = libm::exp(-x) * (1.0 + x);
        match u <= 0.5 {
            true if u > 1e-6 => near(1.0 - above, u, "Erlang"),
            true => {}
            false => near(above, 1.0 - u, "Erlang"),
        }
    }
    // The median is shape - 1/3 + 8 / (405 shape) + 184 / (25515 shape^2) - ... (Choi, 1994).
    let median = 100.0 - 1.0 / 3.0 + 8.0 / 40_500.0 + 184.0 / 255_150_000.0;
    assert!((quantile(100.0, 0.5) - median).abs() < 1e-8);
}

#[test]
fn a_greater_number_never_gives_a_smaller_value() {
    for shape in [0.1, 0.7, 1.0, 3.5, 80.0] {
        let mut last = 0.0;
        for n in 0..4_000 {
            let around = (f64::from(n) + 0.5) / 4_000.0;
            for u in [around, around.next_up(), around.next_up().next_up()] {
                let x = quantile(shape, u);
                assert!(x >= last, "{shape} at {u}");
                last = x;
            }
        }
    }
}
