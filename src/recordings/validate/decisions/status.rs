//! Compares the final status of the JobSet.

use super::mask::VolatileMask;
use super::{compare_lists, condition_text};
use crate::validate::recording::{RecordedCondition, RecordedRun, RecordedStatus};
use crate::validate::result::RecordedDifference;
use serde_json::{Value, json};
use sim_engine::record::{JobSetOutcome, ReplicatedJobStatus};

pub fn compare(
    recording: &RecordedRun, jobset: &JobSetOutcome, mask: &VolatileMask, out: &mut Vec<RecordedDifference>,
) {
    let nothing = RecordedStatus::default();
    let status = recording.status.as_ref().unwrap_or(&nothing);
    let pairs = [
        ("status.terminalState", json!(status.terminal_state), json!(jobset.terminal_state)),
        ("status.restarts", json!(status.restarts), json!(jobset.restarts)),
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
            out.push(RecordedDifference::new(path, recorded, simulated));
        }
    }
    let recorded_text = |c: &RecordedCondition| {
        let message = mask.mask_names(&c.message);
        format!("{}={} {}: {message}", c.kind, c.status, c.reason)
    };
    let recorded: Vec<String> = status.conditions.iter().map(recorded_text).collect();
    let simulated: Vec<String> = jobset.conditions.iter().map(|c| condition_text(c, mask)).collect();
    compare_lists("status.conditions", &recorded, &simulated, out);
    compare_replicated_jobs(status, jobset, out);
}

/// Compares the rows in order: the API lists them by name in descending order (ST-5).
fn compare_replicated_jobs(status: &RecordedStatus, jobset: &JobSetOutcome, out: &mut Vec<RecordedDifference>) {
    let (recorded, simulated) = (&status.replicated_jobs_status, &jobset.replicated_jobs_status);
    for i in 0..recorded.len().max(simulated.len()) {
        let (r, s) = (recorded.get(i), simulated.get(i));
        if r != s {
            let path = format!("status.replicatedJobsStatus[{i}]");
            out.push(RecordedDifference::new(path, counts_json(r), counts_json(s)));
        }
    }
}

fn counts_json(status: Option<&ReplicatedJobStatus>) -> Value {
    let Some(s) = status else { return Value::Null };
    let mut value = json!({"name": s.name, "ready": s.ready, "succeeded": s.succeeded, "failed": s.failed,
        "active": s.active, "suspended": s.suspended});
    if !s.job_restarts.is_empty() {
        value["jobRestarts"] = json!(s.job_restarts);
    }
    if !s.job_restarts_count_towards_max.is_empty() {
        value["jobRestartsCountTowardsMax"] = json!(s.job_restarts_count_towards_max);
    }
    value
}
