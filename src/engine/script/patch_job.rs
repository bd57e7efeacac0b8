//! Merge patches of Jobs and their status by a user, validated like batch/v1
//! (`pkg/apis/batch/validation/validation.go`).
//! Must never apply a part of a rejected patch; fields that the model does not have are rejected by name.

use super::finalizers::{check_labels, check_name, patched_finalizers};
use super::object_json::finalizers_of_job;
use super::patch_error::JobPatchError;
use super::request_error::ScriptRequestError;
use crate::{apiserver, ctx::EngineContext, record::JobConditionType, store::JobCondition};
use serde_json::Value;
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
        return Ok(patch_job_status(ctx, job, &body["status"])?);
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

/// Conditions written by a client other than the Job controller, as in upstream's tests.
fn patch_job_status(ctx: &mut EngineContext<'_>, job: JobId, status: &Value) -> Result<(), JobPatchError> {
    check_known_fields("status", status, &["conditions"])?;
    let listed = status["conditions"].as_array().into_iter().flatten();
    let conditions: Result<Vec<JobCondition>, JobPatchError> = listed.map(|c| read_condition(c, ctx.now)).collect();
    for condition in conditions? {
        apiserver::set_job_condition(ctx, job, condition);
    }
    apiserver::set_job_status(ctx, job, |_| {});
    Ok(())
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
