//! A scheduler for pods that never start, on the eight nodes of the child-object recordings.
//!
//! Must never change a pod: it answers with a node's name or with why there is none. It knows only required rules,
//! because preferences and scores decide nothing that the recordings keep.

use crate::base::quantity::parse_milli;
use crate::spec::keys::HOSTNAME;
use serde_json::{Map, Value, json};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const NODES: u32 = 8;
const POOL: u32 = 4;
const RACK: u32 = 4 * POOL;
const CAPACITY: [(&str, &str); 4] = [
    ("cpu", "32"),
    ("memory", "128Gi"),
    ("ephemeral-storage", "100Gi"),
    ("pods", "110"),
];

/// Nodes with labels `pool` (4 neighbors) and `rack` (4 pools).
pub fn nodes() -> Vec<Value> {
    let node = |k: u32| {
        let name = format!("node-{k}");
        json!({"metadata": {"name": name, "labels": {
            HOSTNAME: name,
            "pool": format!("pool-{}", k / POOL),
            "rack": format!("rack-{}", k / RACK),
        }}})
    };
    (0..NODES).map(node).collect()
}

/// Why a pod has no node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unscheduled {
    SchedulingGated,
    Unschedulable,
    /// Another scheduler is asked for.
    NotOurs,
}

/// The node of a pending pod, next to the pods that are there.
pub fn schedule<'a>(
    pod: &Value,
    nodes: &'a [Value],
    pods: &[Value],
) -> Result<&'a str, Unscheduled> {
    let spec = &pod["spec"];
    if spec["schedulerName"] != "default-scheduler" {
        return Err(Unscheduled::NotOurs);
    }
    if !items(&spec["schedulingGates"]).is_empty() {
        return Err(Unscheduled::SchedulingGated);
    }
    // No driver, no volume: a claim of either kind stays pending.
    let claims = |v: &Value| !v["persistentVolumeClaim"].is_null() || !v["ephemeral"].is_null();
    if !items(&spec["resourceClaims"]).is_empty() || items(&spec["volumes"]).iter().any(claims) {
        return Err(Unscheduled::Unschedulable);
    }
    let fits = |node: &&Value| {
        let on_node = |p: &&Value| p["spec"]["nodeName"] == node["metadata"]["name"];
        let here: Vec<&Value> = pods.iter().filter(on_node).collect();
        selected(spec, node) && room(spec, &here) && affine(pod, node, nodes, pods)
    };
    let load = |node: &&Value| {
        pods.iter()
            .filter(|p| p["spec"]["nodeName"] == node["metadata"]["name"])
            .count()
    };
    let best = nodes.iter().filter(fits).min_by_key(load);
    best.and_then(|node| node["metadata"]["name"].as_str())
        .ok_or(Unscheduled::Unschedulable)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Node selector and required node affinity.
fn selected(spec: &Value, node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    if entries(&spec["nodeSelector"]).any(|(key, value)| labels[key] != *value) {
        return false;
    }
    let required = &spec["affinity"]["nodeAffinity"][REQUIRED];
    let term = |term: &Value| {
        let (by_label, by_field) = (
            items(&term["matchExpressions"]),
            items(&term["matchFields"]),
        );
        !(by_label.is_empty() && by_field.is_empty())
            && by_label.iter().all(|e| matches(e, labels))
            && by_field.iter().all(|e| matches(e, &node["metadata"]))
    };
    required.is_null() || items(&required["nodeSelectorTerms"]).iter().any(term)
}

/// One requirement of a selector; a field is named by the end of its path.
fn matches(requirement: &Value, labels: &Value) -> bool {
    let key = requirement["key"].as_str().unwrap_or("");
    let value = match labels[key].as_str() {
        None if key == "metadata.name" => labels["name"].as_str(),
        value => value,
    };
    let values = items(&requirement["values"]);
    let within = value.is_some_and(|value| values.iter().any(|v| v == value));
    let number = |value: &str| value.parse::<i64>().ok();
    let compare = |less: bool| {
        let limit = values.first().and_then(Value::as_str).and_then(number);
        match (value.and_then(number), limit) {
            (Some(value), Some(limit)) => {
                if less {
                    value < limit
                } else {
                    value > limit
                }
            }
            _ => false,
        }
    };
    match requirement["operator"].as_str() {
        Some("In") => within,
        Some("NotIn") => !within,
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        Some("Gt") => compare(false),
        Some("Lt") => compare(true),
        _ => false,
    }
}

