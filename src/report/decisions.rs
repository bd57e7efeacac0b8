//! `run --trace decisions`: what each controller saw, tried and did, between the records that led there and came of it.
//!
//! A line with `#n` is record n of `events.ndjson`; a block without a number is a decision. Must never be part of the
//! records: it watches.

use super::decision_layout::{bracketed, entry, push};
use super::decision_text::Block;
use super::words;
use crate::base::*;
use crate::record::decision::{Decided, Decision, JobSync};
use crate::record::*;
use std::fmt::Write;

/// Like lines one after the other that are written out; the rest is counted.
const BURST: usize = 4;

const LEGEND: &str = "\
#n is record n of events.ndjson. Dn is a decision: what a controller saw, tried and did, and the [rule] behind it
(docs/decision-log.md). At the right is what led there: a record, or the decision that is carried out.

";

/// Collects the log as text and as one JSON object per decision.
pub struct DecisionLog {
    pub(super) names: Names,
    pub(super) faults: Vec<String>,
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
    bursts: Vec<Burst>,
    after_block: bool,
    /// Decisions so far, the last one of each JobSet with the Jobs it creates or deletes, and the last one of each Job.
    decisions: u32,
    passes: Vec<(u32, Vec<String>)>,
    syncs: Vec<u32>,
    /// For each record the newest one on its chain of causes that is in the text.
    shown: Vec<u32>,
}

/// Like lines of one kind since something else was told.
struct Burst {
    kind: &'static str,
    lines: usize,
    left_out: u64,
    last: Time,
}

/// Kinds that come by the hundred; the others end a burst.
const BULK: [&str; 9] = [
    "JobCreated",
    "JobDeleting",
    "JobGone",
    "JobCondition",
    "ContainerExited",
    "ContainersRestarting",
    "PodFinished",
    COUNTERS,
    SYNC,
];
const COUNTERS: &str = "counters of Jobs";
const SYNC: &str = "Job syncs";

impl DecisionLog {
    pub fn new(names: &Names, scenario: &crate::spec::Scenario) -> DecisionLog {
        let faults = scenario.faults.iter();
        DecisionLog {
            names: names.clone(),
            faults: faults.map(|f| words::fault(&f.action)).collect(),
            text: LEGEND.to_owned(),
            ndjson: Vec::new(),
            places: Vec::new(),
            deleting: Vec::new(),
            pod_ended: Vec::new(),
            job_failed: vec![None; names.jobs.len()],
            told: vec![None; names.jobs.len()],
            bursts: Vec::new(),
            after_block: false,
            decisions: 0,
            passes: vec![(0, Vec::new()); names.jobsets.len()],
            syncs: vec![0; names.jobs.len()],
            shown: Vec::new(),
        }
    }

    /// The log with a head, and how it ended.
    pub fn finish(mut self, outcome: &RunOutcome) -> (String, Vec<u8>) {
        self.flush();
        self.text.push('\n');
        for (name, js) in self.names.jobsets.iter().zip(&outcome.jobsets) {
            let state = match js.terminal_state {
                "" if js.deleted => "been deleted",
                "" => "neither completed nor failed",
                "Failed" => "failed",
                _ => "completed",
            };
            let _ = writeln!(
                self.text,
                "At the end, {}: JobSet {} has {state}; restarts {}, restartsCountTowardsMax {}",
                outcome.end, name.name, js.restarts, js.restarts_count_towards_max
            );
        }
        (self.text, self.ndjson)
    }

    fn flush(&mut self) {
        for burst in std::mem::take(&mut self.bursts) {
            if burst.left_out > 0 {
                let text = format!("... and {} more: {}", burst.left_out, burst.kind);
                push(&mut self.text, &burst.last.to_string(), "", &text, "");
            }
        }
    }

