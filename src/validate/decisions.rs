//! Compares what was decided: final status, Jobs, Events, the sequence of statuses, answers to user actions.
//!
//! Must never look at a time: only at what happened and in which order (docs/reference/recording.md).

use super::history::{History, State, condition_status};
use super::mask::Mask;
use super::recording::{RecordedReplicatedJobStatus, Recording, Status};
use super::result::Difference;
use crate::record::*;
use serde_json::{Value, json};

/// A race of the real system's caches ("already exists"); not a decision.
const RACE: &str = "JobCreationFailed";
/// Left out of the Jobs' conditions: `suspended` says the same and is compared.
const SUSPENDED: &str = "Suspended";

/// All differences; none means that the decision is equal.
pub fn compare(
    recording: &Recording,
    outcome: &RunOutcome,
    history: &History,
    names: &Names,
) -> Vec<Difference> {
    let mask = Mask::new(names);
    let nothing = JobSetOutcome::default();
    let jobset = outcome.jobsets.first().unwrap_or(&nothing);
    let mut differences = Vec::new();
    compare_status(recording, jobset, &mask, &mut differences);
    compare_replicated_jobs(recording, jobset, &mut differences);
    let recorded = recording.jobs.iter().map(|j| {
        let conditions = j.conditions.iter().map(String::as_str);
        let attempt = &j.restart_attempt;
        job_text(&j.name, attempt, j.exists, j.suspended, conditions)
    });
    // Jobs of other JobSets in the same namespace are listed too.
    let all_jobs = outcome.jobsets.iter().flat_map(|js| &js.jobs);
    let simulated = all_jobs.map(|j| {
        let conditions: Vec<String> = j.conditions.iter().map(|c| condition(c, &mask)).collect();
        let conditions = conditions.iter().map(String::as_str);
        job_text(
            names.job(j.job),
            &j.restart_attempt,
            j.exists,
            j.suspended,
            conditions,
        )
    });
    compare_bags(
        "jobs",
        recorded.collect(),
        simulated.collect(),
        &mut differences,
    );
    compare_events(recording, history, &mask, &mut differences);
    compare_states(recording, history, &mut differences);
    compare_answers(recording, history, &mut differences);
    differences
}

fn compare_status(
    recording: &Recording,
    jobset: &JobSetOutcome,
    mask: &Mask,
    out: &mut Vec<Difference>,
) {
    let nothing = Status::default();
    let status = recording.status.as_ref().unwrap_or(&nothing);
    let pairs = [
        (
            "status.terminalState",
            json!(status.terminal_state),
            json!(jobset.terminal_state),
        ),
        (
            "status.restarts",
            json!(status.restarts),
            json!(jobset.restarts),
        ),
        (
            "status.restartsCountTowardsMax",
            json!(status.restarts_count_towards_max),
            json!(jobset.restarts_count_towards_max),
        ),
        (
            "status.currentInPlaceRestartAttempt",
            json!(status.current_in_place_restart_attempt),
            json!(jobset.current_in_place_restart_attempt),
        ),
        (
            "status.previousInPlaceRestartAttempt",
            json!(status.previous_in_place_restart_attempt),
            json!(jobset.previous_in_place_restart_attempt),
        ),
        ("deleted", json!(recording.deleted), json!(jobset.deleted)),
    ];
    for (path, recorded, simulated) in pairs {
        if recorded != simulated {
            out.push(Difference::new(path, recorded, simulated));
        }
    }
    let recorded: Vec<String> = status
        .conditions
        .iter()
        .map(|c| format!("{}={} {}: {}", c.kind, c.status, c.reason, c.message))
        .collect();
    let simulated: Vec<String> = jobset
        .conditions
        .iter()
        .map(|c| condition(c, mask))
        .collect();
    compare_lists("status.conditions", &recorded, &simulated, out);
}

/// `Type=Status Reason: message`, as the recordings write conditions.
fn condition(c: &ConditionOutcome, mask: &Mask) -> String {
    let message = mask.text(&c.message);
    let status = condition_status(c.status);
    format!("{}={status} {}: {message}", c.kind, c.reason)
}

fn compare_lists(path: &str, recorded: &[String], simulated: &[String], out: &mut Vec<Difference>) {
    for i in 0..recorded.len().max(simulated.len()) {
        let (r, s) = (recorded.get(i), simulated.get(i));
        if r != s {
            out.push(Difference::new(format!("{path}[{i}]"), json!(r), json!(s)));
        }
    }
}

