//! Unit tests of `sim_recordings::validate::scenario::unsimulated_fields`.

use super::*;
use crate::validate::read::tests::example;
use serde_json::json;

fn with_pod(pod: Value) -> RecordedRun {
    example(|j| {
        j["jobSet"] = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "js"},
            "spec": {"replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": pod}}}}]}});
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
    for (pod, expected) in [
        (json!({"containers": container}), vec![]),
        (json!({"containers": container, "affinity": {"podAntiAffinity": {}}}), vec![]),
        (json!({"containers": container, "runtimeClassName": "r"}), vec!["runtimeClassName"]),
        (json!({"containers": container, "overhead": {"cpu": "1"}, "schedulerName": "other"}), vec![]),
        (json!({"containers": [{"name": "c", "livenessProbe": {"periodSeconds": 1}}]}), vec![]),
    ] {
        assert_eq!(named(&with_pod(pod.clone())), expected, "{pod}");
    }
}
