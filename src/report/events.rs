//! `events.ndjson`: every record on a line, ids replaced by names.
//!
//! Keys of every line: `seq`, `t_ns`, `cause` (a `seq` or null), `kind`, `object`, `reason`, `message`; then the
//! fields
//! of the kind. The last line has kind `Digest`. Must never allocate per record once every pod has been seen.

use super::json::{Members, escape, number};
use crate::base::*;
use crate::record::names::suffix;
use crate::record::*;
use std::io::{self, Write};

/// Flushed to the file when it holds this much.
const BUFFER: usize = 1 << 20;

/// Objects as they are written, already escaped: `pod/default/train-workers-0-3-x2m4q`.
pub struct Objects {
    jobsets: Vec<Vec<u8>>,
    jobs: Vec<Vec<u8>>,
    /// `pod/<namespace>/<job>-` of each Job.
    pod_prefixes: Vec<Vec<u8>>,
    nodes: Vec<Vec<u8>>,
    /// Learnt from PodCreated.
    pods: Vec<Vec<u8>>,
}

impl Objects {
    pub fn new(names: &Names) -> Objects {
        let escaped = |text: String| {
            let mut out = Vec::with_capacity(text.len());
            escape(&mut out, &text);
            out
        };
        let namespace = |id: JobSetId| names.jobsets.get(id.ix()).map_or("", |j| &j.namespace);
        let of_job = |kind: &str, tail: &str| {
            let one = |j: &names::JobName| {
                escaped(format!("{kind}/{}/{}{tail}", namespace(j.jobset), j.name))
            };
            names.jobs.iter().map(one).collect()
        };
        let jobset = |j: &names::JobSetName| escaped(format!("jobset/{}/{}", j.namespace, j.name));
        let node = |n: &String| escaped(format!("node/{n}"));
        Objects {
            jobsets: names.jobsets.iter().map(jobset).collect(),
            jobs: of_job("job", ""),
            pod_prefixes: of_job("pod", "-"),
            nodes: names.nodes.iter().map(node).collect(),
            pods: Vec::new(),
        }
    }

    fn learn(&mut self, pod: PodId, incarnation: u32, job: JobId, index: u32) {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, Vec::new());
        }
        let name = &mut self.pods[pod.ix()];
        name.clear();
        if let Some(prefix) = self.pod_prefixes.get(job.ix()) {
            name.extend_from_slice(prefix);
        }
        number(name, u64::from(index));
        name.push(b'-');
        name.extend_from_slice(suffix(pod, incarnation).as_bytes());
    }

    fn of(&self, subject: Subject) -> &[u8] {
        let found = match subject {
            Subject::JobSet(id) => self.jobsets.get(id.ix()),
            Subject::Job(id) => self.jobs.get(id.ix()),
            Subject::Pod(id) => self.pods.get(id.ix()),
            Subject::Node(id) => self.nodes.get(id.ix()),
            Subject::Run => None,
        };
        found.map_or(b"", Vec::as_slice)
    }
}

/// Whom a record is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    JobSet(JobSetId),
    Job(JobId),
    Pod(PodId),
    Node(NodeId),
    Run,
}

