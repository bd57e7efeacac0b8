//! Requests about Jobs: create, change, status, delete, and the end of the object.

use super::child_job_error::ChildJobError;
use super::owners::{self, ObjectOwner};
use super::{pod_admission, record_change};
use crate::record::{Body, Call, JobConditionType};
use crate::store::{ChangeKind, JobChange, JobCondition, JobStatus, TemplateSlot, add_node_selection, agent_mode};
use crate::{ctx::EngineContext, progress::CreatedJobs, requests::RequestAnswer};
use serde_json::Value;
use sim_api::admission::AdmissionRejection;
use sim_api::objects;
use sim_api::objects::{GlobalJobIndexes, JobSlot};
use sim_api::spec::keys::{FOREGROUND_DELETION, JOB_RESTART_ATTEMPT, RESTART_ATTEMPT};
use sim_api::spec::{AgentMode, ClaimController, JobObject, JobSet, JobSpec, ObjectKind, PodTemplate, ReplicatedJob};
use sim_base::{JobId, JobSetId, TemplateId};
use std::sync::Arc;

/// A Job to be created by the JobSet manager.
pub struct NewChild {
    pub job: JobId,
    /// The JobSet in the manager's cache, and the version of its spec.
    pub jobset: Arc<JobSet>,
    pub spec_version: u32,
    pub restart_attempt: u32,
    pub job_restart_attempt: u32,
    pub suspended: bool,
}

fn job_changed(ctx: &mut EngineContext<'_>, job: JobId, change: JobChange) {
    ctx.store.get_mut().jobs[job.ix()].version += 1;
    record_change(ctx, ChangeKind::Job(job, change));
}

/// POST of a child Job. Returns the server's message if the name is taken or the Job is invalid (CRE-4, C-16, C-18).
pub fn create_child(ctx: &mut EngineContext<'_>, new: &NewChild) -> Result<(), ChildJobError> {
    if ctx.store.name_is_taken(new.job) {
        ctx.record_response(Call::JobSetJobCreate, RequestAnswer::Conflict);
        let name = ctx.store.names.job(new.job).to_owned();
        return Err(ChildJobError::AlreadyExists { name });
    }
    let (template, spec) = match child_spec(ctx, new) {
        Ok(found) => found,
        Err(refusal) => {
            ctx.record_response(Call::JobSetJobCreate, RequestAnswer::Invalid);
            return Err(refusal);
        }
    };
    ctx.record_response(Call::JobSetJobCreate, RequestAnswer::Success);
    let object = ctx.keeps_objects().then(|| posted_object(ctx, new, None));
    let object = object.flatten();
    let j = &mut ctx.store.get_mut().jobs[new.job.ix()];
    j.clear();
    (j.spec, j.template) = (spec, template);
    j.suspended = new.suspended;
    j.restart_attempt = new.restart_attempt;
    j.job_restart_attempt = new.job_restart_attempt;
    j.object = object.map(Arc::new);
    store_job(ctx, new.job);
    let jobset = ctx.store.jobs[new.job.ix()].jobset;
    let made = CreatedJobs {
        attempt: (new.restart_attempt, new.job_restart_attempt),
        counted: ctx.store.jobsets[jobset.ix()].status.budget_used(),
    };
    ctx.progress.record_creation(new.job, made, ctx.now);
    Ok(())
}

/// Stores the Job's object.
fn store_job(ctx: &mut EngineContext<'_>, job: JobId) {
    let store = ctx.store.get_mut();
    store.names.jobs[job.ix()].without_index = !store.is_indexed(job);
    let j = &mut store.jobs[job.ix()];
    j.exists = true;
    j.incarnation += 1;
    j.object_key = j.key.part(u64::from(j.incarnation));
    let attempt = j.restart_attempt;
    ctx.emit(Body::JobCreated { job, attempt });
    job_changed(ctx, job, JobChange::Created);
}

