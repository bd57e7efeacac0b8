//! Times of fault traces: since the start of the run, or timestamps of RFC 3339.

use super::{FaultTrace, error};
use crate::text::diagnostic::Diagnostic;
use sim_base::Duration;

/// Parses a timestamp such as `2026-11-20T08:15:30.5Z` or with an offset such as `+01:00`. Returns the time since
/// 1970-01-01T00:00:00Z.
pub(super) fn timestamp(text: &str) -> Option<Duration> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let is = |at: usize, any: &[u8]| text.as_bytes().get(at).is_some_and(|b| any.contains(b));
    if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !((1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 60) {
        return None;
    }
    let rest = &text[19..];
    let digits = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count() + 1);
    let nanos = format!("{:0<9.9}", rest[..digits].trim_start_matches('.')).parse::<u64>().ok()?;
    let zone = &rest[digits..];
    let offset = match zone.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes): (i64, i64) = (zone[1..3].parse().ok()?, zone[4..6].parse().ok()?);
            (hours * 3_600 + minutes * 60) * if *sign == b'+' { 1 } else { -1 }
        }
        _ => return None,
    };
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    let seconds = u64::try_from(seconds).ok()?;
    Some(Duration(seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?))
}

/// Returns the number of days from 1970-01-01 in the Gregorian calendar.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    //  Years begin in March, so that the leap day is the last day of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + day_of_year - 719_468
}

/// Makes timestamps relative to the start of the run, or to the first timestamp of the trace. Faults before the start
/// are dropped and counted. Returns an error if only a part of the times are timestamps.
pub(super) fn make_relative(trace: &mut FaultTrace) -> Option<Diagnostic> {
    let is_absolute = trace.rows.first()?.is_absolute;
    if let Some(other) = trace.rows.iter().find(|row| row.is_absolute != is_absolute) {
        let message = "times since the start of the run and timestamps in one trace".to_owned();
        return Some(error(&trace.source, other.line, message));
    }
    if is_absolute {
        let first = trace.rows.iter().map(|row| row.at).min();
        let start = trace.settings.start.or(first).unwrap_or_default();
        let all = trace.rows.len();
        trace.rows.retain(|row| row.at >= start);
        trace.omitted = all - trace.rows.len();
        trace.rows.iter_mut().for_each(|row| row.at = Duration(row.at.0 - start.0));
    }
    None
}
