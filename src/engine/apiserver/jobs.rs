//! Requests about Jobs: create, change, status, delete, and the end of the object.

use super::{note, pod_admission};
use crate::ctx::Ctx;
use crate::progress::Made;
use crate::record::{Body, Call, JobConditionType};
use crate::requests::Answer;
use crate::store::{JobChange, JobCondition, JobStatus, Slot, What, agent_mode, on_labelled_nodes};
use serde_json::Value;
use sim_api::objects;
use sim_api::objects::{JobSlot, Places};
use sim_api::spec::keys::FOREGROUND_DELETION;
use sim_api::spec::*;
use sim_base::*;
use std::sync::Arc;

/// A Job to be created by the JobSet manager.
pub struct NewChild {
    pub job: JobId,
    /// The JobSet in the manager's cache, and the version of its spec.
    pub from: Arc<JobSet>,
    pub spec_version: u32,
    pub restart_attempt: u32,
    pub job_restart_attempt: u32,
    pub suspended: bool,
}

fn job_changed(ctx: &mut Ctx<'_>, job: JobId, change: JobChange) {
    ctx.store.write().jobs[job.ix()].version += 1;
    note(ctx, What::Job(job, change));
}

/// POST of a child Job. Returns the server's message if the name is taken or the Job is invalid (CRE-4, C-16, C-18).
pub fn create_child(ctx: &mut Ctx<'_>, new: &NewChild) -> Result<(), String> {
    if ctx.store.name_is_taken(new.job) {
        ctx.answered(Call::JobSetJobCreate, Answer::Conflict);
        let name = ctx.store.names.job(new.job);
        return Err(format!("jobs.batch {name:?} already exists"));
    }
    let (template, spec) = match child_spec(ctx, new) {
        Ok(found) => found,
        Err(refusal) => {
            ctx.answered(Call::JobSetJobCreate, Answer::Invalid);
            return Err(refusal);
        }
    };
    ctx.answered(Call::JobSetJobCreate, Answer::Success);
    let object = ctx.keeps_objects().then(|| posted(ctx, new, None));
    let object = object.flatten();
    let j = &mut ctx.store.write().jobs[new.job.ix()];
    j.clear();
    (j.spec, j.template) = (spec, template);
    j.suspended = new.suspended;
    j.restart_attempt = new.restart_attempt;
    j.job_restart_attempt = new.job_restart_attempt;
    j.object = object.map(Arc::new);
    appear(ctx, new.job);
    let jobset = ctx.store.jobs[new.job.ix()].jobset;
    let made = Made {
        attempt: (new.restart_attempt, new.job_restart_attempt),
        counted: ctx.store.jobsets[jobset.ix()].status.budget_used(),
    };
    ctx.progress.made(new.job, made, ctx.now);
    Ok(())
}

/// Stores the Job's object.
fn appear(ctx: &mut Ctx<'_>, job: JobId) {
    let store = ctx.store.write();
    store.names.jobs[job.ix()].without_index = !store.indexed(job);
    let j = &mut store.jobs[job.ix()];
    j.exists = true;
    j.incarnation += 1;
    j.object_key = j.key.and(u64::from(j.incarnation));
    let attempt = j.restart_attempt;
    ctx.emit(Body::JobCreated { job, attempt });
    job_changed(ctx, job, JobChange::Created);
}

fn posted(ctx: &Ctx<'_>, new: &NewChild, places: Option<&Places>) -> Option<Value> {
    let j = &ctx.store.jobs[new.job.ix()];
    Some(objects::job(&JobSlot {
        jobset: new.from.object.as_ref()?,
        replicated_job: j.rj as usize,
        index: j.index,
        restarts: new.restart_attempt,
        job_restarts: ctx.gates.restart_job.then_some(new.job_restart_attempt),
        places,
    }))
}

