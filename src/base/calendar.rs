//! Virtual time as calendar time for the API: a run starts at the beginning of 1970.

use super::SimTime;
use super::time::NANOS_PER_SECOND;

/// Formats virtual time as metav1.Time: whole seconds since 1970-01-01T00:00:00Z.
pub fn format_time(at: SimTime) -> String {
    let seconds = at.0 / NANOS_PER_SECOND;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years of 365.2425 days, in eras of 400 years (civil-from-days algorithm for the proleptic Gregorian calendar).
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Parses a calendar time; `None` if it is before the start of the run.
pub fn parse_time(text: &str) -> Option<SimTime> {
    let (date, clock) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|n| n.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, offset) = match clock.strip_suffix('Z') {
        Some(clock) => (clock, 0),
        None => {
            let (clock, zone) = clock.split_at_checked(clock.rfind(['+', '-'])?)?;
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let seconds = hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60;
            (clock, if zone.starts_with('-') { -seconds } else { seconds })
        }
    };
    let complete = clock.split_once('.').map_or(clock, |(complete, _)| complete);
    let mut clock = complete.splitn(3, ':').map(|n| n.parse::<i64>().ok());
    let of_day = clock.next()?? * 3600 + clock.next()?? * 60 + clock.next()??;
    // The inverse algorithm, with years that begin in March.
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let seconds = (era * 146_097 + day_of_era - 719_468) * 86_400 + of_day - offset;
    let nanos = u64::try_from(seconds).ok()?.checked_mul(NANOS_PER_SECOND)?;
    // The upper half of the range is excluded, so that sums do not overflow.
    (nanos <= i64::MAX as u64).then_some(SimTime(nanos))
}
