//! PATCH of jobsets/status by a client other than the manager: validated by the API server's rules, then stored (C-37).
//!
//! The manager's next write replaces it; fields that the model does not have are rejected by name.

use super::object_json::jobset_status_json;
use super::patch_error::StatusPatchError;
use super::request_error::ScriptRequestError;
use super::webhooks::admission_gates;
use crate::{apiserver, ctx::EngineContext, record::JobSetConditionType};
use serde_json::Value;
use sim_api::admission::{AdmissionChange, ChangeRequest, FieldValidation, change};
use sim_base::{JobId, JobSetId, calendar};
use sim_policy::{JobSetStatus, PodCondition, RjStatus, TerminalState};

pub(super) fn patch_jobset_status(
    ctx: &mut EngineContext<'_>, jobset: JobSetId, body: &Value,
) -> Result<(), ScriptRequestError> {
    let row = &ctx.store.jobsets[jobset.ix()];
    let Some(stored) = row.spec.object.clone() else {
        return Err(ScriptRequestError::ObjectMissing);
    };
    let mut old = (*stored).clone();
    let status = jobset_status_json(ctx, jobset);
    if !status.is_null() {
        old["status"] = status;
    }
    let request = ChangeRequest {
        stored: &old,
        change: AdmissionChange::Status(body),
        gates: admission_gates(ctx),
        field_validation: FieldValidation::Strict,
    };
    let new = change(&request).result?;
    let mut status = read_status(ctx, jobset, &old["status"], &new["status"])?;
    apiserver::set_jobset_status(ctx, jobset, &mut status, JobId::NONE);
    Ok(())
}

/// Reads the status `new`; unchanged fields keep the stored value of `old`, because JSON has whole seconds only.
fn read_status(
    ctx: &EngineContext<'_>, jobset: JobSetId, old: &Value, new: &Value,
) -> Result<JobSetStatus, StatusPatchError> {
    let stored = &ctx.store.jobsets[jobset.ix()];
    let attempt = |key: &str| match &new[key] {
        Value::Null => Ok(None),
        _ => read_count(&format!("status.{key}"), &new[key]).map(Some),
    };
    Ok(JobSetStatus {
        restarts: read_count("status.restarts", &new["restarts"])?,
        restarts_count_towards_max: read_count("status.restartsCountTowardsMax", &new["restartsCountTowardsMax"])?,
        terminal_state: read_terminal_state(&new["terminalState"])?,
        conditions: read_conditions(&stored.status.conditions, old, new)?,
        replicated_jobs: if old["replicatedJobsStatus"] == new["replicatedJobsStatus"] {
            stored.status.replicated_jobs.clone()
        } else {
            let rjs = stored.spec.spec.replicated_jobs.iter();
            let names: Vec<&str> = rjs.map(|rj| rj.name.as_str()).collect();
            read_replicated_jobs(&names, &new["replicatedJobsStatus"])?
        },
        current_in_place_restart_attempt: attempt("currentInPlaceRestartAttempt")?,
        previous_in_place_restart_attempt: attempt("previousInPlaceRestartAttempt")?,
    })
}

fn unsupported_value(path: &str, value: &Value) -> StatusPatchError {
    StatusPatchError::UnsupportedValue { path: path.to_owned(), value: value.clone() }
}

/// Reads an int32, already validated by the schema, that the model stores as a count.
fn read_count(path: &str, value: &Value) -> Result<u32, StatusPatchError> {
    match value {
        Value::Null => Ok(0),
        _ => {
            let count = value.as_i64().and_then(|n| u32::try_from(n).ok());
            count.ok_or_else(|| unsupported_value(path, value))
        }
    }
}

fn read_terminal_state(value: &Value) -> Result<Option<TerminalState>, StatusPatchError> {
    match value.as_str().unwrap_or("") {
        "" => Ok(None),
        "Completed" => Ok(Some(TerminalState::Completed)),
        "Failed" => Ok(Some(TerminalState::Failed)),
        _ => Err(unsupported_value("status.terminalState", value)),
    }
}

fn read_conditions(stored: &[PodCondition], old: &Value, new: &Value) -> Result<Vec<PodCondition>, StatusPatchError> {
    let before = old["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let after = new["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let unchanged = |json: &Value| {
        let at = before.iter().position(|b| b == json)?;
        stored.get(at).cloned()
    };
    let each = after.iter().enumerate();
    each.map(|(at, json)| unchanged(json).map_or_else(|| read_condition(at, json), Ok)).collect()
}

fn read_condition(at: usize, json: &Value) -> Result<PodCondition, StatusPatchError> {
    let refuse = |key: &str| unsupported_value(&format!("status.conditions[{at}].{key}"), &json[key]);
    let text = |key: &str| json[key].as_str().unwrap_or("");
    let mut kinds = JobSetConditionType::ALL.into_iter();
    let kind = kinds.find(|k| k.as_str() == text("type"));
    let (reason, reason_suffix) = match text("reason").split_once('_') {
        Some(("FailurePolicy", rule)) => ("FailurePolicy_", rule),
        _ => (text("reason"), ""),
    };
    Ok(PodCondition {
        kind: kind.ok_or_else(|| refuse("type"))?,
        status: match text("status") {
            "True" => true,
            "False" => false,
            _ => return Err(refuse("status")),
        },
        reason: reason.to_owned().into(),
        reason_suffix: reason_suffix.to_owned(),
        message: text("message").to_owned(),
        last_transition: calendar::parse_time(text("lastTransitionTime"))
            .ok_or_else(|| refuse("lastTransitionTime"))?,
    })
}

/// Some clients write only some of the replicatedJobs.
fn read_replicated_jobs(names: &[&str], json: &Value) -> Result<Vec<RjStatus>, StatusPatchError> {
    let list = json.as_array().map_or(&[][..], Vec::as_slice);
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let is_known = |s: &&Value| names.iter().any(|name| s["name"] == **name);
    if let Some(unknown) = list.iter().find(|s| !is_known(s)) {
        return Err(unsupported_value("status.replicatedJobsStatus[].name", &unknown["name"]));
    }
    let own = |name: &&str| list.iter().find(|s| s["name"] == **name);
    let absent = || RjStatus { absent: true, ..RjStatus::default() };
    let entries = names.iter().map(own);
    entries.map(|entry| entry.map_or_else(|| Ok(absent()), read_replicated_job)).collect()
}

fn read_replicated_job(json: &Value) -> Result<RjStatus, StatusPatchError> {
    let path = |key: &str| format!("status.replicatedJobsStatus[].{key}");
    let number = |key: &str| read_count(&path(key), &json[key]);
    let list = |key: &str| -> Result<Vec<u32>, StatusPatchError> {
        let items = json[key].as_array().into_iter().flatten();
        items.map(|n| read_count(&path(key), n)).collect()
    };
    Ok(RjStatus {
        absent: false,
        ready: number("ready")?,
        succeeded: number("succeeded")?,
        failed: number("failed")?,
        active: number("active")?,
        suspended: number("suspended")?,
        job_restarts: list("jobRestarts")?,
        job_restarts_count_towards_max: list("jobRestartsCountTowardsMax")?,
    })
}

#[cfg(test)]
#[path = "../../../tests/inside/engine/script/patch_status.rs"]
mod tests;
