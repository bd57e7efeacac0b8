//! `run --trace decisions`: what each controller saw, tried and did, between the records that led there and came of it.
//!
//! A line with `#n` is record n of `events.ndjson`; a block without a number is a decision. Must never be part of the
//! records: it watches.

use super::decision_text::Block;
use super::words;
use crate::base::*;
use crate::record::decision::{Decided, Decision, JobSync};
use crate::record::*;
use std::fmt::Write;

/// Columns of a line; what is on the right ends here.
const WIDTH: usize = 108;
/// Like lines one after the other that are written out; the rest is counted.
const BURST: usize = 4;

/// Collects the log as text and as one JSON object per decision.
pub struct DecisionLog {
    names: Names,
    faults: Vec<String>,
    pub text: String,
    pub ndjson: Vec<u8>,
    /// Job and index of each pod.
    places: Vec<(JobId, u32)>,
    /// Which pods have a deletionTimestamp: how they end is no news.
    deleting: Vec<bool>,
    /// `seq` of the last end of each pod and of the Failed condition of each Job.
    pod_ended: Vec<Option<u32>>,
    job_failed: Vec<Option<u32>>,
    /// The last thing told of a Job whose containers restart in place.
    told: Vec<Option<JobSync>>,
    burst: Burst,
    after_block: bool,
}

/// Lines of one kind without another one between them.
#[derive(Default)]
struct Burst {
    kind: &'static str,
    lines: usize,
    left_out: u64,
    last: Time,
}

impl DecisionLog {
    pub fn new(names: &Names, scenario: &crate::spec::Scenario) -> DecisionLog {
        let faults = scenario.faults.iter();
        DecisionLog {
            names: names.clone(),
            faults: faults.map(|f| words::fault(&f.action)).collect(),
            text: String::new(),
            ndjson: Vec::new(),
            places: Vec::new(),
            deleting: Vec::new(),
            pod_ended: Vec::new(),
            job_failed: vec![None; names.jobs.len()],
            told: vec![None; names.jobs.len()],
            burst: Burst::default(),
            after_block: false,
        }
    }

    /// The log with a head, and how it ended.
    pub fn finish(mut self, outcome: &RunOutcome) -> (String, Vec<u8>) {
        self.flush();
        self.text.push('\n');
        for (name, js) in self.names.jobsets.iter().zip(&outcome.jobsets) {
            let state = match js.terminal_state {
                "" if js.deleted => "deleted",
                "" => "neither Completed nor Failed",
                state => state,
            };
            let _ = writeln!(
                self.text,
                "At the end, {}: JobSet {} is {state}; restarts {}, restartsCountTowardsMax {}",
                outcome.end, name.name, js.restarts, js.restarts_count_towards_max
            );
        }
        (self.text, self.ndjson)
    }

    fn flush(&mut self) {
        let burst = std::mem::take(&mut self.burst);
        if burst.left_out > 0 {
            let more = words::count(burst.left_out, "more line");
            let text = format!("... {more} like this");
            push(&mut self.text, &burst.last.to_string(), "", &text, "");
        }
    }

    /// One record, unless too many like it have just been written.
    fn line(&mut self, record: &Record, kind: &'static str, text: &str) {
        if self.burst.kind != kind {
            self.flush();
            self.burst.kind = kind;
        }
        self.burst.last = record.at;
        if self.burst.lines >= BURST {
            self.burst.left_out += 1;
            return;
        }
        self.burst.lines += 1;
        if std::mem::take(&mut self.after_block) {
            self.text.push('\n');
        }
        let seq = format!("#{}", record.seq);
        let cause = cause((record.cause != NO_CAUSE).then_some(record.cause));
        push(&mut self.text, &record.at.to_string(), &seq, text, &cause);
    }

    fn block(&mut self, decision: &Decision, block: &Block) {
        self.flush();
        self.text.push('\n');
        let at = decision.at.to_string();
        let cause = cause(decision.cause);
        push(&mut self.text, &at, "", &block.title, &cause);
        for (label, text, rule) in &block.lines {
            entry(&mut self.text, label, text, rule);
        }
        self.after_block = true;
    }

    fn place(&self, pod: PodId) -> String {
        match self.places.get(pod.ix()) {
            Some(&(job, index)) => words::pod_place(&self.names, job, index),
            None => "?".to_owned(),
        }
    }

