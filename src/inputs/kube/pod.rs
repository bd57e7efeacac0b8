//! Reads pod templates and their containers.

use crate::{read, text::node::YamlNode, topology::taint::taint_effect};
use sim_api::spec::{
    ContainerRestartAction, ContainerRestartRule, ContainerSpec, ImagePullPolicy, NodeOperator, NodeRequirement,
    NodeTerm, PodSpec, PodTemplate, PodTerms, ProbeTiming, ResourceAmounts, RestartPolicy, TolerationSpec,
};
use sim_base::Duration;
use std::collections::BTreeMap;

/// The API server's default for `periodSeconds`.
const PROBE_PERIOD_S: u32 = 10;
/// Failures in a row with which a probe fails (`pkg/apis/core/v1/defaults.go`).
const PROBE_FAILURES: u32 = 3;
const GRACE_S: u32 = 30;
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

pub fn template(node: &YamlNode) -> PodTemplate {
    let metadata = node.get("metadata");
    let map = |key: &str| metadata.map(|m| read::string_map(m, key)).unwrap_or_default();
    PodTemplate {
        labels: map("labels"),
        annotations: map("annotations"),
        finalizers: metadata.map_or_else(Vec::new, |m| read::strings(m, "finalizers")),
        spec: node.get("spec").map(pod_spec).unwrap_or_default(),
    }
}

fn pod_spec(node: &YamlNode) -> PodSpec {
    PodSpec {
        // The JobSet webhook defaults to OnFailure (DEF-3); the Kubernetes default is Always.
        restart_policy: restart_policy(node).unwrap_or(RestartPolicy::OnFailure),
        termination_grace_period_s: read::u32_of(node, "terminationGracePeriodSeconds").unwrap_or(GRACE_S),
        node_selector: read::string_map(node, "nodeSelector"),
        node_affinity: node.at_path(&["affinity", "nodeAffinity", REQUIRED]).map(|required| {
            let terms = read::list(required, "nodeSelectorTerms");
            terms.iter().map(node_term).collect()
        }),
        tolerations: read::list(node, "tolerations").iter().map(toleration).collect(),
        priority: read::i32_of(node, "priority").unwrap_or(0),
        scheduler_name: read::string(node, "schedulerName").filter(|name| !name.is_empty()),
        scheduling_group: node
            .get("schedulingGroup")
            .and_then(|group| read::string(group, "podGroupName"))
            .filter(|name| !name.is_empty()),
        scheduling_gates: read::list(node, "schedulingGates").len() as u32,
        node_name: read::string(node, "nodeName").filter(|name| !name.is_empty()),
        is_windows: node.at_path(&["os", "name"]).and_then(YamlNode::as_str) == Some("windows"),
        claims: read::list(node, "volumes")
            .iter()
            .filter_map(|v| {
                let claim = v.get("persistentVolumeClaim")?;
                read::string(claim, "claimName")
            })
            .collect(),
        resource_claims: read::list(node, "resourceClaims")
            .iter()
            .map(|claim| read::string(claim, "resourceClaimName"))
            .collect(),
        terms: terms(node),
        resources: requests(node),
        limits: limits(node),
        overhead: read::quantities(node, "overhead"),
        init_containers: read::list(node, "initContainers").iter().map(container).collect(),
        containers: read::list(node, "containers").iter().map(container).collect(),
    }
}

/// Counts the terms whose effect depends on other pods or on a comparison of nodes.
fn terms(node: &YamlNode) -> PodTerms {
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let of_affinity = |kind: &str, list: &str| {
        let found = node.at_path(&["affinity", kind]).map(|affinity| read::list(affinity, list).len());
        found.unwrap_or(0) as u32
    };
    let spread = read::list(node, "topologySpreadConstraints");
    let is_soft =
        |constraint: &&YamlNode| read::string(constraint, "whenUnsatisfiable").as_deref() == Some("ScheduleAnyway");
    let soft_spread = spread.iter().filter(is_soft).count() as u32;
    let containers = ["initContainers", "containers"].iter().flat_map(|key| read::list(node, key));
    let ports = containers.flat_map(|container| read::list(container, "ports"));
    let on_host = read::boolean(node, "hostNetwork") == Some(true);
    let is_of_host = |port: &&YamlNode| on_host || read::integer(port, "hostPort").is_some_and(|port| port > 0);
    PodTerms {
        required_affinity: of_affinity("podAffinity", REQUIRED),
        required_anti_affinity: of_affinity("podAntiAffinity", REQUIRED),
        preferred: of_affinity("podAffinity", PREFERRED) + of_affinity("podAntiAffinity", PREFERRED),
        preferred_nodes: of_affinity("nodeAffinity", PREFERRED),
        hard_spread: spread.len() as u32 - soft_spread,
        soft_spread,
        host_ports: ports.filter(is_of_host).count() as u32,
    }
}

