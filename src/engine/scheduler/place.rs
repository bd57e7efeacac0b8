//! The node of a pod without terms about other pods, preferred nodes or host ports: a search over columns, and scores
//! by classes of nodes. Among nodes with the highest score, the next in the order of the search is taken, where
//! kube-scheduler draws one.

use super::capacity_ledger::CapacityLedger;
use super::{SchedulerState, profile_of};
use crate::ctx::EngineContext;
use crate::store::{ObjectStore, StoredTemplate};
use sim_base::{NodeId, PodId};
use sim_policy::placement::{ClusterView, NodeSearch, PlacementResult, domain_is_free};

impl SchedulerState {
    pub(super) fn place(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> PlacementResult {
        let store = &**ctx.store;
        if store.deleting_claim(pod).is_some() {
            // VolumeBinding's PreFilter fails before any node is examined.
            return no_placement(self.next_start);
        }
        let template = store.template(pod);
        match template.exclusive {
            Some(key) if !store.is_leader(pod) => self.place_follower(store, pod, key as usize),
            _ => self.place_anywhere(store, pod, template),
        }
    }

    /// Places a pod whose node selector names a domain.
    fn place_follower(&mut self, store: &ObjectStore, pod: PodId, key: usize) -> PlacementResult {
        let domain = store.pods.domain[pod.ix()];
        if !domain.is_some() {
            return no_placement(0);
        }
        let members = &store.templates.domains[key].nodes[domain.ix()];
        let (all, count) = (store.nodes.len() as u64, members.len() as u32);
        let job = store.pods.job[pod.ix()];
        let start = self.ledger.cursor(key, domain);
        // EXC-17: a leader placed meanwhile also repels followers of other Jobs.
        let class = store.facts(pod).priority_class;
        let free = |ledger: &CapacityLedger, node| !ledger.is_repelled(store, job, class, node);
        let found = self.search(store, pod, (count, start), |i| members[i as usize], free);
        self.ledger.set_cursor(key, domain, found.next);
        // The selector rejects the nodes of other domains one by one; without a result, it has rejected all.
        let share = u64::from(found.examined) * all / u64::from(count).max(1);
        PlacementResult { examined: found.node.map_or(all as u32, |_| share as u32), ..found }
    }

    /// Places a leader in a free domain, or a pod without exclusive placement.
    fn place_anywhere(&mut self, store: &ObjectStore, pod: PodId, template: &StoredTemplate) -> PlacementResult {
        let (job, class) = (store.pods.job[pod.ix()], template.facts.priority_class);
        // EXC-17: an exclusive leader also repels pods of other Jobs and leaders with other topology keys; without
        // exclusive keys no domain is examined. Pods without a JobSet have no job-key and are not repelled.
        let labelled = store.jobs[job.ix()].jobset.is_some();
        let free = |ledger: &CapacityLedger, node: NodeId| {
            let own_domain = template.exclusive.is_none_or(|key| {
                let domain = store.templates.domains[key as usize].of[node.ix()];
                let there = ledger.pods_in(key as usize, domain, class);
                domain_is_free(there, ledger.job_domains(store, job), domain)
            });
            own_domain && (!labelled || !ledger.is_repelled(store, job, class, node))
        };
        let (all, start) = (store.nodes.len() as u32, self.next_start);
        let Some(named) = &template.facts.named else {
            let found = self.search(store, pod, (all, start), NodeId, free);
            self.next_start = found.next;
            return found;
        };
        let count = named.len() as u32;
        let first = start.checked_rem(count).unwrap_or(0);
        let found = self.search(store, pod, (count, first), |i| named[i as usize], free);
        // `findNodesThatFitPod`: advanced by the number of examined nodes.
        self.next_start = (start + found.examined) % all.max(1);
        found
    }

    /// Searches candidates from a start. If all nodes with room have equal scores, the first that fits is taken.
    fn search(
        &mut self, store: &ObjectStore, pod: PodId, (count, start): (u32, u32), candidate: impl Fn(u32) -> NodeId,
        free: impl Fn(&CapacityLedger, NodeId) -> bool,
    ) -> PlacementResult {
        let (nodes, facts) = (&store.nodes, store.facts(pod));
        let schedulable = |node: NodeId| {
            nodes.placement_obstacles == 0
                || (nodes.exists(node) && nodes.taints[node.ix()].iter().all(|t| facts.tolerates(t)))
        };
        let (ledger, template) = (&self.ledger, store.pods.template[pod.ix()]);
        let view =
            ClusterView { columns: nodes.cluster.resources.len(), free: ledger.free(), schedulable: &schedulable };
        let is_spread = || store.owns_service(store.labelled_jobset(pod));
        let scored =
            ledger.classes.may_differ(template, is_spread) || (nodes.cluster.has_several_zones() && is_spread());
        let profile = profile_of(&self.configuration, store, pod);
        let wanted = if scored { profile.nodes_to_find(nodes.len()) as u32 } else { 1 };
        let mut fitting = std::mem::take(&mut self.fitting);
        fitting.clear();
        let also = |node| free(ledger, node);
        let examined = NodeSearch { count, start, wanted }.find_fitting(&view, facts, candidate, also, &mut fitting);
        let best =
            if fitting.len() > 1 { first_highest(&self.ledger.totals(store, profile, pod, &fitting)) } else { 0 };
        let chosen = fitting.get(best).copied();
        let next = chosen.map_or(start, |(at, _)| at + 1);
        let next = if next >= count { 0 } else { next };
        let feasible = fitting.len() as u32;
        self.fitting = fitting;
        PlacementResult { node: chosen.map(|(_, node)| node), examined, feasible, next }
    }
}

fn first_highest(scores: &[i64]) -> usize {
    let best = scores.iter().enumerate().max_by_key(|(at, score)| (**score, std::cmp::Reverse(*at)));
    best.map_or(0, |(at, _)| at)
}

fn no_placement(next: u32) -> PlacementResult {
    PlacementResult { node: None, examined: 0, feasible: 0, next }
}
