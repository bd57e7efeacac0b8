//! Unit tests of `sim_recordings::validate::admission::update`.

use super::*;

#[test]
fn abbreviated_paths_are_expanded() {
    let job =
        json!({"name": "w", "template": {"spec": {"parallelism": 1, "template": {"spec": {"containers": [{}]}}}}});
    let stored = json!({"metadata": {}, "spec": {"replicatedJobs": [job]}});
    let change = json!({"set": {"c0.image": "x", "job0.parallelism": 2, "rj0.replicas": 3,
        "pod0.nodeSelector": {"a": "b"}, "metadata.labels": {"l": "1"}}, "unset": ["rj0.name", "spec.none.at.all"]});
    let expected = json!({"metadata": {"labels": {"l": "1"}}, "spec": {"replicatedJobs": [{"replicas": 3,
        "template": {"spec": {"parallelism": 2, "template": {"spec": {"containers": [{"image": "x"}],
            "nodeSelector": {"a": "b"}}}}}}]}});
    assert_eq!(body(&Value::Null, &stored, "put", &change), expected);
    let gone = body(&Value::Null, &stored, "put", &json!({"unset": ["rj0"]}));
    assert_eq!(gone["spec"]["replicatedJobs"], json!([]));
}
