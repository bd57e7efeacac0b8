//! Branches of runs that cannot be halted: a run that came so far is played again with a share of its random numbers
//! drawn anew, and what came of it is taken if it comes as far, else the run stays as it was.
//!
//! Whatever share is drawn anew, runs that have so much stay a fair sample of all runs that have it, so splitting has
//! no bias; many steps, small and large, make a sample's runs differ. Source: Z. Botev, D. Kroese, "Efficient Monte
//! Carlo simulation via the generalized splitting method", 2012.

use super::splitting::Branching;
use crate::base::Duration;
use crate::base::random::{Key, Mixture};
use crate::collapsed::{CollapsedOutcome, CollapsedPlayer};
use crate::experiment::Collapsed;
use crate::fleet::Excess;
use crate::record::TrainingPhase;

/// The shares of the numbers that are drawn anew, one step after another. Large ones forget the run that it was, small
/// ones are taken more often the further it came.
const SHARES: [f64; 8] = [0.5, 0.2, 0.08, 0.03, 0.5, 0.2, 0.08, 0.03];

/// Plays replications of a scenario again with some of their numbers drawn anew.
pub struct Redrawn<'c> {
    player: CollapsedPlayer<'c>,
    excess: Excess,
    seed: u64,
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
            player: collapsed.player(),
            excess,
            seed,
        }
    }

    fn has(&mut self, numbers: &Mixture) -> u64 {
        let outcome = self.player.run_mixed(self.seed, numbers.clone());
        match self.excess {
            Excess::Restarts => u64::from(outcome.restarts_count_towards_max),
            Excess::LostTime => lost(&outcome).0,
        }
    }
}

/// The time of its job that was no work that counts.
fn lost(outcome: &CollapsedOutcome) -> Duration {
    let training = &outcome.training;
    let counts = training.spent_ns[TrainingPhase::Productive as usize];
    Duration(training.spent_ns.iter().sum::<u64>() - counts)
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
