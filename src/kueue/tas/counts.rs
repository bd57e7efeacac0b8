//! Phase 1: how many pods and slices fit into each domain, from the leaves to the top.

use super::request::{NodeConstraints, SliceConstraint};
use super::search::{DomainState, Search, SearchPods};

/// Returns the number of complete slices. Most slices have one pod, and a division takes long.
#[inline]
fn slices_of(pods: i64, size: i64) -> i64 {
    if size == 1 { pods } else { pods / size }
}

impl<'a> Search<'a> {
    /// Fills the counts of all domains. `within` is the domain in which a replacement has to be, with its level.
    pub fn fill_counts(
        &mut self, pods: &'a SearchPods, constraints: &NodeConstraints<'_>, capacity: &[i64],
        within: Option<(usize, usize)>,
    ) {
        let flavor = self.flavor;
        let leaves = flavor.tree.leaves();
        self.stats.total_nodes += leaves.len();
        let leaf_nodes = flavor.tree.has_node_leaves.then_some(&flavor.tree.leaf_nodes);
        let matching =
            leaf_nodes.and_then(|nodes| nodes.find_matching(constraints, &flavor.tolerations, &mut self.stats));
        // Number of leaves by the resource that limits them.
        let mut limited = vec![0; pods.worker.names().count().max(1)];
        self.states = Vec::with_capacity(flavor.tree.domain_count());
        // The leaves have the highest numbers.
        self.states.resize(leaves.start, DomainState::default());
        for leaf in 0..leaves.len() {
            if matching.as_ref().is_some_and(|matching| !matching[leaf]) {
                self.states.push(DomainState::default());
                continue;
            }
            if within.is_some_and(|(level, within)| !flavor.tree.is_replacement_within(leaf, level, within)) {
                self.stats.topology_domain += 1;
                self.states.push(DomainState::default());
                continue;
            }
            let (state, limiting) = self.leaf_state(flavor.row(capacity, leaf), pods);
            self.states.push(state);
            limiting.into_iter().for_each(|resource| limited[resource] += 1);
        }
        let limited = pods.worker.names().chain(std::iter::repeat("")).zip(limited).filter(|(_, count)| *count > 0);
        self.stats.resources.extend(limited);
        for level in (0..flavor.tree.lowest_level()).rev() {
            for domain in flavor.tree.domains(level) {
                self.states[domain] = self.sum_children(domain, level);
            }
        }
    }

    /// Returns the counts of a leaf, and the position of the resource for which no pod fits.
    #[inline]
    fn leaf_state(&self, capacity: &[i64], pods: &SearchPods) -> (DomainState, Option<usize>) {
        let fit = pods.worker.count_in(capacity);
        let mut state = DomainState { pods: fit.count, pods_with_leader: fit.count, ..DomainState::default() };
        if let Some(leader) = pods.leader.as_ref().filter(|leader| leader.count_in(capacity).count > 0) {
            let mut rest = capacity.to_vec();
            leader.add_to(&mut rest, -1);
            state.leaders = 1;
            state.pods_with_leader = pods.worker.count_in(&rest).count;
        }
        self.count_slices(&mut state, self.flavor.tree.lowest_level());
        (state, (fit.count == 0).then_some(fit.limiting))
    }

    /// Fills the slices of a domain at their level.
    #[inline]
    fn count_slices(&self, state: &mut DomainState, level: usize) {
        if level == self.parameters.slice_level {
            state.slices = slices_of(state.pods, self.parameters.slice_size);
            state.slices_with_leader = slices_of(state.pods_with_leader, self.parameters.slice_size);
        }
    }

    /// Sums the counts of the children of a domain. With a leader, the domain loses what the leader costs in the child
    /// where it costs least.
    fn sum_children(&self, domain: usize, level: usize) -> DomainState {
        let inner = self.parameters.inner_size(level + 1).unwrap_or(1);
        let whole = |pods: i64| slices_of(pods, inner) * inner;
        let mut sum = DomainState::default();
        let mut leader_cost: Option<(i64, i64)> = None;
        for child in &self.states[self.flavor.tree.children(domain)] {
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
        self.count_slices(&mut sum, level);
        sum
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
