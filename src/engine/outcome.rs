//! The outcome of a run: final states, the closed ledger, and the usage of shared resources.

use super::ctx::Ctx;
use super::lane::{BusyTimes, Lane};
use super::run::Run;
use super::user::show;
use super::{Components, stuck};
use crate::record::*;
use sim_api::spec::ClientRate;
use sim_base::*;
use sim_policy::TerminalState;

pub fn outcome(run: &mut Run<'_>, end_reason: EndReason) -> RunOutcome {
    let (ctx, parts) = (&mut run.ctx, &mut *run.parts);
    parts.accounting.settle_history(ctx);
    if ctx.sink.wants_objects() {
        let all = show::all(ctx, &parts.kubelet);
        ctx.sink.objects(&all);
    }
    let training = parts.training.close(ctx, &mut parts.accounting);
    let currency = &ctx.store.nodes.cluster.currency;
    let ledger = parts.accounting.ledger.close(ctx.now, currency);
    let jobsets = (0..ctx.store.jobsets.len() as u32).map(JobSetId);
    let jobsets = jobsets
        .map(|js| jobset_outcome(ctx, parts, (js, end_reason)))
        .collect();
    RunOutcome {
        end: ctx.now,
        end_reason,
        digest: ctx.digest,
        records: ctx.records,
        events: run.events,
        stuck: stuck::sentences(ctx, parts, end_reason),
        jobsets,
        training,
        ledger,
        resources: resources(ctx, parts),
        requests: ctx.requests.counts(),
        warnings: warnings(ctx, parts),
    }
}

fn jobset_outcome(
    ctx: &mut Ctx<'_>,
    parts: &mut Components,
    (jobset, reason): (JobSetId, EndReason),
) -> JobSetOutcome {
    // Also at the time limit: more time might have helped, or might not.
    let over = matches!(reason, EndReason::Stuck | EndReason::TimeLimit);
    let never_placed = over.then(|| stuck::never_placed(ctx, parts, jobset));
    let never_placed = never_placed.flatten();
    let history = parts.accounting.take_history(jobset);
    if history.dropped > 0 {
        ctx.progress.warnings.push(format!(
            "JobSet {} had so many Jobs that the oldest {} of them are left out of the summary",
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
        replicated_jobs_status: js.shown_status(),
        jobs: history.into_entries(),
        never_placed,
    }
}

fn resources(ctx: &Ctx<'_>, parts: &Components) -> Vec<ResourceUsage> {
    let plane = &ctx.scenario.control_plane;
    let (jc, gc) = (&parts.job_controller, &parts.collector);
    let (js, s, l) = (
        &parts.jobset_manager,
        &parts.scheduler,
        &parts.node_lifecycle,
    );
    let mut all: Vec<ResourceUsage> = ctx.requests.lanes().map(lane).collect();
    let workers = |n: u32| format!("{n} workers");
    all.extend([
        usage(
            Resource::JobControllerWorkers,
            workers(plane.concurrent_job_syncs),
            (jc.syncs, jc.longest_queue),
            &jc.busy,
        ),
        usage(
            Resource::GarbageCollectorWorkers,
            workers(plane.concurrent_gc_syncs),
            (gc.processed, gc.longest_queue),
            &gc.busy,
        ),
        usage(
            Resource::SchedulerCycle,
            "1 pod at a time".to_owned(),
            (s.cycles, s.longest_queue()),
            &s.busy,
        ),
        usage(
            Resource::JobSetReconciler,
            "1 JobSet at a time".to_owned(),
            (js.passes, js.longest_queue),
            &js.busy,
        ),
        usage(
            Resource::TaintLimiter,
            "1 node per 10 s and zone".to_owned(),
            (l.tainted, 0),
            &l.limiter_busy,
        ),
    ]);
    all.sort_by_key(|u| u.resource);
    all
}

fn warnings(ctx: &mut Ctx<'_>, parts: &Components) -> Vec<String> {
    let mut warnings = std::mem::take(&mut ctx.progress.warnings);
    let left = parts.user.actions_left;
    if left > 0 {
        let faults = if left == 1 { "fault" } else { "faults" };
        warnings.push(format!(
            "{left} scripted {faults} did not fire before the run ended"
        ));
    }
    warnings
}

fn lane((resource, rate, lane): (Resource, ClientRate, &Lane)) -> ResourceUsage {
    let capacity = match resource {
        // The burst is one request and not worth printing.
        Resource::NodeRequests => format!("{} requests/s", rate.qps),
        _ => format!("{} requests/s, burst {}", rate.qps, rate.burst),
    };
    let counts = (lane.requests, lane.longest_queue);
    usage(resource, capacity, counts, &lane.busy)
}

fn usage(
    resource: Resource,
    capacity: String,
    (requests, longest_queue): (u64, u32),
    busy: &BusyTimes,
) -> ResourceUsage {
    ResourceUsage {
        resource,
        capacity,
        requests,
        busy: busy.spans().to_vec(),
        longest_queue,
    }
}
