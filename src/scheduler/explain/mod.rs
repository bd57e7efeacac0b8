//! Explains why a pod fits on no node: the nodes that each plugin rejects, per topology domain, and the smallest change
//! that admits the pod.
//!
//! A scheduling cycle stops at the first rejection of a node; an explanation evaluates every filter on every node.

mod remedy;

use crate::decision::{NOT_NAMED, prefilter_message, prescore_error, rejection_counts};
use crate::plugins::filter_of;
use crate::rejection::{Reason, Rejection};
use crate::{cluster::Cluster, cycle::SchedulingCycle, index::NodeIndex, node::NodeView, plugin::Plugin, pod::PodView};
use crate::{profile::Profile, resources::ResourceColumns};
use remedy::{blockers, claim_step, steps};
use serde::Serialize;
use sim_api::spec::PodTemplate;
use sim_base::NodeId;
use sim_policy::placement::TemplateFacts;
use sim_policy::topology::ClusterBuilder;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacementExplanation {
    /// The sentence of kube-scheduler without the result of preemption.
    pub message: String,
    pub nodes: usize,
    /// Label whose values are the domains; empty if no label separates the nodes.
    pub topology_key: String,
    /// In the order of the plugins.
    pub rejected: Vec<RejectedNodes>,
    /// `None` if no change of a node or of the pod helps.
    pub change: Option<PlacementChange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RejectedNodes {
    pub plugin: Plugin,
    pub reason: String,
    /// Number of nodes by domain. Nodes without the label are in the domain with an empty name.
    pub domains: BTreeMap<String, usize>,
}

/// Steps that together make nodes feasible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlacementChange {
    pub steps: Vec<String>,
    /// Names of the nodes that these steps make feasible, each alone if they change the node; empty if that depends on
    /// the claim.
    pub nodes: Vec<String>,
}

impl RejectedNodes {
    pub fn nodes(&self) -> usize {
        self.domains.values().sum()
    }
}

impl PlacementChange {
    /// Returns the steps and the nodes as a sentence without a final period.
    pub fn text(&self) -> String {
        let steps = self.steps.join(", and ");
        match &self.nodes[..] {
            [] => steps,
            [one] => format!("{steps}; node {one} qualifies"),
            nodes => format!("{steps}; {} nodes qualify: {}", nodes.len(), name_ranges(nodes)),
        }
    }
}

/// Maximum number of ranges that are listed.
const MAX_RANGES: usize = 3;

/// Lists names, consecutive numbers as a range such as `n-0 to n-5`. Of many ranges only the ends are named.
fn name_ranges(names: &[String]) -> String {
    let follows = |a: &String, b: &String| numbered(a).zip(numbered(b)).is_some_and(|(a, b)| (a.0, a.1 + 1) == b);
    let ranges: Vec<&[String]> = names.chunk_by(follows).collect();
    let text = |range: &&[String]| match range {
        [first, .., last] => format!("{first} to {last}"),
        one => one.concat(),
    };
    match ranges.as_slice() {
        [first, .., last] if ranges.len() > MAX_RANGES => format!("{} to {}", first[0], last[last.len() - 1]),
        few => few.iter().map(text).collect::<Vec<_>>().join(", "),
    }
}

/// Splits a name into its text and the number at its end.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let text = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((text, name[text.len()..].parse().ok()?))
}

impl PlacementExplanation {
    /// Explains a pod that is not tried on any node.
    pub fn of_message(message: String, step: Option<String>) -> PlacementExplanation {
        let change = step.map(|step| PlacementChange { steps: vec![step], nodes: Vec::new() });
        PlacementExplanation { message, change, ..PlacementExplanation::default() }
    }
}

/// Explains why a pod of a template fits on no node of the empty cluster.
pub fn explain_template(topology: &ClusterBuilder, pod: &PodTemplate, facts: &TemplateFacts) -> PlacementExplanation {
    let mut columns = ResourceColumns::default();
    let pod = PodView::of_template(pod, facts, &mut columns);
    let mut cluster = Cluster { columns, ..Cluster::default() };
    for node in (0..topology.len() as u32).map(NodeId) {
        let view = NodeView::of_topology(topology, node, &mut cluster.columns);
        cluster.add_node(view);
    }
    explain(&cluster, &pod, &Profile::default(), None)
}

