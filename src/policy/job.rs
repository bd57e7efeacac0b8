//! Decisions of the Job controller in one sync (kubernetes.md 1.3 to 1.6; `pkg/controller/job/job_controller.go`).
//! Must never choose pods: it decides their number, the engine selects them.

pub mod backoff;
pub mod per_index;
pub mod pod_failure;
pub mod success;

use super::ttl::whole_seconds;
use super::{JobPlan, JobSyncView};
use sim_api::spec::{CompletionMode, JobSpec, KubeVersion, POD_FAILURE_POLICY, PodReplacementPolicy, RestartPolicy};
use sim_base::Duration;
use std::borrow::Cow;

/// `SyncJobBatchPeriod`: shorter delays are rounded up to it.
pub const SYNC_JOB_BATCH_PERIOD: Duration = Duration::from_secs(1);
/// The constant `MaxPodCreateDeletePerSync` of Kubernetes.
pub const MAX_POD_CREATE_DELETE_PER_SYNC: u32 = 500;

/// Reasons of `batch/v1`, each with the controller's message.
pub const BACKOFF_LIMIT_EXCEEDED: (&str, &str) =
    ("BackoffLimitExceeded", "Job has reached the specified backoff limit");
pub const DEADLINE_EXCEEDED: (&str, &str) = ("DeadlineExceeded", "Job was active longer than specified deadline");
pub const COMPLETIONS_REACHED: (&str, &str) = ("CompletionsReached", "Reached expected number of succeeded pods");
pub const JOB_SUSPENDED: (&str, &str) = ("JobSuspended", "Job suspended");
pub const JOB_RESUMED: (&str, &str) = ("JobResumed", "Job resumed");

/// Name of Kubernetes' built-in Job controller in spec.managedBy.
const JOB_CONTROLLER: &str = "kubernetes.io/job-controller";

/// Returns true if another controller manages the Job (feature gate JobManagedBy, on by default since 1.32).
pub fn managed_by_other(spec: &JobSpec, version: KubeVersion) -> bool {
    let other = spec.managed_by.as_deref().filter(|m| *m != JOB_CONTROLLER);
    version >= KubeVersion::new(32) && other.is_some()
}

/// One sync of an unfinished Job.
pub fn sync(view: &JobSyncView<'_>) -> JobPlan {
    let mut plan = JobPlan::default();
    let failure = failure(view, &mut plan);
    let success = match view.success_criteria_met.clone() {
        Some((reason, message)) => Some((reason, message.to_owned())),
        None if failure.is_some() => None,
        None => success::satisfied_message(view).map(|message| (success::SUCCESS_POLICY.into(), message)),
    };
    if success.is_some() || failure.is_some() {
        // All active pods are deleted immediately; the end is declared only when no expectations are open (1.3 step
        // 5).
        plan.delete_active = view.active;
        if view.expectations_satisfied {
            plan.complete = success;
            plan.fail = failure.map(|(reason, message)| (reason, message.to_string()));
        }
        return plan;
    }
    let managed = view.expectations_satisfied && !view.deleting;
    if managed {
        manage(view, &mut plan);
    }
    let active = view.active - plan.delete_active + plan.create;
    let complete = active == 0
        && match view.spec.completions() {
            Some(completions) => view.succeeded >= completions,
            None => view.succeeded > 0,
        };
    if complete {
        let (reason, message) = completions_reached(view.version);
        plan.complete = Some((reason.into(), message.to_owned()));
    } else if managed {
        plan.suspended_condition = Some(view.suspended);
    }
    plan
}

/// Until 1.30 the Complete condition had no reason or message.
fn completions_reached(version: KubeVersion) -> (&'static str, &'static str) {
    if version.delays_terminal_condition() { COMPLETIONS_REACHED } else { ("", "") }
}

/// 1.3 step 4: failure is evaluated before success. Also plans the sync for an active deadline.
fn failure<'v>(view: &JobSyncView<'v>, plan: &mut JobPlan) -> Option<(Cow<'static, str>, &'v str)> {
    if view.success_criteria_met.is_some() {
        return None;
    }
    if view.failure_target.is_some() {
        return view.failure_target.clone();
    }
    if let Some(message) = view.fail_job_message {
        return Some((POD_FAILURE_POLICY.into(), message));
    }
    if past_backoff_limit(view) {
        return Some(message(BACKOFF_LIMIT_EXCEEDED));
    }
    if let Some(left) = until_deadline(view) {
        if left == Duration::ZERO {
            return Some(message(DEADLINE_EXCEEDED));
        }
        plan.requeue_after = Some(left);
    }
    per_index::past_failed_indexes(view).map(message)
}

fn message((reason, message): (&'static str, &'static str)) -> (Cow<'static, str>, &'static str) {
    (reason.into(), message)
}

/// 1.6: counts failed pods and, with OnFailure, the container restarts of active pods.
fn past_backoff_limit(view: &JobSyncView<'_>) -> bool {
    let limit = i64::from(view.spec.backoff_limit());
    if i64::from(view.failed) > limit {
        return true;
    }
    view.spec.template.spec.restart_policy == RestartPolicy::OnFailure
        && i64::from(view.container_restarts) >= limit.max(1)
}

/// Time until activeDeadlineSeconds expires; zero afterwards. startTime is stored in whole seconds, so up to 1 s early.
fn until_deadline(view: &JobSyncView<'_>) -> Option<Duration> {
    let seconds = u64::try_from(view.spec.active_deadline_seconds?).unwrap_or(0);
    if view.suspended {
        return None;
    }
    // The first sync sets startTime to now.
    let start = view.start_time.map_or(view.now, whole_seconds);
    Some((start + Duration::from_secs(seconds)).since(view.now))
}

/// `manageJob`: either deletes or creates pods; deletion has precedence (1.3 step 6).
fn manage(view: &JobSyncView<'_>, plan: &mut JobPlan) {
    // Pods deleted by manageJob first lose their tracking finalizer, so they are never counted.
    plan.untracked = true;
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
    let surplus = view.active.saturating_sub(wanted).max(view.misplaced);
    if surplus > 0 {
        plan.delete_active = surplus.min(MAX_POD_CREATE_DELETE_PER_SYNC);
        return;
    }
    let replaces_failed_only = view.spec.pod_replacement_policy() == PodReplacementPolicy::Failed;
    let terminating = if replaces_failed_only { view.terminating } else { 0 };
    let missing = wanted.saturating_sub(view.active + terminating);
    if missing == 0 {
        return;
    }
    // With backoffLimitPerIndex each index has its own back-off; the engine selects the indexes that are due
    // (`backoff`).
    let left = if per_index::counts_per_index(view.spec) { Duration::ZERO } else { view.backoff.remaining(view.now) };
    if left > Duration::ZERO {
        plan.requeue(left.max(SYNC_JOB_BATCH_PERIOD));
        return;
    }
    plan.create = missing.min(MAX_POD_CREATE_DELETE_PER_SYNC).min(free_indexes(view, terminating));
}

/// 1.7: number of indexes that are neither active nor decided; a failed index is not retried.
fn free_indexes(view: &JobSyncView<'_>, terminating: u32) -> u32 {
    match (view.spec.completion_mode, view.spec.completions()) {
        (CompletionMode::Indexed, Some(completions)) => {
            let decided = view.succeeded + view.failed_indexes - view.failed_and_succeeded;
            completions.saturating_sub(decided + view.active + terminating)
        }
        _ => u32::MAX,
    }
}
