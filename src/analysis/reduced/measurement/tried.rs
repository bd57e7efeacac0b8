//! What plays of one fault told: one for each set of numbers, at one time away.

use super::curve::{Point, Sample};
use sim_engine::record::LedgerCategory;

/// What one play told of its fault.
#[derive(Clone, Debug)]
pub struct Tried {
    pub sample: Sample,
    /// When all pods but those for which there may be no place were bound anew, since the fault.
    pub mostly: u64,
    /// What its pods' accelerators did, in accelerator-nanoseconds.
    pub held: [u128; LedgerCategory::COUNT],
}

/// Plays of faults whose nodes are away for equally long, by their numbers.
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

    /// When all of it was over, if it was before the nodes were back: nobody can tell then when that is.
    pub fn over(&self) -> Option<u64> {
        let over = self.plays.iter().map(|tried| tried.sample.over());
        let last = over.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
        (last < self.away).then_some(last)
    }

    /// The same, for nodes that are away for another time; it has to be longer than all of it lasts.
    pub fn also(&self, away: u64) -> Played {
        Played {
            away,
            plays: self.plays.clone(),
        }
    }

    /// Whether all of them do the same as all of the others.
    pub fn agrees(&self, with: &Played) -> bool {
        let kind = self.sample(0).kind();
        let all = self.plays.iter().chain(&with.plays);
        all.into_iter().all(|tried| tried.sample.kind() == kind)
    }

    /// The longest of the plays less the shortest.
    pub fn spread(&self) -> u64 {
        self.point().spread()
    }
}
