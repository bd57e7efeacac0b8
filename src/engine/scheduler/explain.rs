//! The reasons why the scheduler found no node, in its words.

use super::Scheduler;
use crate::apiserver::UNSCHEDULABLE;
use crate::ctx::Ctx;
use sim_api::spec::ObjectKind;
use sim_base::*;
use sim_policy::placement::explain::{Reasons, failed_scheduling};

impl Scheduler {
    pub fn explain_unschedulable(&self, ctx: &Ctx<'_>, pod: PodId) -> String {
        let existing = ctx.store.nodes.existing();
        let mut reasons: Vec<Reasons> = existing
            .map(|node| self.reason_against(ctx, pod, node))
            .collect();
        let facts = &ctx.store.template(pod).facts;
        if facts.choice.conflicts() {
            reasons.fill(Reasons::AffinityConflict);
        } else if !facts.is_plain() {
            reasons.fill(claim_reason(ctx, pod));
        } else if let Some(claim) = ctx.store.goes_with_claim(pod) {
            reasons.fill(Reasons::ClaimGoes(claim.to_owned()));
        }
        failed_scheduling(&reasons)
    }

    /// Applies the filters in order: named node, cordon, taints, selector, features, resources, inter-pod rules.
    fn reason_against(&self, ctx: &Ctx<'_>, pod: PodId, node: NodeId) -> Reasons {
        let store = &**ctx.store;
        let template = store.template(pod);
        let (facts, cluster) = (&template.facts, &store.nodes.cluster);
        if !facts.is_named(cluster, node) {
            return Reasons::NotNamed;
        }
        let mut taints = store.nodes.taints[node.ix()].iter();
        if let Some(taint) = taints.find(|t| !facts.tolerates(t)) {
            return match taint.key == UNSCHEDULABLE {
                true => Reasons::Cordoned,
                false => Reasons::Taint,
            };
        }
        let refused = facts.reason_against(cluster, node);
        if let Some(reason) = refused.clone().filter(|r| *r != Reasons::Affinity) {
            return reason;
        }
        let leads = store.is_leader(pod);
        if let Some(key) = template.exclusive
            && !leads
            && store.templates.domains[key as usize].of[node.ix()] != store.pods.domain[pod.ix()]
        {
            return Reasons::Selector;
        }
        let short = facts.insufficient(cluster, node, self.books.free());
        if let Some(reason) = short.or(refused) {
            return reason;
        }
        match template.exclusive.filter(|_| leads) {
            Some(key) => {
                let domain = store.templates.domains[key as usize].of[node.ix()];
                let mut own = self.books.own(store, store.pods.job[pod.ix()]).iter();
                let elsewhere = own.any(|(d, pods)| *d != domain && *pods > 0);
                match !domain.is_some() || elsewhere {
                    true => Reasons::Affinity,
                    false => Reasons::AntiAffinity,
                }
            }
            None => Reasons::ExistingAntiAffinity,
        }
    }
}

/// A claim of the pod that does not exist, or that no component binds or allocates.
fn claim_reason(ctx: &Ctx<'_>, pod: PodId) -> Reasons {
    let store = &**ctx.store;
    let job = store.pods.job[pod.ix()];
    let namespace = store.names.namespace_of(job);
    if let Some(claim) = store.pod_spec(pod).resource_claims.first() {
        let i = pod.ix();
        let (index, incarnation) = (store.pods.index[i], store.pods.incarnation[i]);
        let name = store.names.pod(job, index, pod, incarnation);
        let of_pod = || format!("{namespace}/{name}");
        return Reasons::NoResourceClaim(claim.clone().ok_or_else(of_pod));
    }
    let mut claims = store.pod_spec(pod).claims.iter();
    let kind = ObjectKind::PersistentVolumeClaim;
    let missing = claims.find(|name| store.others.get(kind, namespace, name).is_none());
    missing.map_or(Reasons::UnboundClaims, |name| {
        Reasons::NoClaim(name.clone())
    })
}
