//! All folds of one run combined in one sink.

use super::events::EventFold;
use super::nodes::NodeFold;
use super::pods::PodFold;
use super::restarts::fold::RestartFold;
use super::restarts::restart::Restart;
use super::story::StoryFold;
use sim_api::spec::Scenario;
use sim_engine::record::{Names, Record, RunOutcome, Sink, Ticket};

pub struct Folds {
    restarts: RestartFold,
    pub events: EventFold,
    pub story: StoryFold,
    /// Rows of `pods.csv` and `nodes.csv`; only collected if a run directory is written.
    pub tables: Option<(PodFold, NodeFold)>,
}

/// Results of the folds after the end of the run.
pub struct Folded {
    pub restarts: Vec<Restart>,
    pub events: EventFold,
    pub story: StoryFold,
    pub tables: Option<(PodFold, NodeFold)>,
}

impl Folds {
    pub fn new(scenario: &Scenario, with_tables: bool) -> Folds {
        Folds {
            restarts: RestartFold::new(scenario),
            events: EventFold::default(),
            story: StoryFold::default(),
            tables: with_tables.then(Default::default),
        }
    }

    /// Turns off tickets: restarts then have no critical path.
    pub fn without_paths(self) -> Folds {
        Folds {
            restarts: self.restarts.without_paths(),
            ..self
        }
    }

    pub fn finish(self, outcome: &RunOutcome, names: &Names) -> Folded {
        Folded {
            restarts: self.restarts.finish(outcome, names),
            events: self.events,
            story: self.story,
            tables: self.tables,
        }
    }
}

impl Sink for Folds {
    fn record(&mut self, record: &Record, names: &Names) {
        self.restarts.record(record, names);
        self.events.record(record, names);
        self.story.record(record, names);
        if let Some((pods, nodes)) = &mut self.tables {
            pods.record(record, names);
            nodes.record(record, names);
        }
    }

    fn wants_tickets(&self) -> bool {
        self.restarts.wants_tickets()
    }

    fn ticket(&mut self, ticket: &Ticket) {
        self.restarts.ticket(ticket);
    }
}
