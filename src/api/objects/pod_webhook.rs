//! JobSet's two webhooks for pods: the affinity of leaders and the node selector of followers (EXC-4 … EXC-11).
//!
//! This module must not read pods that do not belong to a JobSet.

use super::context::ObjectContext;
use super::exclusive::{is_exclusive, is_leader};
use super::value_access::{array_mut, as_object, has_value, list, object_mut, text};
use crate::admission::AdmissionRejection;
use crate::spec::keys::{
    EXCLUSIVE_TOPOLOGY, JOB_INDEX, JOB_KEY, JOBSET_NAME, NODE_SELECTOR_STRATEGY, PRIORITY, REPLICATED_JOB_NAME,
};
use serde_json::{Value, json};
use std::fmt;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Reason for which a webhook rejects a follower. The first two come from the mutating webhook.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PodDenial<'a> {
    /// The leader's Node with this name does not exist (C-59).
    LeaderNodeMissing(&'a str),
    /// The leader's Node has no label with this topology key (C-60).
    TopologyLabelMissing(&'a str),
    NodeSelectorMissing,
    /// The pod has a node selector without this topology key.
    TopologyKeyNotSelected(&'a str),
    /// The number of live leaders differs from 1. The name is given without its random suffix.
    LeaderCount(&'a str, usize),
    LeaderNotScheduled,
    /// The live leader with this name has no owner reference.
    LeaderWithoutOwner(&'a str),
    /// The follower and the leader have different owners. The values are the UIDs of their Jobs.
    DifferentOwner(&'a str, &'a str),
}

impl PodDenial<'_> {
    /// Returns the error message of the API server.
    pub fn message(&self) -> String {
        let webhook = match self {
            PodDenial::LeaderNodeMissing(_) | PodDenial::TopologyLabelMissing(_) => "mpod.kb.io",
            _ => "vpod.kb.io",
        };
        denial_message(webhook, &self.reason())
    }

    fn reason(&self) -> String {
        match self {
            PodDenial::LeaderNodeMissing(node) => format!("Node \"{node}\" not found"),
            PodDenial::TopologyLabelMissing(key) => {
                format!("node does not have topology label: {key}")
            }
            PodDenial::NodeSelectorMissing => "follower pod node selector not set".to_owned(),
            PodDenial::TopologyKeyNotSelected(key) => {
                format!("follower pod node selector for topology domain not found. missing selector: {key}")
            }
            PodDenial::LeaderCount(name, result) => {
                format!("expected 1 leader pod ({name}), but got {result}. this is an expected, transient error")
            }
            PodDenial::LeaderNotScheduled => "leader pod not yet scheduled, not creating follower pod. \
                                           this is an expected, transient error"
                .to_owned(),
            PodDenial::LeaderWithoutOwner(leader) => {
                format!("leader pod \"{leader}\" has no owner reference")
            }
            PodDenial::DifferentOwner(follows, leads) => {
                format!("follower pod owner UID ({follows}) != leader pod owner UID ({leads})")
            }
        }
    }
}

/// Reason for which the leader of a follower is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LeaderLookupError {
    /// The follower has no label with this key.
    MissingLabel { key: &'static str },
    /// The number of live leaders differs from 1.
    LeaderCount { name: String, found: usize },
    /// The follower has no owner reference.
    FollowerWithoutOwner,
    /// The leader with this name has no owner reference.
    LeaderWithoutOwner { leader: String },
    /// The follower and the leader have different owners. The values are UIDs.
    DifferentOwner { follower: String, leader: String },
}

impl fmt::Display for LeaderLookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let denial = match self {
            LeaderLookupError::MissingLabel { key } => {
                return write!(f, "pod missing label: {key}");
            }
            LeaderLookupError::FollowerWithoutOwner => {
                return f.write_str("follower pod has no owner reference");
            }
            LeaderLookupError::LeaderWithoutOwner { leader } => PodDenial::LeaderWithoutOwner(leader),
            LeaderLookupError::LeaderCount { name, found: result } => PodDenial::LeaderCount(name, *result),
            LeaderLookupError::DifferentOwner { follower, leader } => PodDenial::DifferentOwner(follower, leader),
        };
        f.write_str(&denial.reason())
    }
}

impl std::error::Error for LeaderLookupError {}

impl From<PodDenial<'_>> for AdmissionRejection {
    fn from(denial: PodDenial<'_>) -> AdmissionRejection {
        forbidden(denial.message())
    }
}

fn denial_message(webhook: &str, why: &str) -> String {
    format!("admission webhook \"{webhook}\" denied the request: {why}")
}

fn forbidden(message: String) -> AdmissionRejection {
    AdmissionRejection::new(403, "Forbidden", message)
}

/// Returns whether the API server calls the webhooks for the pod: its JobSet is named in a label and an annotation
/// (EXC-3).
fn is_webhook_called(pod: &Value) -> bool {
    let metadata = &pod["metadata"];
    has_value(&metadata["labels"], JOBSET_NAME) && has_value(&metadata["annotations"], JOBSET_NAME)
}

