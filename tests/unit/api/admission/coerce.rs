//! Tests of `sim_api::admission::coerce`.

use serde_json::json;
use sim_api::admission::coerce::*;
#[test]
fn unknown_fields_are_named_with_their_paths_and_go() {
    let mut object = json!({"kind": "JobSet", "specs": 1, "metadata": {"foo": 1}, "spec": {"foo": 1, "bar": {"x": 1},
        "replicatedJobs": [{"template": {"metadata": {"generateName": "x", "labels": {"any": "thing"}}}},
            {"name": {"a": 1}}]}});
    let unknown = prune(&mut object);
    let expected = [
        "spec.bar", "spec.foo", "spec.replicatedJobs[0].template.metadata.generateName",
        "spec.replicatedJobs[1].name.a", "specs",
    ];
    assert_eq!(unknown, expected);
    let left = json!({"kind": "JobSet", "metadata": {"foo": 1}, "spec": {"replicatedJobs": [
        {"template": {"metadata": {"labels": {"any": "thing"}}}}, {"name": {}}]}});
    assert_eq!(object, left);
}

#[test]
fn nulls_go_unless_a_default_takes_their_place() {
    let mut object = json!({"spec": {"network": null, "replicatedJobs": [{"name": null, "groupName": null,
        "template": {"spec": {"template": {"spec": {"nodeSelector": {"a": null}, "containers": [null]}}}}}]}});
    prune_nulls(&mut object);
    default(&mut object);
    let expected = json!({"spec": {"replicatedJobs": [{"groupName": "default", "replicas": 1,
        "template": {"spec": {"template": {"spec": {"nodeSelector": {}, "containers": [null]}}}}}]}});
    assert_eq!(object, expected);
}
