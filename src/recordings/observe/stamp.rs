//! Times as the API and its clients write them, in nanoseconds since 1970, and how well each is known.

use sim_base::calendar;

pub const SECOND: u64 = 1_000_000_000;

/// An instant that is known to lie between two others.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct At {
    pub ns: u64,
    /// It may be so much earlier or later.
    pub off: u64,
}

impl At {
    pub fn between(low: u64, high: u64) -> At {
        let high = high.max(low);
        At {
            ns: low + (high - low) / 2,
            off: (high - low).div_ceil(2),
        }
    }

    /// Written in whole seconds: it was some time in that second.
    pub fn within_second(ns: u64) -> At {
        At::between(ns, ns + SECOND)
    }

    pub fn exact(ns: u64) -> At {
        At { ns, off: 0 }
    }

    /// The API's whole seconds are a second long, finer texts are what they say.
    pub fn of(text: &str) -> Option<At> {
        let ns = nanos(text)?;
        Some(match text.contains('.') {
            true => At::exact(ns),
            false => At::within_second(ns),
        })
    }

    /// Milliseconds after another.
    pub fn ms_after(self, zero: At) -> i64 {
        let ns = self.ns as i64 - zero.ns as i64;
        (ns as f64 / 1e6).round() as i64
    }

    /// How far a difference of the two may be off, in seconds.
    pub fn off_with(self, other: At) -> f64 {
        (self.off + other.off) as f64 / SECOND as f64
    }
}

/// Of `2026-11-21T22:12:52.063405Z` with its fraction.
pub fn nanos(text: &str) -> Option<u64> {
    let whole = calendar::instant(text)?.0;
    let fraction = text.split_once('.').map_or("", |(_, rest)| rest);
    let digits: String = fraction
        .chars()
        .take_while(char::is_ascii_digit)
        .take(9)
        .collect();
    let part: u64 = format!("{digits:0<9}").parse().ok()?;
    whole.checked_add(part)
}

/// client-go names an Event by its object and the nanosecond at which it was first told: `js-w-0.18ea2f15c3c48967`.
/// Believed only near the second that the Event itself names.
pub fn in_name(name: &str, near: Option<u64>) -> Option<u64> {
    let (_, hex) = name.rsplit_once('.')?;
    let ns = u64::from_str_radix(hex, 16).ok()?;
    let near = near?;
    (ns.abs_diff(near) <= 2 * SECOND).then_some(ns)
}
