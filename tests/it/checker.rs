//! A sink, independent of the engine, that checks every record against what Kubernetes allows: order, causes, the
//! lifecycle of each Pod, Job and JobSet, exclusive placement domains, restart counters.

mod pods;
mod script;
mod training;

use pods::Pod;
use script::{ByHand, Labels};
use sim_api::spec::{KubeletTiming, RestartStrategy, ScenarioSpec};
use sim_base::*;
use sim_engine::record::*;
use sim_scheduler::{Plugin, SchedulerConfiguration};
use std::collections::BTreeMap;

/// Expected properties of a Job, one entry per Job name. They are unknown for Jobs that no JobSet created.
#[derive(Clone, Default)]
struct Job {
    jobset: Option<usize>,
    /// `None`: unknown, because no JobSet owns the Job or the script changes Job specs.
    parallelism: Option<u32>,
    /// True for a pod without an owning Job.
    bare: bool,
    has_barrier: bool,
    /// Key of exclusive placement, and pod priority: only pods of the same priority exclude each other (EXC-17).
    exclusive: Option<(String, i32)>,
    exists: bool,
    deleting: bool,
    finished: bool,
    pods: Vec<usize>,
}

#[derive(Clone, Default)]
struct JobSet {
    /// `None`: unknown, because the JobSet is not part of the scenario.
    max_restarts: Option<i64>,
    created: bool,
    deleted: bool,
    terminal: bool,
    all_ready: bool,
    flipped: Option<SimTime>,
    /// Last time at which one of its Jobs finished or was removed, or the deletion of one of its pods began.
    lost: Option<SimTime>,
    restarts: u32,
    counted: u32,
    job_restarts: BTreeMap<String, u32>,
}

pub struct Checker {
    scenario: ScenarioSpec,
    scaled_to: u32,
    pods: Vec<Pod>,
    jobs: Vec<Job>,
    jobsets: Vec<JobSet>,
    training: training::Training,
    /// Labels of each node of the topology, by name.
    labels: BTreeMap<String, Labels>,
    /// Names of the nodes that pods were bound to.
    nodes: Vec<String>,
    nodes_gone: Vec<bool>,
    next: u32,
    now: SimTime,
    ended: bool,
    waits_for_terminating: bool,
    by_hand: ByHand,
    pub records: Vec<SimulationRecord>,
}

impl Checker {
    pub fn new(scenario: &ScenarioSpec) -> Checker {
        let version = scenario.control_plane.kubernetes;
        let jobsets = scenario
            .jobsets
            .iter()
            .map(|s| JobSet { max_restarts: Some(max_restarts(&s.jobset)), ..JobSet::default() });
        Checker {
            pods: Vec::new(),
            jobs: Vec::new(),
            jobsets: jobsets.collect(),
            training: training::Training::new(scenario),
            labels: script::labels(scenario),
            nodes: Vec::new(),
            nodes_gone: Vec::new(),
            scenario: scenario.clone(),
            scaled_to: script::scaled_to(scenario),
            next: 0,
            now: SimTime::ZERO,
            ended: false,
            by_hand: script::by_hand(scenario),
            waits_for_terminating: version.delays_terminal_condition(),
            records: Vec::new(),
        }
    }

    pub fn is_all_ready(&self, jobset: usize) -> bool {
        self.jobsets[jobset].all_ready
    }

    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Returns the expected properties of a Job at its creation, derived from the scenario.
    fn job_of(&self, job: JobId, names: &RecordNames) -> Job {
        let mut j = Job { bare: names.is_standalone_pod(job), ..Job::default() };
        let Some(id) = names.jobset_of(job) else {
            return j;
        };
        j.jobset = Some(id.ix());
        // The properties of JobSets that are not part of the scenario are unknown.
        let Some(submitted) = self.scenario.jobsets.get(id.ix()) else {
            return j;
        };
        let jobset = &submitted.jobset;
        let mut rjs = jobset.spec.replicated_jobs.iter();
        let rj = rjs.find(|r| r.name == names.jobs[job.ix()].replicated_job);
        let rj = rj.expect("a Job of a JobSet belongs to a replicatedJob");
        let in_place = jobset.spec.strategy() == RestartStrategy::InPlaceRestart;
        let barrier = rj.template.template.spec.agent_mode().has_barrier();
        let real = matches!(self.scenario.timing.kubelet, KubeletTiming::Real(_));
        let key = jobset.exclusive_key(rj);
        let by_webhook = !jobset.uses_node_selector_strategy(rj);
        let size = rj.template.parallelism().max(self.scaled_to);
        j.parallelism = (!self.by_hand.job_specs).then_some(size);
        j.has_barrier = in_place && real && barrier;
        let priority = self.class_value(jobset, &rj.name).unwrap_or(rj.template.template.spec.priority);
        // Without this filter, a profile of kube-scheduler ignores the terms that the webhook sets.
        let configuration = SchedulerConfiguration::read(&self.scenario.scheduler);
        let scheduler = rj.template.template.spec.scheduler_name.as_deref().unwrap_or("");
        let profile = configuration.profile(scheduler);
        let is_filtered = profile.is_none_or(|profile| profile.is_enabled(Plugin::InterPodAffinity));
        let key = key.filter(|_| is_filtered && by_webhook && !self.by_hand.jobset_specs && !self.by_hand.priorities);
        j.exclusive = key.map(|key| (key.to_owned(), priority));
        j
    }

