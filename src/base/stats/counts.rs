//! Chances of counts: how often something happens, how many fail before so many succeed, and a share with its interval.

use super::beta::incomplete_beta;
use super::binomial::{binomial_cdf, binomial_sf};

/// The chance of at most `k` events of which `mean` are expected, each coming whatever the others do.
pub fn poisson_cdf(k: u64, mean: f64) -> f64 {
    poisson(k, mean)[0]
}

/// The chance of more than `k` of them.
pub fn poisson_sf(k: u64, mean: f64) -> f64 {
    poisson(k, mean)[1]
}

/// Both, summed from the side that is small, so that it keeps its digits.
fn poisson(k: u64, mean: f64) -> [f64; 2] {
    if mean <= 0.0 {
        return [1.0, 0.0];
    }
    let chance = |i: f64| libm::exp(i * libm::log(mean) - mean - libm::lgamma(i + 1.0));
    let (last, next) = (k as f64, k as f64 + 1.0);
    match next > mean {
        true => {
            let above = series(chance(next), |i| mean / (next + i)).min(1.0);
            [1.0 - above, above]
        }
        false => {
            let below = series(chance(last), |i| (last + 1.0 - i) / mean).min(1.0);
            [below, 1.0 - below]
        }
    }
}

/// A sum of falling terms, of which each is a multiple of the one before it.
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

/// The chance of at most `k` failures before `successes` tries have succeeded, each with chance `p`. `successes` need
/// not be whole.
pub fn negative_binomial_cdf(k: u64, successes: f64, p: f64) -> f64 {
    incomplete_beta((successes, k as f64 + 1.0), (p, 1.0 - p))
}

/// The interval of a share of which `k` of `n` were seen, exact at this level: C. Clopper and E. Pearson, "The use of
/// confidence or fiducial limits illustrated in the case of the binomial", 1934.
pub fn share_interval(k: usize, n: usize, level: f64) -> [f64; 2] {
    let side = 0.5 * (1.0 - level);
    let low = match k {
        0 => 0.0,
        // The smallest share under which so many, or more, are not too unlikely.
        _ => crossing(|p| binomial_sf(k - 1, n, p) >= side),
    };
    let high = match k {
        _ if k >= n => 1.0,
        _ => crossing(|p| binomial_cdf(k, n, p) < side),
    };
    [low, high]
}

/// The share from which on `holds`.
fn crossing(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *(if holds(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_chances_are_those_of_the_calibration_table() {
        // reference 6.3, perfect checkpoints: lambda W; m = 0, 1, 2, 3.
        for (mean, expected) in [
            (0.5, [0.606531, 0.909796, 0.985612, 0.998248]),
            (1.0, [0.367879, 0.735759, 0.919699, 0.981012]),
            (2.0, [0.135335, 0.406006, 0.676676, 0.857123]),
        ] {
            for (m, expected) in (0..).zip(expected) {
                let found = poisson_cdf(m, mean);
                assert!((found - expected).abs() < 1e-6, "{mean} {m}: {found}");
                assert!((poisson_sf(m, mean) + found - 1.0).abs() < 1e-12);
            }
        }
        // Far out: the first term, times what follows it, by hand. 1/(9! e) (1 + 1/10 + 1/110 + ...).
        let tail = libm::exp(-1.0) / 362_880.0
            * (1.0 + 0.1 + 1.0 / 110.0 + 1.0 / 1320.0 + 1.0 / 17_160.0 + 1.0 / 240_240.0);
        assert!((poisson_sf(8, 1.0) / tail - 1.0).abs() < 1e-6);
        assert!((poisson_cdf(400, 400.0) - 0.5133).abs() < 1e-3);
        assert!(poisson_sf(5000, 4000.0) < 1e-50 && poisson_cdf(3000, 4000.0) < 1e-50);
    }

    #[test]
    fn failures_before_one_success_are_geometric() {
        // reference 6.3, from scratch, lambda W = 1: 1 - (1 - 1/e)^(m + 1).
        for (m, expected) in (0..).zip([0.367879, 0.600424, 0.747420, 0.840339]) {
            let found = negative_binomial_cdf(m, 1.0, libm::exp(-1.0));
            assert!((found - expected).abs() < 1e-6, "{m}: {found}");
        }
        // Two successes with chance 1/2: 1/4 + 2/8 + 3/16.
        assert!((negative_binomial_cdf(2, 2.0, 0.5) - 0.6875).abs() < 1e-12);
    }

    #[test]
    fn a_share_that_was_never_seen_has_the_bound_of_the_rule_of_three() {
        let [low, high] = share_interval(0, 100, 0.95);
        assert_eq!(low, 0.0);
        assert!(
            (high - (1.0 - libm::pow(0.025, 0.01))).abs() < 1e-9,
            "{high}"
        );
        // R: binom.test(7, 20)$conf.int is 0.1539092 0.5921885.
        let [low, high] = share_interval(7, 20, 0.95);
        assert!((low - 0.153_909_2).abs() < 1e-6 && (high - 0.592_188_5).abs() < 1e-6);
        assert_eq!(share_interval(20, 20, 0.95)[1], 1.0);
    }
}
