//! The decision-log entry of one pass: its input, the evaluated rules and its actions, as text for reports.
//!
//! Created after the pass from the same view and its plan, with the same functions (`failure::choose`,
//! `success::tally`, `depends_on::progress`). Must never decide anything; has no cost unless requested.

pub(crate) mod failure;
pub(crate) mod job;

use super::job_buckets::{JobBucket, bucket, in_bucket, jobs_of};
use super::{ActionPlan, JobSetStatus, JobSetView, RjStatus, depends_on, in_place, startup, success};
use super::{conditions, ttl};
use crate::decision::{
    ConditionWrite, DecisionStep, DependencyTrace, InPlaceTrace, JobCounts, JobSetPass, PlannedChange, PlannedRequests,
    RestartTrace, StartupTrace, SuccessTrace, TtlTrace,
};
use sim_api::spec::{ConditionOperator, DependsOnStatus, RestartStrategy};
use sim_base::Duration;

pub use job::{pod, sync};

/// The decisions of the pass and their reasons; `None` if there are none. `object` is `namespace/name`.
pub fn pass(view: &JobSetView<'_>, plan: &ActionPlan, object: &str) -> Option<JobSetPass> {
    if !decided(plan) {
        return None;
    }
    let mut trace = JobSetPass {
        object: object.to_owned(),
        jobs: counts(view),
        does: requests(view, plan),
        error: plan.error.as_ref().map(ToString::to_string),
        rules: plan.rules.clone(),
        restarts: step(view, plan, |s| s.restarts),
        restarts_count_towards_max: step(view, plan, |s| s.restarts_count_towards_max),
        ..JobSetPass::default()
    };
    if plan.status_dirty {
        trace.status = changes(view, plan);
        trace.conditions = condition_writes(view, plan);
        let events = plan.events.iter();
        trace.events = events.map(|e| (e.reason.clone(), e.message.clone())).collect();
    }
    reasons(view, plan, &mut trace);
    Some(trace)
}

/// Returns true if anything is written, created, deleted, suspended or resumed, or the pass failed.
fn decided(plan: &ActionPlan) -> bool {
    let lists = [&plan.delete, &plan.suspend, &plan.resume, &plan.patch];
    plan.status_dirty
        || plan.create_service
        || plan.delete_jobset
        || plan.error.is_some()
        || !plan.create.is_empty()
        || lists.iter().any(|l| !l.is_empty())
}

/// The evaluated policies, in the order of the pass (REC-7 to REC-12).
fn reasons(view: &JobSetView<'_>, plan: &ActionPlan, trace: &mut JobSetPass) {
    if conditions::terminal(view.status).is_some() {
        trace.ttl = ttl_of(view);
        return;
    }
    trace.restart = restart(view, trace.jobs.previous);
    if trace.jobs.failed > 0 {
        trace.failure_policy = Some(failure::trace(view, plan, trace.jobs.successful));
        return;
    }
    if trace.jobs.successful > 0 {
        trace.success_policy = success_of(view);
        if plan.rules.contains(&"REC-11") {
            return;
        }
    }
    trace.depends_on = dependencies(view, plan);
    trace.startup_policy = startup_of(view, plan);
    trace.in_place = in_place_of(view, plan);
}

fn counts(view: &JobSetView<'_>) -> JobCounts {
    let mut n = JobCounts::default();
    for job in view.jobs {
        match bucket(view, job) {
            Ok(JobBucket::Active) => n.active += 1,
            Ok(JobBucket::Successful) => n.successful += 1,
            Ok(JobBucket::Failed) => n.failed += 1,
            Ok(JobBucket::Previous) => n.previous += 1,
            Err(_) => {}
        }
    }
    n
}

fn step(view: &JobSetView<'_>, plan: &ActionPlan, of: fn(&JobSetStatus) -> u32) -> DecisionStep {
    DecisionStep { before: of(view.status), after: of(&plan.status) }
}

