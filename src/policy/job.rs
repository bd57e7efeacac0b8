//! What the Job controller decides in one sync (kubernetes.md 1.3 to 1.6; `pkg/controller/job/job_controller.go`).
//!
//! Must never choose a pod: it says how many, the engine says which.

use super::ttl::whole_seconds;
use super::{JobPlan, JobSyncView};
use crate::base::{Duration, Time};
use crate::spec::{CompletionMode, PodReplacementPolicy, RestartPolicy};

/// `SyncJobBatchPeriod`: shorter delays are rounded up to it.
pub const SYNC_JOB_BATCH_PERIOD: Duration = Duration::from_secs(1);
/// `DefaultJobPodFailureBackOff` and `MaxJobPodFailureBackOff`.
pub const POD_FAILURE_BACK_OFF: Duration = Duration::from_secs(10);
pub const MAX_POD_FAILURE_BACK_OFF: Duration = Duration::from_secs(600);
/// `MaxPodCreateDeletePerSync`.
pub const MAX_POD_CREATE_DELETE_PER_SYNC: u32 = 500;

/// `batch/v1` JobReason…; each with the message the controller writes.
pub const POD_FAILURE_POLICY: &str = "PodFailurePolicy";
pub const BACKOFF_LIMIT_EXCEEDED: (&str, &str) = (
    "BackoffLimitExceeded",
    "Job has reached the specified backoff limit",
);
pub const DEADLINE_EXCEEDED: (&str, &str) = (
    "DeadlineExceeded",
    "Job was active longer than specified deadline",
);
pub const MAX_FAILED_INDEXES_EXCEEDED: (&str, &str) = (
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
);
pub const FAILED_INDEXES: (&str, &str) = ("FailedIndexes", "Job has failed indexes");
pub const COMPLETIONS_REACHED: (&str, &str) = (
    "CompletionsReached",
    "Reached expected number of succeeded pods",
);
pub const JOB_SUSPENDED: (&str, &str) = ("JobSuspended", "Job suspended");
pub const JOB_RESUMED: (&str, &str) = ("JobResumed", "Job resumed");

/// One sync of a Job that is not finished.
pub fn sync(view: &JobSyncView<'_>) -> JobPlan {
    let mut plan = JobPlan::default();
    let failure = failure(view, &mut plan);
    if view.success_criteria_met || failure.is_some() {
        // Every active pod goes at once; the end is declared only with expectations settled (1.3 step 5).
        plan.delete_active = view.active;
        if view.expectations_satisfied {
            plan.complete = view.success_criteria_met;
            plan.fail = failure.map(|(reason, message)| (reason, message.to_string()));
        }
        return plan;
    }
    let managed = view.expectations_satisfied && !view.deleting;
    if managed {
        manage(view, &mut plan);
    }
    let active = view.active - plan.delete_active + plan.create;
    plan.complete = active == 0
        && match view.spec.completions() {
            Some(completions) => view.succeeded >= completions,
            None => view.succeeded > 0,
        };
    if managed && !plan.complete {
        plan.suspended_condition = Some(view.suspended);
    }
    plan
}

/// 1.3 step 4: failure is evaluated before success. Sets the requeue for an active deadline on the way.
fn failure<'v>(view: &JobSyncView<'v>, plan: &mut JobPlan) -> Option<(&'static str, &'v str)> {
    if view.success_criteria_met {
        return None;
    }
    if view.failure_target.is_some() {
        return view.failure_target;
    }
    if let Some(message) = view.fail_job_message {
        return Some((POD_FAILURE_POLICY, message));
    }
    if past_backoff_limit(view) {
        return Some(BACKOFF_LIMIT_EXCEEDED);
    }
    if let Some(left) = until_deadline(view) {
        if left == Duration::ZERO {
            return Some(DEADLINE_EXCEEDED);
        }
        plan.requeue_after = Some(left);
    }
    past_failed_indexes(view)
}

