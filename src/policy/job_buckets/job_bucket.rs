//! REC-5: the bucket of a Job, from its labels, its conditions and the stored restart counters.
//! Must never read anything but labels and conditions of Jobs, as upstream.

use crate::view::{JobView, PlanBasis};
use sim_api::spec::keys::RESTART_ATTEMPT;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum JobBucket {
    Active,
    Successful,
    Failed,
    /// A Job of an earlier attempt, ignored by all policies and counters.
    Previous,
}

/// Number of Jobs per bucket; lets later steps skip empty buckets.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct JobBuckets {
    pub active: u32,
    pub successful: u32,
    pub failed: u32,
    pub previous: u32,
}

/// The reason why a Job has no bucket.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum UnreadableJob {
    Label(&'static str),
    /// The index is out of range for its replicatedJob.
    Index,
}

pub fn bucket_of(basis: &PlanBasis<'_>, job: &JobView) -> Result<JobBucket, UnreadableJob> {
    let Some(attempt) = job.restart_attempt else {
        return Err(UnreadableJob::Label(RESTART_ATTEMPT));
    };
    if attempt < basis.status.restarts {
        return Ok(JobBucket::Previous);
    }
    if let (true, Some(label)) = (basis.gates.restart_job, job.unusable_label) {
        return Err(UnreadableJob::Label(label));
    }
    // A missing label is only logged upstream: the Job counts as current.
    if let (true, Some(own)) = (basis.gates.restart_job, job.job_restart_attempt)
        && own < job_restarts(basis, job).ok_or(UnreadableJob::Index)?
    {
        return Ok(JobBucket::Previous);
    }
    Ok(match &job.finished {
        None => JobBucket::Active,
        Some(f) if f.failed => JobBucket::Failed,
        Some(_) => JobBucket::Successful,
    })
}

/// REC-5.3: number of individual restarts of a Job's slot; a missing list means zeros.
fn job_restarts(basis: &PlanBasis<'_>, job: &JobView) -> Option<u32> {
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
