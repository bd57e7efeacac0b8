//! Requests about JobSets: create, change, status, delete, and the end of the object.

use super::record_change;
use super::workloads::suspend_managed;
use crate::store::{ChangeKind, JobSetChange};
use crate::{ctx::EngineContext, record::Body};
use sim_api::spec::{DeletionPropagation, JobSet};
use sim_base::{JobId, JobSetId};
use sim_policy::{JobSetStatus, RjStatus};
use std::sync::Arc;

fn jobset_changed(ctx: &mut EngineContext<'_>, jobset: JobSetId, change: JobSetChange) {
    ctx.store.get_mut().jobsets[jobset.ix()].resource_version += 1;
    record_change(ctx, ChangeKind::JobSet(jobset, change));
}

/// Stores the object in the row `jobset`.
pub fn create_jobset(ctx: &mut EngineContext<'_>, jobset: JobSetId, spec: Arc<JobSet>) {
    let spec = suspend_managed(ctx, spec);
    let row = &mut ctx.store.get_mut().jobsets[jobset.ix()];
    row.created = true;
    row.spec = spec;
    ctx.emit(Body::JobSetCreated { jobset });
    ctx.notify_admission(jobset);
    jobset_changed(ctx, jobset, JobSetChange::Created);
}

/// Adds a row and an object for a JobSet that the scenario did not declare.
pub fn create_new_jobset(ctx: &mut EngineContext<'_>, spec: Arc<JobSet>) -> JobSetId {
    let s = ctx.store.get_mut();
    let jobset = s.add_jobset(&spec.namespace, &spec.name);
    create_jobset(ctx, jobset, spec);
    jobset
}

/// Replaces the spec, labels, annotations and finalizers.
pub fn set_jobset_spec(ctx: &mut EngineContext<'_>, jobset: JobSetId, spec: JobSet) {
    let row = &mut ctx.store.get_mut().jobsets[jobset.ix()];
    row.spec = Arc::new(spec);
    row.spec_version += 1;
    ctx.notify_admission(jobset);
    jobset_changed(ctx, jobset, JobSetChange::Spec);
    remove_jobset_if_free(ctx, jobset);
}

/// A PATCH removes the garbage collector's finalizer: the object no longer waits for its dependents.
pub fn remove_deletion_finalizer(ctx: &mut EngineContext<'_>, jobset: JobSetId) {
    ctx.store.get_mut().jobsets[jobset.ix()].foreground = false;
    remove_jobset_if_free(ctx, jobset);
}

/// Writes the status, as the manager or a user does, and emits records of the changes. `status` receives the old
/// status with its buffers. `failed_job` is the Job that caused an increase of `restarts`.
pub fn set_jobset_status(ctx: &mut EngineContext<'_>, jobset: JobSetId, status: &mut JobSetStatus, failed_job: JobId) {
    let row = &mut ctx.store.get_mut().jobsets[jobset.ix()];
    std::mem::swap(&mut row.status, status);
    let new = std::mem::take(&mut row.status);
    emit_status_changes(ctx, jobset, status, &new, failed_job);
    let has_emitted_event = emit_attempts(ctx, jobset, status, &new);
    ctx.store.get_mut().jobsets[jobset.ix()].status = new;
    jobset_changed(ctx, jobset, JobSetChange::Status);
    if has_emitted_event {
        record_change(ctx, ChangeKind::JobSet(jobset, JobSetChange::Attempts));
    }
}

fn emit_status_changes(
    ctx: &mut EngineContext<'_>, jobset: JobSetId, old: &JobSetStatus, new: &JobSetStatus, failed_job: JobId,
) {
    if new.restarts != old.restarts {
        let (restarts, counted) = (new.restarts, new.restarts_count_towards_max);
        ctx.emit(Body::RestartCounted { jobset, restarts, counted, failed_job });
    }
    for (rj, s) in new.replicated_jobs.iter().enumerate() {
        let before = old.replicated_jobs.get(rj);
        emit_job_restarts(ctx, jobset, rj as u32, before, s);
    }
    if new.replicated_jobs != old.replicated_jobs {
        // A user may have written any int32 here.
        let sum = |f: fn(&RjStatus) -> u32| {
            let all = new.replicated_jobs.iter().map(f);
            all.fold(0, u32::saturating_add)
        };
        ctx.emit(Body::ReplicatedJobsStatus {
            jobset,
            ready: sum(|s| s.ready),
            succeeded: sum(|s| s.succeeded),
            failed: sum(|s| s.failed),
            active: sum(|s| s.active),
            suspended: sum(|s| s.suspended),
        });
        for (rj, s) in new.replicated_jobs.iter().enumerate() {
            ctx.notify_replicated_job(&crate::record::ReplicatedJobNow {
                jobset,
                replicated_job: rj as u32,
                replicas: [s.ready, s.succeeded, s.failed, s.active, s.suspended],
            });
        }
    }
    for condition in &new.conditions {
        if old.conditions.contains(condition) {
            continue;
        }
        let reason = ctx.intern(&condition.full_reason());
        let message = ctx.intern(&condition.message);
        ctx.emit(Body::JobSetCondition { jobset, kind: condition.kind, status: condition.status, reason, message });
    }
}

