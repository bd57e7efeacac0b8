//! API requests of a user: patch, create, delete and get, each with the server's response.
//!
//! Must never change anything else; controllers react when their caches show the change.

use super::lookup::{LookupResult, find_object};
use super::object_json;
use super::request_error::ScriptRequestError;
use super::state::ScriptRunner;
use crate::record::{Body, DeletionActor, TicketSubject, TicketWait};
use crate::{apiserver, ctx::EngineContext, kubelet::KubeletState};
use serde_json::Value;
use sim_api::spec::{DeletionPropagation, ObjectName, RequestVerb, UserRequest};
use sim_base::{JobSetId, NodeId, PodId};

impl ScriptRunner {
    pub(super) fn request(
        &mut self, ctx: &mut EngineContext<'_>, index: u32, request: &UserRequest, kubelets: &KubeletState,
    ) {
        let (node, pod) = deletion_target(ctx, request);
        ctx.emit(Body::Fault { index, node, pod });
        let answer = match self.execute(ctx, request, kubelets) {
            Ok(json) => json,
            Err(refusal) => refusal.to_string(),
        };
        let answer = ctx.intern(&answer);
        ctx.emit(Body::Answered { index, answer });
    }

    fn execute(
        &mut self, ctx: &mut EngineContext<'_>, request: &UserRequest, kubelets: &KubeletState,
    ) -> Result<String, ScriptRequestError> {
        let name = &request.object;
        if let RequestVerb::Create { object, jobset } = &request.verb {
            let created = self.create(ctx, object, jobset.map(JobSetId));
            if let (Err(refusal), Some(id)) = (&created, jobset) {
                note_not_created(ctx, JobSetId(*id), refusal);
            }
            return created.map(|()| String::new());
        }
        let object = find_object(ctx, name)
            .ok_or_else(|| ScriptRequestError::NotFound { kind: name.kind, name: name.name.clone() })?;
        match &request.verb {
            RequestVerb::Patch { body, status } => {
                check_preconditions(ctx, name, body)?;
                self.patch(ctx, object, body, *status)?;
            }
            RequestVerb::Delete { propagation, grace_s } => delete(ctx, object, (*propagation, *grace_s), kubelets),
            RequestVerb::Show { fields } => {
                return Ok(object_json::field_values(ctx, &object, fields, kubelets));
            }
            RequestVerb::Create { .. } => {}
        }
        Ok(String::new())
    }
}

pub(super) fn note_not_created(ctx: &mut EngineContext<'_>, jobset: JobSetId, refusal: &ScriptRequestError) {
    let name = &ctx.store.names.jobsets[jobset.ix()].name;
    let text = format!("JobSet {name} was not created: {refusal}");
    ctx.progress.warnings.push(text);
}

/// The Node or pod to be deleted, as named by `deleteNode` or `deletePod`.
fn deletion_target(ctx: &EngineContext<'_>, request: &UserRequest) -> (NodeId, PodId) {
    let nobody = (NodeId::NONE, PodId::NONE);
    let RequestVerb::Delete { .. } = request.verb else {
        return nobody;
    };
    match find_object(ctx, &request.object) {
        Some(LookupResult::Node(node)) => (node, PodId::NONE),
        Some(LookupResult::Pod(pod)) => (ctx.store.pods.node[pod.ix()], pod),
        _ => nobody,
    }
}

fn delete(
    ctx: &mut EngineContext<'_>, object: LookupResult, (propagation, grace_s): (DeletionPropagation, Option<u32>),
    kubelets: &KubeletState,
) {
    match object {
        LookupResult::JobSet(jobset) => apiserver::delete_jobset(ctx, jobset, propagation),
        LookupResult::Job(job) => match propagation {
            DeletionPropagation::Foreground => apiserver::delete_job(ctx, job),
            DeletionPropagation::Background => apiserver::remove_job(ctx, job),
            DeletionPropagation::Orphan => apiserver::orphan_pods(ctx, job),
        },
        LookupResult::Pod(pod) => delete_pod(ctx, pod, grace_s, kubelets),
        LookupResult::Node(node) => apiserver::delete_node(ctx, node),
        LookupResult::Other(kind, namespace, name) => {
            apiserver::delete_other(ctx, kind, (&namespace, &name));
        }
    }
}

/// Deletes a pod with this grace period, or its own. With force, a pod on an unresponsive node is removed immediately.
pub(super) fn delete_pod(ctx: &mut EngineContext<'_>, pod: PodId, grace_s: Option<u32>, kubelets: &KubeletState) {
    let own = ctx.store.pod_spec(pod).termination_grace_period_s;
    let by_force = grace_s.unwrap_or(own) == 0;
    let before = ctx.mark();
    if let Some(since) = kubelets.waiting_since(pod).filter(|_| by_force) {
        ctx.end_wait(since, TicketWait::SilentNode, TicketSubject::Pod(pod));
    }
    apiserver::mark_deleting(ctx, pod, DeletionActor::User, by_force);
    ctx.restore_mark(before);
}

/// Checks that a patch names no other version of the object. The versions of the simulated objects are not modelled: a
/// user who writes a scenario cannot know the present one.
fn check_preconditions(ctx: &EngineContext<'_>, object: &ObjectName, body: &Value) -> Result<(), ScriptRequestError> {
    let given = |key: &str| body["metadata"][key].as_str().filter(|value| !value.is_empty());
    if given("resourceVersion").is_some() {
        return Err(ScriptRequestError::Conflict { kind: object.kind, name: object.name.clone() });
    }
    let own = match find_object(ctx, object) {
        Some(LookupResult::JobSet(jobset)) => ctx.store.jobsets[jobset.ix()].spec.object.as_deref(),
        Some(LookupResult::Other(kind, namespace, name)) => {
            ctx.store.others.get(kind, &namespace, &name).map(|stored| &stored.object)
        }
        _ => return Ok(()),
    };
    let own = own.and_then(|own| own["metadata"]["uid"].as_str());
    match given("uid").filter(|uid| own != Some(*uid)) {
        None => Ok(()),
        Some(uid) => {
            Err(ScriptRequestError::UidImmutable { kind: object.kind, name: object.name.clone(), uid: uid.to_owned() })
        }
    }
}
