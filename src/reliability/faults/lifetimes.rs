//! Lifetimes of one entity in one process: a sequence of random draws with its own names; shorter while the entity is
//! a lemon.

use super::entities::FaultEntity;
use sim_api::spec::RandomFaults;
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw};

pub struct HardwareLifetimes {
    key: StreamKey,
    /// Multiplier of the failure rate of a lemon; `None` for other entities.
    factor: Option<f64>,
    /// Number of lifetimes drawn so far.
    drawn: u32,
}

impl HardwareLifetimes {
    pub fn new(process: &RandomFaults, entity: &FaultEntity, draws: &DrawSequence) -> HardwareLifetimes {
        let lemon = process.lemons.filter(|lemons| {
            let draw = UniformDraw {
                purpose: StreamPurpose::FaultLemon,
                // Independent of the cause.
                entity: entity.base_key,
                occurrence: 0,
                substream: 0,
            };
            draws.uniform_once(draw) < lemons.share
        });
        HardwareLifetimes { key: entity.key, factor: lemon.map(|lemons| lemons.factor), drawn: 0 }
    }

    /// Name of a random number of the current lifetime.
    pub fn draw_name(&self, purpose: StreamPurpose) -> UniformDraw {
        UniformDraw { purpose, entity: self.key, occurrence: self.drawn.saturating_sub(1), substream: 0 }
    }

    /// Skips a lifetime that is known to be longer than the run.
    pub fn skip(&mut self) {
        self.drawn += 1;
    }

    /// Draws the next lifetime in ns, at least 1, so that faults are at different times.
    pub fn draw_next(&mut self, life: &Distribution, draws: &DrawSequence) -> u64 {
        self.drawn += 1;
        let drawn = draws.sample_once(self.draw_name(StreamPurpose::FaultLifetime), life).0;
        let shorter = |factor: f64| (drawn as f64 / factor) as u64;
        self.factor.map_or(drawn, shorter).max(1)
    }

    /// Draws an event with this probability.
    pub fn draw_event(&self, purpose: StreamPurpose, of: f64, draws: &DrawSequence) -> bool {
        of >= 1.0 || of > 0.0 && draws.uniform_once(self.draw_name(purpose)) < of
    }

    /// Removes the lemon's higher failure rate.
    pub fn cure_lemon(&mut self) {
        self.factor = None;
    }
}
