//! Reads JobSets, with the defaults of the webhook (DEF-1 to DEF-6) and of the CRD.

use super::job;
use crate::{read, text::node::YamlNode};
use sim_api::admission::generated_name;
use sim_api::spec::{
    ConditionOperator, CoordinatorSpec, DependsOn, DependsOnStatus, FailurePolicy, FailurePolicyAction,
    FailurePolicyRule, JobSet, JobSetSpec, NetworkSpec, ReplicatedJob, RestartStrategy, StartupPolicyOrder,
    SuccessPolicy,
};

/// Interpretation of an absent policy.
#[derive(Copy, Clone, PartialEq, Eq)]
enum MissingField {
    /// The JobSet is a manifest: the webhook's default applies.
    Defaulted,
    /// The JobSet is a stored object: an update removed the policy (UPD-5).
    Removed,
}

/// Converts a JobSet manifest. Values that the API server would refuse are treated as absent.
pub fn convert(node: &YamlNode) -> JobSet {
    let written = |key: &str| node.at_path(&["metadata", key]).and_then(YamlNode::as_str);
    let name = written("name").filter(|name| !name.is_empty());
    let name = name.map(str::to_owned);
    JobSet {
        name: name.unwrap_or_else(|| written("generateName").map(generated_name).unwrap_or_default()),
        ..of_tree(node, MissingField::Defaulted)
    }
}

/// Converts a JobSet as stored by the API server.
pub fn stored(node: &YamlNode) -> JobSet {
    of_tree(node, MissingField::Removed)
}

fn of_tree(node: &YamlNode, absent: MissingField) -> JobSet {
    let empty = YamlNode::empty_map();
    let metadata = node.get("metadata").unwrap_or(&empty);
    JobSet {
        name: read::string(metadata, "name").unwrap_or_default(),
        namespace: read::string(metadata, "namespace").unwrap_or_else(|| "default".to_owned()),
        labels: read::string_map(metadata, "labels"),
        annotations: read::string_map(metadata, "annotations"),
        finalizers: read::strings(metadata, "finalizers"),
        spec: spec(node.get("spec").unwrap_or(&empty), absent),
        object: None,
    }
}

fn spec(node: &YamlNode, absent: MissingField) -> JobSetSpec {
    JobSetSpec {
        replicated_jobs: read::list(node, "replicatedJobs").iter().map(replicated_job).collect(),
        network: match node.get("network") {
            None if absent == MissingField::Removed => NetworkSpec::default(),
            node => network(node),
        },
        success_policy: match node.get("successPolicy") {
            None if absent == MissingField::Removed => None,
            node => Some(node.map(success_policy).unwrap_or_default()),
        },
        failure_policy: node.get("failurePolicy").map(failure_policy),
        startup_order: match node.at_path(&["startupPolicy", "startupPolicyOrder"]) {
            Some(order) if order.as_str() == Some("InOrder") => StartupPolicyOrder::InOrder,
            _ => StartupPolicyOrder::AnyOrder,
        },
        suspend: read::boolean(node, "suspend").unwrap_or(false),
        coordinator: node.get("coordinator").map(coordinator),
        managed_by: read::string(node, "managedBy"),
        ttl_seconds_after_finished: read::u32_of(node, "ttlSecondsAfterFinished"),
        volume_claim_templates: read::list(node, "volumeClaimPolicies")
            .iter()
            .map(|policy| read::list(policy, "templates").len() as u32)
            .sum(),
    }
}

fn replicated_job(node: &YamlNode) -> ReplicatedJob {
    let template = node.get("template");
    ReplicatedJob {
        name: read::string(node, "name").unwrap_or_default(),
        group_name: read::string(node, "groupName").unwrap_or_else(|| "default".to_owned()),
        replicas: read::u32_of(node, "replicas").unwrap_or(1),
        annotations: template
            .and_then(|t| t.get("metadata"))
            .map(|m| read::string_map(m, "annotations"))
            .unwrap_or_default(),
        template: template.and_then(|t| t.get("spec")).map(job::spec).unwrap_or_default(),
        depends_on: read::list(node, "dependsOn").iter().map(depends_on).collect(),
    }
}

fn depends_on(node: &YamlNode) -> DependsOn {
    DependsOn {
        name: read::string(node, "name").unwrap_or_default(),
        status: match node.get("status").and_then(YamlNode::as_str) {
            Some("Complete") => DependsOnStatus::Complete,
            _ => DependsOnStatus::Ready,
        },
    }
}

/// Reads the network settings, with the webhook's defaults (DEF-4).
fn network(node: Option<&YamlNode>) -> NetworkSpec {
    let flag = |key: &str| node.and_then(|n| read::boolean(n, key)).unwrap_or(true);
    NetworkSpec {
        enable_dns_hostnames: flag("enableDNSHostnames"),
        publish_not_ready_addresses: flag("publishNotReadyAddresses"),
        subdomain: node.and_then(|n| read::string(n, "subdomain")).unwrap_or_default(),
    }
}

fn success_policy(node: &YamlNode) -> SuccessPolicy {
    SuccessPolicy {
        operator: match node.get("operator").and_then(YamlNode::as_str) {
            Some("Any") => ConditionOperator::Any,
            _ => ConditionOperator::All,
        },
        target_replicated_jobs: read::strings(node, "targetReplicatedJobs"),
    }
}

fn failure_policy(node: &YamlNode) -> FailurePolicy {
    FailurePolicy {
        max_restarts: read::i32_of(node, "maxRestarts").unwrap_or(0),
        restart_strategy: match node.get("restartStrategy").and_then(YamlNode::as_str) {
            Some("BlockingRecreate") => RestartStrategy::BlockingRecreate,
            Some("InPlaceRestart") => RestartStrategy::InPlaceRestart,
            _ => RestartStrategy::Recreate,
        },
        rules: read::list(node, "rules").iter().enumerate().map(|(i, rule)| failure_rule(i, rule)).collect(),
    }
}

fn failure_rule(index: usize, node: &YamlNode) -> FailurePolicyRule {
    FailurePolicyRule {
        // Default of the JobSet webhook (DEF-5).
        name: read::string(node, "name")
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| format!("failurePolicyRule{index}")),
        action: match node.get("action").and_then(YamlNode::as_str) {
            Some("FailJobSet") => FailurePolicyAction::FailJobSet,
            Some("RestartJobSetAndIgnoreMaxRestarts") => FailurePolicyAction::RestartJobSetAndIgnoreMaxRestarts,
            Some("RestartJob") => FailurePolicyAction::RestartJob,
            Some("RestartJobAndIgnoreMaxRestarts") => FailurePolicyAction::RestartJobAndIgnoreMaxRestarts,
            _ => FailurePolicyAction::RestartJobSet,
        },
        on_job_failure_reasons: read::strings(node, "onJobFailureReasons"),
        on_job_failure_message_patterns: read::strings(node, "onJobFailureMessagePatterns"),
        target_replicated_jobs: read::strings(node, "targetReplicatedJobs"),
    }
}

fn coordinator(node: &YamlNode) -> CoordinatorSpec {
    CoordinatorSpec {
        replicated_job: read::string(node, "replicatedJob").unwrap_or_default(),
        job_index: read::u32_of(node, "jobIndex").unwrap_or(0),
        pod_index: read::u32_of(node, "podIndex").unwrap_or(0),
    }
}
