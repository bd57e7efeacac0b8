//! The inputs of policies: borrowed snapshots of a controller's cache, easy to construct in tests.
//!
//! Contain no clock, random numbers or pod names: `now` is data.

use super::job::backoff::BackoffRecord;
use crate::kinds::JobSetConditionType;
use sim_api::spec::{FeatureGates, JobSet, JobSpec, KubeVersion, TieBreak};
use sim_base::SimTime;
use std::borrow::Cow;

/// The inputs of one pass over one JobSet.
pub struct JobSetView<'a> {
    pub jobset: &'a JobSet,
    /// The current value; may differ from the manifest after suspend and resume.
    pub suspended: bool,
    pub deleting: bool,
    pub status: &'a JobSetStatus,
    /// The Jobs that this JobSet owns according to the controller's cache, in slot order (replicatedJob, index).
    pub jobs: &'a [JobView],
    pub gates: FeatureGates,
    pub now: SimTime,
    /// True if the headless Service exists in the cache.
    pub service_exists: bool,
    /// An aggregate over the JobSet's pods; only with strategy InPlaceRestart and its feature gate.
    pub in_place: Option<InPlaceView>,
    pub ties: TieBreak,
    /// Returns the Job name of (replicatedJob position, index), for messages.
    pub job_name: &'a dyn Fn(u32, u32) -> String,
}

impl JobSetView<'_> {
    pub fn basis(&self) -> PlanBasis<'_> {
        PlanBasis { jobset: self.jobset, status: self.status, gates: self.gates }
    }
}

/// A child Job in the JobSet controller's cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobView {
    /// Position of the replicatedJob in the spec.
    pub rj: u32,
    pub index: u32,
    /// Label restart-attempt; `None` if missing or not an integer (REC-5.1).
    pub restart_attempt: Option<u32>,
    /// Label job-restart-attempt (feature gate RestartJob); `None` if missing, which is only logged.
    pub job_restart_attempt: Option<u32>,
    /// REC-5.3: the first invalid label among those that the feature gate RestartJob requires.
    pub unusable_label: Option<&'static str>,
    /// As stored, with defaults.
    pub parallelism: Option<u32>,
    pub completions: Option<u32>,
    pub deleting: bool,
    pub suspended: bool,
    pub active: u32,
    pub ready: u32,
    pub succeeded: u32,
    /// The first condition of Complete and Failed that is True; boxed, because few Jobs have one.
    pub finished: Option<Box<FinishedView>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FinishedView {
    pub failed: bool,
    pub reason: String,
    pub message: String,
    /// lastTransitionTime of the condition.
    pub at: SimTime,
}

/// IPR-1…IPR-6: aggregate that the reconciler computes from the pods of the JobSet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct InPlaceView {
    /// Largest container restart count over all pods.
    pub max_container_restarts: u32,
    /// Number of pods that are not Failed and have the attempt annotation.
    pub attempts: u32,
    /// Smallest and largest attempt among these pods; `None` if there are none. If `None` although `attempts` > 0, an
    /// annotation is not a non-negative integer (IPR-3).
    pub min_attempt: Option<u32>,
    pub max_attempt: Option<u32>,
}

/// The JobSet's status as stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSetStatus {
    pub restarts: u32,
    pub restarts_count_towards_max: u32,
    pub terminal_state: Option<TerminalState>,
    pub conditions: Vec<PodCondition>,
    /// In spec order; sorted by name, descending, only for output (ST-5).
    pub replicated_jobs: Vec<RjStatus>,
    pub current_in_place_restart_attempt: Option<u32>,
    pub previous_in_place_restart_attempt: Option<u32>,
}

