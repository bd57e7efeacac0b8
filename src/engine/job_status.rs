//! What a sync of the Job controller stores at its end: counters, conditions, and whose finalizers go before that.

use super::event::Event;
use super::job_count::{Computed, EndedPod, insert};
use super::jobs::JobCondition;
use super::pods::flag;
use super::run::Run;
use crate::base::*;
use crate::policy::JobPlan;
use crate::policy::job::{JOB_RESUMED, JOB_SUSPENDED};
use crate::record::{Body, JobConditionType};
use crate::spec::Version;

/// Gate MutableSchedulingDirectivesForSuspendedJobs, on by default: a suspended Job has no startTime.
const CLEARS_START_TIME: Version = Version::new(36);

impl Run<'_> {
    pub fn counters_differ(&self, job: JobId, c: &Computed) -> bool {
        let s = &self.w.jobs[job.ix()].status;
        let unstarted = s.start_time.is_none() && !self.w.jobs[job.ix()].suspended;
        s.active != c.active
            || s.ready != c.ready
            || s.terminating != c.terminating
            || (unstarted && c.active > 0)
    }

    /// Whether the Suspended condition has to be written; False only where the condition exists.
    pub fn suspended_condition_changes(&self, job: JobId, to: Option<bool>) -> bool {
        let Some(to) = to else { return false };
        let conditions = &self.w.jobs[job.ix()].status.conditions;
        let stored = conditions
            .iter()
            .find(|c| c.kind == JobConditionType::Suspended);
        stored.map_or(to, |c| c.status != to)
    }

    /// Suspended as stored. A resumed Job starts anew: suspended time does not count against activeDeadlineSeconds.
    fn store_suspended(&mut self, job: JobId, to: bool, at: Time) {
        let ((reason, message), event) = match to {
            true => (JOB_SUSPENDED, "Suspended"),
            false => (JOB_RESUMED, "Resumed"),
        };
        let status = &mut self.w.jobs[job.ix()].status;
        status.start_time = match to {
            false => Some(at),
            true if self.m.scenario.control_plane.kubernetes >= CLEARS_START_TIME => None,
            true => status.start_time,
        };
        let condition = JobCondition {
            kind: JobConditionType::Suspended,
            status: to,
            reason: reason.into(),
            message: message.to_owned(),
            at: self.w.now,
        };
        let conditions = &mut status.conditions;
        match conditions.iter_mut().find(|c| c.kind == condition.kind) {
            Some(stored) => *stored = condition,
            None => conditions.push(condition),
        }
        self.job_event(job, event, message, false);
        let (reason, message) = (self.w.texts.intern(reason), self.w.texts.intern(message));
        self.emit(Body::JobCondition {
            job,
            kind: JobConditionType::Suspended,
            status: to,
            reason,
            message,
        });
    }

    pub fn interim_condition_missing(&self, job: JobId, plan: &JobPlan) -> bool {
        let s = &self.w.jobs[job.ix()].status;
        (plan.fail.is_some() && s.condition(JobConditionType::FailureTarget).is_none())
            || (plan.complete.is_some()
                && s.condition(JobConditionType::SuccessCriteriaMet).is_none())
    }

    /// Which pods lose their finalizer in this sync: ended ones, all of a finishing Job, all of a deleting Job; at
    /// most 500 enter the uncounted list. Returns whether some entered it and whether the limit was reached.
    pub fn collect_finished(
        &mut self,
        job: JobId,
        plan: &JobPlan,
        c: &mut Computed,
        into: &mut Vec<(PodId, u32)>,
        max_uncounted: usize,
    ) -> (bool, bool) {
        let j = &mut self.w.jobs[job.ix()];
        j.sync.backoff = c.backoff;
        let failed_anew = j.failed_indexes != c.failed_indexes;
        if failed_anew {
            j.failed_indexes.clone_from(&c.failed_indexes);
        }
        let everything = plan.ends() || j.deleting;
        let mut uncounted = 0;
        let mut reached = false;
        c.ended.sort_unstable_by_key(|e| e.pod);
        let candidates = match everything {
            true if self.w.jobs[job.ix()].live.with_finalizer > 0 => self.pods_of(job),
            true => 0,
            false => c.ended.len() as u32,
        };
        for k in 0..candidates {
            let pod = match everything {
                true => self.pod_of(job, k),
                false => c.ended[k as usize].pod,
            };
            if !self.w.pods.exists(pod) || self.w.pods.job[pod.ix()] != job {
                continue;
            }
            let at = c.ended.binary_search_by_key(&pod, |e| e.pod);
            let seen = at.ok().map(|at| c.ended[at]);
            let same = |e: &EndedPod| self.w.pods.is(pod, e.incarnation);
            if !self.w.pods.has(pod, flag::FINALIZER) || !seen.as_ref().is_none_or(same) {
                continue;
            }
            let failed = seen.is_some_and(|e| !e.succeeded);
            if failed && !everything && c.replaced(self.w.pods.index[pod.ix()]) == Some(pod) {
                // backoffLimitPerIndex: the count of failures is handed over to the next pod of the index.
                continue;
            }
            into.push((pod, self.w.pods.incarnation[pod.ix()]));
            let counts = match seen {
                Some(e) => e.counts,
                // What a failing Job deletes ends as a failure, whatever its containers say.
                None => plan.fail.is_some() && self.verdict(job, pod).counts,
            };
            if counts && !self.w.pods.has(pod, flag::COUNTED) {
                self.count_ended_pod(job, pod, seen.is_some_and(|e| e.succeeded));
                uncounted += 1;
            }
            if uncounted >= max_uncounted {
                reached = true;
                break;
            }
        }
        c.counted_any |= uncounted > 0;
        (uncounted > 0 || failed_anew, reached)
    }

    fn count_ended_pod(&mut self, job: JobId, pod: PodId, succeeded: bool) {
        self.w.pods.set(pod, flag::COUNTED);
        let index = self.w.pods.index[pod.ix()];
        let j = &mut self.w.jobs[job.ix()];
        if succeeded {
            insert(&mut j.succeeded_indexes, index);
        } else {
            j.counted_failed += 1;
        }
    }

    /// enactJobFinished: nothing uncounted and, since 1.31, nothing terminating (kubernetes.md 1.4).
    pub fn may_finish(&self, worker: usize, job: JobId) -> bool {
        let (plan, computed) = self.w.job_controller.sync_result(worker);
        let finishing = plan.ends();
        let delays = self
            .m
            .scenario
            .control_plane
            .kubernetes
            .delays_terminal_condition();
        finishing
            && !self.w.jobs[job.ix()].status.is_finished()
            && (!delays || computed.terminating == 0)
    }

    /// The PUT of jobs/status is stored: counters, the interim condition, with the last one the terminal condition.
    pub fn store_job_status(&mut self, worker: usize, last: bool) {
        let w = &mut self.w.job_controller.workers[worker];
        let (job, plan) = (w.job, std::mem::take(&mut w.plan));
        let c = std::mem::take(&mut w.deferred);
        let now = self.w.now;
        if self.suspended_condition_changes(job, plan.suspended_condition) {
            self.store_suspended(job, plan.suspended_condition == Some(true), c.at);
        }
        let j = &mut self.w.jobs[job.ix()];
        if j.status.start_time.is_none() && plan.suspended_condition != Some(true) && !j.suspended {
            j.status.start_time = Some(c.at);
        }
        j.status.active = c.active;
        j.status.ready = c.ready;
        j.status.terminating = c.terminating;
        j.status.succeeded = j.succeeded_indexes.len() as u32;
        if last {
            j.status.failed = j.counted_failed;
        }
        let delays = self
            .m
            .scenario
            .control_plane
            .kubernetes
            .delays_terminal_condition();
        if let Some((reason, message)) = &plan.fail {
            if delays || *reason == "PodFailurePolicy" {
                self.add_job_condition(job, JobConditionType::FailureTarget, reason, message, now);
            }
            if last && c.finish_now {
                self.add_job_condition(job, JobConditionType::Failed, reason, message, now);
                self.job_event(job, reason, message, true);
            }
        } else if let Some((reason, message)) = &plan.complete {
            if delays {
                self.add_job_condition(
                    job,
                    JobConditionType::SuccessCriteriaMet,
                    reason,
                    message,
                    now,
                );
            }
            if last && c.finish_now {
                self.add_job_condition(job, JobConditionType::Complete, reason, message, now);
                self.job_event(job, "Completed", "Job completed", false);
                self.recount(job);
            }
        }
        if last && c.finish_now {
            self.arm_job_ttl(job);
        }
        let w = &mut self.w.job_controller.workers[worker];
        (w.plan, w.deferred) = (plan, c);
        self.job_changed(job);
        self.enqueue_job_batched(job);
    }

    fn add_job_condition(
        &mut self,
        job: JobId,
        kind: JobConditionType,
        reason: &'static str,
        message: &str,
        at: Time,
    ) {
        if self.w.jobs[job.ix()].status.condition(kind).is_some() {
            return;
        }
        let condition = JobCondition {
            kind,
            status: true,
            reason: reason.into(),
            message: message.to_owned(),
            at,
        };
        self.w.jobs[job.ix()].status.conditions.push(condition);
        let (reason, message) = (self.w.texts.intern(reason), self.w.texts.intern(message));
        self.emit(Body::JobCondition {
            job,
            kind,
            status: true,
            reason,
            message,
        });
    }

    /// The JobSet manager's informer will see the Job as it is now.
    pub fn job_changed(&mut self, job: JobId) {
        let lag = self.watch_lag();
        self.after(lag, Event::JobSeen(job));
    }
}
