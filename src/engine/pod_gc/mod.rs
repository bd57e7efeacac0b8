//! Pod garbage collection: every 20 s it force-deletes pods that no kubelet will terminate (kubernetes.md 4.1).
//!
//! Runs only while a pod is on a missing or out-of-service node, or terminates without a node. Must never wait for a
//! kubelet.

mod sweep;
#[cfg(test)]
#[path = "../../../tests/inside/engine/pod_gc.rs"]
mod tests;
mod waits;

pub use sweep::QUARANTINE;

use super::ctx::EngineContext;
use super::event::SimulationEvent;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ChangeKind, NodeChange, PodChange, flag};
use sim_api::spec::keys::OUT_OF_SERVICE;
use sim_base::random::StreamPurpose;
use sim_base::{Duration, NodeId, PodId, SimTime};
use waits::GcWaits;

/// gcCheckPeriod (kubernetes.md 4.1).
pub const PERIOD: Duration = Duration::from_secs(20);

#[derive(Clone, Default)]
pub struct PodGc {
    phase: Duration,
    armed: bool,
    missing: Vec<MissingNodePods>,
    /// Nodes with the out-of-service taint that are not ready.
    out_of_service: Vec<NodeId>,
    /// Pods that were deleted before they were bound.
    unscheduled: Vec<(PodId, u32)>,
    waits: GcWaits,
}

/// A removed Node object.
#[derive(Copy, Clone)]
struct MissingNodePods {
    node: NodeId,
    /// Time at which the quarantine ends; `NEVER` if no sweep has noticed the missing Node yet.
    quarantine_until: SimTime,
}

impl PodGc {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        self.phase = ctx.draw_phase(StreamPurpose::PodGcPhase, TicketSubject::Nothing, 0, PERIOD);
        self.armed = false;
        self.missing.clear();
        self.out_of_service.clear();
        self.unscheduled.clear();
        self.waits.reset();
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::PodGcTick => self.tick(ctx),
            other => unreachable!("not an event of pod garbage collection: {other:?}"),
        }
    }

    #[inline(always)]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Pod(pod, PodChange::Created) => self.waits.forget(pod),
            ChangeKind::Pod(pod, PodChange::Deleting | PodChange::Bound) => self.pod_changed(ctx, pod),
            ChangeKind::Node(node, change) => self.node_changed(ctx, node, change),
            _ => {}
        }
    }

    fn pod_changed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let p = &ctx.store.pods;
        if !p.exists(pod) {
            return;
        }
        let (node, deleting) = (p.node[pod.ix()], p.has(pod, flag::DELETING));
        if deleting {
            self.waits.begin(pod, ctx.mark());
        }
        if !p.has(pod, flag::BOUND) {
            // Its finalizer holds it, and no kubelet will terminate it.
            self.unscheduled.push((pod, p.incarnation[pod.ix()]));
            self.waits.begin_sweep_wait(ctx, pod);
        } else if self.is_missing(node) || (deleting && self.out_of_service.contains(&node)) {
            self.waits.begin_sweep_wait(ctx, pod);
        }
        self.schedule_sweep(ctx);
    }

    fn node_changed(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, change: NodeChange) {
        match change {
            NodeChange::Gone => {
                self.missing.push(MissingNodePods { node, quarantine_until: SimTime::NEVER });
                for pod in ctx.store.nodes.pods[node.ix()].clone() {
                    self.waits.begin_sweep_wait(ctx, pod);
                }
            }
            NodeChange::Created => self.missing.retain(|m| m.node != node),
            NodeChange::Lease => return self.lease_changed(ctx, node),
            NodeChange::Machine { .. } | NodeChange::Uncordoned => return,
            NodeChange::Taints | NodeChange::Spec | NodeChange::Condition => {}
        }
        self.check_out_of_service(ctx, node);
        self.schedule_sweep(ctx);
    }

    /// The pods of a node whose Lease is not renewed wait for it, whether deleted or not.
    fn lease_changed(&mut self, ctx: &EngineContext<'_>, node: NodeId) {
        let renewed = ctx.store.nodes.rows[node.ix()].lease == SimTime::NEVER;
        for pod in ctx.store.nodes.pods[node.ix()].iter() {
            if renewed { self.waits.end(*pod) } else { self.waits.begin(*pod, ctx.mark()) }
        }
    }

    /// Checks for an out-of-service node (kubernetes.md 4.1): the taint with any effect, a node that is not ready, and
    /// a terminating pod.
    fn check_out_of_service(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let nodes = &ctx.store.nodes;
        let row = nodes.rows[node.ix()];
        let tainted = || nodes.taints_of(node).any(|taint| taint.key == OUT_OF_SERVICE);
        let out = row.exists && row.unknown && tainted();
        let was = self.out_of_service.contains(&node);
        if was && !out {
            self.out_of_service.retain(|n| *n != node);
        } else if out && !was {
            self.out_of_service.push(node);
            for pod in nodes.pods[node.ix()].clone() {
                if ctx.store.pods.has(pod, flag::DELETING) {
                    self.waits.begin_sweep_wait(ctx, pod);
                }
            }
        }
    }

    fn is_missing(&self, node: NodeId) -> bool {
        self.missing.iter().any(|m| m.node == node)
    }

    fn schedule_sweep(&mut self, ctx: &mut EngineContext<'_>) {
        if self.armed || !self.has_work(ctx) {
            return;
        }
        self.armed = true;
        let at = (ctx.now + Duration(1)).next_tick(self.phase, PERIOD);
        ctx.schedule_at(at, TicketWait::PodGc, TicketSubject::Nothing, SimulationEvent::PodGcTick);
    }

    fn has_work(&self, ctx: &EngineContext<'_>) -> bool {
        let pods = |node: NodeId| &ctx.store.nodes.pods[node.ix()];
        let ends = |pod: &PodId| ctx.store.pods.has(*pod, flag::DELETING);
        !self.unscheduled.is_empty()
            || self.missing.iter().any(|m| !pods(m.node).is_empty())
            || self.out_of_service.iter().any(|n| pods(*n).iter().any(ends))
    }
}
