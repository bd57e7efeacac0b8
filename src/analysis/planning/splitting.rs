//! Splitting: runs that have come part of the way are played on several times, so that some of them come all the way.
//!
//! Fixed effort: at each of some levels the same number of runs begins, from states drawn among those in which runs
//! before came that far. The product of the shares that go on is an estimate without bias, and so is the mean over
//! batches that know nothing of each other, which gives its interval. Source: P. Glasserman, P. Heidelberger, P.
//! Shahabuddin, T. Zajic, "Multilevel splitting for estimating rare event probabilities", 1999; fixed effort: M.
//! Garvels, "The splitting method in rare event simulation", 2000.

use super::rare::Question;
use crate::experiment::StopFlag;
use crate::fleet::{Branches, State};

/// The share of the runs of a level that the next one is to be reached by.
const ONWARD: f64 = 0.25;
/// More levels than these and something is wrong.
const LEVELS_MAX: usize = 60;
/// Branches of the pilot are numbered from here on, and those of each batch further on.
const BRANCHES: u64 = 1 << 62;

/// What is branched.
pub trait Branching {
    /// A run at an instant.
    type State: Clone;
    /// A run that has just begun.
    fn start(&mut self, branch: u64) -> Self::State;
    /// Goes on from a state until the run has so much, or ends; the state if it has so much, and how much it has.
    fn go_on(&mut self, from: &Self::State, branch: u64, level: u64) -> (Option<Self::State>, u64);
    /// Runs, or parts of runs, that are played from each state of a level.
    fn plays(&self, level: usize) -> u64 {
        let _ = level;
        1
    }
}

impl Branching for Branches<'_> {
    type State = State;

    fn start(&mut self, branch: u64) -> State {
        Branches::start(self, branch)
    }

    fn go_on(&mut self, from: &State, branch: u64, level: u64) -> (Option<State>, u64) {
        Branches::go_on(self, from, branch, level)
    }
}

/// Levels of which about a quarter of the runs goes on to the next: found with one batch, and then fixed.
pub fn pilot<B: Branching>(branches: &mut B, question: &Question, stop: &StopFlag) -> Vec<u64> {
    let runs = u64::from(question.runs.max(4));
    let first = BRANCHES;
    let mut from: Vec<B::State> = (0..runs).map(|i| branches.start(first + i)).collect();
    let mut levels = Vec::new();
    let mut reached = 0;
    for stage in 1..=LEVELS_MAX as u64 {
        let number = |i: u64| first + (stage << 32) + i;
        let own = |i: u64| (i as usize) % from.len();
        let mut has: Vec<u64> = (0..runs)
            .map(|i| branches.go_on(&from[own(i)], number(i), question.limit).1)
            .collect();
        if stop.is_raised() {
            break;
        }
        has.sort_unstable();
        // The next one that any of them has come to, if a quarter has not come further.
        let quarter = has[((1.0 - ONWARD) * runs as f64) as usize];
        let further = has[has.partition_point(|h| *h <= reached)..].first();
        let Some(onward) = further.map(|next| quarter.max(*next)) else {
            break;
        };
        if onward >= question.limit {
            break;
        }
        // The same branches, up to there.
        let states: Vec<B::State> = (0..runs)
            .filter_map(|i| branches.go_on(&from[own(i)], number(i), onward).0)
            .collect();
        (from, reached) = (states, onward);
        levels.push(onward);
    }
    levels.push(question.limit);
    levels
}

/// The shares of one batch, level by level; none if it was stopped.
pub fn batch<B: Branching>(
    branches: &mut B,
    (question, levels): (&Question, &[u64]),
    batch: u64,
    stop: &StopFlag,
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
            // Every state is used as often as the others, or once more.
            let state = &from[i as usize % from.len()];
            next.extend(branches.go_on(state, first + (stage << 32) + i, *level).0);
        }
        // The last of them may not have come where it would have.
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