fn posted_object(ctx: &EngineContext<'_>, new: &NewChild, places: Option<&GlobalJobIndexes>) -> Option<Value> {
    let j = &ctx.store.jobs[new.job.ix()];
    Some(objects::job_of_slot(&JobSlot {
        jobset: new.jobset.object.as_ref()?,
        replicated_job: j.rj as usize,
        index: j.index,
        restarts: new.restart_attempt,
        job_restarts: ctx.gates.restart_job.then_some(new.job_restart_attempt),
        global_indexes: places,
    }))
}

/// Derives the spec and pod template of this Job from the JobSet's template, or returns why the API server rejects
/// them (C-16).
fn child_spec(ctx: &mut EngineContext<'_>, new: &NewChild) -> Result<(TemplateId, Arc<JobSpec>), ChildJobError> {
    let (jobset, rj_position) = {
        let j = &ctx.store.jobs[new.job.ix()];
        (j.jobset, j.rj)
    };
    let slot = (jobset, new.spec_version, rj_position);
    if let Some(known) = ctx.store.templates.for_slot(slot) {
        return Ok(known);
    }
    let Some(rj) = new.jobset.spec.replicated_jobs.get(rj_position as usize) else {
        return Err(ChildJobError::ReplicatedJobMissing { position: rj_position });
    };
    let object = new.jobset.object.as_ref();
    let places = object.map(|object| ctx.store.get_mut().templates.job_index_ranges(object));
    let places = places.as_deref();
    admit_child(ctx, new, rj, (slot, places))?;
    let word = pod_admission(ctx, new, rj_position, places);
    let by_selector = new.jobset.selects_labelled_nodes(rj);
    let mut spec = rj.template.clone();
    if let Some(Some(priority)) = word {
        spec.template.spec.priority = priority;
    }
    if by_selector {
        let name = ctx.store.names.job(new.job);
        add_node_selection(&mut spec.template, &new.jobset.namespace, name);
    }
    let key = new.jobset.webhook_key(rj);
    let gate = ctx.gates.in_place_restart;
    let kubelet = &ctx.scenario.timing.kubelet;
    let agent = agent_mode(&new.jobset, &spec.template.spec, gate, kubelet);
    let pod = &mut spec.template.spec;
    pod.claims.extend(mounted_policy_claims(&new.jobset, rj_position));
    let blocked = ctx.scenario.claim_controller == ClaimController::Absent && !pod.resource_claims.is_empty();
    let s = ctx.store.get_mut();
    let pod = Arc::new(spec.template.clone());
    let template = s.templates.add(&s.nodes.cluster, pod, key, agent);
    s.templates.set_exclusive_annotation(template, new.jobset.exclusive_key(rj));
    if blocked {
        s.templates.mark_unbound_claims(template);
    }
    if word == Some(None) {
        s.templates.mark_rejected(template);
    }
    let result = (template, Arc::new(spec));
    if !by_selector {
        s.templates.cache_for_slot(slot, result.clone());
    }
    Ok(result)
}

/// The priority of the Job's pods; `Some(None)` if they are rejected, `None` if objects are not kept.
fn pod_admission(
    ctx: &mut EngineContext<'_>, new: &NewChild, rj: u32, places: Option<&GlobalJobIndexes>,
) -> Option<Option<i32>> {
    let object = new.jobset.object.as_ref()?;
    // The result depends only on the object and on the priority classes.
    let others = &ctx.store.others;
    let keeps = others.objects_of_kind(ObjectKind::PriorityClass).next().is_none();
    if let Some(known) = ctx.store.templates.cached_admission(object, rj).filter(|_| keeps) {
        return Some(known);
    }
    let word = pod_admission::pod_priority(ctx, &posted_object(ctx, new, places)?);
    if keeps {
        let templates = &mut ctx.store.get_mut().templates;
        templates.cache_admission(object.clone(), rj, word);
    }
    Some(word)
}