/// Derives the spec and pod template of this Job from the JobSet's template, or returns why the API server rejects
/// them (C-16).
fn child_spec(ctx: &mut Ctx<'_>, new: &NewChild) -> Result<(TemplateId, Arc<JobSpec>), String> {
    let (jobset, rj_position) = {
        let j = &ctx.store.jobs[new.job.ix()];
        (j.jobset, j.rj)
    };
    let slot = (jobset, new.spec_version, rj_position);
    if let Some(known) = ctx.store.templates.of_slot(slot) {
        return Ok(known);
    }
    let Some(rj) = new.from.spec.replicated_jobs.get(rj_position as usize) else {
        return Err(format!("no replicatedJob {rj_position}"));
    };
    let object = new.from.object.as_ref();
    let places = object.map(|object| ctx.store.write().templates.places(object));
    let places = places.as_deref();
    admit_child(ctx, new, rj, (slot, places))?;
    let word = pod_word(ctx, new, rj_position, places);
    let by_selector = new.from.selects_labelled_nodes(rj);
    let mut spec = rj.template.clone();
    if let Some(Some(priority)) = word {
        spec.template.spec.priority = priority;
    }
    if by_selector {
        let name = ctx.store.names.job(new.job);
        on_labelled_nodes(&mut spec.template, &new.from.namespace, name);
    }
    let key = new.from.webhook_key(rj);
    let gate = ctx.gates.in_place_restart;
    let kubelet = &ctx.scenario.timing.kubelet;
    let agent = agent_mode(&new.from, &spec.template.spec, gate, kubelet);
    let pod = &mut spec.template.spec;
    pod.claims
        .extend(claims_of_policies(&new.from, rj_position));
    let waits = !pod.claims.is_empty() || !pod.resource_claims.is_empty();
    let blocked = !ctx.scenario.claims_bind && waits;
    let s = ctx.store.write();
    let pod = Arc::new(spec.template.clone());
    let template = s.templates.add(&s.nodes.cluster, pod, key, agent);
    s.templates.annotate(template, new.from.exclusive_key(rj));
    if blocked {
        s.templates.block_by_claims(template);
    }
    if word == Some(None) {
        s.templates.refuse(template);
    }
    let found = (template, Arc::new(spec));
    if !by_selector {
        s.templates.keep_for_slot(slot, found.clone());
    }
    Ok(found)
}

/// The priority of the Job's pods; `Some(None)` if they are rejected, `None` if objects are not kept.
fn pod_word(
    ctx: &mut Ctx<'_>,
    new: &NewChild,
    rj: u32,
    places: Option<&Places>,
) -> Option<Option<i32>> {
    let object = new.from.object.as_ref()?;
    // The result depends only on the object and on the priority classes.
    let others = &ctx.store.others;
    let keeps = others.of_kind(ObjectKind::PriorityClass).next().is_none();
    if let Some(known) = ctx.store.templates.word(object, rj).filter(|_| keeps) {
        return Some(known);
    }
    let word = pod_admission::priority(ctx, &posted(ctx, new, places)?);
    if keeps {
        let templates = &mut ctx.store.write().templates;
        templates.keep_word(object.clone(), rj, word);
    }
    Some(word)
}

/// Checks all Jobs of a replicatedJob by its last one: they differ only in the length of the name, which is longest
/// there.
fn admit_child(
    ctx: &mut Ctx<'_>,
    new: &NewChild,
    rj: &ReplicatedJob,
    (slot, places): (Slot, Option<&Places>),
) -> Result<(), String> {
    let Some(object) = new.from.object.as_ref() else {
        return Ok(());
    };
    let index = ctx.store.jobs[new.job.ix()].index;
    let attempt = (new.restart_attempt, ctx.gates.restart_job.then_some(0));
    if let Some(known) = ctx.store.templates.admission(slot, index, attempt) {
        return known;
    }
    let admit = |index| {
        objects::admit_job(&objects::job(&JobSlot {
            jobset: object,
            replicated_job: slot.2 as usize,
            index,
            restarts: attempt.0,
            job_restarts: attempt.1,
            places,
        }))
    };
    let answer = match admit(rj.replicas.saturating_sub(1)) {
        Ok(_) => {
            ctx.store.write().templates.keep_accepted(slot);
            return Ok(());
        }
        Err(_) => admit(index).map(drop).map_err(|r| r.message),
    };
    if let Err(words) = &answer {
        let templates = &mut ctx.store.write().templates;
        templates.keep_refusal(slot, index, attempt, words.clone());
    }
    answer
}

