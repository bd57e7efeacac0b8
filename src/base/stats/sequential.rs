//! When enough replications are played: looks at growing numbers of them, with intervals that stay true however many
//! looks there are.
//!
//! A 95 % interval that is looked at again and again until it is narrow enough is wrong more often than one time in
//! twenty: the looks that end are those at which the values happened to be close together. Here the chances of all
//! looks to be wrong add up to that of one interval, so their rule of ending does not matter. That is true of intervals
//! that are true by themselves, so no look ends at values that are too few or too skewed for theirs.

use super::student::Mean;
use super::weakness::weaknesses;

/// Looks after `first` values, twice as many, and so on.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Looks {
    first: usize,
    level: f64,
}

/// One look.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Look {
    /// After so many values.
    pub n: usize,
    /// The level of the interval that is looked at.
    pub level: f64,
}

impl Look {
    /// The interval of the mean, if it is narrow enough and nothing speaks against it: then no more values are needed.
    pub fn ends(&self, values: &[f64], precision: Precision) -> Option<[f64; 2]> {
        let mean = Mean::of(values)?;
        let interval = mean.interval(self.level);
        let narrow = precision.reached(mean.mean, interval);
        (narrow && weaknesses(values).is_empty()).then_some(interval)
    }
}

impl Looks {
    /// At this level over all looks; `first` of 0 is taken as 1.
    pub fn new(first: usize, level: f64) -> Looks {
        let first = first.max(1);
        Looks { first, level }
    }

    /// All looks, as far as numbers reach. The `k`th may be wrong with the share 1 / (k (k + 1)) of the whole chance;
    /// all shares add up to 1.
    pub fn all(self) -> impl Iterator<Item = Look> {
        (1..).map_while(move |k: u32| {
            let n = self.first.checked_mul(1usize.checked_shl(k - 1)?)?;
            let share = 1.0 / (f64::from(k) * f64::from(k + 1));
            Some(Look {
                n,
                level: 1.0 - (1.0 - self.level) * share,
            })
        })
    }
}

/// How narrow an interval must be.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Precision {
    /// Each bound at most this far from the estimate.
    Absolute(f64),
    /// Each bound at most this share of the estimate from it.
    Relative(f64),
}

impl Precision {
    /// Whether the interval around `estimate` is narrow enough.
    pub fn reached(self, estimate: f64, [low, high]: [f64; 2]) -> bool {
        let most = match self {
            Precision::Absolute(distance) => distance,
            Precision::Relative(share) => share * estimate.abs(),
        };
        estimate - low <= most && high - estimate <= most
    }
}
