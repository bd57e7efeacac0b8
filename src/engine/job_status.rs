//! A sync of the Job controller as numbers: what it counted at its start, and what it stores at its end.

use super::event::Event;
use super::jobs::JobCondition;
use super::pods::{Phase, flag};
use super::run::Run;
use crate::base::*;
use crate::policy::pod_failure::{self, FailedPodView};
use crate::policy::{JobPlan, JobSyncView};
use crate::record::{Body, JobConditionType};
use crate::spec::{PodFailurePolicyAction, PodReplacementPolicy};

/// Counted at the start of a sync, carried on by its own deletions and creations.
#[derive(Clone, Default)]
pub struct Computed {
    pub at: Time,
    pub active: u32,
    pub ready: u32,
    pub terminating: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub backoff_failures: u32,
    pub last_failure: Option<Time>,
    pub fail_job_message: Option<String>,
    /// Some pod entered the uncounted list in this sync.
    pub counted_any: bool,
    pub finish_now: bool,
    pub suspended_condition: Option<bool>,
}

impl Computed {
    /// A pod that was active at the start of the sync; that somebody else was faster does not matter.
    pub fn deleted(&mut self, was_ready: bool) {
        self.active = self.active.saturating_sub(1);
        self.terminating += 1;
        if was_ready {
            self.ready = self.ready.saturating_sub(1);
        }
    }

    pub fn created(&mut self) {
        self.active += 1;
    }
}

