//! Evaluation of a Job's podFailurePolicy for one failed pod (kubernetes.md 1.6;
//! `pkg/controller/job/pod_failure_policy.go`). Must never count anything: the caller executes Ignore and Count.

use sim_api::spec::{
    DISRUPTION_TARGET, FAILED_POD_CONDITIONS, OnExitCodes, PodFailurePolicyAction, PodFailurePolicyRule,
};

/// The facts of a failed pod that rules can match.
#[derive(Copy, Clone, Debug)]
pub struct FailedPodView<'a> {
    /// Names and exit codes of terminated containers, regular ones first, then init containers. Excludes containers
    /// that are still terminating or were never started.
    pub exit_codes: &'a [(&'a str, i32)],
    /// Whether the pod has the condition DisruptionTarget=True.
    pub disruption_target: bool,
}

/// The part of a rule that matched; determines the message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RuleMatch<'a> {
    ExitCode {
        container: &'a str,
        code: i32,
    },
    /// Type of the condition.
    Condition(&'static str),
}

/// Result of the policy for one failed pod.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RuleVerdict {
    /// True if it counts towards backoffLimit.
    pub counts: bool,
    pub action: Option<PodFailurePolicyAction>,
}

impl Default for RuleVerdict {
    fn default() -> RuleVerdict {
        RuleVerdict { counts: true, action: None }
    }
}

/// The first matching rule with its action and the matched part. `None`: the failure counts.
pub fn matching_rule<'a>(
    rules: &[PodFailurePolicyRule], pod: &FailedPodView<'a>,
) -> Option<(usize, PodFailurePolicyAction, RuleMatch<'a>)> {
    rules.iter().enumerate().find_map(|(at, rule)| {
        let matched = match &rule.on_exit_codes {
            Some(codes) => exit_code_match(codes, pod),
            None => condition_match(rule, pod),
        };
        matched.map(|m| (at, rule.action, m))
    })
}

/// The first container with a matching exit code. Exit code 0 matches no rule, including `NotIn`.
fn exit_code_match<'a>(codes: &OnExitCodes, pod: &FailedPodView<'a>) -> Option<RuleMatch<'a>> {
    let named = codes.container_name.as_deref();
    let fits = |&&(container, code): &&(&str, i32)| {
        code != 0 && named.is_none_or(|n| n == container) && codes.values.contains(&code) == codes.operator_in
    };
    let &(container, code) = pod.exit_codes.iter().find(fits)?;
    Some(RuleMatch::ExitCode { container, code })
}

/// The first condition of the pod that a pattern of the rule names.
fn condition_match<'a>(rule: &PodFailurePolicyRule, pod: &FailedPodView<'_>) -> Option<RuleMatch<'a>> {
    let disrupted = pod.disruption_target.then_some((DISRUPTION_TARGET, "True"));
    let mut conditions = disrupted.into_iter().chain(FAILED_POD_CONDITIONS);
    let named = |(condition, status): &(&'static str, &'static str)| {
        rule.on_pod_conditions.iter().any(|p| p.condition == *condition && p.status == *status)
    };
    conditions.find(named).map(|(condition, _)| RuleMatch::Condition(condition))
}

/// Result of the rules; without a match, the failure counts.
pub fn verdict(rules: &[PodFailurePolicyRule], pod: &FailedPodView<'_>) -> RuleVerdict {
    let action = matching_rule(rules, pod).map(|(_, action, _)| action);
    RuleVerdict { counts: action != Some(PodFailurePolicyAction::Ignore), action }
}

/// Message of FailureTarget and Failed for a FailJob match.
pub fn fail_job_message(namespace: &str, pod_name: &str, matched: RuleMatch<'_>, rule_index: usize) -> String {
    match matched {
        RuleMatch::ExitCode { container, code } => format!(
            "Container {container} for pod {namespace}/{pod_name} failed with exit code {code} matching FailJob rule at index {rule_index}"
        ),
        RuleMatch::Condition(condition) => {
            format!("Pod {namespace}/{pod_name} has condition {condition} matching FailJob rule at index {rule_index}")
        }
    }
}
