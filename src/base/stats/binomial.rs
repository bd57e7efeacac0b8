//! The binomial distribution, and what follows from it: intervals of quantiles, and the sign test.

use super::beta::incomplete_beta;
use serde::Serialize;

/// The chance of at most `k` of `n`, each with chance `p`.
pub fn binomial_cdf(k: usize, n: usize, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    incomplete_beta(((n - k) as f64, (k + 1) as f64), (1.0 - p, p))
}

/// The chance of more than `k` of `n`, each with chance `p`.
pub fn binomial_sf(k: usize, n: usize, p: f64) -> f64 {
    if k >= n {
        return 0.0;
    }
    incomplete_beta(((k + 1) as f64, (n - k) as f64), (p, 1.0 - p))
}

/// The interval of the quantile `p` at this level, whatever the distribution is: two of the values, which ascend. On a
/// side where there are too few values for it, it has no bound.
///
/// The values below the quantile are binomial, so the smallest and greatest numbers of them that are not too unlikely
/// name the values.
pub fn quantile_interval(sorted: &[f64], p: f64, level: f64) -> [Option<f64>; 2] {
    let n = sorted.len();
    let side = 0.5 * (1.0 - level);
    // The value of rank k is above the quantile with the chance that fewer than k are below.
    let below = first(n, |k| binomial_cdf(k, n, p) >= side);
    let above = first(n, |k| binomial_sf(k, n, p) <= side);
    let low = below.checked_sub(1).map(|k| sorted[k]);
    [low, sorted.get(above).copied()]
}

/// How many values the interval of the quantile `p` needs to have both bounds at this level.
pub fn values_for_quantile_interval(p: f64, level: f64) -> usize {
    let extreme = p.max(1.0 - p);
    // The greatest value of n is below the quantile with the chance p^n.
    let n = libm::log(0.5 * (1.0 - level)) / libm::log(extreme);
    n.ceil() as usize
}

/// The first of 0 to `n` for which `holds`, which must hold from some number on.
fn first(n: usize, holds: impl Fn(usize) -> bool) -> usize {
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

/// Whether differences lean to one side, by their signs alone.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct SignTest {
    /// Differences above 0.
    pub positive: usize,
    /// Differences below 0; those that are 0 are in neither.
    pub negative: usize,
    /// The chance of signs as unequal as these, or more, if both were equally likely.
    pub p: f64,
}

/// The sign test, exact and two-sided.
pub fn sign_test(differences: &[f64]) -> SignTest {
    let positive = differences.iter().filter(|d| **d > 0.0).count();
    let negative = differences.iter().filter(|d| **d < 0.0).count();
    let fewer = positive.min(negative);
    let p = 2.0 * binomial_cdf(fewer, positive + negative, 0.5);
    SignTest {
        positive,
        negative,
        p: p.min(1.0),
    }
}
