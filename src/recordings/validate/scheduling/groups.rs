//! Replays situations with pod groups: after each step, the scheduled groups, their numbers of bound pods, their
//! conditions and the victims are compared.
//!
//! Bound pods are placed on the recorded nodes, because kube-scheduler selects among equal nodes and placements at
//! random. The order of unequal pods of a group is random as well, so that a group may fit or not.

use super::differences::Differences;
use super::group_variants::{Attempted, variants};
use super::situation::{CLASSES, admit, build_cluster, profile};
use crate::validate::result::RecordedDifference;
use serde_json::{Value, json};
use sim_api::objects::value_access::{has_value, list, pairs, text};
use sim_scheduler::groups::attempt::GroupResult;
use sim_scheduler::{Cluster, Decision, GroupAttempt, NodeIndex, PodGroup, PodView, schedule};
use std::collections::{BTreeMap, BTreeSet};

pub const KEYS: [&str; 8] = ["schema", "kind", "name", "kubernetes", "gates", "nodes", "steps", "results"];
const TOPOLOGY_GATE: &str = "TopologyAwareWorkloadScheduling";
const NAMESPACE: &str = "default";
const TPU: &str = "google.com/tpu";

/// Compares all steps.
pub fn compare(recording: &Value) -> Vec<RecordedDifference> {
    let gates = list(recording, "gates");
    let mut replay = Replay {
        cluster: build_cluster(recording).0,
        is_topology_aware: gates.iter().any(|gate| gate == TOPOLOGY_GATE),
        waiting: Vec::new(),
        conditions: BTreeMap::new(),
        kinds: Vec::new(),
        found: Differences::default(),
    };
    for (k, (step, result)) in list(recording, "steps").iter().zip(list(recording, "results")).enumerate() {
        let newest = replay.add_unit(step);
        replay.settle(newest, result, k);
        replay.compare_state(result, k);
    }
    replay.found.0
}

/// A group or a list of single pods with its pending pods.
struct WaitingUnit {
    group: Option<usize>,
    pods: Vec<WaitingPod>,
    /// Whether new pods of a group that existed before them arrive one by one: the next cycle takes only those that
    /// complete the group.
    is_arriving: bool,
}

struct WaitingPod {
    view: PodView,
    /// Index in `Replay::kinds`.
    kind: usize,
}

/// What an attempt changed in the cluster.
enum Change {
    None,
    Bound,
    Removed,
}

struct Replay {
    cluster: Cluster,
    is_topology_aware: bool,
    waiting: Vec<WaitingUnit>,
    /// Condition of each group that was attempted: status, reason and message.
    conditions: BTreeMap<String, [String; 3]>,
    /// Specs of the pods of groups. Pods with the same spec are of one kind.
    kinds: Vec<Value>,
    found: Differences,
}

/// Returns whether the free resources of a node suffice for the pod.
fn has_room(cluster: &Cluster, node: NodeIndex, pod: &PodView) -> bool {
    let (view, usage) = (&cluster.nodes[node], &cluster.usage[node]);
    pod.requests.iter().all(|(column, amount)| amount <= view.allocatable.get(column) - usage.requested.get(column))
}

fn priority_of(class: &str) -> i64 {
    CLASSES.iter().find(|(name, ..)| *name == class).map_or(0, |(_, value, _)| *value)
}

fn pod_manifest(pod: &Value) -> Value {
    let mut requests = json!({"cpu": pod["cpu"]});
    let tpu = has_value(pod, "tpu").then_some((TPU, &pod["tpu"]));
    let others = pairs(&pod["requests"]).map(|(name, amount)| (name.as_str(), amount));
    let mut limits = json!({});
    for (name, amount) in tpu.into_iter().chain(others) {
        requests[name] = amount.clone();
        // The API server requires equal limits for extended resources.
        if name.contains('/') {
            limits[name] = amount.clone();
        }
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": pod["name"], "namespace": NAMESPACE},
        "spec": {
            "priorityClassName": text(pod, "priority"),
            "terminationGracePeriodSeconds": 0,
            "nodeSelector": pod["nodeSelector"],
            "tolerations": pod["tolerations"],
            "containers": [{
                "name": "main",
                "image": "example.com/train:v1",
                "resources": {"requests": requests, "limits": limits},
            }],
        },
    })
}

