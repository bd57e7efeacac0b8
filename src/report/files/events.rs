//! Writer of `events.ndjson`: one record per line, with ids replaced by names.
//!
//! Keys of every line: `seq`, `t_ns`, `cause` (a `seq` or null), `kind`, `object`, `reason`, `message`; then the fields
//! of the kind. The last line has kind `Digest`. Writing a record does not allocate once every pod has been seen.

use super::event_objects::EventObjects;
use super::json::{JsonMembers, number};
use sim_base::SimTime;
use sim_engine::record::{NO_CAUSE, RecordNames, RecordSink, SimulationRecord};
use std::io::{self, Write};

/// The buffer is flushed to the file at this size in bytes.
const BUFFER: usize = 1 << 20;

pub struct EventWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    objects: EventObjects,
    last: (u32, SimTime),
    error: Option<io::Error>,
}

impl<W: Write> EventWriter<W> {
    pub fn new(out: W) -> EventWriter<W> {
        EventWriter {
            out,
            buffer: Vec::with_capacity(BUFFER + 4096),
            objects: EventObjects::default(),
            last: (0, SimTime::ZERO),
            error: None,
        }
    }

    /// Writes the last line. Returns the first I/O error of the whole log.
    pub fn finish(mut self, digest: &str) -> io::Result<W> {
        let (seq, at) = self.last;
        let seq = seq.wrapping_add(1);
        head(&mut self.buffer, seq, at, (NO_CAUSE, "Digest"));
        JsonMembers(&mut self.buffer).str("object", "").str("reason", "").str("message", "").str("digest", digest);
        self.buffer.extend_from_slice(b"}\n");
        self.flush();
        match self.error {
            Some(e) => Err(e),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn flush(&mut self) {
        if self.error.is_none() {
            self.error = self.out.write_all(&self.buffer).err();
        }
        self.buffer.clear();
    }
}

impl<W: Write> RecordSink for EventWriter<W> {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.objects.add_new_names(names);
        self.objects.set_pod_name(names, &record.body);
        self.last = (record.seq, record.at);
        line(&mut self.buffer, &self.objects, record, names);
        self.buffer.push(b'\n');
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }
}

/// Writes one record without the line feed. `objects` must already contain the names of this record.
pub fn line(buffer: &mut Vec<u8>, objects: &EventObjects, record: &SimulationRecord, names: &RecordNames) {
    let body = record.body.head();
    head(buffer, record.seq, record.at, (record.cause, record.body.kind()));
    let mut m = JsonMembers(buffer);
    m.escaped("object", objects.escaped_name(body.subject))
        .str("reason", names.text(body.reason))
        .str("message", names.text(body.message));
    objects.members(&mut m, &record.body, names);
    buffer.push(b'}');
}

fn head(b: &mut Vec<u8>, seq: u32, at: SimTime, (cause, kind): (u32, &str)) {
    b.extend_from_slice(b"{\"seq\":");
    number(b, u64::from(seq));
    let mut m = JsonMembers(b);
    m.u64("t_ns", at.0);
    if cause == NO_CAUSE {
        m.0.extend_from_slice(b",\"cause\":null");
    } else {
        m.u32("cause", cause);
    }
    m.escaped("kind", kind.as_bytes());
}
