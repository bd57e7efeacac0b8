//! Tests of `sim_api::admission::go`.

use serde_json::{Value, json};
use sim_api::admission::go::*;
use sim_base::quantity;
fn rj(edit: Value) -> Value {
    json!({"spec": {"replicatedJobs": [edit]}})
}

#[test]
fn the_first_wrong_type_is_named_as_go_names_it() {
    for (object, expected) in [
        (json!({"spec": []}), "array into Go struct field JobSet.spec of type v1alpha2.JobSetSpec"),
        (
            rj(json!({"replicas": "2"})),
            "string into Go struct field ReplicatedJob.spec.replicatedJobs.replicas of type int32",
        ),
        (
            rj(json!({"replicas": 2147483648u32})),
            "number 2147483648 into Go struct field ReplicatedJob.spec.replicatedJobs.replicas of type int32",
        ),
        (
            rj(json!({"replicas": 1.5, "name": 1})),
            "number into Go struct field ReplicatedJob.spec.replicatedJobs.name of type string",
        ),
        (
            rj(json!({"template": {"spec": {"template": {"metadata": {"labels": {"a": 1}}}}}})),
            "number into Go struct field ObjectMeta.spec.replicatedJobs.template.spec.template.metadata.labels \
             of type string",
        ),
        (
            json!({"spec": {"coordinator": {"jobIndex": true}}}),
            "bool into Go struct field Coordinator.spec.coordinator.jobIndex of type int",
        ),
        (
            json!({"spec": {"successPolicy": {"operator": 1}}}),
            "number into Go struct field SuccessPolicy.spec.successPolicy.operator of type v1alpha2.Operator",
        ),
    ] {
        let error = round_trip_jobset(&object).unwrap_err();
        assert_eq!(error.to_string(), format!("json: cannot unmarshal {expected}"));
    }
}

#[test]
fn a_bad_quantity_stops_go_before_the_wrong_type_is_reported() {
    let object = rj(json!({"name": 1, "template": {"spec": {"template": {"spec": {"containers": [
        {"resources": {"limits": {"cpu": "x"}}}
    ]}}}}}));
    assert_eq!(round_trip_jobset(&object).unwrap_err().to_string(), quantity::INVALID_FORMAT);
}

#[test]
fn zero_values_appear_and_empty_ones_vanish() {
    let object = rj(json!({"replicas": 0, "dependsOn": [], "unknown": 1}));
    let expected = json!({
        "metadata": {}, "status": {"restarts": 0},
        "spec": {"replicatedJobs": [{"name": "", "template": {"metadata": {}, "spec": {"template": {
            "metadata": {}, "spec": {"containers": null}
        }}}}]}
    });
    assert_eq!(round_trip_jobset(&object).unwrap(), expected);
}
