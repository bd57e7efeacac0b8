//! Checks the patches of Nodes: the allowed paths and the types of the values.
//!
//! This module must never accept a path that the simulation ignores.

use crate::schema::check::{UnmodelledFields, check};
use crate::schema::field_type::{FieldType, STR_MAP};
use crate::{read, schema::definitions::objects::NODE_TAINT, text::diagnostic::DiagnosticReport, text::node::YamlNode};
use crate::{text::path::YamlPath, topology::too_many_devices};
use sim_api::spec::{NODE_PATCHES, TopologySpec, unknown_node_patches};

/// The schema of each path in `NODE_PATCHES`.
const FIELDS: [([&str; 2], &FieldType); 4] = [
    (["metadata", "labels"], &STR_MAP),
    (["spec", "taints"], &FieldType::List(&FieldType::Object(&NODE_TAINT))),
    (["spec", "unschedulable"], &FieldType::Bool),
    (["status", "allocatable"], &FieldType::Map(&FieldType::Amount)),
];

/// Checks a merge patch of a Node. It can change labels, taints, `unschedulable` and resources; other paths have no
/// effect and are refused.
pub fn node_patch(
    merge: &YamlNode, status: bool, topology: &TopologySpec, report: &mut DiagnosticReport,
) -> Option<()> {
    let unknown = unknown_node_patches(&merge.to_json(), status);
    for path in &unknown {
        let (section, field) = path.split_once('.').unwrap_or((path, ""));
        let find = |node: &YamlNode, name: &str| {
            let entries = node.entries().iter();
            let mut named = entries.filter(|(key, _)| key.name == name);
            named.next().map(|(key, value)| (key.at, value.clone()))
        };
        let outer = find(merge, section);
        let inner = outer.as_ref().and_then(|(_, node)| find(node, field));
        let at = inner.or(outer).map_or(merge.at, |(at, _)| at);
        if !NODE_PATCHES.contains(&path.as_str()) {
            let message = format!("{path} of a Node has no effect in the simulation");
            report.error(at, message).legal(NODE_PATCHES.join(", "));
        } else if status {
            let message = format!("{path} cannot be changed through the status subresource");
            report.error(at, message).suggest("remove status: true");
        } else {
            let message = format!("{path} can only be changed through the status subresource");
            report.error(at, message).suggest("add status: true");
        }
    }
    if !unknown.is_empty() {
        return None;
    }
    let before = report.found.len();
    for (path, shape) in FIELDS {
        if let Some(value) = merge.at_path(&path) {
            let section = YamlPath::ROOT.key(path[0]);
            written(value, shape, &section.key(path[1]), report);
        }
    }
    if let Some(status) = merge.get("status") {
        let allocatable = read::quantities(status, "allocatable");
        let place = |resource: &str| status.at_path(&["allocatable", resource]);
        let at = |resource: &str| place(resource).map_or(merge.at, |n| n.at);
        too_many_devices(topology, &allocatable, at, report);
    }
    (report.found.len() == before).then_some(())
}

/// Checks a value of a merge patch, in which null deletes an entry.
fn written(value: &YamlNode, shape: &FieldType, path: &YamlPath, report: &mut DiagnosticReport) {
    let mut unmodelled = UnmodelledFields::new();
    match shape {
        FieldType::Map(item) if !value.entries().is_empty() => {
            for (key, value) in value.entries().iter().filter(|(_, v)| !v.is_null()) {
                check(value, item, &path.key(&key.name), report, &mut unmodelled);
            }
        }
        _ => check(value, shape, path, report, &mut unmodelled),
    }
}
