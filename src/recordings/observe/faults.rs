//! Derives node faults from the observed changes of Nodes, as script actions.
//!
//! Consequences of a fault, such as taints set by the control plane and evictions caused by them, are never
//! replayed.

use super::life::{Change, Life, NodeLife, PodLife};
use super::stamp::{At, SECOND};
use serde_json::{Value, json};
use sim_api::spec::ControlPlane;
use std::collections::BTreeMap;

/// Period of the node monitor in seconds: 5 s (docs/rules/kubernetes.md 4.1).
const MONITOR_PERIOD_S: f64 = 5.0;
/// Exit code that a kubelet reports for a container that it finds dead after its own return
/// (docs/rules/kubernetes.md 4.1).
pub const FOUND_DEAD: i32 = 255;
/// Prefix of taints that the control plane sets. One taint under this prefix, `OUT_OF_SERVICE`, is set by users.
const OWN_TAINTS: &str = "node.kubernetes.io/";
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

#[derive(Default)]
pub struct Faults {
    pub actions: Vec<Value>,
    /// Time of the first fault of each node, in nanoseconds. Later changes of its pods are consequences of the
    /// fault.
    since: BTreeMap<String, u64>,
    pub assumed: Vec<String>,
    pub not_played: Vec<String>,
}

impl Faults {
    /// Returns whether the node of the pod had a fault at or before `at`.
    pub fn explain(&self, pod: &PodLife, at: At) -> bool {
        let since = self.since.get(&pod.last.node);
        since.is_some_and(|since| at.ns + at.off >= *since)
    }
}

