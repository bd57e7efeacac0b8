//! Units of time axes: a unit for the length of the axis, and round times in it.

use super::scene::{tick_label, ticks};

/// The unit of the labels of a time axis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl TimeUnit {
    /// Returns the unit for an axis of this length in seconds: at most a few hundred units fit on it.
    pub(crate) fn for_span(span: f64) -> TimeUnit {
        match span {
            s if s >= 2.0 * 86_400.0 => TimeUnit::Days,
            s if s >= 2.0 * 3_600.0 => TimeUnit::Hours,
            s if s >= 600.0 => TimeUnit::Minutes,
            _ => TimeUnit::Seconds,
        }
    }

    pub(crate) fn seconds(self) -> f64 {
        match self {
            TimeUnit::Seconds => 1.0,
            TimeUnit::Minutes => 60.0,
            TimeUnit::Hours => 3_600.0,
            TimeUnit::Days => 86_400.0,
        }
    }

    /// Returns the plural for the title of an axis.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "seconds",
            TimeUnit::Minutes => "minutes",
            TimeUnit::Hours => "hours",
            TimeUnit::Days => "days",
        }
    }

    pub(crate) fn symbol(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Minutes => "min",
            TimeUnit::Hours => "h",
            TimeUnit::Days => "d",
        }
    }
}

/// Returns the unit and about `count` round times in seconds within a range of seconds.
pub(crate) fn round_times(from: f64, to: f64, count: usize) -> (TimeUnit, Vec<f64>) {
    let unit = TimeUnit::for_span(to - from);
    let size = unit.seconds();
    let step = ticks((to - from) / size, count).get(1).map_or(to - from, |step| step * size);
    let first = (from / step).ceil();
    let all = (0..60).map(|i| (first + f64::from(i)) * step);
    (unit, all.take_while(|t| *t <= to + step * 1e-9).collect())
}

/// Formats a time in the unit, without the unit.
pub(crate) fn time_label(seconds: f64, unit: TimeUnit) -> String {
    tick_label(seconds / unit.seconds())
}
