//! Totals of REC-5 and REC-6 over the Jobs of a JobSet; a cache updates them Job by Job between passes.
//!
//! Must never read anything but labels and conditions of Jobs, as upstream.

use super::job_bucket::{JobBucket, JobBuckets, bucket_of};
use crate::view::{JobView, PlanBasis, RjStatus};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BucketTally {
    pub buckets: JobBuckets,
    /// Jobs of earlier attempts without a deletionTimestamp (REC-8).
    pub undeleted_previous: u32,
    rjs: Vec<TallyCounts>,
    /// Jobs with invalid labels; each of them ends a pass (REC-5.1, REC-5.3).
    pub unreadable: u32,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct TallyCounts {
    jobs: u32,
    ready: u32,
    succeeded: u32,
    failed: u32,
    active: u32,
    suspended: u32,
}

impl BucketTally {
    pub fn new(basis: &PlanBasis<'_>, jobs: &[JobView]) -> BucketTally {
        let mut tally = BucketTally::default();
        let rjs = basis.jobset.spec.replicated_jobs.len();
        tally.rjs.resize(rjs, TallyCounts::default());
        jobs.iter().for_each(|job| tally.add(basis, job));
        tally
    }

    pub fn add(&mut self, basis: &PlanBasis<'_>, job: &JobView) {
        self.change(basis, job, |sum, by| *sum += by);
    }

    /// Removes a Job; `job` must be as it was when added, with the same basis.
    pub fn remove(&mut self, basis: &PlanBasis<'_>, job: &JobView) {
        self.change(basis, job, |sum, by| *sum -= by);
    }

    fn change(&mut self, basis: &PlanBasis<'_>, job: &JobView, put: fn(&mut u32, u32)) {
        let at = job.rj as usize;
        if let Some(counts) = self.rjs.get_mut(at) {
            put(&mut counts.jobs, 1);
        }
        let n = &mut self.buckets;
        let Ok(bucket) = bucket_of(basis, job) else {
            return put(&mut self.unreadable, 1);
        };
        let of = match bucket {
            JobBucket::Previous => &mut n.previous,
            JobBucket::Failed => &mut n.failed,
            JobBucket::Successful => &mut n.successful,
            JobBucket::Active => &mut n.active,
        };
        put(of, 1);
        put(&mut self.undeleted_previous, u32::from(bucket == JobBucket::Previous && !job.deleting));
        let specs = &basis.jobset.spec.replicated_jobs;
        let (Some(s), Some(spec)) = (self.rjs.get_mut(at), specs.get(at)) else {
            return;
        };
        match bucket {
            JobBucket::Previous => {}
            JobBucket::Failed => put(&mut s.failed, 1),
            JobBucket::Successful => put(&mut s.succeeded, 1),
            JobBucket::Active => {
                let ready = job.succeeded + job.ready >= spec.template.pods();
                put(&mut s.ready, u32::from(ready));
                put(&mut s.active, u32::from(job.active > 0));
                put(&mut s.suspended, u32::from(job.suspended));
            }
        }
    }

    /// Number of Jobs of a replicatedJob in all buckets.
    pub fn jobs(&self, rj: usize) -> u32 {
        self.rjs.get(rj).map_or(0, |counts| counts.jobs)
    }

    /// Writes the counters to the status (REC-6).
    pub fn write(&self, status: &mut [RjStatus]) {
        for (s, counts) in status.iter_mut().zip(&self.rjs) {
            (s.ready, s.succeeded, s.failed) = (counts.ready, counts.succeeded, counts.failed);
            (s.active, s.suspended) = (counts.active, counts.suspended);
        }
    }
}
