//! The node of a pod without terms about other pods or preferred nodes, and that terms of no other pod select: a search
//! over bit sets of nodes, and scores by classes of nodes.

use super::{SchedulerState, profile_of};
use crate::ctx::EngineContext;
use crate::store::ObjectStore;
use sim_api::spec::SchedulerTies;
use sim_base::{DomainId, NodeId, PodId};
use sim_policy::placement::{
    DomainPod, NamedNodes, NodeSearch, NodeSet, PlacementResult, SearchCandidates, SearchWindow,
};
use std::ops::Range;

impl SchedulerState {
    pub(super) fn place(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> PlacementResult {
        let store = &**ctx.store;
        if store.deleting_claim(pod).is_some() {
            // VolumeBinding's PreFilter fails before any node is examined.
            return PlacementResult::default();
        }
        let domain = follower_domain(store, pod);
        let template = store.pods.template[pod.ix()];
        let has_keys = self.ledger.domains.key_count() > 0;
        let with_room = self.ledger.nodes_with_room(store, template);
        if !has_keys {
            let candidates = std::mem::take(with_room);
            let found = self.search(ctx, pod, false, &candidates);
            *self.ledger.room.of_mut(template) = candidates;
            return found;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        self.find_candidates(store, pod, domain, &mut candidates);
        let found = self.search(ctx, pod, domain.is_some(), &candidates);
        self.candidates = candidates;
        found
    }

    /// Finds the nodes that pass all filters. `domain` is the key and the domain that the pod's node selector names.
    fn find_candidates(
        &mut self, store: &ObjectStore, pod: PodId, domain: Option<(usize, DomainId)>, nodes: &mut NodeSet,
    ) {
        let template = store.template(pod);
        let with_room = &*self.ledger.room.of_mut(store.pods.template[pod.ix()]);
        match domain {
            Some((key, domain)) => {
                let own = if domain.is_some() { &store.templates.domains[key].nodes[domain.ix()][..] } else { &[] };
                let first = own.first().map_or(0, |node| node.ix() / 64);
                nodes.copy(first..own.last().map_or(0, |node| node.ix() / 64 + 1), with_room);
                nodes.keep_nodes(own);
            }
            None => {
                nodes.copy(with_room.range(), with_room);
                if let Some((key, counted)) = template.exclusive.zip(domain_pod(store, pod)) {
                    let domains = &store.templates.domains;
                    self.ledger.domains.keep_free_domains(domains, &counted, key as usize, nodes);
                }
            }
        }
        // EXC-17: an exclusive leader also repels pods of other Jobs and leaders with other topology keys. Pods without
        // a JobSet have no job-key and are not repelled.
        if let Some(counted) = domain_pod(store, pod) {
            self.ledger.domains.remove_repelling(&store.templates.domains, &counted, domain, nodes);
        }
    }

    /// Searches all nodes, or those that the pod names.
    fn search(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, is_follower: bool, nodes: &NodeSet,
    ) -> PlacementResult {
        let all = ctx.store.nodes.len() as u32;
        let named = ctx.store.facts(pod).named.clone();
        let count = named.as_ref().map_or(all, |named| named.len() as u32);
        let ties = ctx.scenario.control_plane.ties;
        let start = match ties {
            // Leaders alone move the start, so that their order does not depend on the followers.
            SchedulerTies::InOrder if is_follower => 0,
            _ => self.next_start.checked_rem(count).unwrap_or(0),
        };
        let (window, chosen) = match &named {
            Some(named) => {
                let words = 0..named.len().div_ceil(64);
                let candidates = NamedNodes { nodes: named, set: nodes };
                self.select(ctx, pod, (count, start, words), &candidates)
            }
            None => self.select(ctx, pod, (count, start, nodes.range()), nodes),
        };
        match (ties, chosen) {
            // `findNodesThatPassFilters`: advanced by the number of examined nodes.
            (SchedulerTies::Draw, _) => self.next_start = (self.next_start + window.examined) % all.max(1),
            (SchedulerTies::InOrder, Some((at, _))) if !is_follower => self.next_start = (at + 1) % count,
            _ => {}
        }
        let node = chosen.map(|(_, node)| node);
        PlacementResult { node, examined: window.examined, feasible: window.feasible }
    }

    /// Examines candidates until enough are feasible, and selects one with the highest score. Returns its position too.
    fn select(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, (count, start, words): (u32, u32, Range<usize>),
        candidates: &impl SearchCandidates,
    ) -> (SearchWindow, Option<(u32, NodeId)>) {
        let store = &**ctx.store;
        let ties = ctx.scenario.control_plane.ties;
        let is_scored = self.may_differ(store, pod);
        let profile = profile_of(&self.configuration, store, pod);
        let wanted = match ties {
            SchedulerTies::InOrder if !is_scored => 1,
            _ => profile.nodes_to_find(count as usize).max(1) as u32,
        };
        let search = NodeSearch { count, start, wanted, words };
        let window = search.examine(candidates);
        self.fitting.clear();
        let mut best = Vec::new();
        if is_scored && window.feasible > 1 {
            search.collect(window, candidates, &mut best);
            self.fitting.extend(best.iter().map(|at| candidates.node(*at)));
            let totals = self.ledger.totals(store, profile, pod, &self.fitting);
            let highest = totals.iter().max().copied();
            let mut totals = totals.into_iter();
            best.retain(|_| totals.next() == highest);
        }
        let equal = if best.is_empty() { window.feasible as usize } else { best.len() };
        let nth = match ties {
            SchedulerTies::Draw => self.draw_index(ctx, pod, equal, 0),
            SchedulerTies::InOrder => 0,
        };
        let chosen = if best.is_empty() { search.nth(nth as u32, candidates) } else { Some(best[nth]) };
        (window, chosen.map(|at| (at, candidates.node(at))))
    }

    /// Returns whether nodes with room for the pod may have different scores.
    fn may_differ(&self, store: &ObjectStore, pod: PodId) -> bool {
        let is_spread = || store.owns_service(store.labelled_jobset(pod));
        self.ledger.classes.may_differ(store.pods.template[pod.ix()], is_spread)
            || (store.nodes.cluster.has_several_zones() && is_spread())
    }
}

/// Returns the pod as domains count it, if a JobSet owns its Job.
pub(super) fn domain_pod(store: &ObjectStore, pod: PodId) -> Option<DomainPod> {
    let job = &store.jobs[store.pods.job[pod.ix()].ix()];
    let template = store.template(pod);
    job.jobset.is_some().then(|| DomainPod {
        place: job.name_number,
        class: template.facts.priority_class,
        exclusive: template.exclusive,
        is_leader: template.exclusive.is_some() && store.is_leader(pod),
    })
}

/// Returns the key and the domain of a pod whose node selector names the domain of its leader; without a domain, no
/// node fits.
fn follower_domain(store: &ObjectStore, pod: PodId) -> Option<(usize, DomainId)> {
    let key = store.template(pod).exclusive.filter(|_| !store.is_leader(pod))?;
    Some((key as usize, store.pods.domain[pod.ix()]))
}
