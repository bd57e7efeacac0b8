//! FP-1 to FP-17: what a failed Job does to its JobSet.
//!
//! Must never delete a Job: the counters it writes make the Jobs *previous*, and the next pass deletes them (FP-14).

use super::buckets::{Bucket, in_bucket};
use super::conditions::{self, NewCondition};
use super::{FinishedView, JobSetView, JobView, KubeEvent, Plan, re2, ttl};
use crate::record::JobSetConditionType::RestartingJobSet;
use crate::spec::{FailurePolicy, FailurePolicyAction, FailurePolicyRule};
use FailurePolicyAction::*;

/// REC-10. Asked only if some current Job is failed.
pub fn execute(view: &JobSetView<'_>, plan: &mut Plan) -> Result<(), String> {
    let Some(policy) = &view.jobset.spec.failure_policy else {
        if let Some(job) = earliest(view, |_, _| true) {
            let message = naming(view, conditions::FAILED_JOBS_MESSAGE, job);
            conditions::set_failed(plan, view.now, conditions::FAILED_JOBS, &message);
            plan.rules.push("FP-1");
        }
        return Ok(());
    };
    // FP-3: rules outside, Jobs inside.
    for rule in &policy.rules {
        if let Some(job) = first_match(view, rule) {
            plan.rules.push("FP-3");
            return apply(view, plan, policy, rule.action, Some(rule), job);
        }
    }
    let Some(job) = earliest(view, |_, _| true) else {
        return Ok(());
    };
    plan.rules.push("FP-5");
    apply(view, plan, policy, RestartJobSet, None, job)
}

/// FP-2: the smallest time of the Failed condition in whole seconds; ties go to the smaller Job name.
fn earliest<'v>(
    view: &'v JobSetView<'_>,
    applies: impl Fn(&JobView, &FinishedView) -> bool,
) -> Option<&'v JobView> {
    let mut first: Option<(&JobView, crate::base::Time)> = None;
    for (_, job) in in_bucket(view, Bucket::Failed) {
        let Some(failed) = &job.finished else {
            continue;
        };
        let at = ttl::whole_seconds(failed.at);
        let earlier = first.is_none_or(|(best, since)| {
            at < since || at == since && name(view, job) < name(view, best)
        });
        if earlier && applies(job, failed) {
            first = Some((job, at));
        }
    }
    first.map(|(job, _)| job)
}

fn name(view: &JobSetView<'_>, job: &JobView) -> String {
    (view.job_name)(job.rj, job.index)
}

/// FP-4.
fn first_match<'v>(view: &'v JobSetView<'_>, rule: &FailurePolicyRule) -> Option<&'v JobView> {
    let patterns = &rule.on_job_failure_message_patterns;
    let compiled: Vec<_> = patterns.iter().filter_map(|p| re2::compile(p)).collect();
    let specs = &view.jobset.spec.replicated_jobs;
    earliest(view, |job, failed| {
        let reasons = &rule.on_job_failure_reasons;
        let targets = &rule.target_replicated_jobs;
        let of = specs.get(job.rj as usize);
        (reasons.is_empty() || reasons.contains(&failed.reason))
            && (patterns.is_empty()
                || compiled
                    .iter()
                    .any(|re| re.is_match(failed.message.as_bytes())))
            && (targets.is_empty() || of.is_some_and(|r| targets.contains(&r.name)))
    })
}

/// COND-3.
fn naming(view: &JobSetView<'_>, message: &str, job: &JobView) -> String {
    format!("{message} (first failed job: {})", name(view, job))
}

