//! Restart loops: decides whether a Job that was recreated many times is in a loop that only the time limit would
//! stop, and describes it.
//!
//! Must never change any state.

use super::Components;
use super::ctx::Ctx;
use super::progress::Circle;
use sim_api::spec::BY_SCRIPT;
use sim_base::*;

/// Returns true if only the time limit ends the loop: neither the script nor a restart limit stops it before.
pub fn lasts(ctx: &Ctx<'_>, parts: &Components, circle: &Circle) -> bool {
    let limit = Time::ZERO + ctx.scenario.stop.at;
    let left = restarts_left(ctx, circle.job);
    let mut jobsets = ctx.scenario.jobsets.iter().map(|js| js.submit_at);
    let all_came = jobsets.all(|at| at == BY_SCRIPT || Time::ZERO + at <= ctx.now);
    let nobody_acts = all_came && parts.user.script_is_over();
    nobody_acts && circle.outlasts(left, limit.since(ctx.now))
}

/// Restarts that maxRestarts still allows (FP-7).
fn restarts_left(ctx: &Ctx<'_>, job: JobId) -> i64 {
    let jobset = &ctx.store.jobsets[ctx.store.jobs[job.ix()].jobset.ix()];
    let policy = jobset.spec.spec.failure_policy.as_ref();
    let max = policy.map_or(0, |policy| i64::from(policy.max_restarts));
    max - jobset.status.budget_used()
}

/// Describes the loop in one sentence for users.
pub fn sentence(ctx: &Ctx<'_>, circle: &Circle) -> String {
    let store = &ctx.store;
    let (j, name) = (&store.jobs[circle.job.ix()], store.names.job(circle.job));
    let jobset = &store.names.jobsets[j.jobset.ix()].name;
    let (times, restarts) = (circle.times, circle.restarts);
    let cause = match (restarts, j.spec.ttl_seconds_after_finished) {
        // REC-9: the JobSet controller recreates a missing Job, whatever deleted it.
        (0, Some(ttl)) => format!(
            "without a restart; its ttlSecondsAfterFinished {ttl} deletes it when it has finished, and the JobSet \
             controller makes the missing Job again; leave it away, or set it on the JobSet"
        ),
        (0, None) => {
            "without a restart; it is deleted as soon as it is there, and the JobSet controller makes it again"
                .to_owned()
        }
        _ if circle.counted == 0 => format!(
            "within {}, for {restarts} restarts, none of which counts towards maxRestarts: nothing limits them",
            circle.within
        ),
        _ => format!(
            "within {}, for {restarts} restarts: it fails again each time, and maxRestarts allows {} more",
            circle.within,
            restarts_left(ctx, circle.job)
        ),
    };
    format!("JobSet {jobset} goes round in circles: Job {name} was made {times} times {cause}")
}
