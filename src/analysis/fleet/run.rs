//! The loop of the collapsed model: the next failure, end of a repair or end of a phase, in their total order.

use super::outcome::FleetOutcome;
use super::world::{Event, FleetEnd, World};
use sim_api::spec::Fleet;
use sim_base::random::Draws;
use std::cmp::Reverse;

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

impl World<'_> {
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
                if spec.exposure == sim_api::spec::Exposure::Always {
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