fn requests(view: &JobSetView<'_>, plan: &ActionPlan) -> PlannedRequests {
    let name = |at: &u32| match view.jobs.get(*at as usize) {
        Some(job) => (view.job_name)(job.rj, job.index),
        None => String::new(),
    };
    PlannedRequests {
        delete: plan.delete.iter().map(name).collect(),
        create_service: plan.create_service,
        create_claims: plan.create_claims,
        patch: plan.patch.iter().map(name).collect(),
        create: plan.create.iter().map(|c| (view.job_name)(c.rj, c.index)).collect(),
        create_suspended: plan.create.iter().any(|c| c.suspended),
        suspend: plan.suspend.iter().map(name).collect(),
        resume: plan.resume.iter().map(name).collect(),
        delete_job_set: plan.delete_jobset,
    }
}

/// Changed fields of the status, except the two restart counters and the conditions.
fn changes(view: &JobSetView<'_>, plan: &ActionPlan) -> Vec<PlannedChange> {
    let (old, new) = (view.status, &plan.status);
    let mut out = Vec::new();
    let mut changed = |field: String, before: String, after: String| {
        if before != after {
            out.push(PlannedChange { field, before, after });
        }
    };
    let attempt = |a: Option<u32>| a.map_or("none".to_owned(), |a| a.to_string());
    let state = |s: &JobSetStatus| s.terminal_state.map_or(String::new(), |t| format!("{t:?}"));
    changed("terminalState".to_owned(), state(old), state(new));
    changed(
        "previousInPlaceRestartAttempt".to_owned(),
        attempt(old.previous_in_place_restart_attempt),
        attempt(new.previous_in_place_restart_attempt),
    );
    changed(
        "currentInPlaceRestartAttempt".to_owned(),
        attempt(old.current_in_place_restart_attempt),
        attempt(new.current_in_place_restart_attempt),
    );
    let none = RjStatus::default();
    let specs = &view.jobset.spec.replicated_jobs;
    for (rj, (spec, after)) in specs.iter().zip(&new.replicated_jobs).enumerate() {
        let before = old.replicated_jobs.get(rj).unwrap_or(&none);
        let counters: [(&str, u32, u32); 5] = [
            ("ready", before.ready, after.ready),
            ("succeeded", before.succeeded, after.succeeded),
            ("failed", before.failed, after.failed),
            ("active", before.active, after.active),
            ("suspended", before.suspended, after.suspended),
        ];
        for (word, was, is) in counters {
            changed(format!("{}.{word}", spec.name), was.to_string(), is.to_string());
        }
        let lists = [
            ("jobRestarts", &before.job_restarts, &after.job_restarts),
            (
                "jobRestartsCountTowardsMax", &before.job_restarts_count_towards_max,
                &after.job_restarts_count_towards_max,
            ),
        ];
        for (word, was, is) in lists {
            for (index, &n) in is.iter().enumerate() {
                let was = was.get(index).copied().unwrap_or(0);
                changed(format!("{}.{word}[{index}]", spec.name), was.to_string(), n.to_string());
            }
        }
    }
    out
}

fn condition_writes(view: &JobSetView<'_>, plan: &ActionPlan) -> Vec<ConditionWrite> {
    let old = &view.status.conditions;
    let changed = plan.status.conditions.iter().filter(|c| !old.contains(c));
    changed
        .map(|c| ConditionWrite {
            kind: c.kind.as_str(),
            status: c.status,
            reason: c.full_reason(),
            message: c.message.clone(),
            was: old.iter().find(|o| o.kind == c.kind).map(|o| o.status),
        })
        .collect()
}

fn success_of(view: &JobSetView<'_>) -> Option<SuccessTrace> {
    let policy = view.jobset.spec.success_policy.as_ref()?;
    let (matched, needed) = success::tally(view).ok()?;
    Some(SuccessTrace {
        operator: match policy.operator {
            ConditionOperator::All => "All",
            ConditionOperator::Any => "Any",
        },
        targets: policy.target_replicated_jobs.clone(),
        matched,
        needed,
        met: matched >= needed,
    })
}