/// 1.6: failed pods, and with OnFailure also the sum of container restarts of active pods.
fn past_backoff_limit(view: &JobSyncView<'_>) -> bool {
    let limit = i64::from(view.spec.backoff_limit());
    if i64::from(view.failed) > limit {
        return true;
    }
    view.spec.template.spec.restart_policy == RestartPolicy::OnFailure
        && i64::from(view.container_restarts) >= limit.max(1)
}

/// Time until activeDeadlineSeconds; zero once it is over. startTime is stored in whole seconds, so up to 1 s early.
fn until_deadline(view: &JobSyncView<'_>) -> Option<Duration> {
    let seconds = u64::try_from(view.spec.active_deadline_seconds?).unwrap_or(0);
    if view.suspended {
        return None;
    }
    // The first sync sets startTime to now.
    let start = view.start_time.map_or(view.now, whole_seconds);
    Some((start + Duration::from_secs(seconds)).since(view.now))
}

/// 1.6: only with backoffLimitPerIndex.
fn past_failed_indexes(view: &JobSyncView<'_>) -> Option<(&'static str, &'static str)> {
    let indexed = view.spec.completion_mode == CompletionMode::Indexed;
    if !indexed || view.spec.backoff_limit_per_index.is_none() {
        return None;
    }
    let limit = view.spec.max_failed_indexes;
    if limit.is_some_and(|max| i64::from(view.failed_indexes) > i64::from(max)) {
        return Some(MAX_FAILED_INDEXES_EXCEEDED);
    }
    let decided = view.failed_indexes + view.succeeded;
    let all = view.spec.completions().is_some_and(|c| decided >= c);
    (view.failed_indexes > 0 && all).then_some(FAILED_INDEXES)
}

/// `manageJob`: either deletes or creates, deletes win (1.3 step 6).
fn manage(view: &JobSyncView<'_>, plan: &mut JobPlan) {
    if view.suspended {
        plan.delete_active = view.active;
        return;
    }
    let parallelism = view.spec.parallelism();
    let wanted = match view.spec.completions() {
        Some(completions) => completions.saturating_sub(view.succeeded).min(parallelism),
        None if view.succeeded > 0 => view.active,
        None => parallelism,
    };
    if view.active > wanted {
        plan.delete_active = (view.active - wanted).min(MAX_POD_CREATE_DELETE_PER_SYNC);
        return;
    }
    let replaces_failed_only = view.spec.pod_replacement_policy() == PodReplacementPolicy::Failed;
    let terminating = if replaces_failed_only {
        view.terminating
    } else {
        0
    };
    let missing = wanted.saturating_sub(view.active + terminating);
    if missing == 0 {
        return;
    }
    let left = pod_failure_back_off(view.backoff_failures, view.last_failure, view.now);
    if left > Duration::ZERO {
        let left = left.max(SYNC_JOB_BATCH_PERIOD);
        plan.requeue_after = Some(plan.requeue_after.map_or(left, |r| r.min(left)));
        return;
    }
    plan.create = missing
        .min(MAX_POD_CREATE_DELETE_PER_SYNC)
        .min(free_indexes(view, terminating));
}

/// 1.7: indexes that are neither active nor decided; a failed index is not tried again.
fn free_indexes(view: &JobSyncView<'_>, terminating: u32) -> u32 {
    match (view.spec.completion_mode, view.spec.completions()) {
        (CompletionMode::Indexed, Some(completions)) => completions
            .saturating_sub(view.succeeded + view.failed_indexes + view.active + terminating),
        _ => u32::MAX,
    }
}

/// 1.5: 10 s · 2^(f−1), at most 600 s, from the finish of the last failed pod (stored in whole seconds).
pub fn pod_failure_back_off(failures: u32, last_failure: Option<Time>, now: Time) -> Duration {
    let Some(last) = last_failure.filter(|_| failures > 0) else {
        return Duration::ZERO;
    };
    // 2^6 · 10 s is beyond the cap already.
    let factor = 1 << (failures - 1).min(6);
    let whole = POD_FAILURE_BACK_OFF
        .saturating_mul(factor)
        .min(MAX_POD_FAILURE_BACK_OFF);
    (whole_seconds(last) + whole).since(now)
}
