//! Stale events: their object has changed since they were scheduled. They are dropped without advancing virtual time.
//! Events are never canceled; instead, each event is checked here when it is removed from the queue. The real
//! controllers also keep such timers and find nothing to do when they fire: a key without an object (REC-4 and its
//! counterpart in the Job controller), a different UID (the TTL controller), or a pod that is gone or terminating
//! (kubernetes.md 3, 4).

use super::Components;
use super::ctx::Ctx;
use super::event::Event;
use super::ttl_controller;
use sim_base::Time;

/// Returns true if no component would act on the event, now or later.
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

/// Discards the data kept for a stale event whose time has come.
pub fn pass(ctx: &mut Ctx<'_>, parts: &mut Components, at: Time, event: Event) {
    ctx.progress.awaited -= u32::from(event.is_awaited());
    match event {
        Event::JobDue(job) => parts.job_controller.forget(at, job),
        Event::JobSetDue(jobset) => parts.jobset_manager.forget(at, jobset),
        Event::LeaderDue { .. } => parts.jobset_manager.leader_is_gone(ctx),
        _ => {}
    }
}

/// Returns true if a pending event may still change state, however long it takes. The result stays valid until the
/// time of the event that was found, or until something changes.
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
