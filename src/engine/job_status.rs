//! What a sync of the Job controller stores at its end: counters, conditions, and whose finalizers go before that.

use super::event::Event;
use super::job_count::{Computed, insert};
use super::jobs::JobCondition;
use super::pods::flag;
use super::run::Run;
use crate::base::*;
use crate::policy::JobPlan;
use crate::record::{Body, JobConditionType};

impl Run<'_> {
    pub fn counters_differ(&self, job: JobId, c: &Computed) -> bool {
        let s = &self.w.jobs[job.ix()].status;
        let unstarted = s.start_time.is_none() && !self.w.jobs[job.ix()].suspended;
        s.active != c.active
            || s.ready != c.ready
            || s.terminating != c.terminating
            || (unstarted && c.active > 0)
    }

    pub fn suspended_condition_changes(&mut self, job: JobId, to: Option<bool>) -> bool {
        let Some(to) = to else { return false };
        let now = self.w.now;
        let status = &mut self.w.jobs[job.ix()].status;
        let (reason, message) = if to {
            ("JobSuspended", "Job suspended")
        } else {
            ("JobResumed", "Job resumed")
        };
        let kind = JobConditionType::Suspended;
        match status.conditions.iter_mut().find(|c| c.kind == kind) {
            Some(c) if c.status == to => return false,
            Some(c) => {
                *c = JobCondition {
                    kind,
                    status: to,
                    reason: reason.into(),
                    message: message.to_owned(),
                    at: now,
                }
            }
            None if to => status.conditions.push(JobCondition {
                kind,
                status: to,
                reason: reason.into(),
                message: message.to_owned(),
                at: now,
            }),
            None => return false,
        }
        // A suspended Job has no startTime: suspended time does not count for the deadline (corner/README.md, SUS-5).
        status.start_time = (!to).then_some(now);
        true
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
        for k in 0..c.ended.len() {
            let e = c.ended[k];
            if !self.w.pods.is(e.pod, e.incarnation) || !self.w.pods.has(e.pod, flag::FINALIZER) {
                continue;
            }
            // backoffLimitPerIndex: the count of failures is handed over to the next pod of the index.
            let kept = !everything && !e.succeeded && c.replaced(e.index) == Some(e.pod);
            if kept {
                continue;
            }
            into.push((e.pod, e.incarnation));
            if e.counts {
                self.count_ended_pod(job, e.pod, e.succeeded);
                uncounted += 1;
            }
            if uncounted >= max_uncounted {
                c.counted_any = true;
                return (true, true);
            }
        }
        let mut reached = false;
        if everything && self.w.jobs[job.ix()].live.with_finalizer as usize > into.len() {
            reached = self.collect_others(job, plan, into, &mut uncounted, max_uncounted);
        }
        c.counted_any |= uncounted > 0;
        (uncounted > 0 || failed_anew, reached)
    }

    /// The pods of a Job that ends or goes which had not ended themselves: failures, if the Job fails.
    fn collect_others(
        &mut self,
        job: JobId,
        plan: &JobPlan,
        into: &mut Vec<(PodId, u32)>,
        uncounted: &mut usize,
        max_uncounted: usize,
    ) -> bool {
        let ended = into.len();
        let mut known: Vec<PodId> = into.iter().map(|(pod, _)| *pod).collect();
        known.sort_unstable();
        for k in 0..self.pods_of(job) {
            let pod = self.pod_of(job, k);
            let p = &self.w.pods;
            let i = pod.ix();
            if !p.exists(pod) || p.job[i] != job || !p.has(pod, flag::FINALIZER) {
                continue;
            }
            if ended > 0 && known.binary_search(&pod).is_ok() {
                continue;
            }
            into.push((pod, p.incarnation[i]));
            if plan.fail.is_some() && !p.has(pod, flag::COUNTED) {
                // As the sync saw it the pod had not ended yet; it ends as a failure whatever its containers say.
                if self.verdict(job, pod).counts {
                    self.count_ended_pod(job, pod, false);
                    *uncounted += 1;
                }
            }
            if *uncounted >= max_uncounted {
                return true;
            }
        }
        false
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
        let (plan, c) = self.w.job_controller.sync_result(worker);
        let (plan, c) = (plan.clone(), c.clone());
        let job = self.w.job_controller.workers[worker].job;
        let now = self.w.now;
        let j = &mut self.w.jobs[job.ix()];
        if j.status.start_time.is_none() && !j.suspended {
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
                self.job_event_finished(job, reason, message, true);
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
                self.job_event_finished(job, "Completed", "Job completed", false);
            }
        }
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
