//! API requests of a user: patch, create, delete and get, each with the server's response.
//!
//! Must never change anything else; controllers react when their caches show the change.

use super::lookup::{Found, find, not_found};
use super::show;
use super::state::User;
use crate::apiserver;
use crate::ctx::Ctx;
use crate::kubelet::Kubelets;
use crate::record::{About, Body, Deleter, Waited};
use sim_api::spec::*;
use sim_base::*;

impl User {
    pub(super) fn request(
        &mut self,
        ctx: &mut Ctx<'_>,
        index: u32,
        request: &UserRequest,
        kubelets: &Kubelets,
    ) {
        let (node, pod) = deleted(ctx, request);
        ctx.emit(Body::Fault { index, node, pod });
        let answer = match self.answer(ctx, request, kubelets) {
            Ok(shown) => shown,
            Err(refusal) => refusal,
        };
        let answer = ctx.text(&answer);
        ctx.emit(Body::Answered { index, answer });
    }

    fn answer(
        &mut self,
        ctx: &mut Ctx<'_>,
        request: &UserRequest,
        kubelets: &Kubelets,
    ) -> Result<String, String> {
        let name = &request.object;
        if let Verb::Create { object, jobset } = &request.verb {
            self.create(ctx, object, jobset.map(JobSetId))?;
            return Ok(String::new());
        }
        let object = find(ctx, name).ok_or_else(|| not_found(name))?;
        match &request.verb {
            Verb::Patch { body, status } => self.patch(ctx, object, body, *status)?,
            Verb::Delete {
                propagation,
                grace_s,
            } => delete(ctx, object, (*propagation, *grace_s), kubelets),
            Verb::Show { fields } => return Ok(show::shown(ctx, &object, fields, kubelets)),
            Verb::Create { .. } => {}
        }
        Ok(String::new())
    }
}

/// The Node or pod to be deleted, as named by `deleteNode` or `deletePod`.
fn deleted(ctx: &Ctx<'_>, request: &UserRequest) -> (NodeId, PodId) {
    let nobody = (NodeId::NONE, PodId::NONE);
    let Verb::Delete { .. } = request.verb else {
        return nobody;
    };
    match find(ctx, &request.object) {
        Some(Found::Node(node)) => (node, PodId::NONE),
        Some(Found::Pod(pod)) => (ctx.store.pods.node[pod.ix()], pod),
        _ => nobody,
    }
}

fn delete(
    ctx: &mut Ctx<'_>,
    object: Found,
    (propagation, grace_s): (Propagation, Option<u32>),
    kubelets: &Kubelets,
) {
    match object {
        Found::JobSet(jobset) => apiserver::delete_jobset(ctx, jobset, propagation),
        Found::Job(job) => match propagation {
            Propagation::Foreground => apiserver::delete_job(ctx, job),
            Propagation::Background => apiserver::end_job(ctx, job),
            Propagation::Orphan => apiserver::orphan_pods(ctx, job),
        },
        Found::Pod(pod) => delete_pod(ctx, pod, grace_s, kubelets),
        Found::Node(node) => apiserver::delete_node(ctx, node),
        Found::Other(kind, namespace, name) => {
            apiserver::delete_other(ctx, kind, (&namespace, &name));
        }
    }
}

/// Deletes a pod with this grace period, or its own. With force, a pod on an unresponsive node is removed
/// immediately.
pub(super) fn delete_pod(ctx: &mut Ctx<'_>, pod: PodId, grace_s: Option<u32>, kubelets: &Kubelets) {
    let own = ctx.store.pod_spec(pod).termination_grace_period_s;
    let by_force = grace_s.unwrap_or(own) == 0;
    let before = ctx.mark();
    if let Some(since) = kubelets.waits_since(pod).filter(|_| by_force) {
        ctx.end_wait(since, Waited::SilentNode, About::Pod(pod));
    }
    apiserver::mark_deleting(ctx, pod, Deleter::User, by_force);
    ctx.back_to(before);
}