/// A PriorityClass was created, changed or deleted: pods that Jobs create from now on get the priority that the
/// admission plugin finds now, and existing pods keep theirs.
pub(super) fn refresh_priorities(ctx: &mut EngineContext<'_>) {
    ctx.store.get_mut().templates.forget_slots();
    for job in (0..ctx.store.jobs.len() as u32).map(JobId) {
        let object = if ctx.store.jobs[job.ix()].exists { pod_admission::job_object(ctx, job) } else { Value::Null };
        let known = ctx.store.jobs[job.ix()].template;
        let priority = Some(&object).filter(|object| !object.is_null());
        let priority = priority.and_then(|object| pod_admission::pod_priority(ctx, object));
        if let Some(priority) = priority.filter(|p| *p != ctx.store.templates.spec(known).priority) {
            let mut pod = (*ctx.store.templates.get(known).pod).clone();
            pod.spec.priority = priority;
            set_template(ctx, job, pod);
        }
    }
}

/// Sets the template of the Job's next pods.
fn set_template(ctx: &mut EngineContext<'_>, job: JobId, pod: PodTemplate) {
    let s = ctx.store.get_mut();
    let like = s.jobs[job.ix()].template;
    s.jobs[job.ix()].template = s.templates.add_like(&s.nodes.cluster, like, pod.clone());
    Arc::make_mut(&mut s.jobs[job.ix()].spec).template = pod;
}

/// Checks all Jobs of a replicatedJob by its last one: they differ only in the length of the name, which is longest
/// there.
fn admit_child(
    ctx: &mut EngineContext<'_>, new: &NewChild, rj: &ReplicatedJob,
    (slot, places): (TemplateSlot, Option<&GlobalJobIndexes>),
) -> Result<(), AdmissionRejection> {
    let Some(object) = new.jobset.object.as_ref() else {
        return Ok(());
    };
    let index = ctx.store.jobs[new.job.ix()].index;
    let attempt = (new.restart_attempt, ctx.gates.restart_job.then_some(0));
    if let Some(known) = ctx.store.templates.admission(slot, index, attempt) {
        return known;
    }
    let admit = |index| {
        objects::admit_job(&objects::job_of_slot(&JobSlot {
            jobset: object,
            replicated_job: slot.2 as usize,
            index,
            restarts: attempt.0,
            job_restarts: attempt.1,
            global_indexes: places,
        }))
    };
    let answer = match admit(rj.replicas.saturating_sub(1)) {
        Ok(_) => {
            ctx.store.get_mut().templates.cache_acceptance(slot);
            return Ok(());
        }
        Err(_) => admit(index).map(drop),
    };
    if let Err(rejection) = &answer {
        let templates = &mut ctx.store.get_mut().templates;
        templates.cache_rejection(slot, index, attempt, rejection.clone());
    }
    answer
}

/// PVC-1: the claims of the JobSet's policies that a container of the replicatedJob mounts.
fn mounted_policy_claims(jobset: &JobSet, rj: u32) -> Vec<String> {
    let Some(object) = jobset.object.as_ref() else {
        return Vec::new();
    };
    let rj = &object["spec"]["replicatedJobs"][rj as usize];
    let mounted = objects::mounted_claims(object, &rj["template"]["spec"]["template"]["spec"]);
    mounted.into_iter().map(|(_, claim)| claim).collect()
}

/// POST of a Job that a JobSet did not create; `None` if the name is taken. A JobSet that owns it adopts it.
pub fn create_foreign_job(ctx: &mut EngineContext<'_>, mut object: JobObject, stored: &Value) -> Option<JobId> {
    let owner = owners::owner_of(ctx, stored);
    let slot = match owner {
        ObjectOwner::JobSet(jobset) => owners::slot_of_job(ctx, jobset, &object),
        _ => None,
    };
    let attempt = |key: &str| object.labels.get(key).and_then(|label| label.parse().ok()).unwrap_or(0);
    let attempts = (attempt(RESTART_ATTEMPT), attempt(JOB_RESTART_ATTEMPT));
    let name = crate::record::JobName {
        jobset: JobSetId::NONE,
        namespace: object.namespace,
        name: object.name,
        replicated_job: String::new(),
        job_index: 0,
        standalone_pod: false,
        without_index: false,
    };
    let job = slot.unwrap_or_else(|| ctx.store.row_for_name(name));
    if ctx.store.name_is_taken(job) {
        return None;
    }
    let priority = pod_admission::pod_priority(ctx, stored);
    object.spec.template.spec.priority = priority.unwrap_or(0);
    let s = ctx.store.get_mut();
    let pod = Arc::new(object.spec.template.clone());
    let template = s.templates.add(&s.nodes.cluster, pod, None, AgentMode::Absent);
    if priority.is_none() {
        s.templates.mark_rejected(template);
    }
    let j = &mut s.jobs[job.ix()];
    j.clear();
    (j.spec, j.template) = (Arc::new(object.spec), template);
    j.suspended = object.suspend;
    j.finalizers = object.finalizers;
    (j.restart_attempt, j.job_restart_attempt) = attempts;
    j.owner_missing = owner == ObjectOwner::Missing;
    j.object = Some(Arc::new(stored.clone()));
    store_job(ctx, job);
    Some(job)
}

