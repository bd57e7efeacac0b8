//! Job objects as stored, with what is counted of their pods; one row per name, used again by a later object of it.
//!
//! A row may hold pods without a Job: those that a deleted Job left behind, or a pod that somebody made by hand.

use super::pod_list::PodList;
use crate::record::{ConditionOutcome, JobConditionType};
use serde_json::Value;
use sim_api::spec::JobSpec;
use sim_base::random::Key;
use sim_base::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct Job {
    /// Stands for namespace and name in the names of random numbers.
    pub key: Key,
    /// The same for the present object: its pods' numbers go by it.
    pub object_key: Key,
    /// Number of its namespace and name.
    pub place: u32,
    /// The JobSet that owns it; `NONE` for a Job of somebody else.
    pub jobset: JobSetId,
    /// Slot of the JobSet: position of the replicatedJob, index within it.
    pub rj: u32,
    pub index: u32,
    pub exists: bool,
    /// deletionTimestamp.
    pub deletion: Option<Time>,
    /// spec.suspend.
    pub suspended: bool,
    /// nth object of this name, from 1.
    pub incarnation: u32,
    /// Counts every change of the object.
    pub version: u32,
    pub restart_attempt: u32,
    pub job_restart_attempt: u32,
    /// Labels that a user has set (or taken away) since.
    pub relabelled: Vec<(String, Option<String>)>,
    /// Finalizers of somebody else.
    pub finalizers: Vec<String>,
    /// Only those finalizers keep the object.
    pub collected: bool,
    /// Its JobSet went without it: nobody owns it.
    pub orphaned: bool,
    /// Deleted with propagation Orphan: its pods have no owner.
    pub pods_orphaned: bool,
    pub spec: Arc<JobSpec>,
    pub template: TemplateId,
    /// As posted; only kept where the script asks for it.
    pub object: Option<Arc<Value>>,
    pub status: JobStatus,
    pub pods: PodList,
    /// What an informer would count.
    pub live: Counters,
    /// What was answered when its pods were posted, if all of its template are refused.
    pub refusals: Refusals,
    /// Per index: pods that the present Job object has had, of those indexes whose newest pod is gone.
    pub tries: BTreeMap<u32, u16>,
}

/// Answers to POSTs of a Job's pods, as long as nothing has changed that they depend on: a Job controller asks again
/// and again.
#[derive(Clone, Default)]
pub struct Refusals {
    /// The Job's incarnation and version, and the changes of other objects.
    pub asked: (u32, u32, u64),
    /// The JobSet from which the Job would be made.
    pub from: Option<Arc<Value>>,
    /// By index: HTTP status and message; nothing of a pod that would be accepted.
    pub answers: BTreeMap<u32, Option<(u16, String)>>,
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
        self.condition(JobConditionType::Complete).is_some()
            || self.condition(JobConditionType::Failed).is_some()
    }
}

/// Pods of a Job as they are, kept incrementally and derived again by `check`.
#[derive(Copy, Clone, Default, Debug, PartialEq, Eq)]
pub struct Counters {
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

impl Job {
    pub fn is_deleting(&self) -> bool {
        self.deletion.is_some()
    }

    /// A finalizer of somebody else keeps the object.
    pub fn is_held(&self) -> bool {
        !self.finalizers.is_empty()
    }

    /// Back to a row without an object; what the row is stays.
    pub fn clear(&mut self) {
        // Field by field, so that a new one is not forgotten; spec and template go with the next object.
        let Job {
            key: _,
            object_key: _,
            place: _,
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
            relabelled,
            finalizers,
            collected,
            orphaned,
            pods_orphaned,
            object,
            status,
            pods,
            live,
            refusals,
            tries,
        } = self;
        let flags = [exists, suspended, collected, orphaned, pods_orphaned];
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
        *live = Counters::default();
        *refusals = Refusals::default();
        tries.clear();
    }

    /// The object is gone, pods of it are not; or the row never had one.
    pub fn is_left_behind(&self) -> bool {
        !self.exists && !self.pods.is_empty()
    }
}
