//! The event loop of the fleet model. It handles failures, ends of repairs and ends of phases in their total order.

use super::outcome::FleetOutcome;
use super::world::{FleetEnd, FleetEvent, FleetWorld};
use sim_api::spec::FleetSpec;
use sim_base::random::DrawSequence;
use std::cmp::Reverse;
use std::sync::Arc;

/// Simulates replications of a fleet one after another, reusing memory.
pub struct FleetSimulation<'f> {
    fleet: &'f FleetSpec,
    draws: Option<DrawSequence>,
    /// Names of the outputs, once known.
    names: Option<Arc<[String]>>,
    notes_restarts: bool,
}

impl<'f> FleetSimulation<'f> {
    /// Creates a simulation of the fleet.
    pub fn new(fleet: &'f FleetSpec) -> FleetSimulation<'f> {
        FleetSimulation { fleet, draws: None, names: None, notes_restarts: false }
    }

    /// Makes outcomes list all interruptions of the job, of which there may be thousands.
    pub fn noting_restarts(self) -> FleetSimulation<'f> {
        FleetSimulation { notes_restarts: true, ..self }
    }

    /// Simulates one replication until the job ends and all repairs in progress are completed.
    pub fn run(&mut self, seed: u64, replication: u64) -> FleetOutcome {
        self.run_until((seed, replication), &|_| false).expect("the run is never stopped")
    }

    /// Like `run`, but returns `None` if `stops` returns true. It is called before each event with the number of
    /// events so far.
    pub fn run_until(&mut self, (seed, replication): (u64, u64), stops: &dyn Fn(u64) -> bool) -> Option<FleetOutcome> {
        let draws = match self.draws.take() {
            Some(mut draws) => {
                draws.reset(seed, replication);
                draws
            }
            None => DrawSequence::new(seed, replication),
        };
        let mut world = FleetWorld::new(self.fleet, draws);
        world.noted = self.notes_restarts.then(Vec::new);
        let outcome = world.run(stops).then(|| FleetOutcome::from_world(&world, &mut self.names));
        self.draws = Some(world.draws);
        outcome
    }
}

impl FleetWorld<'_> {
    /// Simulates until the job ends. Returns false if `stops` stopped it earlier.
    pub(super) fn run(&mut self, stops: &dyn Fn(u64) -> bool) -> bool {
        self.begin();
        for events in 0.. {
            if self.ended_at.is_some() {
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

    /// Draws the lifetimes of all nodes and starts the first host selection.
    pub(super) fn begin(&mut self) {
        for node in 0..self.pool.rows.len() as u32 {
            self.renew_all(node);
            for (process, spec) in self.fleet.faults.iter().enumerate() {
                if spec.exposure == sim_api::spec::ExposureSpec::Always {
                    self.lifetimes.begin((node, process), spec.exposure, self.clocks);
                }
            }
        }
        let fleet = self.fleet;
        for (process, spec) in (0..).zip(&fleet.faults) {
            for (nth, fault) in (0..).zip(spec.trace.iter().flat_map(|trace| trace.iter())) {
                self.schedule_after(fault.at.0, FleetEvent::Traced { process, nth });
            }
        }
        if let Some((every, _)) = self.fleet.lemons.regeneration {
            self.schedule_after(every.0, FleetEvent::Regenerate);
        }
        self.select_or_wait();
    }

    /// Handles the next event, failure or end of the run. Queued events precede failures at the same instant.
    pub(super) fn step(&mut self) {
        let fault = self.lifetimes.next(self.clocks, self.job.phase.runs());
        let event = self.queue.peek().map(|Reverse((at, _, _))| *at);
        let limit = self.fleet.stop_at.0;
        let at = match (event, fault.map(|f| f.at)) {
            (Some(a), Some(b)) => a.min(b),
            (Some(at), None) | (None, Some(at)) => at,
            (None, None) => return self.end(FleetEnd::Stuck),
        };
        if at > limit {
            self.advance_to(limit);
            return self.end(FleetEnd::TimeLimit);
        }
        self.advance_to(at);
        match fault {
            Some(fault) if event.is_none_or(|event| fault.at < event) => {
                self.fail(fault.entity, fault.process as usize);
            }
            _ => {
                if let Some(Reverse((_, _, event))) = self.queue.pop() {
                    self.handle_event(event);
                }
            }
        }
    }

    fn handle_event(&mut self, event: FleetEvent) {
        match event {
            FleetEvent::StageOver { node, stage } => self.stage_over(node, stage),
            FleetEvent::Back { node } => self.repaired(node, true),
            FleetEvent::Traced { process, nth } => self.traced(process, nth),
            FleetEvent::Regenerate => self.regenerate(),
            FleetEvent::PhaseOver { generation } => self.phase_over(generation),
        }
    }

    /// Advances the time to `at` and adds the elapsed time to the ledger.
    fn advance_to(&mut self, at: u64) {
        let ns = at - self.clocks.now;
        if ns > 0 {
            self.book(self.job.phase, ns);
        }
    }

    /// Completes the repairs in progress without accounting for their time. No further failures occur.
    fn drain(&mut self) {
        while let Some(Reverse((at, _, event))) = self.queue.pop() {
            if let FleetEvent::StageOver { .. } | FleetEvent::Back { .. } = event {
                self.clocks.now = self.clocks.now.max(at);
                self.handle_event(event);
            }
        }
    }
}
