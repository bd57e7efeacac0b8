//! Scheduling cycles: take a pod from the queue, find a node, assume it there, bind it.

use super::SchedulerState;
use crate::record::{Call, TicketSubject, TicketWait};
use crate::requests::RequestAnswer;
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, store::flag};
use sim_base::PodId;

impl SchedulerState {
    /// Enqueues a new pod without a node.
    pub(super) fn activate(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let priority = ctx.store.facts(pod).priority;
        self.queues.activate(pod, priority, ctx.mark());
        self.next_cycle(ctx);
    }

    pub(super) fn next_cycle(&mut self, ctx: &mut EngineContext<'_>) {
        while self.in_cycle.is_none() && self.patches == 0 {
            let Some((pod, since)) = self.queues.pop() else {
                return;
            };
            // A pod may have failed without a node during its last cycle.
            if !ctx.store.pods.exists(pod) || ctx.store.pods.is_terminal(pod) {
                continue;
            }
            if ctx.store.pods.has(pod, flag::DELETING) {
                self.skip_deleting(ctx, pod);
                continue;
            }
            let before = ctx.take_cause(since);
            if since.at == ctx.now {
                // No other cycle occupied the scheduler, so the path continues with the pod's own wait.
                ctx.restore_mark(since);
            }
            self.begin_cycle(ctx, pod);
            ctx.restore_mark(before);
        }
    }

    fn begin_cycle(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        self.ledger.add_keys(ctx);
        if let Some(group) = self.group_of(ctx, pod) {
            self.begin_group_cycle(ctx, group, pod);
            return;
        }
        self.ledger.learn_template(ctx, pod);
        let beside = self.place_by_plugins(ctx, pod);
        let found = beside.unwrap_or_else(|| self.place(ctx, pod));
        if self.is_checked {
            self.check_choice(ctx, pod, found.node);
        }
        let cost = self.cycle_cost(ctx, pod, &found);
        self.changed_in_cycle = false;
        self.cycles += 1;
        self.busy.add(ctx.now, ctx.now + cost);
        match found.node {
            Some(node) => {
                self.nominated.remove(pod);
                self.ledger.assume(ctx.store, pod, node, ctx.now);
                self.claim_updates = self.bind_claims(ctx, pod, node);
                self.snapshot.touch(pod);
            }
            None => self.failed = Some(self.failed_attempt(ctx, pod)),
        }
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        self.in_cycle = Some((pod, incarnation));
        let done = SimulationEvent::CycleDone { pod, incarnation };
        ctx.schedule_after(cost, TicketWait::Cycle, TicketSubject::Pod(pod), done);
    }

    pub(super) fn cycle_done(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        self.in_cycle = None;
        if self.group_cycle_done(ctx) {
            self.next_cycle(ctx);
            return;
        }
        let (failed, claim_updates) = (self.failed.take(), std::mem::take(&mut self.claim_updates));
        if ctx.store.pods.is_current(pod, incarnation) {
            if self.ledger.holds(pod) && claim_updates.is_empty() {
                self.request_binding(ctx, pod, incarnation);
            } else if self.ledger.holds(pod) {
                self.wait_for_volumes(ctx, (pod, incarnation), claim_updates);
            } else if let Some(attempt) = failed.filter(|_| !ctx.store.pods.has(pod, flag::DELETING)) {
                let is_new_message = self.mark_unschedulable(ctx, pod, &attempt.message);
                let is_renominated = self.preempt(ctx, pod, &attempt);
                self.queue_again(ctx, (pod, incarnation), attempt);
                if is_new_message || is_renominated {
                    self.patch_conditions(ctx, &[pod]);
                }
            }
        }
        self.next_cycle(ctx);
    }

    pub(super) fn backoff_expired(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        let p = &ctx.store.pods;
        let waits = p.is_current(pod, incarnation) && !p.has(pod, flag::GATED);
        if waits && self.queues.leave_backoff(pod, ctx.now) {
            self.activate(ctx, pod);
        }
    }

    pub(super) fn bind_answered(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        let node = self.ledger.held_node(pod);
        let answer = apiserver::bind_pod(ctx, pod, incarnation, node);
        if answer.is_success() {
            ctx.record_response(Call::SchedulerEvent, RequestAnswer::Success);
        }
    }
}
