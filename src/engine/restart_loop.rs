//! Restart loops: decides whether a Job that was recreated many times is in a loop that only the time limit would
//! stop, and describes it.
//!
//! Must never change any state.

use super::ControlPlaneComponents;
use super::ctx::EngineContext;
use super::progress::RestartLoop;
use sim_api::spec::BY_SCRIPT;
use sim_base::{JobId, SimTime};

/// Returns true if only the time limit ends the loop: neither the script nor a restart limit stops it before.
pub fn is_permanent(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents, circle: &RestartLoop) -> bool {
    let limit = SimTime::ZERO + ctx.scenario.stop.at;
    let left = restarts_left(ctx, circle.job);
    let mut jobsets = ctx.scenario.jobsets.iter().map(|js| js.submit_at);
    let all_came = jobsets.all(|at| at == BY_SCRIPT || SimTime::ZERO + at <= ctx.now);
    let nobody_acts = all_came && parts.script.is_finished();
    nobody_acts && circle.runs_past(left, limit.since(ctx.now))
}

/// Restarts that maxRestarts still allows (FP-7).
fn restarts_left(ctx: &EngineContext<'_>, job: JobId) -> i64 {
    let jobset = &ctx.store.jobsets[ctx.store.jobs[job.ix()].jobset.ix()];
    let policy = jobset.spec.spec.failure_policy.as_ref();
    let max = policy.map_or(0, |policy| i64::from(policy.max_restarts));
    max - jobset.status.budget_used()
}

/// Describes the loop in one sentence for users.
pub fn describe(ctx: &EngineContext<'_>, circle: &RestartLoop) -> String {
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
            circle.duration
        ),
        _ => format!(
            "within {}, for {restarts} restarts: it fails again each time, and maxRestarts allows {} more",
            circle.duration,
            restarts_left(ctx, circle.job)
        ),
    };
    format!("JobSet {jobset} is in a restart loop: Job {name} was created {times} times {cause}")
}
