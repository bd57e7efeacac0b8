//! Status updates of a Job controller sync: counters and conditions.

use super::JobController;
use super::count::ComputedStatus;
use crate::store::{JobCondition, JobEntry, JobStatus};
use crate::{apiserver, ctx::EngineContext, record::JobConditionType};
use sim_api::spec::KubeVersion;
use sim_base::{JobId, SimTime};
use sim_policy::JobPlan;
use sim_policy::job::{JOB_RESUMED, JOB_SUSPENDED};
use std::borrow::Cow;

/// With the feature gate MutableSchedulingDirectivesForSuspendedJobs, on by default, a suspended Job has no startTime.
const CLEARS_START_TIME: KubeVersion = KubeVersion::new(36);

/// Returns true if a counter or condition has to be written.
pub(super) fn needs_write(job: &JobEntry, c: &ComputedStatus, plan: &JobPlan) -> bool {
    counters_differ(job, c)
        || new_suspended_status(&job.status, plan.suspended_condition).is_some()
        || interim_condition_is_missing(&job.status, plan)
}

fn counters_differ(job: &JobEntry, c: &ComputedStatus) -> bool {
    let s = &job.status;
    let unstarted = s.start_time.is_none() && !job.suspended;
    s.active != c.active || s.ready != c.ready || s.terminating != c.terminating || unstarted
}

/// The new status of the Suspended condition, if it has to be written; False only if the condition exists.
pub(super) fn new_suspended_status(status: &JobStatus, to: Option<bool>) -> Option<bool> {
    let mut conditions = status.conditions.iter();
    let stored = conditions.find(|c| c.kind == JobConditionType::Suspended);
    to.filter(|to| stored.map_or(*to, |c| c.status != *to))
}

fn interim_condition_is_missing(status: &JobStatus, plan: &JobPlan) -> bool {
    let missing = |kind| status.condition(kind).is_none();
    (plan.fail.is_some() && missing(JobConditionType::FailureTarget))
        || (plan.complete.is_some() && missing(JobConditionType::SuccessCriteriaMet))
}

/// startTime after a status write. A resumed Job starts again: suspended time does not count against
/// activeDeadlineSeconds. `began` is the start of the sync; `runs` means neither suspended nor about to be.
pub(super) fn start_time(
    stored: Option<SimTime>, suspended: Option<bool>, version: KubeVersion, (began, runs): (SimTime, bool),
) -> Option<SimTime> {
    let kept = match suspended {
        Some(false) => Some(began),
        Some(true) if version >= CLEARS_START_TIME => None,
        _ => stored,
    };
    kept.or(runs.then_some(began))
}

impl JobController {
    /// enactJobFinished: requires that no pod is uncounted and, since 1.31, none is terminating (kubernetes.md 1.4).
    pub(super) fn may_finish(&self, ctx: &EngineContext<'_>, worker: usize) -> bool {
        let w = &self.workers[worker];
        let delays = ctx.scenario.control_plane.kubernetes.delays_terminal_condition();
        w.plan.ends_job() && !ctx.store.jobs[w.job.ix()].status.is_finished() && (!delays || w.counted.terminating == 0)
    }

    /// Returns true if the write would set a terminal condition of a Job that has no startTime.
    pub(super) fn finishes_without_start(&self, ctx: &EngineContext<'_>, worker: usize) -> bool {
        let w = &self.workers[worker];
        let (j, version) = (&ctx.store.jobs[w.job.ix()], ctx.scenario.control_plane.kubernetes);
        let suspended = new_suspended_status(&j.status, w.plan.suspended_condition);
        let runs = w.plan.suspended_condition != Some(true) && !j.suspended;
        w.counted.finish_now && start_time(j.status.start_time, suspended, version, (w.counted.at, runs)).is_none()
    }

