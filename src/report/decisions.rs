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

use block::DecisionBlock;
use layout::{bracketed, entry, push};

use sim_analysis::format;
use sim_base::{JobId, JobSetId, PodId, SimTime, row_or_default};
use sim_engine::record::{Body, JobConditionType, NO_CAUSE, RecordNames, RecordSink, RunOutcome, SimulationRecord};
use sim_policy::decision::{JobSync, PolicyDecision, PolicyOutcome};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Number of consecutive similar lines that are written; further lines are only counted.
const BURST_LIMIT: usize = 4;

const LEGEND: &str = "\
#n is record n of events.ndjson. Dn is a decision: the state a controller saw, the [rule] it applied and its actions
(docs/decision-log.md). The right column names the cause: a record, or the decision that a record carries out.

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
    pods: Vec<DecisionPod>,
    job_states: Vec<DecisionJob>,
    bursts: Vec<DecisionBurst>,
    after_block: bool,
    decisions: u32,
    /// For each JobSet, the last decision and the Jobs that it creates or deletes.
    passes: Vec<(u32, Vec<String>)>,
    /// For each record, the most recent record on its chain of causes that is in the text.
    shown_cause: Vec<u32>,
}

/// State of a pod known to the log.
#[derive(Default)]
struct DecisionPod {
    /// Job and completion index; `None` until the pod is created.
    job_and_index: Option<(JobId, u32)>,
    /// Whether the pod has a deletionTimestamp. How such a pod ends is not logged.
    deleting: bool,
    /// `seq` of the record of its last end.
    ended: Option<u32>,
}

/// State of a Job known to the log.
#[derive(Default)]
struct DecisionJob {
    /// `seq` of the record of its Failed condition.
    failed: Option<u32>,
    /// The last logged sync while its containers restart in place.
    last_logged_sync: Option<JobSync>,
    /// The last decision that failed or completed the Job.
    last_decision: u32,
}

/// A run of similar lines of one kind.
struct DecisionBurst {
    kind: &'static str,
    lines: usize,
    left_out: u64,
    last: SimTime,
}

/// Kinds that occur in large numbers. Any other kind ends a burst.
const BULK: [&str; 9] = [
    "JobCreated", "JobDeleting", "JobGone", "JobCondition", "ContainerExited", "ContainersRestarting", "PodFinished",
    COUNTERS, SYNC,
];
const COUNTERS: &str = "counters of Jobs";
const SYNC: &str = "Job syncs";

