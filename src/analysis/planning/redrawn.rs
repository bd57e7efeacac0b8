//! Branches of runs that cannot be halted: a run that came so far is played again with a share of its random numbers
//! drawn anew, and what came of it is taken if it comes as far, else the run stays as it was.
//!
//! Whatever share is drawn anew, runs that have so much stay a fair sample of all runs that have it, so splitting has
//! no bias; many steps, small and large, make a sample's runs differ. Source: Z. Botev, D. Kroese, "Efficient Monte
//! Carlo simulation via the generalized splitting method", 2012.

use super::splitting::Branching;
use crate::experiment::{Collapsed, MixedRuns};
use crate::fleet::Excess;
use sim_base::random::{Key, Mixture};

/// The shares of the numbers that are drawn anew, one step after another. Large ones forget the run that it was, small
/// ones are taken more often the further it came.
const SHARES: [f64; 8] = [0.5, 0.2, 0.08, 0.03, 0.5, 0.2, 0.08, 0.03];

/// Plays replications of a scenario again with some of their numbers drawn anew.
pub struct Redrawn<'c> {
    runs: MixedRuns<'c>,
    excess: Excess,
}

/// A whole run.
#[derive(Clone)]
pub struct Run {
    numbers: Mixture,
    has: u64,
    /// So much it must have.
    floor: u64,
}

impl<'c> Redrawn<'c> {
    /// Of a scenario without a limit of restarts.
    pub fn new(collapsed: &'c Collapsed, excess: Excess, seed: u64) -> Redrawn<'c> {
        Redrawn {
            runs: MixedRuns::new(collapsed, seed),
            excess,
        }
    }

    fn has(&mut self, numbers: &Mixture) -> u64 {
        let had = self.runs.run(numbers.clone());
        match self.excess {
            Excess::Restarts => u64::from(had.counted),
            Excess::LostTime => had.lost.0,
        }
    }
}

impl Branching for Redrawn<'_> {
    type State = Run;

    fn start(&mut self, branch: u64) -> Run {
        let numbers = Mixture::of(branch);
        Run {
            has: self.has(&numbers),
            numbers,
            floor: 0,
        }
    }

    fn go_on(&mut self, from: &Run, branch: u64, level: u64) -> (Option<Run>, u64) {
        let mut run = from.clone();
        // A run that has just begun is as good as any other one.
        let steps = if run.floor == 0 { &[][..] } else { &SHARES };
        for (step, share) in (0..).zip(steps) {
            let numbers = run.numbers.with(Key(branch).and(step).0, *share);
            let has = self.has(&numbers);
            if has >= run.floor {
                (run.numbers, run.has) = (numbers, has);
            }
        }
        let has = run.has;
        run.floor = level;
        ((has >= level).then_some(run), has)
    }

    fn plays(&self, level: usize) -> u64 {
        match level {
            0 => 1,
            _ => SHARES.len() as u64,
        }
    }
}
