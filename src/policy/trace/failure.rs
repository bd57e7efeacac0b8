//! The failure policy in the decision log: every failed Job against every rule.
//!
//! Must never evaluate rules itself; it calls the functions of `failure` that the pass used.

use crate::decision::{FailedJob, FailureTrace, PolicyVerdict, RestartBudget, RuleTrace};
use crate::job_buckets::{JobBucket, in_bucket};
use crate::{ActionPlan, FinishedView, JobSetView, JobView, ttl};
use crate::{failure, failure::PreparedPolicy};
use sim_api::spec::{FailurePolicy, FailurePolicyAction, FailurePolicyRule};

type FinishedJob<'v> = (&'v JobView, &'v FinishedView);

pub(crate) fn trace(view: &JobSetView<'_>, plan: &ActionPlan, successful: u32) -> FailureTrace {
    let name = |job: &JobView| (view.job_name)(job.rj, job.index);
    let mut failed: Vec<FinishedJob<'_>> =
        in_bucket(view, JobBucket::Failed).filter_map(|(_, job)| Some((job, job.finished.as_deref()?))).collect();
    failed.sort_by(|(a, f), (b, g)| {
        let times = ttl::whole_seconds(f.at).cmp(&ttl::whole_seconds(g.at));
        times.then_with(|| failure::failed_before(view, b, a).cmp(&failure::failed_before(view, a, b)))
    });
    let mut trace = FailureTrace {
        failed_jobs: failed.iter().map(|f| failed_job(view, f)).collect(),
        success_not_asked: successful,
        ..FailureTrace::default()
    };
    let Some(policy) = &view.jobset.spec.failure_policy else {
        trace.job = failure::earliest(view, |_, _| true).map_or(String::new(), name);
        return trace;
    };
    trace.has_policy = true;
    let Some((chosen, job)) = failure::choose(view, policy) else {
        return trace;
    };
    trace.chosen_rule = chosen;
    trace.job = name(job);
    let action = chosen.and_then(|at| policy.rules.get(at)).map_or(FailurePolicyAction::RestartJobSet, |r| r.action);
    trace.action = Some(action.as_str());
    let tried = chosen.map_or(policy.rules.len(), |at| at + 1);
    let rules = policy.rules.iter().enumerate();
    trace.rules = rules.map(|(at, rule)| rule_trace(view, rule, at, if at < tried { &failed } else { &[] })).collect();
    trace.budget = Some(budget(view, plan, policy, action));
    trace
}

fn failed_job(view: &JobSetView<'_>, (job, failed): &FinishedJob<'_>) -> FailedJob {
    let rj = view.jobset.spec.replicated_jobs.get(job.rj as usize);
    FailedJob {
        name: (view.job_name)(job.rj, job.index),
        replicated_job: rj.map_or(String::new(), |r| r.name.clone()),
        reason: failed.reason.clone(),
        message: failed.message.clone(),
        failed_at: ttl::whole_seconds(failed.at),
        record: None,
    }
}

fn rule_trace(view: &JobSetView<'_>, rule: &FailurePolicyRule, index: usize, failed: &[FinishedJob<'_>]) -> RuleTrace {
    let prepared = PreparedPolicy::new(rule);
    let patterns = &rule.on_job_failure_message_patterns;
    let invalid = patterns.iter().zip(&prepared.patterns);
    RuleTrace {
        index,
        name: rule.name.clone(),
        action: rule.action.as_str(),
        reasons: rule.on_job_failure_reasons.clone(),
        patterns: patterns.clone(),
        invalid_patterns: invalid
            .filter(|(_, compiled)| compiled.is_none())
            .map(|(pattern, _)| pattern.clone())
            .collect(),
        targets: rule.target_replicated_jobs.clone(),
        verdicts: failed.iter().map(|f| verdict(view, rule, &prepared, f)).collect(),
    }
}

fn verdict(
    view: &JobSetView<'_>, rule: &FailurePolicyRule, prepared: &PreparedPolicy<'_>, (job, failed): &FinishedJob<'_>,
) -> PolicyVerdict {
    let asks = |list: &[String]| !list.is_empty();
    let patterns = &rule.on_job_failure_message_patterns;
    let result = prepared.matching_index(failed).and_then(|at| patterns.get(at));
    PolicyVerdict {
        job: (view.job_name)(job.rj, job.index),
        reason: asks(&rule.on_job_failure_reasons).then(|| prepared.has_reason(failed)),
        pattern: asks(patterns).then(|| result.cloned().unwrap_or_default()),
        target: asks(&rule.target_replicated_jobs).then(|| prepared.targets(view, job)),
        matches: prepared.matches(view, job, failed),
    }
}

/// The use of maxRestarts with the counters at the start of the pass (FP-7).
fn budget(
    view: &JobSetView<'_>, plan: &ActionPlan, policy: &FailurePolicy, action: FailurePolicyAction,
) -> RestartBudget {
    let of_jobs = |jobs: &[crate::RjStatus]| -> i64 {
        let counted = jobs.iter().flat_map(|s| &s.job_restarts_count_towards_max);
        counted.map(|&n| i64::from(n)).sum()
    };
    let counted = failure::counts_towards_max(action);
    // Without the feature gate, the pass has dropped the counters of single Jobs (REC-6).
    let jobs = if view.gates.restart_job { of_jobs(&view.status.replicated_jobs) } else { 0 };
    RestartBudget {
        counted,
        restarts_count_towards_max: i64::from(view.status.restarts_count_towards_max),
        job_restarts_count_towards_max: jobs,
        max_restarts: i64::from(policy.max_restarts),
        reached: plan.rules.contains(&"FP-7"),
    }
}