impl Replay {
    /// Adds the group and the pods of a step to those that wait, and returns their unit. The pods of a step exist
    /// before their group, unless an earlier step created the group.
    fn add_unit(&mut self, step: &Value) -> usize {
        let name = text(&step["group"], "name");
        let known = self.cluster.groups.iter().position(|group| group.name == name);
        let group = known.or_else(|| has_value(step, "group").then(|| self.add_group(&step["group"])));
        let pods = self.read_pods(step, group);
        let same = |unit: &WaitingUnit| known.is_some() && unit.group == known;
        let unit = self.waiting.iter().position(same).unwrap_or(self.waiting.len());
        match self.waiting.get_mut(unit) {
            Some(unit) => {
                unit.is_arriving = !pods.is_empty();
                unit.pods.extend(pods);
            }
            None => self.waiting.push(WaitingUnit { group, pods, is_arriving: false }),
        }
        unit
    }

    fn add_group(&mut self, spec: &Value) -> usize {
        self.cluster.groups.push(PodGroup {
            name: text(spec, "name").to_owned(),
            min_count: spec["minCount"].as_u64().map(|count| count as usize),
            topology_key: spec["topology"].as_str().map(str::to_owned),
            priority: priority_of(text(spec, "priority")),
            is_disrupted_as_a_whole: text(spec, "disruptionMode") == "PodGroup",
        });
        self.cluster.groups.len() - 1
    }

    fn read_pods(&mut self, step: &Value, group: Option<usize>) -> Vec<WaitingPod> {
        let mut pods = Vec::new();
        for pod in list(step, "pods") {
            match admit(&pod_manifest(pod)) {
                Ok(stored) => {
                    let mut view = PodView::read(&stored, &mut self.cluster.columns);
                    view.group = group;
                    let kind = self.kind(&stored["spec"]);
                    pods.push(WaitingPod { view, kind });
                }
                Err(message) => self.found.compare(text(pod, "name"), Value::Null, json!(message)),
            }
        }
        pods
    }

    /// Returns the index of the pods with this spec.
    fn kind(&mut self, spec: &Value) -> usize {
        self.kinds.iter().position(|known| known == spec).unwrap_or_else(|| {
            self.kinds.push(spec.clone());
            self.kinds.len() - 1
        })
    }

    /// Attempts the new unit, and then the waiting groups, which kube-scheduler retries all the time. If pods are
    /// removed, all waiting units are attempted again; if pods of a group are bound, all waiting groups.
    fn settle(&mut self, newest: usize, result: &Value, step: usize) {
        let mut queue = vec![newest];
        queue.extend(self.waiting_groups());
        while !queue.is_empty() {
            let unit = queue.remove(0);
            let change = match self.waiting[unit].group {
                Some(group) => self.attempt_group(unit, group, result, step),
                None => self.attempt_pods(unit, result),
            };
            match change {
                Change::None => {}
                Change::Bound => {
                    let groups = self.waiting_groups();
                    let added: Vec<usize> = groups.into_iter().filter(|unit| !queue.contains(unit)).collect();
                    queue.extend(added);
                }
                Change::Removed => queue = self.waiting_units(),
            }
        }
    }

    fn waiting_groups(&self) -> Vec<usize> {
        self.waiting_units().into_iter().filter(|unit| self.waiting[*unit].group.is_some()).collect()
    }

    /// Returns the units with pending pods by priority, older ones first.
    fn waiting_units(&self) -> Vec<usize> {
        let priority = |unit: &usize| self.waiting[*unit].pods.first().map_or(i64::MIN, |pod| pod.view.priority);
        let mut units: Vec<usize> = (0..self.waiting.len()).filter(|u| !self.waiting[*u].pods.is_empty()).collect();
        units.sort_by_key(|unit| std::cmp::Reverse(priority(unit)));
        units
    }

