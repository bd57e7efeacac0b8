//! JobSet's two webhooks for pods: the affinity of leaders and the node selector of followers (EXC-4 … EXC-11).
//!
//! This module must not read pods that do not belong to a JobSet.

use super::exclusive::{is_exclusive, is_leader};
use super::surroundings::Surroundings;
use super::tree::{array, as_object, has, list, object, text};
use crate::admission::Rejection;
use crate::spec::keys::{
    EXCLUSIVE_TOPOLOGY, JOB_INDEX, JOB_KEY, JOBSET_NAME, NODE_SELECTOR_STRATEGY, PRIORITY,
    REPLICATED_JOB_NAME,
};
use serde_json::{Value, json};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Reason for which a webhook rejects a follower. The first two come from the mutating webhook.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Denial<'a> {
    /// The leader's Node with this name does not exist (C-59).
    NoNode(&'a str),
    /// The leader's Node has no label with this topology key (C-60).
    NoLabel(&'a str),
    NoSelector,
    /// The pod has a node selector without this topology key.
    SelectsOther(&'a str),
    /// The number of live leaders differs from 1. The name is given without its random suffix.
    Leaders(&'a str, usize),
    LeaderNotScheduled,
    /// The live leader with this name has no owner reference.
    NoOwner(&'a str),
    /// The follower and the leader have different owners. The values are the UIDs of their Jobs.
    OtherOwner(&'a str, &'a str),
}

impl Denial<'_> {
    /// Returns the error message of the API server.
    pub fn message(&self) -> String {
        let webhook = match self {
            Denial::NoNode(_) | Denial::NoLabel(_) => "mpod.kb.io",
            _ => "vpod.kb.io",
        };
        denied(webhook, &self.why())
    }

    fn why(&self) -> String {
        match self {
            Denial::NoNode(node) => format!("Node \"{node}\" not found"),
            Denial::NoLabel(key) => format!("node does not have topology label: {key}"),
            Denial::NoSelector => "follower pod node selector not set".to_owned(),
            Denial::SelectsOther(key) => format!(
                "follower pod node selector for topology domain not found. missing selector: {key}"
            ),
            Denial::Leaders(name, found) => format!(
                "expected 1 leader pod ({name}), but got {found}. this is an expected, transient error"
            ),
            Denial::LeaderNotScheduled => {
                "leader pod not yet scheduled, not creating follower pod. \
                                           this is an expected, transient error"
                    .to_owned()
            }
            Denial::NoOwner(leader) => format!("leader pod \"{leader}\" has no owner reference"),
            Denial::OtherOwner(follows, leads) => {
                format!("follower pod owner UID ({follows}) != leader pod owner UID ({leads})")
            }
        }
    }
}

impl From<Denial<'_>> for Rejection {
    fn from(denial: Denial<'_>) -> Rejection {
        refused(denial.message())
    }
}

fn denied(webhook: &str, why: &str) -> String {
    format!("admission webhook \"{webhook}\" denied the request: {why}")
}

fn refused(message: String) -> Rejection {
    Rejection::new(403, "Forbidden", message)
}

/// Returns whether the API server calls the webhooks for the pod: its JobSet is named in a label and an annotation
/// (EXC-3).
fn asked(pod: &Value) -> bool {
    let metadata = &pod["metadata"];
    has(&metadata["labels"], JOBSET_NAME) && has(&metadata["annotations"], JOBSET_NAME)
}

/// Implements the mutating webhook (EXC-4 … EXC-8).
pub fn mutate(pod: &mut Value, around: &Surroundings) -> Result<(), Rejection> {
    if !asked(pod) || has(&pod["metadata"]["annotations"], NODE_SELECTOR_STRATEGY) {
        return Ok(());
    }
    let priority = pod["spec"]["priority"].as_i64().map(|p| p.to_string());
    if let Some(priority) = priority {
        let labels = object(&mut pod["metadata"], "labels");
        labels.insert(PRIORITY.to_owned(), priority.into());
    }
    if !is_exclusive(pod) {
        return Ok(());
    }
    if is_leader(pod) {
        exclusive_affinity(pod);
        return Ok(());
    }
    let Ok(leader) = leader_of(pod, around) else {
        return Ok(());
    };
    let node = text(&leader["spec"], "nodeName");
    if node.is_empty() {
        return Ok(());
    }
    let key = text(&pod["metadata"]["annotations"], EXCLUSIVE_TOPOLOGY).to_owned();
    let Some(node) = around
        .nodes
        .iter()
        .find(|n| text(&n["metadata"], "name") == node)
    else {
        return Err(Denial::NoNode(node).into());
    };
    let value = &node["metadata"]["labels"][&key];
    if value.is_null() {
        return Err(Denial::NoLabel(&key).into());
    }
    object(&mut pod["spec"], "nodeSelector").insert(key, value.clone());
    Ok(())
}

/// Adds the affinity and anti-affinity of a leader pod (EXC-7).
fn exclusive_affinity(pod: &mut Value) {
    let labels = &pod["metadata"]["labels"];
    let (job, priority) = (
        text(labels, JOB_KEY).to_owned(),
        text(labels, PRIORITY).to_owned(),
    );
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
    let affinity = object(&mut pod["spec"], "affinity");
    for (kind, term) in [("podAffinity", own), ("podAntiAffinity", others)] {
        let terms = affinity.entry(kind).or_insert(Value::Null);
        as_object(terms);
        array(terms, REQUIRED).push(term);
    }
}

/// Returns the only pod of index 0 that is neither terminating nor finished (EXC-10).
fn leader_of<'a>(pod: &Value, around: &Surroundings<'a>) -> Result<&'a Value, String> {
    let label = |key: &str| {
        let value = pod["metadata"]["labels"][key].as_str();
        value.ok_or_else(|| format!("pod missing label: {key}"))
    };
    let (jobset, rj) = (label(JOBSET_NAME)?, label(REPLICATED_JOB_NAME)?);
    let name = format!("{jobset}-{rj}-{}-0", label(JOB_INDEX)?);
    let live = |p: &&Value| {
        let named = text(&p["metadata"], "name")
            .rsplit_once('-')
            .is_some_and(|(n, _)| n == name);
        let ended = matches!(text(&p["status"], "phase"), "Failed" | "Succeeded");
        named
            && has(&p["metadata"]["annotations"], EXCLUSIVE_TOPOLOGY)
            && !ended
            && !has(&p["metadata"], "deletionTimestamp")
            && p["metadata"]["namespace"] == pod["metadata"]["namespace"]
    };
    let leaders: Vec<&Value> = around.pods.iter().filter(live).collect();
    let [leader] = leaders.as_slice() else {
        return Err(Denial::Leaders(&name, leaders.len()).why());
    };
    let owner = |p: &Value| {
        list(&p["metadata"], "ownerReferences")
            .first()
            .map(|o| text(o, "uid").to_owned())
    };
    match (owner(leader), owner(pod)) {
        (Some(leads), Some(follows)) if leads != follows => {
            Err(Denial::OtherOwner(&follows, &leads).why())
        }
        _ => Ok(leader),
    }
}

/// Implements the validating webhook (EXC-9, EXC-11).
pub fn validate(pod: &Value, around: &Surroundings) -> Result<(), Rejection> {
    if !asked(pod) || !is_exclusive(pod) || is_leader(pod) {
        return Ok(());
    }
    let selector = &pod["spec"]["nodeSelector"];
    if selector.is_null() {
        return Err(Denial::NoSelector.into());
    }
    let key = text(&pod["metadata"]["annotations"], EXCLUSIVE_TOPOLOGY);
    if !has(selector, key) {
        return Err(Denial::SelectsOther(key).into());
    }
    match leader_of(pod, around) {
        Err(why) => Err(refused(denied("vpod.kb.io", &why))),
        Ok(leader) if text(&leader["spec"], "nodeName").is_empty() => {
            Err(Denial::LeaderNotScheduled.into())
        }
        Ok(_) => Ok(()),
    }
}
