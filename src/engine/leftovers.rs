//! Deletion without waiting for dependents: Background and Orphan. The owner's object goes at once, its pods later or
//! never.
//!
//! Must never delete a pod of another Job object of the same name.

use super::pods::flag;
use super::run::Run;
use crate::base::*;
use crate::record::{Body, Deleter};

impl Run<'_> {
    /// DELETE of a Job with propagation Background or Orphan: the name is free at once (CRE-8, C-13).
    pub fn remove_job(&mut self, job: JobId, orphan: bool) {
        if !self.w.jobs[job.ix()].exists {
            return;
        }
        self.write_history(job, false);
        self.emit(Body::JobGone { job });
        let jobset = self.m.jobs[job.ix()].jobset;
        self.forget_successes(job);
        let j = &mut self.w.jobs[job.ix()];
        j.exists = false;
        j.deleting = false;
        j.left_behind = true;
        let pods: Vec<PodId> = (0..self.pods_of(job))
            .map(|k| self.pod_of(job, k))
            .filter(|p| self.w.pods.exists(*p))
            .collect();
        for pod in pods {
            // The Job controller takes its finalizer off pods whose Job is gone.
            self.drop_finalizer(pod);
            if !orphan && self.w.pods.exists(pod) && !self.w.pods.has(pod, flag::DELETING) {
                let grace_zero = self.job_spec(job).template.spec.termination_grace_period_s == 0;
                self.mark_deleting(pod, Deleter::GarbageCollector, grace_zero);
            }
        }
        self.forget_left_behind(job);
        self.job_changed(job);
        if self.w.jobsets[jobset.ix()].deleting {
            self.jobset_may_be_gone(jobset);
        }
    }

    /// The last pod of a Job without an object is gone: the place is free.
    pub fn forget_left_behind(&mut self, job: JobId) {
        let j = &self.w.jobs[job.ix()];
        if !j.left_behind || j.exists || j.live.objects > 0 {
            return;
        }
        self.w.jobs[job.ix()].reset();
    }

    /// DELETE of a JobSet with Background (its Jobs go in the background too, C-17) or Orphan (they stay).
    pub fn remove_jobset(&mut self, jobset: JobSetId, orphan: bool) {
        let js = &mut self.w.jobsets[jobset.ix()];
        if js.deleted {
            return;
        }
        if !js.spec.finalizers.is_empty() {
            js.deleting = true;
            js.resource_version += 1;
            self.jobset_changed(jobset);
            return;
        }
        js.deleted = true;
        self.emit(Body::JobSetDeleted { jobset });
        self.jobset_changed(jobset);
        if orphan {
            return;
        }
        for job in self.m.jobs_of(jobset) {
            if self.w.jobs[job.ix()].exists {
                self.collect_job_of_jobset(job);
            }
        }
    }
}
