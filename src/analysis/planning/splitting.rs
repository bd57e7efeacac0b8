//! Multilevel splitting: runs that reach a level are continued several times, so that some of them reach the rare
//! event.
//!
//! The same number of runs starts at each level (fixed effort), from states in which earlier runs reached it. The
//! product of the proportions per level is an unbiased estimate of the probability. So is the mean over independent
//! batches, which also provides the confidence interval. Sources: P. Glasserman, P. Heidelberger, P. Shahabuddin, T.
//! Zajic, "Multilevel splitting for estimating rare event probabilities", 1999; fixed effort: M. Garvels, "The
//! splitting method in rare event simulation", 2000.

use super::rare::RareQuestion;
use crate::experiment::StopFlag;
use sim_surrogate::fleet::{SplitBranches, SplitState};

/// Target proportion of the runs of a level that reach the next one.
const ONWARD: f64 = 0.25;
/// Maximum number of levels.
const LEVELS_MAX: usize = 60;
/// Number of the pilot's first branch; the numbers of the batches follow.
const BRANCHES: u64 = 1 << 62;

/// A model whose runs can be continued several times from the same state.
pub trait BranchFactor {
    /// State of a run at one instant.
    type State: Clone;
    /// Returns the state at the start of a run.
    fn start(&mut self, branch: u64) -> Self::State;
    /// Continues from a state with the random numbers of `branch`, until the quantity reaches `level` or the run
    /// ends. Returns the state if the quantity reached `level`, and the value of the quantity.
    fn resume(&mut self, from: &Self::State, branch: u64, level: u64) -> (Option<Self::State>, u64);
    /// Returns the number of runs, or parts of runs, simulated from each state of a level.
    fn run_count(&self, level: usize) -> u64 {
        let _ = level;
        1
    }
}

impl BranchFactor for SplitBranches<'_> {
    type State = SplitState;

    fn start(&mut self, branch: u64) -> SplitState {
        SplitBranches::start(self, branch)
    }

    fn resume(&mut self, from: &SplitState, branch: u64, level: u64) -> (Option<SplitState>, u64) {
        SplitBranches::resume(self, from, branch, level)
    }
}

/// Determines the levels with a pilot batch, so that about a quarter of the runs reach the next one. The levels do
/// not change afterwards.
pub fn find_levels<B: BranchFactor>(branches: &mut B, question: &RareQuestion, stop: &StopFlag) -> Vec<u64> {
    let runs = u64::from(question.runs.max(4));
    let first = BRANCHES;
    let mut from: Vec<B::State> = (0..runs).map(|i| branches.start(first + i)).collect();
    let mut levels = Vec::new();
    let mut reached = 0;
    for stage in 1..=LEVELS_MAX as u64 {
        let number = |i: u64| first + (stage << 32) + i;
        let own = |i: u64| (i as usize) % from.len();
        let mut has: Vec<u64> =
            (0..runs).map(|i| branches.resume(&from[own(i)], number(i), question.limit).1).collect();
        if stop.is_raised() {
            break;
        }
        has.sort_unstable();
        // The quantity that a quarter of the runs reached, or else the next higher value that any run reached.
        let quarter = has[((1.0 - ONWARD) * runs as f64) as usize];
        let further = has[has.partition_point(|h| *h <= reached)..].first();
        let Some(onward) = further.map(|next| quarter.max(*next)) else {
            break;
        };
        if onward >= question.limit {
            break;
        }
        // Repeats the same branches up to that level.
        let states: Vec<B::State> =
            (0..runs).filter_map(|i| branches.resume(&from[own(i)], number(i), onward).0).collect();
        (from, reached) = (states, onward);
        levels.push(onward);
    }
    levels.push(question.limit);
    levels
}

/// Simulates one batch and returns its proportions per level; `None` if it was stopped.
pub fn batch<B: BranchFactor>(
    branches: &mut B, (question, levels): (&RareQuestion, &[u64]), batch: u64, stop: &StopFlag,
) -> Option<Vec<f64>> {
    let runs = u64::from(question.runs);
    let first = BRANCHES + (batch << 40);
    let mut from: Vec<B::State> = (0..runs).map(|i| branches.start(first + i)).collect();
    let mut shares = Vec::with_capacity(levels.len());
    for (stage, level) in (1u64..).zip(levels) {
        let mut next = Vec::new();
        for i in 0..runs {
            if stop.is_raised() {
                return None;
            }
            // Uses the states in turn, so that the numbers of uses differ by at most one.
            let state = &from[i as usize % from.len()];
            next.extend(branches.resume(state, first + (stage << 32) + i, *level).0);
        }
        // A raised stop flag may have cut the last branch short.
        if stop.is_raised() {
            return None;
        }
        shares.push(next.len() as f64 / runs as f64);
        if next.is_empty() {
            shares.resize(levels.len(), 0.0);
            break;
        }
        from = next;
    }
    Some(shares)
}
