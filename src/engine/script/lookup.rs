//! Finds the objects that a script names in the store.

use crate::ctx::EngineContext;
use sim_api::spec::{ObjectKind, ObjectName};
use sim_base::{JobId, JobSetId, NodeId, PodId};

/// The stored object of a request.
#[derive(Clone)]
pub(super) enum LookupResult {
    JobSet(JobSetId),
    Job(JobId),
    Pod(PodId),
    Node(NodeId),
    Other(ObjectKind, String, String),
}

pub(super) fn find_object(ctx: &EngineContext<'_>, object: &ObjectName) -> Option<LookupResult> {
    let (store, name) = (&**ctx.store, object.name.as_str());
    match object.kind {
        ObjectKind::JobSet => store.jobset_named(name).map(LookupResult::JobSet),
        ObjectKind::Job => {
            let exists = |j: &JobId| store.jobs[j.ix()].exists;
            store.jobs_named(name).find(exists).map(LookupResult::Job)
        }
        ObjectKind::Pod => pod_by_name(ctx, name).map(LookupResult::Pod),
        ObjectKind::Node => {
            let node = store.nodes.find_by_name(name)?;
            store.nodes.exists(node).then_some(LookupResult::Node(node))
        }
        kind => {
            let (namespace, _) = store.others.find_by_name(kind, name)?;
            Some(LookupResult::Other(kind, namespace.to_owned(), name.to_owned()))
        }
    }
}

/// The newest live pod whose name without suffix is `name`, or the pod without a Job that has exactly this name.
pub(super) fn pod_by_name(ctx: &EngineContext<'_>, name: &str) -> Option<PodId> {
    let store = &**ctx.store;
    let bare = |j: &JobId| store.names.jobs[j.ix()].standalone_pod;
    if let Some(job) = store.jobs_named(name).find(bare) {
        return store.jobs[job.ix()].pods.iter().last();
    }
    let (job, index) = name.rsplit_once('-')?;
    let index: u32 = index.parse().ok()?;
    let mut jobs = store.jobs_named(job).filter(|j| !bare(j));
    jobs.find_map(|job| store.pod_of(job, index))
}
