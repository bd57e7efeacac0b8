//! Phase 1: how many pods and slices fit into each domain, from the leaves to the top.

use super::request::{NodeConstraints, SliceConstraint};
use super::search::{DomainState, Search, SearchPods};

impl<'a> Search<'a> {
    /// Fills the counts of all domains. `within` is the domain in which a replacement has to be, with its level.
    pub fn fill_counts(
        &mut self, pods: &'a SearchPods, constraints: &NodeConstraints<'_>, capacity: &[i64],
        within: Option<(usize, usize)>,
    ) {
        let flavor = self.flavor;
        let leaves = flavor.tree.leaves();
        self.stats.total_nodes += leaves.len();
        self.states = vec![DomainState::default(); flavor.tree.domain_count()];
        let matching = flavor
            .tree
            .has_node_leaves
            .then(|| flavor.tree.leaf_nodes.find_matching(constraints, &flavor.tolerations, &mut self.stats));
        for (leaf, domain) in leaves.enumerate() {
            if matching.as_ref().is_some_and(|matching| !matching[leaf]) {
                continue;
            }
            if within.is_some_and(|(level, within)| !flavor.tree.is_replacement_within(leaf, level, within)) {
                self.stats.topology_domain += 1;
                continue;
            }
            self.fill_leaf(domain, flavor.row(capacity, leaf), pods);
        }
        for level in (0..flavor.tree.levels.len()).rev() {
            for domain in flavor.tree.domains(level) {
                self.sum_children(domain, level);
            }
        }
    }

    fn fill_leaf(&mut self, domain: usize, capacity: &[i64], pods: &'a SearchPods) {
        let fit = pods.worker.count_in(capacity);
        if fit.count == 0 {
            *self.stats.resources.entry(fit.limiting).or_default() += 1;
        }
        let state = &mut self.states[domain];
        state.pods = fit.count;
        state.pods_with_leader = fit.count;
        if let Some(leader) = pods.leader.as_ref().filter(|leader| leader.count_in(capacity).count > 0) {
            let mut rest = capacity.to_vec();
            leader.add_to(&mut rest, -1);
            state.leaders = 1;
            state.pods_with_leader = pods.worker.count_in(&rest).count;
        }
    }

    /// Sums the counts of the children of a domain. With a leader, the domain loses what the leader costs in the child
    /// where it costs least.
    fn sum_children(&mut self, domain: usize, level: usize) {
        let tree = &self.flavor.tree;
        if level < tree.lowest_level() {
            let inner = self.parameters.inner_size(level + 1).unwrap_or(1);
            let whole = |pods: i64| pods / inner * inner;
            let mut sum = DomainState::default();
            let mut leader_cost: Option<(i64, i64)> = None;
            for child in &self.states[tree.children(domain)] {
                let pods = whole(child.pods);
                sum.pods += pods;
                sum.slices += child.slices;
                sum.leaders = sum.leaders.max(child.leaders);
                if self.parameters.leaders == 0 || child.leaders > 0 {
                    let cost = (pods - whole(child.pods_with_leader), child.slices - child.slices_with_leader);
                    leader_cost = Some(leader_cost.map_or(cost, |least| (least.0.min(cost.0), least.1.min(cost.1))));
                }
            }
            if let Some((pods, slices)) = leader_cost {
                sum.pods_with_leader = sum.pods - pods;
                sum.slices_with_leader = sum.slices - slices;
            }
            self.states[domain] = sum;
        }
        if level == self.parameters.slice_level {
            let state = &mut self.states[domain];
            state.slices = state.pods / self.parameters.slice_size;
            state.slices_with_leader = state.pods_with_leader / self.parameters.slice_size;
        }
    }

    /// Returns the number of slices of a constraint that fit into a domain of a level.
    pub fn count_slices_below(&self, domain: usize, level: usize, constraint: &SliceConstraint) -> Option<i64> {
        let target = self.flavor.tree.level(&constraint.topology)?;
        let mut domains = domain..domain + 1;
        for _ in level..target {
            let (first, last) = (domains.start, domains.end - 1);
            domains = self.flavor.tree.children(first).start..self.flavor.tree.children(last).end;
        }
        let size = i64::from(constraint.size);
        Some(self.states[domains].iter().map(|state| state.pods / size).sum())
    }
}
