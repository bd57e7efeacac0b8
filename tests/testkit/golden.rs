//! Writes the golden log: the history of a run as short aligned text, for tests and for readers.
//!
//! Columns: virtual time · what (`+n word` for pods) · object · details. JobSets, Jobs, nodes, faults, conditions
//! and attempts have one line each. Changes of pods are counted per virtual second; the counts are written before
//! any other line, with the time of the last change counted. If a count is one and the pod failed, the pod is named.
//! In a busy second, frequent kinds of lines are also counted. Pods are named without their random suffixes, so that
//! the log does not depend on them.

use sim_base::time::NANOS_PER_SECOND;
use sim_base::{JobId, PodId, SimTime, TextId, row_or_default};
use sim_engine::record::{
    Body, FieldRole, FieldValue, RecordNames, RecordSink, RunOutcome, SimulationRecord, TAINT_EFFECTS, TicketSubject,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Header of every golden log.
pub const LEGEND: &str = "\
# Columns: virtual time, what happened, object, details.
# Pods are counted per second of virtual time: `+120 created +98 bound`. Words: created, rejected (by a webhook),
# unschedulable, bound, running, ready, notReady, exited (a container by itself), restarting (containers, in place),
# attempt (agents that announced one), lifted (barriers), failed, succeeded, deleting, gone.
# In a second with more than 24 lines every kind that has more than 6 of them is counted like pods: `+50 JobCreated`.
";

/// A second with more lines than this is busy.
const BUSY: usize = 24;
/// In a busy second, kinds with more lines than this are counted.
const OFTEN: u32 = 6;

const WORDS: [&str; 15] = [
    "created", "rejected", "unschedulable", "bound", "running", "ready", "notReady", "exited", "restarting", "attempt",
    "lifted", "failed", "succeeded", "deleting", "gone",
];

const EXITED: usize = 7;
const FAILED: usize = 11;

/// Counts since the last line, and the time of the last change counted.
#[derive(Clone, Debug, Default)]
struct GoldenCounts {
    at: SimTime,
    pods: [u32; WORDS.len()],
    /// Number of lines of a busy second, by kind.
    kinds: BTreeMap<&'static str, u32>,
    last_failed: String,
}

enum GoldenLine {
    Pods(GoldenCounts),
    Other { at: SimTime, kind: &'static str, object: String, details: String },
}

pub struct GoldenLog {
    text: String,
    second: Vec<GoldenLine>,
    now: SimTime,
    /// Job and index of each pod.
    places: Vec<Option<(JobId, u32)>>,
}

impl Default for GoldenLog {
    fn default() -> GoldenLog {
        GoldenLog::new()
    }
}

impl GoldenLog {
    pub fn new() -> GoldenLog {
        GoldenLog { text: LEGEND.to_owned(), second: Vec::new(), now: SimTime::ZERO, places: Vec::new() }
    }

    /// Returns the log, with the digest as its last line.
    pub fn finish(mut self, outcome: &RunOutcome) -> String {
        self.report();
        let digest = format!("{:016x}", outcome.digest);
        let details = format!("{} records", outcome.records);
        self.line(outcome.end, "digest", &digest, &details);
        self.text
    }

    fn line(&mut self, at: SimTime, what: &str, object: &str, details: &str) {
        let mut line = format!("{:>12}  {what:<24}  {object:<28}  {details}", at.to_string());
        line.truncate(line.trim_end().len());
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// Writes the lines of the second that has ended.
    fn report(&mut self) {
        let lines = std::mem::take(&mut self.second);
        let mut often: BTreeMap<&str, u32> = BTreeMap::new();
        if lines.len() > BUSY {
            for line in &lines {
                if let GoldenLine::Other { kind, .. } = line {
                    *often.entry(kind).or_default() += 1;
                }
            }
        }
        let mut counts = GoldenCounts::default();
        for line in lines {
            match line {
                GoldenLine::Pods(more) => counts.add(more),
                GoldenLine::Other { at, kind, .. } if often.get(kind).is_some_and(|n| *n > OFTEN) => {
                    counts.at = at;
                    *counts.kinds.entry(kind).or_default() += 1;
                }
                GoldenLine::Other { at, kind, object, details } => {
                    std::mem::take(&mut counts).write(&mut self.text);
                    self.line(at, kind, &object, &details);
                }
            }
        }
        counts.write(&mut self.text);
    }

    /// Advances to the second of a record.
    fn turn_to(&mut self, at: SimTime) {
        if at.0 / NANOS_PER_SECOND != self.now.0 / NANOS_PER_SECOND {
            self.report();
        }
        self.now = at;
    }

    fn place(&self, pod: PodId, names: &RecordNames) -> String {
        match self.places.get(pod.ix()) {
            Some(Some((job, index))) => names.pod_base_name(*job, *index),
            _ => String::new(),
        }
    }

    fn count(&mut self, at: SimTime, word: usize, failed: Option<String>) {
        if !matches!(self.second.last(), Some(GoldenLine::Pods(_))) {
            self.second.push(GoldenLine::Pods(GoldenCounts::default()));
        }
        if let Some(GoldenLine::Pods(counts)) = self.second.last_mut() {
            counts.at = at;
            counts.pods[word] += 1;
            if let Some(pod) = failed {
                counts.last_failed = pod;
            }
        }
    }

    fn object(&self, about: TicketSubject, names: &RecordNames) -> String {
        match about {
            TicketSubject::JobSet(id) => names.jobset(id).to_owned(),
            TicketSubject::Job(id) => names.job(id).to_owned(),
            TicketSubject::Pod(id) => self.place(id, names),
            TicketSubject::Node(id) => names.node(id).to_owned(),
            TicketSubject::Nothing => String::new(),
        }
    }
}

impl GoldenCounts {
    fn add(&mut self, more: GoldenCounts) {
        self.at = more.at;
        for (n, more) in self.pods.iter_mut().zip(more.pods) {
            *n += more;
        }
        if !more.last_failed.is_empty() {
            self.last_failed = more.last_failed;
        }
    }

    fn write(self, text: &mut String) {
        let pods = WORDS.into_iter().zip(self.pods);
        let words: String =
            pods.chain(self.kinds).filter(|(_, n)| *n > 0).map(|(word, n)| format!(" +{n} {word}")).collect();
        if words.is_empty() {
            return;
        }
        let _ = write!(text, "{:>12} {words}", self.at.to_string());
        let (exited, failed) = (self.pods[EXITED], self.pods[FAILED]);
        if exited.max(failed) == 1 {
            let _ = write!(text, " ({})", self.last_failed);
        }
        text.push('\n');
    }
}

/// Returns the index in `WORDS` that counts a change of a pod, or `None` for records that have their own line.
fn word(body: &Body) -> Option<usize> {
    use Body::*;
    Some(match body {
        PodCreated { .. } => 0,
        PodCreateRejected { .. } => 1,
        PodUnschedulable { .. } => 2,
        PodBound { .. } => 3,
        PodRunning { .. } => 4,
        PodReady { .. } => 5,
        PodNotReady { .. } => 6,
        ContainerExited { .. } => EXITED,
        ContainersRestarting { .. } => 8,
        AttemptWritten { .. } => 9,
        BarrierLifted { .. } => 10,
        PodFinished { succeeded, .. } => FAILED + usize::from(*succeeded),
        PodDeleting { .. } => 13,
        PodGone { .. } => 14,
        EvictionRefused { .. }
        | JobSetCreated { .. }
        | JobSetRefused { .. }
        | RestartCounted { .. }
        | JobRestartCounted { .. }
        | PreviousAttempt { .. }
        | CurrentAttempt { .. }
        | JobSetCondition { .. }
        | WorkloadCondition { .. }
        | PodGroupCondition { .. }
        | SliceForming { .. }
        | SliceFormed { .. }
        | WorkloadQuota { .. }
        | WorkloadPreempted { .. }
        | ExistingCondition { .. }
        | ExistingQuota { .. }
        | ExistingPreempted { .. }
        | PreemptedByExisting { .. }
        | WorkloadQueue { .. }
        | AllReady { .. }
        | TrainingStarted { .. }
        | TrainingSlices { .. }
        | TrainingInterrupted { .. }
        | TrainingDone { .. }
        | TrainingStepTime { .. }
        | ReplicatedJobsStatus { .. }
        | JobSetDeleted { .. }
        | JobCreated { .. }
        | JobCondition { .. }
        | JobDeleting { .. }
        | JobGone { .. }
        | NodeState { .. }
        | NodeTaint { .. }
        | NodeGone { .. }
        | NodeCreated { .. }
        | Fault { .. }
        | Answered { .. }
        | KubeEvent { .. }
        | End { .. } => return None,
    })
}

/// Returns the details column of a line.
fn details(body: &Body, names: &RecordNames) -> String {
    use Body::*;
    match *body {
        RestartCounted { restarts, counted, failed_job, .. } => {
            let job = names.job(failed_job);
            format!("restarts={restarts} countTowardsMax={counted} failedJob={job}")
        }
        PreviousAttempt { attempt, .. } | CurrentAttempt { attempt, .. } => attempt.to_string(),
        JobSetCondition { kind, status, reason, message, .. } => {
            condition(kind.as_str(), status, reason, message, names)
        }
        WorkloadCondition { kind, status, reason, message, .. } => {
            condition(kind.as_str(), status, reason, message, names)
        }
        ExistingCondition { workload, kind, status, reason, message } => {
            let kind = format!("{} {}", names.text(workload), kind.as_str());
            condition(&kind, status, reason, message, names)
        }
        PodGroupCondition { group, scheduled, reason, message } => {
            let kind = format!("{} PodGroupScheduled", names.text(group));
            condition(&kind, scheduled, reason, message, names)
        }
        JobCondition { kind, status, reason, message, .. } => condition(kind.as_str(), status, reason, message, names),
        AllReady { ready, .. } => ready.to_string(),
        TrainingStarted { from, .. } => format!("from {from}"),
        TrainingSlices { slices, of, .. } => format!("{slices} of {of}"),
        TrainingInterrupted { reached, kept, .. } => format!("at {reached}, saved {kept}"),
        TrainingDone { work, .. } => work.to_string(),
        TrainingStepTime { step, exposed, .. } => format!("{step}, communication {exposed}"),
        JobCreated { attempt, .. } => format!("restart-attempt={attempt}"),
        NodeState { ready, .. } => format!("Ready={}", ready.as_str()),
        NodeTaint { key, effect, added, .. } => taint(names.text(key), effect, added),
        Fault { index, .. } => format!("fault {index}"),
        Answered { index, answer } => {
            let text = Some(names.text(answer)).filter(|t| !t.is_empty());
            format!("fault {index}: {}", text.unwrap_or("accepted"))
        }
        KubeEvent { warning, reason, message, .. } => {
            let kind = if warning { "Warning" } else { "Normal" };
            format!("{kind} {}: {}", names.text(reason), names.text(message))
        }
        End { reason } => reason.as_str().to_owned(),
        JobSetRefused { answer, .. } | EvictionRefused { answer, .. } => names.text(answer).to_owned(),
        JobSetCreated { .. }
        | JobRestartCounted { .. }
        | ReplicatedJobsStatus { .. }
        | JobSetDeleted { .. }
        | JobDeleting { .. }
        | JobGone { .. }
        | NodeGone { .. }
        | NodeCreated { .. }
        | WorkloadQuota { .. }
        | WorkloadPreempted { .. }
        | ExistingQuota { .. }
        | ExistingPreempted { .. }
        | PreemptedByExisting { .. }
        | WorkloadQueue { .. }
        | SliceForming { .. }
        | SliceFormed { .. } => members(body, names),
        PodCreated { .. }
        | PodCreateRejected { .. }
        | PodUnschedulable { .. }
        | PodBound { .. }
        | PodRunning { .. }
        | PodReady { .. }
        | PodNotReady { .. }
        | ContainerExited { .. }
        | ContainersRestarting { .. }
        | AttemptWritten { .. }
        | BarrierLifted { .. }
        | PodFinished { .. }
        | PodDeleting { .. }
        | PodGone { .. } => String::new(),
    }
}

fn taint(key: &str, effect: u8, added: bool) -> String {
    let effect = TAINT_EFFECTS[usize::from(effect).min(TAINT_EFFECTS.len() - 1)];
    let sign = if added { '+' } else { '-' };
    format!("{sign}{key}:{effect}")
}

/// Returns the details of kinds without a specific format: `key=value` for each field.
fn members(body: &Body, names: &RecordNames) -> String {
    let mut text = String::new();
    body.fields(&mut |role, value| {
        let FieldRole::Member(key) = role else { return };
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{key}=");
        let _ = match value {
            FieldValue::JobSet(id) => write!(text, "{}", names.jobset(id)),
            FieldValue::Job(id) => write!(text, "{}", names.job(id)),
            FieldValue::Node(id) => write!(text, "{}", names.node(id)),
            FieldValue::Text(id) => write!(text, "{}", names.text(id)),
            FieldValue::Number(n) => write!(text, "{n}"),
            FieldValue::Nanoseconds(ns) => write!(text, "{ns}"),
            FieldValue::Signed(n) => write!(text, "{n}"),
            FieldValue::Absent => write!(text, "none"),
            FieldValue::Flag(flag) => write!(text, "{flag}"),
            FieldValue::Word(_, word) => write!(text, "{word}"),
            // Pod names are omitted because of their random suffixes.
            FieldValue::Pod(_) => Ok(()),
        };
    });
    text
}

fn condition(kind: &str, status: bool, reason: TextId, message: TextId, names: &RecordNames) -> String {
    let status = if status { "True" } else { "False" };
    let (reason, message) = (names.text(reason), names.text(message));
    format!("{kind}={status} {reason}: {message}")
}

impl RecordSink for GoldenLog {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        let (at, body) = (record.at, &record.body);
        self.turn_to(at);
        if let Body::PodCreated { pod, job, index, .. } = *body {
            *row_or_default(&mut self.places, pod.ix()) = Some((job, index));
        }
        let about = body.head().subject;
        match word(body) {
            Some(word) => {
                let failed = [EXITED, FAILED].contains(&word);
                self.count(at, word, failed.then(|| self.object(about, names)));
            }
            None => self.second.push(GoldenLine::Other {
                at,
                kind: body.kind(),
                object: self.object(about, names),
                details: details(body, names),
            }),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/inside/testkit/golden.rs"]
mod tests;
