//! Follows a state under full cooperation of all components: to a terminal state, or to a permanently blocked state
//! with a known reason.
//!
//! Must never accept a blocked state that the reference does not describe.

use super::events::{Event, state_after};
use super::pass::{Did, pass};
use super::world::*;
use sim_api::spec::*;
use sim_policy::*;

/// Runs passes with fresh caches until nothing is left to do. Returns whether the last pass ended with an error.
pub fn settle(setup: &Setup, state: &mut State, plan: &mut ActionPlan) -> Result<bool, String> {
    (state.seen_js, state.seen_jobs) = (None, None);
    // Per failed Job: one pass for the restart decision, one for deletions, one for creations; and a few for
    // conditions.
    let most = 8 + 3 * state.jobs.len();
    for _ in 0..most {
        match pass(setup, state, plan)? {
            Did::Nothing => return Ok(false),
            Did::Error if setup.foreign.is_some() || plan.error.is_some() => return Ok(true),
            Did::Something | Did::Error => {}
        }
    }
    Err(format!("{most} passes do not settle"))
}

/// Returns why the state is permanently blocked, or `None` if the JobSet finishes, is suspended or is deleted.
pub fn blocked_reason(setup: &Setup, state: &State, plan: &mut ActionPlan) -> Result<Option<&'static str>, String> {
    let mut state = state.clone();
    for _ in 0..200 {
        let error = settle(setup, &mut state, plan)?;
        let rest = state.finished().is_some() || state.js.deleting || state.js.suspended;
        if let Some(next) = make_progress(setup, &state, plan)? {
            state = next;
        } else if rest {
            return Ok(None);
        } else {
            return known_reason(setup, &state, error).map(Some);
        }
    }
    Err(format!("does not end: {state:?}"))
}

/// Performs one step of every component that can make progress. Returns `None` if there is none.
fn make_progress(setup: &Setup, state: &State, plan: &mut ActionPlan) -> Result<Option<State>, String> {
    let mut next = state.clone();
    let act = |next: &mut State, event: Event, plan: &mut ActionPlan| -> Result<(), String> {
        *next = state_after(setup, next, event, plan)?;
        (next.seen_js, next.seen_jobs) = (None, None);
        Ok(())
    };
    let resting = state.finished().is_some() || state.js.deleting;
    for slot in 0..state.jobs.len() {
        let Some(job) = next.jobs[slot] else { continue };
        if job.deleting {
            act(&mut next, Event::Gone(slot), plan)?;
        } else if resting || job.finished() {
            continue;
        } else if job.suspended {
            act(&mut next, Event::Job(slot, Phase::New), plan)?;
        } else if setup.pods > 0 {
            for at in slot * setup.pods..(slot + 1) * setup.pods {
                let event = match next.pods[at] {
                    Some(p) if p.phase == PodPhase::Running => Event::Agent(at),
                    Some(p) if p.phase == PodPhase::Succeeded => continue,
                    _ => Event::PodCreated(at),
                };
                act(&mut next, event, plan)?;
            }
        } else {
            act(&mut next, Event::Job(slot, Phase::Ready), plan)?;
        }
    }
    if next == *state && !resting {
        succeed(setup, &mut next, plan)?;
    }
    Ok((next != *state).then_some(next))
}

/// Lets every ready Job or pod succeed.
fn succeed(setup: &Setup, next: &mut State, plan: &mut ActionPlan) -> Result<(), String> {
    for slot in 0..next.jobs.len() {
        let Some(job) = next.jobs[slot] else { continue };
        if job.finished() || job.suspended {
            continue;
        }
        for pod in &mut next.pods[slot * setup.pods..(slot + 1) * setup.pods] {
            let up = pod.iter_mut().filter(|p| p.up);
            up.for_each(|p| p.phase = PodPhase::Succeeded);
        }
        let pods = setup.pods_of(next, slot);
        let done = |p: &Option<Pod>| p.is_some_and(|p| p.phase == PodPhase::Succeeded);
        if setup.pods == 0 && job.phase == Phase::Ready || setup.pods > 0 && pods.iter().all(done) {
            *next = state_after(setup, next, Event::Job(slot, Phase::Succeeded), plan)?;
        }
    }
    Ok(())
}

/// Returns the known reason for a blocked state. An unknown reason is a defect of the policy.
fn known_reason(setup: &Setup, state: &State, error: bool) -> Result<&'static str, String> {
    let spec = &setup.jobset.spec;
    let rjs = &spec.replicated_jobs;
    if setup.foreign.is_some() && error {
        return Ok("C-18: the name of a Job is taken");
    }
    if error && !setup.gates.restart_job {
        return Ok("C-43: RestartJob without its gate");
    }
    if rjs.iter().all(|r| r.replicas == 0) {
        return Ok("C-10: there are no Jobs");
    }
    let policy = spec.success_policy.clone().unwrap_or_default();
    let targets = |r: &&ReplicatedJob| {
        policy.target_replicated_jobs.is_empty() || policy.target_replicated_jobs.contains(&r.name)
    };
    let wanted = rjs.iter().filter(targets).any(|r| r.replicas > 0);
    if policy.operator == ConditionOperator::Any && !wanted {
        return Ok("SP-2: operator Any with targets that have no Jobs");
    }
    let on_itself = |r: &ReplicatedJob| r.depends_on.iter().any(|d| d.name == r.name);
    if rjs.iter().any(|r| r.replicas > 0 && on_itself(r)) {
        return Ok("C-21: a replicatedJob depends on itself");
    }
    let in_place = spec.strategy() == RestartStrategy::InPlaceRestart;
    if in_place && !setup.gates.in_place_restart {
        return Ok("C-54: the gate InPlaceRestart is off");
    }
    let waiting = state.jobs.iter().any(|j| j.is_none_or(|j| j.suspended));
    if in_place && waiting {
        return Ok("IPR-5: pods of waiting replicatedJobs are expected as well");
    }
    let mut running = state.pods.iter().flatten();
    if in_place && running.any(|p| p.phase == PodPhase::Succeeded) {
        return Ok("C-47: a pod that succeeded keeps its attempt");
    }
    Err(format!("permanently blocked for an unknown reason: {state:?}"))
}
