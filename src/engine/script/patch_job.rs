//! Merge patches of Jobs and their status by a user, validated like batch/v1
//! (`pkg/apis/batch/validation/validation.go`).
//! Must never apply a part of a rejected patch; fields that the model does not have are rejected by name.

use super::finalizers::{check_labels, check_name, patched_finalizers};
use super::object_json::finalizers_of_job;
use super::patch_error::JobPatchError;
use super::request_error::ScriptRequestError;
use crate::{apiserver, ctx::EngineContext, record::JobConditionType, store::JobCondition};
use serde_json::Value;
use sim_api::admission::{error_list::ErrorList, field::FieldPath};
use sim_api::spec::{CompletionMode, JobSpec};
use sim_base::{JobId, SimTime};
use std::sync::Arc;

const METADATA_FIELDS: [&str; 4] = ["annotations", "finalizers", "labels", "name"];

pub(super) fn patch_job(
    ctx: &mut EngineContext<'_>, job: JobId, body: &Value, status: bool,
) -> Result<(), ScriptRequestError> {
    let patched = if status { "status" } else { "spec" };
    for (section, fields) in body.as_object().into_iter().flatten() {
        match section.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" if !status => check_known_fields("metadata", fields, &METADATA_FIELDS)?,
            name if name == patched => {}
            name => {
                let section = name.to_owned();
                return Err(JobPatchError::SectionNotPatchable { section }.into());
            }
        }
    }
    if status {
        return patch_job_status(ctx, job, &body["status"]);
    }
    let name = ctx.store.names.job(job);
    check_name(name, body)?;
    check_labels("Job.batch", name, body)?;
    let j = &ctx.store.jobs[job.ix()];
    let left = patched_finalizers(body, j.is_deleting(), &finalizers_of_job(j))?;
    let spec = &body["spec"];
    let suspend = match &spec["suspend"] {
        Value::Null => None,
        Value::Bool(suspend) => Some(*suspend),
        other => {
            let value = other.clone();
            return Err(JobPatchError::SuspendNotBoolean { value }.into());
        }
    };
    let own = ctx.store.job_spec(job);
    let new = patched_spec(own, spec).map_err(|cause| JobPatchError::InvalidSpec {
        job: ctx.store.names.job(job).to_owned(),
        cause: Box::new(cause),
    })?;
    if let Some(labels) = body["metadata"]["labels"].as_object() {
        let text = |v: &Value| v.as_str().map(str::to_owned);
        let labels = labels.iter().map(|(k, v)| (k.clone(), text(v)));
        apiserver::set_job_labels(ctx, job, labels.collect());
    }
    if let Some(suspend) = suspend {
        apiserver::set_suspended(ctx, job, suspend, None);
    }
    if let Some(new) = new {
        apiserver::set_job_spec(ctx, job, Arc::new(new));
    }
    if let Some(left) = left {
        apiserver::set_job_finalizers(ctx, job, left);
    }
    Ok(())
}

fn check_known_fields(section: &'static str, fields: &Value, legal: &[&str]) -> Result<(), JobPatchError> {
    let names = fields.as_object().into_iter().flatten();
    let mut unknown = names.map(|(name, _)| name).filter(|n| !legal.contains(&n.as_str()));
    unknown.next().map_or(Ok(()), |name| {
        let field = name.clone();
        Err(JobPatchError::UnsupportedField { section, field })
    })
}

/// Mutable fields of the spec; `suspend` is handled separately.
const MUTABLE_SPEC_FIELDS: [&str; 5] =
    ["activeDeadlineSeconds", "backoffLimit", "completions", "parallelism", "suspend"];

/// The spec after the patch, if the patch changes any field other than `suspend`.
fn patched_spec(own: &JobSpec, patch: &Value) -> Result<Option<JobSpec>, JobPatchError> {
    check_known_fields("spec", patch, &MUTABLE_SPEC_FIELDS)?;
    let says = |key: &str| patch.get(key).is_some();
    if !MUTABLE_SPEC_FIELDS[..4].iter().any(|key| says(key)) {
        return Ok(None);
    }
    let mut new = own.clone();
    if says("parallelism") {
        new.parallelism = Some(read_count(patch, "parallelism")?.unwrap_or(1));
    }
    if says("completions") {
        new.completions = read_count(patch, "completions")?;
    }
    if says("backoffLimit") {
        let limit = read_count(patch, "backoffLimit")?;
        new.backoff_limit = limit.and_then(|n| i32::try_from(n).ok());
    }
    if says("activeDeadlineSeconds") {
        let seconds = read_count(patch, "activeDeadlineSeconds")?;
        new.active_deadline_seconds = seconds.map(i64::from);
    }
    check_completions(own, &new)?;
    Ok(Some(new))
}

