//! Tests of `sim_api::admission::patch`.

use serde_json::json;
use sim_api::admission::patch::*;
#[test]
fn a_merge_patch_sets_removes_and_replaces_lists() {
    let mut object = json!({"a": {"b": 1, "c": [1, 2]}, "d": 3});
    merge_patch(&mut object, &json!({"a": {"b": null, "c": [3], "e": {"f": null}}, "d": {"g": 1}}));
    assert_eq!(object, json!({"a": {"c": [3], "e": {}}, "d": {"g": 1}}));
}

#[test]
fn a_json_patch_does_all_or_says_why() {
    let start = json!({"a": [1, 2], "b/c": {"d": 1}});
    for (patch, expected) in [
        (json!([{"op": "add", "path": "/a/1", "value": 9}]), Some(json!({"a": [1, 9, 2], "b/c": {"d": 1}}))),
        (json!([{"op": "add", "path": "/a/-", "value": 9}]), Some(json!({"a": [1, 2, 9], "b/c": {"d": 1}}))),
        (json!([{"op": "replace", "path": "/b~1c/d", "value": 2}]), Some(json!({"a": [1, 2], "b/c": {"d": 2}}))),
        (json!([{"op": "remove", "path": "/a/0"}]), Some(json!({"a": [2], "b/c": {"d": 1}}))),
        (json!([{"op": "move", "from": "/a/0", "path": "/x"}]), Some(json!({"a": [2], "b/c": {"d": 1}, "x": 1}))),
        (json!([{"op": "test", "path": "/a/0", "value": 1}]), Some(start.clone())),
        (json!([{"op": "test", "path": "/a/0", "value": 2}]), None),
        (json!([{"op": "replace", "path": "/nope/x", "value": 2}]), None),
        (json!([{"op": "remove", "path": "/a/7"}]), None),
        (json!([{"op": "add", "path": "/a/7", "value": 2}]), None),
    ] {
        let mut object = start.clone();
        let done = json_patch(&mut object, patch.as_array().unwrap());
        assert_eq!(done.ok().map(|()| object), expected, "{patch}");
    }
}

#[test]
fn an_apply_merges_lists_by_their_keys() {
    let mut object = json!({"spec": {"suspend": true, "replicatedJobs": [{"name": "a", "replicas": 1},
        {"name": "b", "replicas": 1}]}});
    apply(&mut object, &json!({"spec": {"replicatedJobs": [{"name": "b", "replicas": 2}]}}));
    let expected = json!({"spec": {"suspend": true, "replicatedJobs": [{"name": "a", "replicas": 1},
        {"name": "b", "replicas": 2}]}});
    assert_eq!(object, expected);
    let swapped = json!({"spec": {"replicatedJobs": [{"name": "b"}, {"name": "a"}]}});
    apply(&mut object, &swapped);
    assert_eq!(object["spec"]["replicatedJobs"][0]["name"], "b");
}
