//! Runs one pass of the real JobSet policy on the cached objects, applies its requests as the API server would, and
//! checks the invariants of plans.
//!
//! Must never repeat a decision of `policy`.

use super::rules::now;
use super::setups::Setup;
use super::world::*;
use crate::invariants::{check_plan, counted, max_restarts, restarts};
use crate::world::Js;
use sim_policy::*;
use std::rc::Rc;

fn job_view(setup: &Setup, slot: usize, job: &Seen) -> JobView {
    let (rj, index) = setup.base.slots[slot];
    JobView {
        rj,
        index,
        restart_attempt: Some(job.attempt),
        job_restart_attempt: setup.base.gates.restart_job.then_some(job.own),
        deleting: job.deleting,
        suspended: job.suspended,
        active: u32::from(job.active),
        ready: u32::from(job.ready),
        succeeded: u32::from(job.succeeded),
        finished: job.end.map(|(failed, reason)| {
            Box::new(FinishedView { failed, reason: reason.to_string(), message: String::new(), at: now() })
        }),
        ..JobView::default()
    }
}

/// Runs one pass on the cached objects. Returns an error if an invariant is violated.
pub fn pass(setup: &Setup, state: &mut State, plan: &mut ActionPlan) -> Result<(), String> {
    let js = state.seen_js.clone().unwrap_or(state.js.clone());
    let seen = state.seen_jobs.clone().unwrap_or(state.jobs_now());
    let here: Vec<usize> = (0..seen.len()).filter(|&s| seen[s].is_some()).collect();
    let cached = here.iter().filter_map(|&s| Some(job_view(setup, s, seen[s].as_ref()?)));
    let jobs: Vec<JobView> = cached.collect();
    let name = |rj: u32, index: u32| format!("js-{rj}-{index}");
    let view = JobSetView {
        jobset: &setup.base.jobset,
        suspended: js.suspended,
        deleting: js.deleting,
        status: &js.status,
        jobs: &jobs,
        gates: setup.base.gates,
        now: now(),
        service_exists: true,
        in_place: None,
        ties: Default::default(),
        job_name: &name,
    };
    reconcile(&view, plan);
    let is_current = |at: usize| {
        let slot = here[at];
        let current = |j: &Job| !is_previous(setup, &state.js.status, slot, j.attempt, j.own);
        state.jobs[slot].as_ref().is_some_and(current)
    };
    check_plan(&js, plan, is_current)?;
    check_requests(setup, plan, &js, &seen)?;
    carry_out(setup, state, plan, &js, (&here, &seen))
}

/// Returns whether a Job with these counters belongs to a previous attempt (REC-5).
fn is_previous(setup: &Setup, status: &JobSetStatus, slot: usize, attempt: u32, own: u32) -> bool {
    let (rj, index) = setup.base.slots[slot];
    attempt < status.restarts || own < own_restarts(status, rj, index)
}

fn own_restarts(status: &JobSetStatus, rj: u32, index: u32) -> u32 {
    let own = status.replicated_jobs.get(rj as usize);
    own.and_then(|s| s.job_restarts.get(index as usize).copied()).unwrap_or(0)
}

/// Checks that a restart is counted only for a Job that failed in the attempt that ends, so that no failure counts
/// twice, and that only current Jobs end a JobSet.
fn check_requests(setup: &Setup, plan: &ActionPlan, js: &Js, seen: &[Option<Seen>]) -> Result<(), String> {
    let (old, new) = (&js.status, &plan.status);
    let ended = |slot: usize, badly: bool| {
        let job = seen[slot].as_ref().filter(|j| j.end.is_some_and(|(failed, _)| failed == badly));
        job.is_some_and(|j| !is_previous(setup, old, slot, j.attempt, j.own))
    };
    let failed = || (0..seen.len()).any(|slot| ended(slot, true));
    let due = match (old.terminal_state, new.terminal_state) {
        (None, Some(TerminalState::Completed)) => (0..seen.len()).all(|slot| ended(slot, false)),
        (None, Some(TerminalState::Failed)) => failed() && counted(new) == max_restarts(&setup.base.jobset),
        _ => true,
    };
    let grown = |(rj, index)| own_restarts(new, rj, index) > own_restarts(old, rj, index);
    let own = (0..seen.len()).all(|slot| !grown(setup.base.slots[slot]) || ended(slot, true));
    let complete = new.restarts == old.restarts || failed();
    let once = restarts(new) <= restarts(old) + 1;
    let all = due && own && complete && once;
    all.then_some(()).ok_or(format!("a terminal state or a restart without a cause: {new:?}"))
}

fn carry_out(
    setup: &Setup, state: &mut State, plan: &ActionPlan, js: &Js, (here, seen): (&[usize], &[Option<Seen>]),
) -> Result<(), String> {
    for &at in &plan.delete {
        let job = state.jobs[here[at as usize]].as_mut();
        job.into_iter().for_each(|j| j.object.deleting = true);
    }
    let mut refused = None;
    for c in &plan.create {
        if refused.is_some_and(|rj| rj != c.rj) {
            break;
        }
        let slot = setup.base.slots.iter().position(|s| *s == (c.rj, c.index));
        let slot = slot.ok_or(format!("creates {}/{}, which is not in the spec", c.rj, c.index))?;
        if state.jobs[slot].is_some() {
            if state.seen_jobs.is_none() {
                return Err(format!("creates the existing Job {slot}"));
            }
            refused = Some(c.rj);
            continue;
        }
        let own = own_restarts(&js.status, c.rj, c.index);
        state.jobs[slot] = Some(Job::new(js.status.restarts, own, c.suspended));
    }
    if plan.error.is_some() || refused.is_some() {
        return Ok(());
    }
    for (list, to) in [(&plan.suspend, true), (&plan.resume, false)] {
        for slot in list.iter().map(|&at| here[at as usize]) {
            let Some(job) = state.jobs[slot].as_mut() else {
                return Ok(());
            };
            if seen[slot].is_some_and(|s| s.behind) {
                return Ok(());
            }
            job.object.suspended = to;
            // SUS-5: startTime is cleared before a Job is resumed.
            job.object.status.started &= to;
        }
    }
    if plan.status_dirty && state.seen_js.is_none() {
        Rc::make_mut(&mut state.js).status = plan.status.clone();
    }
    Ok(())
}