/// Sets spec.suspend and the dependent fields; a resumed Job may get a different pod template (SUS-5).
pub fn set_suspended(ctx: &mut EngineContext<'_>, job: JobId, suspended: bool, template: Option<PodTemplate>) {
    if let Some(pod) = template {
        set_template(ctx, job, pod);
    }
    let s = ctx.store.get_mut();
    let j = &mut s.jobs[job.ix()];
    if j.suspended == suspended {
        return;
    }
    j.suspended = suspended;
    if !suspended {
        // SUS-5: resuming a Job first clears its startTime.
        j.status.start_time = None;
    }
    job_changed(ctx, job, JobChange::Spec);
}

/// Clears status.startTime (SUS-5).
pub fn clear_start_time(ctx: &mut EngineContext<'_>, job: JobId) {
    ctx.store.get_mut().jobs[job.ix()].status.start_time = None;
    job_changed(ctx, job, JobChange::Status);
}

/// PUT with which the JobSet resumes a Job, possibly with a different pod template; `object` is the same Job where
/// objects are kept.
pub fn resume_job(ctx: &mut EngineContext<'_>, job: JobId, template: Option<PodTemplate>, object: Option<Value>) {
    if let Some(object) = object {
        ctx.store.get_mut().jobs[job.ix()].object = Some(Arc::new(object));
    }
    set_suspended(ctx, job, false, template);
}

/// Sets spec.parallelism and spec.completions (ELA-2).
pub fn scale_job(ctx: &mut EngineContext<'_>, job: JobId, parallelism: Option<u32>, completions: Option<u32>) {
    let spec = Arc::make_mut(&mut ctx.store.get_mut().jobs[job.ix()].spec);
    (spec.parallelism, spec.completions) = (parallelism, completions);
    job_changed(ctx, job, JobChange::Spec);
}

/// Sets the sizes and limits of the spec, as changed by a user.
pub fn set_job_spec(ctx: &mut EngineContext<'_>, job: JobId, spec: Arc<JobSpec>) {
    ctx.store.get_mut().jobs[job.ix()].spec = spec;
    job_changed(ctx, job, JobChange::Spec);
}

/// Sets labels, or removes them (`None`).
pub fn set_job_labels(ctx: &mut EngineContext<'_>, job: JobId, labels: Vec<(String, Option<String>)>) {
    let own = &mut ctx.store.get_mut().jobs[job.ix()].changed_labels;
    for (key, value) in labels {
        own.retain(|(k, _)| *k != key);
        own.push((key, value));
    }
    job_changed(ctx, job, JobChange::Metadata);
}

/// Sets the finalizers that a PATCH leaves. Without the garbage collector's finalizer, deletion does not wait for the
/// pods.
pub fn set_job_finalizers(ctx: &mut EngineContext<'_>, job: JobId, mut left: Vec<String>) {
    let waits = left.iter().any(|name| name == FOREGROUND_DELETION);
    left.retain(|name| name != FOREGROUND_DELETION);
    let j = &mut ctx.store.get_mut().jobs[job.ix()];
    j.finalizers = left;
    let ends = j.is_deleting() && !waits;
    job_changed(ctx, job, JobChange::Metadata);
    if ends {
        remove_job(ctx, job);
    }
}

