//! The input of a sync: a Job with its pods, and the classification of single pods: ended, failed, counted.
//! Must never change anything.

use super::rows::{JobSyncRow, PodMarks};
use crate::store::{ObjectStore, PodPhase, exit_codes, flag};
use sim_api::spec::{CompletionMode, JobSpec, PodFailurePolicyAction, PodReplacementPolicy};
use sim_base::{JobId, PodId};
use sim_policy::job::pod_failure;
use sim_policy::job::pod_failure::{FailedPodView, RuleVerdict};

#[derive(Copy, Clone)]
pub(super) struct JobSyncInput<'a> {
    pub store: &'a ObjectStore,
    pub job: JobId,
    pub row: &'a JobSyncRow,
    pub pods: &'a PodMarks,
}

impl<'a> JobSyncInput<'a> {
    pub fn spec(&self) -> &'a JobSpec {
        self.store.job_spec(self.job)
    }

    /// Iterates over the Job's pods by index and age.
    pub fn all_pods(&self) -> impl DoubleEndedIterator<Item = PodId> + use<'a> {
        self.store.jobs[self.job.ix()].pods.iter()
    }

    pub fn active_pods(&self) -> impl DoubleEndedIterator<Item = PodId> + use<'a> {
        let store = self.store;
        self.all_pods().filter(move |p| store.pods.is_active(*p))
    }

    pub fn index(&self, pod: PodId) -> u32 {
        self.store.pods.index[pod.ix()]
    }

    /// The number of completion indexes; for a NonIndexed Job, the number of positions.
    pub fn index_limit(&self) -> u32 {
        let spec = self.spec();
        let indexed = spec.completion_mode == CompletionMode::Indexed;
        let completions = spec.completions().filter(|_| indexed);
        completions.unwrap_or(u32::MAX)
    }

    /// Number of active pods whose index was removed by scaling an elastic JobSet down.
    pub fn misplaced_pods(&self) -> u32 {
        let limit = self.index_limit();
        let beyond = self.all_pods().rev().take_while(|p| self.index(*p) >= limit);
        beyond.filter(|p| self.store.pods.is_active(*p)).count() as u32
    }

    /// Returns true for an ended pod with the tracking finalizer that is not in the uncounted list.
    pub fn is_newly_ended(&self, pod: PodId) -> bool {
        self.has_ended_with_finalizer(pod) && !self.pods.is_counted(self.store, pod)
    }

    /// Uses the same definition as `live.ended_with_finalizer`.
    pub fn has_ended_with_finalizer(&self, pod: PodId) -> bool {
        let p = &self.store.pods;
        p.has(pod, flag::FINALIZER) && (p.is_terminal(pod) || p.has(pod, flag::DELETING))
    }

    /// isPodFailed: the phase is Failed, or the pod was deleted before, unless only failed pods are replaced.
    pub fn is_considered_failed(&self, pod: PodId) -> bool {
        let p = &self.store.pods;
        let by_deletion = self.spec().pod_replacement_policy() == PodReplacementPolicy::TerminatingOrFailed;
        match p.phase[pod.ix()] {
            PodPhase::Failed => true,
            PodPhase::Succeeded => false,
            _ => by_deletion && p.has(pod, flag::DELETING),
        }
    }

    pub fn failed_pod_view<'c>(&self, pod: PodId, codes: &'c [(&'c str, i32)]) -> FailedPodView<'c> {
        FailedPodView { exit_codes: codes, disruption_target: self.store.pods.has(pod, flag::DISRUPTION_TARGET) }
    }

    /// Evaluates the podFailurePolicy for one failed pod.
    pub fn verdict(&self, pod: PodId) -> RuleVerdict {
        let Some(rules) = &self.spec().pod_failure_policy else {
            return RuleVerdict::default();
        };
        let codes = exit_codes(self.store, pod);
        pod_failure::verdict(rules, &self.failed_pod_view(pod, &codes))
    }

    /// Failures of its index before this pod, including ignored ones.
    pub fn index_failures(&self, pod: PodId) -> u32 {
        let p = &self.store.pods;
        u32::from(p.index_failures[pod.ix()]) + u32::from(p.ignored_failures[pod.ix()])
    }

    /// FailJob's message for the first matching failed pod, including pods that are already counted.
    pub fn fail_job_message(&self) -> Option<String> {
        let rules = self.spec().pod_failure_policy.as_ref()?;
        let fail_job = |action| action == PodFailurePolicyAction::FailJob;
        if !rules.iter().any(|r| fail_job(r.action)) {
            return None;
        }
        let mut failed = self.all_pods().filter(|p| self.is_considered_failed(*p));
        failed.find_map(|pod| {
            let codes = exit_codes(self.store, pod);
            let view = self.failed_pod_view(pod, &codes);
            let (rule, action, by) = pod_failure::matching_rule(rules, &view)?;
            let namespace = self.store.namespace_of(self.job);
            let message = || {
                let name = self.pod_name(pod);
                pod_failure::fail_job_message(namespace, &name, by, rule)
            };
            fail_job(action).then(message)
        })
    }

    pub fn pod_name(&self, pod: PodId) -> String {
        let incarnation = self.store.pods.incarnation[pod.ix()];
        let names = &self.store.names;
        names.pod(self.job, self.index(pod), pod, incarnation)
    }
}
