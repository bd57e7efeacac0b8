//! Reads the topology that a scenario names or contains, and checks it against the Nodes in `objects`.

use super::objects::ScenarioObjects;
use crate::files::FileLoader;
use crate::presets::shipped;
use crate::text::diagnostic::{DiagnosticReport, SourceText};
use crate::text::node::{YamlNode, YamlValue};
use crate::topology;
use crate::topology::node_names::node_names;
use sim_api::spec::TopologySpec;
use std::collections::BTreeSet;

/// Checks that no Node of `objects` has the same name as a node of the topology, and that no node has too many
/// accelerators.
pub(super) fn check(node: &YamlNode, cluster: &TopologySpec, others: &ScenarioObjects, report: &mut DiagnosticReport) {
    let created_in = node.get("objects").or(node.get("faults"));
    for object in &others.nodes {
        let at = created_in.map_or(node.at, |objects| objects.at);
        topology::too_many_devices(cluster, &object.allocatable, |_| at, report);
    }
    let own: BTreeSet<&str> = others.nodes_at_start().collect();
    if own.is_empty() {
        return;
    }
    let at = node.get("objects").map_or(node.at, |objects| objects.at);
    for name in node_names(&cluster.pools) {
        if own.contains(name.as_str()) {
            let message = format!("Node {name:?} is already defined in the topology");
            let error = report.error(at, message);
            error.suggest("define the Node in one place only, or change it with a patch");
        }
    }
}

/// Loads the topology from the scenario or from a file. Also returns notes on nodes that could not be imported.
pub(super) fn load(
    node: &YamlNode,
    loader: &FileLoader,
    inputs: &mut Vec<(String, String)>,
    report: &mut DiagnosticReport,
) -> (TopologySpec, Vec<String>) {
    let Some(node) = node.get("topology") else {
        return Default::default();
    };
    let YamlValue::Str(file) = &node.value else {
        return (topology::convert(node, report), Vec::new());
    };
    let text = match (loader(file), shipped::shipped_topology(file)) {
        (Ok(text), _) => text,
        (Err(_), Some(shipped)) => shipped.text,
        (Err(problem), None) => {
            let error = report.error(node.at, format!("topology {file:?} {problem}"));
            error.nearest(file, shipped::topology_names());
            return Default::default();
        }
    };
    let source = SourceText { file: file.clone(), text };
    let read = topology::read_noting(&source);
    inputs.push((source.file, source.text));
    read.unwrap_or_else(|errors| {
        report.found.extend(errors.0);
        Default::default()
    })
}