impl Run<'_> {
    /// What the sync sees (kubernetes.md 1.3 step 3). Pods are walked only if some have ended and still carry the
    /// finalizer; otherwise the incremental counters say it all.
    pub fn count_for_sync(&self, job: JobId) -> Computed {
        let j = &self.w.jobs[job.ix()];
        let mut c = Computed {
            at: self.w.now,
            active: j.live.active,
            ready: j.live.ready,
            terminating: j.live.terminating,
            succeeded: j.succeeded_indexes.len() as u32,
            failed: j.counted_failed,
            backoff_failures: j.sync.backoff_failures,
            last_failure: j.sync.last_failure,
            ..Computed::default()
        };
        if j.live.ended_with_finalizer == 0 {
            return c;
        }
        for k in 0..self.pods_of(job) {
            let pod = self.pod_of(job, k);
            if !self.newly_ended(job, pod) {
                continue;
            }
            if self.w.pods.phase[pod.ix()] == Phase::Succeeded {
                c.succeeded += 1;
                (c.backoff_failures, c.last_failure) = (0, None);
            } else if self.considered_failed(job, pod) {
                let (counts, message) =
                    self.judge_failed_pod(job, pod, c.fail_job_message.is_none());
                c.failed += u32::from(counts);
                c.fail_job_message = c.fail_job_message.or(message);
                c.backoff_failures += 1;
                let ended = self.w.pods.ended_at[pod.ix()];
                c.last_failure = Some(c.last_failure.map_or(ended, |l| l.max(ended)));
            }
        }
        c
    }

    pub fn sync_view<'a>(&'a self, job: JobId, c: &'a Computed) -> JobSyncView<'a> {
        let j = &self.w.jobs[job.ix()];
        let target = j.status.condition(JobConditionType::FailureTarget);
        JobSyncView {
            spec: self.job_spec(job),
            version: self.m.scenario.control_plane.kubernetes,
            now: self.w.now,
            deleting: j.deleting,
            suspended: j.suspended,
            start_time: j.status.start_time,
            failure_target: target.map(|t| (t.kubernetes_reason(), t.message.as_str())),
            success_criteria_met: j
                .status
                .condition(JobConditionType::SuccessCriteriaMet)
                .is_some(),
            active: c.active,
            ready: c.ready,
            terminating: c.terminating,
            succeeded: c.succeeded,
            failed: c.failed,
            container_restarts: j.live.container_restarts,
            failed_indexes: 0,
            fail_job_message: c.fail_job_message.as_deref(),
            expectations_satisfied: j.sync.expected == 0,
            backoff_failures: c.backoff_failures,
            last_failure: c.last_failure,
        }
    }

    /// Ended, with the tracking finalizer, and not in the uncounted list yet.
    fn newly_ended(&self, job: JobId, pod: PodId) -> bool {
        let p = &self.w.pods;
        p.exists(pod)
            && p.job[pod.ix()] == job
            && p.has(pod, flag::FINALIZER)
            && !p.has(pod, flag::COUNTED)
            && (p.phase[pod.ix()].is_terminal() || p.has(pod, flag::DELETING))
    }

    /// isPodFailed: phase Failed, or deleted before it could fail, unless only failed pods are replaced.
    fn considered_failed(&self, job: JobId, pod: PodId) -> bool {
        let phase = self.w.pods.phase[pod.ix()];
        let by_deletion = self.job_spec(job).pod_replacement_policy()
            == PodReplacementPolicy::TerminatingOrFailed;
        phase == Phase::Failed
            || (by_deletion && phase != Phase::Succeeded && self.w.pods.has(pod, flag::DELETING))
    }

    /// podFailurePolicy: whether the pod counts against backoffLimit, and FailJob's message.
    fn judge_failed_pod(
        &self,
        job: JobId,
        pod: PodId,
        want_message: bool,
    ) -> (bool, Option<String>) {
        let spec = self.m.job_spec(job);
        let Some(rules) = &spec.pod_failure_policy else {
            return (true, None);
        };
        let container = spec
            .template
            .spec
            .containers
            .first()
            .map_or("", |c| c.name.as_str());
        let code = self.w.pods.exit_code[pod.ix()];
        let view = FailedPodView {
            exit_code: (code != 0).then_some(i32::from(code)),
            container,
            disruption_target: self.w.pods.has(pod, flag::DISRUPTION_TARGET),
        };
        let Some((index, action, by)) = pod_failure::matching_rule(rules, &view) else {
            return (true, None);
        };
        let message = (action == PodFailurePolicyAction::FailJob && want_message).then(|| {
            let m = &self.m.jobs[job.ix()];
            let incarnation = self.w.pods.incarnation[pod.ix()];
            let name = self
                .m
                .names
                .pod(job, self.w.pods.index[pod.ix()], pod, incarnation);
            let namespace = &self.m.names.jobsets[m.jobset.ix()].namespace;
            pod_failure::fail_job_message(namespace, &name, &view, by, index)
        });
        (action != PodFailurePolicyAction::Ignore, message)
    }

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
        if !to {
            status.start_time = Some(now);
        }
        true
    }

    pub fn interim_condition_missing(&self, job: JobId, plan: &JobPlan) -> bool {
        let s = &self.w.jobs[job.ix()].status;
        (plan.fail.is_some() && s.condition(JobConditionType::FailureTarget).is_none())
            || (plan.complete && s.condition(JobConditionType::SuccessCriteriaMet).is_none())
    }

    /// Which pods lose their finalizer in this sync: ended ones, all of a finishing Job, all of a deleting Job; at
    /// most
    /// 500 enter the uncounted list. Returns whether some entered it and whether the limit was reached.
    pub fn collect_finished(
        &mut self,
        job: JobId,
        finishing: bool,
        c: &mut Computed,
        into: &mut Vec<(PodId, u32)>,
        max_uncounted: usize,
    ) -> (bool, bool) {
        let j = &self.w.jobs[job.ix()];
        let everything = finishing || j.deleting;
        let candidates = if everything {
            j.live.with_finalizer
        } else {
            j.live.ended_with_finalizer
        };
        if candidates == 0 {
            return (false, false);
        }
        let failing = finishing
            && self.w.jobs[job.ix()]
                .status
                .condition(JobConditionType::SuccessCriteriaMet)
                .is_none();
        let mut uncounted = 0;
        for k in 0..self.pods_of(job) {
            let pod = self.pod_of(job, k);
            let i = pod.ix();
            if !self.w.pods.exists(pod)
                || !self.w.pods.has(pod, flag::FINALIZER)
                || self.w.pods.job[i] != job
            {
                continue;
            }
            let failed = self.considered_failed(job, pod);
            let succeeded = self.w.pods.phase[i] == Phase::Succeeded;
            if !(everything || failed || succeeded) {
                continue;
            }
            into.push((pod, self.w.pods.incarnation[i]));
            if (failed || succeeded || failing) && !self.w.pods.has(pod, flag::COUNTED) {
                self.count_ended_pod(job, pod, succeeded);
                uncounted += 1;
                c.counted_any = true;
            }
            if uncounted >= max_uncounted {
                return (true, true);
            }
        }
        let j = &mut self.w.jobs[job.ix()];
        (j.sync.backoff_failures, j.sync.last_failure) = (c.backoff_failures, c.last_failure);
        (uncounted > 0, false)
    }

    fn count_ended_pod(&mut self, job: JobId, pod: PodId, succeeded: bool) {
        let counts = succeeded || self.judge_failed_pod(job, pod, false).0;
        self.w.pods.set(pod, flag::COUNTED);
        let index = self.w.pods.index[pod.ix()];
        let j = &mut self.w.jobs[job.ix()];
        if succeeded {
            if let Err(at) = j.succeeded_indexes.binary_search(&index) {
                j.succeeded_indexes.insert(at, index);
            }
        } else if counts {
            j.counted_failed += 1;
        }
    }

    /// enactJobFinished: nothing uncounted and, since 1.31, nothing terminating (kubernetes.md 1.4).
    pub fn may_finish(&self, worker: usize, job: JobId) -> bool {
        let (plan, computed) = self.w.job_controller.sync_result(worker);
        let finishing = plan.fail.is_some() || plan.complete;
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
        } else if plan.complete {
            let (reason, message) = (
                "CompletionsReached",
                "Reached expected number of succeeded pods",
            );
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