fn apply(
    view: &JobSetView<'_>,
    plan: &mut Plan,
    policy: &FailurePolicy,
    action: FailurePolicyAction,
    rule: Option<&FailurePolicyRule>,
    job: &JobView,
) -> Result<(), String> {
    if matches!(action, RestartJob | RestartJobAndIgnoreMaxRestarts) && !view.gates.restart_job {
        return Err(format!(
            "{} failure policy action cannot be used when the feature gate RestartJob is disabled",
            action.as_str()
        ));
    }
    let counted = matches!(action, RestartJobSet | RestartJob);
    if counted && budget_used(plan) >= i64::from(policy.max_restarts) {
        let message = naming(view, conditions::REACHED_MAX_RESTARTS_MESSAGE, job);
        conditions::set_failed(plan, view.now, conditions::REACHED_MAX_RESTARTS, &message);
        plan.rules.push("FP-7");
        return Ok(());
    }
    let message = naming(
        view,
        &format!("applying {} failure policy action", action.as_str()),
        job,
    );
    match action {
        FailJobSet => {
            conditions::set_failed(plan, view.now, "FailJobSetFailurePolicyAction", &message);
            plan.rules.push("FP-8");
            return Ok(());
        }
        RestartJobSet | RestartJobSetAndIgnoreMaxRestarts => {
            restart_jobset(view, plan, rule, counted, &message);
        }
        RestartJob | RestartJobAndIgnoreMaxRestarts => restart_job(view, plan, job, counted)?,
    }
    plan.rules.push(match action {
        FailJobSet => "FP-8",
        RestartJobSet => "FP-9",
        RestartJobSetAndIgnoreMaxRestarts => "FP-10",
        RestartJob => "FP-11",
        RestartJobAndIgnoreMaxRestarts => "FP-12",
    });
    // FP-17: also if the condition did not change.
    plan.events.push(KubeEvent {
        warning: true,
        reason: format!("{}FailurePolicyAction", action.as_str()),
        message,
    });
    Ok(())
}

/// FP-7: counted restarts of the whole JobSet and of single Jobs; without the gate REC-6 dropped the latter.
fn budget_used(plan: &Plan) -> i64 {
    let of_jobs = plan.status.replicated_jobs.iter();
    let of_jobs = of_jobs.flat_map(|s| &s.job_restarts_count_towards_max);
    let whole = i64::from(plan.status.restarts_count_towards_max);
    whole + of_jobs.map(|&n| i64::from(n)).sum::<i64>()
}

/// FP-9, FP-10, FP-16.
fn restart_jobset(
    view: &JobSetView<'_>,
    plan: &mut Plan,
    rule: Option<&FailurePolicyRule>,
    counted: bool,
    message: &str,
) {
    plan.status.restarts += 1;
    plan.status.restarts_count_towards_max += u32::from(counted);
    plan.status_dirty = true;
    let (reason, reason_suffix) = match rule {
        Some(rule) => ("FailurePolicy_", rule.name.as_str()),
        None => ("DefaultFailurePolicy", ""),
    };
    let restarting = NewCondition {
        kind: RestartingJobSet,
        status: true,
        reason,
        reason_suffix,
        message,
        warning: true,
    };
    conditions::set(plan, view.now, restarting);
}

/// FP-11, FP-12, ST-6, ST-7: the lists get their full length at first use (C-41).
fn restart_job(
    view: &JobSetView<'_>,
    plan: &mut Plan,
    job: &JobView,
    counted: bool,
) -> Result<(), String> {
    let (rj, index) = (job.rj as usize, job.index as usize);
    let replicas = view
        .jobset
        .spec
        .replicated_jobs
        .get(rj)
        .map_or(0, |r| r.replicas as usize);
    let Some(status) = plan.status.replicated_jobs.get_mut(rj) else {
        return Err(format!("failed job {} has no parent", name(view, job)));
    };
    let all = &mut status.job_restarts;
    let counting = &mut status.job_restarts_count_towards_max;
    for (list, due) in [(all, true), (counting, counted)] {
        if !due {
            continue;
        }
        if list.is_empty() {
            list.resize(replicas, 0);
        }
        let Some(n) = list.get_mut(index) else {
            return Err(format!(
                "failed job {} has index {index} out of bounds",
                name(view, job)
            ));
        };
        *n += 1;
    }
    plan.status_dirty = true;
    Ok(())
}
