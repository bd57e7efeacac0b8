//! Runs one pass of the real policy on a state, applies its requests as the API server would, and checks the
//! invariants.
//!
//! Must never repeat a decision of `policy`.

use super::invariants;
use super::world::*;
use crate::policy::notation::seconds;
use sim_base::SimTime;
use sim_policy::*;

fn now() -> SimTime {
    seconds(100.0)
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Did {
    Nothing,
    Something,
    /// REC-13: the pass ended with an error and will be retried.
    Error,
}

fn job_view(setup: &Setup, state: &State, slot: usize, job: &Job) -> JobView {
    let (rj, index) = setup.slots[slot];
    let one = |p: bool| u32::from(p);
    let (active, ready, succeeded) = if setup.pods == 0 {
        (
            one(matches!(job.phase, Phase::Pending | Phase::Ready)),
            one(job.phase == Phase::Ready),
            one(job.phase == Phase::Succeeded),
        )
    } else {
        let count = |test: &dyn Fn(&Pod) -> bool| {
            let pods = setup.pods_of(state, slot).iter().flatten();
            pods.filter(|p| test(p)).count() as u32
        };
        (
            count(&|p| p.phase == PodPhase::Running),
            count(&|p| p.phase == PodPhase::Running && p.up),
            count(&|p| p.phase == PodPhase::Succeeded),
        )
    };
    let failed = job.phase == Phase::Failed;
    JobView {
        rj,
        index,
        restart_attempt: Some(job.attempt),
        unusable_label: None,
        parallelism: None,
        completions: None,
        job_restart_attempt: setup.gates.restart_job.then_some(job.own),
        deleting: job.deleting,
        suspended: job.suspended,
        active,
        ready,
        succeeded,
        finished: job.finished().then(|| {
            let reason = "BackoffLimitExceeded".to_string();
            Box::new(FinishedView { failed, reason, message: String::new(), at: now() })
        }),
    }
}

/// Computes IPR-1 to IPR-3 over the existing pods.
fn in_place(setup: &Setup, state: &State) -> Option<InPlaceView> {
    let pods = state.pods.iter().flatten();
    let attempts = pods.clone().filter(|p| p.phase != PodPhase::Failed);
    let attempts: Vec<u32> = attempts.filter_map(|p| p.annotation).collect();
    (setup.pods > 0).then(|| InPlaceView {
        max_container_restarts: pods.map(|p| p.restarts).max().unwrap_or(0),
        attempts: attempts.len() as u32,
        min_attempt: attempts.iter().min().copied(),
        max_attempt: attempts.iter().max().copied(),
    })
}

/// Runs one pass on the cached objects. Returns an error if an invariant is violated.
pub fn pass(setup: &Setup, state: &mut State, plan: &mut ActionPlan) -> Result<Did, String> {
    let js = state.seen_js.as_deref().unwrap_or(&state.js).clone();
    let seen = state.seen_jobs.clone().unwrap_or(state.jobs.clone());
    let here: Vec<usize> = (0..seen.len()).filter(|&s| seen[s].is_some()).collect();
    let jobs: Vec<JobView> = here.iter().filter_map(|&s| Some(job_view(setup, state, s, seen[s].as_ref()?))).collect();
    let name = |rj: u32, index: u32| format!("js-{rj}-{index}");
    let view = JobSetView {
        jobset: &setup.jobset,
        suspended: js.suspended,
        deleting: js.deleting,
        status: &js.status,
        jobs: &jobs,
        gates: setup.gates,
        now: now(),
        service_exists: true,
        in_place: in_place(setup, state),
        ties: Default::default(),
        job_name: &name,
    };
    reconcile(&view, plan);
    let is_current = |at: usize| {
        let slot = here[at];
        !state.is_previous(setup, slot) && state.jobs[slot].is_some()
    };
    invariants::check_plan(&js, plan, is_current)?;
    carry_out(setup, state, plan, &js, (&here, &seen))
}

fn carry_out(
    setup: &Setup, state: &mut State, plan: &ActionPlan, js: &Js, (here, seen): (&[usize], &[Option<Job>]),
) -> Result<Did, String> {
    for &at in &plan.delete {
        let job = state.jobs[here[at as usize]].as_mut();
        job.into_iter().for_each(|j| j.deleting = true);
    }
    let mut refused = None;
    for c in &plan.create {
        if refused.is_some_and(|rj| rj != c.rj) {
            break;
        }
        let slot = setup.slots.iter().position(|s| *s == (c.rj, c.index));
        let Some(slot) = slot else {
            return Err(format!("creates {}/{}, which is not in the spec", c.rj, c.index));
        };
        if state.jobs[slot].is_some() || setup.foreign == Some(slot) {
            if state.seen_jobs.is_none() && setup.foreign.is_none() {
                return Err(format!("creates the existing Job {slot}"));
            }
            refused = Some(c.rj);
            continue;
        }
        let own = js.status.replicated_jobs.get(c.rj as usize);
        let own = own.and_then(|s| s.job_restarts.get(c.index as usize));
        state.jobs[slot] = Some(Job {
            attempt: js.status.restarts,
            own: own.copied().unwrap_or(0),
            deleting: false,
            suspended: c.suspended,
            phase: Phase::New,
        });
    }
    if plan.error.is_some() || refused.is_some() {
        return Ok(Did::Error);
    }
    for (list, to) in [(&plan.suspend, true), (&plan.resume, false)] {
        for &at in list {
            let slot = here[at as usize];
            if state.jobs[slot] != seen[slot] {
                return Ok(Did::Error);
            }
            let job = state.jobs[slot].as_mut();
            job.into_iter().for_each(|j| j.suspended = to);
        }
    }
    if plan.status_dirty {
        if state.seen_js.is_some() {
            return Ok(Did::Error);
        }
        state.js.status = plan.status.clone();
    }
    state.js.deleting |= plan.delete_jobset;
    let lists = [plan.delete.len(), plan.create.len(), plan.suspend.len() + plan.resume.len()];
    let acted = lists != [0, 0, 0] || plan.status_dirty || plan.delete_jobset;
    Ok(if acted { Did::Something } else { Did::Nothing })
}
