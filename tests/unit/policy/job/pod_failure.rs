//! Tests of `sim_policy::job::pod_failure`.

use PodFailurePolicyAction::*;
use sim_api::spec::{
    DISRUPTION_TARGET, OnExitCodes, PodConditionPattern, PodFailurePolicyAction, PodFailurePolicyRule,
};
use sim_policy::job::pod_failure::*;

fn on_codes(
    action: PodFailurePolicyAction, operator_in: bool, values: &[i32], container: Option<&str>,
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
        (&[("main", 3)][..], false, Some((1, FailJob)), "a listed code"),
        (&[("main", 3)][..], true, Some((1, FailJob)), "before a later condition"),
        (&[("side", 3)][..], false, Some((3, Count)), "another container passes a named rule"),
        (&[("side", 0), ("main", 9)][..], false, Some((1, FailJob)), "the second container"),
        (&[("main", 1)][..], true, Some((2, Ignore)), "a disruption"),
        (&[("main", 1)][..], false, None, "a code that NotIn excludes does not match"),
        (&[("main", 0)][..], false, None, "exit code 0 never matches, not even NotIn"),
        (&[][..], false, None, "a terminating container has no exit code"),
        (&[][..], true, Some((2, Ignore)), "a condition does not need an exit code"),
    ] {
        let pod = FailedPodView { exit_codes: codes, disruption_target: disrupted };
        let got = matching_rule(&rules, &pod).map(|(at, action, _)| (at, action));
        assert_eq!(got, want, "{sentence}");
        let ignored = want.is_some_and(|(_, action)| action == Ignore);
        assert_eq!(verdict(&rules, &pod).counts, !ignored, "{sentence}");
    }
}

/// `matchOnPodConditions` compares all conditions of the pod, also those that every failed pod has.
#[test]
fn conditions_of_every_failed_pod_match() {
    for (condition, status, is_disrupted, expected) in [
        ("Ready", "False", false, Some("Ready")),
        ("Ready", "True", false, None),
        ("ContainersReady", "False", false, Some("ContainersReady")),
        ("PodScheduled", "True", false, Some("PodScheduled")),
        ("DisruptionTarget", "True", true, Some("DisruptionTarget")),
        ("DisruptionTarget", "False", true, None),
        ("DisruptionTarget", "True", false, None),
        ("example.com/Bad", "True", true, None),
    ] {
        let pattern = PodConditionPattern { condition: condition.to_owned(), status: status.to_owned() };
        let rule = PodFailurePolicyRule { action: FailJob, on_exit_codes: None, on_pod_conditions: vec![pattern] };
        let pod = FailedPodView { exit_codes: &[("main", 1)], disruption_target: is_disrupted };
        let matched = matching_rule(&[rule], &pod).map(|(_, _, matched)| matched);
        assert_eq!(matched, expected.map(RuleMatch::Condition), "{condition}={status}");
    }
}

#[test]
fn messages_are_upstreams() {
    let code = RuleMatch::ExitCode { container: "main", code: 3 };
    assert_eq!(
        fail_job_message("ns", "js-w-0-1-abcde", code, 0),
        "Container main for pod ns/js-w-0-1-abcde failed with exit code 3 matching FailJob rule at index 0"
    );
    assert_eq!(
        fail_job_message("ns", "js-w-0-1-abcde", RuleMatch::Condition("DisruptionTarget"), 2),
        "Pod ns/js-w-0-1-abcde has condition DisruptionTarget matching FailJob rule at index 2"
    );
}