fn restart_policy(node: &YamlNode) -> Option<RestartPolicy> {
    match node.get("restartPolicy")?.as_str()? {
        "Always" => Some(RestartPolicy::Always),
        "OnFailure" => Some(RestartPolicy::OnFailure),
        "Never" => Some(RestartPolicy::Never),
        _ => None,
    }
}

fn node_term(node: &YamlNode) -> NodeTerm {
    let all = |key| read::list(node, key).iter().map(requirement).collect();
    NodeTerm { expressions: all("matchExpressions"), fields: all("matchFields") }
}

pub fn requirement(node: &YamlNode) -> NodeRequirement {
    NodeRequirement {
        key: read::string(node, "key").unwrap_or_default(),
        operator: node.get("operator").and_then(YamlNode::as_str).and_then(NodeOperator::parse),
        values: read::strings(node, "values"),
    }
}

pub fn toleration(node: &YamlNode) -> TolerationSpec {
    TolerationSpec {
        key: read::string(node, "key").filter(|key| !key.is_empty()),
        exists: node.get("operator").and_then(YamlNode::as_str) == Some("Exists"),
        value: read::string(node, "value").unwrap_or_default(),
        effect: taint_effect(node),
        toleration_seconds: read::integer(node, "tolerationSeconds"),
    }
}

fn container(node: &YamlNode) -> ContainerSpec {
    ContainerSpec {
        name: read::string(node, "name").unwrap_or_default(),
        image: read::string(node, "image").unwrap_or_default(),
        image_pull_policy: pull_policy(node),
        requests: requests(node),
        limits: limits(node),
        restart_policy: restart_policy(node),
        restart_policy_rules: read::list(node, "restartPolicyRules").iter().filter_map(restart_rule).collect(),
        startup_probe: node.get("startupProbe").map(probe),
        readiness_probe: node.get("readinessProbe").map(probe),
        pre_stop: node
            .at_path(&["lifecycle", "preStop", "sleep"])
            .and_then(|sleep| read::u32_of(sleep, "seconds"))
            .map_or(Duration::ZERO, |seconds| Duration::from_secs(seconds.into())),
        env: env(node),
    }
}

fn probe(node: &YamlNode) -> ProbeTiming {
    let seconds = |key| read::u32_of(node, key).unwrap_or(0);
    let period = Some(seconds("periodSeconds")).filter(|s| *s > 0);
    ProbeTiming {
        initial_delay: Duration::from_secs(seconds("initialDelaySeconds").into()),
        period: Duration::from_secs(period.unwrap_or(PROBE_PERIOD_S).into()),
        success_threshold: seconds("successThreshold").max(1),
        failure_threshold: Some(seconds("failureThreshold")).filter(|n| *n > 0).unwrap_or(PROBE_FAILURES),
    }
}

fn pull_policy(node: &YamlNode) -> Option<ImagePullPolicy> {
    match node.get("imagePullPolicy")?.as_str()? {
        "Always" => Some(ImagePullPolicy::Always),
        "IfNotPresent" => Some(ImagePullPolicy::IfNotPresent),
        "Never" => Some(ImagePullPolicy::Never),
        _ => None,
    }
}

/// Returns the resource requests of a container or of a pod as a whole. Limits replace absent requests
/// (`pkg/apis/core/v1/defaults.go`).
fn requests(node: &YamlNode) -> ResourceAmounts {
    let Some(resources) = node.get("resources") else {
        return ResourceAmounts::new();
    };
    let mut requests = read::quantities(resources, "limits");
    requests.extend(read::quantities(resources, "requests"));
    requests
}

fn limits(node: &YamlNode) -> ResourceAmounts {
    node.get("resources").map_or_else(ResourceAmounts::new, |resources| read::quantities(resources, "limits"))
}

fn restart_rule(node: &YamlNode) -> Option<ContainerRestartRule> {
    let codes = node.get("exitCodes")?;
    Some(ContainerRestartRule {
        action: match node.get("action")?.as_str()? {
            "Restart" => ContainerRestartAction::Restart,
            _ => ContainerRestartAction::RestartAllContainers,
        },
        operator_in: codes.get("operator").and_then(YamlNode::as_str) == Some("In"),
        values: read::i32s(codes, "values"),
    })
}

fn env(node: &YamlNode) -> BTreeMap<String, String> {
    read::list(node, "env")
        .iter()
        .filter_map(|e| {
            let value = read::string(e, "value").unwrap_or_default();
            Some((read::string(e, "name")?, value))
        })
        .collect()
}
