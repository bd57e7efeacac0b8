//! Situations as lines of JSON. Amounts are in thousandths.

use crate::tas::{
    DomainAssignment, LevelRequest, NodeConstraints, PlacementMode, PodSetRequest, SliceConstraint, TasFlavor, TasNode,
    TopologyAssignment, TopologyRequest, TopologySnapshot,
};
use serde_json::Value;
use sim_api::objects::value_access::{list, text};
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::{NodeTerm, ResourceAmounts, TaintEffect, TaintSpec, TolerationSpec};
use sim_scheduler::node_affinity::read_term;
use std::collections::BTreeMap;

/// Name of the flavor of all situations.
pub const FLAVOR: &str = "flavor";
/// Name of the topology of all situations.
pub const TOPOLOGY: &str = "default";

pub struct Situation {
    pub snapshot: TopologySnapshot,
    pub pod_sets: Vec<PodSetSituation>,
    pub unhealthy_node: Option<String>,
    pub is_empty: bool,
}

pub struct PodSetSituation {
    pub name: String,
    pub count: u32,
    pub requests: ResourceAmounts,
    pub topology: Option<TopologyRequest>,
    pub is_implied: bool,
    pub selector: BTreeMap<String, String>,
    pub affinity: Option<Vec<NodeTerm>>,
    pub tolerations: Vec<TolerationSpec>,
    pub existing: Option<TopologyAssignment>,
    /// The recorded assignment in the form `values=count`, or the reason.
    pub expected: Result<String, String>,
}

impl Situation {
    pub fn read(line: &str) -> Situation {
        let situation: Value = serde_json::from_str(line).expect("JSON");
        let levels = texts(&situation, "levels");
        let flavor = TasFlavor {
            name: FLAVOR.to_owned(),
            topology: TOPOLOGY.to_owned(),
            node_labels: pairs(text(&situation, "nodeLabels")),
            levels: levels.clone(),
            ..TasFlavor::default()
        };
        let nodes: Vec<TasNode> = texts(&situation, "nodes").iter().map(|node| read_node(node)).collect();
        let mut snapshot = TopologySnapshot::new(&[flavor], &nodes);
        for pod in texts(&situation, "pods") {
            let (node, requests) = pod.split_once(' ').unwrap_or((&pod, ""));
            snapshot.add_other_pod(node, &amounts(requests));
        }
        let stored = if levels.last().is_some_and(|l| l == HOSTNAME) { vec![HOSTNAME.to_owned()] } else { levels };
        for used in texts(&situation, "used") {
            let (domain, requests) = used.split_once(' ').unwrap_or((&used, ""));
            let mut requests = amounts(requests);
            *requests.entry("pods".to_owned()).or_default() -= 1000;
            let assignment = assignment(&format!("{domain}=1"), &stored);
            snapshot.add(&snapshot.usage(FLAVOR, &assignment, &requests).expect("a flavor"));
        }
        Situation {
            snapshot,
            pod_sets: list(&situation, "podSets")
                .iter()
                .map(|pod_set| PodSetSituation::read(pod_set, &stored))
                .collect(),
            unhealthy_node: situation["unhealthy"].as_str().map(str::to_owned),
            is_empty: situation["empty"] == true,
        }
    }

    pub fn mode(&self) -> PlacementMode<'_> {
        match &self.unhealthy_node {
            Some(unhealthy_node) => PlacementMode::Replace { unhealthy_node },
            None if self.is_empty => PlacementMode::Empty,
            None => PlacementMode::Normal,
        }
    }

    pub fn requests(&self) -> Vec<PodSetRequest<'_>> {
        self.pod_sets.iter().map(PodSetSituation::request).collect()
    }

    /// Compares the decision with the recorded one.
    pub fn check(&self) -> Result<(), String> {
        let result = self.snapshot.find(&self.requests(), self.mode());
        for (pod_set, found) in self.pod_sets.iter().zip(&result.assignments) {
            let decided = match (&result.failure, found) {
                (_, Some(found)) => Ok(format(found)),
                (Some(failure), None) => Err(failure.reason.clone()),
                (None, None) => Ok(String::new()),
            };
            if pod_set.expected.as_ref().err().is_some_and(String::is_empty) {
                continue;
            }
            if decided != pod_set.expected {
                return Err(format!("{}: {decided:?} instead of {:?}", pod_set.name, pod_set.expected));
            }
        }
        Ok(())
    }
}

