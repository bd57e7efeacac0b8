//! The range of an axis: integers, decimal numbers or durations.

use sim_base::Duration;
use sim_base::time::NANOS_PER_SECOND;
use std::fmt;

/// A range with a lower end below its upper end.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SweepRange {
    low: f64,
    high: f64,
    kind: RangeKind,
    log: bool,
}

#[derive(Copy, Clone, Debug, PartialEq)]
enum RangeKind {
    Whole,
    Number,
    /// Durations in seconds.
    Duration,
}

/// Limit below which `f64` represents all integers exactly (2^53).
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Two ends, as written, that do not form a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRangeError {
    pub low: String,
    pub high: String,
    pub problem: SweepRangeProblem,
}

/// Reason why two ends do not form a range.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SweepRangeProblem {
    /// The ends are neither two numbers nor two durations.
    InvalidEnds,
    /// The first end is not below the second one.
    EmptyRange,
    /// A logarithmic range does not begin above 0.
    NotPositive,
}

impl fmt::Display for SweepRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SweepRangeError { low, high, problem } = self;
        match problem {
            SweepRangeProblem::InvalidEnds => write!(
                f,
                "{low}..{high} is not a range: use two numbers, such as 0..16 or 0.5..2, or two durations, such as 5m..2h"
            ),
            SweepRangeProblem::EmptyRange => {
                write!(f, "the range {low}..{high} is empty: the first value must be below the second one")
            }
            SweepRangeProblem::NotPositive => write!(f, "the logarithmic range {low}..{high} has to begin above 0"),
        }
    }
}

impl std::error::Error for SweepRangeError {}

impl SweepRange {
    /// Parses a range from its two ends.
    pub fn parse(low: &str, high: &str, log: bool) -> Result<SweepRange, SweepRangeError> {
        let (low_text, high_text) = (low.trim(), high.trim());
        let wrong = |problem: SweepRangeProblem| SweepRangeError {
            low: low_text.to_owned(),
            high: high_text.to_owned(),
            problem,
        };
        let ends = read(low_text, high_text);
        let (kind, low, high) = ends.ok_or_else(|| wrong(SweepRangeProblem::InvalidEnds))?;
        if low >= high {
            return Err(wrong(SweepRangeProblem::EmptyRange));
        }
        if log && low <= 0.0 {
            return Err(wrong(SweepRangeProblem::NotPositive));
        }
        Ok(SweepRange { low, high, kind, log })
    }

    /// Returns the value at a fraction of the range from 0 to 1, as written in a file.
    pub fn at(&self, share: f64) -> String {
        match self.kind {
            // All integers of the range have the same probability.
            RangeKind::Whole => {
                let v = self.between(self.high + 1.0, share).floor().min(self.high);
                format!("{}", v as i64)
            }
            RangeKind::Number => format!("{}", six_figures(self.between(self.high, share))),
            RangeKind::Duration => {
                let v = self.between(self.high, share);
                let step = match self.high {
                    h if h >= 3600.0 => NANOS_PER_SECOND,
                    h if h >= 1.0 => 1_000_000,
                    _ => 1,
                };
                let ns = Duration::from_seconds_f64(v).0;
                let rounded = (ns + step / 2) / step * step;
                let lowest = Duration::from_seconds_f64(self.low).0;
                let highest = Duration::from_seconds_f64(self.high).0;
                Duration(rounded.clamp(lowest, highest)).to_string()
            }
        }
    }

    fn between(&self, high: f64, share: f64) -> f64 {
        if self.log {
            self.low * libm::exp(share * libm::log(high / self.low))
        } else {
            self.low + share * (high - self.low)
        }
    }
}

/// Parses the two ends; `None` if they are neither two numbers nor two durations.
fn read(low: &str, high: &str) -> Option<(RangeKind, f64, f64)> {
    let numbers = |text: &str| text.parse::<f64>().ok().filter(|v| v.is_finite());
    if let (Some(l), Some(h)) = (numbers(low), numbers(high)) {
        let integer = |text: &str, v: f64| text.parse::<i64>().is_ok() && v.abs() < WHOLE_MAX;
        let kind = if integer(low, l) && integer(high, h) { RangeKind::Whole } else { RangeKind::Number };
        return Some((kind, l, h));
    }
    let durations = |text: &str| text.parse::<Duration>().ok();
    let (l, h) = (durations(low)?, durations(high)?);
    Some((RangeKind::Duration, l.seconds(), h.seconds()))
}

/// Rounds to six significant digits, so that the printed number is the simulated one.
fn six_figures(v: f64) -> f64 {
    format!("{v:.5e}").parse().unwrap_or(v)
}
