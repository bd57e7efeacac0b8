//! What a run leaves.

use super::{Restart, Scenario};
use sim_analysis::experiment::Played;
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::summary::Summary;
use sim_base::Time;
use sim_engine::record::{EndReason, Ledger, RunOutcome, TrainingOutcome};
use sim_report::files::csv;
use std::fmt;

/// A finished run: how it ended, the state of every JobSet, its restarts, and where the accelerators' time went.
pub struct Outcome {
    scenario: Scenario,
    seed: u64,
    replication: u64,
    played: Played,
}

impl fmt::Debug for Outcome {
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

impl Outcome {
    pub(super) fn new(
        scenario: Scenario,
        (seed, replication): (u64, u64),
        played: Played,
    ) -> Outcome {
        Outcome {
            scenario,
            seed,
            replication,
            played,
        }
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The replication of the run.
    pub fn replication(&self) -> u64 {
        self.replication
    }

    /// When it ended.
    pub fn end(&self) -> Time {
        self.raw().end
    }

    /// Why it ended.
    pub fn end_reason(&self) -> EndReason {
        self.raw().end_reason
    }

    /// Hash over all records, in hexadecimal: equal inputs give equal digests everywhere.
    pub fn digest(&self) -> String {
        self.view().digest()
    }

    /// How many records were made.
    pub fn records(&self) -> u32 {
        self.raw().records
    }

    /// How many events were handled.
    pub fn events(&self) -> u64 {
        self.raw().events
    }

    /// The final states of all JobSets and their Jobs, restart latencies and costs: what `run --format json` prints.
    /// It can be serialized, and its format is kept stable.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.view())
    }

    /// The tables of a run directory, as CSV, by their names: `restarts`, `ledger`, `control_plane`; `jobset_ledger`
    /// where JobSets train; `pods` and `nodes` after [`Simulation::keep_pods`](crate::Simulation::keep_pods).
    ///
    /// ```
    /// use jobset_sim::{Scenario, Simulation};
    ///
    /// let scenario = Scenario::from_file("scenarios/first-steps.yaml")?;
    /// let outcome = Simulation::new(&scenario)?.run(1, 0);
    /// let (name, rows) = &outcome.tables()[0];
    /// assert_eq!(*name, "restarts");
    /// assert!(rows.starts_with("jobset,attempt,strategy"));
    /// # Ok::<(), jobset_sim::Error>(())
    /// ```
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        let all = csv::tables(&self.view()).into_iter();
        all.map(|(name, table)| (name, String::from_utf8_lossy(&table.csv()).into_owned()))
            .collect()
    }

    /// The rows of one of [`Outcome::tables`] as JSON objects, numbers as numbers; `None` if the run has no such table.
    ///
    /// ```
    /// use jobset_sim::{Scenario, Simulation};
    ///
    /// let scenario = Scenario::from_file("scenarios/first-steps.yaml")?;
    /// let outcome = Simulation::new(&scenario)?.run(1, 0);
    /// let restarts = outcome.rows("restarts").expect("every run has this table");
    /// assert!(restarts[0]["strategy"].is_string() && restarts[0]["total"].is_number());
    /// # Ok::<(), jobset_sim::Error>(())
    /// ```
    pub fn rows(&self, table: &str) -> Option<serde_json::Value> {
        let mut all = csv::tables(&self.view()).into_iter();
        let (_, table) = all.find(|(name, _)| *name == table)?;
        Some(table.json())
    }

    /// Every restart, in the order in which they began.
    pub fn restarts(&self) -> impl Iterator<Item = Restart<'_>> {
        let run = self.view();
        let all = run.restarts().iter();
        all.map(move |restart| Restart::new(run, restart))
    }

    /// Where the time of all accelerators went, as exact integers.
    pub fn ledger(&self) -> &Ledger {
        &self.raw().ledger
    }

    /// The training jobs of JobSets, in the order of the scenario: how far they came, and where their time went.
    pub fn training(&self) -> &[TrainingOutcome] {
        &self.raw().training
    }

    /// What can never go on, each with the reason, one sentence; and what is not ready as the run ends.
    pub fn stuck(&self) -> &[String] {
        &self.raw().stuck
    }

    /// What makes the numbers doubtful, and what is stuck.
    pub fn warnings(&self) -> Vec<String> {
        self.view().warnings()
    }

    /// The same as plain data with ids, with requests and the use of shared resources.
    pub fn raw(&self) -> &RunOutcome {
        &self.played.outcome
    }

    fn view(&self) -> RunView<'_> {
        self.played.view(self.seed, self.scenario.not_modelled())
    }
}
