//! The log of `run --trace decisions`: the state each controller saw, the rules it evaluated and its actions,
//! between the records that caused the decision and those that resulted from it.
//!
//! A line with `#n` is record n of `events.ndjson`; a block without a record number is a decision. The log only
//! observes the run: it adds no records.

pub(crate) mod block;
pub(crate) mod failure;
pub(crate) mod in_place;
pub(crate) mod job;
pub(crate) mod layout;
pub(crate) mod records;
pub(crate) mod text;

use block::Block;
use layout::{bracketed, entry, push};

use sim_analysis::format;
use sim_base::*;
use sim_engine::record::*;
use sim_policy::decision::{Decided, Decision, JobSync};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Number of consecutive similar lines that are written; further lines are only counted.
const BURST: usize = 4;

const LEGEND: &str = "\
#n is record n of events.ndjson. Dn is a decision: what a controller saw, tried and did, and the [rule] behind it
(docs/decision-log.md). At the right is what led there: a record, or the decision that is carried out.

";

/// Collects the decision log as text and as one JSON object per decision.
pub struct DecisionLog {
    pub(super) faults: Vec<String>,
    pub text: String,
    pub ndjson: Vec<u8>,
    /// The most recent JobSet for each `namespace/name`.
    jobsets: BTreeMap<String, JobSetId>,
    jobs: BTreeMap<String, JobId>,
    /// The most recent state of each pod, indexed by pod id.
    pods: Vec<Pod>,
    of_jobs: Vec<OfJob>,
    bursts: Vec<Burst>,
    after_block: bool,
    decisions: u32,
    /// For each JobSet, the last decision and the Jobs that it creates or deletes.
    passes: Vec<(u32, Vec<String>)>,
    /// For each record, the most recent record on its chain of causes that is in the text.
    shown: Vec<u32>,
}

/// State of a pod known to the log.
#[derive(Default)]
struct Pod {
    /// Job and completion index; `None` until the pod is created.
    place: Option<(JobId, u32)>,
    /// Whether the pod has a deletionTimestamp. How such a pod ends is not logged.
    deleting: bool,
    /// `seq` of the record of its last end.
    ended: Option<u32>,
}

/// State of a Job known to the log.
#[derive(Default)]
struct OfJob {
    /// `seq` of the record of its Failed condition.
    failed: Option<u32>,
    /// The last logged sync while its containers restart in place.
    told: Option<JobSync>,
    /// The last decision that failed or completed the Job.
    sync: u32,
}

/// A run of similar lines of one kind.
struct Burst {
    kind: &'static str,
    lines: usize,
    left_out: u64,
    last: Time,
}

