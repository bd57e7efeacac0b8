//! One reconcile pass over one JobSet, in upstream's strict order (REC-4 to REC-15).
//!
//! Must never execute anything: the plan contains the actions, the engine executes them.

use super::job_buckets::tally::BucketTally;
use super::job_buckets::{self, JobBucket, in_bucket};
use super::reconcile_error::ReconcileError;
use super::{ActionPlan, JobSetView, conditions, elastic, failure, in_place, restart, success, suspend, ttl};
use sim_api::spec::JOBSET_CONTROLLER;

/// Computes the plan of one pass. `plan` is overwritten; its buffers are reused.
pub fn reconcile(view: &JobSetView<'_>, plan: &mut ActionPlan) {
    reconcile_counted(view, &BucketTally::new(&view.basis(), view.jobs), plan);
}

/// Like `reconcile`, for a caller that has already counted the Jobs of the view.
pub fn reconcile_counted(view: &JobSetView<'_>, tally: &BucketTally, plan: &mut ActionPlan) {
    plan.clear();
    job_buckets::copy_status(&mut plan.status, view.status);
    let manager = view.jobset.spec.managed_by.as_deref();
    if view.deleting || manager.is_some_and(|m| m != JOBSET_CONTROLLER) {
        plan.rules.push("REC-4");
        return;
    }
    if let Err(error) = pass(view, tally, plan) {
        // REC-13: requests sent so far remain; status changes are discarded.
        plan.error = Some(error);
        plan.status_dirty = false;
        plan.events.clear();
        job_buckets::copy_status(&mut plan.status, view.status);
        plan.rules.push("REC-13");
    }
}

fn pass(view: &JobSetView<'_>, tally: &BucketTally, plan: &mut ActionPlan) -> Result<(), ReconcileError> {
    let seen = job_buckets::update(view, tally, plan)?;
    if conditions::terminal(view.status).is_some() {
        if seen.active > 0 {
            delete(view, plan, JobBucket::Active, "REC-7");
        }
        ttl::after_finished(view, plan);
        return Ok(());
    }
    if tally.undeleted_previous > 0 {
        delete(view, plan, JobBucket::Previous, "REC-8");
    }
    if !view.suspended && all_jobs_ready(view, plan) && conditions::set_jobs_ready(plan, view.now) {
        plan.rules.push("REC-9");
    }
    if seen.failed > 0 {
        plan.rules.push("REC-10");
        return failure::execute(view, plan);
    }
    if seen.successful > 0 && success::satisfied_message(view)? {
        conditions::set_completed(plan, view.now);
        plan.rules.extend(["REC-11", "SP-2"]);
        return Ok(());
    }
    keep_running(view, tally, plan)
}

/// REC-12: Service, creation, suspend or resume, in-place step.
fn keep_running(view: &JobSetView<'_>, tally: &BucketTally, plan: &mut ActionPlan) -> Result<(), ReconcileError> {
    if view.jobset.spec.network.enable_dns_hostnames && !view.service_exists {
        plan.create_service = true;
        plan.rules.push("SVC-1");
    }
    plan.create_claims = view.jobset.spec.volume_claim_templates;
    if plan.create_claims > 0 {
        plan.rules.push("PVC-1");
    }
    elastic::scale(view, plan);
    restart::create_missing(view, plan, tally);
    if view.suspended {
        suspend::suspend(view, plan, &tally.buckets);
    } else {
        suspend::resume(view, plan);
    }
    in_place::step(view, plan)
}

/// DEL-1: Jobs with a deletionTimestamp are skipped.
fn delete(view: &JobSetView<'_>, plan: &mut ActionPlan, bucket: JobBucket, rule: &'static str) {
    let targets = in_bucket(view, bucket).filter(|(_, job)| !job.deleting);
    plan.delete.extend(targets.map(|(at, _)| at));
    if !plan.delete.is_empty() {
        plan.rules.push(rule);
    }
}

/// REC-9: compares totals over all replicatedJobs, so succeeded Jobs of one may compensate for others (C-25).
fn all_jobs_ready(view: &JobSetView<'_>, plan: &ActionPlan) -> bool {
    let specs = view.jobset.spec.replicated_jobs.iter();
    let wanted: u64 = specs.map(|r| u64::from(r.replicas)).sum();
    let statuses = plan.status.replicated_jobs.iter();
    let ready: u64 = statuses.map(|s| u64::from(s.ready + s.succeeded)).sum();
    ready == wanted
}
