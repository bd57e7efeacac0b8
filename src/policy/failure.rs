//! The failure policy of a JobSet: the matching rule, and the effect of its action (FP-1 to FP-17).
//!
//! Must never delete a Job: the increased counters move the Jobs to the previous attempt, and the next pass deletes
//! them (FP-14).

pub mod re2;

use super::conditions::{self, NewCondition};
use super::job_buckets::{JobBucket, in_bucket};
use super::reconcile_error::ReconcileError;
use super::{ActionPlan, FinishedView, JobSetView, JobView, KubeEvent, ttl};
use crate::kinds::JobSetConditionType::RestartingJobSet;
use FailurePolicyAction::*;
use sim_api::spec::{FailurePolicy, FailurePolicyAction, FailurePolicyRule, TieBreak};

/// Executes the failure policy; called only if a Job of the current attempt has failed (REC-10).
pub fn execute(view: &JobSetView<'_>, plan: &mut ActionPlan) -> Result<(), ReconcileError> {
    let Some(policy) = &view.jobset.spec.failure_policy else {
        if let Some(job) = earliest(view, |_, _| true) {
            plan.failed_job = position(view, job);
            let message = append_failed_job(view, conditions::FAILED_JOBS_MESSAGE, job);
            conditions::set_failed(plan, view.now, conditions::FAILED_JOBS, &message);
            plan.rules.push("FP-1");
        }
        return Ok(());
    };
    let Some((rule, job)) = choose(view, policy) else {
        return Ok(());
    };
    plan.failed_job = position(view, job);
    plan.rules.push(if rule.is_some() { "FP-3" } else { "FP-5" });
    let rule = rule.and_then(|at| policy.rules.get(at));
    let action = rule.map_or(RestartJobSet, |r| r.action);
    apply(view, plan, policy, action, rule, job)
}

/// FP-3: the first rule that matches a failed Job, and the earliest matching Job (rules in the outer loop, Jobs in
/// the inner). FP-5: without a matching rule, the earliest failed Job.
pub(super) fn choose<'v>(view: &'v JobSetView<'_>, policy: &FailurePolicy) -> Option<(Option<usize>, &'v JobView)> {
    for (at, rule) in policy.rules.iter().enumerate() {
        let prepared = PreparedPolicy::new(rule);
        let matching = earliest(view, |job, failed| prepared.matches(view, job, failed));
        if let Some(job) = matching {
            return Some((Some(at), job));
        }
    }
    earliest(view, |_, _| true).map(|job| (None, job))
}

/// FP-2: the Job with the smallest time of the Failed condition in whole seconds; ties go to the smaller Job name.
pub(super) fn earliest<'v>(
    view: &'v JobSetView<'_>, applies: impl Fn(&JobView, &FinishedView) -> bool,
) -> Option<&'v JobView> {
    let mut first: Option<(&JobView, sim_base::SimTime)> = None;
    for (_, job) in in_bucket(view, JobBucket::Failed) {
        let Some(failed) = &job.finished else {
            continue;
        };
        let at = ttl::whole_seconds(failed.at);
        let earlier = first.is_none_or(|(best, since)| at < since || at == since && failed_before(view, job, best));
        if earlier && applies(job, failed) {
            first = Some((job, at));
        }
    }
    first.map(|(job, _)| job)
}

fn position(view: &JobSetView<'_>, job: &JobView) -> Option<u32> {
    let at = view.jobs.iter().position(|j| std::ptr::eq(j, job));
    at.map(|at| at as u32)
}

/// Order of Jobs that failed within the same second.
pub(super) fn failed_before(view: &JobSetView<'_>, job: &JobView, other: &JobView) -> bool {
    match view.ties {
        TieBreak::FirstName => name(view, job) < name(view, other),
        TieBreak::LastName => name(view, job) > name(view, other),
    }
}

fn name(view: &JobSetView<'_>, job: &JobView) -> String {
    (view.job_name)(job.rj, job.index)
}

/// One rule, prepared for matching Jobs (FP-4).
pub(super) struct PreparedPolicy<'r> {
    rule: &'r FailurePolicyRule,
    /// `None` for an invalid pattern, which never matches (API-20).
    pub(super) patterns: Vec<Option<regex::bytes::Regex>>,
}

