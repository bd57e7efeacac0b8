//! ttlSecondsAfterFinished: when a finished JobSet is deleted (TTL-1 to TTL-3).
//! Must never run before the active Jobs of the finished JobSet are deleted (TTL-2).

use super::{ActionPlan, JobSetView, conditions};
use sim_base::time::NANOS_PER_SECOND;
use sim_base::{Duration, SimTime};

/// Truncates to whole seconds, as the API stores times (C-35).
pub fn whole_seconds(t: SimTime) -> SimTime {
    SimTime(t.0 / NANOS_PER_SECOND * NANOS_PER_SECOND)
}

/// TTL-1: deletes the JobSet if it is due, or requeues it for that time.
pub fn after_finished(view: &JobSetView<'_>, plan: &mut ActionPlan) {
    let Some(ttl) = view.jobset.spec.ttl_seconds_after_finished else {
        return;
    };
    let Some(finished) = conditions::terminal(view.status) else {
        return;
    };
    let due = whole_seconds(finished.last_transition) + Duration::from_secs(u64::from(ttl));
    if view.now >= due {
        plan.delete_jobset = true;
    } else {
        plan.requeue_after = Some(due.since(view.now));
    }
    plan.rules.push("TTL-1");
}
