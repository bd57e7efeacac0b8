//! REC-5 and REC-6: which Jobs count for what, and the counters per replicatedJob.
//!
//! Must never look at anything but labels and conditions of Jobs, as upstream does not.

use super::{JobSetStatus, JobSetView, JobView, Plan};
use crate::spec::keys::RESTART_ATTEMPT;
use std::ops::Range;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bucket {
    Active,
    Successful,
    Failed,
    /// Of an earlier restart: invisible to every policy and counter.
    Previous,
}

/// How many Jobs are in each bucket; lets later steps skip their loop.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets {
    pub active: u32,
    pub successful: u32,
    pub failed: u32,
    pub previous: u32,
}

/// REC-5 for one Job, by the restart counters stored when the pass began.
pub fn bucket(view: &JobSetView<'_>, job: &JobView) -> Result<Bucket, String> {
    let Some(attempt) = job.restart_attempt else {
        return Err(format!(
            "job {}: invalid value for label {RESTART_ATTEMPT}, must be integer",
            (view.job_name)(job.rj, job.index)
        ));
    };
    if attempt < view.status.restarts {
        return Ok(Bucket::Previous);
    }
    if let (true, Some(label)) = (view.gates.restart_job, job.unusable_label) {
        return Err(format!(
            "job {}: invalid value for label {label}",
            (view.job_name)(job.rj, job.index)
        ));
    }
    // A missing label is only logged upstream: the Job counts as current.
    if let (true, Some(own)) = (view.gates.restart_job, job.job_restart_attempt)
        && own < job_restarts(view, job)?
    {
        return Ok(Bucket::Previous);
    }
    Ok(match &job.finished {
        None => Bucket::Active,
        Some(f) if f.failed => Bucket::Failed,
        Some(_) => Bucket::Successful,
    })
}

/// REC-5.3: the individual restarts of a Job's slot; no list yet means zeros of length `replicas`.
fn job_restarts(view: &JobSetView<'_>, job: &JobView) -> Result<u32, String> {
    let (rj, index) = (job.rj as usize, job.index as usize);
    let list = view.status.replicated_jobs.get(rj).map(|s| &s.job_restarts);
    let spec = view.jobset.spec.replicated_jobs.get(rj);
    let value = match list {
        Some(list) if !list.is_empty() => list.get(index).copied(),
        _ => spec.filter(|r| job.index < r.replicas).map(|_| 0),
    };
    value.ok_or_else(|| {
        format!(
            "job index {index} is out of bounds for replicated job {}",
            spec.map_or("?", |r| r.name.as_str())
        )
    })
}

/// The Jobs of one bucket with their positions. Call it only after `update` accepted every Job.
pub fn in_bucket<'v>(
    view: &'v JobSetView<'_>,
    wanted: Bucket,
) -> impl Iterator<Item = (u32, &'v JobView)> {
    let jobs = view.jobs.iter().enumerate();
    jobs.filter(move |(_, job)| bucket(view, job) == Ok(wanted))
        .map(|(at, job)| (at as u32, job))
}

/// Positions of the Jobs of one replicatedJob; `view.jobs` is in slot order.
pub fn jobs_of(view: &JobSetView<'_>, rj: u32) -> Range<usize> {
    let start = view.jobs.partition_point(|j| j.rj < rj);
    start..start + view.jobs[start..].partition_point(|j| j.rj == rj)
}

/// REC-5 over all Jobs and REC-6: the counters go to `plan.status`.
pub fn update(view: &JobSetView<'_>, plan: &mut Plan) -> Result<Buckets, String> {
    let specs = &view.jobset.spec.replicated_jobs;
    let status = &mut plan.status.replicated_jobs;
    status.resize_with(specs.len(), Default::default);
    for s in status.iter_mut() {
        (s.ready, s.succeeded, s.failed) = (0, 0, 0);
        (s.active, s.suspended) = (0, 0);
        if !view.gates.restart_job {
            // ST-6, ST-7 are carried over only with the gate.
            s.job_restarts.clear();
            s.job_restarts_count_towards_max.clear();
        }
    }
    let mut n = Buckets::default();
    for job in view.jobs {
        let place = status.get_mut(job.rj as usize);
        match bucket(view, job)? {
            Bucket::Previous => n.previous += 1,
            Bucket::Failed => {
                n.failed += 1;
                place.into_iter().for_each(|s| s.failed += 1);
            }
            Bucket::Successful => {
                n.successful += 1;
                place.into_iter().for_each(|s| s.succeeded += 1);
            }
            Bucket::Active => {
                n.active += 1;
                if let (Some(s), Some(spec)) = (place, specs.get(job.rj as usize)) {
                    s.ready += u32::from(job.succeeded + job.ready >= spec.template.pods());
                    s.active += u32::from(job.active > 0);
                    s.suspended += u32::from(job.suspended);
                }
            }
        }
    }
    if plan.status.replicated_jobs != view.status.replicated_jobs {
        plan.status_dirty = true;
        plan.rules.push("REC-6");
    }
    Ok(n)
}

/// `to` becomes equal to `from` and keeps its buffers.
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
        (t.active, t.suspended) = (f.active, f.suspended);
        t.job_restarts.clone_from(&f.job_restarts);
        t.job_restarts_count_towards_max
            .clone_from(&f.job_restarts_count_towards_max);
    }
}
