//! Times as the API and its clients write them, in nanoseconds since 1970, and their precision.

use sim_base::calendar;

pub const SECOND: u64 = 1_000_000_000;

/// An instant that is known to lie between two others.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ClockTime {
    pub ns: u64,
    /// Largest error in either direction, in nanoseconds.
    pub uncertainty_ns: u64,
}

impl ClockTime {
    pub fn between(low: u64, high: u64) -> ClockTime {
        let high = high.max(low);
        ClockTime { ns: low + (high - low) / 2, uncertainty_ns: (high - low).div_ceil(2) }
    }

    /// Returns an instant that was written in whole seconds and lies somewhere in that second.
    pub fn within_second(ns: u64) -> ClockTime {
        ClockTime::between(ns, ns + SECOND)
    }

    pub fn exact(ns: u64) -> ClockTime {
        ClockTime { ns, uncertainty_ns: 0 }
    }

    /// Parses a time. Times of the API in whole seconds are known to one second; times with a fraction are exact.
    pub fn parse(text: &str) -> Option<ClockTime> {
        let ns = parse_nanoseconds(text)?;
        Some(if text.contains('.') { ClockTime::exact(ns) } else { ClockTime::within_second(ns) })
    }

    /// Returns the milliseconds since `zero`.
    pub fn ms_after(self, zero: ClockTime) -> i64 {
        let ns = self.ns as i64 - zero.ns as i64;
        (ns as f64 / 1e6).round() as i64
    }

    /// Returns the largest error of the difference of the two instants in seconds.
    pub fn uncertainty_with(self, other: ClockTime) -> f64 {
        (self.uncertainty_ns + other.uncertainty_ns) as f64 / SECOND as f64
    }
}

/// Parses a time such as `2026-11-21T22:12:52.063405Z`, including its fraction.
pub fn parse_nanoseconds(text: &str) -> Option<u64> {
    let complete = calendar::parse_time(text)?.0;
    let fraction = text.split_once('.').map_or("", |(_, rest)| rest);
    let digits: String = fraction.chars().take_while(char::is_ascii_digit).take(9).collect();
    let part: u64 = format!("{digits:0<9}").parse().ok()?;
    complete.checked_add(part)
}

/// Returns the time in the name of an Event. client-go names an Event by its object and the nanosecond at which it
/// was first emitted: `js-w-0.18ea2f15c3c48967`. The result is `None` unless it is within 2 s of `near`, the time
/// that the Event itself states.
pub fn time_in_event_name(name: &str, near: Option<u64>) -> Option<u64> {
    let (_, hex) = name.rsplit_once('.')?;
    let ns = u64::from_str_radix(hex, 16).ok()?;
    let near = near?;
    (ns.abs_diff(near) <= 2 * SECOND).then_some(ns)
}
