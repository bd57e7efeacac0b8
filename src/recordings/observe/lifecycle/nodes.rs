//! Changes of Nodes: unreachable, recovered, tainted, cordoned, deleted and created.

use super::{ObservedLifecycle, PodLife};
use crate::observe::facts::{ObservedNode, ObservedTaint};
use crate::observe::object_version::{ObjectVersion, WatchEventKind};
use crate::observe::timestamp::ClockTime;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeConditionChange {
    /// The condition `Ready` became `Unknown`: the kubelet has stopped sending heartbeats.
    Unreachable,
    /// The kubelet reported that the node is not ready.
    NotReady,
    Ready,
    Tainted(ObservedTaint),
    Untainted(ObservedTaint),
    Cordoned,
    Uncordoned,
    Gone,
    /// A new Node with the same name was created.
    Recreated,
}

#[derive(Clone, Debug, Default)]
pub struct NodeLife {
    pub name: String,
    /// The Node as first observed.
    pub object: Value,
    pub changes: Vec<(ClockTime, NodeConditionChange)>,
    last: ObservedNode,
}

#[derive(Default)]
pub(super) struct NodeHistory(BTreeMap<String, NodeLife>);

impl NodeHistory {
    pub fn add_version(&mut self, s: &ObjectVersion, node: &ObservedNode, at: Option<ClockTime>) {
        let since = node.ready_since.as_deref().and_then(ClockTime::parse);
        let Some(life) = self.0.get_mut(&s.name) else {
            let mut life =
                NodeLife { name: s.name.clone(), object: node.object.clone(), changes: Vec::new(), last: node.clone() };
            // The Node already had this readiness when it was first observed.
            if let (Some(change), Some(since)) = (readiness_change("True", &node.ready), since) {
                life.changes.push((since, change));
            }
            self.0.insert(s.name.clone(), life);
            return;
        };
        let last = std::mem::replace(&mut life.last, node.clone());
        let mut put = |at: Option<ClockTime>, change| life.changes.extend(at.map(|at| (at, change)));
        if s.event_kind == WatchEventKind::Deleted {
            return put(at, NodeConditionChange::Gone);
        }
        let written = at.or(since);
        if s.event_kind == WatchEventKind::Added && at.is_some() {
            put(s.created.map(ClockTime::within_second), NodeConditionChange::Recreated);
        }
        if let Some(change) = readiness_change(&last.ready, &node.ready) {
            let exact = at.filter(|_| s.event_kind != WatchEventKind::Listed);
            put(exact.or(since), change);
        }
        for taint in node.taints.iter().filter(|t| !last.taints.contains(t)) {
            put(written, NodeConditionChange::Tainted(taint.clone()));
        }
        for taint in last.taints.iter().filter(|t| !node.taints.contains(t)) {
            put(written, NodeConditionChange::Untainted(taint.clone()));
        }
        match (last.cordoned, node.cordoned) {
            (false, true) => put(written, NodeConditionChange::Cordoned),
            (true, false) => put(written, NodeConditionChange::Uncordoned),
            _ => {}
        }
    }

    /// Returns the nodes, ordered by name. For nodes that were not observed, Events about their pods show when they
    /// became unreachable.
    pub fn finish(self, life: &ObservedLifecycle) -> Vec<NodeLife> {
        let mut all = self.0;
        let of: BTreeMap<&str, &PodLife> = life.pods.iter().map(|p| (p.name.as_str(), p)).collect();
        for event in life.events.iter().filter(|e| e.reason == "NodeNotReady") {
            let pod = event.object.strip_prefix("Pod/").and_then(|p| of.get(p));
            let (Some(pod), Some(at)) = (pod.filter(|p| !p.last_observed.node.is_empty()), event.at) else {
                continue;
            };
            let node = all.entry(pod.last_observed.node.clone()).or_default();
            let known = |(_, c): &(ClockTime, NodeConditionChange)| {
                matches!(c, NodeConditionChange::Unreachable | NodeConditionChange::NotReady)
            };
            if !node.changes.iter().any(known) {
                node.name.clone_from(&pod.last_observed.node);
                node.changes.push((at, NodeConditionChange::Unreachable));
            }
        }
        for node in all.values_mut() {
            node.changes.sort_by_key(|(at, _)| at.ns);
        }
        all.into_values().collect()
    }
}

fn readiness_change(before: &str, now: &str) -> Option<NodeConditionChange> {
    match (before, now) {
        (before, now) if before == now => None,
        (_, "Unknown") => Some(NodeConditionChange::Unreachable),
        (_, "False") => Some(NodeConditionChange::NotReady),
        ("Unknown" | "False", "True") => Some(NodeConditionChange::Ready),
        _ => None,
    }
}
