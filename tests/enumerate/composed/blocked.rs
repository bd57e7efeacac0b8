//! Classifies states without further helpful events: finished, suspended or permanently blocked for a known reason.
//!
//! Must never accept a blocked state that the reference does not describe.

use super::setups::Setup;
use super::world::*;
use sim_api::spec::StartupPolicyOrder;

/// Returns why a state without further helpful events is permanently blocked, or `None` if the JobSet is finished or
/// suspended.
pub fn blocked_reason(setup: &Setup, state: &State) -> Result<Option<&'static str>, String> {
    let finished = state.js.status.terminal_state.is_some();
    for (slot, job) in state.jobs.iter().enumerate() {
        let Some(job) = job else { continue };
        let kept = !job.finished() && setup.rules(slot).spec.backoff_limit_per_index.is_some();
        let tracked = |p: &Pod| p.terminal() && p.finalizer && !kept;
        if job.pods.iter().any(tracked) || job.object.deleting {
            return Err(format!("finalizers remain: {state:?}"));
        }
    }
    let mut jobs = state.jobs.iter().flatten();
    if finished {
        let ended = |j: &Job| j.finished() && j.pods.iter().all(Pod::terminal);
        return if jobs.all(ended) {
            Ok(None)
        } else {
            Err(format!("the JobSet is finished, but a Job is not: {state:?}"))
        };
    }
    if state.js.suspended {
        let failed = |j: &Job| j.object.status.failed_for.is_some();
        if state.jobs.iter().flatten().any(failed) {
            return Err(format!("a failed Job is ignored: {state:?}"));
        }
        let still = |j: &Job| j.finished() || j.object.suspended && j.pods.iter().all(Pod::terminal);
        return if jobs.all(still) {
            Ok(None)
        } else {
            Err(format!("the JobSet is suspended, but a Job is not: {state:?}"))
        };
    }
    let in_order = setup.base.jobset.spec.startup_order == StartupPolicyOrder::InOrder;
    let waits = |j: &Job| j.object.suspended && j.object.status.succeeded != 0 && !j.finished();
    if in_order && jobs.any(waits) {
        return Ok(Some("SU-3: InOrder does not resume a Job that counts as started"));
    }
    Err(format!("permanently blocked for an unknown reason: {state:?}"))
}
