//! Chances that are too small to be counted: of a Fleet, whose runs branch, and of collapsed replications, of whose
//! numbers some are drawn anew.

use super::redrawn::Redrawn;
use super::splitting::{Branching, batch, pilot};
use crate::experiment::parallel::each;
use crate::experiment::{Collapsed, Limits, NoRuns};
use crate::fleet::{Branches, Excess};
use serde::Serialize;
use sim_api::spec::Fleet;
use sim_base::stats::student::Mean;

/// The name of the format.
pub const SCHEMA: &str = "jobset-sim/plan-rare/v1";

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
    /// Whole runs were played, with some of their numbers drawn anew, and not parts of runs that branch.
    pub whole_runs: bool,
    /// So many whole runs would have to be counted for an interval of the same width.
    pub by_counting: f64,
}

/// Of a fleet without a limit of restarts; none if it was stopped before two batches were done.
pub fn of_fleet(
    (fleet, seed): (&Fleet, u64),
    question: &Question,
    on: (usize, &Limits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Option<Rare>, NoRuns> {
    let stops = |events| on.1.reached(events);
    let make = || Branches::new((fleet, seed), question.excess, &stops);
    split(&make, question, on, done)
}

/// The same of a scenario at the collapsed level, without a limit of restarts.
pub fn of_collapsed(
    (collapsed, seed): (&Collapsed, u64),
    question: &Question,
    on: (usize, &Limits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Option<Rare>, NoRuns> {
    let make = || Redrawn::new(collapsed, question.excess, seed);
    let found = split(&make, question, on, done)?;
    Ok(found.map(|rare| Rare {
        whole_runs: true,
        ..rare
    }))
}

fn split<B: Branching + Send>(
    make: &(dyn Fn() -> B + Sync),
    question: &Question,
    (threads, limits): (usize, &Limits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Option<Rare>, NoRuns> {
    let mut first = make();
    let levels = pilot(&mut first, question, &limits.flag);
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
    let plays: u64 = (0..levels.len()).map(|level| first.plays(level)).sum();
    Ok(told(question, (&levels, plays), &all))
}

/// What batches say together.
fn told(question: &Question, (levels, plays): (&[u64], u64), all: &[Vec<f64>]) -> Option<Rare> {
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
        played: all.len() as u64 * plays * u64::from(question.runs),
        whole_runs: false,
        // Of a share p of n, the interval is 1.96 deviations sqrt(p (1 - p) / n) wide on each side.
        by_counting: match half > 0.0 {
            true => 1.96 * 1.96 * p * (1.0 - p) / (half * half),
            false => 0.0,
        },
        estimates,
    })
}
