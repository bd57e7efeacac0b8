//! Runs of a scenario with a change that may admit a JobSet.

use super::trials::{self, TrialTarget};
use super::{OverrideSetter, ScenarioLoader};
use crate::admission::inputs::apply;
use sim_api::spec::{ScenarioSpec, StopSpec};
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::SimulationInput;
use sim_engine::record::{Body, RecordNames, RecordSink, RunOutcome, SimulationRecord, WorkloadConditionType};
use sim_inputs::jobset_path;
use sim_kueue::verdict::QueueChange;
use sim_kueue::workload::reasons;
use sim_reliability::faults;
use std::collections::BTreeSet;

/// Number of events between two checks whether to stop.
const CHECK_EVERY: u64 = 100;

/// A wait of a JobSet for admission that changes are to end or shorten.
pub(super) struct ChangeTrial<'a> {
    /// The inputs, without drawn faults.
    pub scenario: &'a ScenarioSpec,
    pub load: &'a ScenarioLoader<'a>,
    /// The run of the unchanged inputs.
    pub simulation: &'a SimulationInput,
    /// When the run of the inputs ends, which may be after the time that is examined.
    pub stop: StopSpec,
    pub seed: u64,
    pub jobset: JobSetId,
    pub goal: TrialGoal,
}

/// When a change counts as one that admits the JobSet.
#[derive(Clone, Debug)]
pub(super) enum TrialGoal {
    /// It completes, or is ready during the wait that began at this time and has not ended.
    ReadySince(SimTime),
    /// The subject takes at most this time, or does not occur.
    AtMost { target: TrialTarget, time: Duration },
}

/// Result of a change that admits the JobSet.
pub(super) struct ChangedWait {
    /// Wait for quota in seconds, if it was measured.
    pub wait: Option<f64>,
}

/// Observes whether a JobSet is ready at some time from the start of its wait on.
struct ReadySink {
    jobset: JobSetId,
    from: SimTime,
    created: SimTime,
    is_ready: bool,
    /// First reservation of quota.
    reserved: Option<SimTime>,
    now: SimTime,
}

impl RecordSink for ReadySink {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.now = record.at;
        match record.body {
            Body::JobSetCreated { jobset } if jobset == self.jobset => self.created = record.at,
            // Pods that stop before the wait begins do not count.
            Body::AllReady { jobset, ready } if jobset == self.jobset && (ready || record.at < self.from) => {
                self.is_ready = ready;
            }
            Body::WorkloadCondition { jobset, kind: WorkloadConditionType::QuotaReserved, status: true, .. }
                if jobset == self.jobset =>
            {
                self.reserved.get_or_insert(record.at);
            }
            _ => {}
        }
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        CHECK_EVERY
    }

    fn should_stop(&mut self, _: u64) -> bool {
        self.is_ready && self.now >= self.from
    }
}

/// Observes which JobSets are evicted.
#[derive(Default)]
struct EvictionSink {
    preempted: BTreeSet<JobSetId>,
    /// Those that are evicted for other reasons.
    others: BTreeSet<JobSetId>,
}

impl RecordSink for EvictionSink {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        if let Body::WorkloadCondition { jobset, kind: WorkloadConditionType::Evicted, status: true, reason, .. } =
            record.body
        {
            let evicted = if names.text(reason) == reasons::PREEMPTED { &mut self.preempted } else { &mut self.others };
            evicted.insert(jobset);
        }
    }
}

/// What a change means for other JobSets.
pub(super) struct SideEffects {
    /// JobSets that are preempted at some time.
    pub preempted: BTreeSet<JobSetId>,
    /// JobSets without quota or blocked at the end that have it or are finished without the change.
    pub waiting: Vec<JobSetId>,
    /// Other JobSets that are evicted for another reason than preemption, and are not without the change.
    pub evicted: Vec<JobSetId>,
}