/// PUT of jobs/status, without the conditions.
pub fn set_job_status(ctx: &mut EngineContext<'_>, job: JobId, write: impl FnOnce(&mut JobStatus)) {
    write(&mut ctx.store.get_mut().jobs[job.ix()].status);
    job_changed(ctx, job, JobChange::Status);
}

/// Sets one condition of the status being written and emits its record.
pub fn set_job_condition(ctx: &mut EngineContext<'_>, job: JobId, condition: JobCondition) {
    let (kind, status) = (condition.kind, condition.status);
    let reason = ctx.intern(&condition.reason);
    let message = ctx.intern(&condition.message);
    let stored = &mut ctx.store.get_mut().jobs[job.ix()].status.conditions;
    match stored.iter_mut().find(|c| c.kind == kind) {
        Some(old) => *old = condition,
        None => stored.push(condition),
    }
    ctx.emit(Body::JobCondition { job, kind, status, reason, message });
}

/// DELETE with foreground propagation: stores deletionTimestamp and the foregroundDeletion finalizer; the object
/// stays until its pods are removed (DEL-2).
pub fn delete_job(ctx: &mut EngineContext<'_>, job: JobId) {
    if !ctx.store.jobs[job.ix()].exists || ctx.store.jobs[job.ix()].is_deleting() {
        return;
    }
    let now = ctx.now;
    ctx.store.get_mut().jobs[job.ix()].deletion = Some(now);
    ctx.emit(Body::JobDeleting { job });
    job_changed(ctx, job, JobChange::Deleting);
}

/// Removes the Job object, after its last finalizer was removed or with Background or Orphan propagation: the name is
/// free (CRE-8, C-13). Pods may remain.
pub fn remove_job(ctx: &mut EngineContext<'_>, job: JobId) {
    if !ctx.store.jobs[job.ix()].exists {
        return;
    }
    if ctx.store.jobs[job.ix()].is_held() {
        let now = ctx.now;
        let j = &mut ctx.store.get_mut().jobs[job.ix()];
        j.dependents_deleted = true;
        if !j.is_deleting() {
            j.deletion = Some(now);
            ctx.emit(Body::JobDeleting { job });
            job_changed(ctx, job, JobChange::Deleting);
        }
        return;
    }
    ctx.emit(Body::JobGone { job });
    let j = &mut ctx.store.get_mut().jobs[job.ix()];
    j.exists = false;
    j.deletion = None;
    job_changed(ctx, job, JobChange::Gone);
}

/// Returns true if the Job has the condition Complete or Failed.
pub fn is_complete(ctx: &EngineContext<'_>, job: JobId) -> bool {
    let status = &ctx.store.jobs[job.ix()].status;
    status.condition(JobConditionType::Complete).is_some()
}

/// DELETE with propagation Orphan: the pods stay and lose their owner reference. The real garbage collector needs a
/// few ms to do so; this delay is not modelled. In a Job under deletion, the orphan finalizer replaces the other one
/// (k8s.io/apiserver, `deletionFinalizersForGarbageCollection`).
pub fn orphan_pods(ctx: &mut EngineContext<'_>, job: JobId) {
    let j = &ctx.store.jobs[job.ix()];
    // Held objects stay; `remove_job` handles them.
    if !j.is_deleting() && !j.is_held() {
        ctx.emit(Body::JobDeleting { job });
    }
    ctx.store.get_mut().jobs[job.ix()].pods_orphaned = true;
    remove_job(ctx, job);
}

/// Adds a separate pod template for a row without a Job object.
pub fn add_template(ctx: &mut EngineContext<'_>, job: JobId, pod: PodTemplate) -> TemplateId {
    let s = ctx.store.get_mut();
    let pod = Arc::new(pod);
    let template = s.templates.add(&s.nodes.cluster, pod, None, AgentMode::Absent);
    s.jobs[job.ix()].template = template;
    template
}
