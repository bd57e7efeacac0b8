//! Claims that keep a pod from all nodes.

use crate::ctx::EngineContext;
use sim_api::spec::ObjectKind;
use sim_base::PodId;
use sim_policy::placement::TemplateBlocker;
use sim_scheduler::plugins::volumes::ClaimProblem;

/// Returns the first claim of the pod that does not exist, that no component binds or allocates, or that is being
/// deleted.
pub fn claim_problem(ctx: &EngineContext<'_>, pod: PodId) -> Option<ClaimProblem> {
    let store = &**ctx.store;
    if store.facts(pod).blocked != Some(TemplateBlocker::Claims) {
        return store.deleting_claim(pod).map(|claim| ClaimProblem::Deleted(claim.to_owned()));
    }
    let job = store.pods.job[pod.ix()];
    let namespace = store.names.namespace_of(job);
    if let Some(claim) = store.pod_spec(pod).resource_claims.first() {
        let (index, incarnation) = (store.pods.index[pod.ix()], store.pods.incarnation[pod.ix()]);
        let name = store.names.pod(job, index, pod, incarnation);
        return Some(match claim {
            Some(claim) => ClaimProblem::ResourceClaimMissing(claim.clone()),
            None => ClaimProblem::ResourceClaimNotCreated(format!("{namespace}/{name}")),
        });
    }
    let mut claims = store.pod_spec(pod).claims.iter();
    let missing = claims.find(|name| store.others.get(ObjectKind::PersistentVolumeClaim, namespace, name).is_none());
    Some(missing.map_or(ClaimProblem::Unbound, |name| ClaimProblem::Missing(name.clone())))
}
