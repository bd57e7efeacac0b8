//! The decision log as data: the input, the evaluated rules and the actions of one pass of a controller.
//!
//! Created only for a sink that requests it. Must never be part of the records, so that logging does not change a
//! digest.

use serde::{Serialize, Serializer};
use sim_base::{Duration, PodId, SimTime};
use std::borrow::Cow;

/// One pass that decided something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyDecision {
    /// Number in the log, from 1, assigned by the log.
    #[serde(rename = "decision")]
    pub id: u32,
    #[serde(rename = "t_ns", serialize_with = "nanoseconds")]
    pub at: SimTime,
    /// `seq` of the record that triggered the pass.
    pub cause: Option<u32>,
    #[serde(flatten)]
    pub what: PolicyOutcome,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "controller", rename_all = "camelCase")]
pub enum PolicyOutcome {
    /// A reconcile pass of the JobSet controller.
    JobSet(Box<JobSetPass>),
    Job(Box<JobSync>),
    /// A reconcile pass of the JobSet controller that was aborted.
    JobSetPassLost(PassLost),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PassLost {
    #[serde(rename = "lost")]
    pub decision: u32,
    /// Object as `namespace/name`.
    pub object: String,
    pub why: String,
    pub rule: &'static str,
}

/// A number before and after a pass.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecisionStep {
    pub before: u32,
    pub after: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSetPass {
    /// Object as `namespace/name`.
    pub object: String,
    /// Jobs by bucket (REC-5).
    pub jobs: JobCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailureTrace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_policy: Option<SuccessTrace>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<DependencyTrace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_policy: Option<StartupTrace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartTrace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_place: Option<InPlaceTrace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<TtlTrace>,
    pub restarts: DecisionStep,
    pub restarts_count_towards_max: DecisionStep,
    /// All other fields of the status that change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<PlannedChange>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionWrite>,
    /// Kubernetes Events that follow the status write: reason and message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<(String, String)>,
    #[serde(flatten)]
    pub does: PlannedRequests,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Ids of the rules that decided something, in order of evaluation.
    pub rules: Vec<&'static str>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobCounts {
    pub active: u32,
    pub successful: u32,
    pub failed: u32,
    pub previous: u32,
}

/// The API requests of a pass other than the status write; Jobs by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedRequests {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delete: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub create_service: bool,
    /// Number of PersistentVolumeClaims, which every pass requests.
    #[serde(skip_serializing_if = "is_zero")]
    pub create_claims: u32,
    /// Jobs that get the parallelism and completions of the template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub create: Vec<String>,
    /// True if the Jobs in `create` are created suspended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub create_suspended: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspend: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resume: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub delete_job_set: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedChange {
    pub field: String,
    pub before: String,
    pub after: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConditionWrite {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub status: bool,
    pub reason: String,
    pub message: String,
    /// The status before; `None` if the condition is new.
    pub was: Option<bool>,
}

/// Failure policy evaluation: section 4 of the rules, FP-1 to FP-17.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureTrace {
    /// Failed Jobs of the current attempt, earliest first (FP-2).
    pub failed_jobs: Vec<FailedJob>,
    /// False if the JobSet has no failurePolicy (FP-1).
    pub has_policy: bool,
    pub rules: Vec<RuleTrace>,
    /// Index of the deciding rule; `None` for the default action RestartJobSet (FP-5).
    pub chosen_rule: Option<usize>,
    pub action: Option<&'static str>,
    /// The Job that the action refers to.
    pub job: String,
    pub budget: Option<RestartBudget>,
    /// Number of complete Jobs to which the success policy was not applied (REC-10).
    pub success_not_asked: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedJob {
    pub name: String,
    pub replicated_job: String,
    pub reason: String,
    pub message: String,
    /// lastTransitionTime as the API stores it, in whole seconds.
    #[serde(rename = "failedAt_ns", serialize_with = "nanoseconds")]
    pub failed_at: SimTime,
    /// `seq` of the record of its Failed condition.
    pub record: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleTrace {
    pub index: usize,
    pub name: String,
    pub action: &'static str,
    pub reasons: Vec<String>,
    pub patterns: Vec<String>,
    pub invalid_patterns: Vec<String>,
    pub targets: Vec<String>,
    /// One verdict per failed Job, in order; empty if an earlier rule decided.
    pub verdicts: Vec<PolicyVerdict>,
}

/// Evaluation of one rule for one failed Job (FP-4). `None` if the rule does not have the criterion.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyVerdict {
    pub job: String,
    pub reason: Option<bool>,
    /// The matching pattern; empty if none matches.
    pub pattern: Option<String>,
    pub target: Option<bool>,
    pub matches: bool,
}

/// The use of maxRestarts (FP-7).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestartBudget {
    /// True if the action counts towards maxRestarts.
    pub counted: bool,
    pub restarts_count_towards_max: i64,
    pub job_restarts_count_towards_max: i64,
    pub max_restarts: i64,
    pub reached: bool,
}

