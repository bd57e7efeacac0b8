//! Tests of `sim_analysis::metrics::restarts::waits`.

use sim_analysis::metrics::restarts::waits::*;
#[test]
fn zero_has_no_sign() {
    for (x, digits, text) in
        [(0.25, 2, "+0.25"), (-1.0, 1, "-1.0"), (-0.00001, 4, "0.0000"), (0.0, 0, "0"), (-10.0, 0, "-10")]
    {
        assert_eq!(with_sign(x, digits), text);
    }
}