    fn learn(&mut self, pod: PodId, job: JobId, index: u32) {
        if self.places.len() <= pod.ix() {
            self.places.resize(pod.ix() + 1, (JobId::NONE, 0));
            self.deleting.resize(pod.ix() + 1, false);
            self.pod_ended.resize(pod.ix() + 1, None);
        }
        self.places[pod.ix()] = (job, index);
        self.deleting[pod.ix()] = false;
        self.pod_ended[pod.ix()] = None;
    }

    fn is_deleting(&self, pod: PodId) -> bool {
        self.deleting.get(pod.ix()).copied().unwrap_or(false)
    }

    fn ended(&mut self, pod: PodId, seq: u32) {
        if let Some(ended) = self.pod_ended.get_mut(pod.ix()) {
            *ended = Some(seq);
        }
    }

    /// Fills in which records the decision is about.
    fn with_records(&self, mut decision: Decision) -> Decision {
        match &mut decision.what {
            Decided::JobSet(pass) => {
                for failed in pass
                    .failure_policy
                    .iter_mut()
                    .flat_map(|f| &mut f.failed_jobs)
                {
                    let job = self.names.jobs.iter().position(|j| j.name == failed.name);
                    failed.record = job.and_then(|at| self.job_failed[at]);
                }
            }
            Decided::Job(sync) => {
                for failed in &mut sync.failed_pods {
                    failed.record = self.pod_ended.get(failed.pod.ix()).copied().flatten();
                }
            }
            Decided::JobSetPassLost(_) => {}
        }
        decision
    }

    /// Container restarts are told once for each number of them.
    fn is_news(&mut self, decision: &Decision) -> bool {
        let Decided::Job(sync) = &decision.what else {
            return true;
        };
        let name = sync.object.rsplit('/').next().unwrap_or("");
        let Some(at) = self.names.jobs.iter().position(|j| j.name == name) else {
            return true;
        };
        let acts = sync.fails.is_some()
            || sync.completes
            || sync.delete_pods + sync.create_pods > 0
            || !sync.failed_pods.is_empty();
        let old = self.told[at].replace((**sync).clone());
        acts || old.is_none_or(|old| old.container_restarts != sync.container_restarts)
    }
}

fn cause(seq: Option<u32>) -> String {
    seq.map_or(String::new(), |seq| format!("<- #{seq}"))
}

/// `at  #seq  text ... right`.
fn push(out: &mut String, at: &str, seq: &str, text: &str, right: &str) {
    let parts = words::wrap(text, WIDTH - 22 - 10);
    for (i, part) in parts.iter().enumerate() {
        let (at, seq, right) = if i == 0 {
            (at, seq, right)
        } else {
            ("", "", "")
        };
        aligned(out, &format!("{at:>12}  {seq:<6}  {part}"), right);
    }
}

/// `label  text ... [rule]`, indented below a title.
fn entry(out: &mut String, label: &str, text: &str, rule: &str) {
    let right = if rule.is_empty() {
        String::new()
    } else {
        format!("[{rule}]")
    };
    let indent = text.len() - text.trim_start().len();
    for (i, part) in words::wrap(text, WIDTH - 33 - 10 - indent)
        .iter()
        .enumerate()
    {
        let (label, right) = if i == 0 {
            (label, right.as_str())
        } else {
            ("", "")
        };
        let hang = indent + if i == 0 { 0 } else { 2 };
        aligned(
            out,
            &format!("{:22}{label:<11}{:hang$}{part}", "", ""),
            right,
        );
    }
}

fn aligned(out: &mut String, left: &str, right: &str) {
    if right.is_empty() {
        let _ = writeln!(out, "{}", left.trim_end());
    } else {
        let room = WIDTH.saturating_sub(right.len());
        let _ = writeln!(out, "{left:<room$}{right}");
    }
}

impl Sink for DecisionLog {
    fn record(&mut self, record: &Record, texts: &Texts) {
        use Body::*;
        match record.body {
            PodCreated {
                pod, job, index, ..
            } => return self.learn(pod, job, index),
            PodFinished { pod, .. } => self.ended(pod, record.seq),
            PodDeleting { pod, .. } => {
                self.ended(pod, record.seq);
                if let Some(deleting) = self.deleting.get_mut(pod.ix()) {
                    *deleting = true;
                }
            }
            JobCondition {
                job,
                kind: JobConditionType::Failed,
                ..
            } => {
                self.job_failed[job.ix()] = Some(record.seq);
            }
            _ => {}
        }
        if let Some((kind, text)) = self.words(&record.body, texts) {
            self.line(record, kind, &text);
        }
    }

    fn wants_decisions(&self) -> bool {
        true
    }

