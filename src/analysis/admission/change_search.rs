//! The search for the smallest changes that start a JobSet.

use super::inputs;
use super::placement;
use super::report::{JobSetVerdict, RemedyRow};
use super::submission::{AdmissionInputs, FailedAttempt, Submissions};
use super::verdict_rows::remedy_rows;
use sim_api::spec::{JobSet, SubmittedJobSet};
use sim_kueue::verdict::{
    Additions, ChangeResult, ChangeTrials, PreemptedWorkload, QueueChange, Remedy, node_changes, smallest_changes,
    whole_slices,
};
use sim_kueue::workload::Workload;
use std::cell::RefCell;
use std::sync::Arc;

/// Maximum number of values of one change that are tried one by one.
const VALUES_MAX: u32 = 64;

/// Searches for changes that start a JobSet, by trials of all JobSets with the changed inputs.
pub(super) struct ChangeSearch<'a> {
    inputs: &'a AdmissionInputs,
    submissions: &'a Submissions,
    has_cluster: bool,
    at: usize,
    /// The JobSets that must start: this one, and all that start without a change.
    required: Vec<bool>,
    /// Results of earlier trials.
    tried: RefCell<Vec<(Vec<QueueChange>, TrialResult)>>,
}

/// The result of a trial of changed inputs.
#[derive(Clone)]
enum TrialResult {
    Starts(Vec<PreemptedWorkload>),
    /// Only the placement of the pods fails; the changes that cordon partial domains.
    Unplaced(Vec<QueueChange>),
    LacksTopology,
    Fails,
}

impl ChangeTrials for ChangeSearch<'_> {
    fn attempt(&self, changes: &[QueueChange], additions: Additions) -> ChangeResult {
        let starts = |changes: Vec<QueueChange>| match self.result(&changes) {
            TrialResult::Starts(preempted) => Some(Remedy { changes, preempted }),
            _ => None,
        };
        let mut kept = match self.result(changes) {
            TrialResult::Starts(preempted) => {
                return ChangeResult::Starts(Remedy { changes: changes.to_vec(), preempted });
            }
            TrialResult::LacksTopology => return ChangeResult::LacksTopology,
            TrialResult::Unplaced(partial) if additions == Additions::Cordon && !partial.is_empty() => partial,
            TrialResult::Unplaced(_) | TrialResult::Fails => return ChangeResult::Fails,
        };
        let with = |partial: &[QueueChange]| [changes, partial].concat();
        let Some(mut remedy) = starts(with(&kept)) else { return ChangeResult::Fails };
        for at in (0..kept.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            if let Some(smaller) = starts(with(&fewer)) {
                (kept, remedy) = (fewer, smaller);
            }
        }
        ChangeResult::Starts(remedy)
    }

    fn values_max(&self) -> u32 {
        VALUES_MAX
    }

    fn later_workloads(&self) -> Vec<Arc<Workload>> {
        let Submissions { keys, state, .. } = self.submissions;
        let later = keys.iter().skip(self.at + 1).flatten();
        later.filter_map(|key| state.workload(*key).cloned()).collect()
    }
}