/// validateCompletions: only an Indexed Job may change its completions, and only together with its parallelism.
fn check_completions(own: &JobSpec, new: &JobSpec) -> Result<(), JobPatchError> {
    if new.completions == own.completions {
        return Ok(());
    }
    let completions = new.completions;
    match (own.completion_mode, completions) {
        (CompletionMode::NonIndexed, _) => Err(JobPatchError::CompletionsImmutable { completions }),
        (CompletionMode::Indexed, None) => Err(JobPatchError::CompletionsRequired),
        (CompletionMode::Indexed, some) if some != new.parallelism => {
            Err(JobPatchError::CompletionsNotInTandem { completions })
        }
        _ => Ok(()),
    }
}

/// Reads a non-negative int32.
fn read_count(spec: &Value, field: &'static str) -> Result<Option<u32>, JobPatchError> {
    match &spec[field] {
        Value::Null => Ok(None),
        value => {
            let number = value.as_i64().and_then(|n| i32::try_from(n).ok());
            let legal = number.and_then(|n| u32::try_from(n).ok());
            legal.map(Some).ok_or_else(|| JobPatchError::InvalidCount { field, value: value.clone() })
        }
    }
}

/// Conditions written by a client other than the Job controller, as in upstream's tests. What the server requires
/// beside a final condition (times, counters of pods, FailureTarget, SuccessCriteriaMet) counts as written too.
fn patch_job_status(ctx: &mut EngineContext<'_>, job: JobId, status: &Value) -> Result<(), ScriptRequestError> {
    check_known_fields("status", status, &["conditions"])?;
    let listed = status["conditions"].as_array().into_iter().flatten();
    let conditions: Result<Vec<JobCondition>, JobPatchError> = listed.map(|c| read_condition(c, ctx.now)).collect();
    let conditions = conditions?;
    let mut errors = ErrorList::default();
    check_conditions(&ctx.store.jobs[job.ix()].status.conditions, &conditions, &mut errors);
    errors.into_rejection("Job.batch", ctx.store.names.job(job))?;
    for condition in conditions {
        apiserver::set_job_condition(ctx, job, condition);
    }
    apiserver::set_job_status(ctx, job, |_| {});
    Ok(())
}

/// Checks that the conditions do not contradict each other and that a final one stays true (`validateJobStatus`,
/// `ValidateJobStatusUpdate`).
fn check_conditions(stored: &[JobCondition], written: &[JobCondition], errors: &mut ErrorList) {
    use JobConditionType::{Complete, Failed, FailureTarget, SuccessCriteriaMet};
    let was = |kind| stored.iter().any(|c| c.kind == kind && c.status);
    let is = |kind| written.iter().rfind(|c| c.kind == kind).map_or(was(kind), |c| c.status);
    let path = FieldPath::new("status.conditions");
    for (first, second, words) in [
        (Complete, Failed, "Complete=True and Failed=true"),
        (Complete, FailureTarget, "Complete=True and FailureTarget=true"),
        (SuccessCriteriaMet, Failed, "SuccessCriteriaMet=True and Failed=true"),
        (SuccessCriteriaMet, FailureTarget, "SuccessCriteriaMet=True and FailureTarget=true"),
    ] {
        if is(first) && is(second) {
            errors.invalid_omitted(&path, &format!("cannot set {words} conditions"));
        }
    }
    for kind in [Failed, Complete, FailureTarget] {
        if was(kind) && !is(kind) {
            let kind = kind.as_str();
            errors.invalid_omitted(&path, &format!("cannot disable the terminal {kind}=True condition"));
        }
    }
    if was(SuccessCriteriaMet) && !is(SuccessCriteriaMet) {
        errors.invalid_omitted(&path, "cannot disable the SuccessCriteriaMet=True condition");
    }
}

fn read_condition(json: &Value, now: SimTime) -> Result<JobCondition, JobPatchError> {
    let text = |key: &str| json[key].as_str().unwrap_or("").to_owned();
    let kinds = [
        JobConditionType::FailureTarget,
        JobConditionType::SuccessCriteriaMet,
        JobConditionType::Failed,
        JobConditionType::Complete,
        JobConditionType::Suspended,
    ];
    let mut kinds = kinds.into_iter();
    let kind = kinds.find(|k| k.as_str() == text("type"));
    Ok(JobCondition {
        kind: kind.ok_or_else(|| JobPatchError::UnsupportedCondition { condition: json["type"].clone() })?,
        status: text("status") == "True",
        reason: text("reason").into(),
        message: text("message"),
        at: now,
    })
}

#[cfg(test)]
#[path = "../../../tests/inside/engine/user/patch_job.rs"]
mod tests;
