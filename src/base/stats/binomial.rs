//! The binomial distribution, confidence intervals of quantiles, and the sign test.

use super::beta::incomplete_beta;
use serde::Serialize;

/// Probability of at most `k` successes in `n` trials with success probability `p`.
pub fn binomial_cdf(k: usize, n: usize, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    incomplete_beta(((n - k) as f64, (k + 1) as f64), (1.0 - p, p))
}

/// Probability of more than `k` successes in `n` trials with success probability `p`.
pub fn binomial_sf(k: usize, n: usize, p: f64) -> f64 {
    if k >= n {
        return 0.0;
    }
    incomplete_beta(((k + 1) as f64, (n - k) as f64), (p, 1.0 - p))
}

/// Distribution-free confidence interval of the quantile `p` at this level, from ascending values. A bound is `None` if
/// there are too few values for it.
///
/// The number of values below the quantile is binomial, so the smallest and largest plausible numbers determine two
/// neighboring values for each bound. Values of a continuous distribution are interpolated to the exact level; if some
/// are equal, the outer value is used and the interval is wider. Source: J. Nyblom, "Note on interpolated order
/// statistics", 1992; for the median T. Hettmansperger and S. Sheather, "Confidence intervals based on interpolated
/// order statistics", 1986.
pub fn quantile_interval(sorted: &[f64], p: f64, level: f64) -> [Option<f64>; 2] {
    let n = sorted.len();
    let side = 0.5 * (1.0 - level);
    let is_continuous = sorted.windows(2).all(|w| w[0] != w[1] || w[0].is_infinite());
    // The value of rank k is above the quantile with the probability that fewer than k values are below.
    let below = first_true(n, |k| binomial_cdf(k, n, p) >= side);
    let above = first_true(n, |k| binomial_sf(k, n, p) <= side);
    // A value between those of ranks k and k + 1; `share` of the samples with k values below count as missed.
    let between = |k: usize, share: f64, outer: f64| {
        let pair = k.checked_sub(1).map(|i| sorted[i]).zip(sorted.get(k)).filter(|_| is_continuous);
        let weights = [k as f64 * (1.0 - p) * (1.0 - share), (n - k) as f64 * p * share];
        let mixed = pair.map(|(a, b)| a + (b - a) * weights[1] / (weights[0] + weights[1]));
        mixed.filter(|v| v.is_finite()).unwrap_or(outer)
    };
    let chance = |k: usize| binomial_cdf(k, n, p) - k.checked_sub(1).map_or(0.0, |k| binomial_cdf(k, n, p));
    let low = below.checked_sub(1).map(|k| {
        let missed = (side - binomial_cdf(k, n, p)) / chance(below);
        between(below, missed, sorted[k])
    });
    let high = sorted.get(above).map(|outer| {
        let missed = (side - binomial_sf(above, n, p)) / chance(above);
        between(above, 1.0 - missed, *outer)
    });
    [low, high]
}

/// Number of values required for both bounds of the confidence interval of the quantile `p`.
pub fn values_for_quantile_interval(p: f64, level: f64) -> usize {
    let extreme = p.max(1.0 - p);
    // The largest of n values is below the quantile with probability p^n.
    let n = libm::log(0.5 * (1.0 - level)) / libm::log(extreme);
    n.ceil() as usize
}

/// The smallest of 0 to `n` for which `holds` is true; `holds` must be monotone.
fn first_true(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Sign test: whether differences have a preferred sign.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct SignTest {
    /// Number of differences above 0.
    pub positive: usize,
    /// Number of differences below 0; zero differences are not counted.
    pub negative: usize,
    /// Probability of signs at least this unequal if both were equally likely.
    pub p: f64,
}

/// The sign test, exact and two-sided.
pub fn sign_test(differences: &[f64]) -> SignTest {
    let positive = differences.iter().filter(|d| **d > 0.0).count();
    let negative = differences.iter().filter(|d| **d < 0.0).count();
    let fewer = positive.min(negative);
    let p = 2.0 * binomial_cdf(fewer, positive + negative, 0.5);
    SignTest { positive, negative, p: p.min(1.0) }
}
