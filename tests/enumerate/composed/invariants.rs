//! Invariants of Jobs and their pods, in a state and between consecutive states.
//!
//! Must never call `policy`: the invariants are stated independently.

use super::setups::Setup;
use super::world::*;
use super::{idle, writes};
use crate::invariants as of_jobsets;

pub fn check_state(setup: &Setup, state: &State) -> Result<(), String> {
    of_jobsets::check_state(&setup.base.jobset, &state.js.status)?;
    for (slot, job) in state.jobs.iter().enumerate() {
        let Some(job) = job else { continue };
        let broken = conditions(setup, slot, job).or(counters(setup, slot, job));
        let broken = broken.or(pods(setup, slot, job)).or(idle::check(setup, slot, job));
        if let Some(broken) = broken {
            return Err(format!("Job {slot}: {broken}: {job:?}"));
        }
    }
    Ok(())
}

fn conditions(setup: &Setup, slot: usize, job: &Job) -> Option<&'static str> {
    let s = &job.object.status;
    let delays = setup.rules(slot).version.delays_terminal_condition();
    let ended = job.pods.iter().all(Pod::terminal);
    let broken = [
        (s.failed_for.is_some() && s.complete_for.is_some(), "the Job is both Complete and Failed"),
        (
            s.failure_target.is_some() && s.success_criteria_met.is_some(),
            "the Job has both FailureTarget and SuccessCriteriaMet",
        ),
        (
            delays && s.failed_for.is_some() && s.failed_for != s.failure_target,
            "the reason of Failed differs from that of FailureTarget",
        ),
        (
            delays && s.complete_for.is_some() && s.complete_for != s.success_criteria_met,
            "the reason of Complete differs from that of SuccessCriteriaMet",
        ),
        (delays && s.finished() && !ended, "the Job finished before all of its pods terminated"),
    ];
    broken.into_iter().find_map(|(broken, what)| broken.then_some(what))
}

fn counters(setup: &Setup, slot: usize, job: &Job) -> Option<&'static str> {
    let s = &job.object.status;
    let spec = setup.rules(slot).spec;
    let decided = s.failure_target.or(s.success_criteria_met).is_some() || s.finished();
    // With a stale cache, FailureTarget may be set a sync later. Before 1.31, Failed is set last and without
    // FailureTarget.
    let delays = setup.rules(slot).version.delays_terminal_condition();
    let open = !decided && delays && !setup.job_lags;
    let passed = |n: u32, limit: i32| i64::from(n) > i64::from(limit);
    let failed_indexes = s.failed_indexes.count_ones();
    let max = spec.max_failed_indexes;
    let limit = spec.backoff_limit_per_index.unwrap_or(i32::MAX);
    let per_index = job.pods.iter().any(|p| passed(u32::from(p.failures.0), limit));
    let completions = u32::from(setup.rules(slot).completions());
    // Permitted in Kubernetes: a deleted pod may still succeed while its replacement fails permanently.
    let twice = !setup.faults.deleted && s.succeeded & s.failed_indexes != 0;
    let broken = [
        (s.succeeded.count_ones() > completions, "more successes than completions"),
        (twice, "an index both succeeded and failed"),
        (s.failures() > u32::from(job.lost.0), "a failure is counted twice"),
        (open && passed(s.failures(), spec.backoff_limit()), "the Job continues beyond backoffLimit"),
        (open && max.is_some_and(|max| passed(failed_indexes, max)), "the Job continues beyond maxFailedIndexes"),
        (per_index, "an index is retried beyond backoffLimitPerIndex"),
    ];
    broken.into_iter().find_map(|(broken, what)| broken.then_some(what))
}

fn pods(setup: &Setup, slot: usize, job: &Job) -> Option<&'static str> {
    let active = || job.pods.iter().filter(|p| p.active());
    let twin = active().any(|p| active().any(|q| q.uid != p.uid && q.index == p.index));
    let many = active().count() as u32 > setup.rules(slot).spec.parallelism();
    let broken = [(twin, "two active pods of one index"), (many, "more active pods than parallelism")];
    broken.into_iter().find_map(|(broken, what)| broken.then_some(what))
}

/// Checks the invariants of a transition between two states.
pub fn check_transition(setup: &Setup, before: &State, after: &State) -> Result<(), String> {
    of_jobsets::check_transition(setup.base.gates, &before.js.status, &after.js.status)?;
    for (slot, (old, new)) in before.jobs.iter().zip(&after.jobs).enumerate() {
        let (Some(old), Some(new)) = (old, new) else {
            continue;
        };
        if let Some(broken) = writes::check_created_pods(setup, slot, old, new) {
            return Err(format!("Job {slot}: {broken}: {old:?}, then {new:?}"));
        }
    }
    Ok(())
}
