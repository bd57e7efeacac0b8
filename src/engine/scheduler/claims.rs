//! Claims that keep a pod from all nodes, and the volumes that its claims are bound to.

use crate::ctx::EngineContext;
use sim_api::objects::value_access::{list, text};
use sim_api::spec::ObjectKind;
use sim_base::PodId;
use sim_policy::placement::TemplateBlocker;
use sim_scheduler::node_affinity::read_term;
use sim_scheduler::plugins::claims::{ClaimProblem, PodClaims};

/// Returns the claims of the pod with what the stored objects restrict. A volume is known if the claim names it
/// (`volumeName`) and its object exists.
pub fn pod_claims(ctx: &EngineContext<'_>, pod: PodId) -> PodClaims {
    let (store, names) = (&**ctx.store, &ctx.store.pod_spec(pod).claims);
    let mut claims = PodClaims { names: names.clone(), ..PodClaims::default() };
    let namespace = store.names.namespace_of(store.pods.job[pod.ix()]);
    let stored = names.iter().filter_map(|name| {
        Some((name, &store.others.get(ObjectKind::PersistentVolumeClaim, namespace, name)?.object["spec"]))
    });
    for (name, spec) in stored {
        if list(spec, "accessModes").iter().any(|mode| mode == "ReadWriteOncePod") {
            claims.of_one_pod.push(name.clone());
        }
        if let Some(volume) = store.others.get(ObjectKind::PersistentVolume, "", text(spec, "volumeName")) {
            let terms = list(&volume.object["spec"]["nodeAffinity"]["required"], "nodeSelectorTerms");
            claims.volume_nodes.extend((!terms.is_empty()).then(|| terms.iter().map(read_term).collect()));
        }
    }
    claims
}

/// Returns whether stored objects restrict the pod by its claims.
pub fn has_restricting_claims(ctx: &EngineContext<'_>, pod: PodId) -> bool {
    let restricts = || {
        let claims = pod_claims(ctx, pod);
        !claims.of_one_pod.is_empty() || !claims.volume_nodes.is_empty()
    };
    !ctx.store.pod_spec(pod).claims.is_empty() && restricts()
}

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