/// What one side has more often than the other, paired in the order of the texts.
fn compare_bags(
    path: &str,
    mut recorded: Vec<String>,
    mut simulated: Vec<String>,
    out: &mut Vec<Difference>,
) {
    recorded.sort();
    simulated.sort();
    let mut only_recorded = Vec::new();
    for text in recorded {
        match simulated.binary_search(&text) {
            Ok(i) => drop(simulated.remove(i)),
            Err(_) => only_recorded.push(text),
        }
    }
    for i in 0..only_recorded.len().max(simulated.len()) {
        let (r, s) = (only_recorded.get(i), simulated.get(i));
        out.push(Difference::new(path, json!(r), json!(s)));
    }
}

fn job_text<'a>(
    name: &str,
    attempt: &str,
    exists: bool,
    suspended: bool,
    conditions: impl Iterator<Item = &'a str>,
) -> String {
    let suspend_condition = format!("{SUSPENDED}=");
    let conditions: Vec<&str> = conditions
        .filter(|c| !c.starts_with(&suspend_condition))
        .collect();
    let mut text = format!("{name} restart-attempt={attempt}");
    text += if exists { " exists" } else { " gone" };
    if suspended {
        text += " suspended";
    }
    format!("{text} [{}]", conditions.join(", "))
}

fn compare_replicated_jobs(
    recording: &Recording,
    jobset: &JobSetOutcome,
    out: &mut Vec<Difference>,
) {
    let recorded = recording
        .status
        .iter()
        .flat_map(|s| &s.replicated_jobs_status);
    let mut recorded: Vec<RecordedReplicatedJobStatus> = recorded.cloned().collect();
    let simulated = jobset.replicated_jobs_status.iter();
    let mut simulated: Vec<_> = simulated.map(as_recorded).collect();
    recorded.sort_by(|a, b| a.name.cmp(&b.name));
    simulated.sort_by(|a, b| a.name.cmp(&b.name));
    let mut names: Vec<&str> = recorded
        .iter()
        .chain(&simulated)
        .map(|s| s.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of =
            |side: &[RecordedReplicatedJobStatus]| side.iter().find(|s| s.name == name).cloned();
        let (r, s) = (of(&recorded), of(&simulated));
        if r != s {
            let path = format!("status.replicatedJobsStatus[{name}]");
            out.push(Difference::new(path, counts(r), counts(s)));
        }
    }
}

fn as_recorded(s: &ReplicatedJobStatus) -> RecordedReplicatedJobStatus {
    RecordedReplicatedJobStatus {
        name: s.name.clone(),
        ready: s.ready,
        succeeded: s.succeeded,
        failed: s.failed,
        active: s.active,
        suspended: s.suspended,
        job_restarts: s.job_restarts.clone(),
        job_restarts_count_towards_max: s.job_restarts_count_towards_max.clone(),
    }
}

fn counts(status: Option<RecordedReplicatedJobStatus>) -> Value {
    let Some(s) = status else { return Value::Null };
    let mut value = json!({"ready": s.ready, "succeeded": s.succeeded, "failed": s.failed,
        "active": s.active, "suspended": s.suspended});
    if !s.job_restarts.is_empty() {
        value["jobRestarts"] = json!(s.job_restarts);
    }
    if !s.job_restarts_count_towards_max.is_empty() {
        value["jobRestartsCountTowardsMax"] = json!(s.job_restarts_count_towards_max);
    }
    value
}

fn compare_events(
    recording: &Recording,
    history: &History,
    mask: &Mask,
    out: &mut Vec<Difference>,
) {
    let object = format!("JobSet/{}", recording.jobset_name());
    let recorded = recording
        .events
        .iter()
        .filter(|e| e.object == object && e.reason != RACE)
        .map(|e| format!("{} {}: {}", e.kind, e.reason, e.message));
    let simulated = history.events.iter().filter(|e| e.1 != RACE).map(|e| {
        let kind = if e.0 { "Warning" } else { "Normal" };
        format!("{kind} {}: {}", e.1, mask.text(&e.2))
    });
    // A set: merged repeats are not counted.
    let set = |texts: &mut Vec<String>| {
        texts.sort();
        texts.dedup();
    };
    let (mut recorded, mut simulated) = (recorded.collect(), simulated.collect());
    set(&mut recorded);
    set(&mut simulated);
    compare_bags("events", recorded, simulated, out);
}

