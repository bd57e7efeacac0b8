//! A Job template, and the decisions of `policy` about single pods.
//!
//! Must never count; `count.rs` does.

use super::world::{Phase, Pod};
use crate::policy::notation::seconds;
use sim_api::spec::*;
use sim_base::SimTime;
use sim_policy::job;
use sim_policy::job::pod_failure;
use sim_policy::job::pod_failure::{FailedPodView, RuleVerdict};
use sim_policy::job::{per_index, success};

pub fn now() -> SimTime {
    seconds(10_000.0)
}

/// Returns the time of an event that was recent or long ago.
pub fn time(recent: bool) -> SimTime {
    if recent { now() } else { seconds(0.0) }
}

/// A Job template and its Kubernetes version.
#[derive(Copy, Clone)]
pub struct Rules<'a> {
    pub spec: &'a JobSpec,
    pub version: KubeVersion,
}

impl Rules<'_> {
    pub fn completions(&self) -> u8 {
        self.spec.completions().unwrap_or(0) as u8
    }

    /// isPodFailed: the phase is Failed, or the pod is being deleted and has not succeeded, unless
    /// podReplacementPolicy is Failed.
    pub fn failed(&self, pod: &Pod) -> bool {
        let only_failed = self.spec.pod_replacement_policy() == PodReplacementPolicy::Failed;
        pod.phase == Phase::Failed || !only_failed && pod.deleting && pod.phase != Phase::Succeeded
    }

    pub fn verdict(&self, pod: &Pod) -> RuleVerdict {
        let rules = self.spec.pod_failure_policy.as_deref();
        rules.map_or(RuleVerdict::default(), |rules| with_view(pod, |v| pod_failure::verdict(rules, v)))
    }

    /// Returns the message of the first failed pod that a FailJob rule matches, with a fixed pod name.
    pub fn fail_job(&self, pods: &[Pod]) -> Option<String> {
        let rules = self.spec.pod_failure_policy.as_ref()?;
        pods.iter().filter(|p| self.failed(p)).find_map(|p| {
            with_view(p, |view| {
                let (rule, action, by) = pod_failure::matching_rule(rules, view)?;
                let fails = action == PodFailurePolicyAction::FailJob;
                fails.then(|| pod_failure::fail_job_message("ns", "pod", by, rule))
            })
        })
    }
}

fn with_view<T>(pod: &Pod, ask: impl FnOnce(&FailedPodView<'_>) -> T) -> T {
    let code = [("main", i32::from(pod.exit_code))];
    let ended = usize::from(pod.terminal());
    ask(&FailedPodView { exit_codes: &code[..ended], disruption_target: pod.disrupted })
}

/// Returns the message that belongs to a stored reason.
pub fn message(reason: &str) -> &'static str {
    let known = [
        job::BACKOFF_LIMIT_EXCEEDED,
        job::DEADLINE_EXCEEDED,
        job::COMPLETIONS_REACHED,
        per_index::MAX_FAILED_INDEXES_EXCEEDED,
        per_index::FAILED_INDEXES,
        (success::SUCCESS_POLICY, "Matched rules at index 0"),
    ];
    let known = known.into_iter().find(|(r, _)| *r == reason);
    known.map_or("a pod failed", |(_, message)| message)
}
