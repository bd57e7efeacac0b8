//! Invariants of the status of a JobSet, in a state and between consecutive states, independent of the layers below.
//!
//! Must never depend on the reason for a status.

use super::world::Js;
use sim_api::spec::{FeatureGates, JobSet};
use sim_policy::{ActionPlan, JobSetStatus, TerminalState};

pub fn max_restarts(jobset: &JobSet) -> u32 {
    let policy = jobset.spec.failure_policy.as_ref();
    policy.map_or(0, |p| p.max_restarts.max(0) as u32)
}

/// Returns the number of restarts that count towards maxRestarts.
pub fn counted(status: &JobSetStatus) -> u32 {
    let of_jobs = status.replicated_jobs.iter();
    let of_jobs = of_jobs.flat_map(|s| &s.job_restarts_count_towards_max);
    status.restarts_count_towards_max + of_jobs.sum::<u32>()
}

/// Returns the number of restarts of the JobSet and of single Jobs.
pub fn restarts(status: &JobSetStatus) -> u32 {
    let own = status.replicated_jobs.iter().flat_map(|r| &r.job_restarts);
    status.restarts + own.sum::<u32>()
}

fn is_true(status: &JobSetStatus, kind: &str) -> bool {
    let mut all = status.conditions.iter();
    all.any(|c| c.status && c.kind.as_str() == kind)
}

/// Returns the terminal condition that is True, if there is one.
pub fn terminal_condition(status: &JobSetStatus) -> Option<&'static str> {
    let ends = ["Completed", "Failed"];
    ends.into_iter().find(|kind| is_true(status, kind))
}

pub fn check_state(jobset: &JobSet, status: &JobSetStatus) -> Result<(), String> {
    let max = max_restarts(jobset);
    if counted(status) > max {
        return Err(format!("{} counted restarts, but maxRestarts is {max}", counted(status)));
    }
    let (completed, failed) = (is_true(status, "Completed"), is_true(status, "Failed"));
    let agree = match status.terminal_state {
        None => !completed && !failed,
        Some(TerminalState::Completed) => completed && !failed,
        Some(TerminalState::Failed) => failed && !completed,
    };
    if !agree {
        return Err(format!("terminalState and conditions differ: {status:?}"));
    }
    if is_true(status, "StartupPolicyInProgress") && is_true(status, "StartupPolicyCompleted") {
        return Err("StartupPolicyInProgress and StartupPolicyCompleted are both True".to_string());
    }
    Ok(())
}

/// Checks the invariants of a plan, whatever the controller's cache shows. `is_current` returns whether a position
/// in the cache refers to a Job of the current attempt.
pub fn check_plan(js: &Js, plan: &ActionPlan, is_current: impl Fn(usize) -> bool) -> Result<(), String> {
    let finished = js.status.terminal_state.is_some();
    let deleted = plan.delete.iter().map(|&at| at as usize);
    if let Some(at) = deleted.into_iter().find(|at| !finished && is_current(*at)) {
        return Err(format!("deletes the current Job at {at}"));
    }
    if finished && !(plan.create.is_empty() && plan.resume.is_empty() && plan.suspend.is_empty()) {
        return Err("a finished JobSet changes its Jobs".to_string());
    }
    if js.suspended && plan.create.iter().any(|c| !c.suspended) {
        return Err("creates a running Job for a suspended JobSet".to_string());
    }
    if !plan.status_dirty && (plan.status != js.status || !plan.events.is_empty()) {
        return Err("the plan changes the status or emits events without a status write".to_string());
    }
    Ok(())
}

/// Checks the invariants of a transition: terminal states are final, counters never decrease, one restart at a time.
pub fn check_transition(gates: FeatureGates, old: &JobSetStatus, new: &JobSetStatus) -> Result<(), String> {
    if old.terminal_state.is_some() && old.terminal_state != new.terminal_state {
        return Err("a terminal state changed".to_string());
    }
    let grown = restarts(new).checked_sub(restarts(old));
    if grown.is_none_or(|n| n > 1) && gates.restart_job {
        return Err("a restart counter decreased, or increased by more than one".to_string());
    }
    if new.previous_in_place_restart_attempt < old.previous_in_place_restart_attempt {
        return Err("previousInPlaceRestartAttempt decreased".to_string());
    }
    if new.current_in_place_restart_attempt < old.current_in_place_restart_attempt {
        return Err("currentInPlaceRestartAttempt decreased".to_string());
    }
    Ok(())
}