/// Success policy evaluation (SP-1, SP-2).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SuccessTrace {
    pub operator: &'static str,
    pub targets: Vec<String>,
    pub matched: u64,
    pub needed: u64,
    pub met: bool,
}

/// DEP-1: a dependency that delays a replicatedJob.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DependencyTrace {
    pub replicated_job: String,
    pub on: String,
    /// The required status: `Ready` or `Complete`.
    pub status: &'static str,
    pub have: u32,
    pub need: u32,
}

/// SU-1, SU-2: the replicatedJob at which the startup order InOrder stops.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartupTrace {
    /// The first replicatedJob that has not started; `None` if all have.
    pub waits_for: Option<String>,
    pub have: u32,
    pub need: u32,
    /// The replicatedJobs after it.
    pub held_back: Vec<String>,
}

/// Restart strategy evaluation (RS-1, RS-2).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestartTrace {
    pub strategy: &'static str,
    /// Existing Jobs of an earlier attempt.
    pub previous: Vec<String>,
    /// True if nothing is created while such a Job exists.
    pub blocks: bool,
}

/// In-place restart evaluation (truth table 5.6).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InPlaceTrace {
    pub max_container_restarts: u32,
    /// Number of pods that announced an attempt, and the expected number.
    pub attempts: u32,
    pub expected: Option<u64>,
    pub smallest: Option<u32>,
    pub largest: Option<u32>,
    /// Number of the JobSet's restarts that do not count towards maxRestarts.
    pub uncounted: i64,
    pub max_restarts: i64,
    /// The deciding row of the table.
    pub row: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TtlTrace {
    pub ttl_seconds_after_finished: u32,
    #[serde(rename = "finishedAt_ns", serialize_with = "nanoseconds")]
    pub finished_at: SimTime,
    #[serde(rename = "due_ns", serialize_with = "nanoseconds")]
    pub due: SimTime,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSync {
    /// Object as `namespace/name`.
    pub object: String,
    /// The first few of the failed pods evaluated for the first time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_pods: Vec<FailedPod>,
    /// Number of further such pods.
    pub more_failed_pods: u32,
    /// Number of failed pods, without ignored ones.
    pub failed: DecisionStep,
    pub backoff_limit: i32,
    /// Container restarts of active pods, which count with restartPolicy OnFailure.
    pub container_restarts: Option<u32>,
    pub succeeded: u32,
    pub completions: Option<u32>,
    /// Reason and message of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails: Option<(Cow<'static, str>, String)>,
    /// Reason and message of the success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completes: Option<(Cow<'static, str>, String)>,
    /// Number of permanently failed indexes.
    pub failed_indexes: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suspends: bool,
    pub delete_pods: u32,
    pub create_pods: u32,
    /// Pod-failure back-off before the next creation of pods.
    #[serde(rename = "wait_ns", serialize_with = "span")]
    pub wait: Option<Duration>,
}

/// Evaluation of the Job's podFailurePolicy for a failed pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedPod {
    #[serde(skip)]
    pub pod: PodId,
    pub name: String,
    /// Name of the Job and completion index, as scenarios name pods.
    #[serde(skip)]
    pub place: String,
    pub container: String,
    pub exit_code: Option<i32>,
    pub disruption_target: bool,
    /// True if it was deleted before it could fail (FP-20).
    pub by_deletion: bool,
    pub rules: Vec<PodRuleTrace>,
    pub counts: bool,
    /// `seq` of the record of its phase Failed, or of its deletion.
    pub record: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PodRuleTrace {
    pub index: usize,
    pub action: &'static str,
    /// The criterion of the rule, such as `onExitCodes worker In [3, 9]`.
    pub asks: String,
    pub matches: bool,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn nanoseconds<S: Serializer>(at: &SimTime, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(at.0)
}

fn span<S: Serializer>(wait: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    match wait {
        Some(wait) => to.serialize_some(&wait.0),
        None => to.serialize_none(),
    }
}