    /// Stores the PUT of jobs/status: counters and the interim condition, and in the last write the terminal condition.
    pub(super) fn store_status(&mut self, ctx: &mut EngineContext<'_>, worker: usize, last: bool) {
        let w = &mut self.workers[worker];
        let (job, plan) = (w.job, std::mem::take(&mut w.plan));
        let c = std::mem::take(&mut w.counted);
        let version = ctx.scenario.control_plane.kubernetes;
        let j = &ctx.store.jobs[job.ix()];
        let suspended = new_suspended_status(&j.status, plan.suspended_condition);
        let runs = plan.suspended_condition != Some(true) && !j.suspended;
        let start = start_time(j.status.start_time, suspended, version, (c.at, runs));
        if let Some(to) = suspended {
            self.store_suspended(ctx, job, to);
        }
        self.store_final_conditions(ctx, job, &plan, last && c.finish_now);
        let limit = self.sync_input(ctx, job).index_limit();
        let row = &mut self.rows[job.ix()];
        // Indexes removed by scaling are no longer read (parseIndexesFromString).
        let succeeded = row.succeeded.partition_point(|i| *i < limit) as u32;
        let (failed, rejected_failed) = (row.counted_failed, row.rejected_failed);
        // A NonIndexed Job counts a pod when its finalizer is removed (cleanUncountedPodsWithoutFinalizers).
        let indexed = ctx.store.is_indexed(job);
        apiserver::set_job_status(ctx, job, |status| {
            status.start_time = start;
            status.active = c.active;
            status.ready = c.ready;
            status.terminating = c.terminating;
            if last || indexed {
                status.succeeded = succeeded;
            }
            if last {
                status.failed = failed;
            } else if let Some(counted) = rejected_failed {
                status.failed = counted;
            }
        });
        let w = &mut self.workers[worker];
        (w.plan, w.counted) = (plan, c);
    }

    /// Reason and message of the Event that is emitted before the status write.
    fn suspended_event(&mut self, ctx: &mut EngineContext<'_>, job: JobId, to: bool) -> (&'static str, &'static str) {
        let ((reason, message), event) = if to { (JOB_SUSPENDED, "Suspended") } else { (JOB_RESUMED, "Resumed") };
        self.emit_job_event(ctx, job, event, message, false);
        (reason, message)
    }

    /// Emits the Event although the status is not stored.
    pub(super) fn emit_suspended(&mut self, ctx: &mut EngineContext<'_>, worker: usize) {
        let w = &self.workers[worker];
        let (job, to) = (w.job, w.plan.suspended_condition);
        let changes = new_suspended_status(&ctx.store.jobs[job.ix()].status, to);
        if let Some(to) = changes {
            self.suspended_event(ctx, job, to);
        }
    }

    fn store_suspended(&mut self, ctx: &mut EngineContext<'_>, job: JobId, to: bool) {
        let (reason, message) = self.suspended_event(ctx, job, to);
        let condition = JobCondition {
            kind: JobConditionType::Suspended,
            status: to,
            reason: reason.into(),
            message: message.to_owned(),
            at: ctx.now,
        };
        apiserver::set_job_condition(ctx, job, condition);
    }

    /// Sets the conditions of an ending Job: the interim one, and with `finishes` the terminal one.
    fn store_final_conditions(&mut self, ctx: &mut EngineContext<'_>, job: JobId, plan: &JobPlan, finishes: bool) {
        let version = ctx.scenario.control_plane.kubernetes;
        let delays = version.delays_terminal_condition();
        if let Some((reason, message)) = &plan.fail {
            if delays || reason == "PodFailurePolicy" {
                add_condition(ctx, job, JobConditionType::FailureTarget, (reason, message));
            }
            if finishes {
                add_condition(ctx, job, JobConditionType::Failed, (reason, message));
                self.emit_job_event(ctx, job, reason, message, true);
            }
        } else if let Some((reason, message)) = &plan.complete {
            if delays {
                let kind = JobConditionType::SuccessCriteriaMet;
                add_condition(ctx, job, kind, (reason, message));
            }
            if finishes {
                add_condition(ctx, job, JobConditionType::Complete, (reason, message));
                self.emit_job_event(ctx, job, "Completed", "Job completed", false);
            }
        }
    }
}

fn add_condition(
    ctx: &mut EngineContext<'_>, job: JobId, kind: JobConditionType, (reason, message): (&Cow<'static, str>, &str),
) {
    if ctx.store.jobs[job.ix()].status.condition(kind).is_some() {
        return;
    }
    let condition =
        JobCondition { kind, status: true, reason: reason.clone(), message: message.to_owned(), at: ctx.now };
    apiserver::set_job_condition(ctx, job, condition);
}
