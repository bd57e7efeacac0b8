//! Preemption of pods with lower priority (plugin DefaultPreemption): the decision is made by `sim_scheduler`.

use super::SchedulerState;
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::SimulationEvent;
use crate::record::{Call, DeletionActor, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::flag;
use sim_api::spec::ObjectKind;
use sim_base::random::StreamPurpose;
use sim_base::{NodeId, PodId};
use sim_policy::placement::PlacementResult;
use sim_scheduler::decision::ScoredNodes;
use sim_scheduler::preemption::Preemption;
use sim_scheduler::{Decision, Profile, schedule};

/// An attempt to schedule a pod that found no node.
#[derive(Clone)]
pub(super) struct FailedAttempt {
    pub message: String,
    nomination: Nomination,
    /// Each with its incarnation: a pod may be gone at the end of the cycle.
    victims: Vec<(PodId, u32)>,
}

/// What an attempt does to `status.nominatedNodeName`.
#[derive(Copy, Clone)]
enum Nomination {
    Stays,
    Ends,
    To(NodeId),
}

impl SchedulerState {
    /// Returns whether the search over columns is not enough for the pod: terms about other pods, preferred nodes and
    /// host ports may concern every pod, and priorities those that find no node (`fails`) or compete with nominated
    /// pods. A missing claim or resource keeps the pod from every node.
    fn needs_plugins(&self, ctx: &EngineContext<'_>, pod: PodId, fails: bool) -> bool {
        let store = &**ctx.store;
        let facts = store.facts(pod);
        if facts.blocked.is_some() || store.deleting_claim(pod).is_some() {
            return false;
        }
        let mut classes = store.others.objects_of_kind(ObjectKind::PriorityClass);
        store.templates.has_terms_or_ports
            || (fails || !self.nominated.is_empty())
                && (store.templates.priorities.len() > 1
                    || classes.any(|(_, _, class)| class.object["preemptionPolicy"] == "Never"))
    }

    /// Places a pod by all plugins, or returns `None` if the search over columns decides.
    pub(super) fn place_by_plugins(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> Option<PlacementResult> {
        if !self.needs_plugins(ctx, pod, false) {
            return None;
        }
        let found = match self.decide(ctx, pod) {
            Decision::Scheduled(found) => found,
            Decision::Unschedulable { .. } => {
                ScoredNodes { next_start: self.next_start as usize, ..Default::default() }
            }
        };
        self.next_start = found.next_start as u32;
        let node = self.draw_one(ctx, pod, &found.best(), 0).map(|row| self.snapshot.nodes[row]);
        let (examined, feasible) = (ctx.store.nodes.len() as u32, found.nodes.len() as u32);
        Some(PlacementResult { node, examined, feasible, next: self.next_start })
    }

    /// Panics if the plugins would not choose this node (`--paranoid`). Of large clusters they examine only a part.
    pub(super) fn check_choice(&mut self, ctx: &EngineContext<'_>, pod: PodId, chosen: Option<NodeId>) {
        const EXAMINED_WHOLE: usize = 100;
        let is_blocked = ctx.store.facts(pod).blocked.is_some() || ctx.store.deleting_claim(pod).is_some();
        if is_blocked || ctx.store.nodes.len() >= EXAMINED_WHOLE {
            return;
        }
        let decision = self.decide(ctx, pod);
        let agrees = match (&decision, chosen) {
            (Decision::Scheduled(found), Some(node)) => {
                found.best().iter().any(|row| self.snapshot.nodes[*row] == node)
            }
            (Decision::Scheduled(_), None) | (Decision::Unschedulable { .. }, Some(_)) => false,
            (Decision::Unschedulable { .. }, None) => true,
        };
        assert!(agrees, "the plugins decide otherwise than {chosen:?} at {}: {decision:?}", ctx.now);
    }

    /// Draws one of several equal choices. `kind` is 0 for nodes and 1 for candidates of a preemption.
    fn draw_one<T: Clone>(&self, ctx: &mut EngineContext<'_>, pod: PodId, equal: &[T], kind: u32) -> Option<T> {
        if equal.len() < 2 {
            return equal.first().cloned();
        }
        let (about, nth) = (TicketSubject::Pod(pod), 2 * self.queues.attempts(pod) + kind);
        let draw = ctx.draw_unit(StreamPurpose::SchedulerTie, about, nth);
        equal.get((draw * equal.len() as f64) as usize).or(equal.last()).cloned()
    }

    fn decide(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> Decision {
        self.snapshot.update(ctx, &self.ledger, &self.nominated);
        let snapshot = &mut self.snapshot;
        let mut view = snapshot.views.view(ctx, pod, &mut snapshot.cluster.columns);
        let nominated = self.nominated.node_of(pod);
        view.nominated_node = nominated.map_or("", |node| ctx.store.names.node(node)).to_owned();
        let start = self.next_start as usize % snapshot.nodes.len().max(1);
        schedule(&snapshot.cluster, &view, &Profile::default(), start)
    }

    /// Describes why no node was found, and decides about preemption.
    pub(super) fn failed_attempt(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> FailedAttempt {
        let unresolved = |message| FailedAttempt { message, nomination: Nomination::Ends, victims: Vec::new() };
        if !self.needs_plugins(ctx, pod, true) {
            return unresolved(self.explain_unschedulable(ctx, pod));
        }
        let Decision::Unschedulable { message, preemption } = self.decide(ctx, pod) else {
            return unresolved(self.explain_unschedulable(ctx, pod));
        };
        match preemption {
            Preemption::Failed(_) => unresolved(message),
            Preemption::NotEligible(_) => FailedAttempt { nomination: Nomination::Stays, ..unresolved(message) },
            Preemption::Candidates(best) => {
                let Some(chosen) = self.draw_one(ctx, pod, &best, 1) else { return unresolved(message) };
                let victims = chosen.victims.iter().map(|row| self.snapshot.pods[*row]);
                FailedAttempt {
                    message,
                    nomination: Nomination::To(self.snapshot.nodes[chosen.node]),
                    victims: victims.map(|pod| (pod, ctx.store.pods.incarnation[pod.ix()])).collect(),
                }
            }
        }
    }

    /// Carries out the preemption that an attempt decided on.
    pub(super) fn preempt(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, attempt: &FailedAttempt) {
        match attempt.nomination {
            Nomination::Stays => {}
            Nomination::Ends => self.nominated.remove(pod),
            Nomination::To(node) => {
                self.nominated.nominate(ctx.store, pod, node);
                self.delete_victims(ctx, &attempt.victims);
            }
        }
    }

    fn delete_victims(&mut self, ctx: &mut EngineContext<'_>, victims: &[(PodId, u32)]) {
        for &(pod, incarnation) in victims {
            if !ctx.store.pods.is_current(pod, incarnation) || ctx.store.pods.has(pod, flag::DELETING) {
                continue;
            }
            let about = TicketSubject::Pod(pod);
            ctx.request_at_mark(ctx.mark(), RequestEntry::new(Call::PreemptionPodPatch, about, 0));
            ctx.record_response(Call::PreemptionPodPatch, RequestAnswer::Success);
            let delete = RequestEntry::new(Call::PreemptionPodDelete, about, 0);
            ctx.request(delete, SimulationEvent::VictimDeleted { pod, incarnation });
        }
    }

    pub(super) fn victim_deleted(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        let is_there = ctx.store.pods.is_current(pod, incarnation);
        ctx.record_response(Call::PreemptionPodDelete, RequestAnswer::from_existence(is_there));
        if is_there {
            apiserver::disrupt_pod(ctx, pod, DeletionActor::Preemption);
        }
    }
}