    /// Schedules single pods. A pod that preempts others is attempted again at once.
    fn attempt_pods(&mut self, unit: usize, result: &Value) -> Change {
        let mut kept = Vec::new();
        let mut change = Change::None;
        for WaitingPod { view: mut pod, kind } in std::mem::take(&mut self.waiting[unit].pods) {
            let recorded = self.recorded_node(result, &pod.name);
            let mut decision = schedule(&self.cluster, &pod, &profile(""), 0);
            if let Decision::Unschedulable { preemption, .. } = &decision
                && let Some(best) = preemption.best()
                && let Some(chosen) = best.iter().find(|c| Some(c.node) == recorded).or(best.first())
            {
                chosen.victims.iter().for_each(|victim| self.cluster.remove_pod(chosen.node, *victim));
                pod.nominated_node = self.cluster.nodes[chosen.node].name.clone();
                change = Change::Removed;
                decision = schedule(&self.cluster, &pod, &profile(""), 0);
            }
            match decision {
                Decision::Scheduled(nodes) => {
                    let node = recorded.filter(|node| nodes.nodes.contains(node)).or(nodes.best().first().copied());
                    node.map(|node| self.cluster.add_pod(node, pod));
                }
                Decision::Unschedulable { .. } => kept.push(WaitingPod { view: pod, kind }),
            }
        }
        self.waiting[unit].pods = kept;
        change
    }

    fn recorded_node(&self, result: &Value, pod: &str) -> Option<NodeIndex> {
        self.cluster.find_node(text(&result["pods"][pod], "node"))
    }

    /// Returns the nodes of the scheduled pods of a group.
    fn nodes_of(&self, group: usize) -> Vec<NodeIndex> {
        self.cluster.placed_pods().filter(|(_, pod)| pod.group == Some(group)).map(|(node, _)| node).collect()
    }

