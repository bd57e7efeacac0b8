//! What speaks against trusting an estimate, as data; the words are others'.

use super::binomial::values_for_quantile_interval;
use serde::Serialize;

/// One reason for caution.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "weakness")]
pub enum Weakness {
    /// The outer quantiles have no interval: so few values say nothing of one in ten.
    TooFew {
        /// Values there were.
        n: usize,
        /// Values that p10 and p90 need.
        needed: usize,
    },
    /// The values are so skewed that the interval of their mean is wrong more often than it says.
    HeavyTail {
        /// Of the values.
        skewness: f64,
        /// Values there were.
        n: usize,
        /// Values that make the interval true enough at this skewness.
        needed: usize,
    },
    /// Runs that have no value; of what would have become of them, the others do not tell.
    LeftOut {
        /// Runs in which nothing could happen any more.
        stuck: usize,
        /// Runs that ended before what is measured did.
        cut: usize,
        /// All runs.
        of: usize,
    },
}

/// From here on values are markedly skewed; the rule below is made for those.
const MARKED: f64 = 1.0;

/// Weaknesses of values; runs that were left out are the caller's to count.
pub fn weaknesses(values: &[f64]) -> Vec<Weakness> {
    let n = values.len();
    let mut found = Vec::new();
    let needed = values_for_quantile_interval(0.9, 0.95);
    if n < needed {
        found.push(Weakness::TooFew { n, needed });
    }
    if let Some(skewness) = skewness(values).filter(|s| s.abs() >= MARKED) {
        // Source: W. Cochran, "Sampling Techniques", 3rd edition, 1977, 2.15: with n above 25 times the square of the
        // skewness, a 95 % interval of a mean misses it in at most 6 % of all samples.
        let needed = (25.0 * skewness * skewness).floor() as usize + 1;
        if n < needed {
            found.push(Weakness::HeavyTail {
                skewness,
                n,
                needed,
            });
        }
    }
    found
}

/// The third central moment over the cube of the deviation, by n; `None` if all values are equal.
pub fn skewness(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    let cubes = values.iter().map(|v| (v - mean) * (v - mean) * (v - mean));
    let skewness = cubes.sum::<f64>() / n / (squares * libm::sqrt(squares));
    skewness.is_finite().then_some(skewness)
}
