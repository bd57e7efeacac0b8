//! The controller's part of in-place restarts: when all agents may lift their barriers (IPR-2 to IPR-9).
//!
//! Must never emit an Event or change `restarts` (IPR-8).

use super::reconcile_error::ReconcileError;
use super::{ActionPlan, JobSetView, conditions};
use sim_api::spec::{ReplicatedJob, RestartStrategy};

/// Executes REC-12f. No effect without the strategy, or without the feature gate (upstream then only logs).
pub fn step(view: &JobSetView<'_>, plan: &mut ActionPlan) -> Result<(), ReconcileError> {
    let spec = &view.jobset.spec;
    if spec.strategy() != RestartStrategy::InPlaceRestart || !view.gates.in_place_restart {
        return Ok(());
    }
    let (Some(pods), Some(policy)) = (view.in_place, &spec.failure_policy) else {
        return Ok(());
    };
    let budget = i64::from(policy.max_restarts);
    if i64::from(pods.max_container_restarts) > budget {
        plan.rules.push("IPR-2");
        fail(view, plan);
        return Ok(());
    }
    if pods.attempts > 0 && (pods.min_attempt.is_none() || pods.max_attempt.is_none()) {
        plan.rules.push("IPR-3");
        return Err(ReconcileError::InPlaceRestartAttempt);
    }
    let largest = pods.max_attempt.unwrap_or(0);
    // IPR-4: only restarts that ignore maxRestarts are subtracted from the total.
    let uncounted = i64::from(plan.status.restarts) - i64::from(plan.status.restarts_count_towards_max);
    if i64::from(largest) - uncounted > budget {
        plan.rules.push("IPR-4");
        fail(view, plan);
        return Ok(());
    }
    let expected = expected_pods(&spec.replicated_jobs)?;
    if pods.attempts > 0 && u64::from(pods.attempts) == expected && pods.min_attempt == pods.max_attempt {
        let current = &mut plan.status.current_in_place_restart_attempt;
        if *current != Some(largest) {
            *current = Some(largest);
            plan.status_dirty = true;
            plan.rules.push("IPR-7");
        }
        return Ok(());
    }
    if largest == 0 {
        // IPR-6: the first start, which waits indefinitely for missing pods.
        return Ok(());
    }
    let previous = &mut plan.status.previous_in_place_restart_attempt;
    if previous.is_none_or(|p| p < largest - 1) {
        *previous = Some(largest - 1);
        plan.status_dirty = true;
        plan.rules.push("IPR-9");
    }
    Ok(())
}

/// COND-3: this message does not name a Job.
fn fail(view: &JobSetView<'_>, plan: &mut ActionPlan) {
    conditions::set_failed(plan, view.now, conditions::REACHED_MAX_RESTARTS, conditions::REACHED_MAX_RESTARTS_MESSAGE);
}

/// IPR-5: replicatedJobs that are not yet created also count; therefore InOrder and dependsOn never start.
pub(super) fn expected_pods(specs: &[ReplicatedJob]) -> Result<u64, ReconcileError> {
    specs.iter().try_fold(0, |sum, r| match (r.template.parallelism, r.template.completions) {
        (Some(p), Some(c)) if p == c => Ok(sum + u64::from(r.replicas) * u64::from(p)),
        _ => Err(ReconcileError::InPlaceRestartSize { replicated_job: r.name.clone() }),
    })
}