/// Escapes control characters of names and messages, which a terminal would interpret.
fn escape_controls(text: String) -> String {
    let acts = |c: char| c.is_control() && c != '\n';
    if !text.contains(acts) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

impl DecisionLog {
    pub fn new(scenario: &sim_api::spec::ScenarioSpec) -> DecisionLog {
        let faults = scenario.faults.iter();
        DecisionLog {
            faults: faults.map(format::scripted).collect(),
            text: LEGEND.to_owned(),
            ndjson: Vec::new(),
            jobsets: BTreeMap::new(),
            jobs: BTreeMap::new(),
            pods: Vec::new(),
            job_states: Vec::new(),
            bursts: Vec::new(),
            after_block: false,
            decisions: 0,
            passes: Vec::new(),
            shown_cause: Vec::new(),
        }
    }

    /// Appends the final state of each JobSet and returns the text and the JSON lines.
    pub fn finish(mut self, outcome: &RunOutcome, names: &RecordNames) -> (String, Vec<u8>) {
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
        (escape_controls(self.text), self.ndjson)
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
    fn admit_line(&mut self, at: SimTime, kind: &'static str) -> bool {
        if !BULK.contains(&kind) {
            self.flush();
            return true;
        }
        let known = self.bursts.iter().position(|b| b.kind == kind);
        let place = known.unwrap_or_else(|| {
            self.bursts.push(DecisionBurst { kind, lines: 0, left_out: 0, last: at });
            self.bursts.len() - 1
        });
        let burst = &mut self.bursts[place];
        burst.last = at;
        let admitted = burst.lines < BURST_LIMIT;
        burst.lines += usize::from(admitted);
        burst.left_out += u64::from(!admitted);
        admitted
    }

    fn end_block(&mut self) {
        if std::mem::take(&mut self.after_block) {
            self.text.push('\n');
        }
    }

    /// Writes a record unless the burst limit is reached. Returns whether it was written.
    fn write_line(&mut self, record: &SimulationRecord, text: &str, names: &RecordNames) -> bool {
        let admitted = self.admit_line(record.at, record.body.kind());
        if admitted {
            self.end_block();
            let seq = format!("#{}", record.seq);
            let cause = match self.decision_number(&record.body, names) {
                Some(id) => format!("<- D{id}"),
                None => self.cause(record.cause),
            };
            push(&mut self.text, &record.at.to_string(), &seq, text, &cause);
        }
        admitted
    }

    fn write_block(&mut self, decision: &PolicyDecision, block: &DecisionBlock) {
        let at = decision.at.to_string();
        let id = format!("D{}", decision.id);
        let cause = match latest_evidence(decision) {
            Some(seq) => format!("<- #{seq}"),
            None => self.cause(decision.cause.unwrap_or(NO_CAUSE)),
        };
        if let Some((text, rule)) = &block.short {
            let sync = matches!(decision.what, PolicyOutcome::Job(_));
            if self.admit_line(decision.at, if sync { SYNC } else { COUNTERS }) {
                self.end_block();
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
    fn decision_number(&self, body: &Body, names: &RecordNames) -> Option<u32> {
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
            JobCondition { job, .. } => self.job_states.get(job.ix())?.last_decision,
            _ => 0,
        };
        (id > 0).then_some(id)
    }

    /// Assigns a number to the decision and remembers it as the last one of its object.
    fn number(&mut self, decision: &mut PolicyDecision) {
        self.decisions += 1;
        decision.id = self.decisions;
        match &decision.what {
            PolicyOutcome::JobSet(pass) => {
                if let Some(id) = self.jobsets.get(&pass.object) {
                    let jobs = pass.does.create.iter().chain(&pass.does.delete);
                    *row_or_default(&mut self.passes, id.ix()) = (decision.id, jobs.cloned().collect());
                }
            }
            PolicyOutcome::Job(sync) => {
                let acts = sync.fails.is_some() || sync.completes.is_some();
                if let Some(id) = self.jobs.get(&sync.object).filter(|_| acts) {
                    row_or_default(&mut self.job_states, id.ix()).last_decision = decision.id;
                }
            }
            PolicyOutcome::JobSetPassLost(_) => {}
        }
    }

    /// Returns `<- #n`, where n is the most recent record on the chain of causes that is in the text.
    fn cause(&self, seq: u32) -> String {
        match self.shown_cause.get(seq as usize) {
            Some(&displayed) if displayed != NO_CAUSE => format!("<- #{displayed}"),
            _ => String::new(),
        }
    }

    pub(super) fn pod_place(&self, pod: PodId, names: &RecordNames) -> String {
        match self.pods.get(pod.ix()).and_then(|p| p.job_and_index) {
            Some((job, index)) => names.pod_base_name(job, index),
            None => "?".to_owned(),
        }
    }

    pub(super) fn is_deleting(&self, pod: PodId) -> bool {
        self.pods.get(pod.ix()).is_some_and(|p| p.deleting)
    }

    fn set_last_end(&mut self, pod: PodId, seq: u32) {
        if let Some(pod) = self.pods.get_mut(pod.ix()) {
            pod.ended = Some(seq);
        }
    }

    /// Updates the known state of the object that the record describes.
    fn update_state(&mut self, record: &SimulationRecord, names: &RecordNames) {
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
            PodCreated { pod, job, index, .. } => {
                *row_or_default(&mut self.pods, pod.ix()) =
                    DecisionPod { job_and_index: Some((job, index)), ..DecisionPod::default() };
            }
            PodFinished { pod, .. } => self.set_last_end(pod, record.seq),
            PodDeleting { pod, .. } => {
                self.set_last_end(pod, record.seq);
                if let Some(pod) = self.pods.get_mut(pod.ix()) {
                    pod.deleting = true;
                }
            }
            JobCondition { job, kind: JobConditionType::Failed, .. } => {
                row_or_default(&mut self.job_states, job.ix()).failed = Some(record.seq)
            }
            _ => {}
        }
    }

    /// Fills in the numbers of the records that the decision refers to.
    fn fill_record_numbers(&self, mut decision: PolicyDecision) -> PolicyDecision {
        match &mut decision.what {
            PolicyOutcome::JobSet(pass) => {
                let namespace = pass.object.split('/').next().unwrap_or("").to_owned();
                let jobs = pass.failure_policy.iter_mut();
                for failed in jobs.flat_map(|f| &mut f.failed_jobs) {
                    let job = self.jobs.get(&format!("{namespace}/{}", failed.name));
                    failed.record = job.and_then(|id| self.job_states.get(id.ix())?.failed);
                }
            }
            PolicyOutcome::Job(sync) => {
                for failed in &mut sync.failed_pods {
                    failed.record = self.pods.get(failed.pod.ix()).and_then(|p| p.ended);
                }
            }
            PolicyOutcome::JobSetPassLost(lost) => {
                let id = self.jobsets.get(&lost.object);
                let pass = id.and_then(|id| self.passes.get(id.ix()));
                lost.decision = pass.map_or(0, |pass| pass.0);
            }
        }
        decision
    }

    /// Returns whether the decision is logged. Syncs that only wait are logged once per state.
    fn should_log(&mut self, decision: &PolicyDecision) -> bool {
        let PolicyOutcome::Job(sync) = &decision.what else {
            return true;
        };
        let Some(id) = self.jobs.get(&sync.object) else {
            return true;
        };
        let acts = sync.fails.is_some() || sync.completes.is_some() || sync.delete_pods + sync.create_pods > 0;
        let same =
            |old: JobSync| old.container_restarts == sync.container_restarts && old.failed_pods == sync.failed_pods;
        let last_sync = &mut row_or_default(&mut self.job_states, id.ix()).last_logged_sync;
        let old = last_sync.replace((**sync).clone());
        acts || !old.is_some_and(same)
    }
}

/// Returns the most recent record that the decision refers to, if any.
fn latest_evidence(decision: &PolicyDecision) -> Option<u32> {
    match &decision.what {
        PolicyOutcome::JobSet(pass) => {
            let failed = pass.failure_policy.iter().flat_map(|f| &f.failed_jobs);
            failed.filter_map(|job| job.record).max()
        }
        PolicyOutcome::Job(sync) => sync.failed_pods.iter().filter_map(|pod| pod.record).max(),
        PolicyOutcome::JobSetPassLost(_) => None,
    }
}

impl RecordSink for DecisionLog {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.update_state(record, names);
        let written = match self.describe_record(&record.body, names) {
            Some(text) => self.write_line(record, &text, names),
            None => false,
        };
        let before = self.shown_cause.get(record.cause as usize).copied();
        let displayed = if written { record.seq } else { before.unwrap_or(NO_CAUSE) };
        self.shown_cause.push(displayed);
    }

    fn receives_decisions(&self) -> bool {
        true
    }

    fn decision(&mut self, decision: PolicyDecision) {
        if !self.should_log(&decision) {
            return;
        }
        let mut decision = self.fill_record_numbers(decision);
        self.number(&mut decision);
        self.write_block(&decision, &text::decision_block(&decision));
        if serde_json::to_writer(&mut self.ndjson, &decision).is_ok() {
            self.ndjson.push(b'\n');
        }
    }
}
