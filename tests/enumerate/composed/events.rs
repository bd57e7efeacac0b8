//! Lists the events that are possible in a state, helpful ones before faults.
//!
//! Must never choose: the enumeration tries every event in every order.

use super::setups::{Faults, Setup};
use super::world::*;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Event {
    JobSetSeen,
    JobsSeen,
    /// The Job controller's cache of Jobs catches up.
    JobSeen(usize),
    PodsSeen(usize),
    /// The current sync performs its next write.
    Goes(usize, Step),
    Sync(usize),
    Pass,
    /// The containers of a pod under deletion terminate; `true` means successfully.
    Ended(usize, u8, bool),
    /// The garbage collector deletes a pod of a Job under deletion and removes its finalizer if the Job is finished.
    Collected(usize, u8),
    Freed(usize),
    /// The back-off delay is over.
    Waited(usize),
    Overdue(usize),
    Ready(usize, u8),
    Succeeds(usize, u8),
    /// A container fails with this exit code.
    Fails(usize, u8, u8),
    /// A container restarts (restartPolicy OnFailure).
    Restarts(usize, u8),
    UserDeletesPod(usize, u8),
    Evicted(usize, u8),
    UserDeletesJob(usize),
    Suspend,
    Resume,
}

impl Event {
    /// Returns whether the event brings the JobSet closer to its end. `possible` lists helpful events in the order
    /// in which they are tried.
    pub fn is_helpful(self) -> bool {
        use Event::*;
        match self {
            Overdue(_) | Fails(..) | Restarts(..) | UserDeletesPod(..) | Evicted(..) => false,
            UserDeletesJob(_) | Suspend | Resume => false,
            Ended(_, _, well) => !well,
            _ => true,
        }
    }
}

/// Returns the possible events of a state: first the helpful ones, in the order in which they are tried.
pub fn possible_events(setup: &Setup, state: &State) -> Vec<Event> {
    let mut events = Vec::new();
    events.extend(state.seen_js.is_some().then_some(Event::JobSetSeen));
    events.extend(state.seen_jobs.is_some().then_some(Event::JobsSeen));
    let jobs = || {
        let jobs = state.jobs.iter().enumerate();
        jobs.filter_map(|(slot, job)| Some((slot, job.as_ref()?)))
    };
    for (slot, job) in jobs() {
        let desk = &job.desk;
        events.extend(desk.object.is_some().then_some(Event::JobSeen(slot)));
        events.extend(desk.pods.is_some().then_some(Event::PodsSeen(slot)));
        events.extend(desk.sync.map(|s| Event::Goes(slot, s.step)));
    }
    // StaleControllerConsistencyJob (1.36): no sync begins before the caches show the controller's own writes.
    let waits = |desk: &Desk| desk.sync.is_some() || setup.consistent() && desk.wrote != (false, false);
    let queued = jobs().filter(|(_, j)| j.desk.queued && !waits(&j.desk));
    events.extend(queued.map(|(slot, _)| Event::Sync(slot)));
    events.push(Event::Pass);
    jobs().for_each(|(slot, job)| add_deletion_events(slot, job, &mut events));
    jobs().for_each(|(slot, job)| add_timer_events(setup, slot, job, &mut events));
    let pods = || jobs().flat_map(|(slot, job)| job.pods.iter().map(move |p| (slot, p)));
    for (slot, pod) in pods().filter(|(_, p)| p.active()) {
        events.extend((pod.phase == Phase::Waiting).then_some(Event::Ready(slot, pod.uid)));
    }
    for (slot, pod) in pods().filter(|(_, p)| p.active()) {
        events.extend((pod.phase == Phase::Ready).then_some(Event::Succeeds(slot, pod.uid)));
    }
    if state.js.status.terminal_state.is_none() {
        add_fault_events(setup, state, &mut events);
    }
    events
}

/// Adds the events of pods and Jobs under deletion.
fn add_deletion_events(slot: usize, job: &Job, events: &mut Vec<Event>) {
    for pod in job.pods.iter().filter(|p| p.deleting && !p.terminal()) {
        events.push(Event::Ended(slot, pod.uid, false));
        events.push(Event::Ended(slot, pod.uid, true));
    }
    if job.object.deleting {
        let left = job.pods.iter().filter(|p| !p.deleting);
        events.extend(left.map(|p| Event::Collected(slot, p.uid)));
        events.extend(job.pods.is_empty().then_some(Event::Freed(slot)));
    }
}

/// Adds the events that the passage of time causes.
fn add_timer_events(setup: &Setup, slot: usize, job: &Job, events: &mut Vec<Event>) {
    let recent = job.pods.iter().any(|p| p.recent) || job.desk.backoff.1 == Some(true);
    events.extend((recent && !job.finished()).then_some(Event::Waited(slot)));
    let deadline = setup.rules(slot).spec.active_deadline_seconds.is_some();
    let running = job.object.status.started && !job.object.suspended && !job.finished();
    events.extend((deadline && running && !job.overdue).then_some(Event::Overdue(slot)));
}

fn add_fault_events(setup: &Setup, state: &State, events: &mut Vec<Event>) {
    if state.switches > 0 {
        events.push(if !state.js.suspended { Event::Suspend } else { Event::Resume });
    }
    if state.troubles == 0 {
        return;
    }
    let Faults { codes, restarts, deleted, evicted, job_deleted } = setup.faults;
    for (slot, job) in state.jobs.iter().enumerate() {
        let Some(job) = job else { continue };
        for p in job.pods.iter().filter(|p| p.active()) {
            events.extend(codes.iter().map(|code| Event::Fails(slot, p.uid, *code)));
            events.extend(restarts.then_some(Event::Restarts(slot, p.uid)));
            events.extend(deleted.then_some(Event::UserDeletesPod(slot, p.uid)));
            events.extend(evicted.then_some(Event::Evicted(slot, p.uid)));
        }
        events.extend(job_deleted.then_some(Event::UserDeletesJob(slot)));
    }
}
