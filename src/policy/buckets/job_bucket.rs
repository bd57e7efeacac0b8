//! REC-5: the bucket of a Job, from its labels, its conditions and the stored restart counters.
//! Must never read anything but labels and conditions of Jobs, as upstream.

use crate::view::{Basis, JobView};
use sim_api::spec::keys::RESTART_ATTEMPT;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bucket {
    Active,
    Successful,
    Failed,
    /// A Job of an earlier attempt, ignored by all policies and counters.
    Previous,
}

/// Number of Jobs per bucket; lets later steps skip empty buckets.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets {
    pub active: u32,
    pub successful: u32,
    pub failed: u32,
    pub previous: u32,
}

/// The reason why a Job has no bucket.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    Label(&'static str),
    /// The index is out of range for its replicatedJob.
    Index,
}

pub fn bucket_of(basis: &Basis<'_>, job: &JobView) -> Result<Bucket, Unreadable> {
    let Some(attempt) = job.restart_attempt else {
        return Err(Unreadable::Label(RESTART_ATTEMPT));
    };
    if attempt < basis.status.restarts {
        return Ok(Bucket::Previous);
    }
    if let (true, Some(label)) = (basis.gates.restart_job, job.unusable_label) {
        return Err(Unreadable::Label(label));
    }
    // A missing label is only logged upstream: the Job counts as current.
    if let (true, Some(own)) = (basis.gates.restart_job, job.job_restart_attempt)
        && own < job_restarts(basis, job).ok_or(Unreadable::Index)?
    {
        return Ok(Bucket::Previous);
    }
    Ok(match &job.finished {
        None => Bucket::Active,
        Some(f) if f.failed => Bucket::Failed,
        Some(_) => Bucket::Successful,
    })
}

/// REC-5.3: number of individual restarts of a Job's slot; a missing list means zeros.
fn job_restarts(basis: &Basis<'_>, job: &JobView) -> Option<u32> {
    let (rj, index) = (job.rj as usize, job.index as usize);
    let list = basis.status.replicated_jobs.get(rj);
    match list.map(|s| &s.job_restarts) {
        Some(list) if !list.is_empty() => list.get(index).copied(),
        _ => {
            let spec = basis.jobset.spec.replicated_jobs.get(rj);
            spec.filter(|r| job.index < r.replicas).map(|_| 0)
        }
    }
}
