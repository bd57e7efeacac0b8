//! The outcome of a run.

use super::{Restart, Scenario};
use sim_analysis::experiment::SimulatedReplication;
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::summary::RunSummary;
use sim_base::SimTime;
use sim_engine::record::{EndReason, RunOutcome, TimeLedger, TrainingOutcome};
use sim_report::files::csv;
use std::fmt;

/// A finished run: its end, the state of every JobSet, its restarts, and the use of accelerator time.
pub struct SimulationOutcome {
    scenario: Scenario,
    seed: u64,
    replication: u64,
    simulated: SimulatedReplication,
}

impl fmt::Debug for SimulationOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome")
            .field("scenario", &self.scenario.name())
            .field("seed", &self.seed)
            .field("replication", &self.replication)
            .field("end", &self.end())
            .field("end_reason", &self.end_reason())
            .field("digest", &self.digest())
            .finish_non_exhaustive()
    }
}

impl SimulationOutcome {
    pub(super) fn new(
        scenario: Scenario, (seed, replication): (u64, u64), simulated: SimulatedReplication,
    ) -> SimulationOutcome {
        SimulationOutcome { scenario, seed, replication, simulated }
    }

    /// Returns the seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the replication number of the run.
    pub fn replication(&self) -> u64 {
        self.replication
    }

    /// Returns the virtual time at the end of the run.
    pub fn end(&self) -> SimTime {
        self.raw().end
    }

    /// Returns the reason for the end of the run.
    pub fn end_reason(&self) -> EndReason {
        self.raw().end_reason
    }

    /// Returns a hash over all records, in hexadecimal. Equal inputs give equal digests on every machine.
    pub fn digest(&self) -> String {
        self.view().digest()
    }

    /// Returns the number of records of the run.
    pub fn records(&self) -> u32 {
        self.raw().records
    }

    /// Returns the number of processed events.
    pub fn events(&self) -> u64 {
        self.raw().events
    }

    /// Returns the final states of all JobSets and their Jobs, restart latencies and costs, as printed by `run
    /// --format json`. The summary can be serialized, and its format is stable.
    pub fn summary(&self) -> RunSummary {
        RunSummary::from_run(&self.view())
    }

    /// Returns the tables of a run directory as CSV with their names: `restarts`, `ledger` and `control_plane`;
    /// `jobset_ledger` if JobSets have training jobs; `pods` and `nodes` after
    /// [`Simulation::keep_pods`](crate::Simulation::keep_pods).
    ///
    /// ```
    /// use jobset_sim::{Scenario, Simulation};
    ///
    /// let scenario = Scenario::from_file("scenarios/first-steps.yaml")?;
    /// let outcome = Simulation::new(&scenario)?.run(1, 0);
    /// let (name, rows) = &outcome.tables()[0];
    /// assert_eq!(*name, "restarts");
    /// assert!(rows.starts_with("jobset,attempt,strategy"));
    /// # Ok::<(), jobset_sim::SimulationError>(())
    /// ```
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        let all = csv::tables(&self.view()).into_iter();
        all.map(|(name, table)| (name, String::from_utf8_lossy(&table.csv()).into_owned())).collect()
    }

    /// Returns the rows of one of the [`SimulationOutcome::tables`] as JSON objects, with numeric cells as numbers;
    /// `None` if the run has no such table.
    ///
    /// ```
    /// use jobset_sim::{Scenario, Simulation};
    ///
    /// let scenario = Scenario::from_file("scenarios/first-steps.yaml")?;
    /// let outcome = Simulation::new(&scenario)?.run(1, 0);
    /// let restarts = outcome.rows("restarts").expect("every run has this table");
    /// assert!(restarts[0]["strategy"].is_string() && restarts[0]["total_s"].is_number());
    /// # Ok::<(), jobset_sim::SimulationError>(())
    /// ```
    pub fn rows(&self, table: &str) -> Option<serde_json::Value> {
        let mut all = csv::tables(&self.view()).into_iter();
        let (_, table) = all.find(|(name, _)| *name == table)?;
        Some(table.json())
    }

    /// Returns all restarts in the order of their start.
    pub fn restarts(&self) -> impl Iterator<Item = Restart<'_>> {
        let run = self.view();
        let all = run.restarts().iter();
        all.map(move |restart| Restart::new(run, restart))
    }

    /// Returns the use of accelerator time by category, as exact integers.
    pub fn ledger(&self) -> &TimeLedger {
        &self.raw().ledger
    }

    /// Returns the training jobs of JobSets in the order of the scenario, with their progress and use of time.
    pub fn training(&self) -> &[TrainingOutcome] {
        &self.raw().training
    }

    /// Returns one sentence for each permanently blocked object with the reason, and for each JobSet that is not
    /// ready at the end of the run.
    pub fn stuck(&self) -> &[String] {
        &self.raw().blocked
    }

    /// Returns warnings about the validity of the results, and about blocked objects.
    pub fn warnings(&self) -> Vec<String> {
        self.view().warnings()
    }

    /// Returns the outcome as plain data with ids, including API requests and the use of shared resources.
    pub fn raw(&self) -> &RunOutcome {
        &self.simulated.outcome
    }

    fn view(&self) -> RunView<'_> {
        self.simulated.view(self.seed, self.scenario.not_modelled())
    }
}
