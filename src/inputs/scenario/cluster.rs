//! Reads the topology that a scenario names or contains, and checks it against the Nodes in `objects`.

use super::objects::ScenarioObjects;
use crate::text::diagnostic::{DiagnosticReport, Diagnostics, SourceText};
use crate::text::node::{YamlNode, YamlValue};
use crate::text::{print, yaml};
use crate::topology::{self, NotedTopology, node_names::node_names};
use crate::{files::FileLoader, presets::shipped};
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

/// Replaces the name of a topology file by its content if an override sets a field inside of it.
pub(super) fn inline(
    node: &mut YamlNode, sets: &[(String, String)], loader: &FileLoader, inputs: &mut Vec<(String, String)>,
) -> Result<(), Diagnostics> {
    let is_inside = sets.iter().any(|(path, _)| path.starts_with("topology."));
    let YamlValue::Map(entries) = &mut node.value else { return Ok(()) };
    let Some((_, topology)) = entries.iter_mut().find(|(key, _)| key.name == "topology" && is_inside) else {
        return Ok(());
    };
    let YamlValue::Str(file) = &topology.value else { return Ok(()) };
    //  A file that does not exist is reported when the topology is loaded.
    let Some(text) = loader(file).ok().or_else(|| shipped::shipped_topology(file).map(|shipped| shipped.text)) else {
        return Ok(());
    };
    let source = SourceText { file: file.clone(), text };
    let read = topology::read_topology(&source)?;
    let written = SourceText { file: source.file.clone(), text: print::yaml(&topology::written(&read)) };
    inputs.push((source.file, source.text));
    if let Some(mut document) = yaml::parse(&written)?.pop() {
        topology::set_position(&mut document, topology.at);
        *topology = document;
    }
    Ok(())
}

/// Loads the topology from the scenario or from a file. Also returns notes on nodes that could not be imported.
pub(super) fn load(
    node: &YamlNode, loader: &FileLoader, inputs: &mut Vec<(String, String)>, report: &mut DiagnosticReport,
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
    match read {
        Ok(NotedTopology { topology, notes, .. }) => (topology, notes),
        Err(errors) => {
            report.found.extend(errors.0);
            Default::default()
        }
    }
}
