//! What a policy may see: borrowed snapshots of a controller's cache, cheap to build by hand in a test.
//!
//! No clock to ask, no randomness, no names of pods: `now` is data.

use super::job::backoff::BackoffRecord;
use crate::kinds::JobSetConditionType;
use sim_api::spec::{FeatureGates, JobSet, JobSpec, TieBreak, Version};
use sim_base::*;
use std::borrow::Cow;

/// All that one pass over one JobSet may know.
pub struct JobSetView<'a> {
    pub jobset: &'a JobSet,
    /// May differ from the manifest after suspend and resume.
    pub suspended: bool,
    pub deleting: bool,
    pub status: &'a JobSetStatus,
    /// The Jobs this JobSet owns and the controller's cache holds, in slot order (replicatedJob, index).
    pub jobs: &'a [JobView],
    pub gates: FeatureGates,
    pub now: Time,
    /// Whether the headless Service exists in the cache.
    pub service_exists: bool,
    /// Only with strategy InPlaceRestart and its gate: one aggregate over the associated pods.
    pub in_place: Option<InPlaceView>,
    pub ties: TieBreak,
    /// Job name of (replicatedJob position, index); for messages.
    pub job_name: &'a dyn Fn(u32, u32) -> String,
}

impl JobSetView<'_> {
    pub fn basis(&self) -> Basis<'_> {
        Basis {
            jobset: self.jobset,
            status: self.status,
            gates: self.gates,
        }
    }
}

/// A child Job as the JobSet controller's cache shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobView {
    /// Position of the replicatedJob in the spec.
    pub rj: u32,
    pub index: u32,
    /// Label restart-attempt; `None`: missing or not an integer (REC-5.1).
    pub restart_attempt: Option<u32>,
    /// Label job-restart-attempt (gate RestartJob); `None`: missing, which is only logged.
    pub job_restart_attempt: Option<u32>,
    /// REC-5.3: the first label that gate RestartJob needs and cannot use.
    pub unusable_label: Option<&'static str>,
    /// As stored, defaults filled in.
    pub parallelism: Option<u32>,
    pub completions: Option<u32>,
    pub deleting: bool,
    pub suspended: bool,
    pub active: u32,
    pub ready: u32,
    pub succeeded: u32,
    /// The first of Complete or Failed that is True.
    pub finished: Option<FinishedView>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FinishedView {
    pub failed: bool,
    pub reason: String,
    pub message: String,
    /// lastTransitionTime of the condition.
    pub at: Time,
}

/// IPR-1…IPR-6: what the reconciler computes from the pods of the JobSet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct InPlaceView {
    /// Largest container restart count over all pods.
    pub max_container_restarts: u32,
    /// Pods that are not Failed and carry the attempt annotation.
    pub attempts: u32,
    /// Smallest and largest attempt among them; `None` if there are none.
    /// `None` although `attempts` > 0: one of the annotations is not a non-negative integer (IPR-3).
    pub min_attempt: Option<u32>,
    pub max_attempt: Option<u32>,
}

/// The JobSet's status as stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSetStatus {
    pub restarts: u32,
    pub restarts_count_towards_max: u32,
    pub terminal_state: Option<TerminalState>,
    pub conditions: Vec<Condition>,
    /// In spec order; sorted by name, descending, only when shown (ST-5).
    pub replicated_jobs: Vec<RjStatus>,
    pub current_in_place_restart_attempt: Option<u32>,
    pub previous_in_place_restart_attempt: Option<u32>,
}

impl JobSetStatus {
    /// FP-7: counted restarts of the whole JobSet and of single Jobs; without the gate REC-6 dropped the latter.
    pub fn budget_used(&self) -> i64 {
        let of_jobs = self.replicated_jobs.iter();
        let of_jobs = of_jobs.flat_map(|s| &s.job_restarts_count_towards_max);
        let whole = i64::from(self.restarts_count_towards_max);
        whole + of_jobs.map(|&n| i64::from(n)).sum::<i64>()
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TerminalState {
    Completed,
    Failed,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub kind: JobSetConditionType,
    pub status: bool,
    /// Not one of upstream's own only where somebody else wrote it.
    pub reason: Cow<'static, str>,
    /// For `FailurePolicy_<rule name>`: the part after the underscore; else empty.
    pub reason_suffix: String,
    pub message: String,
    pub last_transition: Time,
}

impl Condition {
    pub fn full_reason(&self) -> String {
        format!("{}{}", self.reason, self.reason_suffix)
    }
}

/// ST-5…ST-7 for one replicatedJob.
#[derive(Clone, Debug, Default)]
pub struct RjStatus {
    pub ready: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub active: u32,
    pub suspended: u32,
    /// Empty until the first RestartJob* of this replicatedJob.
    pub job_restarts: Vec<u32>,
    pub job_restarts_count_towards_max: Vec<u32>,
}

impl RjStatus {
    /// ST-6, ST-7 are the same.
    pub fn counts_like(&self, other: &RjStatus) -> bool {
        // Nearly always there are none, and comparing no bytes is slow: 100 ns where nothing is mapped.
        let same = |a: &[u32], b: &[u32]| a.len() == b.len() && (a.is_empty() || a == b);
        same(&self.job_restarts, &other.job_restarts)
            && same(
                &self.job_restarts_count_towards_max,
                &other.job_restarts_count_towards_max,
            )
    }
}

impl PartialEq for RjStatus {
    fn eq(&self, other: &RjStatus) -> bool {
        let counters = |s: &RjStatus| (s.ready, s.succeeded, s.failed, s.active, s.suspended);
        counters(self) == counters(other) && self.counts_like(other)
    }
}

/// One sync of one Job by the Job controller (kubernetes.md 1.3), counted from its cache.
pub struct JobSyncView<'a> {
    pub spec: &'a JobSpec,
    pub version: Version,
    pub now: Time,
    pub deleting: bool,
    pub suspended: bool,
    pub start_time: Option<Time>,
    /// Reason and message of an existing FailureTarget=True.
    pub failure_target: Option<(Cow<'static, str>, &'a str)>,
    /// The same of SuccessCriteriaMet=True.
    pub success_criteria_met: Option<(Cow<'static, str>, &'a str)>,
    /// Pods not terminal and without deletionTimestamp.
    pub active: u32,
    /// Active pods of an index that does not exist (any more), or that has another active pod.
    pub misplaced: u32,
    /// Pods with deletionTimestamp whose phase is not terminal.
    pub terminating: u32,
    /// Distinct indexes (or pods) that succeeded.
    pub succeeded: u32,
    /// Those indexes, ascending; empty unless a successPolicy asks for them.
    pub succeeded_indexes: &'a [u32],
    /// Pods that count as failed against backoffLimit: status.failed + uncounted + newly seen, without ignored ones.
    pub failed: u32,
    /// Sum of container restart counts of active pods (restartPolicy OnFailure).
    pub container_restarts: u32,
    /// Indexes beyond backoffLimitPerIndex or hit by FailIndex.
    pub failed_indexes: u32,
    /// Of those, indexes that succeeded too: a pod that a user deleted exits 0 after its replacement has failed.
    pub failed_and_succeeded: u32,
    /// Message of the first podFailurePolicy FailJob match.
    pub fail_job_message: Option<&'a str>,
    pub expectations_satisfied: bool,
    pub backoff: BackoffRecord,
}

/// What a Job's bucket depends on beside itself: the spec, the restart counters stored when the pass began, the gates.
pub struct Basis<'a> {
    pub jobset: &'a JobSet,
    pub status: &'a JobSetStatus,
    pub gates: FeatureGates,
}