fn emit_job_restarts(ctx: &mut EngineContext<'_>, jobset: JobSetId, rj: u32, old: Option<&RjStatus>, new: &RjStatus) {
    let counted = &new.job_restarts_count_towards_max;
    for (index, n) in new.job_restarts.iter().enumerate() {
        let before = old.and_then(|b| b.job_restarts.get(index));
        if before.copied().unwrap_or(0) < *n {
            let job = ctx.store.row_for_slot(jobset, rj, index as u32);
            ctx.emit(Body::JobRestartCounted {
                jobset,
                job,
                restarts: *n,
                counted: counted.get(index).copied().unwrap_or(0),
            });
        }
    }
}

/// Emits records for changed in-place restart attempts (IPR-7, IPR-9).
fn emit_attempts(ctx: &mut EngineContext<'_>, jobset: JobSetId, old: &JobSetStatus, new: &JobSetStatus) -> bool {
    let previous = new.previous_in_place_restart_attempt;
    let current = new.current_in_place_restart_attempt;
    let mut has_emitted = false;
    if let Some(attempt) = previous.filter(|_| previous != old.previous_in_place_restart_attempt) {
        ctx.emit(Body::PreviousAttempt { jobset, attempt });
        ctx.mark_restart();
        has_emitted = true;
    }
    if let Some(attempt) = current.filter(|_| current != old.current_in_place_restart_attempt) {
        ctx.emit(Body::CurrentAttempt { jobset, attempt });
        has_emitted = true;
    }
    has_emitted
}

/// DELETE. Foreground: the object waits for its dependents, which the garbage collector deletes. Otherwise it is
/// removed immediately, and its Jobs are deleted in the background (C-17) or stay.
pub fn delete_jobset(ctx: &mut EngineContext<'_>, jobset: JobSetId, propagation: DeletionPropagation) {
    let row = &ctx.store.jobsets[jobset.ix()];
    if row.deleted || (row.is_deleting() && propagation == DeletionPropagation::Foreground) {
        return;
    }
    let held = !row.spec.finalizers.is_empty();
    if propagation == DeletionPropagation::Foreground || held {
        let (now, deleting) = (ctx.now, row.is_deleting());
        let row = &mut ctx.store.get_mut().jobsets[jobset.ix()];
        row.foreground = propagation == DeletionPropagation::Foreground;
        row.deletion.get_or_insert(now);
        if !deleting {
            jobset_changed(ctx, jobset, JobSetChange::Deleting);
        }
        return;
    }
    if propagation == DeletionPropagation::Orphan {
        orphan_jobs(ctx, jobset);
    }
    remove_jobset(ctx, jobset);
}

/// Removes the owner references of the Jobs, so that they are not garbage-collected.
fn orphan_jobs(ctx: &mut EngineContext<'_>, jobset: JobSetId) {
    let jobs: Vec<JobId> = ctx.store.jobs_of(jobset).collect();
    for job in jobs {
        if ctx.store.jobs[job.ix()].exists {
            ctx.store.get_mut().jobs[job.ix()].orphaned = true;
        }
    }
    ctx.store.get_mut().others.disown(jobset);
}

/// Removes a JobSet under deletion, unless a finalizer holds it.
fn remove_jobset_if_free(ctx: &mut EngineContext<'_>, jobset: JobSetId) {
    let row = &ctx.store.jobsets[jobset.ix()];
    let held = row.foreground || !row.spec.finalizers.is_empty();
    if row.is_deleting() && !row.deleted && !held {
        remove_jobset(ctx, jobset);
    }
}

fn remove_jobset(ctx: &mut EngineContext<'_>, jobset: JobSetId) {
    ctx.store.get_mut().jobsets[jobset.ix()].deleted = true;
    ctx.emit(Body::JobSetDeleted { jobset });
    jobset_changed(ctx, jobset, JobSetChange::Gone);
}
