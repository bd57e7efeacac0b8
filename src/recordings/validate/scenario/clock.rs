//! How far into a second of wall time a recording may have begun: what its whole-second timers hung on.
//!
//! Must never look at more than the final conditions and when they were seen; `plays` says how often this is varied.

use crate::validate::recording::Recording;
use sim_base::Duration;

/// How far into a second of wall time the JobSet may have been created. The API keeps times in whole seconds, so that
/// deadlines and back-offs end up to a second early (D-10), and by how much depends on this.
/// Found from the final conditions: their transition times count wall seconds, the log counts from the creation. The
/// first is the middle of what fits, then come the middles of its lower and upper half, and its ends.
pub fn clock_phases(recording: &Recording) -> Vec<Duration> {
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

/// `(ms after the creation, wall seconds)` of the last change of each final condition's status, in order.
fn transitions(recording: &Recording) -> Vec<(u64, i64)> {
    let final_conditions = recording.status.iter().flat_map(|s| &s.conditions);
    let mut found: Vec<(u64, i64)> = final_conditions
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
    found.sort_unstable();
    found
}

/// Seconds of the day and more, as far as differences within one recording go.
fn wall_seconds(time: &str) -> Option<i64> {
    let (date, clock) = time.trim_end_matches('Z').split_once('T')?;
    let day: i64 = date.rsplit('-').next()?.parse().ok()?;
    let mut parts = clock.split(':').map(|p| p.parse::<i64>().ok());
    let (h, m, s) = (parts.next()??, parts.next()??, parts.next()??);
    Some(((day * 24 + h) * 60 + m) * 60 + s)
}