    /// Whether a line of this kind is written, or only counted because many like it were.
    fn admits(&mut self, at: Time, kind: &'static str) -> bool {
        if !BULK.contains(&kind) {
            self.flush();
            return true;
        }
        let known = self.bursts.iter().position(|b| b.kind == kind);
        let place = known.unwrap_or_else(|| {
            self.bursts.push(Burst {
                kind,
                lines: 0,
                left_out: 0,
                last: at,
            });
            self.bursts.len() - 1
        });
        let burst = &mut self.bursts[place];
        burst.last = at;
        let admitted = burst.lines < BURST;
        burst.lines += usize::from(admitted);
        burst.left_out += u64::from(!admitted);
        admitted
    }

    fn gap(&mut self) {
        if std::mem::take(&mut self.after_block) {
            self.text.push('\n');
        }
    }

    /// One record, unless too many like it have just been written. Returns whether it is in the text.
    fn line(&mut self, record: &Record, kind: &'static str, text: &str) -> bool {
        let admitted = self.admits(record.at, kind);
        if admitted {
            self.gap();
            let seq = format!("#{}", record.seq);
            let cause = match self.decided_by(&record.body) {
                Some(id) => format!("<- D{id}"),
                None => self.cause(record.cause),
            };
            push(&mut self.text, &record.at.to_string(), &seq, text, &cause);
        }
        admitted
    }

    fn block(&mut self, decision: &Decision, block: &Block) {
        let at = decision.at.to_string();
        let id = format!("D{}", decision.id);
        let cause = match evidence(decision) {
            Some(seq) => format!("<- #{seq}"),
            None => self.cause(decision.cause.unwrap_or(NO_CAUSE)),
        };
        if let Some((text, rule)) = &block.short {
            let sync = matches!(decision.what, Decided::Job(_));
            if self.admits(decision.at, if sync { SYNC } else { COUNTERS }) {
                self.gap();
                let rule = bracketed(rule);
                let right = format!("{rule} {cause}");
                push(&mut self.text, &at, &id, text, right.trim());
            }
            return;
        }
        self.flush();
        self.text.push('\n');
        push(&mut self.text, &at, &id, &block.title, &cause);
        for (label, text, rule) in &block.lines {
            entry(&mut self.text, label, text, rule);
        }
        self.after_block = true;
    }

    /// The decision that a record carries out: of a JobSet's one pass at a time, of a Job's one sync at a time.
    fn decided_by(&self, body: &Body) -> Option<u32> {
        use Body::*;
        let id = match *body {
            RestartCounted { jobset, .. }
            | JobRestartCounted { jobset, .. }
            | PreviousAttempt { jobset, .. }
            | CurrentAttempt { jobset, .. }
            | JobSetCondition { jobset, .. } => self.passes.get(jobset.ix())?.0,
            JobCreated { job, .. } | JobDeleting { job } => {
                let name = self.names.jobs.get(job.ix())?;
                let (id, jobs) = self.passes.get(name.jobset.ix())?;
                jobs.contains(&name.name).then_some(*id)?
            }
            JobCondition { job, .. } => *self.syncs.get(job.ix())?,
            _ => 0,
        };
        (id > 0).then_some(id)
    }

    /// Gives the decision its number and remembers it as the last one of its object.
    fn number(&mut self, decision: &mut Decision) {
        self.decisions += 1;
        decision.id = self.decisions;
        match &decision.what {
            Decided::JobSet(pass) => {
                if let Some(at) = self.jobset(&pass.object) {
                    let jobs = pass.does.create.iter().chain(&pass.does.delete);
                    self.passes[at] = (decision.id, jobs.cloned().collect());
                }
            }
            Decided::Job(sync) => {
                let acts = sync.fails.is_some() || sync.completes.is_some();
                if let Some(at) = self.job(&sync.object).filter(|_| acts) {
                    self.syncs[at] = decision.id;
                }
            }
            Decided::JobSetPassLost(_) => {}
        }
    }

