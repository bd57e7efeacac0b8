//! Distributions of counts (Poisson, negative binomial).

use super::beta::incomplete_beta;

/// Poisson distribution: probability of at most `k` independent events if `mean` are expected.
pub fn poisson_cdf(k: u64, mean: f64) -> f64 {
    poisson(k, mean)[0]
}

/// Poisson distribution: probability of more than `k` events.
pub fn poisson_sf(k: u64, mean: f64) -> f64 {
    poisson(k, mean)[1]
}

/// Both probabilities; the smaller one is summed directly, so that it keeps its digits.
fn poisson(k: u64, mean: f64) -> [f64; 2] {
    if mean <= 0.0 {
        return [1.0, 0.0];
    }
    let chance = |i: f64| libm::exp(i * libm::log(mean) - mean - libm::lgamma(i + 1.0));
    let (last, next) = (k as f64, k as f64 + 1.0);
    if next > mean {
        let above = series(chance(next), |i| mean / (next + i)).min(1.0);
        [1.0 - above, above]
    } else {
        let below = series(chance(last), |i| (last + 1.0 - i) / mean).min(1.0);
        [below, 1.0 - below]
    }
}

/// Sums a decreasing series whose terms are multiples of the preceding ones.
fn series(first: f64, ratio: impl Fn(f64) -> f64) -> f64 {
    let (mut term, mut sum) = (first, first);
    let mut i = 1.0;
    while term > sum * f64::EPSILON * 1e-3 && term > 0.0 {
        term *= ratio(i);
        sum += term;
        i += 1.0;
    }
    sum
}

/// Negative binomial distribution: probability of at most `k` failures before `successes` successes, each trial with
/// success probability `p`. `successes` may be fractional.
pub fn negative_binomial_cdf(k: u64, successes: f64, p: f64) -> f64 {
    incomplete_beta((successes, k as f64 + 1.0), (p, 1.0 - p))
}
