//! The decisions of a policy. Only the engine executes them.

use super::reconcile_error::ReconcileError;
use super::view::JobSetStatus;
use sim_base::Duration;
use std::borrow::Cow;

/// The decisions of one reconcile pass, in the order of their execution. Buffers are reused between passes.
#[derive(Clone, Debug, Default)]
pub struct ActionPlan {
    /// Jobs to delete (foreground), as positions in `JobSetView::jobs`; up to 50 at once (DEL-1).
    pub delete: Vec<u32>,
    pub create_service: bool,
    /// PersistentVolumeClaims to POST, one after another (PVC-1).
    pub create_claims: u32,
    /// Jobs to which the template's parallelism and completions are applied, one after another (ELA-2).
    pub patch: Vec<u32>,
    /// Jobs to create, one replicatedJob after another, up to 50 Jobs of a replicatedJob in parallel (CRE-4).
    pub create: Vec<CreateJob>,
    /// Jobs whose `spec.suspend` is set, serially (SUS-1).
    pub suspend: Vec<u32>,
    /// Jobs that are resumed, serially (SUS-5).
    pub resume: Vec<u32>,
    pub delete_jobset: bool,
    /// The status to write, if `status_dirty`.
    pub status: JobSetStatus,
    pub status_dirty: bool,
    /// The first failed Job named by conditions and Events, as a position in `JobSetView::jobs`.
    pub failed_job: Option<u32>,
    /// Emitted only after the status write succeeded (REC-14).
    pub events: Vec<KubeEvent>,
    /// Delay of a requeue; used for the TTL only (REC-15).
    pub requeue_after: Option<Duration>,
    /// An error that ends the pass: status changes are discarded and the key is requeued with back-off (REC-13).
    pub error: Option<ReconcileError>,
    /// Rule ids in the order of evaluation, for the decision log.
    pub rules: Vec<&'static str>,
}

impl ActionPlan {
    /// Clears the plan for the next pass and keeps its buffers; `status` is overwritten by the pass.
    pub fn clear(&mut self) {
        self.delete.clear();
        self.create_service = false;
        self.create_claims = 0;
        self.patch.clear();
        self.create.clear();
        self.suspend.clear();
        self.resume.clear();
        self.delete_jobset = false;
        self.status_dirty = false;
        self.failed_job = None;
        self.events.clear();
        self.requeue_after = None;
        self.error = None;
        self.rules.clear();
    }

    /// Returns true if the plan contains positions in `JobSetView::jobs`.
    pub fn names_jobs(&self) -> bool {
        let lists = [&self.delete, &self.patch, &self.suspend, &self.resume];
        self.failed_job.is_some() || lists.iter().any(|jobs| !jobs.is_empty())
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CreateJob {
    pub rj: u32,
    pub index: u32,
    pub suspended: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeEvent {
    pub warning: bool,
    pub reason: String,
    pub message: String,
}

/// The decisions of one Job sync.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobPlan {
    /// Sets FailureTarget (then Failed) with this reason and message; every active pod is deleted first.
    pub fail: Option<(Cow<'static, str>, String)>,
    /// Sets SuccessCriteriaMet (then Complete) with this reason and message.
    pub complete: Option<(Cow<'static, str>, String)>,
    /// Number of active pods to delete: all of them (failure, success, suspend) or the surplus. If all are deleted but
    /// neither `fail` nor `complete` is set, the end is decided but not declared yet, because expectations are open.
    pub delete_active: u32,
    /// True if their tracking finalizer is removed before deletion, so that they are not counted (suspend, surplus).
    pub untracked: bool,
    /// Number of missing pods to create, lowest indexes first, in slow-start batches; at most 500.
    pub create: u32,
    /// Delay of the next sync (pod-failure back-off, active deadline).
    pub requeue_after: Option<Duration>,
    /// The new status of the Suspended condition; False is written only if the condition exists.
    pub suspended_condition: Option<bool>,
}

impl JobPlan {
    /// Plans a sync after `left`, unless an earlier one is planned.
    pub fn requeue(&mut self, left: Duration) {
        self.requeue_after = Some(self.requeue_after.map_or(left, |r| r.min(left)));
    }

    /// Returns true if the Job ends, successfully or not.
    pub fn ends_job(&self) -> bool {
        self.fail.is_some() || self.complete.is_some()
    }
}