/// The `kind` of a record, whom it is about, its reason and its message.
pub fn describe(body: &Body) -> (&'static str, Subject, TextId, TextId) {
    use Body::*;
    use Subject as S;
    let none = TextId::NONE;
    match *body {
        JobSetCreated { jobset } => ("JobSetCreated", S::JobSet(jobset), none, none),
        RestartCounted { jobset, .. } => ("RestartCounted", S::JobSet(jobset), none, none),
        JobRestartCounted { jobset, .. } => ("JobRestartCounted", S::JobSet(jobset), none, none),
        PreviousAttempt { jobset, .. } => ("PreviousAttempt", S::JobSet(jobset), none, none),
        CurrentAttempt { jobset, .. } => ("CurrentAttempt", S::JobSet(jobset), none, none),
        JobSetCondition {
            jobset,
            reason,
            message,
            ..
        } => ("JobSetCondition", S::JobSet(jobset), reason, message),
        AllReady { jobset, .. } => ("AllReady", S::JobSet(jobset), none, none),
        ReplicatedJobsStatus { jobset, .. } => {
            ("ReplicatedJobsStatus", S::JobSet(jobset), none, none)
        }
        JobSetDeleted { jobset } => ("JobSetDeleted", S::JobSet(jobset), none, none),
        JobCreated { job, .. } => ("JobCreated", S::Job(job), none, none),
        JobCondition {
            job,
            reason,
            message,
            ..
        } => ("JobCondition", S::Job(job), reason, message),
        JobDeleting { job } => ("JobDeleting", S::Job(job), none, none),
        JobGone { job } => ("JobGone", S::Job(job), none, none),
        PodCreated { pod, .. } => ("PodCreated", S::Pod(pod), none, none),
        PodCreateRejected { job, reason, .. } => ("PodCreateRejected", S::Job(job), reason, none),
        PodUnschedulable { pod, reason } => ("PodUnschedulable", S::Pod(pod), reason, none),
        PodBound { pod, .. } => ("PodBound", S::Pod(pod), none, none),
        PodRunning { pod, .. } => ("PodRunning", S::Pod(pod), none, none),
        PodReady { pod, .. } => ("PodReady", S::Pod(pod), none, none),
        PodNotReady { pod, .. } => ("PodNotReady", S::Pod(pod), none, none),
        ContainerExited { pod, .. } => ("ContainerExited", S::Pod(pod), none, none),
        ContainersRestarting { pod, .. } => ("ContainersRestarting", S::Pod(pod), none, none),
        AttemptWritten { pod, .. } => ("AttemptWritten", S::Pod(pod), none, none),
        BarrierLifted { pod, .. } => ("BarrierLifted", S::Pod(pod), none, none),
        PodFinished { pod, .. } => ("PodFinished", S::Pod(pod), none, none),
        PodDeleting { pod, .. } => ("PodDeleting", S::Pod(pod), none, none),
        PodGone { pod, .. } => ("PodGone", S::Pod(pod), none, none),
        NodeState { node, .. } => ("NodeState", S::Node(node), none, none),
        NodeTaint { node, key, .. } => ("NodeTaint", S::Node(node), key, none),
        NodeGone { node } => ("NodeGone", S::Node(node), none, none),
        Fault { node, pod, .. } => ("Fault", fault_subject(node, pod), none, none),
        Answered { answer, .. } => ("Answered", S::Run, none, answer),
        KubeEvent {
            object,
            reason,
            message,
            ..
        } => {
            let subject = match object {
                ObjectRef::JobSet(id) => S::JobSet(id),
                ObjectRef::Job(id) => S::Job(id),
                ObjectRef::Pod(id) => S::Pod(id),
            };
            ("KubeEvent", subject, reason, message)
        }
        End { .. } => ("End", S::Run, none, none),
    }
}

fn fault_subject(node: NodeId, pod: PodId) -> Subject {
    match (pod.is_some(), node.is_some()) {
        (true, _) => Subject::Pod(pod),
        (false, true) => Subject::Node(node),
        (false, false) => Subject::Run,
    }
}

pub struct EventWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    objects: Objects,
    last: (u32, Time),
    error: Option<io::Error>,
}

impl<W: Write> EventWriter<W> {
    pub fn new(out: W, names: &Names) -> EventWriter<W> {
        EventWriter {
            out,
            buffer: Vec::with_capacity(BUFFER + 4096),
            objects: Objects::new(names),
            last: (0, Time::ZERO),
            error: None,
        }
    }

    /// Writes the last line; the first error of the whole log comes out here.
    pub fn finish(mut self, digest: &str) -> io::Result<W> {
        let (seq, at) = self.last;
        self.head(seq.wrapping_add(1), at, NO_CAUSE, "Digest");
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

    fn head(&mut self, seq: u32, at: Time, cause: u32, kind: &str) {
        let b = &mut self.buffer;
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

    fn flush(&mut self) {
        if self.error.is_none() {
            self.error = self.out.write_all(&self.buffer).err();
        }
        self.buffer.clear();
    }
}

impl<W: Write> Sink for EventWriter<W> {
    fn record(&mut self, record: &Record, texts: &Texts) {
        if let Body::PodCreated {
            pod,
            incarnation,
            job,
            index,
            ..
        } = record.body
        {
            self.objects.learn(pod, incarnation, job, index);
        }
        self.last = (record.seq, record.at);
        let (kind, subject, reason, message) = describe(&record.body);
        self.head(record.seq, record.at, record.cause, kind);
        let mut m = Members(&mut self.buffer);
        m.raw("object", self.objects.of(subject))
            .s("reason", texts.get(reason))
            .s("message", texts.get(message));
        super::event_fields::write(&mut m, &record.body, &self.objects);
        self.buffer.extend_from_slice(b"}\n");
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }
}

impl Objects {
    pub(super) fn job(&self, id: JobId) -> &[u8] {
        self.of(Subject::Job(id))
    }

    pub(super) fn node(&self, id: NodeId) -> &[u8] {
        self.of(Subject::Node(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing;

    #[test]
    fn every_line_is_json_with_the_seven_keys_and_the_last_has_the_digest() {
        let mut texts = Texts::default();
        texts.intern("DefaultFailurePolicy \"quoted\"");
        let mut writer = EventWriter::new(Vec::new(), &testing::names());
        for r in testing::records(&testing::recreate()) {
            writer.record(&r, &texts);
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
        let writer = EventWriter::new(Full, &testing::names());
        assert!(writer.finish("00").is_err());
    }
}
