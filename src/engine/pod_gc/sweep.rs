//! One sweep: the pods that are force-deleted, and how.

use super::PodGc;
use crate::record::{Call, DeletionActor, TicketSubject};
use crate::{apiserver, ctx::EngineContext, requests::RequestAnswer, store::flag};
use sim_base::{Duration, PodId, SimTime};

/// quarantineTime: how long a Node object must be missing (kubernetes.md 4.1).
pub const QUARANTINE: Duration = Duration::from_secs(40);

impl PodGc {
    /// Every 20 s: fails and force-deletes pods of nodes missing for 40 s or more, terminating pods of out-of-service
    /// nodes, and terminating pods without a node.
    pub(super) fn tick(&mut self, ctx: &mut EngineContext<'_>) {
        self.armed = false;
        for pod in self.orphans(ctx) {
            self.remove_by_force(ctx, pod, true);
        }
        for pod in self.unattended(ctx) {
            self.remove_by_force(ctx, pod, false);
        }
        self.schedule_sweep(ctx);
    }

    /// Pods of Nodes whose quarantine has ended.
    fn orphans(&mut self, ctx: &EngineContext<'_>) -> Vec<PodId> {
        let mut orphans = Vec::new();
        for m in &mut self.missing {
            let pods = &ctx.store.nodes.pods[m.node.ix()];
            let (next, found) = quarantine(m.quarantine_until, ctx.now, pods.is_empty());
            m.quarantine_until = next;
            if found {
                orphans.extend(pods);
            }
        }
        orphans
    }

    /// Terminating pods of out-of-service nodes, and those that were never bound.
    fn unattended(&mut self, ctx: &EngineContext<'_>) -> Vec<PodId> {
        let p = &ctx.store.pods;
        let out = self.out_of_service.iter();
        let on_them = out.flat_map(|n| ctx.store.nodes.pods[n.ix()].iter().copied());
        let mut pods: Vec<PodId> = on_them.filter(|pod| p.has(*pod, flag::DELETING)).collect();
        let unscheduled = self.unscheduled.drain(..);
        let waits = |(pod, incarnation): &(PodId, u32)| p.is_current(*pod, *incarnation) && !p.has(*pod, flag::BOUND);
        pods.extend(unscheduled.filter(waits).map(|(pod, _)| pod));
        pods
    }

    /// Sets the phase Failed, then sends DELETE with grace period 0. The condition DisruptionTarget is set only if
    /// the Node is missing. The exit codes of its containers are unknown.
    fn remove_by_force(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, node_is_gone: bool) {
        if !ctx.store.pods.exists(pod) {
            return;
        }
        let before = ctx.mark();
        if let Some((since, waited)) = self.waits.current(pod) {
            ctx.resume(since, waited, TicketSubject::Pod(pod));
        }
        if !ctx.store.pods.is_terminal(pod) {
            ctx.record_response(Call::PodGcPatch, RequestAnswer::Success);
            if node_is_gone {
                apiserver::set_disrupted(ctx, pod, DeletionActor::PodGarbageCollector);
            }
            apiserver::finish_pod(ctx, pod, None);
        }
        ctx.record_response(Call::PodGcDelete, RequestAnswer::Success);
        apiserver::mark_deleting(ctx, pod, DeletionActor::PodGarbageCollector, true);
        ctx.restore_mark(before);
    }
}

/// A sweep that finds pods of a missing Node puts it in quarantine for 40 s; a Node that still has pods afterwards is
/// put in quarantine again. Returns the end of the quarantine, and whether its pods are deleted now.
pub(super) fn quarantine(until: SimTime, now: SimTime, empty: bool) -> (SimTime, bool) {
    let over = until <= now;
    let next = match (over || until == SimTime::NEVER, empty) {
        (false, _) => until,
        (true, true) => SimTime::NEVER,
        (true, false) => now + QUARANTINE,
    };
    (next, over && !empty)
}
