//! What the JobSet manager's cache shows and when, and the queue of its passes (jobset.md 3.1).
//!
//! Must never decide anything: that is the pass.

use super::event::Event;
use super::jobsets::CachedJobSet;
use super::run::Run;
use crate::base::*;
use crate::policy;
use crate::record::Body;

impl Run<'_> {
    /// The user's POST of the JobSet.
    pub fn submit(&mut self, jobset: JobSetId) {
        let js = &mut self.w.jobsets[jobset.ix()];
        js.submitted = true;
        js.spec = self.m.jobsets[jobset.ix()].spec.clone();
        js.suspended = js.spec.spec.suspend;
        js.resource_version = 1;
        self.emit(Body::JobSetCreated { jobset });
        self.jobset_changed(jobset);
    }

    /// The JobSet manager comes back with other feature gates; its first pass over everything follows (REC-1).
    pub fn switch_gates(&mut self, index: u32) {
        self.w.gates = self.m.scenario.gate_switches[index as usize].gates;
        for i in 0..self.w.jobsets.len() as u32 {
            let js = &mut self.w.jobsets[i as usize];
            js.errors = 0;
            if js.submitted && !js.deleted {
                self.enqueue_jobset(JobSetId(i));
            }
        }
    }

    /// The stored JobSet changed: the manager's cache will see it, and a pass follows (REC-1).
    pub fn jobset_changed(&mut self, jobset: JobSetId) {
        let lag = self.watch_lag();
        self.after(lag, Event::JobSetSeen(jobset));
    }

    /// How much later than the answer to its own write the manager's cache shows it. The watch event and the answer
    /// set out together and travel alike, so half of the time the event is there first: zero.
    pub fn own_write_lag(&mut self) -> Duration {
        let (event, answer) = (self.watch_lag(), self.watch_lag());
        event - answer
    }

    /// The manager itself wrote the JobSet.
    pub(super) fn jobset_written(&mut self, jobset: JobSetId) {
        let lag = self.own_write_lag();
        if lag == Duration::ZERO {
            self.jobset_seen(jobset);
        } else {
            self.after(lag, Event::JobSetSeen(jobset));
        }
    }

    /// The manager itself wrote a Job.
    pub fn job_written(&mut self, job: JobId) {
        let lag = self.own_write_lag();
        if lag == Duration::ZERO {
            self.job_seen(job);
        } else {
            self.after(lag, Event::JobSeen(job));
        }
    }

    pub fn jobset_seen(&mut self, jobset: JobSetId) {
        let js = &mut self.w.jobsets[jobset.ix()];
        let mut status = std::mem::take(&mut js.cached.status);
        policy::buckets::copy_status(&mut status, &js.status);
        js.cached = CachedJobSet {
            exists: js.submitted && !js.deleted,
            deleting: js.deleting,
            suspended: js.suspended,
            spec: js.spec.clone(),
            status,
            resource_version: js.resource_version,
            service_exists: js.service_exists,
        };
        self.enqueue_jobset(jobset);
    }

    /// A Job of the JobSet reaches the manager's cache.
    pub fn job_seen(&mut self, job: JobId) {
        let m = &self.m.jobs[job.ix()];
        let view = self.w.jobs[job.ix()]
            .exists
            .then(|| super::jobset_jobs::view_of(&self.w.jobs[job.ix()], m, self.job_spec(job)));
        let cached = &mut self.w.jobsets[m.jobset.ix()].cached_jobs;
        cached.see((m.rj, m.index), job, view);
        self.enqueue_jobset(m.jobset);
    }

    /// A pod of the JobSet changed; only in-place JobSets are told (REC-1).
    pub fn pod_news(&mut self, jobset: JobSetId) {
        if std::mem::replace(&mut self.w.jobsets[jobset.ix()].pod_news, true) {
            return;
        }
        let lag = self.watch_lag();
        self.after(lag, Event::JobSetPodNews(jobset));
    }

    pub fn pod_news_arrives(&mut self, jobset: JobSetId) {
        self.w.jobsets[jobset.ix()].pod_news = false;
        self.enqueue_jobset(jobset);
    }

    pub(super) fn enqueue_jobset_at(&mut self, jobset: JobSetId, at: Time) {
        let js = &mut self.w.jobsets[jobset.ix()];
        if at < js.due {
            js.due = at;
            self.at(at, Event::JobSetDue(jobset));
        }
    }

    pub fn jobset_due(&mut self, jobset: JobSetId) {
        let js = &mut self.w.jobsets[jobset.ix()];
        if js.due == self.w.now {
            js.due = Time::NEVER;
            self.enqueue_jobset(jobset);
        }
    }

    /// REC-2: events during a pass collapse into one following pass.
    pub(super) fn enqueue_jobset(&mut self, jobset: JobSetId) {
        if !self.m.jobsets[jobset.ix()].managed {
            return;
        }
        let c = &mut self.w.jobset_controller;
        if c.busy_with == Some(jobset) {
            c.dirty = true;
            return;
        }
        let js = &mut self.w.jobsets[jobset.ix()];
        if !js.queued {
            js.queued = true;
            c.queue.push_back(jobset);
            c.longest_queue = c.longest_queue.max(c.queue.len() as u32);
        }
        self.next_pass();
    }
}
