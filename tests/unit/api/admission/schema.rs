//! Tests of `sim_api::admission::schema`.

use serde_json::{Value, json};
use sim_api::admission::schema::*;
fn sentences(spec: Value) -> Vec<String> {
    let object = json!({"metadata": {}, "spec": spec});
    errors(&object, None).iter().map(ToString::to_string).collect()
}

#[test]
fn every_rule_of_the_schema_has_the_servers_words() {
    let template = json!({"spec": {"template": {"spec": {"containers": []}}}});
    for (spec, expected) in [
        (
            json!({"ttlSecondsAfterFinished": -1}),
            "spec.ttlSecondsAfterFinished: Invalid value: -1: spec.ttlSecondsAfterFinished in body should be \
             greater than or equal to 0",
        ),
        (
            json!({"suspend": "yes"}),
            "spec.suspend: Invalid value: \"string\": spec.suspend in body must be of type boolean: \"string\"",
        ),
        (
            json!({"startupPolicy": {"startupPolicyOrder": "Random"}}),
            "spec.startupPolicy.startupPolicyOrder: Unsupported value: \"Random\": supported values: \
             \"AnyOrder\", \"InOrder\"",
        ),
        (json!({"successPolicy": {}}), "spec.successPolicy.operator: Required value"),
        (
            json!({"replicatedJobs": [{"name": "a", "template": template}, {"name": "a", "template": template}]}),
            "spec.replicatedJobs[1]: Duplicate value: {\"name\":\"a\"}",
        ),
        (
            json!({"volumeClaimPolicies": [{"templates": vec![json!({}); 51]}]}),
            "spec.volumeClaimPolicies[0].templates: Too many: 51: must have at most 50 items",
        ),
        (
            json!({"failurePolicy": {"maxRestarts": 2147483648u32}}),
            "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in \
             spec.failurePolicy.maxRestarts",
        ),
    ] {
        assert_eq!(sentences(spec), [expected]);
    }
}

#[test]
fn what_did_not_change_is_not_judged_again() {
    let bad = json!({"spec": {"suspend": "yes", "ttlSecondsAfterFinished": 1}});
    let mut new = bad.clone();
    new["spec"]["ttlSecondsAfterFinished"] = json!(-1);
    assert!(errors(&bad, Some(&bad)).is_empty());
    let result = errors(&new, Some(&bad));
    assert_eq!(result.len(), 1);
    assert_eq!(result[0].path, "spec.ttlSecondsAfterFinished");
}
