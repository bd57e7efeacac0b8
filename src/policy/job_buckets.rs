//! REC-5 and REC-6: the bucket of each Job, and the counters per replicatedJob.
//!
//! Must never read anything but labels and conditions of Jobs, as upstream.

pub(crate) mod job_bucket;
pub mod tally;

use super::reconcile_error::ReconcileError;
use super::{ActionPlan, JobSetStatus, JobSetView, JobView};
use job_bucket::{UnreadableJob, bucket_of};
use std::ops::Range;
use tally::BucketTally;

pub use job_bucket::{JobBucket, JobBuckets};

/// The bucket of one Job (REC-5).
pub fn bucket(view: &JobSetView<'_>, job: &JobView) -> Result<JobBucket, ReconcileError> {
    bucket_of(&view.basis(), job).map_err(|why| reconcile_error(view, job, why))
}

fn reconcile_error(view: &JobSetView<'_>, job: &JobView, why: UnreadableJob) -> ReconcileError {
    match why {
        UnreadableJob::Label(label) => ReconcileError::InvalidLabel { job: (view.job_name)(job.rj, job.index), label },
        UnreadableJob::Index => {
            let spec = view.jobset.spec.replicated_jobs.get(job.rj as usize);
            ReconcileError::JobIndex {
                index: job.index,
                replicated_job: spec.map_or_else(|| "?".to_owned(), |r| r.name.clone()),
            }
        }
    }
}

/// The Jobs of one bucket with their positions. Requires that `update` accepted every Job.
pub fn in_bucket<'v>(view: &'v JobSetView<'_>, wanted: JobBucket) -> impl Iterator<Item = (u32, &'v JobView)> {
    let jobs = view.jobs.iter().enumerate();
    jobs.filter(move |(_, job)| bucket(view, job) == Ok(wanted)).map(|(at, job)| (at as u32, job))
}

/// Positions of the Jobs of one replicatedJob; `view.jobs` is in slot order.
pub fn jobs_of(view: &JobSetView<'_>, rj: u32) -> Range<usize> {
    let start = view.jobs.partition_point(|j| j.rj < rj);
    start..start + view.jobs[start..].partition_point(|j| j.rj == rj)
}

/// Applies REC-5 to all Jobs, and stores the counters (REC-6) in `plan.status`.
pub fn update(view: &JobSetView<'_>, tally: &BucketTally, plan: &mut ActionPlan) -> Result<JobBuckets, ReconcileError> {
    if tally.unreadable > 0 {
        for job in view.jobs {
            bucket(view, job)?;
        }
    }
    let status = &mut plan.status.replicated_jobs;
    status.resize_with(view.jobset.spec.replicated_jobs.len(), Default::default);
    status.iter_mut().for_each(|s| s.absent = false);
    if !view.gates.restart_job {
        // ST-6, ST-7 are carried over only if the feature gate is enabled.
        for s in status.iter_mut() {
            s.job_restarts.clear();
            s.job_restarts_count_towards_max.clear();
        }
    }
    tally.write(status);
    if plan.status.replicated_jobs != view.status.replicated_jobs {
        plan.status_dirty = true;
        plan.rules.push("REC-6");
    }
    Ok(tally.buckets)
}

/// Copies `from` to `to`, reusing the buffers of `to`.
pub fn copy_status(to: &mut JobSetStatus, from: &JobSetStatus) {
    to.restarts = from.restarts;
    to.restarts_count_towards_max = from.restarts_count_towards_max;
    to.terminal_state = from.terminal_state;
    to.current_in_place_restart_attempt = from.current_in_place_restart_attempt;
    to.previous_in_place_restart_attempt = from.previous_in_place_restart_attempt;
    to.conditions.truncate(from.conditions.len());
    for (i, c) in from.conditions.iter().enumerate() {
        let Some(t) = to.conditions.get_mut(i) else {
            to.conditions.push(c.clone());
            continue;
        };
        (t.kind, t.status) = (c.kind, c.status);
        t.reason.clone_from(&c.reason);
        t.last_transition = c.last_transition;
        t.reason_suffix.clone_from(&c.reason_suffix);
        t.message.clone_from(&c.message);
    }
    let rjs = &mut to.replicated_jobs;
    rjs.resize_with(from.replicated_jobs.len(), Default::default);
    for (t, f) in rjs.iter_mut().zip(&from.replicated_jobs) {
        (t.ready, t.succeeded, t.failed) = (f.ready, f.succeeded, f.failed);
        (t.active, t.suspended, t.absent) = (f.active, f.suspended, f.absent);
        t.job_restarts.clone_from(&f.job_restarts);
        t.job_restarts_count_towards_max.clone_from(&f.job_restarts_count_towards_max);
    }
}
