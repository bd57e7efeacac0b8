//! The outcome of a run: final states, the closed ledger, and the usage of shared resources.

use super::ctx::EngineContext;
use super::run::EngineRun;
use super::script::object_json;
use super::token_bucket::{BusyTimes, TokenBucket};
use super::{ControlPlaneComponents, diagnosis};
use crate::record::{ConditionOutcome, EndReason, JobSetOutcome, LedgerResource, ResourceUsage, RunOutcome};
use sim_api::spec::ClientRate;
use sim_base::JobSetId;
use sim_policy::TerminalState;

pub fn run_outcome(run: &mut EngineRun<'_>, end_reason: EndReason) -> RunOutcome {
    let (ctx, parts) = (&mut run.ctx, &mut *run.components);
    parts.accounting.settle_history(ctx);
    if ctx.sink.receives_objects() {
        let all = object_json::all_objects(ctx, &parts.kubelet);
        ctx.sink.objects(&all);
    }
    // Before the training jobs are closed: a hang ends with its segment.
    let blocked = diagnosis::describe_blocked(ctx, parts, end_reason);
    let training = parts.training.close(ctx, &mut parts.accounting);
    let currency = &ctx.store.nodes.cluster.currency;
    let ledger = parts.accounting.ledger.close(ctx.now, currency);
    let jobsets = (0..ctx.store.jobsets.len() as u32).map(JobSetId);
    let jobsets = jobsets.map(|js| jobset_outcome(ctx, parts, (js, end_reason))).collect();
    RunOutcome {
        end: ctx.now,
        end_reason,
        digest: ctx.digest,
        records: ctx.records,
        events: run.events,
        blocked,
        jobsets,
        training,
        ledger,
        resources: resource_usages(ctx, parts),
        requests: ctx.requests.counts(),
        warnings: warnings(ctx, parts),
        pending: Vec::new(),
    }
}

fn jobset_outcome(
    ctx: &mut EngineContext<'_>, parts: &mut ControlPlaneComponents, (jobset, reason): (JobSetId, EndReason),
) -> JobSetOutcome {
    // Also at the time limit: more time might have helped, or might not.
    let over = matches!(reason, EndReason::Stuck | EndReason::TimeLimit);
    let never_placed = over.then(|| diagnosis::never_placed_reason(ctx, parts, jobset));
    let never_placed = never_placed.flatten();
    let history = parts.accounting.take_history(jobset);
    if history.dropped > 0 {
        ctx.progress.warnings.push(format!(
            "JobSet {} had more Jobs than the summary holds: the oldest {} are omitted",
            ctx.store.names.jobsets[jobset.ix()].name,
            history.dropped
        ));
    }
    let js = &ctx.store.jobsets[jobset.ix()];
    let conditions = js.status.conditions.iter().map(|c| ConditionOutcome {
        kind: c.kind.as_str(),
        status: c.status,
        reason: c.full_reason(),
        message: c.message.clone(),
        last_transition: c.last_transition,
    });
    JobSetOutcome {
        terminal_state: match js.status.terminal_state {
            Some(TerminalState::Completed) => "Completed",
            Some(TerminalState::Failed) => "Failed",
            None => "",
        },
        deleted: js.deleted,
        restarts: js.status.restarts,
        restarts_count_towards_max: js.status.restarts_count_towards_max,
        current_in_place_restart_attempt: js.status.current_in_place_restart_attempt,
        previous_in_place_restart_attempt: js.status.previous_in_place_restart_attempt,
        conditions: conditions.collect(),
        replicated_jobs_status: js.sorted_status(),
        jobs: history.into_entries(),
        never_placed_reason: never_placed,
    }
}

fn resource_usages(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents) -> Vec<ResourceUsage> {
    let plane = &ctx.scenario.control_plane;
    let (jc, gc) = (&parts.job_controller, &parts.garbage_collector);
    let (js, s, l) = (&parts.jobset_manager, &parts.scheduler, &parts.node_lifecycle);
    let has_kueue = ctx.scenario.kueue.is_some();
    let buckets = ctx.requests.token_buckets().filter(|(r, ..)| has_kueue || !r.belongs_to_kueue());
    let mut all: Vec<ResourceUsage> = buckets.map(token_bucket_usage).collect();
    let workers = |n: u32| format!("{n} workers");
    all.extend([
        usage(
            LedgerResource::JobControllerWorkers,
            workers(plane.concurrent_job_syncs),
            (jc.syncs, jc.longest_queue),
            &jc.busy,
        ),
        usage(
            LedgerResource::GarbageCollectorWorkers,
            workers(plane.concurrent_gc_syncs),
            (gc.processed, gc.longest_queue),
            &gc.busy,
        ),
        usage(LedgerResource::SchedulerCycle, "1 pod at a time".to_owned(), (s.cycles, s.longest_queue()), &s.busy),
        usage(
            LedgerResource::JobSetReconciler,
            "1 JobSet at a time".to_owned(),
            (js.passes, js.longest_queue),
            &js.busy,
        ),
        usage(LedgerResource::TaintLimiter, "1 node per 10 s and zone".to_owned(), (l.tainted, 0), &l.limiter_busy),
    ]);
    all.sort_by_key(|u| u.resource);
    all
}

fn warnings(ctx: &mut EngineContext<'_>, parts: &ControlPlaneComponents) -> Vec<String> {
    let mut warnings = std::mem::take(&mut ctx.progress.warnings);
    warnings.extend(ctx.scenario.contradictions());
    let left = parts.script.actions_left;
    if left > 0 {
        let faults = if left == 1 { "fault" } else { "faults" };
        warnings.push(format!("{left} scripted {faults} did not fire before the run ended"));
    }
    warnings
}

fn token_bucket_usage((resource, rate, bucket): (LedgerResource, ClientRate, &TokenBucket)) -> ResourceUsage {
    let capacity = match resource {
        // The burst is one request and not worth printing.
        LedgerResource::NodeRequests => format!("{} requests/s", rate.qps),
        _ => format!("{} requests/s, burst {}", rate.qps, rate.burst),
    };
    let counts = (bucket.requests, bucket.longest_queue);
    usage(resource, capacity, counts, &bucket.busy)
}

fn usage(
    resource: LedgerResource, capacity: String, (requests, longest_queue): (u64, u32), busy: &BusyTimes,
) -> ResourceUsage {
    ResourceUsage { resource, capacity, requests, busy: busy.spans().to_vec(), longest_queue }
}
