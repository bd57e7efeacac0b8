//! Admission of a Job's pods: the Priority plugin, JobSet's label and the validation of pods, whichever client
//! creates them.
//!
//! Must never consider leaders and followers: these belong to the pod webhook.

use crate::{ctx::EngineContext, requests::RequestAnswer};
use serde_json::Value;
use sim_api::admission::{AdmissionRejection, GENERATED_SUFFIX};
use sim_api::objects;
use sim_api::objects::{JobSlot, ObjectContext};
use sim_api::spec::{ObjectKind, PodGroupScheduling};
use sim_base::JobId;
use std::sync::Arc;

/// The Job as the manager would post it now, or as another client posted it; `null` if objects are not kept.
pub fn job_object(ctx: &EngineContext<'_>, job: JobId) -> Value {
    let j = &ctx.store.jobs[job.ix()];
    if let Some(object) = &j.object {
        return (**object).clone();
    }
    let owner = ctx.store.jobsets.get(j.jobset.ix());
    let Some(jobset) = owner.and_then(|js| js.spec.object.as_ref()) else {
        return Value::Null;
    };
    objects::job_of_slot(&JobSlot {
        jobset,
        replicated_job: j.rj as usize,
        index: j.index,
        restarts: j.restart_attempt,
        job_restarts: ctx.gates.restart_job.then_some(j.job_restart_attempt),
        global_indexes: None,
    })
}

/// Returns the pod with this index as it would be stored, or the server's rejection.
fn admit(ctx: &EngineContext<'_>, job: &Value, index: u32) -> Result<Value, AdmissionRejection> {
    let stored = objects::admit_job(job)?;
    let indexed = stored["spec"]["completionMode"] == "Indexed";
    let pod = objects::pod_of_index(&stored, indexed.then_some(index));
    let (priority_classes, runtime_classes) = known_classes(ctx, &pod["spec"]);
    let around = ObjectContext {
        priority_classes: &priority_classes,
        runtime_classes: &runtime_classes,
        service_accounts: &ctx.scenario.service_accounts,
        ..ObjectContext::default()
    };
    objects::stored_pod(&pod, GENERATED_SUFFIX, &around)
}

/// The existing PriorityClasses, the names of RuntimeClasses, and those of the pod that are not declared. If any
/// PriorityClass is declared, there are no others.
pub fn known_classes(ctx: &EngineContext<'_>, spec: &Value) -> (Vec<Value>, Vec<String>) {
    let classes = ctx.store.others.objects_of_kind(ObjectKind::PriorityClass);
    let declared = classes.map(|(_, _, class)| class.object.clone()).collect();
    let requires_listed = ctx.scenario.requires_listed_classes;
    let classes = objects::existing_priority_classes(spec, declared, requires_listed);
    let runtime = spec["runtimeClassName"].as_str().filter(|_| !requires_listed).map(str::to_owned);
    (classes, runtime.into_iter().collect())
}

/// Sets the priority of a new PodGroup, as the admission plugin Priority does with workload-aware preemption.
pub(super) fn set_group_priority(ctx: &EngineContext<'_>, group: &mut Value) {
    if ctx.scenario.control_plane.feature_gates.pod_groups == PodGroupScheduling::Off {
        return;
    }
    let (classes, _) = known_classes(ctx, &group["spec"]);
    let Some((class, value)) = objects::priority_of(&group["spec"], &classes) else { return };
    group["spec"]["priority"] = value.into();
    if !class.is_empty() {
        group["spec"]["priorityClassName"] = class.into();
    }
}

/// The priority of the Job's pods; `None` if they are rejected.
pub(super) fn pod_priority(ctx: &EngineContext<'_>, job: &Value) -> Option<i32> {
    let pod = admit(ctx, job, 0).ok()?;
    i32::try_from(pod["spec"]["priority"].as_i64()?).ok()
}

/// HTTP status and message with which this pod is rejected, if every pod of its template is.
pub fn pod_rejection(ctx: &EngineContext<'_>, job: JobId, index: u32) -> Option<(u16, String)> {
    let template = ctx.store.jobs[job.ix()].template;
    if !ctx.store.templates.get(template).rejected {
        return None;
    }
    let refusal = admit(ctx, &job_object(ctx, job), index).err()?;
    Some((refusal.code, refusal.message))
}

/// Returns the rejection at a POST; cached until one of its inputs changes.
pub fn post_rejection(ctx: &mut EngineContext<'_>, job: JobId, index: u32) -> Option<(RequestAnswer, String)> {
    let j = &ctx.store.jobs[job.ix()];
    if !ctx.store.templates.get(j.template).rejected {
        return None;
    }
    let owner = ctx.store.jobsets.get(j.jobset.ix());
    let from = owner.and_then(|js| js.spec.object.clone());
    let request = (j.incarnation, j.version, ctx.store.others.changes);
    let known = &j.refusals;
    let same = match (&known.jobset, &from) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let answer = match known.responses.get(&index) {
        Some(answer) if same && known.input_versions == request => answer.clone(),
        _ => {
            let answer = pod_rejection(ctx, job, index);
            let known = &mut ctx.store.get_mut().jobs[job.ix()].refusals;
            if !same || known.input_versions != request {
                known.responses.clear();
            }
            (known.input_versions, known.jobset) = (request, from);
            known.responses.insert(index, answer.clone());
            answer
        }
    };
    let (code, message) = answer?;
    let answer = match code {
        403 => RequestAnswer::Forbidden,
        _ => RequestAnswer::Invalid,
    };
    Some((answer, message))
}
