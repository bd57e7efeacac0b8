//! kube-scheduler: serial scheduling cycles whose duration depends on the pod's constraints, followed by a binding
//! through a separate token bucket (kubernetes.md 2).
//!
//! The choice of a node is made by `placement` and `sim_scheduler`. Must never read anything but its own accounting
//! and stored objects.

mod capacity_ledger;
mod claims;
mod cycle;
mod explain;
mod nominated;
mod place;
mod preemption;
mod queues;
mod snapshot;
mod spread;
#[cfg(test)]
#[path = "../../../tests/inside/engine/scheduler.rs"]
mod tests;
mod usage_classes;

use super::ctx::EngineContext;
use super::event::SimulationEvent;
use super::token_bucket::BusyTimes;
use crate::store::{ChangeKind, NodeChange, PodChange, flag};
use capacity_ledger::CapacityLedger;
use nominated::NominatedPods;
use preemption::{FailedAttempt, LastFailure};
use queues::SchedulingQueues;
use sim_base::{NodeId, PodId, TextId};
use snapshot::SchedulerSnapshot;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct SchedulerState {
    queues: SchedulingQueues,
    ledger: CapacityLedger,
    nominated: NominatedPods,
    /// Message of the Event of each pod that is about to be preempted.
    preempted: BTreeMap<PodId, TextId>,
    snapshot: SchedulerSnapshot,
    in_cycle: Option<(PodId, u32)>,
    /// Result of the current cycle if it found no node.
    failed: Option<FailedAttempt>,
    failures: LastFailure,
    /// An event that may help happened during the cycle: a pod that finds no node is retried without waiting for the
    /// next such event (kube-scheduler, `inFlightEvents`).
    changed_in_cycle: bool,
    /// Start of the next search over all nodes.
    next_start: u32,
    /// Memory of the last search: fitting nodes with their positions.
    fitting: Vec<(u32, NodeId)>,
    /// Whether the plugins check every choice of a node.
    pub is_checked: bool,
    pub cycles: u64,
    pub busy: BusyTimes,
}

impl SchedulerState {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        self.queues.reset();
        self.ledger.reset(ctx);
        self.failed = None;
        self.failures = LastFailure::default();
        self.nominated.clear();
        self.preempted.clear();
        self.snapshot = SchedulerSnapshot::default();
        self.in_cycle = None;
        self.changed_in_cycle = false;
        self.next_start = 0;
        self.cycles = 0;
        self.busy.clear();
    }

    pub fn longest_queue(&self) -> u32 {
        self.queues.longest
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::CycleDone { pod, incarnation } => self.cycle_done(ctx, pod, incarnation),
            SimulationEvent::BindAnswered { pod, incarnation } => self.bind_answered(ctx, pod, incarnation),
            SimulationEvent::VictimDeleted { pod, incarnation } => self.victim_deleted(ctx, pod, incarnation),
            SimulationEvent::BackoffExpired { pod, incarnation } => self.backoff_expired(ctx, pod, incarnation),
            other => unreachable!("not an event of the scheduler: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Pod(pod, change) => self.pod_changed(ctx, pod, change),
            ChangeKind::Node(node, change) => self.node_changed(ctx, node, change),
            ChangeKind::Claim => self.retry_unschedulable(ctx),
            _ => {}
        }
    }

    fn pod_changed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, change: PodChange) {
        self.snapshot.touch(pod);
        match change {
            PodChange::Created => {
                self.ledger.forget(pod);
                self.queues.forget(pod);
                let named = ctx.store.pod_spec(pod).node_name.is_some();
                if !named && !ctx.store.pods.has(pod, flag::GATED | flag::BOUND) {
                    self.activate(ctx, pod);
                }
            }
            PodChange::Metadata => self.gates_removed(ctx, pod),
            // Bound by another client than this scheduler.
            PodChange::Bound if !self.ledger.holds(pod) => {
                self.queues.remove(pod);
                let node = ctx.store.pods.node[pod.ix()];
                self.ledger.classes.learn_template(ctx, pod);
                self.ledger.assume(ctx.store, pod, node, ctx.now);
            }
            PodChange::Deleting => self.ledger.set_terminating(ctx.store, pod),
            PodChange::Finished => self.release(ctx, pod),
            PodChange::Gone => {
                self.nominated.remove(pod);
                self.release(ctx, pod);
                self.queues.remove(pod);
            }
            _ => {}
        }
    }

    /// The last scheduling gate of the pod was removed.
    fn gates_removed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let p = &ctx.store.pods;
        let waits = p.exists(pod) && !p.has(pod, flag::GATED | flag::BOUND | flag::DELETING);
        // A pod in a cycle has no gates; its changes are considered when it is queued again.
        let looked_at = self.in_cycle == Some((pod, p.incarnation[pod.ix()]));
        let known = looked_at || self.queues.contains(pod);
        if waits && !self.ledger.holds(pod) && !known && !p.is_terminal(pod) {
            self.activate(ctx, pod);
        }
    }

    /// Removes the pod from the accounting: it has a terminal phase or was removed.
    fn release(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if self.ledger.release(ctx.store, pod) {
            self.retry_unschedulable(ctx);
        }
    }

    fn node_changed(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, change: NodeChange) {
        match change {
            NodeChange::Created | NodeChange::Spec => {
                self.ledger.recount(ctx);
                self.retry_on_new_capacity(ctx);
            }
            NodeChange::Taints => {
                self.ledger.classes.update_kind(ctx, node);
                self.retry_on_new_capacity(ctx);
            }
            NodeChange::Condition | NodeChange::Uncordoned => self.retry_on_new_capacity(ctx),
            NodeChange::Gone => self.ledger.spread.forget_counts(),
            _ => {}
        }
    }

    /// Returns true if the pod is in the unschedulable queue.
    pub fn is_unschedulable(&self, pod: PodId) -> bool {
        self.queues.is_unschedulable(pod)
    }

    /// Message of the pod's last attempt that found no node.
    pub fn last_message(&self, pod: PodId) -> TextId {
        self.queues.last_message(pod)
    }

    /// Free amounts in thousandths, node-major, for the check of invariants.
    pub fn free(&self) -> &[i64] {
        self.ledger.free()
    }

    /// The node whose resources the pod holds.
    pub fn held_node(&self, pod: PodId) -> NodeId {
        self.ledger.held_node(pod)
    }
}
