//! The random numbers of one seed. Each draw uses the next number.

use serde_json::Value;
use sim_base::random;
use sim_base::random::{DrawSequence, StreamKey, StreamPurpose};

pub struct Draw {
    draws: DrawSequence,
    next: u32,
    /// Whether rare events may be drawn, so that the end of a run cannot be predicted.
    pub wild: bool,
    /// Whether several small JobSets compete for the nodes, with Kueue, priorities and gangs.
    pub is_combined: bool,
}

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw { draws: DrawSequence::new(seed, 0), next: 0, wild: false, is_combined: false }
    }

    /// Returns a uniform number from `low` to `high`, both inclusive.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// Returns a uniform number in `0..n`.
    pub fn below(&mut self, n: u32) -> u32 {
        let name = random::UniformDraw {
            purpose: StreamPurpose::Test,
            entity: StreamKey::from_text("swarm"),
            occurrence: 0,
            substream: self.next,
        };
        self.next += 1;
        self.draws.below(name, n)
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Same as `one_in` if rare events may be drawn, otherwise false.
    pub fn rare(&mut self, n: u32) -> bool {
        self.one_in(n) && self.wild
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize].clone()
    }
}

/// Sets `object.path = value` and creates missing objects on the path.
pub fn set(object: &mut Value, path: &str, value: impl Into<Value>) {
    let place = path.split('.').fold(object, |at, key| &mut at[key]);
    *place = value.into();
}
