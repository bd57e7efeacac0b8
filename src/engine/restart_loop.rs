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
pub fn is_permanent(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents, restarting: &RestartLoop) -> bool {
    let limit = SimTime::ZERO + ctx.scenario.stop.at;
    let left = restarts_left(ctx, restarting.job);
    let mut jobsets = ctx.scenario.jobsets.iter().map(|js| js.submit_at);
    let all_submitted = jobsets.all(|at| at == BY_SCRIPT || SimTime::ZERO + at <= ctx.now);
    let is_script_done = all_submitted && parts.script.is_finished();
    is_script_done && restarting.runs_past(left, limit.since(ctx.now))
}

/// Restarts that maxRestarts still allows (FP-7).
fn restarts_left(ctx: &EngineContext<'_>, job: JobId) -> i64 {
    let jobset = &ctx.store.jobsets[ctx.store.jobs[job.ix()].jobset.ix()];
    let policy = jobset.spec.spec.failure_policy.as_ref();
    let max = policy.map_or(0, |policy| i64::from(policy.max_restarts));
    max - jobset.status.budget_used()
}

/// Describes the loop in one sentence for users.
pub fn describe(ctx: &EngineContext<'_>, restarting: &RestartLoop) -> String {
    let store = &ctx.store;
    let (j, name) = (&store.jobs[restarting.job.ix()], store.names.job(restarting.job));
    let jobset = &store.names.jobsets[j.jobset.ix()].name;
    let (times, restarts) = (restarting.times, restarting.restarts);
    let cause = match (restarts, j.spec.ttl_seconds_after_finished) {
        // REC-9: the JobSet controller recreates a missing Job, for any reason of its deletion.
        (0, Some(ttl)) => format!(
            "without a restart; its ttlSecondsAfterFinished {ttl} deletes it after it has finished, and the JobSet \
             controller recreates the missing Job; remove the field, or set it on the JobSet"
        ),
        (0, None) => {
            "without a restart; it is deleted after each creation, and the JobSet controller recreates it".to_owned()
        }
        _ if restarting.counted == 0 => format!(
            "within {} in {restarts} restarts, none of which counts towards maxRestarts, so their number is unlimited",
            restarting.duration
        ),
        _ => format!(
            "within {} in {restarts} restarts; it fails after each restart, and maxRestarts allows {} more",
            restarting.duration,
            restarts_left(ctx, restarting.job)
        ),
    };
    format!("JobSet {jobset} is in a restart loop: Job {name} was created {times} times {cause}")
}
