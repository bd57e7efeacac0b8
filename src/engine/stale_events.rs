//! Stale events: their object has changed since they were scheduled. They are dropped without advancing virtual time.
//! Events are never canceled; instead, each event is checked here when it is removed from the queue. The real
//! controllers also keep such timers and find nothing to do when they fire: a key without an object (REC-4 and its
//! counterpart in the Job controller), a different UID (the TTL controller), or a pod that is gone or terminating
//! (kubernetes.md 3, 4).

use super::ControlPlaneComponents;
use super::ctx::EngineContext;
use super::event::SimulationEvent;
use super::ttl_controller;
use sim_base::SimTime;

/// Returns true if no component would act on the event, now or later.
#[inline]
pub fn is_stale(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents, at: SimTime, event: SimulationEvent) -> bool {
    use SimulationEvent::*;
    match event {
        Fault(index) => parts.script.is_past_end(ctx, index),
        ContainersStarted { .. }
        | ContainerExit { .. }
        | ContainersRestarted { .. }
        | ContainersStopped { .. }
        | ContainerTimerDue { .. } => parts.kubelet.is_stale(ctx.store, at, event),
        JobDue(job) => parts.job_controller.is_stale(ctx.store, at, job),
        JobTtlExpired { job, incarnation } => !ttl_controller::has_expired(ctx, job, incarnation),
        JobSetDue(jobset) => parts.jobset_manager.is_stale(at, jobset),
        TolerationExpired { pod, incarnation } => {
            let node_lifecycle = &parts.node_lifecycle;
            node_lifecycle.is_stale(ctx.store, at, (pod, incarnation))
        }
        LeaderDue { pod, incarnation } | BackoffExpired { pod, incarnation } | EvictionRetry { pod, incarnation } => {
            !ctx.store.pods.is_current(pod, incarnation)
        }
        WorkDone { .. }
        | HangDetected { .. }
        | CorruptionDetected { .. }
        | RendezvousTimedOut { .. }
        | LastCallExpired { .. } => parts.training.is_stale(ctx.store, event),
        AgingClockDue { .. } => parts.usage_aging.is_stale(event),
        KueueCheckDue { jobset, check } => parts.kueue.is_check_stale(at, jobset, check),
        KueueWorkloadDue(jobset) => parts.kueue.is_stale(at, jobset),
        KueueExistingEnd(_) | KueueExistingDue(_) => parts.kueue.is_existing_stale(at, event),
        KueueUsageSample { reorders } => parts.kueue.is_sample_stale(at, reorders),
        _ => false,
    }
}

/// Discards the data kept for a stale event whose time has come.
pub fn discard(ctx: &mut EngineContext<'_>, parts: &mut ControlPlaneComponents, at: SimTime, event: SimulationEvent) {
    ctx.progress.awaited -= u32::from(event.is_awaited());
    match event {
        SimulationEvent::JobDue(job) => parts.job_controller.clear_timer(at, job),
        SimulationEvent::JobSetDue(jobset) => parts.jobset_manager.clear_timer(at, jobset),
        SimulationEvent::LeaderDue { .. } => parts.jobset_manager.end_retry(ctx),
        SimulationEvent::Fault(index) => parts.script.skip_fault(&ctx.scenario.faults[index as usize]),
        _ => {}
    }
}

/// Returns true if a pending event may still change state, however long it takes. The result stays valid until the
/// time of the event that was found, or until something changes.
pub fn has_awaited_event(ctx: &mut EngineContext<'_>, parts: &ControlPlaneComponents) -> bool {
    if ctx.progress.awaited == 0 {
        return false;
    }
    let since = ctx.progress.quiet_since();
    let known = ctx.progress.awaited_search;
    if known.0 == since && ctx.now < known.1 {
        return true;
    }
    // The training component counts the ends of work itself.
    let is_awaited = |event: SimulationEvent| event.is_awaited() || matches!(event, SimulationEvent::WorkDone { .. });
    let found = ctx.queue.first_at(|at, event| is_awaited(event) && !is_stale(ctx, parts, at, event));
    ctx.progress.awaited_search = (since, found.unwrap_or(SimTime::NEVER));
    found.is_some()
}
