//! Simulations of one scenario that can be observed and stopped.

use super::{Record, Scenario, SimulationError, SimulationOutcome};
use sim_analysis::experiment;
use sim_analysis::experiment::{ReplicationLimits, StopFlag};
use sim_analysis::metrics::MetricFolds;
use sim_engine::record;
use sim_engine::record::{RecordNames, RecordSink};
use sim_report::files::event_objects::EventObjects;
use std::fmt;
use std::ops::ControlFlow;

/// A simulation of a scenario that can be run any number of times.
///
/// Equal seeds and replication numbers give equal records. A run uses virtual time only and starts no threads. Its
/// memory is reused by the next run.
///
/// A run cannot fail; a panic is a bug in this crate.
pub struct Simulation {
    scenario: Scenario,
    player: experiment::ExperimentRunner,
    limits: ReplicationLimits,
    tables: bool,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("scenario", &self.scenario.name()).finish_non_exhaustive()
    }
}

impl Simulation {
    /// Builds the cluster. Returns an error if pods can never be placed on it.
    pub fn new(scenario: &Scenario) -> Result<Simulation, SimulationError> {
        Ok(Simulation {
            player: experiment::ExperimentRunner::new(scenario.spec())?,
            scenario: scenario.clone(),
            limits: ReplicationLimits::unlimited(),
            tables: false,
        })
    }

    /// Returns the scenario of the simulation.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns a flag that stops a run of this simulation, also from another thread.
    pub fn stop_flag(&self) -> StopFlag {
        self.limits.flag.clone()
    }

    /// Sets the maximum number of events per run. An event is one step of one component, so there are several events
    /// per record.
    pub fn max_events(&mut self, n: u64) {
        self.limits.events_max = n;
    }

    /// Also keeps the tables of pods and nodes, which have a row for every pod created during the run.
    pub fn keep_pods(&mut self) {
        self.tables = true;
    }

    /// Simulates the scenario to its end. `replication` distinguishes runs of one seed that differ only in their
    /// random numbers.
    pub fn run(&mut self, seed: u64, replication: u64) -> SimulationOutcome {
        self.observe(seed, replication, |_| ControlFlow::Continue(()))
    }

    /// Simulates the scenario and passes every record to `see`, which may stop the run with
    /// `ControlFlow::Break(())`. After that it receives no more records. The event of the last record is completed;
    /// unless the run ends with it, the end reason is [`EndReason::Stopped`](crate::EndReason).
    ///
    /// The records of a stopped run are a prefix of the records of the complete run.
    ///
    /// ```
    /// use jobset_sim::{Body, Scenario, Simulation};
    /// use std::ops::ControlFlow;
    ///
    /// let scenario = Scenario::from_file("scenarios/first-steps.yaml")?;
    /// let mut simulation = Simulation::new(&scenario)?;
    /// let mut first = None;
    /// simulation.observe(1, 0, |record| match record.body() {
    ///     Body::RestartCounted { .. } => {
    ///         first = Some(record.time());
    ///         ControlFlow::Break(())
    ///     }
    ///     _ => ControlFlow::Continue(()),
    /// });
    /// assert_eq!(first.map(|t| t.to_string()).as_deref(), Some("126.243s"));
    /// # Ok::<(), jobset_sim::SimulationError>(())
    /// ```
    pub fn observe(
        &mut self, seed: u64, replication: u64, see: impl FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> SimulationOutcome {
        let watch = SimulationObserver { see, objects: EventObjects::default(), over: false, limits: &self.limits };
        let engine = self.player.simulation(seed, replication);
        let folds = MetricFolds::new(engine.scenario(), self.tables);
        let (outcome, _) = experiment::simulate_replication(engine, (seed, replication), folds, watch);
        SimulationOutcome::new(self.scenario.clone(), (seed, replication), outcome)
    }
}

/// Passes records to a function, and stops when the function, the flag or the event limit requires it.
struct SimulationObserver<'l, F> {
    see: F,
    objects: EventObjects,
    over: bool,
    limits: &'l ReplicationLimits,
}

impl<F: FnMut(&Record<'_>) -> ControlFlow<()>> RecordSink for SimulationObserver<'_, F> {
    fn record(&mut self, record: &record::SimulationRecord, names: &RecordNames) {
        if self.over {
            return;
        }
        self.objects.add_new_names(names);
        self.objects.set_pod_name(names, &record.body);
        let displayed = Record::new(record, names, &self.objects);
        self.over = (self.see)(&displayed).is_break();
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        1
    }

    fn should_stop(&mut self, events: u64) -> bool {
        self.over = self.over || self.limits.is_reached(events);
        self.over
    }
}
