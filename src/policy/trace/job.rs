//! The Job controller in the decision log: failed pods against podFailurePolicy, counts against backoffLimit.
//!
//! Must never evaluate rules itself; rules are evaluated by `pod_failure::matching_rule`, everything else is from the
//! plan.

use crate::decision::{DecisionStep, FailedPod, JobSync, PodRuleTrace};
use crate::job::pod_failure::{FailedPodView, matching_rule};
use crate::{JobPlan, JobSyncView};
use sim_api::spec::{PodFailurePolicyAction, PodFailurePolicyRule, RestartPolicy};
use sim_base::PodId;

/// One failed pod: the rules up to the matching one. The caller adds names.
pub fn pod(rules: Option<&[PodFailurePolicyRule]>, view: &FailedPodView<'_>, by_deletion: bool) -> FailedPod {
    let rules = rules.unwrap_or_default();
    let decided = matching_rule(rules, view);
    let tried = decided.map_or(rules.len(), |(at, ..)| at + 1);
    let tries = rules.iter().take(tried).enumerate();
    // The first container with a nonzero exit code, otherwise the first container.
    let bad = view.exit_codes.iter().find(|(_, code)| *code != 0);
    let (container, exit_code) = match bad.or(view.exit_codes.first()) {
        Some((name, code)) => (*name, Some(*code)),
        None => ("", None),
    };
    FailedPod {
        pod: PodId::NONE,
        name: String::new(),
        place: String::new(),
        container: container.to_owned(),
        exit_code,
        disruption_target: view.disruption_target,
        by_deletion,
        rules: tries
            .map(|(index, rule)| PodRuleTrace {
                index,
                action: action(rule.action),
                asks: criterion_text(rule),
                matches: matching_rule(std::slice::from_ref(rule), view).is_some(),
            })
            .collect(),
        counts: decided.is_none_or(|(_, a, _)| a != PodFailurePolicyAction::Ignore),
        record: None,
    }
}

fn action(action: PodFailurePolicyAction) -> &'static str {
    match action {
        PodFailurePolicyAction::FailJob => "FailJob",
        PodFailurePolicyAction::FailIndex => "FailIndex",
        PodFailurePolicyAction::Ignore => "Ignore",
        PodFailurePolicyAction::Count => "Count",
    }
}

/// The criterion of a rule, as in the manifest.
fn criterion_text(rule: &PodFailurePolicyRule) -> String {
    match &rule.on_exit_codes {
        Some(codes) => {
            let container = codes.container_name.as_deref();
            let container = container.map_or(String::new(), |c| format!(" of container {c}"));
            let operator = if codes.operator_in { "In" } else { "NotIn" };
            format!("onExitCodes{container} {operator} {:?}", codes.values)
        }
        None => {
            let one = |p: &sim_api::spec::PodConditionPattern| format!("{}={}", p.condition, p.status);
            let all: Vec<String> = rule.on_pod_conditions.iter().map(one).collect();
            format!("onPodConditions {}", all.join(", "))
        }
    }
}

/// The decisions of a sync; `None` if there are none. `pods` are the failed pods evaluated in it, `more` is the
/// number of those not listed, `failed_before` the count without them.
pub fn sync(
    view: &JobSyncView<'_>, plan: &JobPlan, object: &str, (pods, more): (Vec<FailedPod>, u32), failed_before: u32,
) -> Option<JobSync> {
    let restarts_count = view.spec.template.spec.restart_policy == RestartPolicy::OnFailure;
    let decided = view.failure_target.is_some() || view.success_criteria_met.is_some();
    let fails = plan.fail.clone().filter(|_| !decided);
    let completes = plan.complete.clone().filter(|_| !decided);
    let settled = fails.is_some() || completes.is_some();
    let judged = !decided && !pods.is_empty();
    let limited = view.spec.backoff_limit() < i32::MAX;
    let counts_restarts = !decided && limited && restarts_count && view.container_restarts > 0;
    let moves = !decided && plan.delete_active + plan.create > 0;
    if !settled && !judged && !counts_restarts && !moves {
        return None;
    }
    Some(JobSync {
        object: object.to_owned(),
        failed_pods: if decided { Vec::new() } else { pods },
        more_failed_pods: if decided { 0 } else { more },
        failed: DecisionStep { before: failed_before, after: view.failed },
        backoff_limit: view.spec.backoff_limit(),
        container_restarts: restarts_count.then_some(view.container_restarts),
        succeeded: view.succeeded,
        completions: view.spec.completions(),
        fails,
        completes,
        failed_indexes: view.failed_indexes,
        suspends: view.suspended && plan.delete_active > 0 && !settled,
        delete_pods: plan.delete_active,
        create_pods: plan.create,
        wait: plan.requeue_after.filter(|_| judged && plan.create == 0),
    })
}