/// Every status the watcher saw, without repeats; the first is the empty one.
fn recorded_states(recording: &Recording) -> Vec<State> {
    let mut states = vec![State::default()];
    let entries = recording.log.iter();
    for entry in entries.filter(|e| e.kind == "JobSet" && e.what == "status") {
        let status = serde_json::from_value::<Option<Status>>(entry.detail.clone());
        let status = status.ok().flatten().unwrap_or_default();
        let conditions = status.conditions.into_iter();
        let state = State {
            restarts: status.restarts,
            counted: status.restarts_count_towards_max,
            terminal_state: status.terminal_state,
            current: status.current_in_place_restart_attempt,
            previous: status.previous_in_place_restart_attempt,
            conditions: conditions.map(|c| (c.kind, c.status, c.reason)).collect(),
        };
        if states.last() != Some(&state) {
            states.push(state);
        }
    }
    states
}

fn state_text(s: &State) -> String {
    let attempt = |a: Option<u32>| a.map_or("-".to_owned(), |a| a.to_string());
    let conditions: Vec<String> = s
        .conditions
        .iter()
        .map(|(kind, status, reason)| format!("{kind}={status} {reason}"))
        .collect();
    let terminal = if s.terminal_state.is_empty() {
        "-"
    } else {
        &s.terminal_state
    };
    format!(
        "restarts {} counted {} terminalState {terminal} current {} previous {} [{}]",
        s.restarts,
        s.counted,
        attempt(s.current),
        attempt(s.previous),
        conditions.join(", ")
    )
}

/// Only the first status that differs: what follows is a consequence.
fn compare_states(recording: &Recording, history: &History, out: &mut Vec<Difference>) {
    let (recorded, simulated) = (recorded_states(recording), history.states());
    for i in 0..recorded.len().max(simulated.len()) {
        let (r, s) = (recorded.get(i), simulated.get(i));
        if r != s {
            let path = format!("sequence[{i}]");
            out.push(Difference::new(
                path,
                json!(r.map(state_text)),
                json!(s.map(state_text)),
            ));
            return;
        }
    }
}

fn compare_answers(recording: &Recording, history: &History, out: &mut Vec<Difference>) {
    for (i, answer) in recording.answers().into_iter().enumerate() {
        let Some(answer) = answer else { continue };
        let action = &recording.script.actions[i];
        let found = history.faults.get(&(i as u32)).copied().unwrap_or(false);
        let simulated = history.answers.get(&(i as u32));
        let simulated = simulated.cloned().unwrap_or_default();
        let (recorded, simulated) = match action.what.as_str() {
            "patch" | "patchObject" | "create" | "deleteObject" | "show" => {
                if answers_agree(answer, &simulated) {
                    continue;
                }
                (answer, simulated)
            }
            "suspend" | "resume" | "deleteJobSet" => (answer, simulated),
            "deletePod" | "forceDeletePod" | "evictPod" => match found {
                true => (answer, String::new()),
                false => (answer, "no such pod".to_owned()),
            },
            // A node action answers with the node's name; the scheduler may have chosen another node.
            _ if found && answer.contains(' ') => (answer, "accepted".to_owned()),
            _ if !found && !answer.contains(' ') => (answer, "no such node".to_owned()),
            _ => continue,
        };
        if recorded != simulated {
            let path = format!("actions[{i}] {}", action.what);
            out.push(Difference::new(path, recorded, simulated));
        }
    }
}

/// Answers without what differs between any two runs: uids, times, addresses, order of fields.
fn answers_agree(recorded: &str, simulated: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (parse(recorded), parse(simulated)) {
        (Some(r), Some(s)) => shown_agree(&r, &s, ""),
        _ => recorded == simulated,
    }
}

fn shown_agree(recorded: &Value, simulated: &Value, key: &str) -> bool {
    let changing = key.ends_with("Time") || key.ends_with("uid") || key.ends_with("clusterIP");
    match (recorded, simulated) {
        // Bookkeeping of the API server that decides nothing.
        _ if key.ends_with("managedFields") || key.ends_with("generation") => true,
        (Value::Null, s) => s.is_null(),
        (r, s) if changing => r.is_string() == s.is_string(),
        (Value::Object(r), Value::Object(s)) => {
            r.len() == s.len()
                && r.iter()
                    .all(|(k, v)| s.get(k).is_some_and(|w| shown_agree(v, w, k)))
        }
        (Value::Array(r), Value::Array(s)) => {
            r.len() == s.len() && r.iter().zip(s).all(|(v, w)| shown_agree(v, w, key))
        }
        (r, s) => r == s,
    }
}
