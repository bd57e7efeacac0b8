//! Applies an event to a state.
//!
//! Must never act for a controller; that is done in `pass.rs`, `sync.rs` and `status.rs`.

use super::events::Event;
use super::pass::pass;
use super::setups::Setup;
use super::world::*;
use super::{caches, status, sync};
use sim_policy::ActionPlan;
use std::rc::Rc;

/// Exit code of a container that SIGTERM ended.
const KILLED: u8 = 143;

/// Returns the state after an event, or an error if an invariant is violated.
pub fn state_after(setup: &Setup, state: &State, event: Event, plan: &mut ActionPlan) -> Result<State, String> {
    let mut next = state.clone();
    match event {
        Event::Pass => pass(setup, &mut next, plan)?,
        Event::JobSetSeen => next.seen_js = None,
        Event::JobsSeen => next.seen_jobs = None,
        Event::Suspend | Event::Resume => {
            Rc::make_mut(&mut next.js).suspended = event == Event::Suspend;
            next.switches -= 1;
        }
        Event::Freed(slot) => next.jobs[slot] = None,
        Event::UserDeletesJob(slot) => {
            // Deleted in the background: the Job goes first, and its pods are no longer tracked.
            next.jobs[slot] = None;
            next.troubles -= 1;
        }
        _ => apply_job_event(setup, &mut next, event)?,
    }
    if setup.coarse {
        next.jobs.iter_mut().flatten().for_each(discard_irrelevant_state);
    }
    caches::keep_stale_jobset_cache(setup, state, &mut next, event);
    for slot in 0..next.jobs.len() {
        caches::keep_stale_job_cache(setup, &state.jobs[slot], &mut next.jobs[slot], event, slot);
    }
    Ok(next)
}

/// Makes pods ready at once, and discards the state of a Job under deletion because it affects nothing else.
fn discard_irrelevant_state(job: &mut Job) {
    let waiting = job.pods.iter_mut().filter(|p| p.phase == Phase::Waiting);
    waiting.for_each(|p| p.phase = Phase::Ready);
    if job.object.deleting {
        let (pods, lost) = (Vec::new(), (0, 0));
        *job = Job { pods, lost, desk: Desk::default(), ..job.clone() };
        job.object.status = Status::default();
    }
}

fn apply_job_event(setup: &Setup, next: &mut State, event: Event) -> Result<(), String> {
    let (Event::JobSeen(slot)
    | Event::PodsSeen(slot)
    | Event::Goes(slot, _)
    | Event::Sync(slot)
    | Event::Waited(slot)
    | Event::Overdue(slot)
    | Event::Ended(slot, ..)
    | Event::Collected(slot, _)
    | Event::Ready(slot, _)
    | Event::Succeeds(slot, _)
    | Event::Fails(slot, ..)
    | Event::Restarts(slot, _)
    | Event::UserDeletesPod(slot, _)
    | Event::Evicted(slot, _)) = event
    else {
        return Ok(());
    };
    let rules = setup.rules(slot);
    let Some(job) = &mut next.jobs[slot] else {
        return Ok(());
    };
    match event {
        Event::JobSeen(_) => job.desk.object = None,
        Event::PodsSeen(_) => job.desk.pods = None,
        Event::Goes(..) => status::next_step(rules, job)?,
        Event::Sync(_) => {
            sync::begin(rules, job)?;
            status::advance(rules, job);
            while setup.coarse && job.desk.sync.is_some() {
                status::next_step(rules, job)?;
            }
        }
        Event::Waited(_) => end_wait(job),
        Event::Overdue(_) => {
            job.overdue = true;
            job.desk.queued |= std::mem::take(&mut job.desk.timer);
        }
        Event::Collected(_, uid) => {
            if job.pod(uid).is_some_and(|p| p.active()) {
                job.note_possible_failure(uid);
            }
            job.delete_pod(uid, setup.waits);
            // Finished Jobs are not synced. The queue of orphan pods removes the finalizer.
            let finished = job.finished();
            job.pod(uid).into_iter().for_each(|p| p.finalizer &= !finished);
            job.remove_terminated_pods();
        }
        _ => {
            next.troubles -= u8::from(!event.is_helpful() && !matches!(event, Event::Ended(..)));
            let ignored = rules.spec.pod_failure_policy.is_some();
            apply_pod_event(setup.waits, ignored, job, event);
        }
    }
    Ok(())
}

/// Applies an event to a pod. `ignored` means that the podFailurePolicy does not count disruptions.
fn apply_pod_event(recent: bool, ignored: bool, job: &mut Job, event: Event) {
    let end = |job: &mut Job, uid: u8, code: u8| {
        let Some(pod) = job.pod(uid) else { return };
        pod.phase = if code == 0 { Phase::Succeeded } else { Phase::Failed };
        (pod.exit_code, pod.recent) = (code, recent);
        job.remove_terminated_pods();
    };
    match event {
        Event::Ready(_, uid) => job.pod(uid).into_iter().for_each(|p| p.phase = Phase::Ready),
        Event::Succeeds(_, uid) => end(job, uid, 0),
        Event::Ended(_, uid, well) => end(job, uid, if well { 0 } else { KILLED }),
        Event::Fails(_, uid, code) => {
            job.note_possible_failure(uid);
            end(job, uid, code);
        }
        Event::Restarts(_, uid) => job.pod(uid).into_iter().for_each(|p| {
            p.restarts += 1;
            p.phase = Phase::Waiting;
        }),
        Event::UserDeletesPod(_, uid) => {
            job.note_possible_failure(uid);
            job.delete_pod(uid, recent);
        }
        Event::Evicted(_, uid) => {
            job.pod(uid).into_iter().for_each(|p| p.disrupted = true);
            if !ignored {
                job.note_possible_failure(uid);
            }
            job.delete_pod(uid, recent);
        }
        _ => {}
    }
}

fn end_wait(job: &mut Job) {
    let old = |b: &mut Backoff| b.1 = b.1.map(|_| false);
    old(&mut job.desk.backoff);
    job.desk.sync.iter_mut().for_each(|s| old(&mut s.backoff));
    let cached = job.desk.pods.iter_mut().flatten();
    job.pods.iter_mut().chain(cached).for_each(|p| p.recent = false);
    job.desk.queued |= std::mem::take(&mut job.desk.timer);
}
