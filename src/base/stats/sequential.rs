//! Sequential stopping: interim looks at a growing number of replications, with confidence intervals valid over all
//! looks.
//!
//! Repeatedly checking a 95 % interval until it is narrow enough is wrong in more than 5 % of the cases, because it
//! stops when the values happen to be close together. Here the error probabilities of all looks add up to that of one
//! interval, so the stopping rule has no influence. This assumes that each interval is valid, so no look stops with
//! too few or too skewed values.

use super::estimate::{SampleKind, mean_interval};
use super::normal::{normal_cdf, normal_quantile};
use super::proportion::bisect;
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

/// Share of the error probability that is spent at the first of several looks, because most decisions are clear there.
const FIRST_SHARE: f64 = 0.7;
/// Number of grid points of the density of a sum between the bounds of a look.
const GRID: usize = 160;

/// Looks at samples that grow to a maximum, the last of them with all values (group-sequential design).
#[derive(Clone, Debug)]
pub struct PlannedLooks {
    /// The looks. Their intervals hold together at the level of the design.
    pub looks: Vec<InterimLook>,
    level: f64,
    /// By look: the possible sums of unit-variance values before it, with the probability that no earlier look stops.
    undecided: Vec<Vec<(f64, f64)>>,
}

/// Plans looks at samples of at most `most` values: `FIRST_SHARE` of the error probability is spent at the first look,
/// the rest in equal parts at the others, and the dependence of the looks is taken into account. The levels are those
/// of normal statistics with independent increments, and apply to other intervals of the same sample by their
/// significance levels.
///
/// Sources: C. Jennison and B. Turnbull, "Interim analyses: the repeated confidence interval approach", 1989; error
/// spending: K. Lan and D. DeMets, 1983; recursion: P. Armitage, C. McPherson and B. Rowe, 1969.
pub fn planned_looks(first: usize, most: usize, level: f64) -> PlannedLooks {
    let doubled = InterimLooks::new(first, level).looks().map(|look| look.n);
    let mut sizes: Vec<usize> = doubled.take_while(|n| *n < most).collect();
    sizes.push(most.max(1));
    let (error, later) = (1.0 - level, sizes.len() - 1);
    let mut design = PlannedLooks { looks: Vec::with_capacity(sizes.len()), level, undecided: Vec::new() };
    let mut sums: Vec<(f64, f64)> = vec![(0.0, 1.0)];
    let mut before = 0;
    for (k, n) in sizes.into_iter().enumerate() {
        let spent = match (k, later) {
            (0, 0) => error,
            (0, _) => FIRST_SHARE * error,
            _ => (1.0 - FIRST_SHARE) * error / later as f64,
        };
        let (root, step) = (libm::sqrt(n as f64), libm::sqrt((n - before) as f64));
        let stopped = |bound: f64| -> f64 {
            let outside = |s: f64| normal_cdf((s - bound * root) / step) + normal_cdf((-bound * root - s) / step);
            sums.iter().map(|(s, weight)| weight * outside(*s)).sum()
        };
        let bound = bisect([0.0, 10.0], |bound| stopped(bound) <= spent);
        design.looks.push(InterimLook { n, level: 1.0 - 2.0 * normal_cdf(-bound) });
        let width = 2.0 * bound * root / GRID as f64;
        let density = |t: f64| -> f64 {
            let bell = |s: f64| libm::exp(-0.5 * (t - s) * (t - s) / (step * step));
            sums.iter().map(|(s, weight)| weight * bell(*s)).sum::<f64>() / (step * libm::sqrt(std::f64::consts::TAU))
        };
        let at = |i: usize| -bound * root + (i as f64 + 0.5) * width;
        let next = (0..GRID).map(|i| (at(i), density(at(i)) * width)).collect();
        design.undecided.push(std::mem::replace(&mut sums, next));
        before = n;
    }
    design
}

impl PlannedLooks {
    /// Confidence interval of a test against `limit` that stopped at the look `stage`, at the level of the design.
    /// `interval` returns the interval of the sample at any level for a single look. Repeated intervals would be too
    /// wide after an early stop: outcomes are ordered by the look and then by the statistic, which gives the drifts for
    /// which the outcome is plausible. Source: A. Tsiatis, G. Rosner and C. Mehta, "Exact confidence intervals
    /// following a group sequential test", 1984.
    pub fn final_interval(
        &self, stage: usize, limit: f64, interval: impl Fn(f64) -> [Option<f64>; 2],
    ) -> [Option<f64>; 2] {
        if stage == 0 {
            return interval(self.level);
        }
        let at_distance = |z: f64| interval((1.0 - 2.0 * normal_cdf(-z)).max(0.0));
        // The statistic is the distance at which the interval of a single look begins to contain the limit.
        let above = bisect([0.0, 10.0], |z| at_distance(z)[0].is_none_or(|low| low <= limit));
        let below = bisect([0.0, 10.0], |z| at_distance(z)[1].is_none_or(|high| high >= limit));
        let z = above - below;
        let side = 0.5 * (1.0 - self.level);
        let drift = |chance: f64| bisect([z - 10.0, z + 10.0], |drift| self.chance_above(stage, z, drift) >= chance);
        [at_distance(z - drift(side))[0], at_distance(drift(1.0 - side) - z)[1]]
    }

    /// Probability of an outcome above `z` at the look `stage`, or above the bound of an earlier look, if the statistic
    /// of that look has the mean `drift`.
    fn chance_above(&self, stage: usize, z: f64, drift: f64) -> f64 {
        let drift = drift / libm::sqrt(self.looks[stage].n as f64);
        let above = |k: usize| -> f64 {
            let before = k.checked_sub(1).map_or(0, |k| self.looks[k].n) as f64;
            let n = self.looks[k].n as f64;
            let bound = if k == stage { z } else { normal_quantile(0.5 + 0.5 * self.looks[k].level) };
            let of = |(s, weight): &(f64, f64)| {
                let likelihood = libm::exp(drift * s - 0.5 * drift * drift * before);
                let step = n - before;
                weight * likelihood * normal_cdf((s + drift * step - bound * libm::sqrt(n)) / libm::sqrt(step))
            };
            self.undecided[k].iter().map(of).sum()
        };
        (0..=stage).map(above).sum()
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
