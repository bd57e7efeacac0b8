//! COND-1 to COND-4: how conditions of a JobSet are written, with upstream's texts.
//!
//! Must never decide whether a condition applies, only how it is stored and which Event announces it.

use super::{ActionPlan, JobSetStatus, KubeEvent, PodCondition, TerminalState};
use crate::kinds::JobSetConditionType;
use crate::kinds::JobSetConditionType::*;
use sim_base::SimTime;

/// `pkg/constants/constants.go` of the JobSet controller.
pub const REACHED_MAX_RESTARTS: &str = "ReachedMaxRestarts";
pub const REACHED_MAX_RESTARTS_MESSAGE: &str = "jobset failed due to reaching max number of restarts";
pub const FAILED_JOBS: &str = "FailedJobs";
pub const FAILED_JOBS_MESSAGE: &str = "jobset failed due to one or more job failures";

/// A condition to be written, and the type of its Event.
pub struct NewCondition<'a> {
    pub kind: JobSetConditionType,
    pub status: bool,
    pub reason: &'static str,
    pub reason_suffix: &'a str,
    pub message: &'a str,
    pub warning: bool,
}

impl<'a> NewCondition<'a> {
    fn normal(kind: JobSetConditionType, status: bool, reason: &'static str, message: &'a str) -> NewCondition<'a> {
        NewCondition { kind, status, reason, reason_suffix: "", message, warning: false }
    }
}

/// Writes a condition (COND-1). Returns true if something changed; then the status is dirty and one Event is queued.
pub fn set(plan: &mut ActionPlan, now: SimTime, new: NewCondition<'_>) -> bool {
    let (mut found, mut changed) = (false, false);
    for c in &mut plan.status.conditions {
        if c.kind == new.kind {
            found = true;
            let moved = c.status != new.status;
            if moved || c.reason != new.reason || c.reason_suffix != new.reason_suffix || c.message != new.message {
                let since = if moved { now } else { c.last_transition };
                *c = stored(&new, since);
                changed = true;
            }
        } else if exclusive(c.kind, new.kind) && c.status && new.status {
            // COND-1e: reason, message and transition time are kept.
            c.status = false;
            changed = true;
        }
    }
    // COND-1d: False is never appended.
    if !found && new.status {
        plan.status.conditions.push(stored(&new, now));
        changed = true;
    }
    if changed {
        plan.status_dirty = true;
        plan.events.push(KubeEvent {
            warning: new.warning,
            reason: format!("{}{}", new.reason, new.reason_suffix),
            message: new.message.to_string(),
        });
    }
    changed
}

fn stored(new: &NewCondition<'_>, last_transition: SimTime) -> PodCondition {
    PodCondition {
        kind: new.kind,
        status: new.status,
        reason: new.reason.into(),
        reason_suffix: new.reason_suffix.to_string(),
        message: new.message.to_string(),
        last_transition,
    }
}

fn exclusive(a: JobSetConditionType, b: JobSetConditionType) -> bool {
    matches!(
        (a, b),
        (StartupPolicyInProgress, StartupPolicyCompleted) | (StartupPolicyCompleted, StartupPolicyInProgress)
    )
}

/// The condition Completed=True or Failed=True (COND-4).
pub fn terminal(status: &JobSetStatus) -> Option<&PodCondition> {
    let terminal = |c: &&PodCondition| matches!(c.kind, Completed | Failed) && c.status;
    status.conditions.iter().find(terminal)
}

/// Reason of RestartingJobSet when all Jobs are ready again; other reasons are those of its end or suspension.
pub const JOBS_READY: &str = "JobsReady";

/// Sets the condition Failed (FP-13).
pub fn set_failed(plan: &mut ActionPlan, now: SimTime, reason: &'static str, message: &str) {
    let failed = NewCondition { warning: true, ..NewCondition::normal(Failed, true, reason, message) };
    set(plan, now, failed);
    set_not_restarting(plan, now, "JobSetFailed", "jobset failed");
    plan.status.terminal_state = Some(TerminalState::Failed);
}

/// Sets the condition Completed (SP-3).
pub fn set_completed(plan: &mut ActionPlan, now: SimTime) {
    let message = "jobset completed successfully";
    let completed = NewCondition::normal(Completed, true, "AllJobsCompleted", message);
    set(plan, now, completed);
    set_not_restarting(plan, now, "JobSetCompleted", message);
    plan.status.terminal_state = Some(TerminalState::Completed);
}

/// Sets the condition Suspended (SUS-1, SUS-3).
pub fn set_suspended(plan: &mut ActionPlan, now: SimTime) -> bool {
    let message = "jobset is suspended";
    let suspended = NewCondition::normal(Suspended, true, "SuspendedJobs", message);
    let changed = set(plan, now, suspended);
    set_not_restarting(plan, now, "JobSetSuspended", message) || changed
}

/// Clears the condition Suspended; no-op if the JobSet was never suspended (SUS-4).
pub fn set_resumed(plan: &mut ActionPlan, now: SimTime) -> bool {
    let resumed = NewCondition::normal(Suspended, false, "ResumeJobs", "jobset is resumed");
    set(plan, now, resumed)
}

/// REC-9: also rewrites the reason of a condition that is already False, long after the restart.
pub fn set_jobs_ready(plan: &mut ActionPlan, now: SimTime) -> bool {
    set_not_restarting(plan, now, JOBS_READY, "all jobs are ready")
}

fn set_not_restarting(plan: &mut ActionPlan, now: SimTime, reason: &'static str, message: &str) -> bool {
    set(plan, now, NewCondition::normal(RestartingJobSet, false, reason, message))
}

/// Sets the condition StartupPolicyInProgress (SU-2).
pub fn set_startup_in_progress(plan: &mut ActionPlan, now: SimTime) -> bool {
    let (reason, message) = ("InOrderStartupPolicyInProgress", "in order startup policy is in progress");
    let c = NewCondition::normal(StartupPolicyInProgress, true, reason, message);
    set(plan, now, c)
}

/// Sets the condition StartupPolicyCompleted (CRE-6).
pub fn set_startup_completed(plan: &mut ActionPlan, now: SimTime) -> bool {
    let (reason, message) = ("InOrderStartupPolicyCompleted", "in order startup policy has completed");
    let c = NewCondition::normal(StartupPolicyCompleted, true, reason, message);
    set(plan, now, c)
}
