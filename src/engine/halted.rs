//! Snapshots: a run is stopped at an instant and resumed any number of times, each time with a different continuation
//! of the script. Runs with a common beginning simulate it only once.

use super::ctx::Tickets;
use super::progress::Progress;
use super::run::Run;
use super::{Simulation, outcome};
use crate::record::{NO_CAUSE, NO_TICKET, RunOutcome, Sink, digest};
use sim_api::spec::{FaultTime, FeatureGates, Scenario, ScriptedFault, StopWhen};
use sim_base::*;

/// The state of a run outside the tables of its simulation.
#[derive(Clone)]
pub(super) struct Course {
    pub now: Time,
    pub gates: FeatureGates,
    pub manager_away: Vec<(Time, Time)>,
    pub progress: Progress,
    pub cause: u32,
    pub ticket: u32,
    pub tickets: Tickets,
    pub records: u32,
    pub digest: u64,
    pub events: u64,
}

impl Course {
    /// Returns the state before the first event.
    pub fn begin(scenario: &Scenario, wants_tickets: bool) -> Course {
        Course {
            now: Time::ZERO,
            gates: scenario.control_plane.feature_gates,
            manager_away: Vec::new(),
            progress: Progress::default(),
            cause: NO_CAUSE,
            ticket: NO_TICKET,
            tickets: Tickets {
                wanted: wants_tickets,
                next: 0,
            },
            records: 0,
            digest: digest::START,
            events: 0,
        }
    }

    fn of(run: Run<'_>) -> Course {
        Course {
            now: run.ctx.now,
            gates: run.ctx.gates,
            manager_away: run.ctx.manager_away,
            progress: run.ctx.progress,
            cause: run.ctx.cause,
            ticket: run.ctx.ticket,
            tickets: run.ctx.tickets,
            records: run.ctx.records,
            digest: run.ctx.digest,
            events: run.events,
        }
    }
}

/// A run stopped at an instant. Its script may be longer than the part passed to it so far.
#[derive(Clone)]
pub struct Halted {
    simulation: Simulation,
    course: Course,
    /// All events before this time have been processed.
    at: Time,
}

impl Halted {
    /// Creates a snapshot before the first event. Requires a run that ends at its time limit only: any other end may
    /// depend on the rest of the script.
    pub fn start(
        mut simulation: Simulation,
        (seed, replication): (u64, u64),
        sink: &mut dyn Sink,
    ) -> Halted {
        let stop = &simulation.scenario.stop;
        assert!(stop.when == StopWhen::Time, "it ends by its time alone");
        let mut run = simulation.start(seed, replication, sink);
        run.begin();
        let course = Course::of(run);
        Halted {
            simulation,
            course,
            at: Time::ZERO,
        }
    }

    /// Appends the next actions of the script, in order of time.
    pub fn expect(&mut self, script: impl IntoIterator<Item = ScriptedFault>, sink: &mut dyn Sink) {
        let known = self.simulation.scenario.faults.len();
        for fault in script {
            let comes = matches!(fault.at, FaultTime::At(at) if Time::ZERO + at >= self.at);
            assert!(comes, "what is to come has its time: {:?}", fault.at);
            self.simulation.parts.user.expect(&fault);
            self.simulation.scenario.faults.push(fault);
        }
        self.with_run(sink, |run| run.plan_script(known));
    }

    /// Processes all events before `at`. Returns false if the run ended earlier.
    pub fn run_to(&mut self, at: Time, sink: &mut dyn Sink) -> bool {
        self.at = at;
        self.with_run(sink, |run| run.go_on(at).is_none())
    }

    /// Processes the remaining events until `stop` and returns the outcome.
    pub fn finish(mut self, stop: Duration, sink: &mut dyn Sink) -> RunOutcome {
        self.simulation.scenario.stop.at = stop;
        self.with_run(sink, |run| {
            let reason = run.go_on(Time::NEVER).expect("nothing halts it");
            let reason = run.end(reason);
            outcome::outcome(run, reason)
        })
    }

    fn with_run<T>(&mut self, sink: &mut dyn Sink, does: impl FnOnce(&mut Run<'_>) -> T) -> T {
        let course = std::mem::replace(
            &mut self.course,
            Course::begin(&self.simulation.scenario, false),
        );
        let mut run = self.simulation.resume(course, sink);
        let done = does(&mut run);
        let told = std::mem::take(&mut run.told);
        self.course = Course::of(run);
        self.simulation.told = told;
        done
    }
}
