//! The reconciler of a JobSet that Kueue manages (`pkg/controller/jobframework`).

use crate::workload::{ConditionType, Workload, reasons};
use sim_base::SimTime;
use std::collections::BTreeMap;

/// What the reconciler sees of the JobSet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobView {
    pub is_suspended: bool,
    /// Whether a Job of the JobSet has active pods.
    pub is_active: bool,
    /// Whether the JobSet succeeded, and the message of its condition, once it has ended.
    pub finished: Option<(bool, String)>,
    /// Whether all Jobs are ready or succeeded.
    pub is_ready: bool,
    /// Pods that no longer need quota, by pod set.
    pub reclaimable: BTreeMap<String, u32>,
    /// Whether the JobSet is deleted.
    pub is_deleted: bool,
}

/// Changes of one pass. The JobSet is changed before the Workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobPlan {
    /// New value of `suspend`.
    pub suspend: Option<bool>,
    /// New state of the Workload.
    pub workload: Option<Workload>,
}

/// Runs one pass. The caller repeats it after each change.
pub fn reconcile_job(workload: &Workload, job: &JobView, tracks_readiness: bool, now: SimTime) -> JobPlan {
    let changed = |f: &dyn Fn(&mut Workload) -> bool| {
        let mut new = workload.clone();
        f(&mut new).then_some(new)
    };
    let only = |workload: Option<Workload>| JobPlan { suspend: None, workload };
    let finish = |reason: &str, message: &str| {
        only(changed(&|w| w.status.set(ConditionType::Finished, true, reason, message, now)))
    };
    if workload.is_finished() {
        return JobPlan::default();
    }
    if job.is_deleted {
        return finish(reasons::OWNER_NOT_FOUND, "The workload's owner no longer exists");
    }
    if let Some((has_succeeded, message)) = &job.finished {
        return finish(if *has_succeeded { reasons::SUCCEEDED } else { reasons::FAILED }, message);
    }
    if workload.status.reclaimable != job.reclaimable {
        return only(changed(&|w| {
            w.status.reclaimable.clone_from(&job.reclaimable);
            true
        }));
    }
    if tracks_readiness {
        let (status, reason, message) = readiness(workload, job);
        let old = workload.condition(ConditionType::PodsReady);
        if old.is_none_or(|c| c.status != status || c.reason != reason) {
            return only(changed(&|w| w.status.set(ConditionType::PodsReady, status, reason, message, now)));
        }
    }
    if let Some(evicted) = workload.condition(ConditionType::Evicted).filter(|c| c.status) {
        let suspend = (!job.is_suspended).then_some(true);
        let (reason, message) = (&evicted.reason, &evicted.message);
        let clear = |w: &mut Workload| {
            let is_requeued = [reasons::PREEMPTED, reasons::NODE_FAILURES].contains(&&**reason);
            let requeued = w.status.set(ConditionType::Requeued, is_requeued, reason, message, now);
            w.unset_reservation(reasons::PENDING_EVALUATION, message, now) | requeued
        };
        let is_stopped = workload.has_reservation() && !job.is_active;
        return JobPlan { suspend, workload: if is_stopped { changed(&clear) } else { None } };
    }
    if job.is_suspended == workload.is_admitted() {
        return JobPlan { suspend: Some(!workload.is_admitted()), workload: None };
    }
    JobPlan::default()
}

/// Returns status, reason and message of the condition PodsReady.
fn readiness(workload: &Workload, job: &JobView) -> (bool, &'static str, &'static str) {
    const NOT_READY: &str = "Not all pods are ready or succeeded";
    const RECOVERING: &str = "At least one pod has failed, waiting for recovery";
    const READY: &str = "All pods reached readiness and the workload is running";
    let old = workload.condition(ConditionType::PodsReady);
    let has_recovery_reason =
        old.is_some_and(|c| [reasons::WAIT_FOR_RECOVERY, reasons::RECOVERED].contains(&&*c.reason));
    if !workload.is_admitted() {
        return (false, reasons::WAIT_FOR_START, NOT_READY);
    }
    if job.is_ready {
        return (true, if has_recovery_reason { reasons::RECOVERED } else { reasons::STARTED }, READY);
    }
    if old.is_some_and(|c| c.status || c.reason == reasons::WAIT_FOR_RECOVERY) {
        return (false, reasons::WAIT_FOR_RECOVERY, RECOVERING);
    }
    (false, reasons::WAIT_FOR_START, NOT_READY)
}
