//! The failures for which the diagnosis blamed a node, and the rule by which it is retired.

use sim_api::spec::RetirementSpec;
use std::collections::VecDeque;

/// Failures of one node, as an operator knows them.
#[derive(Clone, Debug, Default)]
pub struct BlameHistory {
    failures: u32,
    /// Times in nanoseconds; filled only if the rule counts failures in a period.
    times: VecDeque<u64>,
}

impl BlameHistory {
    /// Adds a failure at `at`, in nanoseconds.
    pub fn add(&mut self, at: u64, rule: RetirementSpec) {
        self.failures += 1;
        if matches!(rule, RetirementSpec::Window(..)) {
            self.times.push_back(at);
        }
    }

    /// Returns whether the node is retired at `now`. Forgets failures that are too old to matter later.
    pub fn retires(&mut self, now: u64, rule: RetirementSpec) -> bool {
        match rule {
            RetirementSpec::Never => false,
            RetirementSpec::Life(limit) => self.failures >= limit,
            RetirementSpec::Window(limit, within) => {
                let since = now.saturating_sub(within.0);
                self.times.retain(|at| *at >= since);
                self.times.len() as u32 >= limit
            }
        }
    }
}
