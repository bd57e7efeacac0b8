//! Suspends and resumes the Jobs present at the start of the pass (SUS-1 to SUS-5).
//!
//! Must never change restarts (SUS-7) or wait for pods.

use super::job_buckets::{JobBucket, JobBuckets, bucket, in_bucket, jobs_of};
use super::{ActionPlan, JobSetView, conditions, depends_on, startup};

/// SUS-1: suspends every active Job that is not suspended; the condition is set without waiting for the pods.
pub fn suspend(view: &JobSetView<'_>, plan: &mut ActionPlan, buckets: &JobBuckets) {
    let suspended: u32 = plan.status.replicated_jobs.iter().map(|s| s.suspended).sum();
    if suspended < buckets.active {
        let running = in_bucket(view, JobBucket::Active).filter(|(_, j)| !j.suspended);
        plan.suspend.extend(running.map(|(at, _)| at));
    }
    let changed = conditions::set_suspended(plan, view.now);
    if changed || !plan.suspend.is_empty() {
        plan.rules.push("SUS-1");
    }
}

/// SUS-4, SUS-5, SU-3: resumes the Jobs that dependsOn and InOrder permit, including Jobs suspended by a user (C-33).
pub fn resume(view: &JobSetView<'_>, plan: &mut ActionPlan) {
    let specs = &view.jobset.spec.replicated_jobs;
    let in_order = startup::in_order(view);
    for (at, spec) in specs.iter().enumerate() {
        let statuses = &plan.status.replicated_jobs;
        if !depends_on::reached(specs, statuses, at) {
            continue;
        }
        if in_order && startup::started(spec.replicas, &statuses[at]) {
            continue;
        }
        if statuses[at].suspended > 0 {
            for i in jobs_of(view, at as u32) {
                let job = &view.jobs[i];
                if job.suspended && bucket(view, job) == Ok(JobBucket::Active) {
                    plan.resume.push(i as u32);
                }
            }
            plan.rules.push("SUS-5");
        }
        if in_order {
            // SU-3: Suspended stays True until the last replicatedJob has started.
            conditions::set_startup_in_progress(plan, view.now);
            return;
        }
    }
    if conditions::set_resumed(plan, view.now) {
        plan.rules.push("SUS-4");
    }
}
