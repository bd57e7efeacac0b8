//! The least number that meets a target, by bisection: what one candidate cannot tell is played more often, and what
//! cannot be told at all is said.
//!
//! More of it is assumed to be no worse. That is held against everything that was played.

use super::sample::{Play, Row, Sample, pairs};
use super::target::{Estimated, Judgement, Target};
use serde::Serialize;
use sim_base::stats::{Looks, Paired};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// Between which numbers, and how often each may be played.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Plan {
    /// The least candidate.
    pub min: u64,
    /// The greatest candidate.
    pub max: u64,
    /// Replications before the first look; twice as many before each further one.
    pub first_look: u64,
    /// No candidate is played more often.
    pub most: u64,
}

/// The chance that a judgement of a candidate is right, over all looks at it.
pub const LEVEL: f64 = 0.95;

/// What the search found.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "found")]
pub enum Answer {
    /// This one meets the target, and the one below misses it, or there is none below.
    Least {
        /// The number.
        value: u64,
    },
    /// The least is one of these, which of them cannot be told.
    Between {
        /// The first that may be it.
        low: u64,
        /// This one meets the target.
        high: u64,
    },
    /// Even the greatest misses it.
    Nothing,
    /// Whether the greatest meets it cannot be told; those below this one miss it.
    Open {
        /// The first that may meet it.
        low: u64,
    },
}

/// A number that was played.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The number.
    pub value: u64,
    /// Its replications.
    pub sample: Sample,
    /// Whether it meets the target.
    pub judgement: Judgement,
    /// The statistic of the target, with its 95 % interval.
    pub estimated: Option<Estimated>,
    /// Its metric less that of the candidate before it in the table, over the same replications.
    pub change: Option<Paired>,
}

/// A search that is over.
#[derive(Clone, Debug)]
pub struct Least {
    /// What it found.
    pub answer: Answer,
    /// All that were played, ascending.
    pub candidates: Vec<Candidate>,
    /// Candidates that are worse than the one before them, if any are: more of it should not hurt.
    pub not_monotone: Vec<u64>,
    /// Somebody has ended it early.
    pub interrupted: bool,
}

/// Searches.
pub fn least<E>(plan: &Plan, target: &Target, play: &mut Play<'_, u64, E>) -> Result<Least, E> {
    let mut search = Search {
        plan,
        target,
        play,
        known: BTreeMap::new(),
        interrupted: false,
    };
    let answer = search.answer()?;
    search.neighbors(answer)?;
    Ok(search.told(answer))
}

struct Search<'a, 'p, E> {
    plan: &'a Plan,
    target: &'a Target,
    play: &'a mut Play<'p, u64, E>,
    known: BTreeMap<u64, (Sample, Judgement)>,
    interrupted: bool,
}

impl<E> Search<'_, '_, E> {
    fn answer(&mut self) -> Result<Answer, E> {
        let (min, max) = (self.plan.min, self.plan.max);
        let greatest = self.judge(max)?;
        if greatest == Judgement::Misses && !self.interrupted {
            return Ok(Answer::Nothing);
        }
        if max > min {
            self.judge(min)?;
        }
        if greatest == Judgement::Meets {
            self.first(max, |j| j == Judgement::Meets)?;
        }
        self.first(max, |j| j != Judgement::Misses)?;
        // Of what was played, and not of what the bisection assumes.
        let meets = self.known.iter().filter(|(_, k)| k.1 == Judgement::Meets);
        let high = meets.map(|(v, _)| *v).min();
        let below = |v: u64| high.is_none_or(|high| v < high);
        let misses = self
            .known
            .iter()
            .filter(|(v, k)| below(**v) && k.1 == Judgement::Misses);
        let low = misses.map(|(v, _)| v + 1).max().unwrap_or(min);
        Ok(match high {
            Some(high) if low == high => Answer::Least { value: high },
            Some(high) => Answer::Between { low, high },
            None => Answer::Open { low },
        })
    }

    /// Plays towards the first candidate of which `is` holds, as it does of all from some one on, `high` among them.
    fn first(&mut self, high: u64, is: impl Fn(Judgement) -> bool) -> Result<(), E> {
        let (mut low, mut high) = (self.plan.min, high);
        while low < high && !self.interrupted {
            let middle = low + (high - low) / 2;
            match is(self.judge(middle)?) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(())
    }

    /// Plays a candidate until it can be told, or often enough.
    fn judge(&mut self, value: u64) -> Result<Judgement, E> {
        if let Some((_, judgement)) = self.known.get(&value) {
            return Ok(*judgement);
        }
        let play = &mut |which| (self.play)(&value, which);
        let (sample, judgement) = look(self.plan, self.target, play, &mut self.interrupted)?;
        self.known.insert(value, (sample, judgement));
        Ok(judgement)
    }

    /// Advice has neighbors: what one more, and one less, would do.
    fn neighbors(&mut self, answer: Answer) -> Result<(), E> {
        let around = match answer {
            Answer::Least { value } => value,
            Answer::Between { high, .. } => high,
            Answer::Nothing | Answer::Open { .. } => return Ok(()),
        };
        for value in [around.checked_sub(1), Some(around + 1)]
            .into_iter()
            .flatten()
        {
            if (self.plan.min..=self.plan.max).contains(&value) && !self.interrupted {
                self.judge(value)?;
            }
        }
        Ok(())
    }

    fn told(self, answer: Answer) -> Least {
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut not_monotone = Vec::new();
        for (value, (sample, judgement)) in self.known {
            let before = candidates.last();
            let change = before.and_then(|b| Paired::of(&pairs(&b.sample, &sample)));
            let worse = match self.target.at_least {
                true => Ordering::Less,
                false => Ordering::Greater,
            };
            let crossed = before
                .is_some_and(|b| b.judgement == Judgement::Meets && judgement == Judgement::Misses);
            if crossed || change.and_then(|c| c.separated()) == Some(worse) {
                not_monotone.push(value);
            }
            candidates.push(Candidate {
                value,
                estimated: self.target.estimate(&sample, LEVEL),
                judgement,
                change,
                sample,
            });
        }
        candidates.retain(|c| !c.sample.is_empty());
        Least {
            answer,
            candidates,
            not_monotone,
            interrupted: self.interrupted,
        }
    }
}

/// Replications of one candidate, so many that they can be told, or as many as it may have.
pub(super) fn look<E>(
    plan: &Plan,
    target: &Target,
    play: &mut dyn FnMut(Range<u64>) -> Result<Sample, E>,
    interrupted: &mut bool,
) -> Result<(Sample, Judgement), E> {
    let mut sample = Sample::new();
    let mut judgement = Judgement::Open;
    for look in Looks::new(plan.first_look as usize, LEVEL).all() {
        let n = (look.n as u64).min(plan.most);
        let from = sample.len() as u64;
        if *interrupted || n <= from {
            break;
        }
        let more = play(from..n)?;
        *interrupted = (more.len() as u64) < n - from;
        sample.extend(more);
        judgement = target.judge(&sample, look.level);
        if judgement != Judgement::Open {
            break;
        }
    }
    Ok((sample, judgement))
}

impl Candidate {
    /// The mean cost of a replication.
    pub fn cost(&self) -> f64 {
        let n = self.sample.len().max(1) as f64;
        self.sample.iter().map(|row| row.cost).sum::<f64>() / n
    }

    /// Replications that got stuck or were cut; they count as the worst there is.
    pub fn left_out(&self) -> usize {
        self.sample.iter().filter(|row: &&Row| row.left_out).count()
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/analysis/planning/least.rs"]
mod tests;
