//! Runs of one scenario, watched and stopped.

use super::{Error, Outcome, Record, Scenario};
use sim_analysis::experiment;
use sim_analysis::experiment::{Limits, StopFlag};
use sim_analysis::metrics::Folds;
use sim_engine::record;
use sim_engine::record::{Names, Sink};
use sim_report::files::event_objects::Objects;
use std::fmt;
use std::ops::ControlFlow;

/// A scenario ready to be run, as often as wanted.
///
/// Equal seeds and replications give equal records. A run knows virtual time only and takes no other thread; its
/// tables are kept for the next one.
///
/// A run cannot fail; should one panic, that is a bug of this crate.
pub struct Simulation {
    scenario: Scenario,
    player: experiment::Player,
    limits: Limits,
    tables: bool,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("scenario", &self.scenario.name())
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Builds the cluster; refuses pods that could never be placed on it.
    pub fn new(scenario: &Scenario) -> Result<Simulation, Error> {
        Ok(Simulation {
            player: experiment::Player::new(scenario.spec())?,
            scenario: scenario.clone(),
            limits: Limits::none(),
            tables: false,
        })
    }

    /// The scenario it runs.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// A flag that stops a run of this simulation, from another thread too.
    pub fn stop_flag(&self) -> StopFlag {
        self.limits.flag.clone()
    }

    /// Stops each run after this many events. An event is one thing that happens in one component, so there are
    /// several to a record.
    pub fn max_events(&mut self, n: u64) {
        self.limits.events_max = n;
    }

    /// Keeps tables of pods and nodes too: a row for each pod that ever was.
    pub fn keep_pods(&mut self) {
        self.tables = true;
    }

    /// Plays the scenario to its end. `replication` tells apart runs of one seed that differ by chance alone.
    pub fn run(&mut self, seed: u64, replication: u64) -> Outcome {
        self.observe(seed, replication, |_| ControlFlow::Continue(()))
    }

    /// The same; `see` is shown every record as it is made, and may stop the run with `ControlFlow::Break(())`. It is
    /// shown nothing more then. The event is finished to which the record belongs; if the run is not over with it, it
    /// ends there as [`EndReason::Stopped`](crate::EndReason).
    ///
    /// The records of a run that was stopped are the beginning of those of the whole run.
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
    /// assert_eq!(first.map(|t| t.to_string()).as_deref(), Some("126.255s"));
    /// # Ok::<(), jobset_sim::Error>(())
    /// ```
    pub fn observe(
        &mut self,
        seed: u64,
        replication: u64,
        see: impl FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> Outcome {
        let watch = Watch {
            see,
            objects: Objects::default(),
            over: false,
            limits: &self.limits,
        };
        let engine = self.player.simulation(seed, replication);
        let folds = Folds::new(engine.scenario(), self.tables);
        let (played, _) = experiment::play(engine, (seed, replication), folds, watch);
        Outcome::new(self.scenario.clone(), (seed, replication), played)
    }
}

/// Shows records to a function, and stops when it, the flag or the limit says so.
struct Watch<'l, F> {
    see: F,
    objects: Objects,
    over: bool,
    limits: &'l Limits,
}

impl<F: FnMut(&Record<'_>) -> ControlFlow<()>> Sink for Watch<'_, F> {
    fn record(&mut self, record: &record::Record, names: &Names) {
        if self.over {
            return;
        }
        self.objects.follow(names);
        self.objects.learn(names, &record.body);
        let shown = Record::new(record, names, &self.objects);
        self.over = (self.see)(&shown).is_break();
    }

    fn looks_after(&self, _: u64) -> u64 {
        1
    }

    fn stops(&mut self, events: u64) -> bool {
        self.over = self.over || self.limits.reached(events);
        self.over
    }
}
