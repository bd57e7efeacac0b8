//! Preemption of pods with lower priority (plugin DefaultPreemption): the decision is made by `sim_scheduler`.

use super::claims::{claim_problem, has_restricting_claims};
use super::other_pods::has_own_terms;
use super::queues::DecisionInputs;
use super::{SchedulerState, profile_of};
use crate::record::{Body, Call, DeletionActor, ObjectRef, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, ctx::ContextMark, ctx::EngineContext, event::SimulationEvent, store::flag};
use sim_base::random::StreamPurpose;
use sim_base::{DomainId, JobId, NodeId, PodId, TemplateId, TextId};
use sim_policy::placement::PlacementResult;
use sim_scheduler::decision::ScoredNodes;
use sim_scheduler::preemption::Preemption;
use sim_scheduler::rejection::ReasonCounts;
use sim_scheduler::{Decision, PluginSet, PodView, schedule};
use std::collections::{BTreeMap, BTreeSet};

/// An attempt to schedule a pod that found no node.
#[derive(Clone)]
pub(super) struct FailedAttempt {
    pub message: String,
    /// The plugins that rejected nodes; empty if the cause is not known.
    pub rejecting: PluginSet,
    pub inputs: DecisionInputs,
    nomination: Nomination,
    /// Each with its incarnation: a pod may be gone at the end of the cycle.
    victims: Vec<(PodId, u32)>,
}

impl FailedAttempt {
    /// Returns an attempt whose rejecting plugins are not known: every event may help.
    pub fn without_cause(message: String, inputs: DecisionInputs) -> FailedAttempt {
        let (rejecting, nomination) = (PluginSet::new(), Nomination::Ends);
        FailedAttempt { message, rejecting, inputs, nomination, victims: Vec::new() }
    }
}

/// What the reasons of a failed attempt depend on.
#[derive(Clone, PartialEq)]
struct FailureKey {
    inputs: DecisionInputs,
    template: TemplateId,
    domain: DomainId,
    /// The Job and whether the pod is its leader, if there is exclusive placement.
    job: Option<(JobId, bool)>,
}

/// The last failed attempt that no preemption helps.
#[derive(Clone, Default)]
pub(super) struct LastFailure(Option<(FailureKey, FailedAttempt)>);

impl LastFailure {
    fn find(&self, key: &Option<FailureKey>) -> Option<FailedAttempt> {
        self.0.as_ref().filter(|(known, _)| Some(known) == key.as_ref()).map(|(_, attempt)| attempt.clone())
    }

    fn keep(&mut self, key: Option<FailureKey>, attempt: &FailedAttempt) {
        self.0 = key.map(|key| (key, attempt.clone()));
    }
}

/// What an attempt does to `status.nominatedNodeName`.
#[derive(Copy, Clone)]
pub(super) enum Nomination {
    Stays,
    Ends,
    To(NodeId),
}

