//! kube-scheduler: serial scheduling cycles whose duration depends on the pod's constraints, followed by a binding
//! through a separate token bucket (kubernetes.md 2).
//!
//! The choice of a node is made by `placement`. Must never read anything but its own accounting and stored objects.

mod books;
mod cycle;
mod explain;
mod queues;
#[cfg(test)]
#[path = "../../../tests/inside/engine/scheduler.rs"]
mod tests;

use super::ctx::Ctx;
use super::event::Event;
use super::lane::BusyTimes;
use crate::store::{NodeChange, PodChange, What, flag};
use books::Books;
use queues::Queues;
use sim_base::*;

#[derive(Clone, Default)]
pub struct Scheduler {
    queues: Queues,
    books: Books,
    /// The pod in the current cycle.
    in_cycle: Option<(PodId, u32)>,
    /// An event that may help happened during the cycle: a pod that finds no node is retried without waiting for the
    /// next such event (kube-scheduler, `inFlightEvents`).
    news_in_cycle: bool,
    /// Start of the next search over all nodes.
    start: u32,
    pub cycles: u64,
    pub busy: BusyTimes,
}

impl Scheduler {
    pub fn reset(&mut self, ctx: &mut Ctx<'_>) {
        self.queues.reset();
        self.books.reset(&ctx.store.nodes.cluster);
        self.in_cycle = None;
        self.news_in_cycle = false;
        self.start = 0;
        self.cycles = 0;
        self.busy.clear();
    }

    pub fn longest_queue(&self) -> u32 {
        self.queues.longest
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match event {
            Event::CycleDone { pod, incarnation } => self.cycle_done(ctx, pod, incarnation),
            Event::BindAnswered { pod, incarnation } => self.bind_answered(ctx, pod, incarnation),
            Event::BackoffOver { pod, incarnation } => self.backoff_over(ctx, pod, incarnation),
            other => unreachable!("not an event of the scheduler: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What) {
        match what {
            What::Pod(pod, change) => self.pod_changed(ctx, pod, change),
            What::Node(_, change) => self.node_changed(ctx, change),
            What::Claim => self.wake(ctx),
            _ => {}
        }
    }

    fn pod_changed(&mut self, ctx: &mut Ctx<'_>, pod: PodId, change: PodChange) {
        match change {
            PodChange::Created => {
                self.books.forget(pod);
                self.queues.forget(pod);
                let named = ctx.store.pod_spec(pod).node_name.is_some();
                if !named && !ctx.store.pods.has(pod, flag::GATED | flag::BOUND) {
                    self.activate(ctx, pod);
                }
            }
            PodChange::Metadata => self.gate_off(ctx, pod),
            // Bound by another client than this scheduler.
            PodChange::Bound if !self.books.holds(pod) => {
                self.queues.remove(pod);
                let node = ctx.store.pods.node[pod.ix()];
                self.books.take(ctx.store, pod, node);
            }
            PodChange::Finished => self.release(ctx, pod),
            PodChange::Gone => {
                self.release(ctx, pod);
                self.queues.remove(pod);
            }
            _ => {}
        }
    }

    /// The last scheduling gate of the pod was removed.
    fn gate_off(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        let p = &ctx.store.pods;
        let waits = p.exists(pod) && !p.has(pod, flag::GATED | flag::BOUND | flag::DELETING);
        // A pod in a cycle has no gates; its changes are considered when it is queued again.
        let looked_at = self.in_cycle == Some((pod, p.incarnation[pod.ix()]));
        let known = looked_at || self.queues.knows(pod);
        if waits && !self.books.holds(pod) && !known && !p.is_terminal(pod) {
            self.activate(ctx, pod);
        }
    }

    /// Removes the pod from the accounting: it has a terminal phase or was removed.
    fn release(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        if self.books.give_back(ctx.store, pod) {
            self.wake(ctx);
        }
    }

    fn node_changed(&mut self, ctx: &mut Ctx<'_>, change: NodeChange) {
        match change {
            NodeChange::Created | NodeChange::Spec => {
                self.books.count_again(ctx.store);
                self.wake(ctx);
            }
            NodeChange::Taints | NodeChange::Condition => self.wake(ctx),
            _ => {}
        }
    }

    /// Returns true if the pod is in the unschedulable queue.
    pub fn is_parked(&self, pod: PodId) -> bool {
        self.queues.is_parked(pod)
    }

    /// Free amounts in thousandths, node-major, for the check of invariants.
    pub fn free(&self) -> &[i64] {
        self.books.free()
    }

    /// The node whose resources the pod holds.
    pub fn held_node(&self, pod: PodId) -> NodeId {
        self.books.held_node(pod)
    }
}