    /// Returns the value of the PriorityClass of a replicatedJob's pods.
    fn class_value(&self, jobset: &sim_api::spec::JobSet, rj: &str) -> Option<i32> {
        let rjs = jobset.object.as_ref()?["spec"]["replicatedJobs"].as_array()?;
        let rj = rjs.iter().find(|own| own["name"] == rj)?;
        let name = rj.pointer("/template/spec/template/spec/priorityClassName");
        let mut classes = self.scenario.objects.iter().filter(|object| object["kind"] == "PriorityClass");
        let class = classes.find(|class| match name {
            Some(name) => class["metadata"]["name"] == *name,
            None => class["globalDefault"] == true,
        });
        class?["value"].as_i64().map(|value| value as i32)
    }

    fn job_condition(&mut self, job: JobId, kind: JobConditionType, status: bool) {
        let end = matches!(kind, JobConditionType::Failed | JobConditionType::Complete);
        assert!(self.jobs[job.ix()].exists, "condition of a Job that does not exist");
        let after = self.jobs[job.ix()].finished && !self.by_hand.anything;
        assert!(!after, "condition of a finished Job");
        if !end || !status {
            return;
        }
        self.jobs[job.ix()].finished = true;
        self.record_loss(job.ix());
        // A user may set the condition regardless of the pods' state.
        if self.waits_for_terminating && !self.by_hand.anything {
            let alive = self.jobs[job.ix()].pods.iter();
            let alive = alive.filter(|p| !self.pods[**p].finished).count();
            assert_eq!(alive, 0, "a Job finished before its pods");
        }
    }

    fn record_loss(&mut self, job: usize) {
        let js = self.jobs[job].jobset.map(|js| &mut self.jobsets[js]);
        js.into_iter().for_each(|js| js.lost = Some(self.now));
    }

    fn restart_counted(&mut self, jobset: JobSetId, restarts: u32, counted: u32) {
        let js = row_or_default(&mut self.jobsets, jobset.ix());
        let before = (js.restarts, js.counted);
        (js.restarts, js.counted) = (restarts, counted);
        if self.by_hand.jobset_status {
            return;
        }
        assert!(!js.terminal, "restart of a finished JobSet");
        assert_eq!(restarts, before.0 + 1, "the restart count increases by one");
        assert!(counted <= restarts && counted <= before.1 + 1);
        assert!(
            self.by_hand.jobset_specs || js.max_restarts.is_none_or(|most| i64::from(counted) <= most),
            "more counted restarts than maxRestarts"
        );
    }

    fn jobset_condition(&mut self, jobset: JobSetId, kind: JobSetConditionType, status: bool) {
        let end = matches!(kind, JobSetConditionType::Completed | JobSetConditionType::Failed);
        let js = row_or_default(&mut self.jobsets, jobset.ix());
        assert!(js.created, "condition of a JobSet that does not exist");
        if end && status {
            let by_hand = self.by_hand.jobset_status;
            assert!(!js.terminal || by_hand, "ended twice");
            js.terminal = true;
            js.all_ready &= by_hand;
        }
    }

    fn check(&mut self, record: &SimulationRecord, names: &RecordNames) {
        assert!(!self.ended, "record after the end of the run");
        assert_eq!(record.seq, self.next, "seq increases by one");
        assert!(record.at >= self.now, "time runs backwards");
        assert!(record.cause == NO_CAUSE || record.cause < record.seq, "the cause must precede its effect");
        self.next += 1;
        self.now = record.at;
        self.training.body(&record.body);
        self.body(&record.body, names);
    }

