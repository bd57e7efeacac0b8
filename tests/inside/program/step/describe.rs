//! Unit tests of `jobset_sim::step::describe`.

use super::*;
use serde_json::json;

#[test]
fn a_tree_is_written_as_kubectl_writes_it() {
    let mut out = String::new();
    let tree = json!({"replicatedJobs": [{}, {"name": "w", "replicas": 2}], "failurePolicy": {"maxRestarts": 3},
        "enableDNSHostnames": true,
        "nodeSelector": {"example.com/pool": "a"}});
    general(&mut out, &tree, 2);
    let expected = "  Enable DNS Hostnames: true\n  Failure Policy:\n    Max Restarts: 3\n  Node Selector:\n    example.com/pool: a\n  \
                    Replicated Jobs:\n    - Name: w\n      Replicas: 2\n";
    assert_eq!(out, expected);
}
