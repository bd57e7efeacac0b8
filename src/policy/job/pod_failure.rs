//! What the podFailurePolicy of a Job says of one failed pod (kubernetes.md 1.6;
//! `pkg/controller/job/pod_failure_policy.go`).
//!
//! Must never count anything: Ignore and Count are the caller's to act on.

use sim_api::spec::{DISRUPTION_TARGET, OnExitCodes, PodFailurePolicyAction, PodFailurePolicyRule};

/// What a rule can see of a failed pod.
#[derive(Copy, Clone, Debug)]
pub struct FailedPodView<'a> {
    /// Name and exit code of the containers that are terminated: regular ones first, then init containers. Without
    /// those that still terminate or were never started.
    pub exit_codes: &'a [(&'a str, i32)],
    /// Condition DisruptionTarget=True.
    pub disruption_target: bool,
}

/// Which half of a rule matched; decides the words of the message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Match<'a> {
    ExitCode { container: &'a str, code: i32 },
    Condition,
}

/// What the policy says about one failed pod.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Counts against backoffLimit.
    pub counts: bool,
    pub action: Option<PodFailurePolicyAction>,
}

impl Default for Verdict {
    fn default() -> Verdict {
        Verdict {
            counts: true,
            action: None,
        }
    }
}

/// The first rule that matches, its action, and what matched. `None`: the failure counts.
pub fn matching_rule<'a>(
    rules: &[PodFailurePolicyRule],
    pod: &FailedPodView<'a>,
) -> Option<(usize, PodFailurePolicyAction, Match<'a>)> {
    rules.iter().enumerate().find_map(|(at, rule)| {
        let matched = match &rule.on_exit_codes {
            Some(codes) => exit_code_match(codes, pod),
            None => condition_matches(rule, pod).then_some(Match::Condition),
        };
        matched.map(|m| (at, rule.action, m))
    })
}

/// The first container whose exit code fits. Exit code 0 matches no rule, not even `NotIn`.
fn exit_code_match<'a>(codes: &OnExitCodes, pod: &FailedPodView<'a>) -> Option<Match<'a>> {
    let named = codes.container_name.as_deref();
    let fits = |&&(container, code): &&(&str, i32)| {
        code != 0
            && named.is_none_or(|n| n == container)
            && codes.values.contains(&code) == codes.operator_in
    };
    let &(container, code) = pod.exit_codes.iter().find(fits)?;
    Some(Match::ExitCode { container, code })
}

fn condition_matches(rule: &PodFailurePolicyRule, pod: &FailedPodView<'_>) -> bool {
    let patterns = &rule.on_pod_conditions;
    pod.disruption_target
        && patterns
            .iter()
            .any(|p| p.condition == DISRUPTION_TARGET && p.status == "True")
}

/// What becomes of the count; without a match the failure counts.
pub fn verdict(rules: &[PodFailurePolicyRule], pod: &FailedPodView<'_>) -> Verdict {
    let action = matching_rule(rules, pod).map(|(_, action, _)| action);
    Verdict {
        counts: action != Some(PodFailurePolicyAction::Ignore),
        action,
    }
}

/// The message of FailureTarget and Failed for a FailJob match.
pub fn fail_job_message(
    namespace: &str,
    pod_name: &str,
    matched: Match<'_>,
    rule_index: usize,
) -> String {
    match matched {
        Match::ExitCode { container, code } => format!(
            "Container {container} for pod {namespace}/{pod_name} failed with exit code {code} matching FailJob rule at index {rule_index}"
        ),
        Match::Condition => format!(
            "Pod {namespace}/{pod_name} has condition {DISRUPTION_TARGET} matching FailJob rule at index {rule_index}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PodFailurePolicyAction::*;
    use sim_api::spec::PodConditionPattern;

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

    #[test]
    fn the_first_rule_that_matches_decides() {
        let rules = [
            on_condition(Ignore, "False"),
            on_codes(FailJob, true, &[3, 9], Some("main")),
            on_condition(Ignore, "True"),
            on_codes(Count, false, &[1], None),
        ];
        for (codes, disrupted, want, sentence) in [
            (
                &[("main", 3)][..],
                false,
                Some((1, FailJob)),
                "a listed code",
            ),
            (
                &[("main", 3)][..],
                true,
                Some((1, FailJob)),
                "before a later condition",
            ),
            (
                &[("side", 3)][..],
                false,
                Some((3, Count)),
                "another container passes a named rule",
            ),
            (
                &[("side", 0), ("main", 9)][..],
                false,
                Some((1, FailJob)),
                "the second container",
            ),
            (&[("main", 1)][..], true, Some((2, Ignore)), "a disruption"),
            (
                &[("main", 1)][..],
                false,
                None,
                "a code NotIn excludes matches nothing",
            ),
            (
                &[("main", 0)][..],
                false,
                None,
                "exit code 0 never matches, not even NotIn",
            ),
            (
                &[][..],
                false,
                None,
                "a container that still terminates has no code",
            ),
            (
                &[][..],
                true,
                Some((2, Ignore)),
                "a condition needs no code",
            ),
        ] {
            let pod = FailedPodView {
                exit_codes: codes,
                disruption_target: disrupted,
            };
            let got = matching_rule(&rules, &pod).map(|(at, action, _)| (at, action));
            assert_eq!(got, want, "{sentence}");
            let ignored = want.is_some_and(|(_, action)| action == Ignore);
            assert_eq!(verdict(&rules, &pod).counts, !ignored, "{sentence}");
        }
    }

    #[test]
    fn messages_are_upstreams() {
        let code = Match::ExitCode {
            container: "main",
            code: 3,
        };
        assert_eq!(
            fail_job_message("ns", "js-w-0-1-abcde", code, 0),
            "Container main for pod ns/js-w-0-1-abcde failed with exit code 3 matching FailJob rule at index 0"
        );
        assert_eq!(
            fail_job_message("ns", "js-w-0-1-abcde", Match::Condition, 2),
            "Pod ns/js-w-0-1-abcde has condition DisruptionTarget matching FailJob rule at index 2"
        );
    }
}
