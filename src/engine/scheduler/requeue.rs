//! Unschedulable pods: the events that requeue them, their back-off, and the periodic retry of those that have waited
//! too long.

use super::preemption::FailedAttempt;
use super::queues::{MAX_WAIT, WaitingKey};
use super::{SchedulerState, profile_of};
use crate::record::{TicketSubject, TicketWait};
use crate::store::{PodPhase, flag};
use crate::{ctx::EngineContext, event::SimulationEvent, pod_views::node_view, store::NodeChange};
use sim_base::{NodeId, PodId, SimTime};
use sim_scheduler::{ClusterEvent, Decision, PodView};

/// What unschedulable pods waited for, on their critical paths, when an event requeues them.
#[derive(Copy, Clone, Debug)]
pub(super) enum AwaitedEvent {
    /// Capacity, until now.
    Capacity,
    /// The cause of the event.
    Cause,
    /// The pod that the event is about, if it is of their JobSet or their victim; otherwise capacity.
    Pod(PodId),
}

impl SchedulerState {
    /// Returns whether an event may matter: pods wait, or the pod in the current cycle found no node.
    pub(super) fn waits_for_events(&self) -> bool {
        self.failed.is_some() || self.groups.has_cycle() || self.queues.waiting().next().is_some()
    }

    /// Queues a pod after a failed attempt. If an event during the cycle may help, it does not wait for another one
    /// (`inFlightEvents`), unless its victims are being deleted.
    pub(super) fn queue_again(&mut self, ctx: &mut EngineContext<'_>, pod: (PodId, u32), attempt: FailedAttempt) {
        if self.changed_in_cycle && !self.preempting.contains_key(&pod.0) {
            self.requeue(ctx, pod);
            return;
        }
        let store = &**ctx.store;
        let job = store.pods.job[pod.0.ix()];
        let key = WaitingKey {
            job,
            incarnation: store.jobs[job.ix()].incarnation,
            template: store.pods.template[pod.0.ix()],
            is_leader: store.is_leader(pod.0),
            domain: store.pods.domain[pod.0.ix()],
            rejecting: attempt.rejecting,
        };
        let snapshot = &mut self.snapshot;
        let view = || snapshot.views.view(ctx, pod.0, &mut snapshot.cluster.columns);
        self.queues.wait_for_event(key, pod, attempt.inputs, view);
        self.schedule_flush(ctx);
    }

    /// Moves a pod to activeQ, or to the back-off queue until the end of its back-off.
    fn requeue(&mut self, ctx: &mut EngineContext<'_>, (pod, incarnation): (PodId, u32)) {
        let priority = ctx.store.facts(pod).priority;
        let back_off = self.queues.back_off(pod, priority, ctx.now);
        self.queues.set_enqueued(pod, ctx.mark());
        match back_off {
            Some(wait) => {
                let over = SimulationEvent::BackoffExpired { pod, incarnation };
                ctx.schedule_after(wait, TicketWait::SchedulerBackoff, TicketSubject::Pod(pod), over);
            }
            None => self.queues.activate(pod, priority, ctx.mark()),
        }
    }

    /// Requeues pods that waited for an event. `awaited` is what they waited for.
    fn requeue_all(&mut self, ctx: &mut EngineContext<'_>, pods: Vec<(PodId, u32)>, awaited: AwaitedEvent) {
        for (pod, incarnation) in pods {
            if !ctx.store.pods.is_current(pod, incarnation) {
                continue;
            }
            let waited_for_capacity = match awaited {
                AwaitedEvent::Capacity => true,
                AwaitedEvent::Cause => false,
                AwaitedEvent::Pod(other) => !self.waits_for_pod(ctx, pod, other),
            };
            let before = match self.queues.enqueued(pod) {
                mark if waited_for_capacity => ctx.end_wait(mark, TicketWait::Unschedulable, TicketSubject::Pod(pod)),
                _ => ctx.mark(),
            };
            self.requeue(ctx, (pod, incarnation));
            ctx.restore_mark(before);
        }
        self.next_cycle(ctx);
    }

    /// Returns whether a waiting pod waited for another one: for a pod of its own JobSet that is replaced, or for a
    /// victim on the node for which it is nominated. Otherwise the work of the other pod is not the reason of its wait:
    /// a pod that has succeeded only releases its node.
    fn waits_for_pod(&self, ctx: &EngineContext<'_>, pod: PodId, other: PodId) -> bool {
        let store = &**ctx.store;
        let (own, of_other) = (store.jobset_of(pod), store.jobset_of(other));
        let is_related =
            if own.is_some() { own == of_other } else { store.pods.job[pod.ix()] == store.pods.job[other.ix()] };
        let nominated = self.nominated.node_of(pod);
        let has_succeeded =
            store.pods.phase[other.ix()] == PodPhase::Succeeded && !store.pods.has(other, flag::DELETING);
        is_related && !has_succeeded || nominated.is_some_and(|node| node == store.pods.node[other.ix()])
    }