    fn body(&mut self, body: &Body, names: &RecordNames) {
        use Body::*;
        match *body {
            JobSetCreated { jobset } => {
                let js = row_or_default(&mut self.jobsets, jobset.ix());
                assert!(!std::mem::replace(&mut js.created, true), "created twice");
            }
            JobSetDeleted { jobset } => {
                let js = row_or_default(&mut self.jobsets, jobset.ix());
                assert!(!std::mem::replace(&mut js.deleted, true), "deleted twice");
                let mut own = self.jobs.iter().filter(|j| j.jobset == Some(jobset.ix()));
                let before = self.by_hand.anything || !own.any(|j| j.exists);
                assert!(before, "JobSet deleted before its Jobs");
            }
            RestartCounted { jobset, restarts, counted, .. } => self.restart_counted(jobset, restarts, counted),
            JobRestartCounted { jobset, job, restarts, .. } => {
                let js = row_or_default(&mut self.jobsets, jobset.ix());
                let n = js.job_restarts.entry(names.job(job).to_owned()).or_default();
                let free = self.by_hand.jobset_status || self.by_hand.gates && restarts == 1;
                assert!(restarts == *n + 1 || free, "the restart count of a Job increases by one");
                *n = restarts;
            }
            JobSetCondition { jobset, kind, status, .. } => self.jobset_condition(jobset, kind, status),
            AllReady { jobset, ready } => {
                let js = row_or_default(&mut self.jobsets, jobset.ix());
                // A terminal condition resets AllReady without a record, and a user may revert the terminal
                // condition.
                let new = js.all_ready != ready || self.by_hand.jobset_status;
                assert!(new, "AllReady record without a change");
                // A user's change may be reverted immediately. Where requests take no time, a Job may finish or be
                // removed as soon as its pod has succeeded, and a follower may be deleted as soon as its leader is
                // ready (EXC-15).
                let at_once = js.flipped == Some(self.now) && js.lost != js.flipped;
                assert!(!at_once || self.by_hand.anything, "AllReady changed twice at one instant");
                (js.all_ready, js.flipped) = (ready, Some(self.now));
            }
            JobCreated { job, .. } => {
                let new = self.job_of(job, names);
                // A Job whose creation was requested before the JobSet was deleted is an orphan, which the garbage
                // collector deletes.
                let created = new.jobset.is_none_or(|js| self.jobsets[js].created);
                assert!(created, "Job created without its JobSet");
                let j = row_or_default(&mut self.jobs, job.ix());
                assert!(!j.exists, "a Job of this name exists already");
                let pods = std::mem::take(&mut j.pods);
                *j = Job { exists: true, pods, ..new };
            }
            JobDeleting { job } => {
                let j = &mut self.jobs[job.ix()];
                assert!(j.exists && !std::mem::replace(&mut j.deleting, true));
            }
            JobGone { job } => {
                let j = &mut self.jobs[job.ix()];
                // An orphan is deleted in the background, and so is a Job if a user requests it: the Job first, its
                // pods later.
                let orphan = j.jobset.is_none_or(|js| self.jobsets[js].deleted);
                let background = orphan || self.by_hand.anything || self.by_hand.jobset_deletions;
                assert!(j.exists && (j.deleting || background), "Job removed without a deletion");
                assert!(j.pods.is_empty() || background, "Job removed before its pods");
                j.exists = false;
                self.record_loss(job.ix());
            }
            JobCondition { job, kind, status, .. } => self.job_condition(job, kind, status),
            NodeCreated { node } => *row_or_default(&mut self.nodes_gone, node.ix()) = false,
            NodeGone { node } => {
                let gone = row_or_default(&mut self.nodes_gone, node.ix());
                assert!(!std::mem::replace(gone, true), "node removed twice");
                let there = self.pods.iter_mut().filter(|pod| pod.node == Some(node.0));
                there.for_each(|pod| pod.is_left = true);
            }
            Fault { .. } => self.jobsets.iter_mut().for_each(|j| j.flipped = None),
            End { .. } => self.ended = true,
            _ => self.pod_body(body, names),
        }
    }
}

/// A run of a few dozen pods that writes more records than this is in a loop.
const MOST_RECORDS: usize = 300_000;
pub const TOO_MANY: &str = "too many records";

impl RecordSink for Checker {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        assert!(self.records.len() < MOST_RECORDS, "{TOO_MANY}");
        self.records.push(*record);
        self.check(record, names);
    }
}

fn max_restarts(jobset: &sim_api::spec::JobSet) -> i64 {
    let policy = jobset.spec.failure_policy.as_ref();
    policy.map_or(0, |p| i64::from(p.max_restarts))
}
