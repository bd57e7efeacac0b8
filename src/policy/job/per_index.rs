//! Permanently failed indexes of a Job: backoffLimitPerIndex and maxFailedIndexes (kubernetes.md 1.6;
//! `pkg/controller/job/indexed_job_utils.go`). Must never compute a back-off; this is done by `backoff`.

use super::pod_failure::RuleVerdict;
use crate::JobSyncView;
use sim_api::spec::{CompletionMode, JobSpec, PodFailurePolicyAction};

pub const MAX_FAILED_INDEXES_EXCEEDED: (&str, &str) =
    ("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
pub const FAILED_INDEXES: (&str, &str) = ("FailedIndexes", "Job has failed indexes");

/// Returns true if the Job counts failures per index.
pub fn counts_per_index(spec: &JobSpec) -> bool {
    spec.completion_mode == CompletionMode::Indexed && spec.backoff_limit_per_index.is_some()
}

/// Returns true if a failed pod makes its index fail permanently: FailIndex matched, or the earlier failures of the
/// index (`failures_before`, without ignored ones) have reached the limit.
pub fn index_fails(spec: &JobSpec, verdict: &RuleVerdict, failures_before: u32) -> bool {
    if !counts_per_index(spec) {
        return false;
    }
    let limit = spec.backoff_limit_per_index.unwrap_or(0);
    verdict.action == Some(PodFailurePolicyAction::FailIndex)
        || (verdict.counts && i64::from(failures_before) >= i64::from(limit))
}

/// The reason why the Job fails because of failed indexes, if it does.
pub fn past_failed_indexes(view: &JobSyncView<'_>) -> Option<(&'static str, &'static str)> {
    if !counts_per_index(view.spec) {
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
