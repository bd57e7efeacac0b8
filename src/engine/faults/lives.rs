//! The lives of one entity in one process: one after another, by numbers of its own, shorter while it is a lemon.

use super::entities::Entity;
use sim_api::spec::RandomFaults;
use sim_base::random::{Dist, Draw, Draws, Key, Purpose};

pub struct Lives {
    key: Key,
    /// How often as often it fails, if more often than others.
    factor: Option<f64>,
    /// Lives drawn so far.
    drawn: u32,
}

impl Lives {
    pub fn new(process: &RandomFaults, entity: &Entity, draws: &Draws) -> Lives {
        let lemon = process.lemons.filter(|lemons| {
            let draw = Draw {
                purpose: Purpose::FaultLemon,
                // Whatever the cause is.
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

    /// A number about the life at hand.
    pub fn named(&self, purpose: Purpose) -> Draw {
        Draw {
            purpose,
            entity: self.key,
            occurrence: self.drawn.saturating_sub(1),
            lane: 0,
        }
    }

    /// The next life is longer than anybody asks.
    pub fn skip(&mut self) {
        self.drawn += 1;
    }

    /// The next life, in nanoseconds; one at least: the next fault is a later one.
    pub fn next(&mut self, life: &Dist, draws: &Draws) -> u64 {
        self.drawn += 1;
        let drawn = draws.sample_once(self.named(Purpose::FaultLife), life).0;
        let shorter = |factor: f64| (drawn as f64 / factor) as u64;
        self.factor.map_or(drawn, shorter).max(1)
    }

    /// Whether what has this chance comes about.
    pub fn chance(&self, purpose: Purpose, of: f64, draws: &Draws) -> bool {
        of >= 1.0 || of > 0.0 && draws.uniform_once(self.named(purpose)) < of
    }

    /// From now on it is as good as the others.
    pub fn heal(&mut self) {
        self.factor = None;
    }
}
