//! Reads `nodeRepair`, `nodeSpares` and `sliceFormation`: the repair of nodes after random faults, the spare nodes that
//! replace them, and the replacement of lost cubes.

use super::cross::CrossInputs;
use super::faults::targets::label;
use crate::{dist, node_repair, read};
use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode, topology::node_names};
use sim_api::spec::{FaultsOn, NodePool, NodeRepair, NodeSpares, RandomFaults, TopologySpec};
use sim_base::random::Distribution;

/// Reads `nodeRepair`. At least one fault process must depend on it.
pub fn repair(scenario: &YamlNode, processes: &[RandomFaults], report: &mut DiagnosticReport) -> Option<NodeRepair> {
    let node = scenario.get("nodeRepair")?;
    if !processes.iter().any(RandomFaults::uses_node_repair) {
        let message = "nodeRepair has no effect: no fault process loses a node without setting backAfter";
        report.error(node.at, message);
    }
    Some(NodeRepair {
        detected_after: dist::delay(Some(node), "detectedAfter", report),
        diagnosis: node_repair::diagnosis(node.get("diagnosis")),
        repair: node_repair::repair(Some(node), report),
        retirement: node_repair::retirement(Some(node), report),
    })
}

/// Reads `nodeSpares`. Spare nodes must exist, and at least one fault process must apply to nodes.
pub fn spares(
    scenario: &YamlNode, inputs: &CrossInputs, processes: &[RandomFaults], report: &mut DiagnosticReport,
) -> Option<NodeSpares> {
    let node = scenario.get("nodeSpares")?;
    let of_nodes = |p: &RandomFaults| p.on != FaultsOn::Pod;
    if !processes.iter().any(of_nodes) {
        report.error(node.at, "nodeSpares has no effect: no process in faultProcesses applies to nodes");
    }
    let (place, text) = node.get("label").and_then(|l| Some((l, l.as_str()?)))?;
    let Some((key, value)) = text.split_once('=') else {
        let error = report.error(place.at, format!("{text:?} is not of the form KEY=VALUE"));
        error.suggest("label: example.com/role=spare");
        return None;
    };
    let pools = &inputs.topology.pools;
    let spares = node_names::nodes_labelled(pools, key, value).len();
    // A pool with this label but without nodes is accepted: it provides zero spares.
    let named = |pool: &NodePool| pool.labels.iter().any(|(k, v)| k == key && v == value);
    if spares == 0 && !pools.iter().any(named) {
        report.error(place.at, format!("no node has the label {text}"));
    } else if spares as u64 == inputs.topology.nodes() {
        report.error(place.at, format!("all nodes have the label {text}: no node is left to run pods"));
    }
    Some(NodeSpares {
        key: key.to_owned(),
        value: value.to_owned(),
        unit: node.get("unit").and_then(|unit| label(unit, inputs, report)),
        take_over: read::duration(node, "takeOver").unwrap_or_default(),
        hand_back: read::boolean(node, "handBack").unwrap_or(false),
    })
}

/// Reads `sliceFormation`, which needs slices in the topology.
pub fn slice_formation(
    scenario: &YamlNode, topology: &TopologySpec, report: &mut DiagnosticReport,
) -> Option<Distribution> {
    let node = scenario.get("sliceFormation")?;
    if topology.slices.is_empty() {
        report.error(node.at, "sliceFormation has no effect: the topology has no slices");
    }
    Some(dist::delay(Some(scenario), "sliceFormation", report))
}
