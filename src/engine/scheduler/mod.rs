//! kube-scheduler: one serial scheduling cycle whose length depends on the pod's constraints, then a binding through a
//! token bucket of its own (kubernetes.md 2).
//!
//! Where a pod goes is `placement`'s business. Must never look at anything but its own books and stored objects.

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
    /// The pod that is looked at.
    in_cycle: Option<(PodId, u32)>,
    /// Something that may help has happened during the cycle: a pod that finds no node does not wait for the next such
    /// thing (kube-scheduler, `inFlightEvents`).
    news_in_cycle: bool,
    /// Where the next search over all nodes starts.
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
            // Bound by somebody else than this scheduler.
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

    /// Its last scheduling gate was taken off.
    fn gate_off(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        let p = &ctx.store.pods;
        let waits = p.exists(pod) && !p.has(pod, flag::GATED | flag::BOUND | flag::DELETING);
        // One that is looked at has no gates; what changed of it is looked at when it is queued again.
        let looked_at = self.in_cycle == Some((pod, p.incarnation[pod.ix()]));
        let known = looked_at || self.queues.knows(pod);
        if waits && !self.books.holds(pod) && !known && !p.is_terminal(pod) {
            self.activate(ctx, pod);
        }
    }

    /// The pod no longer counts in the scheduler's books: terminal phase, or the object is gone.
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

    /// The pod waits for some node to fit.
    pub fn is_parked(&self, pod: PodId) -> bool {
        self.queues.is_parked(pod)
    }

    /// Thousandths still free, node-major; for the check of all books.
    pub fn free(&self) -> &[i64] {
        self.books.free()
    }

    /// The node that the pod holds resources of.
    pub fn held_node(&self, pod: PodId) -> NodeId {
        self.books.held_node(pod)
    }
}
