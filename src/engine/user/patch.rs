//! Merge patches of JobSets, Jobs, pods and objects that are stored whole.

use super::requests::{Found, admission_gates};
use super::{User, show};
use crate::admission;
use crate::base::*;
use crate::engine::apiserver;
use crate::engine::ctx::Ctx;
use crate::record::JobConditionType;
use crate::spec::keys::IN_PLACE_RESTART_ATTEMPT;
use crate::spec::*;
use crate::store::{BAD_ATTEMPT, JobCondition, NO_ATTEMPT, flag};
use serde_json::Value;

impl User {
    pub(super) fn patch(
        &mut self,
        ctx: &mut Ctx<'_>,
        object: Found,
        body: &Value,
        status: bool,
    ) -> Result<(), String> {
        match object {
            Found::JobSet(jobset) if status => patch_jobset_status(ctx, jobset, &body["status"]),
            Found::JobSet(jobset) => patch_jobset(ctx, jobset, body),
            Found::Job(job) => patch_job(ctx, job, body),
            Found::Pod(pod) => patch_pod(ctx, pod, body),
            Found::Node(node) => super::patch_node::patch_node(ctx, node, body),
            Found::Other(kind, namespace, name) => {
                let at = (namespace.as_str(), name.as_str());
                let stored = ctx.store.others.get(kind, at.0, at.1);
                let mut object = stored.map_or(Value::Null, |o| o.object.clone());
                admission::merge_patch(&mut object, body);
                apiserver::change_other(ctx, kind, at, object);
                Ok(())
            }
        }
    }
}

/// A merge patch of a JobSet through the update webhook (UPD-1…UPD-7, ELA-1).
fn patch_jobset(ctx: &mut Ctx<'_>, jobset: JobSetId, body: &Value) -> Result<(), String> {
    let row = &ctx.store.jobsets[jobset.ix()];
    let Some(stored) = row.spec.object.clone() else {
        return Err("the JobSet was given without its object".to_owned());
    };
    let mut old = (*stored).clone();
    old["status"] = show::jobset_status_json(ctx, jobset);
    let mut new = old.clone();
    admission::merge_patch(&mut new, body);
    let mut accepted =
        admission::update(&old, &new, admission_gates(ctx)).map_err(|r| r.message)?;
    if let Some(fields) = accepted.as_object_mut() {
        fields.remove("status");
    }
    let spec = (ctx.scenario.decode.jobset)(&accepted)?;
    let slots = |s: &JobSet| -> Vec<(String, u32)> {
        let rjs = s.spec.replicated_jobs.iter();
        rjs.map(|r| (r.name.clone(), r.replicas)).collect()
    };
    // UPD-1: admission has refused this already; the manager's slots depend on it.
    if slots(&spec) != slots(&ctx.store.jobsets[jobset.ix()].spec) {
        return Err("spec.replicatedJobs: field is immutable".to_owned());
    }
    apiserver::set_jobset_spec(ctx, jobset, spec);
    Ok(())
}

/// A field of the status that is an int32 in the API.
fn int32(status: &Value, key: &str) -> Result<Option<u32>, String> {
    match &status[key] {
        Value::Null => Ok(None),
        value => match value.as_i64().map(i32::try_from) {
            Some(Ok(n)) => Ok(Some(n.max(0) as u32)),
            _ => Err(format!(
                "status.{key}: Invalid value: {value}: must be an int32"
            )),
        },
    }
}

/// Counters written by somebody else (C-37).
fn patch_jobset_status(ctx: &mut Ctx<'_>, jobset: JobSetId, body: &Value) -> Result<(), String> {
    let mut status = ctx.store.jobsets[jobset.ix()].status.clone();
    if let Some(n) = int32(body, "restarts")? {
        status.restarts = n;
    }
    if let Some(n) = int32(body, "restartsCountTowardsMax")? {
        status.restarts_count_towards_max = n;
    }
    let current = int32(body, "currentInPlaceRestartAttempt")?;
    let previous = int32(body, "previousInPlaceRestartAttempt")?;
    let (c, p) = (
        &mut status.current_in_place_restart_attempt,
        &mut status.previous_in_place_restart_attempt,
    );
    (*c, *p) = (current.or(*c), previous.or(*p));
    apiserver::set_jobset_status(ctx, jobset, &mut status, JobId::NONE);
    Ok(())
}

