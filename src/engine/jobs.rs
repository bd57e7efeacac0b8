//! Job objects: stored status, live counters, the Job controller's books and the collector's marks for each slot.

use crate::base::*;
use crate::placement::TemplateFacts;
use crate::policy::backoff::BackoffRecord;
use crate::record::{ConditionOutcome, JobConditionType};
use crate::spec::JobSpec;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

#[derive(Default)]
pub struct Job {
    pub exists: bool,
    pub deleting: bool,
    pub suspended: bool,
    pub incarnation: u32,
    pub restart_attempt: u32,
    pub job_restart_attempt: u32,
    /// Labels that a user has set (or taken away) since.
    pub relabelled: Vec<(String, Option<String>)>,
    /// A user's finalizer keeps the object.
    pub held: bool,
    /// Only a user's finalizer keeps the object.
    pub collected: bool,
    /// The object is gone, pods of it are not.
    pub left_behind: bool,
    /// What differs from the manifest: scaled, or created after an update of the JobSet.
    pub spec: Option<Arc<JobSpec>>,
    /// As stored; only kept where the script asks for it.
    pub object: Option<Arc<Value>>,
    /// The same for the scheduler.
    pub facts: Option<Arc<TemplateFacts>>,
    /// What is stored: the JobSet controller sees only this.
    pub status: JobStatus,
    /// What the Job controller's informer would count.
    pub live: Counters,
    pub sync: SyncState,
    /// Pods that failed and are counted (uncounted list or counter).
    pub counted_failed: u32,
    /// Completion indexes (or places) whose pod succeeded and is counted; ascending.
    pub succeeded_indexes: Vec<u32>,
    /// Indexes that failed for good (backoffLimitPerIndex); ascending.
    pub failed_indexes: Vec<u32>,
    /// Pods of the template that the JobSet no longer waits for, because pods of this Job have succeeded; less than
    /// none after an elastic scale-up.
    pub done: i64,
    /// Pods of this Job object that succeeded.
    pub successes: u32,
    /// Places beyond the primary range that hold pods of this Job.
    pub extra_pods: Vec<PodId>,
    /// When the JobSet manager's webhook cache shows the leader as scheduled; `NEVER` if none is.
    pub leader_visible_at: Time,
    /// Domain the leader went to.
    pub domain: DomainId,
    /// Pods of this Job per domain of its exclusive key.
    pub pods_in_domain: Vec<(DomainId, u32)>,
    pub collector: CollectorMarks,
}

#[derive(Clone, Default)]
pub struct JobStatus {
    pub start_time: Option<Time>,
    pub active: u32,
    pub ready: u32,
    pub terminating: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub conditions: Vec<JobCondition>,
}

#[derive(Clone)]
pub struct JobCondition {
    pub kind: JobConditionType,
    pub status: bool,
    /// Not one of Kubernetes' own only where a user wrote it.
    pub reason: Cow<'static, str>,
    pub message: String,
    pub at: Time,
}

/// Reasons that the Job controller itself gives to FailureTarget, Failed, SuccessCriteriaMet and Complete.
const REASONS: [&str; 7] = [
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "PodFailurePolicy",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "CompletionsReached",
    "SuccessPolicy",
];

impl JobCondition {
    /// The reason of an end as one of Kubernetes' own.
    pub fn kubernetes_reason(&self) -> &'static str {
        let known = REASONS.into_iter().find(|r| *r == self.reason);
        known.unwrap_or(REASONS[0])
    }

    pub fn outcome(&self) -> ConditionOutcome {
        ConditionOutcome {
            kind: self.kind.as_str(),
            status: self.status,
            reason: self.reason.to_string(),
            message: self.message.clone(),
            last_transition: self.at,
        }
    }
}

impl JobStatus {
    pub fn condition(&self, kind: JobConditionType) -> Option<&JobCondition> {
        self.conditions.iter().find(|c| c.kind == kind && c.status)
    }

    pub fn is_finished(&self) -> bool {
        self.condition(JobConditionType::Complete).is_some()
            || self.condition(JobConditionType::Failed).is_some()
    }
}

/// Pods of a Job as they are, kept incrementally and re-derived by `check`.
#[derive(Copy, Clone, Default, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Objects that exist.
    pub objects: u32,
    /// Not terminal, no deletionTimestamp.
    pub active: u32,
    pub ready: u32,
    /// deletionTimestamp, not terminal.
    pub terminating: u32,
    /// With the tracking finalizer, and terminal or deleting.
    pub ended_with_finalizer: u32,
    /// With the tracking finalizer.
    pub with_finalizer: u32,
    /// Sum of container restarts of active pods.
    pub container_restarts: u32,
}

/// The Job controller's work queue entry and in-memory records of one key.
pub struct SyncState {
    /// When a delayed sync is due; `NEVER` if none.
    pub due: Time,
    pub queued: bool,
    pub processing: bool,
    pub dirty: bool,
    /// Errors in a row: the rate limiter's exponent.
    pub errors: u32,
    /// Creations asked for and not yet answered.
    pub expected: u32,
    /// kubernetes.md 1.5.
    pub backoff: BackoffRecord,
    pub events: EventBooks,
}

impl Default for SyncState {
    fn default() -> SyncState {
        SyncState {
            due: Time::NEVER,
            queued: false,
            processing: false,
            dirty: false,
            errors: 0,
            expected: 0,
            backoff: BackoffRecord::default(),
            events: EventBooks::default(),
        }
    }
}

/// client-go's event correlator for one object: spam filter and aggregation.
#[derive(Copy, Clone, Default)]
pub struct EventBooks {
    pub used: u32,
    pub creates: u32,
    pub deletes: u32,
    pub create_failures: u32,
    pub last_refill: Time,
}

#[derive(Copy, Clone, Default)]
pub struct CollectorMarks {
    pub queued: bool,
    pub busy: bool,
    pub dirty: bool,
    /// The graph knows that the Job waits for its dependents (foreground deletion).
    pub deleting_dependents: bool,
}

impl Job {
    /// Back to a slot without an object; the incarnation counts on.
    pub fn reset(&mut self) {
        let incarnation = self.incarnation;
        let mut extra_pods = std::mem::take(&mut self.extra_pods);
        let mut pods_in_domain = std::mem::take(&mut self.pods_in_domain);
        let mut succeeded_indexes = std::mem::take(&mut self.succeeded_indexes);
        let mut failed_indexes = std::mem::take(&mut self.failed_indexes);
        failed_indexes.clear();
        extra_pods.clear();
        pods_in_domain.clear();
        succeeded_indexes.clear();
        // The work queue knows keys, not objects: a worker still in a sync of the old object keeps the key busy.
        let SyncState {
            due,
            queued,
            processing,
            dirty,
            ..
        } = self.sync;
        *self = Job {
            incarnation,
            extra_pods,
            pods_in_domain,
            succeeded_indexes,
            failed_indexes,
            sync: SyncState {
                due,
                queued,
                processing,
                dirty,
                ..SyncState::default()
            },
            leader_visible_at: Time::NEVER,
            domain: DomainId::NONE,
            ..Job::default()
        };
    }
}