impl<'r> PreparedPolicy<'r> {
    pub(super) fn new(rule: &'r FailurePolicyRule) -> PreparedPolicy<'r> {
        let patterns = rule.on_job_failure_message_patterns.iter();
        PreparedPolicy { rule, patterns: patterns.map(|p| re2::compile(p)).collect() }
    }

    pub(super) fn has_reason(&self, failed: &FinishedView) -> bool {
        let reasons = &self.rule.on_job_failure_reasons;
        reasons.is_empty() || reasons.contains(&failed.reason)
    }

    /// Returns the index of the first pattern that matches the message.
    pub(super) fn matching_index(&self, failed: &FinishedView) -> Option<usize> {
        let is_in = |re: &regex::bytes::Regex| re.is_match(failed.message.as_bytes());
        let mut patterns = self.patterns.iter();
        patterns.position(|re| re.as_ref().is_some_and(is_in))
    }

    pub(super) fn targets(&self, view: &JobSetView<'_>, job: &JobView) -> bool {
        let targets = &self.rule.target_replicated_jobs;
        let of = view.jobset.spec.replicated_jobs.get(job.rj as usize);
        targets.is_empty() || of.is_some_and(|r| targets.contains(&r.name))
    }

    pub(super) fn matches(&self, view: &JobSetView<'_>, job: &JobView, failed: &FinishedView) -> bool {
        self.has_reason(failed)
            && (self.patterns.is_empty() || self.matching_index(failed).is_some())
            && self.targets(view, job)
    }
}

/// Appends the name of the first failed Job to a message (COND-3).
fn append_failed_job(view: &JobSetView<'_>, message: &str, job: &JobView) -> String {
    format!("{message} (first failed job: {})", name(view, job))
}

fn apply(
    view: &JobSetView<'_>, plan: &mut ActionPlan, policy: &FailurePolicy, action: FailurePolicyAction,
    rule: Option<&FailurePolicyRule>, job: &JobView,
) -> Result<(), ReconcileError> {
    if matches!(action, RestartJob | RestartJobAndIgnoreMaxRestarts) && !view.gates.restart_job {
        return Err(ReconcileError::RestartJobDisabled { action });
    }
    let counted = counts_towards_max(action);
    let max = i64::from(policy.max_restarts);
    if counted && plan.status.budget_used() >= max {
        let message = append_failed_job(view, conditions::REACHED_MAX_RESTARTS_MESSAGE, job);
        conditions::set_failed(plan, view.now, conditions::REACHED_MAX_RESTARTS, &message);
        plan.rules.push("FP-7");
        return Ok(());
    }
    let message = append_failed_job(view, &format!("applying {} failure policy action", action.as_str()), job);
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
    plan.events.push(KubeEvent { warning: true, reason: format!("{}FailurePolicyAction", action.as_str()), message });
    Ok(())
}

/// FP-9, FP-11: the actions that count towards maxRestarts.
pub(super) fn counts_towards_max(action: FailurePolicyAction) -> bool {
    matches!(action, RestartJobSet | RestartJob)
}

/// Restarts the JobSet (FP-9, FP-10, FP-16).
fn restart_jobset(
    view: &JobSetView<'_>, plan: &mut ActionPlan, rule: Option<&FailurePolicyRule>, counted: bool, message: &str,
) {
    plan.status.restarts += 1;
    plan.status.restarts_count_towards_max += u32::from(counted);
    plan.status_dirty = true;
    let (reason, reason_suffix) = match rule {
        Some(rule) => ("FailurePolicy_", rule.name.as_str()),
        None => ("DefaultFailurePolicy", ""),
    };
    let restarting =
        NewCondition { kind: RestartingJobSet, status: true, reason, reason_suffix, message, warning: true };
    conditions::set(plan, view.now, restarting);
}

/// Restarts one Job (FP-11, FP-12, ST-6, ST-7); the lists get their full length at first use (C-41).
fn restart_job(
    view: &JobSetView<'_>, plan: &mut ActionPlan, job: &JobView, counted: bool,
) -> Result<(), ReconcileError> {
    let (rj, index) = (job.rj as usize, job.index as usize);
    let replicas = view.jobset.spec.replicated_jobs.get(rj).map_or(0, |r| r.replicas as usize);
    let Some(status) = plan.status.replicated_jobs.get_mut(rj) else {
        let job = name(view, job);
        return Err(ReconcileError::FailedJobParent { job });
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
            let job = name(view, job);
            return Err(ReconcileError::FailedJobIndex { job, index });
        };
        *n += 1;
    }
    plan.status_dirty = true;
    Ok(())
}
