//! Fault traces of Fleets. Fleet nodes have no names, so each name in a trace is assigned to one of them.

use crate::text::diagnostic::Report;
use crate::text::node::Node;
use crate::traces;
use crate::traces::Traces;
use sim_api::spec::FleetFault;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fault traces, with the node number assigned to each name.
pub struct Named<'t> {
    traces: &'t Traces,
    nodes: BTreeMap<&'t str, u32>,
    most: u32,
}

impl<'t> Named<'t> {
    /// Creates an empty assignment for at most `most` nodes.
    pub fn new(traces: &'t Traces, most: u32) -> Named<'t> {
        Named {
            traces,
            nodes: BTreeMap::new(),
            most,
        }
    }

    /// Returns the faults that the trace of a process lists; `None` if the process has no trace.
    pub fn of(&mut self, process: &Node, report: &mut Report) -> Option<Arc<[FleetFault]>> {
        let place = traces::file_of(process)?;
        let trace = self.traces.get(place.as_str()?)?;
        let rows = trace.of_kinds(process.at_path(&["trace", "kinds"]).map(Node::items));
        if rows.is_empty() {
            let message = format!("the trace {:?} has no such fault", trace.source.file);
            report.error(place.at, message);
        }
        let repaired = crate::read::boolean(process, "needsRepair") != Some(false);
        let mut all = Vec::new();
        for row in rows {
            let known = self.nodes.len() as u32;
            let node = *self.nodes.entry(&row.name).or_insert(known);
            let message = if row.of != traces::NAMED[0] {
                format!("a {} fails here; a Fleet has nodes alone", row.of)
            } else if node >= self.most {
                format!(
                    "{} nodes have names by here; the Fleet has {}",
                    node + 1,
                    self.most
                )
            } else if row.lasts.is_some() && !repaired {
                "a duration; with needsRepair: false nothing is away".to_owned()
            } else {
                all.push(FleetFault {
                    at: row.at,
                    node,
                    lasts: row.lasts,
                });
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
