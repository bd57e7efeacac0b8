//! `events.ndjson`: every record on a line, ids replaced by names.
//!
//! Keys of every line: `seq`, `t_ns`, `cause` (a `seq` or null), `kind`, `object`, `reason`, `message`; then the
//! fields of the kind. The last line has kind `Digest`. Must never allocate per record once every pod has been seen.

use super::event_objects::Objects;
use super::json::{Members, number};
use sim_base::*;
use sim_engine::record::*;
use std::io::{self, Write};

/// Flushed to the file when it holds this much.
const BUFFER: usize = 1 << 20;

pub struct EventWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    objects: Objects,
    last: (u32, Time),
    error: Option<io::Error>,
}

impl<W: Write> EventWriter<W> {
    pub fn new(out: W) -> EventWriter<W> {
        EventWriter {
            out,
            buffer: Vec::with_capacity(BUFFER + 4096),
            objects: Objects::default(),
            last: (0, Time::ZERO),
            error: None,
        }
    }

    /// Writes the last line; the first error of the whole log comes out here.
    pub fn finish(mut self, digest: &str) -> io::Result<W> {
        let (seq, at) = self.last;
        let seq = seq.wrapping_add(1);
        head(&mut self.buffer, seq, at, (NO_CAUSE, "Digest"));
        Members(&mut self.buffer)
            .s("object", "")
            .s("reason", "")
            .s("message", "")
            .s("digest", digest);
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

impl<W: Write> Sink for EventWriter<W> {
    fn record(&mut self, record: &Record, names: &Names) {
        self.objects.follow(names);
        self.objects.learn(names, &record.body);
        self.last = (record.seq, record.at);
        line(&mut self.buffer, &self.objects, record, names);
        self.buffer.push(b'\n');
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }
}

/// One record without the end of the line; `objects` has followed the names and learnt the record.
pub fn line(buffer: &mut Vec<u8>, objects: &Objects, record: &Record, names: &Names) {
    let body = record.body.head();
    head(
        buffer,
        record.seq,
        record.at,
        (record.cause, record.body.kind()),
    );
    let mut m = Members(buffer);
    m.raw("object", objects.of(body.about))
        .s("reason", names.text(body.reason))
        .s("message", names.text(body.message));
    objects.members(&mut m, &record.body, names);
    buffer.push(b'}');
}

fn head(b: &mut Vec<u8>, seq: u32, at: Time, (cause, kind): (u32, &str)) {
    b.extend_from_slice(b"{\"seq\":");
    number(b, u64::from(seq));
    let mut m = Members(b);
    m.u64("t_ns", at.0);
    if cause == NO_CAUSE {
        m.0.extend_from_slice(b",\"cause\":null");
    } else {
        m.u("cause", cause);
    }
    m.raw("kind", kind.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_testkit::records;

    #[test]
    fn every_line_is_json_with_the_seven_keys_and_the_last_has_the_digest() {
        let mut names = records::names();
        names.intern("DefaultFailurePolicy \"quoted\"");
        let mut writer = EventWriter::new(Vec::new());
        for r in records::records(&records::recreate()) {
            writer.record(&r, &names);
        }
        let text = String::from_utf8(writer.finish("00ff").unwrap()).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        for line in &lines {
            for key in [
                "seq", "t_ns", "cause", "kind", "object", "reason", "message",
            ] {
                assert!(line.get(key).is_some(), "{key} in {line}");
            }
        }
        assert_eq!(lines.last().unwrap()["digest"], "00ff");
        assert_eq!(lines[0]["object"], "jobset/default/train");
        assert_eq!(lines[0]["cause"], serde_json::Value::Null);
        let exited = lines
            .iter()
            .find(|l| l["kind"] == "ContainerExited")
            .unwrap();
        assert_eq!(exited["exitCode"], 1);
        assert!(
            exited["object"]
                .as_str()
                .unwrap()
                .starts_with("pod/default/train-workers-0-1-")
        );
        let condition = lines
            .iter()
            .find(|l| l["kind"] == "JobSetCondition")
            .unwrap();
        assert_eq!(condition["reason"], "DefaultFailurePolicy \"quoted\"");
    }

    #[test]
    fn names_that_appear_during_the_run_are_written_and_a_pod_id_may_be_used_again() {
        let own = |name: &str, bare| JobName {
            jobset: JobSetId::NONE,
            name: name.to_owned(),
            namespace: "tools".to_owned(),
            bare,
            ..JobName::default()
        };
        let created = |seq, incarnation, job| Record {
            seq,
            cause: NO_CAUSE,
            ticket: NO_TICKET,
            at: Time::ZERO,
            body: Body::PodCreated {
                pod: PodId(0),
                incarnation,
                job,
                index: 0,
                attempt: 0,
            },
        };
        let mut names = records::names();
        let mut writer = EventWriter::new(Vec::new());
        writer.record(&created(0, 1, JobId(0)), &names);
        names.jobs.push(own("backup", false));
        writer.record(&created(1, 2, JobId(1)), &names);
        names.jobs.push(own("debug", true));
        names.nodes.push("late".to_owned());
        writer.record(&created(2, 3, JobId(2)), &names);
        let bound = Body::PodBound {
            pod: PodId(0),
            incarnation: 3,
            node: NodeId(2),
        };
        let bound = Record {
            body: bound,
            ..created(3, 3, JobId(2))
        };
        writer.record(&bound, &names);
        let text = String::from_utf8(writer.finish("").unwrap()).unwrap();
        let shown = [
            "pod/default/train-workers-0-0-",
            "pod/tools/backup-0-",
            "pod/tools/debug\"",
            "\"node\":\"node/late\"",
        ];
        for (line, shown) in text.lines().zip(shown) {
            assert!(line.contains(shown), "{shown} in {line}");
        }
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("no space left on device"))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        let writer = EventWriter::new(Full);
        assert!(writer.finish("00").is_err());
    }
}
