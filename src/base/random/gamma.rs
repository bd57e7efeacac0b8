//! The gamma distribution by its quantile function: the inverse of the regularized incomplete gamma function.

/// Number of bisections: the remaining interval, 2^-62 of the range, is below a nanosecond.
const HALVINGS: u32 = 62;
/// Maximum number of terms of a series or fraction; the allowed shapes need about 100.
const TERMS: u32 = 10_000;
const SMALLEST: f64 = 1e-300;

/// Quantile at `u`, 0 < u < 1, of the gamma distribution with that shape and scale 1.
///
/// Bisects an interval that does not depend on `u`, so the result is monotone in `u` despite rounding errors.
pub fn quantile(shape: f64, u: f64) -> f64 {
    // P(X > shape + sqrt(2 · shape · t) + t) <= exp(-t) (Boucheron, Lugosi and Massart, "Concentration inequalities",
    // 2.4), and 1 - u is at least exp(-38).
    let (mut low, mut high) = (0.0, shape + libm::sqrt(80.0 * shape) + 40.0);
    let log_gamma = libm::lgamma(shape);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let (below, above) = regularized_gamma(shape, log_gamma, middle);
        // The smaller of the two probabilities is exact to all digits.
        let is_low = if u <= 0.5 { below < u } else { above > 1.0 - u };
        if is_low { low = middle } else { high = middle }
    }
    high
}

/// P(a, x) and Q(a, x) = 1 - P(a, x).
fn regularized_gamma(a: f64, log_gamma: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    let front = libm::exp(a * libm::log(x) - x - log_gamma);
    if x < a + 1.0 {
        let below = (front * series(a, x)).min(1.0);
        (below, 1.0 - below)
    } else {
        let above = (front * continued_fraction(a, x)).min(1.0);
        (1.0 - above, above)
    }
}

/// The series of the lower function (DLMF 8.11.4), without the factor in front.
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for n in 1..TERMS {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

/// The continued fraction of the upper function (DLMF 8.9.2), by Lentz's method, without the factor in front.
fn continued_fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / SMALLEST;
    let mut d = 1.0 / b;
    let mut value = d;
    for n in 1..TERMS {
        let n = f64::from(n);
        let over = -n * (n - a);
        b += 2.0;
        let not_zero = |v: f64| if v.abs() < SMALLEST { SMALLEST } else { v };
        d = 1.0 / not_zero(over * d + b);
        c = not_zero(b + over / c);
        value *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}