/// Explains why a pod fits on no node. `exclusive_key` is the topology key of exclusive placement: the pod cannot leave
/// the domain that its node selector names for this key.
pub fn explain(
    cluster: &Cluster, pod: &PodView, profile: &Profile, exclusive_key: Option<&str>,
) -> PlacementExplanation {
    let key = exclusive_key.or_else(|| key_of_terms(pod)).or_else(|| separating_label(cluster)).unwrap_or("");
    let label = |node: NodeIndex| cluster.nodes[node].labels.get(key).map_or("", String::as_str);
    let cycle = match SchedulingCycle::new(cluster, pod, profile) {
        Ok(cycle) => cycle,
        Err(rejection) => return explain_prefilter(cluster, pod, &rejection),
    };
    let blockers = blockers(&cycle);
    let mut table: BTreeMap<(usize, String), RejectedNodes> = BTreeMap::new();
    let mut changes: BTreeMap<Vec<String>, (i64, Vec<NodeIndex>)> = BTreeMap::new();
    let mut first = Vec::new();
    for node in 0..cluster.nodes.len() {
        let rejections = cycle.all_rejections(node);
        first.extend(rejections.first().filter(|_| cycle.is_named(node)).map(|r| (node, r.clone())));
        for rejection in &rejections {
            for reason in rejection.reasons.iter().map(ToString::to_string) {
                let row = RejectedNodes { plugin: rejection.plugin, reason: reason.clone(), domains: BTreeMap::new() };
                let entry = table.entry((plugin_order(rejection.plugin), reason)).or_insert(row);
                *entry.domains.entry(label(node).to_owned()).or_default() += 1;
            }
        }
        let is_pinned = exclusive_key.and_then(|key| pod.node_affinity.selector.get(key));
        if is_pinned.is_some_and(|domain| domain != label(node)) {
            continue;
        }
        let (texts, cost) = steps(&cycle, &blockers, node, &rejections);
        changes.entry(texts).or_insert((cost, Vec::new())).1.push(node);
    }
    let feasible =
        changes.iter().filter(|(steps, _)| steps.is_empty()).map(|(_, (_, nodes))| nodes.len()).sum::<usize>();
    if let Some(message) = prescore_error(&cycle).filter(|_| feasible > 1) {
        let steps =
            vec!["write an integer as the value of the operators Gt and Lt in the preferred node affinity".to_owned()];
        let change = Some(PlacementChange { steps, nodes: Vec::new() });
        return PlacementExplanation { message, nodes: cluster.nodes.len(), change, ..PlacementExplanation::default() };
    }
    let smallest = changes.iter().min_by_key(|(steps, (cost, nodes))| (steps.len(), *cost, usize::MAX - nodes.len()));
    let name = |node: &NodeIndex| cluster.nodes[*node].name.clone();
    PlacementExplanation {
        message: rejection_counts(&cycle, &first).message(cluster.nodes.len()),
        nodes: cluster.nodes.len(),
        topology_key: key.to_owned(),
        rejected: table.into_values().collect(),
        change: smallest.map(|(steps, (_, nodes))| PlacementChange {
            steps: steps.clone(),
            nodes: nodes.iter().map(name).collect(),
        }),
    }
}

fn explain_prefilter(cluster: &Cluster, pod: &PodView, rejection: &Rejection) -> PlacementExplanation {
    let nodes = cluster.nodes.len();
    let all = BTreeMap::from([(String::new(), nodes)]);
    let (plugin, reason) = (rejection.plugin, rejection.reasons[0].to_string());
    let change = match &rejection.reasons[0] {
        Reason::Claim(problem) => claim_step(cluster, pod, problem),
        _ => None,
    };
    PlacementExplanation {
        message: prefilter_message(cluster, rejection),
        nodes,
        topology_key: String::new(),
        rejected: vec![RejectedNodes { plugin, reason, domains: all }],
        change: change.map(|step| PlacementChange { steps: vec![step], nodes: Vec::new() }),
    }
}

fn plugin_order(plugin: Plugin) -> usize {
    Plugin::FILTERS.iter().position(|other| *other == plugin).unwrap_or(0)
}

/// Returns the first topology key in the pod's terms about other pods.
fn key_of_terms(pod: &PodView) -> Option<&str> {
    let terms = pod.anti_affinity.required.iter().chain(&pod.affinity.required).map(|t| &t.topology_key);
    terms.chain(pod.spread.iter().map(|c| &c.topology_key)).next().map(String::as_str)
}

/// Returns the label of all nodes with the fewest values, but more than one and fewer than nodes.
fn separating_label(cluster: &Cluster) -> Option<&str> {
    let nodes = cluster.nodes.len();
    let mut values: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for (key, value) in cluster.nodes.iter().flat_map(|node| &node.labels) {
        let (count, distinct) = values.entry(key).or_default();
        *count += 1;
        distinct.insert(value);
    }
    let separates = |(_, (count, distinct)): &(&str, (usize, BTreeSet<&str>))| {
        *count == nodes && (2..nodes).contains(&distinct.len())
    };
    let keys = values.into_iter().filter(separates);
    keys.min_by_key(|(_, (_, distinct))| distinct.len()).map(|(key, _)| key)
}

impl SchedulingCycle<'_> {
    fn is_named(&self, node: NodeIndex) -> bool {
        self.named_nodes.as_ref().is_none_or(|named| named.contains(&node))
    }

    /// Runs all filters on a node, or the filters beside nominated pods if all others accept it.
    fn all_rejections(&self, node: NodeIndex) -> Vec<Rejection> {
        if !self.is_named(node) {
            return vec![Rejection::unresolvable(Plugin::NodeAffinity, NOT_NAMED)];
        }
        let usage = &self.cluster.usage[node];
        let filters = self.profile.filters().iter().map(|plugin| filter_of(*plugin));
        let all: Vec<Rejection> = filters.filter_map(|filter| filter(self, node, usage).err()).collect();
        if all.is_empty() { self.filter_with_nominated(node, usage).err().into_iter().collect() } else { all }
    }
}
