//! Events under way that have come to nothing: what they were about has moved on since. They take no time, so that no
//! run lasts until then.
//!
//! Nothing is ever cancelled: whoever takes an event out of the queue asks here first. The real controllers keep such
//! timers, too, and find nothing to do when they ring: a key without an object (REC-4 and its like in the Job
//! controller), a UID that is another one's (the TTL controller), a pod that is gone or going (kubernetes.md 3, 4).

use super::Components;
use super::ctx::Ctx;
use super::event::Event;
use super::ttl_controller;
use sim_base::Time;

/// Whether nobody would do anything about the event, now or later.
#[inline]
pub fn is_void(ctx: &Ctx<'_>, parts: &Components, at: Time, event: Event) -> bool {
    use Event::*;
    match event {
        ContainersUp { .. } | ContainerExit { .. } | ContainersBack { .. } | Stopped { .. } => {
            parts.kubelet.is_void(ctx.store, at, event)
        }
        JobDue(job) => parts.job_controller.is_void(ctx.store, at, job),
        JobTtlOver { job, incarnation } => !ttl_controller::has_expired(ctx, job, incarnation),
        JobSetDue(jobset) => parts.jobset_manager.is_void(at, jobset),
        TolerationOver { pod, incarnation } => {
            let node_lifecycle = &parts.node_lifecycle;
            node_lifecycle.is_void(ctx.store, at, (pod, incarnation))
        }
        LeaderDue { pod, incarnation } | BackoffOver { pod, incarnation } => {
            !ctx.store.pods.is(pod, incarnation)
        }
        WorkDone { .. }
        | HangFound { .. }
        | WrongFound { .. }
        | RendezvousOver { .. }
        | LastCallOver { .. } => parts.training.is_void(ctx.store, event),
        Worn { .. } => parts.ageing.is_void(event),
        _ => false,
    }
}

/// The time of a void event has come: what was kept for it is forgotten.
pub fn pass(ctx: &mut Ctx<'_>, parts: &mut Components, at: Time, event: Event) {
    ctx.progress.awaited -= u32::from(event.is_awaited());
    match event {
        Event::JobDue(job) => parts.job_controller.forget(at, job),
        Event::JobSetDue(jobset) => parts.jobset_manager.forget(at, jobset),
        Event::LeaderDue { .. } => parts.jobset_manager.leader_is_gone(ctx),
        _ => {}
    }
}

/// Whether something under way may still change something, however long it takes. What is found once holds until that
/// event's time, or until something changes.
pub fn is_awaited(ctx: &mut Ctx<'_>, parts: &Components) -> bool {
    if ctx.progress.awaited == 0 {
        return false;
    }
    let since = ctx.progress.quiet_since();
    let known = ctx.progress.awaits;
    if known.0 == since && ctx.now < known.1 {
        return true;
    }
    let awaited = ctx.queue.pending().filter(|(_, event)| event.is_awaited());
    let (mut void, mut next) = (0, Time::NEVER);
    for (at, event) in awaited {
        match is_void(ctx, parts, at, event) {
            true => void += 1,
            false => next = next.min(at),
        }
    }
    ctx.progress.awaits = (since, next);
    ctx.progress.awaited > void
}
