//! Sensitivity of a result to each input: each input at both ends of its range, with all others unchanged, under
//! common random numbers.

use super::sample::{SampleMetric, paired_difference};
use serde::Serialize;
use sim_base::stats::PairedDifference;

/// Results for an input at both ends of its range.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TornadoBar {
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
    /// True if the field is chosen, and not an uncertainty.
    #[serde(rename = "decision")]
    pub is_decision: bool,
    /// Paired difference: lower end − baseline.
    pub at_low: Option<PairedDifference>,
    /// Paired difference: upper end − baseline.
    pub at_high: Option<PairedDifference>,
    /// Paired difference: upper end − lower end.
    pub swing: Option<PairedDifference>,
    /// Number of blocked or censored replications at either end, which the differences exclude.
    pub excluded: usize,
}

impl TornadoBar {
    /// Computes the differences from samples of one metric.
    pub fn compare(
        (path, low, high): (String, String, String), (displayed, source, is_decision): ([String; 2], String, bool),
        metric: &str, [base, at_low, at_high]: [&SampleMetric; 3],
    ) -> TornadoBar {
        let paired_difference = |a, b| paired_difference(metric, a, b).filter(|p| p.n > 1);
        let cut = |sample: &SampleMetric| sample.iter().filter(|r| r.is_worst).count();
        TornadoBar {
            path,
            low,
            high,
            shown: displayed,
            source,
            is_decision,
            at_low: paired_difference(base, at_low),
            at_high: paired_difference(base, at_high),
            swing: paired_difference(at_low, at_high),
            excluded: cut(at_low) + cut(at_high),
        }
    }

    /// Returns the size of the effect: the largest absolute difference between baseline, lower end and upper end.
    pub fn size(&self) -> f64 {
        let sizes = [self.swing, self.at_low, self.at_high].into_iter().flatten();
        sizes.map(|p| p.mean.abs()).fold(0.0, f64::max)
    }

    /// Returns true if any of its differences significantly differs from 0.
    pub fn is_significant(&self) -> bool {
        let mut all = [self.swing, self.at_low, self.at_high].into_iter().flatten();
        all.any(|p| p.significant_order().is_some())
    }
}

/// Sorts bars by the size of the effect, largest first; decisions after all uncertainties.
pub fn sorted(mut bars: Vec<TornadoBar>) -> Vec<TornadoBar> {
    bars.sort_by(|a, b| a.is_decision.cmp(&b.is_decision).then(b.size().total_cmp(&a.size())));
    bars
}
