//! The incomplete beta function, the basis of Student's t and the binomial distribution.
//!
//! Relative errors are about 1e-13 even far in the tails: nothing is computed as a difference of large logarithms.

use std::f64::consts::{PI, TAU};

/// The continued fraction converges in about the square root of its larger parameter; this limit is reached at 1e11.
const TERMS_MAX: u32 = 1_000_000;

/// `I_x(a, b)`, the probability that a beta variable with parameters `a` and `b` is below `x`. `y` is 1 − `x`, passed
/// separately because it may be small where `x` rounds to 1.
pub fn incomplete_beta((a, b): (f64, f64), (x, y): (f64, f64)) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let density = beta_power((a, b), (x, y));
    if x < (a + 1.0) / (a + b + 2.0) {
        density * continued_fraction((a, b), (x, y))
    } else {
        1.0 - density * continued_fraction((b, a), (y, x))
    }
}

/// `x^a y^b / B(a, b)` with `y` = 1 − `x`: the density of the beta distribution times `x y`.
/// Source: the saddle-point form of C. Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000.
pub fn beta_power((a, b): (f64, f64), (x, y): (f64, f64)) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) - deviance(b, n * y);
    libm::sqrt(a * b / (TAU * n)) * libm::exp(exponent)
}

/// The factor of `beta_power`. The fraction uses the smaller of `x` and `y`, which loses no digits.
///
/// Source: equation 9 of A. DiDonato and A. Morris, "Algorithm 708: Significant Digit Computation of the Incomplete
/// Beta Function Ratios", 1992, evaluated by the method of W. Lentz, "Generating Bessel functions in Mie scattering
/// calculations using continued fractions", 1976.
fn continued_fraction((a, b): (f64, f64), (x, y): (f64, f64)) -> f64 {
    // Denominators must not become zero.
    let apart = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let from_mean = if y < x { (a + b) * y - b } else { a - (a + b) * x };
    let mut value = apart(a / (a + 1.0) * (from_mean + 1.0));
    let (mut c, mut d) = (value, 0.0);
    for n in (1..TERMS_MAX).map(f64::from) {
        let at = a + 2.0 * n;
        let share = n * (b - n) * x / (at - 1.0);
        let above = (a + n - 1.0) * (a + b + n - 1.0) * x / (at - 1.0) * share;
        let below = n + share + (a + n) / (at + 1.0) * (from_mean + 1.0 + n * (1.0 + y));
        d = 1.0 / apart(below + above * d);
        c = apart(below + above / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    1.0 / value
}

/// The remainder of Stirling's formula for `ln Γ(z + 1)`.
fn stirling_error(z: f64) -> f64 {
    if z <= 15.0 {
        let half_ln_tau = 0.5 * libm::log(2.0 * PI);
        return libm::lgamma(z + 1.0) - (z + 0.5) * libm::log(z) + z - half_ln_tau;
    }
    // Bernoulli numbers divided by their factors.
    const SERIES: [f64; 7] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    let inverse = 1.0 / (z * z);
    SERIES.iter().rev().fold(0.0, |sum, c| sum * inverse + c) / z
}

/// `x ln(x / mean) + mean − x`, without cancellation if `x` is close to `mean`.
fn deviance(x: f64, mean: f64) -> f64 {
    let (difference, sum) = (x - mean, x + mean);
    if difference.abs() >= 0.1 * sum {
        return x * libm::log(x / mean) - difference;
    }
    let v = difference / sum;
    let mut total = difference * v;
    let mut term = 2.0 * x * v;
    for odd in (3..1000).step_by(2) {
        term *= v * v;
        let next = total + term / f64::from(odd);
        if next == total {
            break;
        }
        total = next;
    }
    total
}