    /// Position of a JobSet given as `namespace/name`.
    fn jobset(&self, object: &str) -> Option<usize> {
        let is = |js: &JobSetName| {
            let parts = object.split_once('/');
            parts == Some((js.namespace.as_str(), js.name.as_str()))
        };
        self.names.jobsets.iter().position(is)
    }

    /// Position of a Job given as `namespace/name`.
    fn job(&self, object: &str) -> Option<usize> {
        let (namespace, name) = object.split_once('/')?;
        let is = |j: &JobName| {
            let jobset = self.names.jobsets.get(j.jobset.ix());
            j.name == name && jobset.is_some_and(|js| js.namespace == namespace)
        };
        self.names.jobs.iter().position(is)
    }

    /// `<- #n` with the newest record on the chain of causes that is in the text.
    fn cause(&self, seq: u32) -> String {
        match self.shown.get(seq as usize) {
            Some(&shown) if shown != NO_CAUSE => format!("<- #{shown}"),
            _ => String::new(),
        }
    }

    pub(super) fn place(&self, pod: PodId) -> String {
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

    pub(super) fn is_deleting(&self, pod: PodId) -> bool {
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
                let namespace = pass.object.split('/').next().unwrap_or("").to_owned();
                let jobs = pass.failure_policy.iter_mut();
                for failed in jobs.flat_map(|f| &mut f.failed_jobs) {
                    let job = self.job(&format!("{namespace}/{}", failed.name));
                    failed.record = job.and_then(|at| self.job_failed[at]);
                }
            }
            Decided::Job(sync) => {
                for failed in &mut sync.failed_pods {
                    failed.record = self.pod_ended.get(failed.pod.ix()).copied().flatten();
                }
            }
            Decided::JobSetPassLost(lost) => {
                lost.decision = self.jobset(&lost.object).map_or(0, |at| self.passes[at].0);
            }
        }
        decision
    }

    /// What a Job only waits with is told once.
    fn is_news(&mut self, decision: &Decision) -> bool {
        let Decided::Job(sync) = &decision.what else {
            return true;
        };
        let Some(at) = self.job(&sync.object) else {
            return true;
        };
        let acts = sync.fails.is_some()
            || sync.completes.is_some()
            || sync.delete_pods + sync.create_pods > 0;
        let same = |old: JobSync| {
            old.container_restarts == sync.container_restarts && old.failed_pods == sync.failed_pods
        };
        let old = self.told[at].replace((**sync).clone());
        acts || !old.is_some_and(same)
    }
}

/// The newest record that the decision is about, where it names some.
fn evidence(decision: &Decision) -> Option<u32> {
    match &decision.what {
        Decided::JobSet(pass) => {
            let failed = pass.failure_policy.iter().flat_map(|f| &f.failed_jobs);
            failed.filter_map(|job| job.record).max()
        }
        Decided::Job(sync) => sync.failed_pods.iter().filter_map(|pod| pod.record).max(),
        Decided::JobSetPassLost(_) => None,
    }
}

impl Sink for DecisionLog {
    fn record(&mut self, record: &Record, texts: &Texts) {
        use Body::*;
        match record.body {
            PodCreated {
                pod, job, index, ..
            } => self.learn(pod, job, index),
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
        let written = match self.words(&record.body, texts) {
            Some((kind, text)) => self.line(record, kind, &text),
            None => false,
        };
        let before = self.shown.get(record.cause as usize).copied();
        let shown = if written {
            record.seq
        } else {
            before.unwrap_or(NO_CAUSE)
        };
        self.shown.push(shown);
    }

    fn wants_decisions(&self) -> bool {
        true
    }

    fn decision(&mut self, decision: Decision) {
        if !self.is_news(&decision) {
            return;
        }
        let mut decision = self.with_records(decision);
        self.number(&mut decision);
        self.block(&decision, &Block::of(&decision));
        if serde_json::to_writer(&mut self.ndjson, &decision).is_ok() {
            self.ndjson.push(b'\n');
        }
    }
}
