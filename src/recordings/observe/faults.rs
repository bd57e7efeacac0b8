//! Derives node faults from the observed changes of Nodes, as script actions.
//!
//! Consequences of a fault, such as taints set by the control plane and evictions caused by them, are never replayed.

use super::lifecycle::{NodeConditionChange, NodeLife, ObservedLifecycle, PodLife};
use super::timestamp::{ClockTime, SECOND};
use serde_json::{Value, json};
use sim_api::spec::ControlPlane;
use sim_api::spec::keys::{NODE_TAINT_PREFIX, OUT_OF_SERVICE};
use std::collections::BTreeMap;

/// Period of the node monitor in seconds: 5 s (docs/rules/kubernetes.md 4.1).
const MONITOR_PERIOD_S: f64 = 5.0;
/// Exit code that a kubelet reports for a container that it finds dead after its own return
/// (docs/rules/kubernetes.md 4.1).
pub const EXIT_CODE_FOUND_DEAD: i32 = 255;

#[derive(Default)]
pub struct FaultFinder {
    pub actions: Vec<Value>,
    /// Time of the first fault of each node, in nanoseconds. Later changes of its pods are consequences of the fault.
    first_fault: BTreeMap<String, u64>,
    pub assumed: Vec<String>,
    pub not_reproduced: Vec<String>,
}

impl FaultFinder {
    /// Returns whether the node of the pod had a fault at or before `at`.
    pub fn explains(&self, pod: &PodLife, at: ClockTime) -> bool {
        let since = self.first_fault.get(&pod.last_observed.node);
        since.is_some_and(|since| at.ns + at.uncertainty_ns >= *since)
    }
}

pub fn infer_faults(life: &ObservedLifecycle, zero: ClockTime, plane: &ControlPlane) -> FaultFinder {
    let mut out = FaultFinder::default();
    let mut empty = 0;
    let mut wrote = 0;
    let mut silent = 0;
    for node in life.nodes.iter().filter(|n| !n.changes.is_empty()) {
        let pods: Vec<&PodLife> = life.pods.iter().filter(|p| p.last_observed.node == node.name).collect();
        if pods.is_empty() {
            empty += 1;
            continue;
        }
        let mut one = NodeFaults {
            node,
            pods,
            zero,
            plane,
            alias: format!("node-{}", out.first_fault.len()),
            is_bound: false,
            actions: Vec::new(),
            first_fault: None,
            keeps_writing: false,
            not_reproduced: Vec::new(),
        };
        one.add_actions();
        wrote += usize::from(one.keeps_writing);
        silent += one.actions.iter().filter(|a| is_silence(a)).count();
        out.actions.extend(one.actions);
        out.not_reproduced.extend(one.not_reproduced);
        out.first_fault.extend(one.first_fault.map(|since| (node.name.clone(), since)));
    }
    if silent > 0 {
        let (earlier, off) = detection_delay(plane);
        out.assumed.push(format!(
            "script.actions: {silent} nodes became unreachable {earlier:.1} s before this was detected (± {off:.1} s: heartbeats \
             are sent every {} s, and node-monitor-grace-period is {} s)",
            plane.heartbeat_s, plane.node_monitor_grace_period_s
        ));
    }
    if wrote > 0 {
        out.not_reproduced
            .push(format!("{wrote} nodes were marked unreachable while their kubelets continued to write"));
    }
    if empty > 0 {
        out.not_reproduced.push(format!("changes of {empty} nodes without a pod of this JobSet"));
    }
    out.actions.sort_by_key(|a| a["atMs"].as_i64());
    out
}

fn is_silence(action: &Value) -> bool {
    action["do"] == "crashNode" || action["do"] == "partitionNode"
}

/// Returns the mean time in seconds from the loss of contact until the condition becomes `Unknown`, and its largest
/// error. The last heartbeat is up to one heartbeat period older than the fault, and the monitor checks once per
/// `MONITOR_PERIOD_S`.
fn detection_delay(plane: &ControlPlane) -> (f64, f64) {
    let (grace, beat) = (plane.node_monitor_grace_period_s as f64, plane.heartbeat_s as f64);
    (grace - beat / 2.0 + MONITOR_PERIOD_S / 2.0, beat / 2.0 + MONITOR_PERIOD_S / 2.0)
}

struct NodeFaults<'l> {
    node: &'l NodeLife,
    pods: Vec<&'l PodLife>,
    zero: ClockTime,
    plane: &'l ControlPlane,
    alias: String,
    /// Whether an action has already bound the alias to the node.
    is_bound: bool,
    actions: Vec<Value>,
    first_fault: Option<u64>,
    keeps_writing: bool,
    not_reproduced: Vec<String>,
}