    /// Attempts a group. Of the possible results, the one that is nearest to the recorded one is taken.
    fn attempt_group(&mut self, unit: usize, group: usize, result: &Value, step: usize) -> Change {
        let scheduled = self.nodes_of(group);
        let spec = self.cluster.groups[group].clone();
        let profile = profile("");
        let own: Vec<PodView> = self.waiting[unit].pods.iter().map(|pod| pod.view.clone()).collect();
        let kinds: Vec<usize> = self.waiting[unit].pods.iter().map(|pod| pod.kind).collect();
        let attempt = GroupAttempt {
            group: &spec,
            pods: &own,
            profile: &profile,
            scheduled: &scheduled,
            is_topology_aware: self.is_topology_aware,
            ties: &[],
            start: 0,
        };
        if own.is_empty() || !attempt.is_complete() {
            return Change::None;
        }
        let is_arriving = std::mem::take(&mut self.waiting[unit].is_arriving);
        let missing = spec.min_count.unwrap_or(1).saturating_sub(scheduled.len()).clamp(1, own.len());
        let count = if is_arriving { missing } else { own.len() };
        let domains = self.recorded_domains(unit, &spec, result);
        let domains: BTreeSet<&str> = domains.iter().map(String::as_str).collect();
        let mut nearest: Option<(usize, Attempted)> = None;
        for (pods, tie) in variants(&own, &kinds) {
            let ties: Vec<u64> = (1..=pods.len()).map(|at| (tie * at) as u64).collect();
            let variant = GroupAttempt { pods: &pods[..count], ties: &ties, ..attempt.clone() };
            let attempted = Attempted::run(variant, &self.cluster, result);
            let distance = attempted.distance(&self.cluster, result, &own, &domains);
            if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                nearest = Some((distance, attempted));
            }
            if distance == 0 {
                break;
            }
        }
        match nearest {
            Some((_, Attempted::Fits(outcome))) => {
                self.set_condition(&spec.name, true, String::new());
                let bound = self.bind(unit, &spec, &outcome, result, step);
                if bound > 0 { Change::Bound } else { Change::None }
            }
            Some((_, Attempted::Preempts(victims))) => {
                let pods = victims.iter().flat_map(|victim| &victim.pods);
                pods.for_each(|(node, pod)| self.cluster.remove_pod(*node, *pod));
                Change::Removed
            }
            Some((_, Attempted::Fails(message))) => {
                self.set_condition(&spec.name, false, message);
                // The group is attempted again with the pods that arrive later.
                if count < own.len() { Change::Bound } else { Change::None }
            }
            None => Change::None,
        }
    }

    /// Sets the condition PodGroupScheduled. It stays true once the group was scheduled.
    fn set_condition(&mut self, group: &str, is_scheduled: bool, message: String) {
        let (status, reason) = if is_scheduled { ("True", "Scheduled") } else { ("False", "Unschedulable") };
        let condition = self.conditions.entry(group.to_owned()).or_default();
        if is_scheduled || condition[0] != "True" {
            *condition = [status.to_owned(), reason.to_owned(), message];
        }
    }

    /// Returns the values of the topology key of the recorded nodes of the waiting pods; empty if none was bound or the
    /// group has no such key.
    fn recorded_domains(&self, unit: usize, group: &PodGroup, result: &Value) -> BTreeSet<String> {
        let Some(key) = group.topology_key.as_ref().filter(|_| self.is_topology_aware) else {
            return BTreeSet::new();
        };
        let pods = self.waiting[unit].pods.iter();
        let nodes = pods.filter_map(|pod| self.recorded_node(result, &pod.view.name));
        nodes.map(|node| self.cluster.nodes[node].labels.get(key).cloned().unwrap_or_default()).collect()
    }

    /// Binds as many pods of a scheduled group as fit, on the recorded nodes, which must form one of the placements
    /// with the highest score. Returns the number of bound pods.
    fn bind(&mut self, unit: usize, group: &PodGroup, outcome: &GroupResult, result: &Value, step: usize) -> usize {
        let best = outcome.best();
        let recorded: Vec<Option<NodeIndex>> =
            self.waiting[unit].pods.iter().map(|pod| self.recorded_node(result, &pod.view.name)).collect();
        let used = self.recorded_domains(unit, group, result);
        let domains: BTreeSet<&str> = best.iter().map(|placement| placement.domain.as_str()).collect();
        if used.len() > 1 || !used.iter().all(|domain| domains.contains(domain.as_str())) {
            self.found.compare(&format!("{step}.{}.domain", group.name), json!(used), json!(domains));
        }
        let chosen = best.iter().find(|placement| used.contains(&placement.domain)).unwrap_or(&best[0]);
        let assigned = chosen.assigned();
        let nodes = if recorded.iter().any(Option::is_some) { recorded } else { chosen.assignment.clone() };
        let mut kept = Vec::new();
        let mut bound = 0;
        for (pod, node) in std::mem::take(&mut self.waiting[unit].pods).into_iter().zip(nodes) {
            // A later attempt binds the others.
            match node.filter(|node| bound < assigned && has_room(&self.cluster, *node, &pod.view)) {
                Some(node) => {
                    self.cluster.add_pod(node, pod.view);
                    bound += 1;
                }
                None => kept.push(pod),
            }
        }
        self.waiting[unit].pods = kept;
        bound
    }

    /// Compares the existing pods and the conditions of all groups.
    fn compare_state(&mut self, result: &Value, step: usize) {
        let placed = self.cluster.placed_pods().map(|(_, pod)| (pod.name.as_str(), true));
        let waiting = self.waiting.iter().flat_map(|unit| &unit.pods).map(|pod| (pod.view.name.as_str(), false));
        let simulated: BTreeMap<&str, bool> = placed.chain(waiting).collect();
        let recorded = pairs(&result["pods"]).map(|(name, pod)| (name.as_str(), has_value(pod, "node")));
        let recorded: BTreeMap<&str, bool> = recorded.collect();
        let names = |pods: &BTreeMap<&str, bool>| json!(pods.keys().collect::<Vec<&&str>>());
        self.found.compare(&format!("{step}.pods"), names(&recorded), names(&simulated));
        let singles = |pods: &BTreeMap<&str, bool>| {
            let single = pods.iter().filter(|(name, bound)| name.starts_with("single") && **bound);
            json!(single.map(|(name, _)| *name).collect::<Vec<&str>>())
        };
        self.found.compare(&format!("{step}.singles"), singles(&recorded), singles(&simulated));
        for group in &self.cluster.groups {
            let is_member = |pod: &str| pod.rsplit_once('-').is_some_and(|(name, _)| name == group.name);
            let bound = |pods: &BTreeMap<&str, bool>| pods.iter().filter(|(name, b)| **b && is_member(name)).count();
            let path = format!("{step}.{}.bound", group.name);
            self.found.compare(&path, json!(bound(&recorded)), json!(bound(&simulated)));
        }
        for (group, recorded) in pairs(&result["groups"]) {
            let recorded = recorded.as_array().into_iter().flatten();
            let recorded = recorded.map(|c| json!([c["status"], c["reason"], c["message"]]));
            let simulated = self.conditions.get(group).map(|c| json!(c));
            let recorded: Vec<Value> = recorded.collect();
            self.found.compare(&format!("{step}.{group}"), json!(recorded), json!(Vec::from_iter(simulated)));
        }
    }
}
