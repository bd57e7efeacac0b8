//! Merge patches of JobSets and of objects that are stored as documents.

use super::finalizers::{finalizer_names, patched_finalizers};
use super::lookup::LookupResult;
use super::object_json;
use super::patch_job::patch_job;
use super::patch_pod::patch_pod;
use super::patch_status::patch_jobset_status;
use super::request_error::ScriptRequestError;
use super::state::ScriptRunner;
use super::webhooks::{UPDATE_WEBHOOK, admission_gates, check_webhook_available, kueue_update_refusal};
use crate::{apiserver, ctx::EngineContext};
use serde_json::Value;
use sim_api::admission::error_list::ErrorList;
use sim_api::admission::field::FieldPath;
use sim_api::admission::{self, AdmissionRejection};
use sim_api::objects::{ObjectContext, admit_any};
use sim_api::spec::keys::FOREGROUND_DELETION;
use sim_api::spec::{JobSet, ObjectKind};
use sim_base::JobSetId;

impl ScriptRunner {
    pub(super) fn patch(
        &mut self, ctx: &mut EngineContext<'_>, object: LookupResult, body: &Value, status: bool,
    ) -> Result<(), ScriptRequestError> {
        match object {
            LookupResult::JobSet(jobset) if status => patch_jobset_status(ctx, jobset, body),
            LookupResult::JobSet(jobset) => patch_jobset(ctx, jobset, body),
            LookupResult::Job(job) => patch_job(ctx, job, body, status),
            LookupResult::Pod(pod) => patch_pod(ctx, pod, body, status),
            LookupResult::Node(node) => super::patch_node::patch_node(ctx, node, body),
            LookupResult::Other(kind, namespace, name) => {
                let at = (namespace.as_str(), name.as_str());
                let stored = ctx.store.others.get(kind, at.0, at.1);
                let mut object = stored.map_or(Value::Null, |o| o.object.clone());
                let deleting = !object["metadata"]["deletionTimestamp"].is_null();
                patched_finalizers(body, deleting, &finalizer_names(&object["metadata"]["finalizers"]))?;
                let before = object.clone();
                admission::merge_patch(&mut object, body);
                check_update(kind, &before, &object)?;
                apiserver::change_other(ctx, kind, at, object);
                Ok(())
            }
        }
    }
}

/// Validates a changed object like a new one, for the kinds that are validated when they are created. The value and the
/// policy of a PriorityClass are immutable (`ValidatePriorityClassUpdate`), and so is the spec of a PodGroup
/// (`ValidatePodGroupUpdate` and the markers of its type).
fn check_update(kind: ObjectKind, before: &Value, after: &Value) -> Result<(), AdmissionRejection> {
    let name = after["metadata"]["name"].as_str().unwrap_or("");
    let mut errors = ErrorList::default();
    match kind {
        ObjectKind::PodDisruptionBudget => admit_any(after, &ObjectContext::default()).map(drop),
        ObjectKind::PodGroup => {
            admit_any(after, &ObjectContext::default())?;
            for field in ["podGroupTemplateRef", "schedulingPolicy", "schedulingConstraints"] {
                let (old, new) = (&before["spec"][field], &after["spec"][field]);
                if old != new {
                    errors.invalid(&FieldPath::new("spec").child(field), new, "field is immutable");
                }
            }
            errors.into_rejection(kind.as_str(), name)
        }
        ObjectKind::PriorityClass => {
            for field in ["value", "preemptionPolicy"] {
                if before[field] != after[field] {
                    errors.forbidden(&FieldPath::new(field), "may not be changed in an update.");
                }
            }
            errors.into_rejection(kind.as_str(), name)
        }
        _ => Ok(()),
    }
}

/// A merge patch of a JobSet through the update webhook (UPD-1…UPD-7, ELA-1).
fn patch_jobset(ctx: &mut EngineContext<'_>, jobset: JobSetId, body: &Value) -> Result<(), ScriptRequestError> {
    check_webhook_available(ctx, UPDATE_WEBHOOK)?;
    let row = &ctx.store.jobsets[jobset.ix()];
    let Some(stored) = row.spec.object.clone() else {
        return Err(ScriptRequestError::ObjectMissing);
    };
    let (deleting, has) = (row.is_deleting(), object_json::finalizers_of_jobset(row));
    let left = patched_finalizers(body, deleting, &has)?;
    let mut old = (*stored).clone();
    old["status"] = object_json::jobset_status_json(ctx, jobset);
    let mut new = old.clone();
    admission::merge_patch(&mut new, body);
    let mut accepted = admission::update(&old, &new, admission_gates(ctx))?;
    if let Some(fields) = accepted.as_object_mut() {
        fields.remove("status");
    }
    let spec = (ctx.scenario.decoders.jobset)(&accepted);
    let mut spec = spec.map_err(ScriptRequestError::cannot_decode)?;
    spec.finalizers.retain(|name| name != FOREGROUND_DELETION);
    if let Some(refusal) = kueue_update_refusal(ctx, jobset, &spec) {
        return Err(refusal.into());
    }
    let slots = |s: &JobSet| -> Vec<(String, u32)> {
        let rjs = s.spec.replicated_jobs.iter();
        rjs.map(|r| (r.name.clone(), r.replicas)).collect()
    };
    // UPD-1: admission has already rejected this; the manager's slots depend on it.
    if slots(&spec) != slots(&ctx.store.jobsets[jobset.ix()].spec) {
        return Err(ScriptRequestError::ReplicatedJobsImmutable);
    }
    apiserver::set_jobset_spec(ctx, jobset, spec);
    if left.is_some_and(|left| left.iter().all(|name| name != FOREGROUND_DELETION)) {
        apiserver::remove_deletion_finalizer(ctx, jobset);
    }
    Ok(())
}