/// Implements the mutating webhook (EXC-4 … EXC-8).
pub fn mutate_pod(pod: &mut Value, around: &ObjectContext) -> Result<(), AdmissionRejection> {
    if !is_webhook_called(pod) || has_value(&pod["metadata"]["annotations"], NODE_SELECTOR_STRATEGY) {
        return Ok(());
    }
    let priority = pod["spec"]["priority"].as_i64().map(|p| p.to_string());
    if let Some(priority) = priority {
        let labels = object_mut(&mut pod["metadata"], "labels");
        labels.insert(PRIORITY.to_owned(), priority.into());
    }
    if !is_exclusive(pod) {
        return Ok(());
    }
    if is_leader(pod) {
        add_exclusive_affinity(pod);
        return Ok(());
    }
    let Ok(leader) = find_leader(pod, around) else {
        return Ok(());
    };
    let node = text(&leader["spec"], "nodeName");
    if node.is_empty() {
        return Ok(());
    }
    let key = text(&pod["metadata"]["annotations"], EXCLUSIVE_TOPOLOGY).to_owned();
    let Some(node) = around.nodes.iter().find(|n| text(&n["metadata"], "name") == node) else {
        return Err(PodDenial::LeaderNodeMissing(node).into());
    };
    let value = &node["metadata"]["labels"][&key];
    if value.is_null() {
        return Err(PodDenial::TopologyLabelMissing(&key).into());
    }
    object_mut(&mut pod["spec"], "nodeSelector").insert(key, value.clone());
    Ok(())
}

/// Adds the affinity and anti-affinity of a leader pod (EXC-7).
fn add_exclusive_affinity(pod: &mut Value) {
    let labels = &pod["metadata"]["labels"];
    let (job, priority) = (text(labels, JOB_KEY).to_owned(), text(labels, PRIORITY).to_owned());
    let key = text(&pod["metadata"]["annotations"], EXCLUSIVE_TOPOLOGY).to_owned();
    let term = |expressions: Value| {
        json!({
            "labelSelector": {"matchExpressions": expressions},
            "topologyKey": key,
            "namespaceSelector": {},
        })
    };
    let own = term(json!([{"key": JOB_KEY, "operator": "In", "values": [job]}]));
    let others = term(json!([
        {"key": JOB_KEY, "operator": "Exists"},
        {"key": JOB_KEY, "operator": "NotIn", "values": [job]},
        {"key": PRIORITY, "operator": "In", "values": [priority]},
    ]));
    let affinity = object_mut(&mut pod["spec"], "affinity");
    for (kind, term) in [("podAffinity", own), ("podAntiAffinity", others)] {
        let terms = affinity.entry(kind).or_insert(Value::Null);
        as_object(terms);
        array_mut(terms, REQUIRED).push(term);
    }
}

/// Returns the only pod of index 0 that is neither terminating nor finished (EXC-10).
fn find_leader<'a>(pod: &Value, around: &ObjectContext<'a>) -> Result<&'a Value, LeaderLookupError> {
    let label = |key: &'static str| {
        let value = pod["metadata"]["labels"][key].as_str();
        value.ok_or(LeaderLookupError::MissingLabel { key })
    };
    let (jobset, rj) = (label(JOBSET_NAME)?, label(REPLICATED_JOB_NAME)?);
    let name = format!("{jobset}-{rj}-{}-0", label(JOB_INDEX)?);
    let live = |p: &&Value| {
        let named = text(&p["metadata"], "name").rsplit_once('-').is_some_and(|(n, _)| n == name);
        let ended = matches!(text(&p["status"], "phase"), "Failed" | "Succeeded");
        named
            && has_value(&p["metadata"]["annotations"], EXCLUSIVE_TOPOLOGY)
            && !ended
            && !has_value(&p["metadata"], "deletionTimestamp")
            && p["metadata"]["namespace"] == pod["metadata"]["namespace"]
    };
    let leaders: Vec<&Value> = around.pods.iter().filter(live).collect();
    let [leader] = leaders.as_slice() else {
        let result = leaders.len();
        return Err(LeaderLookupError::LeaderCount { name, found: result });
    };
    let owner = |p: &Value| list(&p["metadata"], "ownerReferences").first().map(|o| text(o, "uid").to_owned());
    let follower = owner(pod).ok_or(LeaderLookupError::FollowerWithoutOwner)?;
    match owner(leader) {
        None => Err(LeaderLookupError::LeaderWithoutOwner { leader: text(&leader["metadata"], "name").to_owned() }),
        Some(leader) if leader != follower => Err(LeaderLookupError::DifferentOwner { follower, leader }),
        Some(_) => Ok(leader),
    }
}

/// Implements the validating webhook (EXC-9, EXC-11).
pub fn validate_pod(pod: &Value, around: &ObjectContext) -> Result<(), AdmissionRejection> {
    if !is_webhook_called(pod) || !is_exclusive(pod) || is_leader(pod) {
        return Ok(());
    }
    let selector = &pod["spec"]["nodeSelector"];
    if selector.is_null() {
        return Err(PodDenial::NodeSelectorMissing.into());
    }
    let key = text(&pod["metadata"]["annotations"], EXCLUSIVE_TOPOLOGY);
    if !has_value(selector, key) {
        return Err(PodDenial::TopologyKeyNotSelected(key).into());
    }
    match find_leader(pod, around) {
        Err(why) => Err(forbidden(denial_message("vpod.kb.io", &why.to_string()))),
        Ok(leader) if text(&leader["spec"], "nodeName").is_empty() => Err(PodDenial::LeaderNotScheduled.into()),
        Ok(_) => Ok(()),
    }
}
