//! Lifetimes of one entity in one process: a sequence of random draws with its own names; shorter while the entity is
//! a lemon.

use super::entities::Entity;
use sim_api::spec::RandomFaults;
use sim_base::random::{Dist, Draw, Draws, Key, Purpose};

pub struct Lives {
    key: Key,
    /// Multiplier of the failure rate of a lemon; `None` for other entities.
    factor: Option<f64>,
    /// Number of lifetimes drawn so far.
    drawn: u32,
}

impl Lives {
    pub fn new(process: &RandomFaults, entity: &Entity, draws: &Draws) -> Lives {
        let lemon = process.lemons.filter(|lemons| {
            let draw = Draw {
                purpose: Purpose::FaultLemon,
                // Independent of the cause.
                entity: entity.own,
                occurrence: 0,
                lane: 0,
            };
            draws.uniform_once(draw) < lemons.share
        });
        Lives {
            key: entity.key,
            factor: lemon.map(|lemons| lemons.factor),
            drawn: 0,
        }
    }

    /// Name of a random number of the current lifetime.
    pub fn named(&self, purpose: Purpose) -> Draw {
        Draw {
            purpose,
            entity: self.key,
            occurrence: self.drawn.saturating_sub(1),
            lane: 0,
        }
    }

    /// Skips a lifetime that is known to be longer than the run.
    pub fn skip(&mut self) {
        self.drawn += 1;
    }

    /// Draws the next lifetime in ns, at least 1, so that faults are at different times.
    pub fn next(&mut self, life: &Dist, draws: &Draws) -> u64 {
        self.drawn += 1;
        let drawn = draws.sample_once(self.named(Purpose::FaultLife), life).0;
        let shorter = |factor: f64| (drawn as f64 / factor) as u64;
        self.factor.map_or(drawn, shorter).max(1)
    }

    /// Draws an event with this probability.
    pub fn chance(&self, purpose: Purpose, of: f64, draws: &Draws) -> bool {
        of >= 1.0 || of > 0.0 && draws.uniform_once(self.named(purpose)) < of
    }

    /// Removes the lemon's higher failure rate.
    pub fn heal(&mut self) {
        self.factor = None;
    }
}
