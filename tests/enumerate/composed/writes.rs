//! Invariants of single writes of the Job controller: a status or a new pod.
//!
//! Must never call `policy`: the invariants are stated independently.

use super::rules::Rules;
use super::setups::Setup;
use super::world::*;

/// Checks the invariants of a status write.
pub fn check_status_write(rules: Rules<'_>, job: &Job, new: &Status) -> Result<(), String> {
    let old = &job.object.status;
    let delays = rules.version.delays_terminal_condition();
    let target = new.failure_target.filter(|_| old.failure_target.is_none());
    let restarts: u32 = job.pods.iter().map(|p| u32::from(p.restarts)).sum();
    let limit = i64::from(rules.spec.backoff_limit());
    let passed = i64::from(new.failures()) > limit || i64::from(restarts) >= limit.max(1);
    let too_early = target == Some("BackoffLimitExceeded") && !passed;
    let stays = |old: Option<&str>, new: Option<&str>| old.is_none() || old == new;
    let final_ = stays(old.failure_target, new.failure_target)
        && stays(old.success_criteria_met, new.success_criteria_met)
        && stays(old.failed_for, new.failed_for)
        && stays(old.complete_for, new.complete_for);
    let failed_now = new.failed_for.is_some() && old.failed_for.is_none();
    let completed_now = new.complete_for.is_some() && old.complete_for.is_none();
    let broken = [
        (new.failed < old.failed, "status.failed decreased"),
        (new.failures() < old.failures(), "the number of failures decreased"),
        (old.succeeded & !new.succeeded != 0, "an index is no longer succeeded"),
        (old.failed_indexes & !new.failed_indexes != 0, "an index is no longer failed"),
        (too_early, "the Job fails before its backoffLimit"),
        (!final_, "a final condition changed"),
        (old.finished(), "the status of a finished Job is written"),
        (delays && failed_now && old.failure_target.is_none(), "Failed was set without an earlier FailureTarget"),
        (
            delays && completed_now && old.success_criteria_met.is_none(),
            "Complete was set without an earlier SuccessCriteriaMet",
        ),
    ];
    let broken = broken.into_iter().find_map(|(broken, what)| broken.then_some(what));
    broken.map_or(Ok(()), |what| Err(format!("{what}: {old:?}, then {new:?}")))
}

/// Checks that pods are created only for a Job that needs them. With a stale cache, a sync cannot know that.
pub fn check_created_pods(setup: &Setup, slot: usize, old: &Job, new: &Job) -> Option<&'static str> {
    let fresh = || new.pods.iter().filter(|p| old.pods.iter().all(|q| q.uid != p.uid));
    if setup.job_lags || fresh().next().is_none() {
        return None;
    }
    let s = &old.object.status;
    let spec = setup.rules(slot).spec;
    let decided = s.failure_target.or(s.success_criteria_met).is_some() || s.finished();
    let unwanted = old.object.deleting || old.object.suspended || decided;
    let beyond = i64::from(s.failures()) > i64::from(spec.backoff_limit());
    let recent = |p: &Pod| p.recent && (p.phase == Phase::Failed || p.deleting);
    let waits = |index: u8| old.pods.iter().any(|p| recent(p) && p.index == index);
    // Any success resets the failures of a whole Job, but not those of an index that is counted separately.
    let success = s.succeeded != 0 || old.pods.iter().any(|p| p.phase == Phase::Succeeded);
    let forgotten = success && spec.backoff_limit_per_index.is_none();
    let too_early = fresh().any(|p| waits(p.index)) && !forgotten;
    let done = fresh().any(|p| (s.succeeded | s.failed_indexes) & 1 << p.index != 0);
    let broken = [
        (unwanted, "a pod is created for a Job that is ending, suspended or deleting"),
        (beyond, "a pod is created beyond backoffLimit"),
        (too_early, "a pod is created before the back-off of its index is over"),
        (done, "a pod is created for a succeeded or failed index"),
    ];
    broken.into_iter().find_map(|(broken, what)| broken.then_some(what))
}