/// Dependencies that delay missing or suspended Jobs.
fn dependencies(view: &JobSetView<'_>, plan: &ActionPlan) -> Vec<DependencyTrace> {
    let specs = &view.jobset.spec.replicated_jobs;
    let statuses = &plan.status.replicated_jobs;
    let mut out = Vec::new();
    for (at, spec) in specs.iter().enumerate() {
        let jobs = &view.jobs[jobs_of(view, at as u32)];
        let complete = jobs.len() as u64 >= u64::from(spec.replicas);
        if complete && jobs.iter().all(|j| !j.suspended) {
            continue;
        }
        for on in &spec.depends_on {
            let (have, need) = depends_on::progress(specs, statuses, at, on).unwrap_or((0, spec.replicas.max(1)));
            if have != need {
                out.push(DependencyTrace {
                    replicated_job: spec.name.clone(),
                    on: on.name.clone(),
                    status: match on.status {
                        DependsOnStatus::Ready => "Ready",
                        DependsOnStatus::Complete => "Complete",
                    },
                    have,
                    need,
                });
            }
        }
    }
    out
}

fn startup_of(view: &JobSetView<'_>, plan: &ActionPlan) -> Option<StartupTrace> {
    if view.suspended || !startup::in_order(view) {
        return None;
    }
    let specs = &view.jobset.spec.replicated_jobs;
    let mut pairs = specs.iter().zip(&plan.status.replicated_jobs);
    let stops = pairs.position(|(spec, status)| !startup::started(spec.replicas, status));
    let at = stops.unwrap_or(specs.len());
    let status = plan.status.replicated_jobs.get(at);
    Some(StartupTrace {
        waits_for: specs.get(at).map(|r| r.name.clone()),
        have: status.map_or(0, |s| s.failed + s.ready + s.succeeded),
        need: specs.get(at).map_or(0, |r| r.replicas),
        held_back: specs.iter().skip(at + 1).map(|r| r.name.clone()).collect(),
    })
}

fn restart(view: &JobSetView<'_>, previous: u32) -> Option<RestartTrace> {
    let strategy = view.jobset.spec.strategy();
    (previous > 0).then(|| RestartTrace {
        strategy: strategy.as_str(),
        previous: in_bucket(view, JobBucket::Previous).map(|(_, job)| (view.job_name)(job.rj, job.index)).collect(),
        blocks: strategy == RestartStrategy::BlockingRecreate,
    })
}

/// The deciding row of the truth table and its inputs.
fn in_place_of(view: &JobSetView<'_>, plan: &ActionPlan) -> Option<InPlaceTrace> {
    let spec = &view.jobset.spec;
    let active = spec.strategy() == RestartStrategy::InPlaceRestart && view.gates.in_place_restart;
    let (Some(pods), Some(policy)) = (view.in_place.filter(|_| active), &spec.failure_policy) else {
        return None;
    };
    let expected = in_place::expected_pods(&spec.replicated_jobs).ok();
    let equal = pods.attempts > 0 && Some(u64::from(pods.attempts)) == expected && pods.min_attempt == pods.max_attempt;
    let cites = |rule| plan.rules.contains(&rule);
    let row = match () {
        () if cites("IPR-2") => 1,
        () if cites("IPR-3") => 2,
        () if cites("IPR-4") => 3,
        () if expected.is_none() => 4,
        () if equal => 5,
        () if pods.max_attempt.unwrap_or(0) == 0 => 6,
        () => 7,
    };
    let status = &plan.status;
    Some(InPlaceTrace {
        max_container_restarts: pods.max_container_restarts,
        attempts: pods.attempts,
        expected,
        smallest: pods.min_attempt,
        largest: pods.max_attempt,
        uncounted: i64::from(status.restarts) - i64::from(status.restarts_count_towards_max),
        max_restarts: i64::from(policy.max_restarts),
        row,
    })
}

fn ttl_of(view: &JobSetView<'_>) -> Option<TtlTrace> {
    let ttl = view.jobset.spec.ttl_seconds_after_finished?;
    let finished = ttl::whole_seconds(conditions::terminal(view.status)?.last_transition);
    Some(TtlTrace {
        ttl_seconds_after_finished: ttl,
        finished_at: finished,
        due: finished + Duration::from_secs(u64::from(ttl)),
    })
}
