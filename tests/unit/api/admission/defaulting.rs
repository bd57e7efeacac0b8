//! Tests of `sim_api::admission::defaulting`.

use serde_json::json;
use sim_api::admission::defaulting::*;
#[test]
fn defaults_come_with_all_that_go_writes() {
    let sent = json!({"spec": {
        "replicatedJobs": [{"name": "w", "replicas": 0, "dependsOn": [], "template": {"spec": {"template": {"spec": {
            "containers": [{"name": "main", "resources": {"limits": {"memory": "1024Mi"}}}, {}]
        }}}}}],
        "failurePolicy": {"rules": [{"action": "FailJobSet"}, {"name": "x", "action": "FailJobSet"}]},
        "network": {"enableDNSHostnames": false},
        "volumeClaimPolicies": [{"templates": []}]
    }});
    let expected = json!({"replicatedJobs": [{"name": "w", "replicas": 0, "dependsOn": [],
        "template": {"metadata": {}, "spec": {"completionMode": "Indexed", "template": {"metadata": {}, "spec": {
            "restartPolicy": "OnFailure",
            "containers": [{"name": "main", "resources": {"limits": {"memory": "1Gi"}}},
                {"name": "", "resources": {}}]
        }}}}}],
        "failurePolicy": {"rules": [{"name": "failurePolicyRule0", "action": "FailJobSet"},
            {"name": "x", "action": "FailJobSet"}]},
        "network": {"enableDNSHostnames": false, "publishNotReadyAddresses": true},
        "volumeClaimPolicies": [{"templates": [], "retentionPolicy": {"whenDeleted": "Delete"}}],
        "successPolicy": {"operator": "All"}, "startupPolicy": {"startupPolicyOrder": "AnyOrder"}});
    assert_eq!(mutate(&sent).unwrap()["spec"], expected);
}

#[test]
fn without_anything_to_default_nothing_is_rewritten() {
    let sent = json!({"spec": {"successPolicy": {"operator": "All"}, "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "network": {"enableDNSHostnames": true, "publishNotReadyAddresses": true}}});
    assert_eq!(mutate(&sent).unwrap(), sent);
}
