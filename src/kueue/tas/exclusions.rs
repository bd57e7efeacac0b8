//! Why nodes were excluded from an assignment.

use std::collections::BTreeMap;

/// Number of nodes by reason of their exclusion.
#[derive(Clone, Debug, Default)]
pub struct ExclusionStats<'a> {
    pub total_nodes: usize,
    pub node_selector: usize,
    pub affinity: usize,
    /// Nodes outside the domain in which a replacement has to be.
    pub topology_domain: usize,
    pub taints: BTreeMap<String, usize>,
    pub resources: BTreeMap<&'a str, usize>,
}

impl ExclusionStats<'_> {
    /// Returns the end of a message, which is empty if no node was excluded.
    pub fn suffix(&self) -> String {
        let counts = [
            ("nodeSelector", self.node_selector),
            ("affinity", self.affinity),
            ("topologyDomain", self.topology_domain),
        ];
        let counts = counts.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name}: {count}"));
        let taints = self.taints.iter().map(|(taint, count)| format!("taint {taint:?}: {count}"));
        let resources = self.resources.iter().map(|(name, count)| format!("resource {name:?}: {count}"));
        let mut reasons: Vec<String> = counts.chain(taints).chain(resources).collect();
        if reasons.is_empty() {
            return String::new();
        }
        reasons.sort();
        format!(". Total nodes: {}; excluded: {}", self.total_nodes, reasons.join(", "))
    }
}
