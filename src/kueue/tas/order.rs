//! Orders of domains, and the choice of the domain that fits best.

use super::search::{DomainState, Search};

/// Bits of a count in a sort key. Counts are below 2³¹ per leaf, and there are fewer than 2⁹ times 2³¹ pods.
const COUNT_BITS: u32 = 40;

/// Domains together with the property by which the best one is chosen.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Unit {
    Pods,
    Slices,
}

impl DomainState {
    pub fn units(&self, unit: Unit) -> i64 {
        if unit == Unit::Slices { self.slices } else { self.pods }
    }

    pub fn units_with_leader(&self, unit: Unit) -> i64 {
        if unit == Unit::Slices { self.slices_with_leader } else { self.pods_with_leader }
    }
}

impl Search<'_> {
    /// Sorts domains for workers: BestFit starts with the largest number of slices, LeastFreeCapacity, which applies
    /// without constraint (`TASProfileMixed`), with the smallest. Then fewest pods, then the values of the levels.
    pub fn sort_domains(&self, domains: &mut [usize]) {
        self.sort_by_counts(domains, |state| (0, state.slices, state.pods));
    }

    /// Sorts domains for a leader: those where it fits first, then by the counts beside a leader.
    pub fn sort_domains_with_leader(&self, domains: &mut [usize]) {
        self.sort_by_counts(domains, |state| (state.leaders, state.slices_with_leader, state.pods_with_leader));
    }

    fn sort_by_counts(&self, domains: &mut [usize], counts: impl Fn(&DomainState) -> (i64, i64, i64)) {
        let is_ascending = self.parameters.is_unconstrained;
        let most = (1u128 << COUNT_BITS) - 1;
        let bits = |count: i64| (count.max(0) as u128).min(most);
        let key = |domain: &usize| {
            let (leaders, slices, pods) = counts(&self.states[*domain]);
            let slices = if is_ascending { bits(slices) } else { most - bits(slices) };
            let leaders = 1 - bits(leaders).min(1);
            (((leaders << COUNT_BITS | slices) << COUNT_BITS) | bits(pods)) << 32 | *domain as u128
        };
        let mut keys: Vec<u128> = domains.iter().map(key).collect();
        keys.sort_unstable();
        domains.iter_mut().zip(keys).for_each(|(domain, key)| *domain = (key & u128::from(u32::MAX)) as usize);
    }

    /// Returns the position of the first domain with the smallest count that suffices, or 0 if none does. With a
    /// leader, domains without space for it do not count.
    pub fn best_fit(&self, domains: &[usize], needed: i64, leaders: i64, unit: Unit) -> usize {
        let count = |state: &DomainState| match leaders {
            0 => state.units(unit),
            _ => state.units_with_leader(unit),
        };
        let states = domains.iter().map(|domain| &self.states[*domain]).enumerate();
        let fitting = states.filter(|(_, state)| state.leaders >= leaders && count(state) >= needed);
        fitting.min_by_key(|(_, state)| count(state)).map_or(0, |(at, _)| at)
    }
}