/// PVC-1: the claims of the JobSet's policies that a container of the replicatedJob mounts.
fn claims_of_policies(jobset: &JobSet, rj: u32) -> Vec<String> {
    let Some(object) = jobset.object.as_ref() else {
        return Vec::new();
    };
    let rj = &object["spec"]["replicatedJobs"][rj as usize];
    let mounted = objects::mounted_claims(object, &rj["template"]["spec"]["template"]["spec"]);
    mounted.into_iter().map(|(_, claim)| claim).collect()
}

/// POST of a Job that does not belong to a JobSet; `None` if the name is taken.
pub fn create_foreign_job(
    ctx: &mut Ctx<'_>,
    mut object: JobObject,
    stored: &Value,
) -> Option<JobId> {
    let name = crate::record::JobName {
        jobset: JobSetId::NONE,
        namespace: object.namespace,
        name: object.name,
        replicated_job: String::new(),
        job_index: 0,
        bare: false,
        without_index: false,
    };
    let job = ctx.store.place(name);
    if ctx.store.name_is_taken(job) {
        return None;
    }
    let priority = pod_admission::priority(ctx, stored);
    object.spec.template.spec.priority = priority.unwrap_or(0);
    let s = ctx.store.write();
    let pod = Arc::new(object.spec.template.clone());
    let template = s
        .templates
        .add(&s.nodes.cluster, pod, None, AgentMode::Absent);
    if priority.is_none() {
        s.templates.refuse(template);
    }
    let j = &mut s.jobs[job.ix()];
    j.clear();
    (j.spec, j.template) = (Arc::new(object.spec), template);
    j.suspended = object.suspend;
    j.finalizers = object.finalizers;
    j.object = Some(Arc::new(stored.clone()));
    appear(ctx, job);
    Some(job)
}

