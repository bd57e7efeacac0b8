//! The time of each entity's next failure, drawn when the previous one is over. Entities age in calendar time, or only
//! while the job runs.

use super::remaining_life::{NEVER, RemainingLife, remaining_lifetime};
use sim_api::spec::ExposureSpec;
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The two clocks by which entities age, in nanoseconds.
#[derive(Copy, Clone, Debug, Default)]
pub struct AgingClocks {
    /// Time since the start of the simulation.
    pub now: u64,
    /// Total time during which the job has run.
    pub ran: u64,
}

impl AgingClocks {
    /// Returns the time of the clock by which a process with this exposure ages.
    fn read(self, exposure: ExposureSpec) -> u64 {
        [self.ran, self.now][queue_of(exposure)]
    }
}

/// Lifetime of one entity in one fault process.
#[derive(Clone)]
struct EntityLifetime {
    /// On the clock of the exposure; infinite if the process does not apply to the entity.
    life: RemainingLife,
    /// Number of lifetimes drawn so far.
    drawn: u32,
    /// Generation of the valid queue entry; entries of other generations are stale.
    generation: u32,
}

/// Queue entry: time of the failure, slot, generation.
type LifetimeEntry = Reverse<(u64, u32, u32)>;

/// Lifetimes of all entities, by entity and fault process.
#[derive(Clone)]
pub struct EntityLifetimes {
    /// The purpose of the random numbers.
    purpose: StreamPurpose,
    processes: usize,
    rows: Vec<EntityLifetime>,
    /// Pending failures: by running time of the job, and by calendar time.
    queues: [BinaryHeap<LifetimeEntry>; 2],
    /// Full length of each lifetime when it was drawn; only filled for splitting runs.
    drawn_as: Vec<u64>,
}

/// A pending failure: calendar time, entity and fault process.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DueFailure {
    pub at: u64,
    pub entity: u32,
    pub process: u32,
}

fn queue_of(exposure: ExposureSpec) -> usize {
    usize::from(exposure != ExposureSpec::Running)
}

impl EntityLifetimes {
    /// Creates infinite lifetimes for all entities.
    pub fn new(entities: u32, processes: usize, purpose: StreamPurpose) -> EntityLifetimes {
        let life = EntityLifetime { life: RemainingLife::new(NEVER), drawn: 0, generation: 0 };
        EntityLifetimes {
            purpose,
            processes,
            rows: vec![life; entities as usize * processes],
            queues: Default::default(),
            drawn_as: Vec::new(),
        }
    }

    fn slot(&self, entity: u32, process: usize) -> usize {
        entity as usize * self.processes + process
    }

    /// Name of the next lifetime's random number.
    fn draw_name(&self, slot: usize, substream: u32) -> UniformDraw {
        let (entity, process) = (slot / self.processes, slot % self.processes);
        UniformDraw {
            purpose: self.purpose,
            entity: StreamKey(entity as u64).part(process as u64),
            occurrence: self.rows[slot].drawn,
            substream,
        }
    }

    /// Draws a new lifetime for an entity that is not aging. `life` is `None` if the process does not affect it.
    pub fn renew(&mut self, draws: &mut DrawSequence, (entity, process): (u32, usize), life: Option<&Distribution>) {
        let slot = self.slot(entity, process);
        let draw = self.draw_name(slot, 0);
        let row = &mut self.rows[slot];
        assert!(!row.life.ages(), "a lifetime must not be drawn while the entity is aging");
        row.life = RemainingLife::new(NEVER);
        let Some(life) = life else {
            return;
        };
        row.drawn += 1;
        let drawn = draws.sample(draw, life).0;
        row.life = RemainingLife::new(drawn);
        if let Some(drawn_as) = self.drawn_as.get_mut(slot) {
            *drawn_as = drawn;
        }
    }

    /// Starts the aging of an entity in a fault process, on the clock of `exposure`.
    pub fn begin(&mut self, (entity, process): (u32, usize), exposure: ExposureSpec, clocks: AgingClocks) {
        let slot = self.slot(entity, process);
        let row = &mut self.rows[slot];
        if let Some(due) = row.life.begin(clocks.read(exposure)) {
            row.generation += 1;
            let entry = Reverse((due, slot as u32, row.generation));
            self.queues[queue_of(exposure)].push(entry);
        }
    }

    /// Stops the aging of an entity in a fault process.
    pub fn end(&mut self, (entity, process): (u32, usize), exposure: ExposureSpec, clocks: AgingClocks) {
        let slot = self.slot(entity, process);
        self.rows[slot].life.end(clocks.read(exposure));
    }

    /// Enables the recording of full lifetimes, which [`EntityLifetimes::renew_rest`] requires.
    pub fn remember(&mut self) {
        self.drawn_as = vec![NEVER; self.rows.len()];
    }

    /// Draws the remaining part of every lifetime again, conditional on its elapsed part. `process` returns the
    /// exposure and the distribution of a process.
    pub fn renew_rest<'p>(
        &mut self, draws: &mut DrawSequence, clocks: AgingClocks,
        process: impl Fn(usize) -> (ExposureSpec, &'p Distribution),
    ) {
        self.queues.iter_mut().for_each(BinaryHeap::clear);
        for slot in 0..self.rows.len() {
            let (exposure, life) = process(slot % self.processes);
            let clock = clocks.read(exposure);
            let draw = self.draw_name(slot, 1);
            let row = &mut self.rows[slot];
            let left = row.life.left(clock);
            if left == NEVER {
                continue;
            }
            let lived = self.drawn_as[slot].saturating_sub(left);
            let left = remaining_lifetime(life, (lived, left), draws.uniform(draw));
            self.drawn_as[slot] = lived.saturating_add(left);
            if let Some(due) = row.life.set_left(clock, left) {
                row.generation += 1;
                self.queues[queue_of(exposure)].push(Reverse((due, slot as u32, row.generation)));
            }
        }
    }

    /// Returns the next failure, provided that no other event occurs before; `runs` is true if the job is running.
    pub fn next(&mut self, clocks: AgingClocks, runs: bool) -> Option<DueFailure> {
        let running = if runs {
            self.first(0).map(|(due, slot)| ((due - clocks.ran).saturating_add(clocks.now), slot))
        } else {
            None
        };
        let calendar = self.first(1);
        let (at, slot) = [running, calendar].into_iter().flatten().min()?;
        Some(DueFailure { at, entity: slot / self.processes as u32, process: slot % self.processes as u32 })
    }

    fn first(&mut self, queue: usize) -> Option<(u64, u32)> {
        loop {
            let Reverse((due, slot, generation)) = *self.queues[queue].peek()?;
            let row = &self.rows[slot as usize];
            if row.life.ages() && row.generation == generation {
                return Some((due, slot));
            }
            self.queues[queue].pop();
        }
    }
}