impl PodSetSituation {
    fn read(pod_set: &Value, levels: &[String]) -> PodSetSituation {
        let slices = texts(pod_set, "slices").into_iter().map(|slice| {
            let (topology, size) = slice.split_once('=').expect("a size");
            SliceConstraint { topology: topology.to_owned(), size: size.parse().expect("a size") }
        });
        let level = match (pod_set["required"].as_str(), pod_set["preferred"].as_str()) {
            (Some(key), _) => Some(LevelRequest::Required(key.to_owned())),
            (_, Some(key)) => Some(LevelRequest::Preferred(key.to_owned())),
            _ => (pod_set["unconstrained"] == true).then_some(LevelRequest::Unconstrained),
        };
        let group = pod_set["group"].as_str().map(str::to_owned);
        let request = TopologyRequest { level, slices: slices.collect(), group };
        let expected = match (pod_set["want"].as_str(), pod_set["reason"].as_str()) {
            (_, Some(reason)) => Err(reason.to_owned()),
            (Some(want), _) => Ok(want.to_owned()),
            _ => Err(String::new()),
        };
        PodSetSituation {
            name: text(pod_set, "name").to_owned(),
            count: pod_set["count"].as_u64().and_then(|count| u32::try_from(count).ok()).expect("a count"),
            requests: amounts(text(pod_set, "requests")),
            topology: (request != TopologyRequest::default()).then_some(request),
            is_implied: pod_set["implied"] == true,
            selector: pairs(text(pod_set, "selector")),
            affinity: pod_set["affinity"].as_array().map(|terms| terms.iter().map(read_term).collect()),
            tolerations: list(pod_set, "tolerations").iter().map(read_toleration).collect(),
            existing: pod_set["existing"].as_str().map(|text| assignment(text, levels)),
            expected,
        }
    }

    pub fn request(&self) -> PodSetRequest<'_> {
        PodSetRequest {
            name: &self.name,
            flavor: FLAVOR,
            count: self.count,
            requests: &self.requests,
            topology: self.topology.as_ref(),
            is_implied: self.is_implied,
            constraints: NodeConstraints {
                node_selector: &self.selector,
                node_affinity: self.affinity.as_deref(),
                tolerations: &self.tolerations,
            },
            existing: self.existing.as_ref(),
        }
    }
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    list(value, field).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    let pair = |word: &str| {
        let (key, value) = word.split_once('=').expect("a pair");
        (if key == "host" { HOSTNAME } else { key }.to_owned(), value.to_owned())
    };
    text.split_whitespace().map(pair).collect()
}

fn amounts(text: &str) -> ResourceAmounts {
    pairs(text).into_iter().map(|(name, amount)| (name, amount.parse().expect("an amount"))).collect()
}

/// Reads `name labels | allocatable | taints and states`.
fn read_node(line: &str) -> TasNode {
    let mut parts = line.split(" | ");
    let head = parts.next().unwrap_or_default();
    let (name, labels) = head.split_once(' ').unwrap_or((head, ""));
    let allocatable = amounts(parts.next().unwrap_or_default());
    let mut node =
        TasNode { name: name.to_owned(), labels: pairs(labels), is_ready: true, allocatable, ..TasNode::default() };
    for word in parts.next().unwrap_or_default().split_whitespace() {
        match word {
            "not-ready" => node.is_ready = false,
            "unschedulable" => node.is_unschedulable = true,
            taint => node.taints.push(read_taint(taint)),
        }
    }
    node
}

fn read_taint(text: &str) -> TaintSpec {
    let (head, effect) = text.rsplit_once(':').expect("an effect");
    let (key, value) = head.split_once('=').unwrap_or((head, ""));
    TaintSpec { key: key.to_owned(), value: value.to_owned(), effect: read_effect(effect).expect("an effect") }
}

fn read_effect(word: &str) -> Option<TaintEffect> {
    let all = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute];
    all.into_iter().find(|effect| effect.as_str() == word)
}

fn read_toleration(toleration: &Value) -> TolerationSpec {
    let key = text(toleration, "key");
    TolerationSpec {
        key: (!key.is_empty()).then(|| key.to_owned()),
        exists: text(toleration, "operator") == "Exists",
        value: text(toleration, "value").to_owned(),
        effect: read_effect(text(toleration, "effect")),
        toleration_seconds: None,
    }
}

/// Reads an assignment in the form `b1/r1=2 b1/r2=1`.
pub fn assignment(text: &str, levels: &[String]) -> TopologyAssignment {
    let domain = |word: &str| {
        let (values, count) = word.rsplit_once('=').expect("a count");
        let values = values.split('/').map(str::to_owned).collect();
        DomainAssignment { values, count: count.parse().expect("a count") }
    };
    TopologyAssignment { levels: levels.to_vec(), domains: text.split_whitespace().map(domain).collect() }
}

pub fn format(assignment: &TopologyAssignment) -> String {
    let domains: Vec<String> =
        assignment.domains.iter().map(|domain| format!("{}={}", domain.values.join("/"), domain.count)).collect();
    domains.join(" ")
}
