//! All folds of one run behind one sink.

use super::events::EventFold;
use super::nodes::NodeFold;
use super::pods::PodFold;
use super::restart::Restart;
use super::restart_fold::RestartFold;
use super::story::StoryFold;
use crate::record::{Names, Record, RunOutcome, Sink, Texts};
use crate::spec::Scenario;

pub struct Folds {
    restarts: RestartFold,
    pub events: EventFold,
    pub story: StoryFold,
    /// Rows of the tables, only where a run directory is written.
    pub tables: Option<(PodFold, NodeFold)>,
}

/// What the folds leave when the run is over.
pub struct Folded {
    pub restarts: Vec<Restart>,
    pub events: EventFold,
    pub story: StoryFold,
    pub tables: Option<(PodFold, NodeFold)>,
}

impl Folds {
    pub fn new(scenario: &Scenario, names: &Names, with_tables: bool) -> Folds {
        Folds {
            restarts: RestartFold::new(scenario, names),
            events: EventFold::new(names),
            story: StoryFold::default(),
            tables: with_tables.then(|| (PodFold::default(), NodeFold::new(names.nodes.len()))),
        }
    }

    pub fn finish(self, outcome: &RunOutcome) -> Folded {
        Folded {
            restarts: self.restarts.finish(outcome.end),
            events: self.events,
            story: self.story,
            tables: self.tables,
        }
    }
}

impl Sink for Folds {
    fn record(&mut self, record: &Record, texts: &Texts) {
        self.restarts.record(record, texts);
        self.events.record(record, texts);
        self.story.record(record, texts);
        if let Some((pods, nodes)) = &mut self.tables {
            pods.record(record, texts);
            nodes.record(record, texts);
        }
    }
}
