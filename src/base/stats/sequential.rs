//! Sequential stopping: interim looks at a growing number of replications, with confidence intervals valid over all
//! looks.
//!
//! Repeatedly checking a 95 % interval until it is narrow enough is wrong in more than 5 % of the cases, because it
//! stops when the values happen to be close together. Here the error probabilities of all looks add up to that of one
//! interval, so the stopping rule has no influence. This assumes that each interval is valid, so no look stops with
//! too few or too skewed values.

use super::estimate::{SampleKind, mean_interval};
use super::student::StudentMean;
use super::warnings::statistical_warnings;

/// Looks after `first` values, 2 · `first`, 4 · `first`, and so on.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct InterimLooks {
    first: usize,
    level: f64,
}

/// One interim look.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct InterimLook {
    /// Number of values at the look.
    pub n: usize,
    /// Confidence level of the look's interval.
    pub level: f64,
}

impl InterimLook {
    /// The confidence interval of the mean, if it is narrow enough and reliable, so that no more values are needed.
    pub fn sufficient_interval(
        &self, (values, kind): (&[f64], SampleKind), precision: TargetPrecision,
    ) -> Option<[f64; 2]> {
        let mean = StudentMean::from_values(values)?;
        let interval = mean_interval(values, kind, self.level)?;
        let narrow = precision.is_reached_by(mean.mean, interval);
        (narrow && statistical_warnings(values, kind).is_empty()).then_some(interval)
    }
}

impl InterimLooks {
    /// Looks with this overall confidence level; a `first` of 0 is treated as 1.
    pub fn new(first: usize, level: f64) -> InterimLooks {
        let first = first.max(1);
        InterimLooks { first, level }
    }

    /// All looks. The `k`th has the share 1 / (k (k + 1)) of the total error probability; the shares add up to 1.
    pub fn looks(self) -> impl Iterator<Item = InterimLook> {
        (1..).map_while(move |k: u32| {
            let n = self.first.checked_mul(1usize.checked_shl(k - 1)?)?;
            let share = 1.0 / (f64::from(k) * f64::from(k + 1));
            Some(InterimLook { n, level: 1.0 - (1.0 - self.level) * share })
        })
    }
}

/// Required precision of a confidence interval.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum TargetPrecision {
    /// Maximum distance of each bound from the estimate.
    Absolute(f64),
    /// Maximum distance of each bound from the estimate, relative to the estimate.
    Relative(f64),
}

impl TargetPrecision {
    /// Returns true if the interval around `estimate` is narrow enough.
    pub fn is_reached_by(self, estimate: f64, [low, high]: [f64; 2]) -> bool {
        let most = match self {
            TargetPrecision::Absolute(distance) => distance,
            TargetPrecision::Relative(share) => share * estimate.abs(),
        };
        estimate - low <= most && high - estimate <= most
    }
}