/// Resources and ports of the node's host.
fn room(spec: &Value, here: &[&Value]) -> bool {
    let wanted = requests(spec);
    let used: Vec<Map<String, Value>> = here.iter().map(|p| requests(&p["spec"])).collect();
    let sum = |name: &str| {
        used.iter()
            .filter_map(|r| r.get(name)?.as_i64())
            .sum::<i64>()
    };
    let capacity = |name: &str| {
        let known = CAPACITY.iter().find(|(known, _)| *known == name);
        known.map_or(0, |(_, amount)| parse_milli(amount).unwrap_or(0))
    };
    let fits = wanted.iter().all(|(name, amount)| {
        let amount = amount.as_i64().unwrap_or(0);
        amount == 0 || sum(name) + amount <= capacity(name)
    });
    let taken: Vec<String> = here.iter().flat_map(|p| host_ports(&p["spec"])).collect();
    fits && host_ports(spec).iter().all(|port| !taken.contains(port))
}

/// Thousandths of each resource that a pod takes from its node.
fn requests(spec: &Value) -> Map<String, Value> {
    let mut sum = Map::from_iter([("pods".to_owned(), json!(1000))]);
    for container in items(&spec["containers"]) {
        for (name, amount) in entries(&container["resources"]["requests"]) {
            let amount = amount
                .as_str()
                .and_then(|a| parse_milli(a).ok())
                .unwrap_or(0);
            let before = sum.get(name).and_then(Value::as_i64).unwrap_or(0);
            sum.insert(name.clone(), json!(before.saturating_add(amount)));
        }
    }
    sum
}

fn host_ports(spec: &Value) -> Vec<String> {
    let ports = items(&spec["containers"])
        .iter()
        .flat_map(|c| items(&c["ports"]));
    let host = ports.filter(|p| p["hostPort"].as_i64().unwrap_or(0) != 0);
    host.map(|p| format!("{}/{}", p["protocol"], p["hostPort"]))
        .collect()
}

/// Required affinity and anti-affinity between pods, in both directions.
fn affine(pod: &Value, node: &Value, nodes: &[Value], pods: &[Value]) -> bool {
    let terms = |pod: &Value, kind: &str| items(&pod["spec"]["affinity"][kind][REQUIRED]).to_vec();
    let near = |term: &Value, other: &Value| same_domain(term, node, other, nodes);
    let placed: Vec<&Value> = pods
        .iter()
        .filter(|p| p["spec"]["nodeName"].is_string())
        .collect();
    let attracted = terms(pod, "podAffinity").iter().all(|term| {
        let mut friends = placed.iter().filter(|p| concerns(term, pod, p)).peekable();
        let has_domain = !domain(term, node).is_null();
        // The first of its kind may start anywhere where the domain has a name.
        let first = friends.peek().is_none() && concerns(term, pod, pod);
        has_domain && (first || friends.any(|p| near(term, p)))
    });
    let repelled = terms(pod, "podAntiAffinity").iter().any(|term| {
        placed
            .iter()
            .any(|p| concerns(term, pod, p) && near(term, p))
    });
    let repels = placed.iter().any(|p| {
        terms(p, "podAntiAffinity")
            .iter()
            .any(|term| concerns(term, p, pod) && near(term, p))
    });
    attracted && !repelled && !repels
}

fn domain<'a>(term: &Value, node: &'a Value) -> &'a Value {
    &node["metadata"]["labels"][term["topologyKey"].as_str().unwrap_or("")]
}

fn same_domain(term: &Value, node: &Value, placed: &Value, nodes: &[Value]) -> bool {
    let its = nodes
        .iter()
        .find(|n| n["metadata"]["name"] == placed["spec"]["nodeName"]);
    its.is_some_and(|its| !domain(term, its).is_null() && domain(term, its) == domain(term, node))
}

/// Whether a term of `owner` speaks of `other`.
fn concerns(term: &Value, owner: &Value, other: &Value) -> bool {
    let (home, named) = (&owner["metadata"]["namespace"], items(&term["namespaces"]));
    let its = &other["metadata"]["namespace"];
    let everywhere = term["namespaceSelector"].is_object();
    let in_scope = everywhere || named.contains(its) || (named.is_empty() && its == home);
    let (selector, labels) = (&term["labelSelector"], &other["metadata"]["labels"]);
    in_scope
        && selector.is_object()
        && entries(&selector["matchLabels"]).all(|(key, value)| labels[key] == *value)
        && items(&selector["matchExpressions"])
            .iter()
            .all(|e| matches(e, labels))
}
