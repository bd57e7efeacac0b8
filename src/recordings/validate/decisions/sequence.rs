//! Compares the sequence of distinct status values of the JobSet, without the counts.

use super::history::{DecisionHistory, HistoryState};
use crate::validate::recording::{RecordedRun, RecordedStatus};
use crate::{validate::result::RecordedDifference, validate::scenario::UNCOMPARED_END_MS};
use serde_json::json;

/// Returns all observed status values without repetitions, each with its start time in seconds. The first one is empty.
pub fn recorded_states(recording: &RecordedRun) -> Vec<(f64, HistoryState)> {
    let mut states = vec![(0.0, HistoryState::default())];
    let entries = recording.log.iter();
    for entry in entries.filter(|e| e.kind == "JobSet" && e.what == "status") {
        let status = serde_json::from_value::<Option<RecordedStatus>>(entry.detail.clone());
        let status = status.ok().flatten().unwrap_or_default();
        let conditions = status.conditions.into_iter();
        let state = HistoryState {
            restarts: status.restarts,
            restarts_count_towards_max: status.restarts_count_towards_max,
            terminal_state: status.terminal_state,
            current: status.current_in_place_restart_attempt,
            previous: status.previous_in_place_restart_attempt,
            conditions: conditions.map(|c| (c.kind, c.status, c.reason)).collect(),
        };
        if states.last().is_none_or(|(_, last)| *last != state) {
            states.push((entry.at_ms as f64 / 1e3, state));
        }
    }
    states
}

pub fn state_text(s: &HistoryState) -> String {
    let attempt = |a: Option<u32>| a.map_or("-".to_owned(), |a| a.to_string());
    let conditions: Vec<String> =
        s.conditions.iter().map(|(kind, status, reason)| format!("{kind}={status} {reason}")).collect();
    let terminal = if s.terminal_state.is_empty() { "-" } else { &s.terminal_state };
    format!(
        "restarts {} counted {} terminalState {terminal} current {} previous {} [{}]",
        s.restarts,
        s.restarts_count_towards_max,
        attempt(s.current),
        attempt(s.previous),
        conditions.join(", ")
    )
}

/// Reports only the first status that differs, because later differences are consequences of it.
pub fn compare(recording: &RecordedRun, history: &DecisionHistory, out: &mut Vec<RecordedDifference>) {
    let (recorded, simulated) = (recorded_states(recording), history.states());
    for i in 0..recorded.len().max(simulated.len()) {
        let (r, s) = (recorded.get(i), simulated.get(i));
        if r.map(|r| &r.1) != s.map(|s| &s.1) {
            let at_s = r.or(s).map_or(0.0, |(at_s, _)| *at_s);
            if at_s > compared_until_s(recording) {
                return;
            }
            let path = format!("sequence[{i}]");
            let text = |state: Option<&(f64, HistoryState)>| json!(state.map(|(_, s)| state_text(s)));
            out.push(RecordedDifference::new(path, text(r), text(s)));
            return;
        }
    }
}

/// Returns the time in seconds after which nothing is compared.
pub fn compared_until_s(recording: &RecordedRun) -> f64 {
    let compared = |ms: u64| ms.saturating_sub(UNCOMPARED_END_MS) as f64 / 1e3;
    recording.played_for_ms.map_or(f64::INFINITY, compared)
}
