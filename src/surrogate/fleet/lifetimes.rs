//! The time of each node's next failure. Nodes age in calendar time, or only while the job runs.

use sim_api::spec::{ExposureSpec, FaultProcess, FleetSpec};
use sim_base::random::{DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_reliability::aging::{NEVER, RemainingLife, remaining_lifetime};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The two clocks by which nodes age, in nanoseconds.
#[derive(Copy, Clone, Debug, Default)]
pub struct LifetimeClocks {
    /// Time since the start of the simulation.
    pub now: u64,
    /// Total time during which the job has run.
    pub ran: u64,
}

impl LifetimeClocks {
    /// Returns the time of the clock by which a process with this exposure ages.
    fn read(self, exposure: ExposureSpec) -> u64 {
        [self.ran, self.now][queue_of(exposure)]
    }
}

/// Lifetime of one node in one fault process.
#[derive(Clone)]
struct NodeLifetime {
    /// On the clock of the exposure; infinite if the process does not apply to the node.
    life: RemainingLife,
    /// Number of lifetimes drawn so far.
    drawn: u32,
    /// Generation of the valid queue entry; entries of other generations are stale.
    generation: u32,
}

/// Queue entry: time of the failure, slot, generation.
type LifetimeEntry = Reverse<(u64, u32, u32)>;

/// Lifetimes of all nodes, by node and fault process.
#[derive(Clone)]
pub struct FleetLifetimes {
    processes: usize,
    rows: Vec<NodeLifetime>,
    /// Pending failures: by running time of the job, and by calendar time.
    queues: [BinaryHeap<LifetimeEntry>; 2],
    /// Full length of each lifetime when it was drawn; only filled for splitting runs.
    drawn_as: Vec<u64>,
}

/// A pending failure: calendar time, node and fault process.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DueFailure {
    pub at: u64,
    pub node: u32,
    pub process: u32,
}

fn queue_of(exposure: ExposureSpec) -> usize {
    usize::from(exposure != ExposureSpec::Running)
}

impl FleetLifetimes {
    /// Creates infinite lifetimes for all nodes.
    pub fn new(nodes: u32, processes: usize) -> FleetLifetimes {
        let life = NodeLifetime { life: RemainingLife::new(NEVER), drawn: 0, generation: 0 };
        FleetLifetimes {
            processes,
            rows: vec![life; nodes as usize * processes],
            queues: Default::default(),
            drawn_as: Vec::new(),
        }
    }

    fn slot(&self, node: u32, process: usize) -> usize {
        node as usize * self.processes + process
    }

    /// Draws a new lifetime for a node that is not aging. Processes that affect only lemons get none for other nodes.
    pub fn renew(
        &mut self, draws: &mut DrawSequence, (node, lemon): (u32, bool), (process, spec): (usize, &FaultProcess),
    ) {
        let slot = self.slot(node, process);
        let row = &mut self.rows[slot];
        assert!(!row.life.ages(), "a lifetime must not be drawn while the node is aging");
        row.life = RemainingLife::new(NEVER);
        if spec.only_lemons && !lemon {
            return;
        }
        let draw = UniformDraw {
            purpose: StreamPurpose::FleetLifetime,
            entity: StreamKey(u64::from(node)).part(process as u64),
            occurrence: row.drawn,
            substream: 0,
        };
        row.drawn += 1;
        let drawn = draws.sample(draw, &spec.life).0;
        row.life = RemainingLife::new(drawn);
        if let Some(drawn_as) = self.drawn_as.get_mut(slot) {
            *drawn_as = drawn;
        }
    }

    /// Starts the aging of a node in a fault process, on the clock of `exposure`.
    pub fn begin(&mut self, (node, process): (u32, usize), exposure: ExposureSpec, clocks: LifetimeClocks) {
        let slot = self.slot(node, process);
        let row = &mut self.rows[slot];
        if let Some(due) = row.life.begin(clocks.read(exposure)) {
            row.generation += 1;
            let entry = Reverse((due, slot as u32, row.generation));
            self.queues[queue_of(exposure)].push(entry);
        }
    }

    /// Stops the aging of a node in a fault process.
    pub fn end(&mut self, (node, process): (u32, usize), exposure: ExposureSpec, clocks: LifetimeClocks) {
        let slot = self.slot(node, process);
        self.rows[slot].life.end(clocks.read(exposure));
    }

    /// Enables the recording of full lifetimes, which [`FleetLifetimes::renew_rest`] requires.
    pub fn remember(&mut self) {
        self.drawn_as = vec![NEVER; self.rows.len()];
    }

    /// Draws the remaining part of every lifetime again, conditional on its elapsed part.
    pub fn renew_rest(&mut self, draws: &mut DrawSequence, fleet: &FleetSpec, clocks: LifetimeClocks) {
        self.queues.iter_mut().for_each(BinaryHeap::clear);
        for slot in 0..self.rows.len() {
            let (node, process) = (slot / self.processes, slot % self.processes);
            let spec = &fleet.faults[process];
            let queue = queue_of(spec.exposure);
            let clock = clocks.read(spec.exposure);
            let row = &mut self.rows[slot];
            let left = row.life.left(clock);
            if left == NEVER {
                continue;
            }
            let lived = self.drawn_as[slot].saturating_sub(left);
            let draw = UniformDraw {
                purpose: StreamPurpose::FleetLifetime,
                entity: StreamKey(node as u64).part(process as u64),
                occurrence: row.drawn,
                substream: 1,
            };
            let left = remaining_lifetime(&spec.life, (lived, left), draws.uniform(draw));
            self.drawn_as[slot] = lived.saturating_add(left);
            if let Some(due) = row.life.set_left(clock, left) {
                row.generation += 1;
                self.queues[queue].push(Reverse((due, slot as u32, row.generation)));
            }
        }
    }

    /// Returns the next failure, provided that no other event occurs before; `runs` is true if the job is running.
    pub fn next(&mut self, clocks: LifetimeClocks, runs: bool) -> Option<DueFailure> {
        let running = if runs {
            self.first(0).map(|(due, slot)| ((due - clocks.ran).saturating_add(clocks.now), slot))
        } else {
            None
        };
        let calendar = self.first(1);
        let (at, slot) = [running, calendar].into_iter().flatten().min()?;
        Some(DueFailure { at, node: slot / self.processes as u32, process: slot % self.processes as u32 })
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
