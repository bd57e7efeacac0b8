//! Missing Jobs that are created in this pass (CRE-1 to CRE-7, RS-1, RS-2).
//!
//! Must never create a Job whose name is taken by any existing object.

use super::job_buckets::jobs_of;
use super::job_buckets::tally::BucketTally;
use super::{ActionPlan, CreateJob, JobSetView, conditions, depends_on, startup};
use sim_api::spec::RestartStrategy;

/// Applies CRE-1 to CRE-7 to all replicatedJobs, in spec order.
pub fn create_missing(view: &JobSetView<'_>, plan: &mut ActionPlan, tally: &BucketTally) {
    let specs = &view.jobset.spec.replicated_jobs;
    // RS-2: no Job is created while a Job of a previous attempt exists in any replicatedJob.
    let blocked = view.jobset.spec.strategy() == RestartStrategy::BlockingRecreate && tally.buckets.previous > 0;
    if blocked {
        plan.rules.push("RS-2");
    }
    let in_order = !view.suspended && startup::in_order(view);
    for (at, spec) in specs.iter().enumerate() {
        if !depends_on::reached(specs, &plan.status.replicated_jobs, at) {
            plan.rules.push("DEP-3");
            continue;
        }
        if in_order && startup::started(spec.replicas, &plan.status.replicated_jobs[at]) {
            continue;
        }
        if !blocked && tally.jobs(at) < spec.replicas {
            candidates(view, plan, at as u32, spec.replicas);
        }
        if in_order {
            conditions::set_startup_in_progress(plan, view.now);
            plan.rules.push("SU-2");
            return;
        }
    }
    if in_order && conditions::set_startup_completed(plan, view.now) {
        plan.rules.push("CRE-6");
    }
}

/// CRE-1: every index without a Job object, ascending.
fn candidates(view: &JobSetView<'_>, plan: &mut ActionPlan, rj: u32, replicas: u32) {
    let jobs = &view.jobs[jobs_of(view, rj)];
    let mut taken = jobs.iter().map(|j| j.index).peekable();
    for index in 0..replicas {
        if taken.next_if_eq(&index).is_some() {
            continue;
        }
        plan.create.push(CreateJob { rj, index, suspended: view.suspended });
    }
    plan.rules.push(if view.suspended { "CRE-7" } else { "CRE-4" });
}
