//! Phase 2a: the level of the assignment, and its domains that take all slices.

use super::order::Unit;
use super::search::Search;

impl Search<'_> {
    /// Returns the level and the domains, or the reason why no domains fit.
    pub fn find_fitting_domains(&self) -> Result<(usize, Vec<usize>), String> {
        let parameters = &self.parameters;
        let mut level = parameters.level;
        loop {
            let mut domains: Vec<usize> = self.flavor.tree.domains(level).collect();
            if domains.is_empty() {
                return Err(format!("no topology domains at level: {}", self.flavor.tree.levels[level]));
            }
            self.sort_domains_with_leader(&mut domains);
            if let Some(domain) = self.find_single_domain(&domains) {
                return Ok((level, vec![domain]));
            }
            if parameters.is_required {
                return Err(self.not_fit_reason(level, self.states[domains[0]].slices));
            }
            if level == 0 || parameters.is_unconstrained {
                return self.find_several_domains(level, domains).map(|domains| (level, domains));
            }
            level -= 1;
        }
    }

    /// Returns one domain that takes all slices and the leader.
    fn find_single_domain(&self, domains: &[usize]) -> Option<usize> {
        let (slices, leaders) = (self.parameters.slices(), self.parameters.leaders);
        let fits = |domain: &&usize| {
            let state = &self.states[**domain];
            state.leaders >= leaders && state.slices_with_leader >= slices
        };
        if self.parameters.is_unconstrained {
            return domains.iter().find(fits).copied();
        }
        let first = domains.first().filter(fits);
        first.map(|_| domains[self.best_fit(domains, slices, leaders, Unit::Slices)])
    }

    /// Returns domains that together take all slices: first one for the leader, then the others in order.
    fn find_several_domains(&self, level: usize, mut domains: Vec<usize>) -> Result<Vec<usize>, String> {
        let parameters = &self.parameters;
        let (mut slices, mut leaders) = (parameters.slices(), parameters.leaders);
        self.move_leader_domain_first(&mut domains, parameters.count, leaders, parameters.slice_size, Unit::Slices);
        let mut chosen = Vec::new();
        let mut next = 0;
        while leaders > 0 && next < domains.len() && self.states[domains[next]].leaders > 0 {
            let mut domain = domains[next];
            if !parameters.is_unconstrained && self.states[domain].slices_with_leader >= slices {
                domain = domains[next + self.best_fit(&domains[next..], slices, leaders, Unit::Slices)];
            }
            chosen.push(domain);
            leaders -= self.states[domain].leaders;
            slices -= self.states[domain].slices_with_leader;
            next += 1;
        }
        if leaders > 0 {
            return Err(self.not_fit_reason(level, parameters.leaders - leaders));
        }
        let rest = &mut domains[next..];
        self.sort_domains(rest);
        for at in 0..rest.len() {
            if slices <= 0 {
                break;
            }
            let mut domain = rest[at];
            if !parameters.is_unconstrained && self.states[domain].slices >= slices {
                domain = rest[at + self.best_fit(&rest[at..], slices, 0, Unit::Slices)];
            }
            chosen.push(domain);
            slices -= self.states[domain].slices;
        }
        if slices > 0 {
            return Err(self.not_fit_reason(level, parameters.slices() - slices));
        }
        Ok(chosen)
    }
}