/// Sets spec.suspend and the dependent fields; a resumed Job may get a different pod template (SUS-5).
pub fn set_suspended(
    ctx: &mut Ctx<'_>,
    job: JobId,
    suspended: bool,
    template: Option<PodTemplate>,
) {
    let s = ctx.store.write();
    if let Some(pod) = template {
        let like = s.jobs[job.ix()].template;
        s.jobs[job.ix()].template = s.templates.add_like(&s.nodes.cluster, like, pod.clone());
        Arc::make_mut(&mut s.jobs[job.ix()].spec).template = pod;
    }
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
pub fn clear_start_time(ctx: &mut Ctx<'_>, job: JobId) {
    ctx.store.write().jobs[job.ix()].status.start_time = None;
    job_changed(ctx, job, JobChange::Status);
}

/// PUT with which the JobSet resumes a Job, possibly with a different pod template; `object` is the same Job where
/// objects are kept.
pub fn resume_job(
    ctx: &mut Ctx<'_>,
    job: JobId,
    template: Option<PodTemplate>,
    object: Option<Value>,
) {
    if let Some(object) = object {
        ctx.store.write().jobs[job.ix()].object = Some(Arc::new(object));
    }
    set_suspended(ctx, job, false, template);
}

/// Sets spec.parallelism and spec.completions (ELA-2).
pub fn scale_job(
    ctx: &mut Ctx<'_>,
    job: JobId,
    parallelism: Option<u32>,
    completions: Option<u32>,
) {
    let spec = Arc::make_mut(&mut ctx.store.write().jobs[job.ix()].spec);
    (spec.parallelism, spec.completions) = (parallelism, completions);
    job_changed(ctx, job, JobChange::Spec);
}

/// Sets the sizes and limits of the spec, as changed by a user.
pub fn set_job_spec(ctx: &mut Ctx<'_>, job: JobId, spec: Arc<JobSpec>) {
    ctx.store.write().jobs[job.ix()].spec = spec;
    job_changed(ctx, job, JobChange::Spec);
}

/// Sets labels, or removes them (`None`).
pub fn set_job_labels(ctx: &mut Ctx<'_>, job: JobId, labels: Vec<(String, Option<String>)>) {
    let own = &mut ctx.store.write().jobs[job.ix()].relabelled;
    for (key, value) in labels {
        own.retain(|(k, _)| *k != key);
        own.push((key, value));
    }
    job_changed(ctx, job, JobChange::Metadata);
}

/// Sets the finalizers that a PATCH leaves. Without the garbage collector's finalizer, deletion does not wait for the
/// pods.
pub fn set_job_finalizers(ctx: &mut Ctx<'_>, job: JobId, mut left: Vec<String>) {
    let waits = left.iter().any(|name| name == FOREGROUND_DELETION);
    left.retain(|name| name != FOREGROUND_DELETION);
    let j = &mut ctx.store.write().jobs[job.ix()];
    j.finalizers = left;
    let ends = j.is_deleting() && !waits;
    job_changed(ctx, job, JobChange::Metadata);
    if ends {
        end_job(ctx, job);
    }
}

/// PUT of jobs/status, without the conditions.
pub fn set_job_status(ctx: &mut Ctx<'_>, job: JobId, write: impl FnOnce(&mut JobStatus)) {
    write(&mut ctx.store.write().jobs[job.ix()].status);
    job_changed(ctx, job, JobChange::Status);
}

/// Sets one condition of the status being written and emits its record.
pub fn set_job_condition(ctx: &mut Ctx<'_>, job: JobId, condition: JobCondition) {
    let (kind, status) = (condition.kind, condition.status);
    let reason = ctx.text(&condition.reason);
    let message = ctx.text(&condition.message);
    let stored = &mut ctx.store.write().jobs[job.ix()].status.conditions;
    match stored.iter_mut().find(|c| c.kind == kind) {
        Some(old) => *old = condition,
        None => stored.push(condition),
    }
    ctx.emit(Body::JobCondition {
        job,
        kind,
        status,
        reason,
        message,
    });
}

/// DELETE with foreground propagation: stores deletionTimestamp and the foregroundDeletion finalizer; the object
/// stays until its pods are removed (DEL-2).
pub fn delete_job(ctx: &mut Ctx<'_>, job: JobId) {
    if !ctx.store.jobs[job.ix()].exists || ctx.store.jobs[job.ix()].is_deleting() {
        return;
    }
    let now = ctx.now;
    ctx.store.write().jobs[job.ix()].deletion = Some(now);
    ctx.emit(Body::JobDeleting { job });
    job_changed(ctx, job, JobChange::Deleting);
}

/// Removes the Job object, after its last finalizer was removed or with Background or Orphan propagation: the name is
/// free (CRE-8, C-13). Pods may remain.
pub fn end_job(ctx: &mut Ctx<'_>, job: JobId) {
    if !ctx.store.jobs[job.ix()].exists {
        return;
    }
    if ctx.store.jobs[job.ix()].is_held() {
        let now = ctx.now;
        let j = &mut ctx.store.write().jobs[job.ix()];
        j.collected = true;
        if !j.is_deleting() {
            j.deletion = Some(now);
            ctx.emit(Body::JobDeleting { job });
            job_changed(ctx, job, JobChange::Deleting);
        }
        return;
    }
    ctx.emit(Body::JobGone { job });
    let j = &mut ctx.store.write().jobs[job.ix()];
    j.exists = false;
    j.deletion = None;
    job_changed(ctx, job, JobChange::Gone);
}

/// Returns true if the Job has the condition Complete or Failed.
pub fn is_complete(ctx: &Ctx<'_>, job: JobId) -> bool {
    let status = &ctx.store.jobs[job.ix()].status;
    status.condition(JobConditionType::Complete).is_some()
}

/// DELETE with propagation Orphan: the pods stay and lose their owner reference. The real garbage collector needs a
/// few ms to do so; this delay is not modelled. In a Job under deletion, the orphan finalizer replaces the other one
/// (k8s.io/apiserver, `deletionFinalizersForGarbageCollection`).
pub fn orphan_pods(ctx: &mut Ctx<'_>, job: JobId) {
    let j = &ctx.store.jobs[job.ix()];
    // Held objects stay; `end_job` handles them.
    if !j.is_deleting() && !j.is_held() {
        ctx.emit(Body::JobDeleting { job });
    }
    ctx.store.write().jobs[job.ix()].pods_orphaned = true;
    end_job(ctx, job);
}

/// Adds a separate pod template for a row without a Job object.
pub fn add_template(ctx: &mut Ctx<'_>, job: JobId, pod: PodTemplate) -> TemplateId {
    let s = ctx.store.write();
    let pod = Arc::new(pod);
    let template = s
        .templates
        .add(&s.nodes.cluster, pod, None, AgentMode::Absent);
    s.jobs[job.ix()].template = template;
    template
}