impl<'a> ChangeSearch<'a> {
    pub(super) fn new(
        inputs: &'a AdmissionInputs, submissions: &'a Submissions, has_cluster: bool, at: usize,
    ) -> ChangeSearch<'a> {
        let starts = submissions.verdicts.iter().enumerate().map(|(k, verdict)| k == at || verdict.starts());
        let required = starts.collect();
        ChangeSearch { inputs, submissions, has_cluster, at, required, tried: RefCell::default() }
    }

    pub(super) fn smallest_changes(&self, verdict: &JobSetVerdict) -> Vec<RemedyRow> {
        let submitted = &self.inputs.scenario.jobsets[self.at];
        let is_exclusive = self.has_cluster && inputs::is_exclusive(&submitted.jobset);
        let additions = [Additions::None, Additions::Cordon];
        let additions = if is_exclusive { &additions[..] } else { &additions[..1] };
        let Some(FailedAttempt { state, key, .. }) = &self.submissions.attempts[self.at] else { return Vec::new() };
        let remedies = match (verdict.verdict, verdict.cause) {
            ("Pending" | "Preempted", _) => smallest_changes(state, *key, additions, self),
            ("Admitted", Some("topology")) => whole_slices(state, *key, self),
            ("Admitted" | "Unmanaged", Some("node")) => {
                let started = self.submissions.started[self.at].as_ref().map(|started| &started.jobset);
                let jobset = started.unwrap_or(&submitted.jobset).clone();
                let started = SubmittedJobSet { jobset, ..submitted.clone() };
                let domains = placement::domains(&started, &self.inputs.scenario, &self.inputs.cluster);
                let slices = self.slices(verdict, &submitted.jobset);
                let changes = node_changes(state, *key, &domains, additions, self);
                slices.into_iter().chain(changes).collect()
            }
            _ => return Vec::new(),
        };
        remedy_rows(state, &remedies)
    }

    /// Returns the change that makes Kueue keep the pods of each Job of exclusive placement in one domain.
    fn slices(&self, verdict: &JobSetVerdict, jobset: &JobSet) -> Option<Remedy> {
        let slices = jobset.spec.replicated_jobs.iter().filter_map(|rj| {
            let level = jobset.webhook_key(rj)?.to_owned();
            let set = verdict.pod_sets.iter().find(|set| set.name == rj.name && !set.domains.is_empty())?;
            let (pod_set, size) = (set.name.clone(), rj.template.pods());
            Some(QueueChange::Slices { pod_set, instead_of: inputs::level_annotation(rj), level, size })
        });
        let slices: Vec<QueueChange> = slices.collect();
        match self.attempt(&slices, Additions::None) {
            ChangeResult::Starts(remedy) if !slices.is_empty() => Some(remedy),
            _ => None,
        }
    }

    fn result(&self, changes: &[QueueChange]) -> TrialResult {
        if let Some((_, known)) = self.tried.borrow().iter().find(|(tried, _)| tried == changes) {
            return known.clone();
        }
        let result = self.try_changes(changes).unwrap_or(TrialResult::Fails);
        self.tried.borrow_mut().push((changes.to_vec(), result.clone()));
        result
    }

    fn try_changes(&self, changes: &[QueueChange]) -> Option<TrialResult> {
        let inputs = self.inputs.with(changes, self.at, &self.submissions.keys)?;
        let required: Vec<bool> =
            self.required.iter().enumerate().map(|(at, is)| *is && !inputs.ended.contains(&at)).collect();
        let attempt = self.submissions.attempts[self.at].as_ref()?;
        let verdicts = &self.submissions.first_verdicts[..self.at];
        let is_of_jobset = changes.iter().all(QueueChange::is_of_jobset);
        let from = attempt.before.as_ref().filter(|_| is_of_jobset).map(|before| (before, verdicts));
        let trial = inputs.check(self.has_cluster, &required, from).ok()?;
        let starts = |at: usize| trial.verdicts.get(at).is_some_and(JobSetVerdict::starts);
        if trial.settled && (0..required.len()).all(|at| !required[at] || starts(at)) {
            let started = trial.started.get(self.at).and_then(Option::as_ref);
            let preempted = started.map_or(&[][..], |started| &started.preempted);
            // Other Workloads may have ended, so that the keys differ.
            let same = |target: &PreemptedWorkload| {
                let workload = trial.state.workload(target.key)?;
                let key = attempt.state.key_of(&workload.namespace, &workload.name)?;
                Some(PreemptedWorkload { key, reason: target.reason })
            };
            return Some(TrialResult::Starts(preempted.iter().filter_map(same).collect()));
        }
        let own = trial.verdicts.get(self.at)?;
        if own.verdict == "Pending" && own.cause == Some("topology") {
            return Some(TrialResult::LacksTopology);
        }
        let started = trial.started.get(self.at)?.as_ref().map(|started| &started.jobset);
        let started = started.unwrap_or(&inputs.scenario.jobsets.get(self.at)?.jobset);
        let is_unplaced = ["Admitted", "Unmanaged"].contains(&own.verdict) && own.cause == Some("node");
        is_unplaced.then(|| TrialResult::Unplaced(placement::partial_domains(started, &inputs.cluster)))
    }
}