    /// Requeues the pods that the event may help.
    pub(super) fn cluster_event(
        &mut self, ctx: &mut EngineContext<'_>, event: &ClusterEvent<'_>, awaited: AwaitedEvent,
    ) {
        if let (Some(attempt), Some((pod, _))) = (&self.failed, self.in_cycle) {
            let snapshot = &mut self.snapshot;
            let view = snapshot.views.view(ctx, pod, &mut snapshot.cluster.columns);
            let profile = profile_of(&self.configuration, ctx.store, pod);
            self.changed_in_cycle |= event.requeues(&snapshot.cluster, profile, &attempt.rejecting, &view);
        }
        self.changed_in_cycle |= self.groups.has_cycle();
        let (cluster, configuration) = (&self.snapshot.cluster, &self.configuration);
        let is_gated = |pod| self.preempting.contains_key(&pod);
        let helped = self.queues.take_helped(is_gated, |rejecting, pod| {
            let profile = configuration.profile(&pod.scheduler_name);
            profile.is_none_or(|profile| event.requeues(cluster, profile, rejecting, pod))
        });
        self.requeue_all(ctx, helped, awaited);
    }

    pub(super) fn pod_event(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, event: impl Fn(&PodView) -> ClusterEvent<'_>,
    ) {
        if self.waits_for_events() {
            let snapshot = &mut self.snapshot;
            let view = snapshot.views.view(ctx, pod, &mut snapshot.cluster.columns);
            self.cluster_event(ctx, &event(&view), AwaitedEvent::Pod(pod));
        }
    }

    pub(super) fn node_event(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, change: NodeChange) {
        let waits = self.waits_for_events();
        if waits {
            self.snapshot.update_nodes(ctx);
        }
        let before = self.snapshot.replaced.remove(&node);
        if !waits {
            return;
        }
        let after = node_view(ctx, node, &mut self.snapshot.cluster.columns);
        let event = match (change, &before) {
            (NodeChange::Created, _) => ClusterEvent::NodeAdd(&after),
            (NodeChange::Gone, _) => ClusterEvent::NodeDelete(&after),
            (_, Some(before)) => ClusterEvent::NodeUpdate(before, &after),
            (_, None) => return,
        };
        self.cluster_event(ctx, &event, AwaitedEvent::Capacity);
    }

    fn schedule_flush(&mut self, ctx: &mut EngineContext<'_>) {
        if !self.has_flush
            && let Some(at) = self.queues.next_flush()
        {
            self.has_flush = true;
            ctx.progress.idle_events += 1;
            ctx.schedule_at(at, TicketWait::Unschedulable, TicketSubject::Nothing, SimulationEvent::FlushDue);
        }
    }

    /// Retries the pods that have waited too long.
    pub(super) fn flush(&mut self, ctx: &mut EngineContext<'_>) {
        self.has_flush = false;
        ctx.progress.idle_events -= 1;
        let pods = self.queues.take_leftover(ctx.now);
        self.requeue_all(ctx, pods, AwaitedEvent::Capacity);
        self.schedule_flush(ctx);
    }

    /// Returns the time of the next check for pods that have waited too long, if the check that is due has no effect.
    pub fn put_off_flush(&mut self, ctx: &EngineContext<'_>, at: SimTime) -> Option<SimTime> {
        (!self.flush_matters(ctx)).then(|| at + MAX_WAIT)
    }

    /// Returns whether the result of a retry of a waiting pod would differ from its last one, although no event
    /// requeued it: the message counts nodes, and some hints miss events (kubernetes issue 141354).
    pub fn flush_matters(&mut self, ctx: &EngineContext<'_>) -> bool {
        let inputs = self.decision_inputs(ctx);
        let changed: Vec<PodId> = self.queues.waiting().filter(|(last, _)| *last != inputs).map(|(_, p)| p).collect();
        changed.into_iter().any(|pod| match self.decide(ctx, pod) {
            Decision::Scheduled(_) => true,
            Decision::Unschedulable { message, preemption, .. } => {
                preemption.best().is_some() || message != ctx.store.names.text(self.queues.last_message(pod))
            }
        })
    }
}
