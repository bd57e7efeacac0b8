//! Estimates at which fraction of a wall-clock second a recording may have begun, because timers in whole seconds
//! depend on it.
//!
//! Only the final conditions and their observation times are used. `plays` determines how many values are tried.

use crate::validate::recording::RecordedRun;
use sim_base::Duration;

/// Returns the fractions of a wall-clock second at which the JobSet may have been created, most plausible first. The
/// API stores times in whole seconds, so deadlines and back-offs end up to one second early (D-10), and the amount
/// depends on this fraction.
///
/// The fractions are derived from the final conditions: their transition times are in wall-clock seconds, and the
/// log counts from the creation. The result contains the middle of the range that fits, the middles of its lower and
/// upper half, and its ends.
pub fn clock_phases(recording: &RecordedRun) -> Vec<Duration> {
    const STEPS_MS: u64 = 1000;
    let seen = transitions(recording);
    let fits = |phase: u64| {
        seen.windows(2)
            .filter(|pair| {
                let second = |at_ms: u64| ((at_ms + phase) / 1000) as i64;
                second(pair[1].0) - second(pair[0].0) == pair[1].1 - pair[0].1
            })
            .count()
    };
    let best = (0..STEPS_MS).map(fits).max().unwrap_or(0);
    let good: Vec<u64> = (0..STEPS_MS).filter(|p| fits(*p) == best).collect();
    let n = good.len();
    let mut phases: Vec<Duration> = Vec::new();
    for at in [n / 2, n / 4, 3 * n / 4, 0, n - 1] {
        let phase = Duration::from_millis(good[at]);
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    phases
}

/// Returns `(ms after the creation, wall seconds)` of the last status change of each final condition, in order.
fn transitions(recording: &RecordedRun) -> Vec<(u64, i64)> {
    let final_conditions = recording.status.iter().flat_map(|s| &s.conditions);
    let mut result: Vec<(u64, i64)> = final_conditions
        .filter_map(|c| {
            let wall = wall_seconds(c.last_transition_time.as_deref()?)?;
            let mut at = None;
            for entry in recording.log.iter().filter(|e| e.kind == "JobSet") {
                let conditions = entry.detail["conditions"].as_array();
                let status = conditions
                    .into_iter()
                    .flatten()
                    .find(|d| d["type"] == c.kind.as_str())
                    .map(|d| d["status"] == c.status.as_str());
                match status {
                    Some(true) if at.is_none() => at = Some(entry.at_ms),
                    Some(false) => at = None,
                    _ => {}
                }
            }
            Some((at?, wall))
        })
        .collect();
    result.sort_unstable();
    result
}

/// Returns seconds since the start of the month, which suffice for differences within a recording.
fn wall_seconds(time: &str) -> Option<i64> {
    let (date, clock) = time.trim_end_matches('Z').split_once('T')?;
    let day: i64 = date.rsplit('-').next()?.parse().ok()?;
    let mut parts = clock.split(':').map(|p| p.parse::<i64>().ok());
    let (h, m, s) = (parts.next()??, parts.next()??, parts.next()??);
    Some(((day * 24 + h) * 60 + m) * 60 + s)
}
