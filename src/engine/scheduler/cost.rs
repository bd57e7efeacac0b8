//! The work of a scheduling cycle, from which its duration follows.

use super::SchedulerState;
use crate::{ctx::EngineContext, store::ObjectStore};
use sim_api::spec::PodTerms;
use sim_base::{Duration, PodId};
use sim_policy::placement::{CycleWork, PlacementResult};
use sim_scheduler::Plugin;
use sim_scheduler::pod_terms::DEFAULT_SPREAD;

/// The terms of a pod, with those that the webhook gives to the leader of an exclusive Job (EXC-4).
pub fn terms_of(store: &ObjectStore, pod: PodId) -> PodTerms {
    let mut terms = store.pod_spec(pod).terms;
    if store.template(pod).exclusive.is_some() && store.is_leader(pod) {
        terms.required_affinity += 1;
        terms.required_anti_affinity += 1;
    }
    terms
}

impl SchedulerState {
    /// Returns the duration of a cycle with this result.
    pub(super) fn cycle_cost(&self, ctx: &EngineContext<'_>, pod: PodId, found: &PlacementResult) -> Duration {
        let (store, profile) = (&**ctx.store, self.profile(ctx.store, pod));
        let nodes = store.nodes.len() as u64;
        let looked_at = store.facts(pod).named.as_ref().map_or(nodes, |named| named.len() as u64);
        let wanted = profile.nodes_to_find(looked_at as usize) as u64;
        // The search may have ended at the first feasible node; the real one continues to `wanted` feasible nodes at
        // the same density.
        let (seen, fitting) = (u64::from(found.examined), u64::from(found.feasible).max(1));
        let examined = (seen * wanted / fitting).min(looked_at);
        let feasible = found.node.map_or(0, |_| examined * fitting / seen.max(1));
        let spec = store.pod_spec(pod);
        let mut terms = terms_of(store, pod);
        if terms.hard_spread + terms.soft_spread == 0 && store.owns_service(store.labelled_jobset(pod)) {
            terms.soft_spread = DEFAULT_SPREAD.len() as u32;
        }
        if profile.disabled_scores.contains(&Plugin::PodTopologySpread) {
            terms.soft_spread = 0;
        }
        let spreads = terms.hard_spread + terms.soft_spread > 0;
        let work = CycleWork {
            examined,
            feasible,
            terms,
            has_node_affinity: spec.node_affinity.is_some() || terms.preferred_nodes > 0,
            claims: spec.claims.len() as u64,
            nodes,
            allowed: if spreads { allowed_nodes(store, pod) } else { 0 },
            pods: self.ledger.terms,
        };
        work.duration(&ctx.scenario.timing.scheduler)
    }
}

/// Returns the number of nodes that the selectors of the pod allow: for a follower of an exclusive Job, those of its
/// domain.
fn allowed_nodes(store: &ObjectStore, pod: PodId) -> u64 {
    let template = store.template(pod);
    let domain = store.pods.domain[pod.ix()];
    match template.exclusive.filter(|_| domain.is_some() && !store.is_leader(pod)) {
        Some(key) => store.templates.domains[key as usize].nodes[domain.ix()].len() as u64,
        None => template.facts.allowed.iter().map(|word| u64::from(word.count_ones())).sum(),
    }
}
