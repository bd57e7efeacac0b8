//! Changes of Nodes: unreachable, recovered, tainted, cordoned, deleted and created.

use super::{Life, PodLife};
use crate::observe::facts::{Node, Taint};
use crate::observe::sighting::{How, Sighting};
use crate::observe::stamp::At;
use serde_json::Value;
use std::collections::BTreeMap;

/// A change of a Node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The condition `Ready` became `Unknown`: the kubelet has stopped sending heartbeats.
    Silent,
    /// The kubelet reported that the node is not ready.
    NotReady,
    Back,
    Tainted(Taint),
    Untainted(Taint),
    Cordoned,
    Uncordoned,
    Gone,
    /// A new Node with the same name was created.
    Came,
}

#[derive(Clone, Debug, Default)]
pub struct NodeLife {
    pub name: String,
    /// The Node as first observed.
    pub object: Value,
    pub changes: Vec<(At, Change)>,
    last: Node,
}

/// Node histories by node name.
#[derive(Default)]
pub(super) struct Nodes(BTreeMap<String, NodeLife>);

impl Nodes {
    pub fn sighting(&mut self, s: &Sighting, node: &Node, at: Option<At>) {
        let since = node.since.as_deref().and_then(At::of);
        let Some(life) = self.0.get_mut(&s.name) else {
            let mut life = NodeLife {
                name: s.name.clone(),
                object: node.object.clone(),
                changes: Vec::new(),
                last: node.clone(),
            };
            // The Node already had this readiness when it was first observed.
            if let (Some(change), Some(since)) = (readiness("True", &node.ready), since) {
                life.changes.push((since, change));
            }
            self.0.insert(s.name.clone(), life);
            return;
        };
        let last = std::mem::replace(&mut life.last, node.clone());
        let mut put = |at: Option<At>, change| life.changes.extend(at.map(|at| (at, change)));
        if s.how == How::Deleted {
            return put(at, Change::Gone);
        }
        let written = at.or(since);
        if s.how == How::Added && at.is_some() {
            put(s.created.map(At::within_second), Change::Came);
        }
        if let Some(change) = readiness(&last.ready, &node.ready) {
            let exact = at.filter(|_| s.how != How::Listed);
            put(exact.or(since), change);
        }
        for taint in node.taints.iter().filter(|t| !last.taints.contains(t)) {
            put(written, Change::Tainted(taint.clone()));
        }
        for taint in last.taints.iter().filter(|t| !node.taints.contains(t)) {
            put(written, Change::Untainted(taint.clone()));
        }
        match (last.cordoned, node.cordoned) {
            (false, true) => put(written, Change::Cordoned),
            (true, false) => put(written, Change::Uncordoned),
            _ => {}
        }
    }

    /// Returns the nodes, ordered by name. For nodes that were not observed, Events about their pods show when they
    /// became unreachable.
    pub fn finish(self, life: &Life) -> Vec<NodeLife> {
        let mut all = self.0;
        let of: BTreeMap<&str, &PodLife> = life.pods.iter().map(|p| (p.name.as_str(), p)).collect();
        for event in life.events.iter().filter(|e| e.reason == "NodeNotReady") {
            let pod = event.object.strip_prefix("Pod/").and_then(|p| of.get(p));
            let (Some(pod), Some(at)) = (pod.filter(|p| !p.last.node.is_empty()), event.at) else {
                continue;
            };
            let node = all.entry(pod.last.node.clone()).or_default();
            let known = |(_, c): &(At, Change)| matches!(c, Change::Silent | Change::NotReady);
            if !node.changes.iter().any(known) {
                node.name.clone_from(&pod.last.node);
                node.changes.push((at, Change::Silent));
            }
        }
        for node in all.values_mut() {
            node.changes.sort_by_key(|(at, _)| at.ns);
        }
        all.into_values().collect()
    }
}

fn readiness(before: &str, now: &str) -> Option<Change> {
    match (before, now) {
        (before, now) if before == now => None,
        (_, "Unknown") => Some(Change::Silent),
        (_, "False") => Some(Change::NotReady),
        ("Unknown" | "False", "True") => Some(Change::Back),
        _ => None,
    }
}
