//! The events that are possible in a state, and their effects.
//!
//! Must never choose: the enumeration tries every event in every order.

use super::pass::pass;
use super::world::*;
use sim_policy::ActionPlan;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Event {
    Pass,
    JobSetSeen,
    JobsSeen,
    Suspend,
    Resume,
    Job(usize, Phase),
    /// The object of a Job under deletion is removed.
    Gone(usize),
    /// A user deletes a Job in the background.
    UserDeletes(usize),
    PodCreated(usize),
    /// The agent acts on the JobSet's status (5.6).
    Agent(usize),
    Crash(usize),
    Pod(usize, PodPhase),
}

/// Returns the possible events of a state, beginning with a pass.
pub fn possible_events(setup: &Setup, state: &State) -> Vec<Event> {
    let mut events = vec![Event::Pass];
    if state.seen_js.is_some() {
        events.push(Event::JobSetSeen);
    }
    if state.seen_jobs.is_some() {
        events.push(Event::JobsSeen);
    }
    if state.js.deleting || state.finished().is_some() {
        if setup.coarse {
            return events;
        }
        let going = |s: &usize| state.jobs[*s].is_some_and(|j| j.deleting);
        events.extend((0..state.jobs.len()).filter(going).map(Event::Gone));
        return events;
    }
    events.push(if !state.js.suspended { Event::Suspend } else { Event::Resume });
    for (slot, job) in state.jobs.iter().enumerate() {
        let Some(job) = job else { continue };
        events.extend(job_events(setup, state, slot, job));
    }
    events
}

fn job_events(setup: &Setup, state: &State, slot: usize, job: &Job) -> Vec<Event> {
    let mut events = vec![if job.deleting { Event::Gone(slot) } else { Event::UserDeletes(slot) }];
    if job.finished() || setup.coarse && state.is_previous(setup, slot) {
        return events;
    }
    events.push(Event::Job(slot, Phase::Failed));
    if setup.pods == 0 {
        let next: &[Phase] = match (job.phase, job.suspended) {
            (Phase::New, true) => &[],
            (_, true) => &[Phase::New, Phase::Succeeded],
            (Phase::New, false) if setup.coarse => &[Phase::Ready, Phase::Succeeded],
            (Phase::Ready, false) if setup.coarse => &[Phase::New, Phase::Succeeded],
            (Phase::New, false) => &[Phase::Pending],
            (Phase::Pending, _) => &[Phase::Ready, Phase::Succeeded],
            _ => &[Phase::Pending, Phase::Succeeded],
        };
        events.extend(next.iter().map(|p| Event::Job(slot, *p)));
        return events;
    }
    if job.suspended {
        events.push(Event::Job(slot, Phase::New));
        return events;
    }
    let pods = setup.pods_of(state, slot);
    let done = |p: &Option<Pod>| p.is_some_and(|p| p.phase == PodPhase::Succeeded);
    if pods.iter().all(done) {
        events.push(Event::Job(slot, Phase::Succeeded));
    }
    for (k, pod) in pods.iter().enumerate() {
        let at = slot * setup.pods + k;
        match pod {
            Some(p) if p.phase == PodPhase::Succeeded => {}
            Some(p) if p.phase == PodPhase::Running => {
                let max = setup.jobset.spec.failure_policy.as_ref();
                let max = max.map_or(0, |p| p.max_restarts.max(0) as u32);
                events.push(Event::Agent(at));
                // One restart more than allowed fails the JobSet (IPR-2).
                events.extend((p.restarts <= max).then_some(Event::Crash(at)));
                events.push(Event::Pod(at, PodPhase::Failed));
                events.extend(p.up.then_some(Event::Pod(at, PodPhase::Succeeded)));
            }
            _ if !job.deleting => events.push(Event::PodCreated(at)),
            _ => {}
        }
    }
    events
}

pub fn state_after(setup: &Setup, state: &State, event: Event, plan: &mut ActionPlan) -> Result<State, String> {
    let mut next = state.clone();
    let drop_pods = |next: &mut State, slot: usize| {
        let pods = slot * setup.pods..(slot + 1) * setup.pods;
        next.pods[pods].fill(None);
    };
    match event {
        Event::Pass => {
            pass(setup, &mut next, plan)?;
        }
        Event::JobSetSeen => next.seen_js = None,
        Event::JobsSeen => next.seen_jobs = None,
        Event::Suspend => next.js.suspended = true,
        Event::Resume => next.js.suspended = false,
        Event::Job(slot, phase) => {
            next.jobs[slot].iter_mut().for_each(|j| j.phase = phase);
            if phase != Phase::Succeeded {
                drop_pods(&mut next, slot);
            }
        }
        Event::Gone(slot) | Event::UserDeletes(slot) => {
            next.jobs[slot] = None;
            drop_pods(&mut next, slot);
        }
        Event::PodCreated(at) => {
            next.pods[at] =
                Some(Pod { annotation: None, mine: None, up: false, restarts: 0, phase: PodPhase::Running });
        }
        Event::Agent(at) => {
            let status = &next.js.status;
            let current = status.current_in_place_restart_attempt;
            let previous = status.previous_in_place_restart_attempt;
            next.pods[at].iter_mut().for_each(|p| run_agent(p, current, previous));
        }
        Event::Crash(at) => next.pods[at].iter_mut().for_each(restart),
        Event::Pod(at, phase) => next.pods[at].iter_mut().for_each(|p| p.phase = phase),
    }
    if setup.stale {
        keep_stale_cache(state, &mut next, event);
    }
    if setup.coarse {
        next.forget_previous(setup);
    }
    Ok(next)
}

/// The truth table of 5.6: AG-2, AG-3, AG-4.
fn run_agent(pod: &mut Pod, current: Option<u32>, previous: Option<u32>) {
    let mine = pod.mine.unwrap_or_else(|| current.map_or(0, |c| c + 1));
    (pod.mine, pod.annotation) = (Some(mine), Some(mine));
    if previous.is_some_and(|p| p >= mine) {
        restart(pod);
    } else if Some(mine) == current {
        pod.up = true;
    }
}

/// Restarts the container. The annotation remains until the agent writes the next one.
fn restart(pod: &mut Pod) {
    (pod.mine, pod.up) = (None, false);
    pod.restarts += 1;
}

/// Keeps the previous objects in the cache.
fn keep_stale_cache(before: &State, next: &mut State, event: Event) {
    if next.js != before.js && next.seen_js.is_none() {
        next.seen_js = Some(Box::new(before.js.clone()));
    }
    if next.jobs != before.jobs && next.seen_jobs.is_none() && event != Event::JobsSeen {
        next.seen_jobs = Some(before.jobs.clone());
    }
    if next.seen_js.as_deref() == Some(&next.js) {
        next.seen_js = None;
    }
    if next.seen_jobs.as_ref() == Some(&next.jobs) {
        next.seen_jobs = None;
    }
}
