//! All folds of one run combined in one sink.

use super::admission::behind::name_heads;
use super::admission::{AdmissionFold, AdmissionHistory, divide_queues};
use super::events::EventFold;
use super::nodes::NodeFold;
use super::occurrence_counts::CountedFold;
use super::pods::PodFold;
use super::restarts::fold::RestartFold;
use super::restarts::restart::{FatalFailure, RestartMetrics};
use super::story::StoryFold;
use sim_api::spec::ScenarioSpec;
use sim_engine::record::{RecordNames, RecordSink, RunOutcome, SimulationRecord, WorkTicket};

pub struct MetricFolds {
    restarts: RestartFold,
    pub events: EventFold,
    pub story: StoryFold,
    counted: CountedFold,
    admission: AdmissionFold,
    /// Rows of `pods.csv` and `nodes.csv`; only collected if a run directory is written.
    pub tables: Option<(PodFold, NodeFold)>,
}

/// Results of the folds after the end of the run.
pub struct FoldedMetrics {
    pub restarts: Vec<RestartMetrics>,
    /// Failures after which their JobSets ended instead of restarting.
    pub fatal: Vec<FatalFailure>,
    pub events: EventFold,
    pub story: StoryFold,
    /// Numbers of restarts by JobSet.
    pub counted: CountedFold,
    /// Admissions by Kueue.
    pub admission: AdmissionHistory,
    pub tables: Option<(PodFold, NodeFold)>,
}

impl MetricFolds {
    pub fn new(scenario: &ScenarioSpec, with_tables: bool) -> MetricFolds {
        MetricFolds {
            restarts: RestartFold::new(scenario),
            events: EventFold::default(),
            story: StoryFold::default(),
            counted: CountedFold::default(),
            admission: AdmissionFold::new(scenario),
            tables: with_tables.then(Default::default),
        }
    }

    /// Turns off tickets: restarts then have no critical path.
    pub fn without_paths(self) -> MetricFolds {
        MetricFolds { restarts: self.restarts.without_paths(), ..self }
    }

    pub fn finish(self, scenario: &ScenarioSpec, outcome: &RunOutcome, names: &RecordNames) -> FoldedMetrics {
        let mut admission = self.admission.finish(scenario, names);
        name_heads(&mut admission.job_sets, scenario);
        let mut fold = self.restarts;
        let fatal = std::mem::take(&mut fold.fatal);
        let mut restarts = fold.finish(outcome, names);
        divide_queues(&mut restarts, &admission.job_sets);
        FoldedMetrics {
            restarts,
            fatal,
            events: self.events,
            story: self.story,
            counted: self.counted,
            admission,
            tables: self.tables,
        }
    }
}

impl RecordSink for MetricFolds {
    #[inline]
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.restarts.record(record, names);
        self.events.record(record, names);
        self.story.record(record, names);
        self.counted.record(record, names);
        self.admission.record(record, names);
        if let Some((pods, nodes)) = &mut self.tables {
            pods.record(record, names);
            nodes.record(record, names);
        }
    }

    fn receives_tickets(&self) -> bool {
        self.restarts.receives_tickets()
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        self.restarts.ticket(ticket);
    }
}
