//! TTL-after-finished of Jobs: a controller of its own that deletes a finished Job in the foreground
//! (kubernetes.md 1.6).
//!
//! Must never look at the JobSet's ttlSecondsAfterFinished, which its own controller follows.

use super::api::{Answer, Call};
use super::event::Event;
use super::run::Run;
use crate::base::*;
use crate::policy::ttl::whole_seconds;

impl Run<'_> {
    /// The Job has just become Complete or Failed.
    pub(super) fn arm_job_ttl(&mut self, job: JobId) {
        let Some(ttl) = self.job_spec(job).ttl_seconds_after_finished else {
            return;
        };
        let lag = self.watch_lag();
        // The finish time is stored in whole seconds: up to a second early (D-10).
        let due = whole_seconds(self.w.now) + Duration::from_secs(u64::from(ttl));
        let incarnation = self.w.jobs[job.ix()].incarnation;
        let at = due.max(self.w.now + lag);
        self.at(at, Event::JobTtlOver { job, incarnation });
    }

    /// A GET to be sure, then the DELETE with the UID as precondition.
    pub fn job_ttl_over(&mut self, job: JobId, incarnation: u32) {
        if !self.has_expired(job, incarnation) {
            return;
        }
        let seen = self.w.api.send(Call::TtlJobGet, self.w.now);
        self.w.api.answered(Call::TtlJobGet, Answer::Success, seen);
        let answered = self.w.api.send(Call::TtlJobDelete, seen);
        self.at(answered, Event::JobTtlDeletes { job, incarnation });
    }

    pub fn job_ttl_deletes(&mut self, job: JobId, incarnation: u32) {
        let there = self.has_expired(job, incarnation);
        self.w
            .api
            .answered(Call::TtlJobDelete, Answer::found(there), self.w.now);
        if there {
            self.job_deleting(job);
        }
    }

    /// The same object, finished, and not being deleted by anybody else.
    fn has_expired(&self, job: JobId, incarnation: u32) -> bool {
        let j = &self.w.jobs[job.ix()];
        j.exists && j.incarnation == incarnation && !j.deleting && j.status.is_finished()
    }
}
