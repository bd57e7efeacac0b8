//! Merge patches of JobSets, pods and objects that are stored whole.

use super::patch_job::patch_job;
use super::patch_status::patch_jobset_status;
use super::requests::{Found, UPDATES, admission_gates, webhook_answers};
use super::{User, show};
use crate::admission;
use crate::base::*;
use crate::engine::apiserver;
use crate::engine::ctx::Ctx;
use crate::spec::keys::IN_PLACE_RESTART_ATTEMPT;
use crate::spec::*;
use crate::store::{BAD_ATTEMPT, NO_ATTEMPT, flag};
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
            Found::JobSet(jobset) if status => patch_jobset_status(ctx, jobset, body),
            Found::JobSet(jobset) => patch_jobset(ctx, jobset, body),
            Found::Job(job) => patch_job(ctx, job, body, status),
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
    webhook_answers(ctx, UPDATES)?;
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

/// Whether somebody's finalizers are to keep the object; `None` if the patch does not say.
///
/// `k8s.io/apimachinery`, ValidateNoNewFinalizers: an object that is being deleted gets none.
pub(super) fn finalizers(body: &Value, deleting: bool, held: bool) -> Result<Option<bool>, String> {
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