impl NodeFaults<'_> {
    fn add_actions(&mut self) {
        let changes = &self.node.changes;
        for (i, (at, change)) in changes.iter().enumerate() {
            let later = &changes[i + 1..];
            match change {
                NodeConditionChange::Unreachable => self.add_silence(*at, later),
                NodeConditionChange::Ready if self.is_bound => self.add_action("returnNode", at.ns, None),
                NodeConditionChange::Gone => self.add_action("deleteNode", at.ns, None),
                NodeConditionChange::Recreated if self.is_bound => self.add_action("newNode", at.ns, None),
                NodeConditionChange::Cordoned => self.add_action("cordonNode", at.ns, None),
                NodeConditionChange::Tainted(t) if t.key == OUT_OF_SERVICE || !t.key.starts_with(NODE_TAINT_PREFIX) => {
                    let body = json!({"key": t.key, "value": t.value, "effect": t.effect});
                    self.add_action("taintNode", at.ns, Some(body.to_string()));
                }
                NodeConditionChange::Uncordoned => self.add_not_reproduced("a node was uncordoned"),
                NodeConditionChange::NotReady => {
                    self.add_not_reproduced("a kubelet reported that its node was not ready")
                }
                NodeConditionChange::Untainted(t) if !t.key.starts_with(NODE_TAINT_PREFIX) => {
                    self.add_not_reproduced("a taint was removed from a node");
                }
                _ => {}
            }
        }
    }

    fn add_not_reproduced(&mut self, what: &str) {
        if !self.not_reproduced.iter().any(|known| known == what) {
            self.not_reproduced.push(what.to_owned());
        }
    }

    /// Records the fault of a node whose condition became `Unknown` at `at`.
    fn add_silence(&mut self, at: ClockTime, later: &[(ClockTime, NodeConditionChange)]) {
        let back = later.iter().find(|(_, c)| *c == NodeConditionChange::Ready);
        let until = back.map_or(u64::MAX, |(at, _)| at.ns.saturating_sub(at.uncertainty_ns));
        let heard = |p: &&PodLife| {
            let ready = p.ready.iter().filter(|(_, ready)| *ready).map(|(at, _)| at.ns);
            let ended = p.finished.filter(|_| p.last_observed.exit_code.is_some());
            ready.chain(ended.map(|at| at.ns)).collect::<Vec<u64>>()
        };
        let heard: Vec<u64> = self.pods.iter().flat_map(heard).filter(|ns| *ns < until).collect();
        // A kubelet that still writes has not lost contact; only its heartbeats were missing.
        if heard.iter().any(|ns| *ns > at.ns + at.uncertainty_ns) {
            self.keeps_writing = true;
            return;
        }
        let (earlier, _) = detection_delay(self.plane);
        let from = at.ns.saturating_sub((earlier * SECOND as f64) as u64);
        let from = heard.into_iter().fold(from, u64::max);
        if from <= self.zero.ns {
            self.add_not_reproduced("a node became unreachable before the JobSet was created");
            return;
        }
        let dead = |p: &&&PodLife| {
            p.last_observed.exit_code == Some(EXIT_CODE_FOUND_DEAD) && p.finished.is_some_and(|f| f.ns >= until)
        };
        let what = match back {
            Some(_) if !self.pods.iter().any(|p| dead(&p)) => "partitionNode",
            _ => "crashNode",
        };
        self.add_action(what, from, None);
    }

    /// Adds an action on the node. The first action identifies the node by a pod that runs on it at that time.
    fn add_action(&mut self, what: &str, ns: u64, body: Option<String>) {
        let on_it = |p: &&&PodLife| {
            p.bound.is_some_and(|b| b.ns.saturating_sub(b.uncertainty_ns) <= ns)
                && p.gone.is_none_or(|g| g.ns + g.uncertainty_ns >= ns)
        };
        let at = ClockTime { ns, uncertainty_ns: 0 };
        let mut action = json!({"atMs": at.ms_after(self.zero).max(0), "do": what, "name": self.alias});
        if !self.is_bound {
            let Some(pod) = self.pods.iter().find(on_it) else {
                self.add_not_reproduced(&format!("{what} on a node without a pod at that time"));
                return;
            };
            action["pod"] = json!(pod.name_without_suffix());
            self.is_bound = true;
        }
        if let Some(body) = body {
            action["body"] = json!(body);
        }
        let since = self.first_fault.get_or_insert(ns);
        *since = (*since).min(ns);
        self.actions.push(action);
    }
}