pub fn faults(life: &Life, zero: At, plane: &ControlPlane) -> Faults {
    let mut out = Faults::default();
    let mut empty = 0;
    let mut wrote = 0;
    let mut silent = 0;
    for node in life.nodes.iter().filter(|n| !n.changes.is_empty()) {
        let pods: Vec<&PodLife> = life
            .pods
            .iter()
            .filter(|p| p.last.node == node.name)
            .collect();
        if pods.is_empty() {
            empty += 1;
            continue;
        }
        let mut one = OfNode {
            node,
            pods,
            zero,
            plane,
            alias: format!("node-{}", out.since.len()),
            named: false,
            actions: Vec::new(),
            since: None,
            wrote: false,
            not_played: Vec::new(),
        };
        one.all();
        wrote += usize::from(one.wrote);
        silent += one.actions.iter().filter(|a| is_silence(a)).count();
        out.actions.extend(one.actions);
        out.not_played.extend(one.not_played);
        out.since
            .extend(one.since.map(|since| (node.name.clone(), since)));
    }
    if silent > 0 {
        let (earlier, off) = detection(plane);
        out.assumed.push(format!(
            "script.actions: {silent} silent nodes fell silent {earlier:.1} s before they were seen to be (± {off:.1} s: heartbeats \
             come every {} s, and node-monitor-grace-period is {} s)",
            plane.heartbeat_s, plane.node_monitor_grace_period_s
        ));
    }
    if wrote > 0 {
        out.not_played.push(format!(
            "{wrote} nodes were told to be without contact while their kubelets went on to write"
        ));
    }
    if empty > 0 {
        out.not_played.push(format!(
            "what happened to {empty} nodes without a pod of this JobSet"
        ));
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
fn detection(plane: &ControlPlane) -> (f64, f64) {
    let (grace, beat) = (
        plane.node_monitor_grace_period_s as f64,
        plane.heartbeat_s as f64,
    );
    (
        grace - beat / 2.0 + MONITOR_PERIOD_S / 2.0,
        beat / 2.0 + MONITOR_PERIOD_S / 2.0,
    )
}

struct OfNode<'l> {
    node: &'l NodeLife,
    pods: Vec<&'l PodLife>,
    zero: At,
    plane: &'l ControlPlane,
    alias: String,
    /// Whether an action has already bound the alias to the node.
    named: bool,
    actions: Vec<Value>,
    since: Option<u64>,
    wrote: bool,
    not_played: Vec<String>,
}

impl OfNode<'_> {
    fn all(&mut self) {
        let changes = &self.node.changes;
        for (i, (at, change)) in changes.iter().enumerate() {
            let later = &changes[i + 1..];
            match change {
                Change::Silent => self.silent(*at, later),
                Change::Back if self.named => self.put("returnNode", at.ns, None),
                Change::Gone => self.put("deleteNode", at.ns, None),
                Change::Came if self.named => self.put("newNode", at.ns, None),
                Change::Cordoned => self.put("cordonNode", at.ns, None),
                Change::Tainted(t) if t.key == OUT_OF_SERVICE || !t.key.starts_with(OWN_TAINTS) => {
                    let body = json!({"key": t.key, "value": t.value, "effect": t.effect});
                    self.put("taintNode", at.ns, Some(body.to_string()));
                }
                Change::Uncordoned => self.not_played("a node could take pods again"),
                Change::NotReady => self.not_played("a kubelet said that its node was not ready"),
                Change::Untainted(t) if !t.key.starts_with(OWN_TAINTS) => {
                    self.not_played("a taint was taken from a node");
                }
                _ => {}
            }
        }
    }

    fn not_played(&mut self, what: &str) {
        if !self.not_played.iter().any(|known| known == what) {
            self.not_played.push(what.to_owned());
        }
    }

    /// Records the fault of a node whose condition became `Unknown` at `at`.
    fn silent(&mut self, at: At, later: &[(At, Change)]) {
        let back = later.iter().find(|(_, c)| *c == Change::Back);
        let until = back.map_or(u64::MAX, |(at, _)| at.ns.saturating_sub(at.off));
        let heard = |p: &&PodLife| {
            let ready = p
                .ready
                .iter()
                .filter(|(_, ready)| *ready)
                .map(|(at, _)| at.ns);
            let ended = p.finished.filter(|_| p.last.exit_code.is_some());
            ready.chain(ended.map(|at| at.ns)).collect::<Vec<u64>>()
        };
        let heard: Vec<u64> = self
            .pods
            .iter()
            .flat_map(heard)
            .filter(|ns| *ns < until)
            .collect();
        // A kubelet that still writes has not lost contact; only its heartbeats were missing.
        if heard.iter().any(|ns| *ns > at.ns + at.off) {
            self.wrote = true;
            return;
        }
        let (earlier, _) = detection(self.plane);
        let from = at.ns.saturating_sub((earlier * SECOND as f64) as u64);
        let from = heard.into_iter().fold(from, u64::max);
        if from <= self.zero.ns {
            self.not_played("a node fell silent before the JobSet came");
            return;
        }
        let dead = |p: &&&PodLife| {
            p.last.exit_code == Some(FOUND_DEAD) && p.finished.is_some_and(|f| f.ns >= until)
        };
        let what = match back {
            Some(_) if !self.pods.iter().any(|p| dead(&p)) => "partitionNode",
            _ => "crashNode",
        };
        self.put(what, from, None);
    }

    /// Adds an action on the node. The first action identifies the node by a pod that runs on it at that time.
    fn put(&mut self, what: &str, ns: u64, body: Option<String>) {
        let on_it = |p: &&&PodLife| {
            p.bound.is_some_and(|b| b.ns.saturating_sub(b.off) <= ns)
                && p.gone.is_none_or(|g| g.ns + g.off >= ns)
        };
        let at = At { ns, off: 0 };
        let mut action =
            json!({"atMs": at.ms_after(self.zero).max(0), "do": what, "name": self.alias});
        if !self.named {
            let Some(pod) = self.pods.iter().find(on_it) else {
                self.not_played(&format!("{what} of a node without a pod at that time"));
                return;
            };
            action["pod"] = json!(pod.short());
            self.named = true;
        }
        if let Some(body) = body {
            action["body"] = json!(body);
        }
        let since = self.since.get_or_insert(ns);
        *since = (*since).min(ns);
        self.actions.push(action);
    }
}
