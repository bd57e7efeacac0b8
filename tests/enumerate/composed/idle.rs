//! Invariants of a Job when the Job controller is idle and its caches are up to date: no pod is forgotten, and the
//! controller waits for nothing that has happened already.
//!
//! Must never call `policy`: the invariants are stated independently.

use super::setups::{FATAL, Setup};
use super::world::*;
use sim_api::spec::{JobSpec, PodReplacementPolicy, RestartPolicy};

pub fn check(setup: &Setup, slot: usize, job: &Job) -> Option<&'static str> {
    let desk = &job.desk;
    let busy = desk.queued || desk.sync.is_some() || desk.object.is_some() || desk.pods.is_some();
    if busy || job.object.deleting || job.finished() {
        return None;
    }
    let s = &job.object.status;
    let spec = setup.rules(slot).spec;
    let count = |test: fn(&Pod) -> bool| job.pods.iter().filter(|p| test(p)).count() as u8;
    let (active, terminating) = (count(Pod::active), count(|p| p.deleting && !p.terminal()));
    let ready = count(|p| p.active() && p.phase == Phase::Ready);
    let kept = spec.backoff_limit_per_index.is_some();
    let tracked = count(|p| p.terminal() && p.finalizer) > 0 && !kept;
    let decided = s.failure_target.or(s.success_criteria_met).is_some();
    let broken = [
        ((active, ready, terminating) != (s.active, s.ready, s.terminating), "the status is out of date"),
        (tracked, "a terminated pod keeps its finalizer"),
        (decided && active > 0, "an active pod remains although the end is decided"),
        (decided && terminating == 0, "the end is decided, but the Job does not finish"),
    ];
    let broken = broken.into_iter().find_map(|(broken, what)| broken.then_some(what));
    if decided { broken } else { broken.or(check_undecided_job(setup, slot, job, (active, terminating))) }
}

/// Checks a Job whose end is not decided.
fn check_undecided_job(setup: &Setup, slot: usize, job: &Job, (active, terminating): (u8, u8)) -> Option<&'static str> {
    let s = &job.object.status;
    let spec = setup.rules(slot).spec;
    if job.object.suspended {
        let resting = active == 0 && s.suspended == Some(true);
        return (!resting).then_some("a suspended Job has active pods or no condition Suspended");
    }
    let completions = setup.rules(slot).completions();
    let done = (s.succeeded | s.failed_indexes).count_ones() as u8;
    let wanted = (completions - done).min(spec.parallelism() as u8);
    let only_failed = spec.pod_replacement_policy() == PodReplacementPolicy::Failed;
    let there = active + if only_failed { terminating } else { 0 };
    let waits = job.desk.timer && setup.waits;
    let broken = [
        (s.suspended == Some(true), "a resumed Job has the condition Suspended"),
        (done == completions, "every index is decided, but the Job is not"),
        (there > wanted || there < wanted && !waits, "there are too few or too many pods"),
        (job.overdue && s.started, "activeDeadlineSeconds is exceeded, but the Job has not failed"),
        (exceeds_restart_limit(spec, job), "container restarts exceed the limit, but the Job has not failed"),
        (spec.success_policy.is_some() && s.succeeded & 1 != 0, "successPolicy is met, but the Job is not complete"),
        (ignores_fatal_exit(spec, job), "an exit code of podFailurePolicy is ignored"),
    ];
    broken.into_iter().find_map(|(broken, what)| broken.then_some(what))
}

fn exceeds_restart_limit(spec: &JobSpec, job: &Job) -> bool {
    let restarts: i32 = job.pods.iter().filter(|p| p.active()).map(|p| i32::from(p.restarts)).sum();
    let limit = spec.backoff_limit().max(1);
    spec.template.spec.restart_policy == RestartPolicy::OnFailure && restarts >= limit
}

/// Returns whether a pod ended with the exit code that fails its index or its Job, and the failure was ignored.
fn ignores_fatal_exit(spec: &JobSpec, job: &Job) -> bool {
    let per_index = spec.backoff_limit_per_index.is_some();
    let heeded = |p: &Pod| per_index && job.object.status.failed_indexes & 1 << p.index != 0;
    let mut fatal = job.pods.iter().filter(|p| p.phase == Phase::Failed && p.exit_code == FATAL);
    spec.pod_failure_policy.is_some() && fatal.any(|p| !heeded(p))
}
