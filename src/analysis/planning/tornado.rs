//! Which input moves an answer most: each at both ends of its range, all others as they are, on the same random
//! numbers.

use super::sample::{Sample, pairs, values};
use serde::Serialize;
use sim_base::stats::{Estimate, Paired};

/// An input at both ends of its range.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bar {
    /// The field.
    pub path: String,
    /// The lower end, as a file has it.
    pub low: String,
    /// The upper end.
    pub high: String,
    /// Both in words.
    #[serde(skip)]
    pub shown: [String; 2],
    /// Where the range is from.
    pub source: String,
    /// At the lower end, less the inputs as they are.
    pub at_low: Option<Paired>,
    /// At the upper end, less the inputs as they are.
    pub at_high: Option<Paired>,
    /// At the upper end less at the lower end.
    pub swing: Option<Paired>,
    /// Replications that got stuck or were cut at either end: they are in no difference.
    pub left_out: usize,
}

impl Bar {
    /// Of samples of one metric.
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

    /// How far apart the ends are.
    pub fn size(&self) -> f64 {
        let sizes = [self.swing, self.at_low, self.at_high]
            .into_iter()
            .flatten();
        sizes.map(|p| p.mean.abs()).fold(0.0, f64::max)
    }

    /// Whether any of its differences is separated from 0.
    pub fn matters(&self) -> bool {
        let mut all = [self.swing, self.at_low, self.at_high]
            .into_iter()
            .flatten();
        all.any(|p| p.separated().is_some())
    }
}

/// The greatest first.
pub fn sorted(mut bars: Vec<Bar>) -> Vec<Bar> {
    bars.sort_by(|a, b| b.size().total_cmp(&a.size()));
    bars
}

/// The metric with the inputs as they are.
pub fn base(sample: &Sample) -> Option<Estimate> {
    Estimate::of(
        values(sample)
            .into_iter()
            .filter(|v| v.is_finite())
            .collect(),
    )
}
