//! The loop of the collapsed model: the next failure, end of a repair or end of a phase, in their total order.

use super::books::Books;
use super::job::{Job, Phase};
use super::lives::{Clocks, Lives};
use super::outcome::{FleetEnd, FleetOutcome};
use super::pool::{Place, Pool};
use super::repair::Shop;
use crate::base::fnv::OFFSET_BASIS;
use crate::base::random::{Draws, Key, Purpose};
use crate::spec::Fleet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What can be due, beside failures.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    StageOver {
        node: u32,
        stage: u32,
    },
    /// A node is back from an outage of a trace.
    Back {
        node: u32,
    },
    /// The nth fault of the trace of a process.
    Traced {
        process: u32,
        nth: u32,
    },
    Regenerate,
    PhaseOver {
        generation: u32,
    },
}

/// What the digest knows of what happened.
#[derive(Copy, Clone)]
pub enum Code {
    Failed = 1,
    Repaired,
    Selection,
    SparePulled,
    Works,
    End,
    Checkpoints,
}

/// Counts that are reported.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// By process.
    pub failures: Vec<u64>,
    pub host_selections: u64,
    pub spares_pulled: u64,
    pub retirements: u64,
    pub regenerations: u32,
}

/// A fleet that plays replications one after another, in the memory of the one before.
pub struct FleetSimulation<'f> {
    fleet: &'f Fleet,
    draws: Option<Draws>,
    notes_restarts: bool,
}

impl<'f> FleetSimulation<'f> {
    /// Nothing has happened yet.
    pub fn new(fleet: &'f Fleet) -> FleetSimulation<'f> {
        FleetSimulation {
            fleet,
            draws: None,
            notes_restarts: false,
        }
    }

    /// Outcomes say when the job was interrupted, and by what; that may be thousands of times.
    pub fn noting_restarts(self) -> FleetSimulation<'f> {
        FleetSimulation {
            notes_restarts: true,
            ..self
        }
    }

    /// Plays one replication from the start to the end of the job, and the repairs that are under way then.
    pub fn run(&mut self, seed: u64, replication: u64) -> FleetOutcome {
        self.run_until((seed, replication), &|_| false)
            .expect("nobody stops it")
    }

    /// The same; nothing if `stops` says so, which is asked with the number of events before each of them.
    pub fn run_until(
        &mut self,
        (seed, replication): (u64, u64),
        stops: &dyn Fn(u64) -> bool,
    ) -> Option<FleetOutcome> {
        let draws = match self.draws.take() {
            Some(mut draws) => {
                draws.reset(seed, replication);
                draws
            }
            None => Draws::new(seed, replication),
        };
        let mut world = World::new(self.fleet, draws);
        world.noted = self.notes_restarts.then(Vec::new);
        let outcome = world.play(stops).then(|| FleetOutcome::of(&world));
        self.draws = Some(world.draws);
        outcome
    }
}

/// When, which came first, what.
pub type Queue = BinaryHeap<Reverse<(u64, u64, Event)>>;

/// Everything that changes during a run.
pub struct World<'f> {
    pub(super) fleet: &'f Fleet,
    pub(super) draws: Draws,
    pub(super) clocks: Clocks,
    pub(super) pool: Pool,
    pub(super) lives: Lives,
    pub(super) shop: Shop,
    pub(super) job: Job,
    pub(super) books: Books,
    pub(super) counts: Counts,
    pub(super) digest: u64,
    /// When the job was interrupted, and by which process; where somebody wants to know.
    pub(super) noted: Option<Vec<(u64, u32)>>,
    /// Somebody halts the run as soon as so much time is lost.
    pub(super) halts_at: Option<u64>,
    /// Why and when the job ended.
    pub(super) over: Option<(FleetEnd, u64)>,
    pub(super) queue: Queue,
    pub(super) sent: u64,
}

