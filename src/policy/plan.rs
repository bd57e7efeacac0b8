//! What a policy decided. Only the engine carries it out.

use super::view::JobSetStatus;
use sim_base::Duration;
use std::borrow::Cow;

/// The outcome of one JobSet pass, in the order the controller would act. Buffers are reused between passes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Jobs to delete (foreground), as positions in `JobSetView::jobs`; up to 50 at once (DEL-1).
    pub delete: Vec<u32>,
    pub create_service: bool,
    /// PersistentVolumeClaims to POST, one after another (PVC-1).
    pub create_claims: u32,
    /// Jobs whose parallelism and completions become the template's, serially (ELA-2).
    pub patch: Vec<u32>,
    /// Jobs to create, replicatedJob after replicatedJob, up to 50 of one replicatedJob at once (CRE-4).
    pub create: Vec<CreateJob>,
    /// Jobs whose `spec.suspend` is set, serially (SUS-1).
    pub suspend: Vec<u32>,
    /// Jobs that are resumed, serially (SUS-5).
    pub resume: Vec<u32>,
    pub delete_jobset: bool,
    /// The status to write, if `status_dirty`.
    pub status: JobSetStatus,
    pub status_dirty: bool,
    /// The Job that conditions and events name as the first that failed, as a position in `JobSetView::jobs`.
    pub failed_job: Option<u32>,
    /// Emitted only after the status write succeeded (REC-14).
    pub events: Vec<KubeEvent>,
    /// TTL only (REC-15).
    pub requeue_after: Option<Duration>,
    /// REC-13: the pass ends, status changes are discarded, back-off.
    pub error: Option<String>,
    /// Why, for the decision log: rule ids in the order they decided something.
    pub rules: Vec<&'static str>,
}

impl Plan {
    /// Empties the plan for the next pass and keeps its buffers; `status` is overwritten by the pass itself.
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

    /// Whether there are positions in `JobSetView::jobs` in it.
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

/// The outcome of one Job sync.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobPlan {
    /// Set FailureTarget (then Failed) with this reason and message; every active pod is deleted first.
    pub fail: Option<(Cow<'static, str>, String)>,
    /// Set SuccessCriteriaMet (then Complete) with this reason and message.
    pub complete: Option<(Cow<'static, str>, String)>,
    /// Delete active pods: all of them (failure, success, suspend) or this many (surplus).
    /// All of them with neither `fail` nor `complete` set: decided, but expectations are open, so it is not declared
    /// yet.
    pub delete_active: u32,
    /// Their tracking finalizer comes off before they are deleted: no end of theirs is counted (suspend, surplus).
    pub untracked: bool,
    /// Create this many missing pods, lowest indexes first, in slow-start batches; at most 500.
    pub create: u32,
    /// Sync again after this (pod-failure back-off, active deadline).
    pub requeue_after: Option<Duration>,
    /// What the Suspended condition should say now; False is written only where the condition exists.
    pub suspended_condition: Option<bool>,
}

impl JobPlan {
    /// Sync again after `left`, or earlier if that is planned already.
    pub fn requeue(&mut self, left: Duration) {
        self.requeue_after = Some(self.requeue_after.map_or(left, |r| r.min(left)));
    }

    /// Whether the Job ends, one way or the other.
    pub fn ends(&self) -> bool {
        self.fail.is_some() || self.complete.is_some()
    }
}
