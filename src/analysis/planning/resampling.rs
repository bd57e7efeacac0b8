//! Resampling for models whose runs cannot continue from a snapshot. A run that reached a level is repeated with a
//! share of its random numbers replaced. The new run is accepted if it also reaches the level, otherwise the old one
//! is kept.
//!
//! For any share, the runs remain an unbiased sample of all runs that reach the level, so the estimate has no bias.
//! Steps with large and small shares decorrelate the sample. Source: Z. Botev, D. Kroese, "Efficient Monte Carlo
//! simulation via the generalized splitting method", 2012.

use super::splitting::BranchFactor;
use crate::experiment::{MixedRuns, NodesExperiment};
use sim_base::random::{MixtureDistribution, StreamKey};
use sim_surrogate::fleet::SplitExcess;

/// Shares of the random numbers that are replaced in successive steps. Large shares decorrelate, small ones are
/// accepted more often at high levels.
const SHARES: [f64; 8] = [0.5, 0.2, 0.08, 0.03, 0.5, 0.2, 0.08, 0.03];

/// Repeats replications of a scenario with some of their random numbers replaced.
pub struct ResampledSearch<'c> {
    runs: MixedRuns<'c>,
    excess: SplitExcess,
}

/// A complete run with its random numbers and the quantity it reached.
#[derive(Clone)]
pub struct ResampledRun {
    numbers: MixtureDistribution,
    has: u64,
    /// Level that repeated runs have to reach to be accepted.
    floor: u64,
}

impl<'c> ResampledSearch<'c> {
    /// Creates a resampler for a scenario without a restart limit.
    pub fn new(nodes: &'c NodesExperiment, excess: SplitExcess, seed: u64) -> ResampledSearch<'c> {
        ResampledSearch { runs: MixedRuns::new(nodes, seed), excess }
    }

    fn has(&mut self, numbers: &MixtureDistribution) -> u64 {
        let had = self.runs.run(numbers.clone());
        match self.excess {
            SplitExcess::Restarts => u64::from(had.counted),
            SplitExcess::LostTime => had.lost.0,
        }
    }
}

impl BranchFactor for ResampledSearch<'_> {
    type State = ResampledRun;

    fn start(&mut self, branch: u64) -> ResampledRun {
        let numbers = MixtureDistribution::single(branch);
        ResampledRun { has: self.has(&numbers), numbers, floor: 0 }
    }

    fn resume(&mut self, from: &ResampledRun, branch: u64, level: u64) -> (Option<ResampledRun>, u64) {
        let mut run = from.clone();
        // Runs that do not have to reach a level are already independent.
        let steps = if run.floor == 0 { &[][..] } else { &SHARES };
        for (step, share) in (0..).zip(steps) {
            let numbers = run.numbers.with_share(StreamKey(branch).part(step).0, *share);
            let has = self.has(&numbers);
            if has >= run.floor {
                (run.numbers, run.has) = (numbers, has);
            }
        }
        let has = run.has;
        run.floor = level;
        ((has >= level).then_some(run), has)
    }

    fn run_count(&self, level: usize) -> u64 {
        match level {
            0 => 1,
            _ => SHARES.len() as u64,
        }
    }
}
