//! Lambert's W function: the solution `w` of `w e^w = x`.

/// The principal branch, for `x` ≥ −1/e; NaN below. Uses Halley's method, starting from the series at the branch
/// point or from the logarithm.
/// Source: R. Corless, G. Gonnet, D. Hare, D. Jeffrey, D. Knuth, "On the Lambert W function", 1996, 4.22 and 5.9.
pub fn lambert_w0(x: f64) -> f64 {
    let from_branch = 2.0 * (std::f64::consts::E * x + 1.0);
    if from_branch < 0.0 || x.is_nan() {
        return f64::NAN;
    }
    let p = libm::sqrt(from_branch);
    let mut w = match x {
        x if x < 0.0 => -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p * p * p,
        x if x < 3.0 => libm::log1p(x),
        x => libm::log(x) - libm::log(libm::log(x)),
    };
    for _ in 0..100 {
        let e = libm::exp(w);
        let excess = w * e - x;
        let slope = e * (w + 1.0);
        if slope == 0.0 {
            break;
        }
        let step = excess / (slope - (w + 2.0) * excess / (2.0 * w + 2.0));
        w -= step;
        if step.abs() <= 1e-15 * w.abs() {
            break;
        }
    }
    w
}
