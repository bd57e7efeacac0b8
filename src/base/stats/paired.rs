//! Paired differences: two variants under the same random numbers.

use super::student::{Mean, t_upper};
use serde::Serialize;
use std::cmp::Ordering;

/// The level of reported intervals.
const LEVEL: f64 = 0.95;

/// More replications than this are not proposed.
const NEEDED_MAX: usize = 10_000_000;

/// The difference "second less first" over replications that have both.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// The mean of the differences.
    pub mean: f64,
    /// Student's 95 % interval of the mean; infinite from one pair, which cannot tell.
    pub ci95: [f64; 2],
    /// How many pairs there were.
    pub n: usize,
    /// The deviation of one difference.
    pub deviation: f64,
    /// The deviation that a difference would have if both sides were drawn apart.
    #[serde(rename = "unpairedDeviation")]
    pub unpaired_deviation: f64,
}

impl Paired {
    /// `None` without pairs.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Paired> {
        Paired::at(pairs, LEVEL)
    }

    /// The same with an interval at another level, as of one look of several.
    pub fn at(pairs: &[(f64, f64)], level: f64) -> Option<Paired> {
        let column = |f: fn(&(f64, f64)) -> f64| pairs.iter().map(f).collect::<Vec<f64>>();
        let difference = Mean::of(&column(|(a, b)| b - a))?;
        let (first, second) = (Mean::of(&column(|p| p.0))?, Mean::of(&column(|p| p.1))?);
        Some(Paired {
            mean: difference.mean,
            ci95: difference.interval(level),
            n: difference.n,
            deviation: difference.deviation,
            unpaired_deviation: libm::hypot(first.deviation, second.deviation),
        })
    }

    /// How the second lies to the first, if the interval does not contain zero.
    pub fn separated(&self) -> Option<Ordering> {
        match self.ci95 {
            [low, _] if low > 0.0 => Some(Ordering::Greater),
            [_, high] if high < 0.0 => Some(Ordering::Less),
            _ => None,
        }
    }

    /// How many pairs would separate a difference of this mean and deviation; `None` where no number of them would be
    /// of use, or one pair cannot tell.
    pub fn needed(&self) -> Option<usize> {
        if self.n < 2 || self.mean == 0.0 {
            return None;
        }
        let enough = |n: usize| {
            let t = t_upper((n - 1) as f64, 0.5 * (1.0 - LEVEL));
            t * self.deviation < self.mean.abs() * libm::sqrt(n as f64)
        };
        let mut high = 2;
        while !enough(high) {
            if high > NEEDED_MAX {
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
