//! Fault traces of Fleets. Fleet nodes have no names, so each name in a trace is assigned to one of them.

use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode, traces, traces::FaultTraces};
use sim_api::spec::FleetFault;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fault traces, with the node number assigned to each name.
pub struct NamedTrace<'t> {
    traces: &'t FaultTraces,
    nodes: BTreeMap<&'t str, u32>,
    most: u32,
}

impl<'t> NamedTrace<'t> {
    /// Creates an empty assignment for at most `most` nodes.
    pub fn new(traces: &'t FaultTraces, most: u32) -> NamedTrace<'t> {
        NamedTrace { traces, nodes: BTreeMap::new(), most }
    }

    /// Returns the faults that the trace of a process lists; `None` if the process has no trace.
    pub fn node_trace(&mut self, process: &YamlNode, report: &mut DiagnosticReport) -> Option<Arc<[FleetFault]>> {
        let place = traces::file_of(process)?;
        let trace = self.traces.get(place.as_str()?)?;
        let rows = trace.of_kinds(process.at_path(&["trace", "kinds"]).map(YamlNode::items));
        traces::check_kinds((trace, process), &rows, place, report);
        let repaired = crate::read::boolean(process, "needsRepair") != Some(false);
        let mut all = Vec::new();
        for row in rows {
            let known = self.nodes.len() as u32;
            let node = *self.nodes.entry(&row.name).or_insert(known);
            let message = if row.of != traces::NAMED[0] {
                format!("this line names a {}, but a Fleet only has nodes", row.of)
            } else if node >= self.most {
                format!("the trace names at least {} nodes, but the Fleet has {}", node + 1, self.most)
            } else if row.lasts.is_some() && !repaired {
                "a duration is not allowed with needsRepair: false, because no node goes to repair".to_owned()
            } else {
                all.push(FleetFault { at: row.at, node, outage: row.lasts });
                continue;
            };
            let error = traces::error(&trace.source, row.line, message);
            report.found.push(error);
            break;
        }
        all.sort_by_key(|fault| fault.at);
        Some(all.into())
    }
}