/// Kinds that occur in large numbers. Any other kind ends a burst.
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
    pub fn new(scenario: &sim_api::spec::Scenario) -> DecisionLog {
        let faults = scenario.faults.iter();
        DecisionLog {
            faults: faults.map(format::scripted).collect(),
            text: LEGEND.to_owned(),
            ndjson: Vec::new(),
            jobsets: BTreeMap::new(),
            jobs: BTreeMap::new(),
            pods: Vec::new(),
            of_jobs: Vec::new(),
            bursts: Vec::new(),
            after_block: false,
            decisions: 0,
            passes: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Appends the final state of each JobSet and returns the text and the JSON lines.
    pub fn finish(mut self, outcome: &RunOutcome, names: &Names) -> (String, Vec<u8>) {
        self.flush();
        self.text.push('\n');
        for (name, js) in names.jobsets.iter().zip(&outcome.jobsets) {
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

    /// Returns whether a line of this kind is written. Lines beyond the burst limit are only counted.
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

    /// Writes a record unless the burst limit is reached. Returns whether it was written.
    fn line(&mut self, record: &Record, text: &str, names: &Names) -> bool {
        let admitted = self.admits(record.at, record.body.kind());
        if admitted {
            self.gap();
            let seq = format!("#{}", record.seq);
            let cause = match self.decided_by(&record.body, names) {
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

    /// Returns the decision that a record carries out: the last pass of the JobSet or the last sync of the Job.
    fn decided_by(&self, body: &Body, names: &Names) -> Option<u32> {
        use Body::*;
        let id = match *body {
            RestartCounted { jobset, .. }
            | JobRestartCounted { jobset, .. }
            | PreviousAttempt { jobset, .. }
            | CurrentAttempt { jobset, .. }
            | JobSetCondition { jobset, .. } => self.passes.get(jobset.ix())?.0,
            JobCreated { job, .. } | JobDeleting { job } => {
                let name = names.jobs.get(job.ix())?;
                let (id, jobs) = self.passes.get(name.jobset.ix())?;
                jobs.contains(&name.name).then_some(*id)?
            }
            JobCondition { job, .. } => self.of_jobs.get(job.ix())?.sync,
            _ => 0,
        };
        (id > 0).then_some(id)
    }

    /// Assigns a number to the decision and remembers it as the last one of its object.
    fn number(&mut self, decision: &mut Decision) {
        self.decisions += 1;
        decision.id = self.decisions;
        match &decision.what {
            Decided::JobSet(pass) => {
                if let Some(id) = self.jobsets.get(&pass.object) {
                    let jobs = pass.does.create.iter().chain(&pass.does.delete);
                    *row(&mut self.passes, id.ix()) = (decision.id, jobs.cloned().collect());
                }
            }
            Decided::Job(sync) => {
                let acts = sync.fails.is_some() || sync.completes.is_some();
                if let Some(id) = self.jobs.get(&sync.object).filter(|_| acts) {
                    row(&mut self.of_jobs, id.ix()).sync = decision.id;
                }
            }
            Decided::JobSetPassLost(_) => {}
        }
    }

    /// Returns `<- #n`, where n is the most recent record on the chain of causes that is in the text.
    fn cause(&self, seq: u32) -> String {
        match self.shown.get(seq as usize) {
            Some(&shown) if shown != NO_CAUSE => format!("<- #{shown}"),
            _ => String::new(),
        }
    }

    pub(super) fn place(&self, pod: PodId, names: &Names) -> String {
        match self.pods.get(pod.ix()).and_then(|p| p.place) {
            Some((job, index)) => names.pod_place(job, index),
            None => "?".to_owned(),
        }
    }

    pub(super) fn is_deleting(&self, pod: PodId) -> bool {
        self.pods.get(pod.ix()).is_some_and(|p| p.deleting)
    }

    fn ended(&mut self, pod: PodId, seq: u32) {
        if let Some(pod) = self.pods.get_mut(pod.ix()) {
            pod.ended = Some(seq);
        }
    }

    /// Updates the known state of the object that the record describes.
    fn learn(&mut self, record: &Record, names: &Names) {
        use Body::*;
        match record.body {
            JobSetCreated { jobset } => {
                let object = format!("{}/{}", names.namespace(jobset), names.jobset(jobset));
                self.jobsets.insert(object, jobset);
            }
            JobCreated { job, .. } => {
                let object = format!("{}/{}", names.namespace_of(job), names.job(job));
                self.jobs.insert(object, job);
            }
            PodCreated {
                pod, job, index, ..
            } => {
                *row(&mut self.pods, pod.ix()) = Pod {
                    place: Some((job, index)),
                    ..Pod::default()
                };
            }
            PodFinished { pod, .. } => self.ended(pod, record.seq),
            PodDeleting { pod, .. } => {
                self.ended(pod, record.seq);
                if let Some(pod) = self.pods.get_mut(pod.ix()) {
                    pod.deleting = true;
                }
            }
            JobCondition {
                job,
                kind: JobConditionType::Failed,
                ..
            } => row(&mut self.of_jobs, job.ix()).failed = Some(record.seq),
            _ => {}
        }
    }

    /// Fills in the numbers of the records that the decision refers to.
    fn with_records(&self, mut decision: Decision) -> Decision {
        match &mut decision.what {
            Decided::JobSet(pass) => {
                let namespace = pass.object.split('/').next().unwrap_or("").to_owned();
                let jobs = pass.failure_policy.iter_mut();
                for failed in jobs.flat_map(|f| &mut f.failed_jobs) {
                    let job = self.jobs.get(&format!("{namespace}/{}", failed.name));
                    failed.record = job.and_then(|id| self.of_jobs.get(id.ix())?.failed);
                }
            }
            Decided::Job(sync) => {
                for failed in &mut sync.failed_pods {
                    failed.record = self.pods.get(failed.pod.ix()).and_then(|p| p.ended);
                }
            }
            Decided::JobSetPassLost(lost) => {
                let id = self.jobsets.get(&lost.object);
                let pass = id.and_then(|id| self.passes.get(id.ix()));
                lost.decision = pass.map_or(0, |pass| pass.0);
            }
        }
        decision
    }

    /// Returns whether the decision is logged. Syncs that only wait are logged once per state.
    fn is_news(&mut self, decision: &Decision) -> bool {
        let Decided::Job(sync) = &decision.what else {
            return true;
        };
        let Some(id) = self.jobs.get(&sync.object) else {
            return true;
        };
        let acts = sync.fails.is_some()
            || sync.completes.is_some()
            || sync.delete_pods + sync.create_pods > 0;
        let same = |old: JobSync| {
            old.container_restarts == sync.container_restarts && old.failed_pods == sync.failed_pods
        };
        let told = &mut row(&mut self.of_jobs, id.ix()).told;
        let old = told.replace((**sync).clone());
        acts || !old.is_some_and(same)
    }
}

/// Returns the most recent record that the decision refers to, if any.
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
    fn record(&mut self, record: &Record, names: &Names) {
        self.learn(record, names);
        let written = match self.words(&record.body, names) {
            Some(text) => self.line(record, &text, names),
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
        self.block(&decision, &text::block(&decision));
        if serde_json::to_writer(&mut self.ndjson, &decision).is_ok() {
            self.ndjson.push(b'\n');
        }
    }
}
