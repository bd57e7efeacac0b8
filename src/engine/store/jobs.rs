//! Job objects as stored, with counters of their pods. One row per name, reused by later objects with the same name.
//! A row may hold pods without a Job: those left by a deleted Job, or a pod created by a user.

use super::pod_list::PodList;
use crate::record::{ConditionOutcome, JobConditionType};
use serde_json::Value;
use sim_api::spec::JobSpec;
use sim_base::random::StreamKey;
use sim_base::{JobSetId, SimTime, TemplateId};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct JobEntry {
    /// Key of namespace and name in the names of random numbers.
    pub key: StreamKey,
    /// Key of the current object, used for the random numbers of its pods.
    pub object_key: StreamKey,
    pub name_number: u32,
    /// The JobSet that owns it; `NONE` for a Job without a JobSet.
    pub jobset: JobSetId,
    /// Position of the replicatedJob in the JobSet, and index within it.
    pub rj: u32,
    pub index: u32,
    pub exists: bool,
    /// The field `metadata.deletionTimestamp`.
    pub deletion: Option<SimTime>,
    /// The field `spec.suspend`.
    pub suspended: bool,
    /// Number of the object with this name, from 1.
    pub incarnation: u32,
    /// Number of changes of the object.
    pub version: u32,
    pub restart_attempt: u32,
    pub job_restart_attempt: u32,
    /// Labels set (or removed) by a user since its creation.
    pub changed_labels: Vec<(String, Option<String>)>,
    /// Finalizers of other components.
    pub finalizers: Vec<String>,
    /// True if only those finalizers hold the object.
    pub dependents_deleted: bool,
    /// Its JobSet was removed without it: it has no owner.
    pub orphaned: bool,
    /// Posted with references to owners that do not exist, as is the pod of a row without a Job.
    pub owner_missing: bool,
    /// Deleted with propagation Orphan: its pods have no owner.
    pub pods_orphaned: bool,
    pub spec: Arc<JobSpec>,
    pub template: TemplateId,
    /// The object as posted; kept only if the script reads it.
    pub object: Option<Arc<Value>>,
    pub status: JobStatus,
    pub pods: PodList,
    /// The current counters, as an informer would compute them.
    pub live: JobCounters,
    /// Rejections of its pods, if the whole template is rejected.
    pub refusals: AdmissionRefusals,
    /// Per index: number of pods of the current Job object, for indexes whose newest pod was removed.
    pub tries: BTreeMap<u32, u16>,
}

/// Cached responses to POSTs of a Job's pods, valid until one of their inputs changes: a Job controller repeats the
/// request.
#[derive(Clone, Default)]
pub struct AdmissionRefusals {
    /// Incarnation and version of the Job, and the change count of other objects, at the time of the response.
    pub input_versions: (u32, u32, u64),
    /// The JobSet from which the Job would be created.
    pub jobset: Option<Arc<Value>>,
    /// By index: HTTP status and message; `None` for a pod that would be accepted.
    pub responses: BTreeMap<u32, Option<(u16, String)>>,
}

#[derive(Clone, Default)]
pub struct JobStatus {
    pub start_time: Option<SimTime>,
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
    /// Borrowed for Kubernetes' own reasons; owned if a user wrote it.
    pub reason: Cow<'static, str>,
    pub message: String,
    pub at: SimTime,
}

impl JobCondition {
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
        self.condition(JobConditionType::Complete).is_some() || self.condition(JobConditionType::Failed).is_some()
    }
}

/// Counters of a Job's pods, maintained incrementally and recomputed by `check`.
#[derive(Copy, Clone, Default, Debug, PartialEq, Eq)]
pub struct JobCounters {
    /// Pods that are not terminal and have no deletionTimestamp.
    pub active: u32,
    pub ready: u32,
    /// Pods with a deletionTimestamp that are not terminal.
    pub terminating: u32,
    /// Pods with the tracking finalizer that are terminal or terminating.
    pub ended_with_finalizer: u32,
    /// Pods with the tracking finalizer.
    pub with_finalizer: u32,
    /// Total container restarts of active pods.
    pub container_restarts: u32,
}

impl JobEntry {
    pub fn is_deleting(&self) -> bool {
        self.deletion.is_some()
    }

    /// Returns true if it is in foreground deletion: it waits for its pods.
    pub fn waits_for_pods(&self) -> bool {
        self.is_deleting() && !self.dependents_deleted
    }

    /// Returns true if a finalizer of another component holds the object.
    pub fn is_held(&self) -> bool {
        !self.finalizers.is_empty()
    }

    /// Resets the row to one without an object; its identity is kept.
    pub fn clear(&mut self) {
        // Destructured, so that a new field cannot be forgotten; spec and template are replaced with the next object.
        let JobEntry {
            key: _,
            object_key: _,
            name_number: _,
            jobset: _,
            rj: _,
            index: _,
            incarnation: _,
            version: _,
            spec: _,
            template: _,
            exists,
            deletion,
            suspended,
            restart_attempt,
            job_restart_attempt,
            changed_labels: relabelled,
            finalizers,
            dependents_deleted: collected,
            orphaned,
            owner_missing,
            pods_orphaned,
            object,
            status,
            pods,
            live,
            refusals,
            tries,
        } = self;
        let flags = [exists, suspended, collected, orphaned, owner_missing, pods_orphaned];
        for flag in flags {
            *flag = false;
        }
        (*restart_attempt, *job_restart_attempt) = (0, 0);
        *deletion = None;
        relabelled.clear();
        finalizers.clear();
        *object = None;
        *status = JobStatus::default();
        pods.clear();
        *live = JobCounters::default();
        *refusals = AdmissionRefusals::default();
        tries.clear();
    }

    /// Returns true if the row has pods but no Job object.
    pub fn has_only_pods(&self) -> bool {
        !self.exists && !self.pods.is_empty()
    }
}
