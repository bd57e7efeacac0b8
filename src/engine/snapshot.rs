//! Snapshots: a run is stopped at an instant and resumed any number of times, each time with a different continuation
//! of the script. Runs with a common beginning simulate it only once.

use super::ctx::TicketSource;
use super::progress::RestartProgress;
use super::run::EngineRun;
use super::{SimulationInput, outcome};
use crate::record::{NO_CAUSE, NO_TICKET, RecordSink, RunOutcome, digest};
use sim_api::spec::{FaultTime, FeatureGates, ScenarioSpec, ScriptedFault, StopWhen};
use sim_base::{Duration, SimTime};

/// The state of a run outside the tables of its simulation.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub now: SimTime,
    pub gates: FeatureGates,
    pub manager_downtimes: Vec<(SimTime, SimTime)>,
    pub progress: RestartProgress,
    pub cause: u32,
    pub ticket: u32,
    pub tickets: TicketSource,
    pub records: u32,
    pub digest: u64,
    pub events: u64,
}

impl Snapshot {
    /// Returns the state before the first event.
    pub fn initial(scenario: &ScenarioSpec, wants_tickets: bool) -> Snapshot {
        Snapshot {
            now: SimTime::ZERO,
            gates: scenario.control_plane.feature_gates,
            manager_downtimes: Vec::new(),
            progress: RestartProgress::default(),
            cause: NO_CAUSE,
            ticket: NO_TICKET,
            tickets: TicketSource { enabled: wants_tickets, next: 0 },
            records: 0,
            digest: digest::START,
            events: 0,
        }
    }

    fn from_run(run: EngineRun<'_>) -> Snapshot {
        Snapshot {
            now: run.ctx.now,
            gates: run.ctx.gates,
            manager_downtimes: run.ctx.manager_downtimes,
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
pub struct SnapshotOutcome {
    simulation: SimulationInput,
    snapshot: Snapshot,
    /// All events before this time have been processed.
    processed_until: SimTime,
}

impl SnapshotOutcome {
    /// Creates a snapshot before the first event. Requires a run that ends at its time limit only: any other end may
    /// depend on the rest of the script.
    pub fn start(
        mut simulation: SimulationInput, (seed, replication): (u64, u64), sink: &mut dyn RecordSink,
    ) -> SnapshotOutcome {
        let stop = &simulation.scenario.stop;
        assert!(stop.when == StopWhen::Time, "a snapshot requires a run that ends at its time limit only");
        let mut run = simulation.start(seed, replication, sink);
        run.begin();
        let course = Snapshot::from_run(run);
        SnapshotOutcome { simulation, snapshot: course, processed_until: SimTime::ZERO }
    }

    /// Appends the next actions of the script, in order of time.
    pub fn extend_script(&mut self, script: impl IntoIterator<Item = ScriptedFault>, sink: &mut dyn RecordSink) {
        let known = self.simulation.scenario.faults.len();
        for fault in script {
            let comes = matches!(fault.at, FaultTime::At(at) if SimTime::ZERO + at >= self.processed_until);
            assert!(comes, "what is to come has its time: {:?}", fault.at);
            self.simulation.components.script.count_action(&fault);
            self.simulation.scenario.faults.push(fault);
        }
        self.with_run(sink, |run| run.schedule_script(known));
    }

    /// Processes all events before `at`. Returns false if the run ended earlier.
    pub fn run_until(&mut self, at: SimTime, sink: &mut dyn RecordSink) -> bool {
        self.processed_until = at;
        self.with_run(sink, |run| run.run_until(at).is_none())
    }

    /// Processes the remaining events until `stop` and returns the outcome.
    pub fn finish(mut self, stop: Duration, sink: &mut dyn RecordSink) -> RunOutcome {
        self.simulation.scenario.stop.at = stop;
        self.with_run(sink, |run| {
            let reason = run.run_until(SimTime::NEVER).expect("nothing halts it");
            let reason = run.end(reason);
            outcome::run_outcome(run, reason)
        })
    }

    fn with_run<T>(&mut self, sink: &mut dyn RecordSink, does: impl FnOnce(&mut EngineRun<'_>) -> T) -> T {
        let course = std::mem::replace(&mut self.snapshot, Snapshot::initial(&self.simulation.scenario, false));
        let mut run = self.simulation.resume(course, sink);
        let done = does(&mut run);
        self.snapshot = Snapshot::from_run(run);
        done
    }
}
