//! The reasons why the scheduler found no node, in its words.

use super::SchedulerState;
use crate::apiserver::UNSCHEDULABLE;
use crate::ctx::EngineContext;
use sim_api::spec::ObjectKind;
use sim_base::{NodeId, PodId};
use sim_policy::placement::domain_is_free;
use sim_policy::placement::explain::{UnschedulableReasons, failed_scheduling};

impl SchedulerState {
    pub(super) fn explain_unschedulable(&self, ctx: &EngineContext<'_>, pod: PodId) -> String {
        let existing = ctx.store.nodes.existing();
        let mut reasons: Vec<UnschedulableReasons> =
            existing.map(|node| self.rejection_reasons(ctx, pod, node)).collect();
        let facts = &ctx.store.template(pod).facts;
        if facts.choice.conflicts() {
            reasons.fill(UnschedulableReasons::AffinityConflict);
        } else if !facts.is_plain() {
            reasons.fill(missing_claim_reasons(ctx, pod));
        } else if let Some(claim) = ctx.store.deleting_claim(pod) {
            reasons.fill(UnschedulableReasons::ClaimGoes(claim.to_owned()));
        }
        failed_scheduling(&reasons)
    }

    /// Applies the filters in order: named node, cordon, taints, selector, features, resources, inter-pod rules.
    fn rejection_reasons(&self, ctx: &EngineContext<'_>, pod: PodId, node: NodeId) -> UnschedulableReasons {
        let store = &**ctx.store;
        let template = store.template(pod);
        let (facts, cluster) = (&template.facts, &store.nodes.cluster);
        if !facts.is_named(cluster, node) {
            return UnschedulableReasons::NotNamed;
        }
        let mut untolerated = store.nodes.taints[node.ix()].iter().filter(|t| !facts.tolerates(t));
        let cordoned = store.nodes.rows[node.ix()].cordoned;
        if cordoned && untolerated.clone().any(|t| t.key == UNSCHEDULABLE) {
            return UnschedulableReasons::Cordoned;
        }
        if untolerated.next().is_some() {
            return UnschedulableReasons::Taint;
        }
        let refused = facts.reason_against(cluster, node);
        if let Some(reason) = refused.clone().filter(|r| *r != UnschedulableReasons::Affinity) {
            return reason;
        }
        let leads = store.is_leader(pod);
        if let Some(key) = template.exclusive
            && !leads
            && store.templates.domains[key as usize].of[node.ix()] != store.pods.domain[pod.ix()]
        {
            return UnschedulableReasons::Selector;
        }
        let short = facts.insufficient(cluster, node, self.ledger.free());
        if let Some(reason) = short.or(refused) {
            return reason;
        }
        match template.exclusive.filter(|_| leads) {
            Some(key) => {
                let domain = store.templates.domains[key as usize].of[node.ix()];
                let own = self.ledger.job_domains(store, store.pods.job[pod.ix()]);
                let elsewhere = own.iter().any(|(d, pods)| *d != domain && *pods > 0);
                let there = self.ledger.pods_in(key as usize, domain, facts.priority_class);
                if !domain.is_some() || elsewhere {
                    UnschedulableReasons::Affinity
                } else if domain_is_free(there, own, domain) {
                    UnschedulableReasons::ExistingAntiAffinity
                } else {
                    UnschedulableReasons::AntiAffinity
                }
            }
            None => UnschedulableReasons::ExistingAntiAffinity,
        }
    }
}

/// A claim of the pod that does not exist, or that no component binds or allocates.
fn missing_claim_reasons(ctx: &EngineContext<'_>, pod: PodId) -> UnschedulableReasons {
    let store = &**ctx.store;
    let job = store.pods.job[pod.ix()];
    let namespace = store.names.namespace_of(job);
    if let Some(claim) = store.pod_spec(pod).resource_claims.first() {
        let i = pod.ix();
        let (index, incarnation) = (store.pods.index[i], store.pods.incarnation[i]);
        let name = store.names.pod(job, index, pod, incarnation);
        return match claim {
            Some(claim) => UnschedulableReasons::NoResourceClaim(claim.clone()),
            None => UnschedulableReasons::ResourceClaimNotCreated(format!("{namespace}/{name}")),
        };
    }
    let mut claims = store.pod_spec(pod).claims.iter();
    let kind = ObjectKind::PersistentVolumeClaim;
    let missing = claims.find(|name| store.others.get(kind, namespace, name).is_none());
    missing.map_or(UnschedulableReasons::UnboundClaims, |name| UnschedulableReasons::NoClaim(name.clone()))
}
