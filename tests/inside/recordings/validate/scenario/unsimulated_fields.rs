//! Unit tests of `sim_recordings::validate::scenario::unsimulated_fields`.

use super::*;
use crate::validate::read::tests::example;
use serde_json::json;

fn with_pod(pod: Value) -> RecordedRun {
    with_pod_and_objects(pod, json!([]))
}

fn with_pod_and_objects(pod: Value, objects: Value) -> RecordedRun {
    example(|j| {
        j["jobSet"] = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "js"},
            "spec": {"replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": pod}}}}]}});
        j["objects"] = objects;
    })
}

fn named(recording: &RecordedRun) -> Vec<String> {
    let fields = unsimulated_fields(recording, sim_inputs::unmodelled_fields);
    let keys = fields.iter().map(|part| part.to_string().rsplit('.').next().unwrap_or("").to_owned());
    keys.collect()
}

#[test]
fn fields_without_a_simulated_effect_are_named() {
    let container = json!([{"name": "c", "image": "i"}]);
    let anti = json!({"podAntiAffinity": {REQUIRED: [{"topologyKey": "pool"}]}});
    let affinity = |labels: Value| json!({"podAffinity": {REQUIRED: [{"labelSelector": labels, "topologyKey": "t"}]}});
    for (pod, expected) in [
        (json!({"containers": container}), vec![]),
        (json!({"containers": container, "affinity": anti}), vec!["podAntiAffinity"]),
        (json!({"containers": container, "topologySpreadConstraints": [{}]}), vec!["topologySpreadConstraints"]),
        (json!({"containers": [{"name": "c", "ports": [{"hostPort": 80, "containerPort": 80}]}]}), vec!["hostPort"]),
        (
            json!({"hostNetwork": true, "containers": [{"name": "c", "ports": [{"containerPort": 80}]}]}),
            vec!["hostNetwork"],
        ),
        // Without ports, the network of the node has no effect on decisions.
        (json!({"hostNetwork": true, "containers": container}), vec![]),
        (json!({"containers": [{"name": "c", "livenessProbe": {"periodSeconds": 1}}]}), vec![]),
        // No pod has these labels, which is simulated.
        (json!({"containers": container, "affinity": affinity(json!({"matchLabels": {"a": "b"}}))}), vec![]),
        (json!({"containers": container, "affinity": affinity(json!({"matchExpressions": []}))}), vec!["podAffinity"]),
    ] {
        assert_eq!(named(&with_pod(pod.clone())), expected, "{pod}");
    }
}
