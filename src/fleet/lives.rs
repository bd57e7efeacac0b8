//! When each node will fail: ages that advance on the calendar, or on the job's own clock of running.

use crate::base::random::{Draw, Draws, Key, Purpose};
use crate::spec::{Exposure, FaultProcess};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A life that does not end: a process that the node does not have.
const NEVER: u64 = u64::MAX;

/// The two clocks on which nodes age, in nanoseconds.
#[derive(Copy, Clone, Debug, Default)]
pub struct Clocks {
    /// Since the start.
    pub now: u64,
    /// How long the job has run until now.
    pub ran: u64,
}

/// One process of one node.
#[derive(Clone)]
struct Life {
    /// Until the failure, while the node does not age.
    left: u64,
    /// When it fails, on the clock of its exposure, while the node ages.
    due: u64,
    /// How often a life was drawn.
    drawn: u32,
    /// Which entry of the queue is the valid one.
    generation: u32,
    ages: bool,
}

/// When, slot, generation.
type Entry = Reverse<(u64, u32, u32)>;

/// All lives, by node and process.
pub struct Lives {
    processes: usize,
    rows: Vec<Life>,
    /// By the clock of running, and by the calendar.
    queues: [BinaryHeap<Entry>; 2],
}

/// A failure that is due: when by the calendar, which node, which process.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DueFailure {
    pub at: u64,
    pub node: u32,
    pub process: u32,
}

fn queue_of(exposure: Exposure) -> usize {
    usize::from(exposure != Exposure::Running)
}

impl Lives {
    /// Nobody has a life yet.
    pub fn new(nodes: u32, processes: usize) -> Lives {
        let life = Life {
            left: NEVER,
            due: NEVER,
            drawn: 0,
            generation: 0,
            ages: false,
        };
        Lives {
            processes,
            rows: vec![life; nodes as usize * processes],
            queues: Default::default(),
        }
    }

    fn slot(&self, node: u32, process: usize) -> usize {
        node as usize * self.processes + process
    }

    /// A new life for a process of a node that does not age now; none for one that only lemons have.
    pub fn renew(
        &mut self,
        draws: &mut Draws,
        (node, lemon): (u32, bool),
        (process, spec): (usize, &FaultProcess),
    ) {
        let slot = self.slot(node, process);
        let life = &mut self.rows[slot];
        assert!(!life.ages, "a life is drawn while the node ages");
        life.left = NEVER;
        if spec.only_lemons && !lemon {
            return;
        }
        let draw = Draw {
            purpose: Purpose::FleetLife,
            entity: Key(u64::from(node)).and(process as u64),
            occurrence: life.drawn,
            lane: 0,
        };
        life.drawn += 1;
        life.left = draws.sample(draw, &spec.life).0;
    }

    /// From now on the node ages in that process, on the clock of `exposure`.
    pub fn begin(&mut self, (node, process): (u32, usize), exposure: Exposure, clocks: Clocks) {
        let slot = self.slot(node, process);
        let life = &mut self.rows[slot];
        if life.ages || life.left == NEVER {
            return;
        }
        let clock = [clocks.ran, clocks.now][queue_of(exposure)];
        let due = clock.saturating_add(life.left);
        (life.ages, life.due) = (true, due);
        life.generation += 1;
        let entry = Reverse((due, slot as u32, life.generation));
        self.queues[queue_of(exposure)].push(entry);
    }

    /// From now on it does not.
    pub fn end(&mut self, (node, process): (u32, usize), exposure: Exposure, clocks: Clocks) {
        let slot = self.slot(node, process);
        let life = &mut self.rows[slot];
        if std::mem::take(&mut life.ages) {
            let clock = [clocks.ran, clocks.now][queue_of(exposure)];
            life.left = life.due.saturating_sub(clock);
        }
    }

    /// The next failure, if nothing else happens before; `runs` says whether the job does.
    pub fn next(&mut self, clocks: Clocks, runs: bool) -> Option<DueFailure> {
        let running = match runs {
            true => self
                .first(0)
                .map(|(due, slot)| (due - clocks.ran + clocks.now, slot)),
            false => None,
        };
        let calendar = self.first(1);
        let (at, slot) = [running, calendar].into_iter().flatten().min()?;
        Some(DueFailure {
            at,
            node: slot / self.processes as u32,
            process: slot % self.processes as u32,
        })
    }

    fn first(&mut self, queue: usize) -> Option<(u64, u32)> {
        loop {
            let Reverse((due, slot, generation)) = *self.queues[queue].peek()?;
            let life = &self.rows[slot as usize];
            if life.ages && life.generation == generation {
                return Some((due, slot));
            }
            self.queues[queue].pop();
        }
    }
}