impl JobSetStatus {
    /// FP-7: counted restarts of the whole JobSet and of single Jobs; without the feature gate REC-6 drops the latter.
    pub fn budget_used(&self) -> i64 {
        let of_jobs = self.replicated_jobs.iter();
        let of_jobs = of_jobs.flat_map(|s| &s.job_restarts_count_towards_max);
        let complete = i64::from(self.restarts_count_towards_max);
        complete + of_jobs.map(|&n| i64::from(n)).sum::<i64>()
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TerminalState {
    Completed,
    Failed,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PodCondition {
    pub kind: JobSetConditionType,
    pub status: bool,
    /// Borrowed for upstream's own reasons; owned if another client wrote it.
    pub reason: Cow<'static, str>,
    /// For `FailurePolicy_<rule name>`, the part after the underscore; otherwise empty.
    pub reason_suffix: String,
    pub message: String,
    pub last_transition: SimTime,
}

impl PodCondition {
    pub fn full_reason(&self) -> String {
        format!("{}{}", self.reason, self.reason_suffix)
    }
}

/// Status of one replicatedJob (ST-5 to ST-7).
#[derive(Clone, Debug, Default)]
pub struct RjStatus {
    /// The list has no entry of this replicatedJob, as written by another client than the manager.
    pub absent: bool,
    pub ready: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub active: u32,
    pub suspended: u32,
    /// Empty until the first RestartJob* action of this replicatedJob.
    pub job_restarts: Vec<u32>,
    pub job_restarts_count_towards_max: Vec<u32>,
}

impl RjStatus {
    /// Returns true if ST-6 and ST-7 are equal.
    pub fn counts_like(&self, other: &RjStatus) -> bool {
        // Usually empty; the check for emptiness avoids a comparison of zero bytes, which takes 100 ns on unmapped
        // memory.
        let same = |a: &[u32], b: &[u32]| a.len() == b.len() && (a.is_empty() || a == b);
        same(&self.job_restarts, &other.job_restarts)
            && same(&self.job_restarts_count_towards_max, &other.job_restarts_count_towards_max)
    }
}

impl PartialEq for RjStatus {
    fn eq(&self, other: &RjStatus) -> bool {
        let counters = |s: &RjStatus| (s.ready, s.succeeded, s.failed, s.active, s.suspended, s.absent);
        counters(self) == counters(other) && self.counts_like(other)
    }
}

/// The inputs of one Job sync (kubernetes.md 1.3), counted from the Job controller's cache.
pub struct JobSyncView<'a> {
    pub spec: &'a JobSpec,
    pub version: KubeVersion,
    pub now: SimTime,
    pub deleting: bool,
    pub suspended: bool,
    pub start_time: Option<SimTime>,
    /// Reason and message of an existing FailureTarget=True.
    pub failure_target: Option<(Cow<'static, str>, &'a str)>,
    /// Reason and message of an existing SuccessCriteriaMet=True.
    pub success_criteria_met: Option<(Cow<'static, str>, &'a str)>,
    /// Pods that are not terminal and have no deletionTimestamp.
    pub active: u32,
    /// Active pods whose index does not exist or has another active pod.
    pub misplaced: u32,
    /// Pods with a deletionTimestamp that are not terminal.
    pub terminating: u32,
    /// Number of distinct indexes (or pods) that succeeded.
    pub succeeded: u32,
    /// These indexes, ascending; empty unless a successPolicy requires them.
    pub succeeded_indexes: &'a [u32],
    /// Failed pods that count towards backoffLimit: status.failed + uncounted + new, without ignored ones.
    pub failed: u32,
    /// Total container restarts of active pods (restartPolicy OnFailure).
    pub container_restarts: u32,
    /// Number of indexes that exceeded backoffLimitPerIndex or matched FailIndex.
    pub failed_indexes: u32,
    /// Failed indexes that also succeeded: a pod deleted by a user exits with 0 after its replacement has failed.
    pub failed_and_succeeded: u32,
    /// Message of the first podFailurePolicy FailJob match.
    pub fail_job_message: Option<&'a str>,
    pub expectations_satisfied: bool,
    pub backoff: BackoffRecord,
}

/// The inputs of a Job's bucket besides the Job: the spec, the restart counters stored at the start of the pass, the
/// feature gates.
pub struct PlanBasis<'a> {
    pub jobset: &'a JobSet,
    pub status: &'a JobSetStatus,
    pub gates: FeatureGates,
}
