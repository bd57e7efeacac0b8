//! Results of trials with one fault: one per set of random numbers, for one outage duration.

use super::curve::{Point, Sample};
use sim_engine::record::LedgerCategory;

/// Result of one trial.
#[derive(Clone, Debug)]
pub struct Tried {
    pub sample: Sample,
    /// Time from the fault until all pods were bound again, except those that may find no slot.
    pub mostly: u64,
    /// Use of the pods' accelerators, in accelerator-nanoseconds.
    pub held: [u128; LedgerCategory::COUNT],
}

/// Trials with the same outage duration, by their random numbers.
#[derive(Clone, Debug)]
pub struct Played {
    pub away: u64,
    pub plays: Vec<Tried>,
}

impl Played {
    pub fn sample(&self, nth: usize) -> &Sample {
        &self.plays[nth].sample
    }

    pub fn point(&self) -> Point {
        Point {
            away: self.away,
            samples: self.plays.iter().map(|tried| tried.sample).collect(),
        }
    }

    /// Time after which nothing changed, if it was before the nodes returned; `None` if unknown.
    pub fn over(&self) -> Option<u64> {
        let over = self.plays.iter().map(|tried| tried.sample.over());
        let last = over.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
        (last < self.away).then_some(last)
    }

    /// The same results for a longer outage; requires that everything was finished before.
    pub fn also(&self, away: u64) -> Played {
        Played {
            away,
            plays: self.plays.clone(),
        }
    }

    /// Returns true if all results are of the same kind as all of the others.
    pub fn agrees(&self, with: &Played) -> bool {
        let kind = self.sample(0).kind();
        let all = self.plays.iter().chain(&with.plays);
        all.into_iter().all(|tried| tried.sample.kind() == kind)
    }

    /// Difference between the longest and the shortest ready time.
    pub fn spread(&self) -> u64 {
        self.point().spread()
    }
}
