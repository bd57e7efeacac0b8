//! Sensitivity of a result to each input: each input at both ends of its range, with all others unchanged, under
//! common random numbers.

use super::sample::{Sample, pairs, values};
use serde::Serialize;
use sim_base::stats::{Estimate, Paired};

/// Results for an input at both ends of its range.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bar {
    /// Path of the field.
    pub path: String,
    /// The lower end, as written in a file.
    pub low: String,
    /// The upper end, as written in a file.
    pub high: String,
    /// Both ends, formatted.
    #[serde(skip)]
    pub shown: [String; 2],
    /// Source of the range.
    pub source: String,
    /// Paired difference: lower end − baseline.
    pub at_low: Option<Paired>,
    /// Paired difference: upper end − baseline.
    pub at_high: Option<Paired>,
    /// Paired difference: upper end − lower end.
    pub swing: Option<Paired>,
    /// Number of blocked or censored replications at either end, which the differences exclude.
    pub left_out: usize,
}

impl Bar {
    /// Computes the differences from samples of one metric.
    pub fn of(
        (path, low, high): (String, String, String),
        (shown, source): ([String; 2], String),
        (base, at_low, at_high): (&Sample, &Sample, &Sample),
    ) -> Bar {
        let cut = |sample: &Sample| sample.iter().filter(|r| r.left_out).count();
        Bar {
            path,
            low,
            high,
            shown,
            source,
            at_low: Paired::of(&pairs(base, at_low)),
            at_high: Paired::of(&pairs(base, at_high)),
            swing: Paired::of(&pairs(at_low, at_high)),
            left_out: cut(at_low) + cut(at_high),
        }
    }

    /// Returns the size of the effect: the largest absolute difference between baseline, lower end and upper end.
    pub fn size(&self) -> f64 {
        let sizes = [self.swing, self.at_low, self.at_high]
            .into_iter()
            .flatten();
        sizes.map(|p| p.mean.abs()).fold(0.0, f64::max)
    }

    /// Returns true if any of its differences significantly differs from 0.
    pub fn matters(&self) -> bool {
        let mut all = [self.swing, self.at_low, self.at_high]
            .into_iter()
            .flatten();
        all.any(|p| p.separated().is_some())
    }
}

/// Sorts bars by the size of the effect, largest first.
pub fn sorted(mut bars: Vec<Bar>) -> Vec<Bar> {
    bars.sort_by(|a, b| b.size().total_cmp(&a.size()));
    bars
}

/// Returns the estimate of the metric for the baseline.
pub fn base(sample: &Sample) -> Option<Estimate> {
    Estimate::of(
        values(sample)
            .into_iter()
            .filter(|v| v.is_finite())
            .collect(),
    )
}
