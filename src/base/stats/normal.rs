//! The normal distribution, to full precision.

use crate::random;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Probability that a standard normal variable is below `z`.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// Quantile of the standard normal distribution at `p`; infinite at 0 and 1.
///
/// One step of Halley's method from the approximation used for sampling. That approximation cannot be changed,
/// because all results depend on it, and has nine correct digits.
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return (p - 0.5) * f64::INFINITY;
    }
    let z = random::normal_quantile(p);
    // Evaluated where no digits are lost: from the center, or as the tail.
    let error = match p {
        _ if (p - 0.5).abs() < 0.25 => 0.5 * libm::erf(z * FRAC_1_SQRT_2) - (p - 0.5),
        _ if p < 0.5 => normal_cdf(z) - p,
        _ => (1.0 - p) - normal_cdf(-z),
    };
    let step = error * libm::sqrt(TAU) * libm::exp(0.5 * z * z);
    z - step / (1.0 + 0.5 * z * step)
}
