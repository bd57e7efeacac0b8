//! podFailurePolicy of a Job for one failed pod (kubernetes.md 1.6; `pkg/controller/job/pod_failure_policy.go`).
//!
//! Must never count anything: Ignore and Count are the caller's to act on.

use crate::spec::{OnExitCodes, PodFailurePolicyAction, PodFailurePolicyRule};

/// What a rule can see of a failed pod.
#[derive(Copy, Clone, Debug)]
pub struct FailedPodView<'a> {
    /// Exit code of the container that is terminated; `None` while it still terminates or was never started.
    pub exit_code: Option<i32>,
    pub container: &'a str,
    /// Condition DisruptionTarget=True.
    pub disruption_target: bool,
}

/// Which half of a rule matched; decides the words of the message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Match {
    ExitCode,
    Condition,
}

const DISRUPTION_TARGET: &str = "DisruptionTarget";

/// The first rule that matches, its action, and what matched. `None`: the failure counts.
pub fn matching_rule(
    rules: &[PodFailurePolicyRule],
    pod: &FailedPodView<'_>,
) -> Option<(usize, PodFailurePolicyAction, Match)> {
    rules.iter().enumerate().find_map(|(at, rule)| {
        let matched = match &rule.on_exit_codes {
            Some(codes) => exit_code_matches(codes, pod).then_some(Match::ExitCode),
            None => condition_matches(rule, pod).then_some(Match::Condition),
        };
        matched.map(|m| (at, rule.action, m))
    })
}

/// Exit code 0 matches no rule, not even `NotIn`.
fn exit_code_matches(codes: &OnExitCodes, pod: &FailedPodView<'_>) -> bool {
    let named = codes.container_name.as_deref();
    match pod.exit_code {
        None | Some(0) => false,
        Some(code) => {
            named.is_none_or(|n| n == pod.container)
                && codes.values.contains(&code) == codes.operator_in
        }
    }
}

fn condition_matches(rule: &PodFailurePolicyRule, pod: &FailedPodView<'_>) -> bool {
    let patterns = &rule.on_pod_conditions;
    pod.disruption_target
        && patterns
            .iter()
            .any(|p| p.condition == DISRUPTION_TARGET && p.status == "True")
}

/// The message of FailureTarget and Failed for a FailJob match.
pub fn fail_job_message(
    namespace: &str,
    pod_name: &str,
    pod: &FailedPodView<'_>,
    matched: Match,
    rule_index: usize,
) -> String {
    match matched {
        Match::ExitCode => format!(
            "Container {} for pod {namespace}/{pod_name} failed with exit code {} matching FailJob rule at index {rule_index}",
            pod.container,
            pod.exit_code.unwrap_or(0)
        ),
        Match::Condition => format!(
            "Pod {namespace}/{pod_name} has condition {DISRUPTION_TARGET} matching FailJob rule at index {rule_index}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::PodConditionPattern;
    use PodFailurePolicyAction::*;

    fn on_codes(
        action: PodFailurePolicyAction,
        operator_in: bool,
        values: &[i32],
        container: Option<&str>,
    ) -> PodFailurePolicyRule {
        PodFailurePolicyRule {
            action,
            on_exit_codes: Some(OnExitCodes {
                container_name: container.map(str::to_string),
                operator_in,
                values: values.to_vec(),
            }),
            on_pod_conditions: Vec::new(),
        }
    }

    fn on_condition(action: PodFailurePolicyAction, status: &str) -> PodFailurePolicyRule {
        PodFailurePolicyRule {
            action,
            on_exit_codes: None,
            on_pod_conditions: vec![PodConditionPattern {
                condition: DISRUPTION_TARGET.to_string(),
                status: status.to_string(),
            }],
        }
    }

    fn pod(exit_code: Option<i32>, container: &str, disruption_target: bool) -> FailedPodView<'_> {
        FailedPodView {
            exit_code,
            container,
            disruption_target,
        }
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let rules = [
            on_condition(Ignore, "False"),
            on_codes(FailJob, true, &[3, 9], Some("main")),
            on_condition(Ignore, "True"),
            on_codes(Count, false, &[1], None),
        ];
        let case =
            |code, container, disrupted| matching_rule(&rules, &pod(code, container, disrupted));
        for (got, want, sentence) in [
            (
                case(Some(3), "main", false),
                Some((1, FailJob, Match::ExitCode)),
                "a listed code",
            ),
            (
                case(Some(3), "main", true),
                Some((1, FailJob, Match::ExitCode)),
                "an earlier rule wins over a later condition",
            ),
            (
                case(Some(3), "side", false),
                Some((3, Count, Match::ExitCode)),
                "another container's code passes a named rule",
            ),
            (
                case(Some(1), "main", true),
                Some((2, Ignore, Match::Condition)),
                "a disruption",
            ),
            (
                case(Some(1), "main", false),
                None,
                "a code NotIn excludes matches nothing",
            ),
            (
                case(Some(0), "main", false),
                None,
                "exit code 0 never matches, not even NotIn",
            ),
            (
                case(None, "main", false),
                None,
                "a container that still terminates has no code",
            ),
            (
                case(None, "main", true),
                Some((2, Ignore, Match::Condition)),
                "a condition needs no code",
            ),
        ] {
            assert_eq!(got, want, "{sentence}");
        }
        assert_eq!(matching_rule(&[], &pod(Some(1), "main", true)), None);
    }

    #[test]
    fn messages_are_upstreams() {
        let pod = pod(Some(3), "main", true);
        assert_eq!(
            fail_job_message("ns", "js-w-0-1-abcde", &pod, Match::ExitCode, 0),
            "Container main for pod ns/js-w-0-1-abcde failed with exit code 3 matching FailJob rule at index 0"
        );
        assert_eq!(
            fail_job_message("ns", "js-w-0-1-abcde", &pod, Match::Condition, 2),
            "Pod ns/js-w-0-1-abcde has condition DisruptionTarget matching FailJob rule at index 2"
        );
    }
}
