//! Taint eviction: deletes pods of a node with NoExecute taints after their toleration periods (kubernetes.md 4.1).

use super::{NOT_READY, NodeLifecycle, UNREACHABLE};
use crate::record::{Call, DeletionActor, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::{ObjectStore, flag};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent};
use sim_api::spec::{TaintEffect, TaintSpec, TolerationSpec};
use sim_base::{Duration, NodeId, PodId, SimTime};

/// Toleration added by the admission plugin DefaultTolerationSeconds for both taints (kubernetes.md 4.1).
const DEFAULT_TOLERATION_S: u64 = 300;

impl NodeLifecycle {
    /// Handles a change of the node's taints: each pod gets its shortest toleration period. Without NoExecute taints,
    /// pending evictions are canceled; if a taint returns, the period starts again.
    pub(super) fn update_evictions(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let nodes = &ctx.store.nodes;
        let mut taints = nodes.taints_of(node);
        let evicts = taints.any(|t| t.effect == TaintEffect::NoExecute);
        drop(taints);
        if evicts {
            for pod in nodes.pods[node.ix()].clone() {
                self.update_eviction(ctx, pod);
            }
        } else {
            for pod in &nodes.pods[node.ix()] {
                self.pod(*pod).evict_at = SimTime::NEVER;
            }
        }
    }

    pub(super) fn update_eviction(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let (p, nodes) = (&ctx.store.pods, &ctx.store.nodes);
        let node = p.node[pod.ix()];
        let stays = !p.is_active(pod) || !p.exists(pod) || !nodes.exists(node);
        if stays {
            return;
        }
        let tolerations = &ctx.store.pod_spec(pod).tolerations;
        let Some(after) = toleration_period(tolerations, nodes.taints_of(node)) else {
            // Taints that the pod tolerates without limit cancel its eviction.
            self.pod(pod).evict_at = SimTime::NEVER;
            return;
        };
        // A pending eviction stays, unless a taint is not tolerated at all (`processPodOnNode`).
        let is_pending = self.pod(pod).evict_at != SimTime::NEVER;
        if is_pending && nodes.taints_of(node).all(|taint| is_tolerated(tolerations, taint)) {
            return;
        }
        let at = ctx.now + after;
        if at < self.pod(pod).evict_at {
            self.pod(pod).evict_at = at;
            let incarnation = ctx.store.pods.incarnation[pod.ix()];
            let over = SimulationEvent::TolerationExpired { pod, incarnation };
            ctx.schedule_at(at, TicketWait::Toleration, TicketSubject::Pod(pod), over);
        }
    }

    /// Returns true if no toleration period of the pod ends at that time.
    pub fn is_stale(&self, store: &ObjectStore, at: SimTime, (pod, incarnation): (PodId, u32)) -> bool {
        let due = self.pods.get(pod.ix()).is_some_and(|row| row.evict_at == at);
        !due || !store.pods.is_current(pod, incarnation) || store.pods.has(pod, flag::DELETING)
    }

    /// Evicts the pod. The existence of the Node is not checked, because its deletion does not cancel evictions
    /// (`handleNodeUpdate` in `pkg/controller/tainteviction` forgets only the taints of a deleted Node).
    pub(super) fn toleration_expired(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        if self.is_stale(ctx.store, ctx.now, (pod, incarnation)) {
            return;
        }
        let (about, here) = (TicketSubject::Pod(pod), ctx.mark());
        let nth = self.pod(pod).evictions;
        self.pod(pod).evictions += 1;
        for call in [Call::EvictionPodGet, Call::EvictionPodPatch] {
            ctx.request_at_mark(here, RequestEntry::new(call, about, nth));
            ctx.record_response(call, RequestAnswer::Success);
        }
        let delete = RequestEntry::new(Call::EvictionPodDelete, about, nth);
        ctx.request(delete, SimulationEvent::EvictionAnswered { pod, incarnation });
    }

    pub(super) fn eviction_answered(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        let there = ctx.store.pods.is_current(pod, incarnation);
        ctx.record_response(Call::EvictionPodDelete, RequestAnswer::from_existence(there));
        if there {
            apiserver::disrupt_pod(ctx, pod, DeletionActor::TaintEviction);
        }
    }
}

/// Whether a pod tolerates a taint, for a time at least.
fn is_tolerated(tolerations: &[TolerationSpec], taint: &TaintSpec) -> bool {
    let by_default = taint.key == UNREACHABLE || taint.key == NOT_READY;
    taint.effect != TaintEffect::NoExecute || by_default || tolerations.iter().any(|t| t.tolerates(taint))
}

/// Period for which a pod tolerates these taints; `None` means indefinitely. Admission adds 300 s for not-ready and
/// unreachable.
pub(super) fn toleration_period<'a>(
    tolerations: &[TolerationSpec], taints: impl Iterator<Item = &'a TaintSpec>,
) -> Option<Duration> {
    let mut least: Option<Duration> = None;
    for taint in taints.filter(|t| t.effect == TaintEffect::NoExecute) {
        // Of several matching tolerations, the first one counts (`GetMatchingTolerations`).
        let seconds = match tolerations.iter().find(|t| t.tolerates(taint)) {
            None if !is_tolerated(tolerations, taint) => return Some(Duration::ZERO),
            None => Some(DEFAULT_TOLERATION_S),
            Some(first) => first.toleration_seconds.map(|s| s.max(0) as u64),
        };
        if let Some(d) = seconds.map(Duration::from_secs) {
            least = Some(least.map_or(d, |l| l.min(d)));
        }
    }
    least
}
