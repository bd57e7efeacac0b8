//! Paired differences of two variants under common random numbers.

use super::estimate::SampleKind;
use super::normal::{normal_cdf, normal_quantile};
use super::proportion::share_difference_interval;
use super::student::StudentMean;
use serde::Serialize;
use std::cmp::Ordering;

/// Confidence level of reported intervals.
const LEVEL: f64 = 0.95;

/// The difference "second − first" over replications that have both values.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct PairedDifference {
    /// Mean of the differences.
    pub mean: f64,
    /// 95 % confidence interval of the mean: by Student's t, infinite for a single pair; of a difference of proportions
    /// by Tango's score.
    pub ci95: [f64; 2],
    /// Number of pairs.
    pub n: usize,
    /// Standard deviation of one difference.
    pub deviation: f64,
    /// Standard deviation that a difference would have if both sides were independent.
    #[serde(rename = "unpairedDeviation")]
    pub unpaired_deviation: f64,
}

impl PairedDifference {
    /// Returns `None` if there are no pairs.
    pub fn from_pairs(pairs: &[(f64, f64)], kind: SampleKind) -> Option<PairedDifference> {
        PairedDifference::at_level(pairs, kind, LEVEL)
    }

    /// With a confidence interval at another level, as for one of several interim looks.
    pub fn at_level(pairs: &[(f64, f64)], kind: SampleKind, level: f64) -> Option<PairedDifference> {
        let column = |f: fn(&(f64, f64)) -> f64| pairs.iter().map(f).collect::<Vec<f64>>();
        let difference = StudentMean::from_values(&column(|(a, b)| b - a))?;
        let (first, second) =
            (StudentMean::from_values(&column(|p| p.0))?, StudentMean::from_values(&column(|p| p.1))?);
        let more = |of: Ordering| pairs.iter().filter(|(a, b)| b.total_cmp(a) == of).count();
        Some(PairedDifference {
            mean: difference.mean,
            ci95: match kind {
                SampleKind::Number => difference.interval(level),
                SampleKind::Indicator => {
                    let only = [Ordering::Less, Ordering::Greater].map(more);
                    share_difference_interval(only, difference.n, level)
                }
            },
            n: difference.n,
            deviation: difference.deviation,
            unpaired_deviation: libm::hypot(first.deviation, second.deviation),
        })
    }

    /// The order of second relative to first if the interval excludes zero.
    pub fn significant_order(&self) -> Option<Ordering> {
        match self.ci95 {
            [low, _] if low > 0.0 => Some(Ordering::Greater),
            [_, high] if high < 0.0 => Some(Ordering::Less),
            _ => None,
        }
    }
}

/// Probability that the 95 % interval of at least one pair of `k` variants with equal means excludes zero, if the
/// intervals are not corrected for the number of pairs. This is the distribution of the range of `k` independent normal
/// values; values that are equally correlated, as with common random numbers, have the same one.
pub fn any_pair_error(k: usize) -> f64 {
    const FROM: f64 = -8.0;
    const STEPS: usize = 800;
    if k < 2 {
        return 0.0;
    }
    let range = normal_quantile(0.5 + 0.5 * LEVEL) * std::f64::consts::SQRT_2;
    // The largest value is x, and the others are within the range below it.
    let density = |x: f64| {
        let bell = libm::exp(-0.5 * x * x) / libm::sqrt(std::f64::consts::TAU);
        k as f64 * bell * libm::pow(normal_cdf(x) - normal_cdf(x - range), (k - 1) as f64)
    };
    let step = -2.0 * FROM / STEPS as f64;
    let inside: f64 = (0..=STEPS).map(|i| density(FROM + i as f64 * step) * step).sum();
    (1.0 - inside).clamp(0.0, 1.0)
}
