//! Phase 2b: the counts of the chosen domains, level by level.

use super::order::Unit;
use super::search::Search;

impl Search<'_> {
    /// Distributes the pods over the chosen domains and their descendants. Returns the leaves with pods or a leader;
    /// their states hold what they get.
    pub fn distribute(&mut self, level: usize, domains: Vec<usize>) -> Vec<usize> {
        let (count, leaders, size) = (self.parameters.count, self.parameters.leaders, self.parameters.slice_size);
        let lowest = self.flavor.tree.lowest_level();
        let mut domains = self.take_minimum(domains, count, leaders, size, Unit::Slices);
        for _ in level..lowest.min(self.parameters.slice_level) {
            let mut lower: Vec<usize> = domains.iter().flat_map(|d| self.flavor.tree.children(*d)).collect();
            self.sort_domains(&mut lower);
            domains = self.take_minimum(lower, count, leaders, size, Unit::Slices);
        }
        for level in level.max(self.parameters.slice_level)..lowest {
            let size = self.parameters.inner_size(level + 1).unwrap_or(1);
            domains = domains.into_iter().flat_map(|domain| self.split(domain, size)).collect();
        }
        domains
    }

    /// Distributes what a domain gets over its children, in units of the inner slices.
    fn split(&mut self, domain: usize, size: i64) -> Vec<usize> {
        let mut children: Vec<usize> = self.flavor.tree.children(domain).collect();
        self.sort_domains(&mut children);
        if size > 1 {
            for child in &children {
                let state = &mut self.states[*child];
                state.slices = state.pods / size;
                state.slices_with_leader = state.pods_with_leader / size;
            }
        }
        let state = self.states[domain];
        let unit = if size > 1 { Unit::Slices } else { Unit::Pods };
        self.take_minimum(children, state.pods, state.leaders, size, unit)
    }

    /// Takes the first domains that hold the pods and the leader, and the best fitting one as the last. Returns no
    /// domain if they do not suffice, which contradicts the counts of the level above.
    fn take_minimum(
        &mut self, mut domains: Vec<usize>, count: i64, mut leaders: i64, slice_size: i64, unit: Unit,
    ) -> Vec<usize> {
        self.move_leader_domain_first(&mut domains, count, leaders, slice_size, unit);
        let size = if unit == Unit::Slices { slice_size } else { 1 };
        let mut remaining = count / size;
        let mut taken = Vec::new();
        for at in 0..domains.len() {
            let mut domain = domains[at];
            let available = |state: &super::search::DomainState, leaders: i64| match leaders {
                0 => state.units(unit),
                _ => state.units_with_leader(unit),
            };
            let suffices = |search: &Self, domain: usize| {
                let state = &search.states[domain];
                available(state, leaders) >= remaining && state.leaders >= leaders
            };
            if !self.parameters.is_unconstrained && suffices(self, domain) {
                domain = domains[at + self.best_fit(&domains[at..], remaining, leaders, unit)];
            }
            let is_last = suffices(self, domain);
            let state = &mut self.states[domain];
            let units = available(state, leaders).min(remaining);
            state.leaders = state.leaders.min(leaders);
            state.pods = units * size;
            state.slices = if unit == Unit::Slices { units } else { state.slices };
            leaders -= state.leaders;
            remaining -= units;
            taken.push(domain);
            if is_last {
                return taken;
            }
        }
        Vec::new()
    }

    /// Moves the first domain to the front that takes the leader and leaves enough capacity for the workers.
    pub fn move_leader_domain_first(
        &self, domains: &mut [usize], count: i64, leaders: i64, slice_size: i64, unit: Unit,
    ) {
        if leaders == 0 || domains.len() < 2 {
            return;
        }
        let required = if unit == Unit::Slices { count / slice_size } else { count };
        let available: i64 = domains.iter().map(|domain| self.states[*domain].units(unit)).sum();
        let suits = |domain: &usize| {
            let state = &self.states[*domain];
            let cost = state.units(unit) - state.units_with_leader(unit);
            state.leaders >= leaders && available - cost >= required
        };
        if let Some(at) = domains.iter().position(suits) {
            domains[..=at].rotate_right(1);
        }
    }
}
