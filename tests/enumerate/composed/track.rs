//! Computes the status that a sync will store and the finalizers that it will remove
//! (`trackJobStatusAndRemoveFinalizers`).
//!
//! Must never write; `status.rs` does that step by step.

use super::count::Counted;
use super::rules::{Rules, time};
use super::world::*;
use sim_policy::JobPlan;
use sim_policy::job::per_index::counts_per_index;
use std::borrow::Cow;

/// Computes the new status and the pods whose finalizer is removed.
pub fn track(rules: Rules<'_>, job: &mut Job, object: &Object, pods: &[Pod], counted: &Counted, plan: &JobPlan) {
    let old = object.status;
    let mut s = old;
    s.active = counted.active.len() as u8;
    (s.ready, s.terminating) = (counted.ready, counted.terminating);
    if let Some(to) = plan.suspended_condition.filter(|to| *to || s.suspended.is_some())
        && s.suspended != Some(to)
    {
        (s.suspended, s.started) = (Some(to), !to);
    }
    s.started |= !object.suspended;
    settle(&mut s, counted.tracked);
    let finalize = finalizers_to_remove(rules, &mut s, object, pods, counted, plan);
    s.succeeded = counted.succeeded;
    s.failed_indexes = counted.failed_indexes;
    let delays = rules.version.delays_terminal_condition();
    let fail = plan.fail.as_ref().map(|(why, _)| static_reason(why.clone()));
    let complete = plan.complete.as_ref().map(|(why, _)| static_reason(why.clone()));
    if delays || fail == Some(sim_api::spec::POD_FAILURE_POLICY) {
        s.failure_target = s.failure_target.or(fail);
    }
    s.success_criteria_met = s.success_criteria_met.or(complete.filter(|_| delays));
    let unstarted = Status { started: old.started, ..s };
    job.desk.sync = Some(Sync {
        step: Step::FirstStatus,
        behind: job.desk.object.is_some(),
        status: s,
        flush: unstarted != old || s.suspended != old.suspended,
        finalize,
        tracked: counted.tracked,
        end: fail.map(|why| (true, why)).or(complete.map(|why| (false, why))),
        backoff: (counted.backoff.failures as u8, counted.backoff.last_failure.map(|at| at == time(true))),
    });
}

/// Returns the pods whose finalizer is removed, and adds failures to the uncounted list.
fn finalizers_to_remove(
    rules: Rules<'_>, s: &mut Status, object: &Object, pods: &[Pod], counted: &Counted, plan: &JobPlan,
) -> Uids {
    let mut finalize = 0;
    for p in pods.iter().filter(|p| counted.tracked & 1 << p.uid != 0) {
        let failed = rules.failed(p);
        let kept = counts_per_index(rules.spec) && counted.delayed.iter().any(|d| d.uid == p.uid);
        let all = object.deleting || plan.ends_job() || p.phase == Phase::Succeeded;
        if !(all || failed && !kept) {
            continue;
        }
        finalize |= 1 << p.uid;
        // Pods that a failing Job deletes count as failed, regardless of their exit codes.
        let fails = p.phase != Phase::Succeeded && (failed || plan.fail.is_some());
        if fails && rules.verdict(p).counts {
            s.uncounted |= 1 << p.uid;
        }
    }
    finalize
}

/// cleanUncountedPodsWithoutFinalizers: moves pods without a finalizer from the uncounted list to the counter.
pub fn settle(s: &mut Status, tracked: Uids) {
    let counted = s.uncounted & !tracked;
    s.failed += counted.count_ones() as u8;
    s.uncounted &= tracked;
}

/// Returns a reason that the controller itself set.
fn static_reason(reason: Cow<'static, str>) -> &'static str {
    match reason {
        Cow::Borrowed(own) => own,
        Cow::Owned(other) => panic!("unexpected reason {other}"),
    }
}
