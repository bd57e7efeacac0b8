//! Tests of `sim_api::admission::cel`.

use serde_json::json;
use sim_api::admission::cel::*;
#[test]
fn rules_between_fields_have_the_servers_words() {
    let in_order = json!({"startupPolicyOrder": "InOrder"});
    for (spec, expected) in [
        (
            json!({"startupPolicy": in_order}),
            Some("spec: Invalid value: \"object\": no such key: replicatedJobs evaluating rule: StartupPolicy"),
        ),
        (json!({"startupPolicy": in_order, "replicatedJobs": []}), None),
        (
            json!({"startupPolicy": in_order, "replicatedJobs": [{"dependsOn": []}]}),
            Some("spec: Invalid value: StartupPolicy and DependsOn"),
        ),
        (
            json!({"volumeClaimPolicies": [{}]}),
            Some("spec.volumeClaimPolicies[0]: Invalid value: \"object\": no such key: templates"),
        ),
        (
            json!({"volumeClaimPolicies": [{"templates": [{"metadata": {"namespace": "x"}}]}]}),
            Some("spec.volumeClaimPolicies[0]: Invalid value: namespace cannot be set"),
        ),
        (json!({"volumeClaimPolicies": [{"templates": [{"metadata": {"namespace": ""}}]}]}), None),
    ] {
        let actual = errors(&json!({"spec": spec}), None);
        match expected {
            None => assert!(actual.is_empty(), "{spec}: {actual:?}"),
            Some(start) => assert!(actual[0].to_string().starts_with(start), "{actual:?}"),
        }
    }
}

#[test]
fn a_field_may_come_or_go_but_not_change() {
    let with = |n: i64| json!({"spec": {"failurePolicy": {"maxRestarts": n}}});
    let without = json!({"spec": {}});
    assert!(errors(&with(1), Some(&without)).is_empty());
    assert!(errors(&without, Some(&with(1))).is_empty());
    assert!(errors(&with(1), Some(&with(1))).is_empty());
    let result = errors(&with(2), Some(&with(1)));
    assert_eq!(result[0].to_string(), "spec.failurePolicy: Invalid value: Value is immutable");
}