impl ChangeTrial<'_> {
    /// Runs the scenario with changes from its start on. Returns `None` if they do not admit the JobSet. The end of
    /// another Workload cannot be tried in this way.
    pub fn run(&self, changes: &[QueueChange]) -> Option<ChangedWait> {
        let mut simulation = self.changed(changes)?;
        let from = match &self.goal {
            TrialGoal::ReadySince(from) => *from,
            TrialGoal::AtMost { target, time } => {
                let takes = trials::measure(&mut simulation, target, (self.seed, 0)).takes();
                return takes.filter(|takes| takes <= time).map(|_| ChangedWait { wait: None });
            }
        };
        let mut sink = ReadySink {
            jobset: self.jobset,
            from,
            created: SimTime::ZERO,
            is_ready: false,
            reserved: None,
            now: SimTime::ZERO,
        };
        let outcome = simulation.run(self.seed, 0, &mut sink);
        let completed = outcome.jobsets.get(self.jobset.ix()).is_some_and(|own| own.terminal_state == "Completed");
        let wait = Some(sink.reserved?.since(sink.created).seconds());
        (sink.is_ready || completed).then_some(ChangedWait { wait })
    }

    /// Runs the scenario with changes to its end, and compares the other JobSets.
    pub fn side_effects(&self, changes: &[QueueChange]) -> Option<SideEffects> {
        let whole = ScenarioSpec { stop: self.stop, ..self.scenario.clone() };
        let trial = ChangeTrial { scenario: &whole, goal: self.goal.clone(), ..*self };
        let mut simulation = trial.changed(changes)?;
        let mut sink = EvictionSink::default();
        let outcome = simulation.run(self.seed, 0, &mut sink);
        let mut unchanged = trial.changed(&[])?;
        let mut sink_before = EvictionSink::default();
        let outcome_before = unchanged.run(self.seed, 0, &mut sink_before);
        let mut before = without_quota(&unchanged);
        before.extend(blocked(&outcome_before, &unchanged));
        let mut waiting = without_quota(&simulation);
        // A JobSet with quota for nodes on which its pods do not fit waits too.
        waiting.extend(blocked(&outcome, &simulation));
        waiting.sort_unstable();
        waiting.dedup();
        waiting.retain(|jobset| *jobset != self.jobset && !before.contains(jobset));
        let evicted = sink.others.difference(&sink_before.others).copied();
        let evicted = evicted.filter(|jobset| *jobset != self.jobset).collect();
        Some(SideEffects { preempted: sink.preempted, waiting, evicted })
    }

    /// Returns the changed inputs, or `None` if `run` would refuse them, for example because a fault names a pod that
    /// no longer exists.
    fn changed(&self, changes: &[QueueChange]) -> Option<SimulationInput> {
        let sets: Vec<OverrideSetter> = changes.iter().flat_map(|change| self.overrides(change)).collect();
        if !sets.is_empty() && (self.load)(&sets).is_err() {
            return None;
        }
        let mut scenario = self.scenario.clone();
        let mut objects = scenario.kueue.take()?;
        for change in changes {
            if !apply(change, &mut scenario, &mut objects, self.jobset.ix()) {
                return None;
            }
        }
        scenario.kueue = Some(objects);
        SimulationInput::new(&faults::draw_faults(&scenario, self.seed, 0)).ok()
    }

    /// Returns a change of the numbers of Jobs or pods as overrides.
    fn overrides(&self, change: &QueueChange) -> Vec<OverrideSetter> {
        let (pod_set, to, is_of_pods) = match change {
            QueueChange::Replicas { pod_set, to, .. } => (pod_set, to, false),
            QueueChange::Pods { pod_set, to, .. } => (pod_set, to, true),
            _ => return Vec::new(),
        };
        let Some(jobset) = self.scenario.jobsets.get(self.jobset.ix()).map(|submitted| &submitted.jobset) else {
            return Vec::new();
        };
        let mut jobs = jobset.spec.replicated_jobs.iter().enumerate();
        let Some((at, job)) = jobs.find(|(_, job)| job.name == *pod_set) else { return Vec::new() };
        let fields: &[&str] = if !is_of_pods {
            &["replicas"]
        } else if job.template.completions().is_some() {
            &["template.spec.parallelism", "template.spec.completions"]
        } else {
            &["template.spec.parallelism"]
        };
        let path = |field: &&str| format!("spec.replicatedJobs[{at}].{field}");
        let is_only = self.scenario.jobsets.len() == 1;
        let of_jobset = |path: String| if is_only { path } else { jobset_path(&jobset.name, &path) };
        fields.iter().map(|field| (of_jobset(path(field)), to.to_string())).collect()
    }
}

/// Returns the JobSets that are blocked at the end of a run.
fn blocked(outcome: &RunOutcome, simulation: &SimulationInput) -> Vec<JobSetId> {
    let all = (0..outcome.jobsets.len()).map(|at| JobSetId(at as u32));
    all.filter(|jobset| outcome.blocked_reason(simulation.names().jobset(*jobset)).is_some()).collect()
}

/// Returns the unfinished JobSets whose Workloads have no quota at the end of a run.
fn without_quota(simulation: &SimulationInput) -> Vec<JobSetId> {
    let workloads = simulation.workloads().into_iter().enumerate();
    let is_pending = |workload: &sim_kueue::workload::Workload| !workload.has_reservation() && !workload.is_finished();
    let pending = workloads.filter(|(_, workload)| workload.as_ref().is_some_and(|own| is_pending(own)));
    pending.map(|(at, _)| JobSetId(at as u32)).collect()
}
