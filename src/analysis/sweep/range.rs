//! The range of an axis: integers, decimal numbers or durations.

use sim_base::Duration;
use sim_base::time::NANOS_PER_SECOND;

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

impl SweepRange {
    /// Parses a range from its two ends.
    pub fn parse(low: &str, high: &str, log: bool) -> Result<SweepRange, String> {
        let (low_text, high_text) = (low.trim(), high.trim());
        let (kind, low, high) = read(low_text, high_text)?;
        if low >= high {
            return Err(format!(
                "the range {low_text}..{high_text} is empty: the first value must be below the second one"
            ));
        }
        if log && low <= 0.0 {
            return Err(format!(
                "the logarithmic range {low_text}..{high_text} has to begin above 0"
            ));
        }
        Ok(SweepRange {
            low,
            high,
            kind,
            log,
        })
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

fn read(low: &str, high: &str) -> Result<(RangeKind, f64, f64), String> {
    let numbers = |text: &str| text.parse::<f64>().ok().filter(|v| v.is_finite());
    if let (Some(l), Some(h)) = (numbers(low), numbers(high)) {
        let whole = |text: &str, v: f64| text.parse::<i64>().is_ok() && v.abs() < WHOLE_MAX;
        let kind = if whole(low, l) && whole(high, h) {
            RangeKind::Whole
        } else {
            RangeKind::Number
        };
        return Ok((kind, l, h));
    }
    let durations = |text: &str| text.parse::<Duration>().ok();
    match (durations(low), durations(high)) {
        (Some(l), Some(h)) => Ok((RangeKind::Duration, l.seconds(), h.seconds())),
        _ => Err(format!(
            "{low}..{high} is not a range: use two numbers, such as 0..16 or 0.5..2, or two durations, such as 5m..2h"
        )),
    }
}

/// Rounds to six significant digits, so that the printed number is the simulated one.
fn six_figures(v: f64) -> f64 {
    format!("{v:.5e}").parse().unwrap_or(v)
}
