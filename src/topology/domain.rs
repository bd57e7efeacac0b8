//! A topology key's domains: which nodes share which value.

use super::build::Cluster;
use crate::base::*;

#[derive(Clone, Debug, Default)]
pub struct Domains {
    pub key: String,
    pub values: Vec<String>,
    /// Per node; `DomainId::NONE` where the label is missing.
    pub of: Vec<DomainId>,
    /// Nodes of each domain, ascending.
    pub nodes: Vec<Vec<NodeId>>,
}

impl Domains {
    pub fn build(cluster: &Cluster, key: &str) -> Domains {
        let mut d = Domains {
            key: key.to_owned(),
            ..Domains::default()
        };
        let mut index = std::collections::BTreeMap::new();
        for n in 0..cluster.len() {
            let node = NodeId(n as u32);
            let Some(value) = cluster.label(node, key) else {
                d.of.push(DomainId::NONE);
                continue;
            };
            let id = *index.entry(value.clone()).or_insert_with(|| {
                d.values.push(value);
                d.nodes.push(Vec::new());
                DomainId(d.values.len() as u32 - 1)
            });
            d.of.push(id);
            d.nodes[id.ix()].push(node);
        }
        d
    }
}
