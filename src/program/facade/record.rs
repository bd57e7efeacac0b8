//! One record as whoever watches a run sees it.

use sim_base::Time;
use sim_engine::record;
use sim_engine::record::{About, Body, NO_CAUSE, Names};
use sim_report::files::event_objects::Objects;
use sim_report::files::events;
use std::borrow::Cow;
use std::fmt;

/// One thing that happened, with the names behind its ids.
#[derive(Copy, Clone)]
pub struct Record<'a> {
    record: &'a record::Record,
    names: &'a Names,
    objects: &'a Objects,
}

impl fmt::Debug for Record<'_> {
    /// Its line in `events.ndjson`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl<'a> Record<'a> {
    pub(super) fn new(
        record: &'a record::Record,
        names: &'a Names,
        objects: &'a Objects,
    ) -> Record<'a> {
        Record {
            record,
            names,
            objects,
        }
    }

    /// Its number in the run, from 0.
    pub fn seq(&self) -> u32 {
        self.record.seq
    }

    /// The number of the record that brought it about; the first ones have none.
    pub fn cause(&self) -> Option<u32> {
        (self.record.cause != NO_CAUSE).then_some(self.record.cause)
    }

    /// When it happened.
    pub fn time(&self) -> Time {
        self.record.at
    }

    /// The name of its kind, such as `PodReady`.
    pub fn kind(&self) -> &'static str {
        self.record.body.kind()
    }

    /// What happened. Ids in it are turned into names by [`Record::name`].
    pub fn body(&self) -> Body {
        self.record.body
    }

    /// Whom it is about, such as `pod/default/train-workers-0-3-x2m4q`; empty for nobody.
    pub fn object(&self) -> Cow<'a, str> {
        self.name(self.record.body.head().about)
    }

    /// The name of an object, as in [`Record::object`].
    pub fn name(&self, about: About) -> Cow<'a, str> {
        String::from_utf8_lossy(self.objects.of(about))
    }

    /// Kubernetes' reason, such as `FailedJobs`; empty if it has none.
    pub fn reason(&self) -> &'a str {
        self.names.text(self.record.body.head().reason)
    }

    /// Kubernetes' message; empty if it has none.
    pub fn message(&self) -> &'a str {
        self.names.text(self.record.body.head().message)
    }

    /// The record as its line in `events.ndjson`, which `docs/run-directory.md` explains.
    pub fn to_json(&self) -> String {
        let mut line = Vec::new();
        events::line(&mut line, self.objects, self.record, self.names);
        String::from_utf8_lossy(&line).into_owned()
    }
}