fn patch_job(ctx: &mut Ctx<'_>, job: JobId, body: &Value) -> Result<(), String> {
    let spec = &body["spec"];
    let sizes = (size(spec, "parallelism")?, size(spec, "completions")?);
    let j = &ctx.store.jobs[job.ix()];
    let held = finalizers(body, j.deleting, j.held)?;
    if let Some(labels) = body["metadata"]["labels"].as_object() {
        let text = |v: &Value| v.as_str().map(str::to_owned);
        let labels = labels.iter().map(|(k, v)| (k.clone(), text(v)));
        apiserver::set_job_labels(ctx, job, labels.collect());
    }
    if let Some(suspend) = spec["suspend"].as_bool() {
        apiserver::set_suspended(ctx, job, suspend, None);
    }
    if sizes != (None, None) {
        let own = ctx.store.job_spec(job);
        let parallelism = sizes.0.or(own.parallelism);
        let completions = sizes.1.or(own.completions);
        apiserver::scale_job(ctx, job, parallelism, completions);
    }
    if let Some(conditions) = body["status"]["conditions"].as_array() {
        force_job_conditions(ctx, job, conditions);
    }
    if let Some(held) = held {
        apiserver::set_job_held(ctx, job, held);
    }
    Ok(())
}

/// Whether somebody's finalizers are to keep the object; `None` if the patch does not say.
///
/// `k8s.io/apimachinery`, ValidateNoNewFinalizers: an object that is being deleted gets none.
fn finalizers(body: &Value, deleting: bool, held: bool) -> Result<Option<bool>, String> {
    let Some(finalizers) = body["metadata"].get("finalizers") else {
        return Ok(None);
    };
    let wanted = finalizers.as_array().map_or(&[][..], Vec::as_slice);
    if deleting && !held && !wanted.is_empty() {
        let names: Vec<String> = wanted.iter().map(Value::to_string).collect();
        return Err(format!(
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found \
             new finalizers []string{{{}}}",
            names.join(", ")
        ));
    }
    Ok(Some(!wanted.is_empty()))
}

/// parallelism or completions of a patch, judged as batch/v1 does.
fn size(spec: &Value, key: &str) -> Result<Option<u32>, String> {
    match spec.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_i64().and_then(|n| i32::try_from(n).ok());
            let legal = number.and_then(|n| u32::try_from(n).ok());
            let why = "must be greater than or equal to 0";
            let refusal = || format!("spec.{key}: Invalid value: {value}: {why}");
            legal.map(Some).ok_or_else(refusal)
        }
    }
}

fn patch_pod(ctx: &mut Ctx<'_>, pod: PodId, body: &Value) -> Result<(), String> {
    let p = &ctx.store.pods;
    let held = finalizers(body, p.has(pod, flag::DELETING), p.has(pod, flag::HELD))?;
    if let Some(value) = body["metadata"]["annotations"].get(IN_PLACE_RESTART_ATTEMPT) {
        let text = value.as_str().unwrap_or("");
        let attempt = match text.parse::<u32>() {
            _ if value.is_null() => NO_ATTEMPT,
            Ok(n) if n < BAD_ATTEMPT => n,
            _ => BAD_ATTEMPT,
        };
        apiserver::set_attempt(ctx, pod, attempt);
    }
    if let Some(gates) = body["spec"].get("schedulingGates") {
        // Gates can only be taken off.
        if gates.is_null() || gates.as_array().is_some_and(Vec::is_empty) {
            apiserver::set_pod_flag(ctx, pod, flag::GATED, false);
        }
    }
    match held {
        Some(held) => apiserver::set_pod_flag(ctx, pod, flag::HELD, held),
        None => apiserver::touch_pod(ctx, pod),
    }
    Ok(())
}

/// Conditions written by somebody else than the Job controller, as upstream's tests do.
fn force_job_conditions(ctx: &mut Ctx<'_>, job: JobId, conditions: &[Value]) {
    for condition in conditions {
        let text = |key: &str| condition[key].as_str().unwrap_or("").to_owned();
        let kinds = [
            JobConditionType::FailureTarget,
            JobConditionType::SuccessCriteriaMet,
            JobConditionType::Failed,
            JobConditionType::Complete,
            JobConditionType::Suspended,
        ];
        let Some(kind) = kinds.into_iter().find(|k| k.as_str() == text("type")) else {
            continue;
        };
        let condition = JobCondition {
            kind,
            status: text("status") == "True",
            reason: text("reason").into(),
            message: text("message"),
            at: ctx.now,
        };
        apiserver::set_job_condition(ctx, job, condition);
    }
    apiserver::set_job_status(ctx, job, |_| {});
}