impl<'f> World<'f> {
    pub(super) fn new(fleet: &'f Fleet, mut draws: Draws) -> World<'f> {
        let all = fleet.nodes + fleet.spares.nodes;
        let bad = (f64::from(all) * fleet.lemons.share) as u32;
        let lemons: Vec<bool> = (0..all).map(|node| node < bad).collect();
        let mut order: Vec<u32> = (0..all).collect();
        draws.shuffle(Purpose::FleetLemons, Key(0), 0, &mut order);
        World {
            fleet,
            draws,
            clocks: Clocks::default(),
            pool: Pool::new(&order, fleet.nodes as usize, &lemons),
            lives: Lives::new(all, fleet.faults.len()),
            shop: Shop::new(fleet.repair.stages.len()),
            job: Job::new(),
            books: Books::default(),
            counts: Counts {
                failures: vec![0; fleet.faults.len()],
                ..Counts::default()
            },
            digest: OFFSET_BASIS,
            noted: None,
            halts_at: None,
            over: None,
            queue: BinaryHeap::new(),
            sent: 0,
        }
    }

    /// Whether it came to its end.
    pub(super) fn play(&mut self, stops: &dyn Fn(u64) -> bool) -> bool {
        self.begin();
        for events in 0.. {
            if self.over.is_some() {
                break;
            }
            if stops(events) {
                return false;
            }
            self.step();
        }
        self.pool.check();
        self.drain();
        true
    }

    /// Everybody gets a life, and the job looks for nodes.
    pub(super) fn begin(&mut self) {
        for node in 0..self.pool.rows.len() as u32 {
            self.renew_all(node);
            for (process, spec) in self.fleet.faults.iter().enumerate() {
                if spec.exposure == crate::spec::Exposure::Always {
                    self.lives
                        .begin((node, process), spec.exposure, self.clocks);
                }
            }
        }
        let fleet = self.fleet;
        for (process, spec) in (0..).zip(&fleet.faults) {
            for (nth, fault) in (0..).zip(spec.trace.iter().flat_map(|trace| trace.iter())) {
                self.after(fault.at.0, Event::Traced { process, nth });
            }
        }
        if let Some((every, _)) = self.fleet.lemons.regeneration {
            self.after(every.0, Event::Regenerate);
        }
        self.select_or_wait();
    }

    /// The next thing that happens, or the end. What is in the queue comes before failures at the same instant.
    pub(super) fn step(&mut self) {
        let fault = self.lives.next(self.clocks, self.job.phase.runs());
        let event = self.queue.peek().map(|Reverse((at, _, _))| *at);
        let limit = self.fleet.stop_at.0;
        let at = match (event, fault.map(|f| f.at)) {
            (Some(a), Some(b)) => a.min(b),
            (Some(at), None) | (None, Some(at)) => at,
            (None, None) => return self.end(FleetEnd::Stuck),
        };
        if at > limit {
            self.pass(limit);
            return self.end(FleetEnd::TimeLimit);
        }
        self.pass(at);
        match fault {
            Some(fault) if event.is_none_or(|event| fault.at < event) => {
                self.fail(fault.node, fault.process as usize);
            }
            _ => {
                if let Some(Reverse((_, _, event))) = self.queue.pop() {
                    self.happen(event);
                }
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::StageOver { node, stage } => self.stage_over(node, stage),
            Event::Back { node } => self.repaired(node, true),
            Event::Traced { process, nth } => self.traced(process, nth),
            Event::Regenerate => self.regenerate(),
            Event::PhaseOver { generation } => self.phase_over(generation),
        }
    }

    /// Time goes on to `at`, and is booked.
    fn pass(&mut self, at: u64) {
        let ns = at - self.clocks.now;
        if ns > 0 {
            self.book(self.job.phase, ns);
        }
    }

    /// So much time goes by in a phase of the job.
    pub(super) fn book(&mut self, phase: Phase, ns: u64) {
        for place in Place::ALL {
            let category = place.category().unwrap_or(phase.category());
            self.books.add(category, self.pool.count(place), ns);
        }
        self.job.spent[phase as usize] += ns;
        self.clocks.now += ns;
        if phase.runs() {
            self.clocks.ran += ns;
        }
    }

    /// Something is due after so long.
    pub(super) fn after(&mut self, ns: u64, event: Event) {
        self.sent += 1;
        let at = self.clocks.now.saturating_add(ns);
        self.queue.push(Reverse((at, self.sent, event)));
    }

    /// For the digest.
    pub(super) fn note(&mut self, code: Code, what: u32) {
        let word = self.clocks.now.rotate_left(8) ^ (code as u64) << 32 ^ u64::from(what);
        let x = (self.digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.digest = x ^ x >> 32;
    }

    /// The job is over.
    pub(super) fn end(&mut self, why: FleetEnd) {
        if self.over.is_none() {
            self.note(Code::End, why as u32);
            self.over = Some((why, self.clocks.now));
        }
    }

    /// Repairs that are under way come to their ends, without books; nothing fails any more.
    fn drain(&mut self) {
        while let Some(Reverse((at, _, event))) = self.queue.pop() {
            if let Event::StageOver { .. } | Event::Back { .. } = event {
                self.clocks.now = self.clocks.now.max(at);
                self.happen(event);
            }
        }
    }
}
