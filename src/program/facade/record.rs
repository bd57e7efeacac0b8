//! A record for observers of a run.

use sim_base::SimTime;
use sim_engine::record;
use sim_engine::record::{Body, NO_CAUSE, RecordNames, TicketSubject};
use sim_report::files::event_objects::EventObjects;
use sim_report::files::events;
use std::borrow::Cow;
use std::fmt;

/// One record of a run, with access to the names of its ids.
#[derive(Copy, Clone)]
pub struct Record<'a> {
    record: &'a record::SimulationRecord,
    names: &'a RecordNames,
    objects: &'a EventObjects,
}

impl fmt::Debug for Record<'_> {
    /// Formats the record as its line in `events.ndjson`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl<'a> Record<'a> {
    pub(super) fn new(
        record: &'a record::SimulationRecord, names: &'a RecordNames, objects: &'a EventObjects,
    ) -> Record<'a> {
        Record { record, names, objects }
    }

    /// Returns the sequence number in the run, starting at 0.
    pub fn seq(&self) -> u32 {
        self.record.seq
    }

    /// Returns the sequence number of the record that caused this one; `None` for initial records.
    pub fn cause(&self) -> Option<u32> {
        (self.record.cause != NO_CAUSE).then_some(self.record.cause)
    }

    /// Returns the virtual time of the record.
    pub fn time(&self) -> SimTime {
        self.record.at
    }

    /// Returns the name of the record kind, such as `PodReady`.
    pub fn kind(&self) -> &'static str {
        self.record.body.kind()
    }

    /// Returns the content of the record. [`Record::name`] converts its ids to names.
    pub fn body(&self) -> Body {
        self.record.body
    }

    /// Returns the object of the record, such as `pod/default/train-workers-0-3-x2m4q`; empty if it has none.
    pub fn object(&self) -> Cow<'a, str> {
        self.name(self.record.body.head().subject)
    }

    /// Returns the name of an object, as in [`Record::object`].
    pub fn name(&self, about: TicketSubject) -> Cow<'a, str> {
        String::from_utf8_lossy(self.objects.escaped_name(about))
    }

    /// Returns the reason that Kubernetes sets, such as `FailedJobs`; empty if there is none.
    pub fn reason(&self) -> &'a str {
        self.names.text(self.record.body.head().reason)
    }

    /// Returns the message that Kubernetes sets; empty if there is none.
    pub fn message(&self) -> &'a str {
        self.names.text(self.record.body.head().message)
    }

    /// Returns the record as its line in `events.ndjson`. `docs/reference/output.md` describes the format.
    pub fn to_json(&self) -> String {
        let mut line = Vec::new();
        events::line(&mut line, self.objects, self.record, self.names);
        String::from_utf8_lossy(&line).into_owned()
    }
}
