//! Requests of a user to the API server: patch, create, delete and show objects, each with the server's answer.
//!
//! Must never touch what the request does not name; controllers react when their caches show the change.

use super::User;
use super::faults::{delete_pod, pod_by_name};
use super::show;
use crate::admission::Gates;
use crate::base::*;
use crate::engine::apiserver;
use crate::engine::ctx::Ctx;
use crate::engine::kubelet::Kubelets;
use crate::record::Body;
use crate::spec::*;

/// What the object of a request is in the store.
#[derive(Clone)]
pub(super) enum Found {
    JobSet(JobSetId),
    Job(JobId),
    Pod(PodId),
    Node(NodeId),
    /// Kind, namespace, name.
    Other(ObjectKind, String, String),
}

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

/// The Node or the pod that goes, as `deleteNode` and `deletePod` name it.
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

fn find(ctx: &Ctx<'_>, object: &ObjectName) -> Option<Found> {
    let (store, name) = (&**ctx.store, object.name.as_str());
    match object.kind {
        ObjectKind::JobSet => store.jobset_named(name).map(Found::JobSet),
        ObjectKind::Job => {
            let exists = |j: &JobId| store.jobs[j.ix()].exists;
            store.jobs_named(name).find(exists).map(Found::Job)
        }
        ObjectKind::Pod => pod_by_name(ctx, name).map(Found::Pod),
        ObjectKind::Node => {
            let node = store.nodes.named(name)?;
            store.nodes.exists(node).then_some(Found::Node(node))
        }
        kind => {
            let (namespace, _) = store.others.named(kind, name)?;
            Some(Found::Other(kind, namespace.to_owned(), name.to_owned()))
        }
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

/// JobSet's webhooks: what is asked when one is created, and when it is changed (config/components/webhook).
pub(super) const CREATES: &str = "mjobset.kb.io";
pub(super) const UPDATES: &str = "vjobset.kb.io";

/// failurePolicy: Fail, so that a JobSet is neither created nor changed while the manager is down.
pub(super) fn webhook_answers(ctx: &Ctx<'_>, webhook: &str) -> Result<(), String> {
    match ctx.manager_answers(ctx.now) {
        true => Ok(()),
        false => Err(format!(
            "Internal error occurred: failed calling webhook \"{webhook}\""
        )),
    }
}

pub(super) fn admission_gates(ctx: &Ctx<'_>) -> Gates {
    Gates {
        in_place_restart: ctx.gates.in_place_restart,
        restart_job: ctx.gates.restart_job,
        elastic_job_set: ctx.gates.elastic_jobset,
    }
}

/// Kubernetes' name of a kind's resource, as messages have it.
pub(super) fn resource(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::JobSet => "jobsets.jobset.x-k8s.io",
        ObjectKind::Job => "jobs.batch",
        ObjectKind::Pod => "pods",
        ObjectKind::Node => "nodes",
        ObjectKind::Service => "services",
        ObjectKind::PersistentVolumeClaim => "persistentvolumeclaims",
        ObjectKind::PersistentVolume => "persistentvolumes",
        ObjectKind::PriorityClass => "priorityclasses.scheduling.k8s.io",
        ObjectKind::Namespace => "namespaces",
        ObjectKind::Lease => "leases.coordination.k8s.io",
        ObjectKind::Other => "objects",
    }
}

fn not_found(object: &ObjectName) -> String {
    if object.kind == ObjectKind::Pod {
        return "no such pod".to_owned();
    }
    format!("{} {:?} not found", resource(object.kind), object.name)
}
