//! The modelled part of the `batch/v1` JobSpec, as the API server stores it.

use super::pod::PodTemplate;

/// Pod condition that is set when a pod is disrupted: evicted, preempted, or deleted because its Node is gone.
pub const DISRUPTION_TARGET: &str = "DisruptionTarget";
/// Conditions that every failed pod has, with their statuses: the kubelet sets both of the first ones when the phase is
/// Failed (`GenerateContainersReadyCondition` in `pkg/kubelet/status/generate.go`), and its pod had been bound.
pub const FAILED_POD_CONDITIONS: [(&str, &str); 3] =
    [("ContainersReady", "False"), ("Ready", "False"), ("PodScheduled", "True")];
/// Reason of a Job that failed because of its podFailurePolicy.
pub const POD_FAILURE_POLICY: &str = "PodFailurePolicy";

#[derive(Clone, Debug, Default)]
pub struct JobSpec {
    pub parallelism: Option<u32>,
    pub completions: Option<u32>,
    pub completion_mode: CompletionMode,
    pub backoff_limit: Option<i32>,
    pub backoff_limit_per_index: Option<i32>,
    pub max_failed_indexes: Option<i32>,
    pub active_deadline_seconds: Option<i64>,
    pub pod_failure_policy: Option<Vec<PodFailurePolicyRule>>,
    pub pod_replacement_policy: Option<PodReplacementPolicy>,
    /// Rules of the Job's successPolicy, which is separate from the JobSet's.
    pub success_policy: Option<Vec<JobSuccessRule>>,
    /// TTL of the Job. The JobSet has a separate TTL.
    pub ttl_seconds_after_finished: Option<u32>,
    /// Controller that manages the Job, if it is not the Kubernetes Job controller.
    pub managed_by: Option<String>,
    pub template: PodTemplate,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum CompletionMode {
    #[default]
    Indexed,
    NonIndexed,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PodReplacementPolicy {
    TerminatingOrFailed,
    Failed,
}

#[derive(Clone, Debug, Default)]
pub struct JobSuccessRule {
    /// Index ranges in the manifest's syntax, e.g. `0-2,5`.
    pub succeeded_indexes: Option<String>,
    pub succeeded_count: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct PodFailurePolicyRule {
    pub action: PodFailurePolicyAction,
    pub on_exit_codes: Option<OnExitCodes>,
    pub on_pod_conditions: Vec<PodConditionPattern>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PodFailurePolicyAction {
    FailJob,
    FailIndex,
    Ignore,
    Count,
}

#[derive(Clone, Debug)]
pub struct OnExitCodes {
    pub container_name: Option<String>,
    /// Whether the operator is `In`. Otherwise it is `NotIn`.
    pub operator_in: bool,
    pub values: Vec<i32>,
}

#[derive(Clone, Debug)]
pub struct PodConditionPattern {
    pub condition: String,
    pub status: String,
}

impl PodConditionPattern {
    /// Returns whether the condition of failed pods is modelled.
    pub fn is_modelled(&self) -> bool {
        let mut always = FAILED_POD_CONDITIONS.iter();
        self.condition == DISRUPTION_TARGET || always.any(|(name, _)| self.condition == *name)
    }
}

impl JobSpec {
    pub fn parallelism(&self) -> u32 {
        self.parallelism.unwrap_or(1)
    }

    /// Returns completions as defaulted by the API server: if unset, it stays unset unless parallelism is also unset
    /// (then 1).
    pub fn completions(&self) -> Option<u32> {
        self.completions.or(if self.parallelism.is_none() { Some(1) } else { None })
    }

    /// Returns the number of pods that run at the same time.
    pub fn pods(&self) -> u32 {
        self.parallelism().min(self.completions().unwrap_or(u32::MAX))
    }

    /// Returns the backoff limit with its default from `pkg/apis/batch/v1/defaults.go`: 6, or MaxInt32 with a
    /// per-index limit.
    pub fn backoff_limit(&self) -> i32 {
        self.backoff_limit.unwrap_or(if self.backoff_limit_per_index.is_some() { i32::MAX } else { 6 })
    }

    /// Returns the policy with its default: Failed if a podFailurePolicy exists, otherwise TerminatingOrFailed.
    pub fn pod_replacement_policy(&self) -> PodReplacementPolicy {
        self.pod_replacement_policy.unwrap_or(if self.pod_failure_policy.is_some() {
            PodReplacementPolicy::Failed
        } else {
            PodReplacementPolicy::TerminatingOrFailed
        })
    }
}
