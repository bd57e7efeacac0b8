//! ResourceFlavor and Topology.

use crate::spec::{TaintSpec, TolerationSpec};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceFlavor {
    pub name: String,
    pub node_labels: BTreeMap<String, String>,
    pub node_taints: Vec<TaintSpec>,
    /// Tolerations that the pods of an admitted workload receive.
    pub tolerations: Vec<TolerationSpec>,
    pub topology: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KueueTopology {
    pub name: String,
    /// Node labels of the levels, largest domain first.
    pub levels: Vec<String>,
}
