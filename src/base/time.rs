//! Virtual time as integer nanoseconds, and Go-style durations (`1m30s`, `1.5s`, `2d`).
//! Must never use floating point: the order of events depends on these values.

#![deny(missing_docs)]

mod error;

pub use error::DurationError;

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// An instant of virtual time, in nanoseconds since the start of the run.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct SimTime(pub u64);

/// A duration of virtual time in nanoseconds.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Duration(pub u64);

/// Nanoseconds per second.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl SimTime {
    /// The start of a run.
    pub const ZERO: SimTime = SimTime(0);
    /// Later than all other times; means "never" in columns of times.
    pub const NEVER: SimTime = SimTime(u64::MAX);

    /// Seconds since the start of the run.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The first tick at or after this instant of a clock with this phase and period.
    pub fn next_tick(self, phase: Duration, period: Duration) -> SimTime {
        let since = self.0.saturating_sub(phase.0);
        SimTime(phase.0 + since.div_ceil(period.0) * period.0)
    }

    /// Time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: SimTime) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// The zero duration.
    pub const ZERO: Duration = Duration(0);

    /// Whole seconds. Sums and products of times saturate at 584 years.
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s.saturating_mul(NANOS_PER_SECOND))
    }

    /// Creates a duration from milliseconds.
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(ms * 1_000_000)
    }

    /// Rounds to the nearest nanosecond; negative and NaN become zero, overflow saturates.
    pub fn from_seconds_f64(s: f64) -> Duration {
        Duration((s * NANOS_PER_SECOND as f64 + 0.5) as u64)
    }

    /// Seconds as a float, for output only.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Multiplies, saturating at the maximum.
    pub fn saturating_mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}

impl From<std::time::Duration> for Duration {
    /// Saturates after 584 years.
    fn from(d: std::time::Duration) -> Duration {
        Duration(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Add<Duration> for SimTime {
    type Output = SimTime;
    fn add(self, d: Duration) -> SimTime {
        SimTime(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for SimTime {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, d: Duration) -> Duration {
        Duration(self.0.saturating_add(d.0))
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, d: Duration) -> Duration {
        Duration(self.0.saturating_sub(d.0))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}s", self.0 / NANOS_PER_SECOND, self.0 % NANOS_PER_SECOND / 1_000_000)
    }
}

/// Units of durations, longest name first, so that `ms` is matched before `m`.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("d", 86_400 * NANOS_PER_SECOND),
    ("h", 3_600 * NANOS_PER_SECOND),
    ("m", 60 * NANOS_PER_SECOND),
    ("s", NANOS_PER_SECOND),
];

/// The longest duration accepted as input, 100 years; longer ones are assumed to be typing errors.
pub const MAX_INPUT_DURATION: Duration = Duration::from_secs(100 * 365 * 86_400);

impl std::str::FromStr for Duration {
    type Err = DurationError;

    /// Parses Go's notation: decimal numbers with units, such as `1h30m`, `1.5s`, `250ms`; `d` is 24 h, and `0` needs
    /// no unit.
    fn from_str(written: &str) -> Result<Duration, DurationError> {
        let text = written.to_owned();
        if text == "0" {
            return Ok(Duration::ZERO);
        }
        if text.is_empty() {
            return Err(DurationError::Empty);
        }
        if text.starts_with('-') {
            return Err(DurationError::Negative(text));
        }
        let mut rest = written;
        let mut total: u128 = 0;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            let (number, tail) = rest.split_at(digits);
            if number.is_empty() {
                return Err(DurationError::NotDuration(text));
            }
            let Some((unit, nanos)) = UNITS.iter().find(|(u, _)| tail.starts_with(u)) else {
                return Err(DurationError::NoUnit(text));
            };
            let Some(part) = scaled(number, *nanos) else {
                return Err(DurationError::NotDuration(text));
            };
            total += part;
            rest = &tail[unit.len()..];
        }
        if total > u128::from(MAX_INPUT_DURATION.0) {
            return Err(DurationError::TooLong(text));
        }
        Ok(Duration(total as u64))
    }
}

/// `number × nanos`, exact for decimals; `None` if `number` is not a decimal number.
fn scaled(number: &str, nanos: u64) -> Option<u128> {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    if integer.len() > 18 || (integer.is_empty() && fraction.is_empty()) {
        return None;
    }
    let integer: u128 = if integer.is_empty() { 0 } else { integer.parse().ok()? };
    let mut value = integer * u128::from(nanos);
    let mut unit = u128::from(nanos);
    for c in fraction.chars() {
        let digit = c.to_digit(10)?;
        unit /= 10;
        value += unit * u128::from(digit);
    }
    Some(value)
}

impl fmt::Display for Duration {
    /// Shortest Go-style form that parses back to the same value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        if rest == 0 {
            return write!(f, "0s");
        }
        for (unit, nanos) in [("h", 3_600 * NANOS_PER_SECOND), ("m", 60 * NANOS_PER_SECOND)] {
            if rest >= nanos {
                write!(f, "{}{unit}", rest / nanos)?;
                rest %= nanos;
            }
        }
        if rest == 0 {
            return Ok(());
        }
        let (unit, nanos) = match rest {
            r if r >= NANOS_PER_SECOND => ("s", NANOS_PER_SECOND),
            r if r >= 1_000_000 => ("ms", 1_000_000),
            r if r >= 1_000 => ("us", 1_000),
            _ => ("ns", 1),
        };
        let fraction = format!("{:0width$}", rest % nanos, width = nanos.ilog10() as usize);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() || nanos == 1 {
            write!(f, "{}{unit}", rest / nanos)
        } else {
            write!(f, "{}.{fraction}{unit}", rest / nanos)
        }
    }
}
