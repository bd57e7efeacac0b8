//! Owner references of objects that the simulated controllers did not create.
//!
//! UIDs are not modelled: a reference matches only an object that exists from the start with the same UID.

use crate::ctx::EngineContext;
use serde_json::Value;
use sim_api::spec::JobObject;
use sim_api::spec::keys::{JOB_INDEX, REPLICATED_JOB_NAME};
use sim_base::{JobId, JobSetId};
use std::sync::Arc;

/// The owner of an object according to its `metadata.ownerReferences`.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum ObjectOwner {
    None,
    /// None of the references matches an object: the garbage collector deletes the dependent.
    Missing,
    JobSet(JobSetId),
    /// An object of another kind; it does not adopt.
    Other,
}

pub fn has_owner_references(object: &Value) -> bool {
    object["metadata"]["ownerReferences"].as_array().is_some_and(|references| !references.is_empty())
}

/// Returns the owner that exists (`garbagecollector.go`, classifyReferences).
pub fn owner_of(ctx: &EngineContext<'_>, object: &Value) -> ObjectOwner {
    if !has_owner_references(object) {
        return ObjectOwner::None;
    }
    let is_referenced = |reference: &Value| {
        let mut given = ctx.scenario.objects.iter();
        given.any(|owner| reference["uid"].is_string() && owner["metadata"]["uid"] == reference["uid"])
    };
    let references = object["metadata"]["ownerReferences"].as_array();
    let Some(owner) = references.into_iter().flatten().find(|r| is_referenced(r)) else {
        return ObjectOwner::Missing;
    };
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
    let jobset = owner["name"].as_str().and_then(|name| ctx.store.jobset_in(namespace, name));
    jobset.filter(|_| owner["kind"] == "JobSet").map_or(ObjectOwner::Other, ObjectOwner::JobSet)
}

/// Stores the posted object of a pod without a Job, which is created next.
pub fn keep_bare_pod(ctx: &mut EngineContext<'_>, row: JobId, object: &Value, owner_missing: bool) {
    let row = &mut ctx.store.get_mut().jobs[row.ix()];
    (row.object, row.owner_missing) = (Some(Arc::new(object.clone())), owner_missing);
}

/// Returns the row of the JobSet's slot that the labels and the name of its Job denote.
pub(super) fn slot_of_job(ctx: &mut EngineContext<'_>, jobset: JobSetId, job: &JobObject) -> Option<JobId> {
    let label = job.labels.get(REPLICATED_JOB_NAME)?;
    let replicated = &ctx.store.jobsets[jobset.ix()].spec.spec.replicated_jobs;
    let rj = replicated.iter().position(|rj| rj.name == *label)?;
    let index: u32 = job.labels.get(JOB_INDEX)?.parse().ok().filter(|index| *index < replicated[rj].replicas)?;
    let store = ctx.store.get_mut();
    // Slots have rows in the order of their indexes.
    let row = (0..=index).map(|index| store.row_for_slot(jobset, rj as u32, index)).last();
    row.filter(|row| store.names.job(*row) == job.name)
}