    fn decision(&mut self, decision: Decision) {
        if !self.is_news(&decision) {
            return;
        }
        let decision = self.with_records(decision);
        self.block(&decision, &Block::of(&decision));
        if serde_json::to_writer(&mut self.ndjson, &decision).is_ok() {
            self.ndjson.push(b'\n');
        }
    }
}

impl DecisionLog {
    /// The records a chain of causes goes through, each in a few words; the others are left to `events.ndjson`.
    fn words(&self, body: &Body, texts: &Texts) -> Option<(&'static str, String)> {
        use Body::*;
        let jobset = |id: JobSetId| format!("JobSet {}", self.names.jobset(id));
        let job = |id: JobId| format!("Job {}", self.names.job(id));
        let pod = |id: PodId| format!("pod {}", self.place(id));
        let node = |id: NodeId| format!("node {}", self.names.node(id));
        let line = match *body {
            JobSetCreated { jobset: id } => format!("{}: created", jobset(id)),
            JobSetDeleted { jobset: id } => format!("{}: deleted", jobset(id)),
            RestartCounted {
                jobset: id,
                restarts,
                counted,
                ..
            } => {
                format!(
                    "{}: restarts {restarts}, restartsCountTowardsMax {counted}",
                    jobset(id)
                )
            }
            JobRestartCounted {
                jobset: id,
                job,
                restarts,
            } => {
                format!(
                    "{}: jobRestarts of Job {} {restarts}",
                    jobset(id),
                    self.names.job(job)
                )
            }
            PreviousAttempt {
                jobset: id,
                attempt,
            } => {
                format!("{}: previousInPlaceRestartAttempt {attempt}", jobset(id))
            }
            CurrentAttempt {
                jobset: id,
                attempt,
            } => {
                format!("{}: currentInPlaceRestartAttempt {attempt}", jobset(id))
            }
            JobSetCondition {
                jobset: id,
                kind,
                status,
                reason,
                ..
            } => {
                let status = if status { "True" } else { "False" };
                let reason = texts.get(reason);
                format!(
                    "{}: condition {}={status} {reason}",
                    jobset(id),
                    kind.as_str()
                )
            }
            AllReady {
                jobset: id,
                ready: true,
            } => format!("{}: every pod is ready", jobset(id)),
            AllReady { jobset: id, .. } => format!("{}: no longer all ready", jobset(id)),
            JobCreated { job: id, attempt } => format!("{}: created, attempt {attempt}", job(id)),
            JobDeleting { job: id } => format!("{}: deletionTimestamp", job(id)),
            JobGone { job: id } => format!("{}: gone, its name is free", job(id)),
            JobCondition {
                job: id,
                kind,
                reason,
                ..
            } => {
                format!(
                    "{}: condition {}=True {}",
                    job(id),
                    kind.as_str(),
                    texts.get(reason)
                )
            }
            ContainerExited {
                pod: id, exit_code, ..
            } if !self.is_deleting(id) => {
                format!("{}: a container exits with code {exit_code}", pod(id))
            }
            ContainersRestarting {
                pod: id, restarts, ..
            } => {
                format!(
                    "{}: containers start again, restartCount {restarts}",
                    pod(id)
                )
            }
            PodFinished {
                pod: id,
                succeeded: false,
                exit_code,
                ..
            } if !self.is_deleting(id) => {
                format!("{}: phase Failed, exit code {exit_code}", pod(id))
            }
            PodFinished {
                pod: id,
                succeeded: true,
                ..
            } if !self.is_deleting(id) => {
                format!("{}: phase Succeeded", pod(id))
            }
            PodDeleting { pod: id, by, .. }
                if !matches!(by, Deleter::JobController | Deleter::GarbageCollector) =>
            {
                format!("{}: deletionTimestamp, by {}", pod(id), by.as_str())
            }
            NodeState { node: id, ready } => {
                format!(
                    "{}: Ready={}",
                    node(id),
                    super::event_fields::node_ready(ready)
                )
            }
            NodeGone { node: id } => format!("{}: gone", node(id)),
            Fault { index, .. } => {
                let text = self.faults.get(index as usize);
                format!("script: {}", text.map_or("", String::as_str))
            }
            KubeEvent {
                object: ObjectRef::JobSet(id),
                reason,
                message,
                warning: true,
            } if texts.get(reason).ends_with("CreationFailed") => {
                format!(
                    "{}: {}: {}",
                    jobset(id),
                    texts.get(reason),
                    texts.get(message)
                )
            }
            End { reason } => format!("end of the run: {}", reason.as_str()),
            _ => return None,
        };
        Some((super::events::describe(body).0, line))
    }
}
