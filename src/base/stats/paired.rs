//! Paired differences of two variants under common random numbers.

use super::estimate::SampleKind;
use super::normal::normal_quantile;
use super::proportion::share_difference_interval;
use super::student::{StudentMean, t_upper};
use serde::Serialize;
use std::cmp::Ordering;

/// Confidence level of reported intervals.
const LEVEL: f64 = 0.95;

/// Largest proposed number of replications, as a multiple of the present number. Beyond it, the observed difference is
/// less than a fifth of the half width of its interval, so the proposal would be a guess.
const MAX_REQUIRED_GROWTH: usize = 30;

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
    #[serde(skip)]
    kind: SampleKind,
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
            kind,
        })
    }

    /// Mean of the squared differences; of proportions, the share of pairs that are not equal.
    fn mean_square(&self) -> f64 {
        let n = self.n as f64;
        self.mean * self.mean + self.deviation * self.deviation * (n - 1.0) / n
    }

    /// The order of second relative to first if the interval excludes zero.
    pub fn significant_order(&self) -> Option<Ordering> {
        match self.ci95 {
            [low, _] if low > 0.0 => Some(Ordering::Greater),
            [_, high] if high < 0.0 => Some(Ordering::Less),
            _ => None,
        }
    }

    /// Number of pairs required to separate a difference with this mean and deviation; `None` if no reasonable number
    /// suffices, or with a single pair.
    pub fn required_pairs(&self) -> Option<usize> {
        if self.n < 2 || self.mean == 0.0 {
            return None;
        }
        let enough = |n: usize| {
            let error = match self.kind {
                SampleKind::Number => t_upper((n - 1) as f64, 0.5 * (1.0 - LEVEL)) * self.deviation,
                // McNemar's test relates the difference to the pairs that are not equal.
                SampleKind::Indicator => normal_quantile(0.5 + 0.5 * LEVEL) * libm::sqrt(self.mean_square()),
            };
            error < self.mean.abs() * libm::sqrt(n as f64)
        };
        let mut high = 2;
        while !enough(high) {
            if high > MAX_REQUIRED_GROWTH * self.n {
                return None;
            }
            high *= 2;
        }
        // The interval narrows as n grows.
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            *(if enough(middle) { &mut high } else { &mut low }) = middle;
        }
        Some(high)
    }
}
