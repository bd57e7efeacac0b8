//! Chances that are too small to be counted, by splitting: runs that have come part of the way are played on several
//! times, so that some of them come all the way.
//!
//! Fixed effort: at each of some levels the same number of runs begins, from states drawn among those in which runs
//! before came that far. The product of the shares that go on is an estimate without bias, and so is the mean over
//! batches that know nothing of each other, which gives its interval. Source: P. Glasserman, P. Heidelberger, P.
//! Shahabuddin, T. Zajic, "Multilevel splitting for estimating rare event probabilities", 1999; fixed effort: M.
//! Garvels, "The splitting method in rare event simulation", 2000.

use crate::experiment::NoRuns;
use crate::experiment::parallel::each;
use crate::experiment::{Limits, StopFlag};
use crate::fleet::{Branches, Excess, State};
use crate::spec::Fleet;
use crate::stats::student::Mean;
use serde::Serialize;

/// The name of the format.
pub const SCHEMA: &str = "jobset-sim/rare/v1";

/// The share of the runs of a level that the next one is to be reached by.
const ONWARD: f64 = 0.25;
/// More levels than these and something is wrong.
const LEVELS_MAX: usize = 60;
/// Branches of the pilot are numbered from here on, and those of each batch further on.
const BRANCHES: u64 = 1 << 62;

/// What is asked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Of what a run may have too much.
    pub excess: Excess,
    /// From so much on it is too much; nanoseconds of time.
    pub limit: u64,
    /// Runs from each level.
    pub runs: u32,
    /// Batches that know nothing of each other.
    pub batches: u64,
}

/// A level, and how many of the runs from the one before came there.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Restarts, or seconds.
    pub at: f64,
    /// Of the runs that began at the level before, over all batches.
    pub share: f64,
    /// The chance to come there at all.
    pub chance: f64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rare {
    /// The chance.
    pub chance: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Batches.
    pub batches: usize,
    /// Runs from each level in each batch.
    pub runs: u32,
    /// From the first to the limit.
    pub levels: Vec<Level>,
    /// Each batch alone.
    #[serde(skip)]
    pub estimates: Vec<f64>,
    /// Runs, or parts of runs, that were played.
    pub played: u64,
    /// So many whole runs would have to be counted for an interval of the same width.
    pub by_counting: f64,
}

/// What is branched.
pub trait Branching {
    /// A run at an instant.
    type State: Clone;
    /// A run that has just begun.
    fn start(&mut self, branch: u64) -> Self::State;
    /// Goes on from a state until the run has so much, or ends; the state if it has so much, and how much it has.
    fn go_on(&mut self, from: &Self::State, branch: u64, level: u64) -> (Option<Self::State>, u64);
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

/// Of a fleet without a limit of restarts; none if it was stopped before two batches were done.
pub fn of_fleet(
    (fleet, seed): (&Fleet, u64),
    question: &Question,
    (threads, limits): (usize, &Limits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Option<Rare>, NoRuns> {
    let make = || Branches::new(fleet, question.excess, seed);
    let levels = pilot(&mut make(), question, &limits.flag);
    let finished = std::sync::atomic::AtomicU64::new(0);
    let ready = || Ok(make());
    let all = each(
        ready,
        (question.batches, threads),
        &limits.flag,
        |branches, i| {
            let shares = batch(branches, (question, &levels), i + 1, &limits.flag)?;
            done(finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
            Some(shares)
        },
    )?;
    Ok(told(question, &levels, &all))
}

/// Levels of which about a quarter of the runs goes on to the next: found with one batch, and then fixed.
pub fn pilot<B: Branching>(branches: &mut B, question: &Question, stop: &StopFlag) -> Vec<u64> {
    let runs = u64::from(question.runs.max(4));
    let first = BRANCHES;
    let mut from: Vec<B::State> = (0..runs).map(|i| branches.start(first + i)).collect();
    let mut levels = Vec::new();
    let mut reached = 0;
    for stage in 1..=LEVELS_MAX as u64 {
        if stop.is_raised() {
            break;
        }
        let number = |i: u64| first + (stage << 32) + i;
        let own = |i: u64| (i as usize) % from.len();
        let mut has: Vec<u64> = (0..runs)
            .map(|i| branches.go_on(&from[own(i)], number(i), question.limit).1)
            .collect();
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
        if stop.is_raised() {
            return None;
        }
        let mut next = Vec::new();
        for i in 0..runs {
            // Every state is used as often as the others, or once more.
            let state = &from[i as usize % from.len()];
            next.extend(branches.go_on(state, first + (stage << 32) + i, *level).0);
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

/// What batches say together.
pub fn told(question: &Question, levels: &[u64], all: &[Vec<f64>]) -> Option<Rare> {
    let product = |shares: &Vec<f64>, n: usize| shares[..n].iter().product::<f64>();
    let estimates: Vec<f64> = all.iter().map(|s| product(s, levels.len())).collect();
    let mean = Mean::of(&estimates).filter(|m| m.n > 1)?;
    let [low, high] = mean.interval(0.95);
    let unit = match question.excess {
        Excess::Restarts => 1.0,
        Excess::LostTime => 1e-9,
    };
    let chance_to = |n: usize| all.iter().map(|s| product(s, n)).sum::<f64>() / all.len() as f64;
    let level = |(k, at): (usize, &u64)| Level {
        at: *at as f64 * unit,
        share: match chance_to(k) {
            before if before > 0.0 => chance_to(k + 1) / before,
            _ => 0.0,
        },
        chance: chance_to(k + 1),
    };
    let half = 0.5 * (high - low);
    let p = mean.mean;
    Some(Rare {
        chance: p,
        ci95: [low.max(0.0), high.min(1.0)],
        batches: all.len(),
        runs: question.runs,
        levels: levels.iter().enumerate().map(level).collect(),
        played: all.len() as u64 * levels.len() as u64 * u64::from(question.runs),
        // Of a share p of n, the interval is 1.96 deviations sqrt(p (1 - p) / n) wide on each side.
        by_counting: match half > 0.0 {
            true => 1.96 * 1.96 * p * (1.0 - p) / (half * half),
            false => 0.0,
        },
        estimates,
    })
}