impl SchedulerState {
    /// Returns whether the search over columns is not enough for the pod: it has terms about other pods or preferred
    /// nodes or claims, terms of other pods may select it, it is exclusive and a
    /// pod without a JobSet counts as one of another Job, pods are nominated, or a Service beside those of JobSets may
    /// spread it. A missing claim or resource keeps the pod from every node.
    fn needs_plugins(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> bool {
        let store = &**ctx.store;
        let blocked = store.facts(pod).blocked.is_some() || store.deleting_claim(pod).is_some();
        let namespace = || store.names.namespace_of(store.pods.job[pod.ix()]);
        let has_terms = has_own_terms(store, pod) || !self.profile(store, pod).has_default_filters();
        let has_foreign = || store.template(pod).exclusive.is_some() && self.ledger.placed_terms.has_foreign_job_key();
        let has_terms = has_terms || has_foreign();
        let is_concerned = has_terms || !self.nominated.is_empty() || self.ledger.terms_may_concern(ctx, pod);
        let restricts = || is_concerned || has_restricting_claims(ctx, pod);
        !blocked && (restricts() || self.ledger.spread.has_foreign_service(store, namespace()))
    }

    /// Places a pod by all plugins, or returns `None` if the search over columns decides.
    pub(super) fn place_by_plugins(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> Option<PlacementResult> {
        if !self.needs_plugins(ctx, pod) {
            return None;
        }
        self.fitting.clear();
        let found = match self.decide(ctx, pod) {
            Decision::Scheduled(found) => found,
            Decision::Unschedulable { .. } => {
                ScoredNodes { next_start: self.next_start as usize, ..Default::default() }
            }
        };
        // The search ends after the last feasible node, or has examined all.
        let all = self.snapshot.nodes.len() as u32;
        let before = self.next_start.checked_rem(all).unwrap_or(0);
        self.next_start = found.next_start as u32;
        let examined = (self.next_start + all - before).checked_rem(all).filter(|n| *n > 0).unwrap_or(all);
        let node = self.draw_one(ctx, pod, &found.best(), 0).map(|row| self.snapshot.nodes[row]);
        Some(PlacementResult { node, examined, feasible: found.nodes.len() as u32 })
    }

    /// Panics if the plugins would not choose this node (`--paranoid`). Of large clusters they examine only a part.
    pub(super) fn check_choice(&mut self, ctx: &EngineContext<'_>, pod: PodId, chosen: Option<NodeId>) {
        const EXAMINED_WHOLE: usize = 100;
        let is_blocked = ctx.store.facts(pod).blocked.is_some() || ctx.store.deleting_claim(pod).is_some();
        // The plugins see nodes of which the accounting has not been notified.
        if is_blocked || ctx.store.nodes.len() >= EXAMINED_WHOLE || !self.ledger.has_nodes_of(ctx.store) {
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
        if let Decision::Scheduled(found) = decision {
            self.check_scores(ctx, pod, &found);
        }
    }

    /// Panics if the last search found other nodes than the plugins, or if differences of scores differ. A search for
    /// one node is not checked.
    fn check_scores(&mut self, ctx: &EngineContext<'_>, pod: PodId, found: &ScoredNodes) {
        let mut fitting = self.fitting.clone();
        fitting.retain(|_| self.fitting.len() > 1);
        let profile = profile_of(&self.configuration, ctx.store, pod);
        let totals = self.ledger.totals(ctx.store, profile, pod, &fitting);
        let expected: BTreeMap<NodeId, i64> =
            found.nodes.iter().map(|row| self.snapshot.nodes[*row]).zip(found.totals()).collect();
        let offset = |(node, total): (&NodeId, i64)| expected.get(node).map(|score| score - total);
        let offsets: BTreeSet<Option<i64>> = fitting.iter().zip(totals).map(offset).collect();
        let agrees = fitting.is_empty() || (fitting.len() == expected.len() && offsets.len() == 1);
        assert!(
            agrees,
            "the plugins score {pod:?} otherwise at {}: {expected:?}, found {:?}, differences {offsets:?}",
            ctx.now, self.fitting
        );
    }

    /// Draws one of several equal choices. `kind` is 0 for nodes and 1 for candidates of a preemption.
    pub(super) fn draw_one<T: Clone>(
        &self, ctx: &mut EngineContext<'_>, pod: PodId, equal: &[T], kind: u32,
    ) -> Option<T> {
        equal.get(self.draw_index(ctx, pod, equal.len(), kind)).cloned()
    }

    /// Draws an index below a number of equal choices.
    pub(super) fn draw_index(&self, ctx: &mut EngineContext<'_>, pod: PodId, choices: usize, kind: u32) -> usize {
        if choices < 2 {
            return 0;
        }
        let (about, nth) = (TicketSubject::Pod(pod), 2 * self.queues.attempts(pod) + kind);
        let draw = ctx.draw_unit(StreamPurpose::SchedulerTie, about, nth);
        ((draw * choices as f64) as usize).min(choices - 1)
    }

    pub(super) fn decide(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> Decision {
        let view = self.read_pod(ctx, pod);
        let start = self.next_start as usize % self.snapshot.nodes.len().max(1);
        schedule(&self.snapshot.cluster, &view, self.profile(ctx.store, pod), start)
    }

    /// Updates the snapshot and returns the pod as the plugins see it.
    pub(super) fn read_pod(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> PodView {
        self.snapshot.update(ctx, &self.ledger, &self.nominated);
        if !self.waits_for_events() {
            self.snapshot.replaced.clear();
        }
        let snapshot = &mut self.snapshot;
        let mut view = snapshot.views.view(ctx, pod, &mut snapshot.cluster.columns);
        snapshot.cluster.learn_topologies(&view);
        let nominated = self.nominated.node_of(pod);
        view.nominated_node = nominated.map_or("", |node| ctx.store.names.node(node)).to_owned();
        view.claim_problem = claim_problem(ctx, pod);
        view
    }

    pub(super) fn decision_inputs(&self, ctx: &EngineContext<'_>) -> DecisionInputs {
        let store = &**ctx.store;
        DecisionInputs { accounting: self.ledger.changes, nodes: store.nodes.changes(), others: store.others.changes }
    }

    /// Describes why no node was found, and decides about preemption.
    pub(super) fn failed_attempt(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> FailedAttempt {
        let key = self.failure_key(ctx, pod);
        if let Some(attempt) = self.failures.find(&key) {
            return attempt;
        }
        let mut attempt = FailedAttempt {
            message: String::new(),
            rejecting: PluginSet::new(),
            inputs: self.decision_inputs(ctx),
            nomination: Nomination::Ends,
            victims: Vec::new(),
        };
        let Decision::Unschedulable { message, preemption, rejecting } = self.decide(ctx, pod) else {
            // The accounting has not received the last change of a Node yet; it ends the wait when it does.
            attempt.message = ReasonCounts::default().message(self.snapshot.nodes.len());
            return attempt;
        };
        (attempt.message, attempt.rejecting) = (message, rejecting);
        match preemption {
            Preemption::Failed(_) => self.failures.keep(key, &attempt),
            Preemption::NotEligible(_) => attempt.nomination = Nomination::Stays,
            Preemption::Candidates(best) => {
                if let Some(chosen) = self.draw_one(ctx, pod, &best, 1) {
                    let victims = chosen.victims.iter().map(|row| self.snapshot.pods[*row]);
                    attempt.nomination = Nomination::To(self.snapshot.nodes[chosen.node]);
                    attempt.victims = victims.map(|pod| (pod, ctx.store.pods.incarnation[pod.ix()])).collect();
                }
            }
        }
        attempt
    }

    /// Pods of one template fail for the same reasons until something changes, unless they have terms of their own.
    fn failure_key(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> Option<FailureKey> {
        let store = &**ctx.store;
        let inputs = self.decision_inputs(ctx);
        let has_problem = claim_problem(ctx, pod).is_some() || store.deleting_claim(pod).is_some();
        (!self.needs_plugins(ctx, pod) && !has_problem).then(|| FailureKey {
            inputs,
            template: store.pods.template[pod.ix()],
            domain: store.pods.domain[pod.ix()],
            job: (!store.templates.domains.is_empty()).then(|| (store.pods.job[pod.ix()], store.is_leader(pod))),
        })
    }

    /// Carries out the preemption that an attempt decided on. Returns whether `nominatedNodeName` changes.
    pub(super) fn preempt(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, attempt: &FailedAttempt) -> bool {
        let before = self.nominated.node_of(pod);
        match attempt.nomination {
            Nomination::Stays => {}
            Nomination::Ends => {
                self.nominated.remove(pod);
            }
            Nomination::To(node) => {
                self.nominated.nominate(ctx.store, pod, node);
                let (preemptor, node) = (ctx.store.pod_uid(pod), ctx.store.names.node(node));
                let message = ctx.intern(&format!("Preempted by pod {preemptor} on node {node}"));
                self.delete_victims(ctx, Some(pod), &attempt.victims, message);
            }
        }
        self.nominated.node_of(pod) != before
    }

    /// Marks each victim and deletes it: the last one when the others are deleted. Until then the preemptor is not
    /// queued (`prepareCandidateAsync`).
    pub(super) fn delete_victims(
        &mut self, ctx: &mut EngineContext<'_>, preemptor: Option<PodId>, victims: &[(PodId, u32)], message: TextId,
    ) {
        let is_live = |(pod, incarnation): &&(PodId, u32)| {
            ctx.store.pods.is_current(*pod, *incarnation) && !ctx.store.pods.has(*pod, flag::DELETING)
        };
        let live: Vec<(PodId, u32)> = victims.iter().filter(is_live).copied().collect();
        let Some((last, others)) = live.split_last() else { return };
        let mut ready = ctx.mark();
        for victim in others {
            let deleted = self.delete_victim(ctx, *victim, message, ctx.mark());
            if deleted.at > ready.at {
                ready = deleted;
            }
        }
        self.delete_victim(ctx, *last, message, ready);
        if let Some(preemptor) = preemptor {
            self.preempting.insert(preemptor, *last);
        }
    }

    /// Sends both requests for a victim from `since` on, and returns the time of the second response.
    fn delete_victim(
        &mut self, ctx: &mut EngineContext<'_>, (pod, incarnation): (PodId, u32), message: TextId, since: ContextMark,
    ) -> ContextMark {
        self.preempted.insert(pod, message);
        let about = TicketSubject::Pod(pod);
        let patched = ctx.request_at_mark(since, RequestEntry::new(Call::SchedulerPodPatch, about, 0));
        ctx.record_response_at(Call::SchedulerPodPatch, RequestAnswer::Success, patched.at);
        let deleted = ctx.request_at_mark(patched, RequestEntry::new(Call::PreemptionPodDelete, about, 0));
        ctx.schedule(deleted, SimulationEvent::VictimDeleted { pod, incarnation });
        deleted
    }

    pub(super) fn victim_deleted(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        let is_there = ctx.store.pods.is_current(pod, incarnation);
        ctx.record_response(Call::PreemptionPodDelete, RequestAnswer::from_existence(is_there));
        let message = self.preempted.remove(&pod);
        self.preempting.retain(|_, last| *last != (pod, incarnation));
        if is_there {
            self.snapshot.touch(pod);
            apiserver::disrupt_pod(ctx, pod, DeletionActor::Preemption);
            if let Some(message) = message {
                let reason = ctx.intern("Preempted");
                ctx.emit(Body::KubeEvent { object: ObjectRef::Pod(pod), warning: false, reason, message });
            }
        }
    }
}
