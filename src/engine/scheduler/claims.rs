//! The claims of pods: those that keep a pod from all nodes or restrict it, and the binding of claims that wait for the
//! node of a pod.

use super::SchedulerState;
use crate::record::{Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, pod_views::node_view};
use sim_api::objects::value_access::list;
use sim_api::spec::{ClaimController, ObjectKind};
use sim_base::{Duration, NodeId, PodId};
use sim_policy::placement::TemplateBlocker;
use sim_scheduler::plugins::claims::ClaimProblem;
use sim_scheduler::storage::{PodVolumes, VolumeSource};

/// Period of the checks whether the volumes of a pod are bound, which begin after the first period (`BindPodVolumes`).
const BINDING_CHECK: Duration = Duration::from_secs(1);

/// Returns whether claims may restrict the nodes of the pod.
pub fn has_restricting_claims(ctx: &EngineContext<'_>, pod: PodId) -> bool {
    let (store, names) = (&**ctx.store, &ctx.store.pod_spec(pod).claims);
    if names.is_empty() || ctx.scenario.claim_controller != ClaimController::Assumed {
        return !names.is_empty();
    }
    let namespace = store.names.namespace_of(store.pods.job[pod.ix()]);
    let mut stored = names.iter().filter_map(|n| store.others.get(ObjectKind::PersistentVolumeClaim, namespace, n));
    stored.any(|claim| list(&claim.object["spec"], "accessModes").iter().any(|mode| mode == "ReadWriteOncePod"))
}

/// Returns the first ResourceClaim of the pod, which no component creates or allocates.
pub fn claim_problem(ctx: &EngineContext<'_>, pod: PodId) -> Option<ClaimProblem> {
    let store = &**ctx.store;
    if store.facts(pod).blocked != Some(TemplateBlocker::Claims) {
        return None;
    }
    let job = store.pods.job[pod.ix()];
    let (index, incarnation) = (store.pods.index[pod.ix()], store.pods.incarnation[pod.ix()]);
    let name = || store.names.pod(job, index, pod, incarnation);
    store.pod_spec(pod).resource_claims.first().map(|claim| match claim {
        Some(claim) => ClaimProblem::ResourceClaimMissing(claim.clone()),
        None => {
            let namespace = store.names.namespace_of(job);
            ClaimProblem::ResourceClaimNotCreated(format!("{namespace}/{}", name()))
        }
    })
}

impl SchedulerState {
    /// Binds the claims of the pod that wait for its node. The API server stores the result at once, so that no later
    /// cycle chooses the same volumes. Returns the requests that the binding cycle sends for it.
    pub(super) fn bind_claims(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, node: NodeId) -> Vec<Call> {
        let is_simulated = ctx.scenario.claim_controller != ClaimController::Assumed;
        if !is_simulated || ctx.store.pod_spec(pod).claims.is_empty() {
            return Vec::new();
        }
        let view = self.read_pod(ctx, pod);
        let storage = &self.snapshot.cluster.storage;
        let node = node_view(ctx, node, &mut self.snapshot.cluster.columns);
        let bindings = PodVolumes::new(storage, &view).find(storage, &node).unwrap_or_default();
        let call = |source: &VolumeSource| match source {
            VolumeSource::Existing(_) => Call::VolumeUpdate,
            VolumeSource::Provisioned(_) => Call::ClaimUpdate,
        };
        let calls = bindings.iter().map(|binding| call(&binding.source)).collect();
        bindings.iter().for_each(|binding| apiserver::bind_claim_on_node(ctx, binding, &node.name));
        calls
    }

    /// Sends the requests that bind claims one after another. The pod is bound after the next check of its volumes.
    pub(super) fn wait_for_volumes(
        &mut self, ctx: &mut EngineContext<'_>, (pod, incarnation): (PodId, u32), calls: Vec<Call>,
    ) {
        let about = TicketSubject::Pod(pod);
        let mut mark = ctx.mark();
        for (nth, call) in calls.into_iter().enumerate() {
            mark = ctx.request_at_mark(mark, RequestEntry::new(call, about, 0).with_substream(nth as u32));
            ctx.record_response_at(call, RequestAnswer::Success, mark.at);
        }
        let mark = ctx.add_wait(mark, BINDING_CHECK, TicketWait::VolumeBinding, about);
        ctx.schedule(mark, SimulationEvent::VolumesBound { pod, incarnation });
    }

    pub(super) fn request_binding(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        if ctx.store.pods.is_current(pod, incarnation) && self.ledger.holds(pod) {
            let req = RequestEntry::new(Call::Bind, TicketSubject::Pod(pod), 0);
            ctx.request(req, SimulationEvent::BindAnswered { pod, incarnation });
        }
    }
}
