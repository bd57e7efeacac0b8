//! Groups of nodes: islands, the groups of network levels, and the domains of labels.

use sim_api::spec::keys::{HOSTNAME, ZONE};
use sim_api::spec::{JobSet, NodePool, TopologySpec};
use sim_base::{DomainId, NodeId};
use sim_policy::topology::{ClusterBuilder, TopologyDomains};
use std::collections::BTreeSet;

/// One way to divide the nodes of a cluster into groups.
#[derive(Clone, Debug)]
pub struct NodeGroups {
    /// `node`, `island`, the name of a network level, or a label.
    pub name: String,
    /// Label whose values are the groups; empty if there is none.
    pub key: String,
    /// Name of each group.
    pub names: Vec<String>,
    /// Nodes of each group, ascending.
    pub nodes: Vec<Vec<NodeId>>,
    /// Group of each node; `DomainId::NONE` if it has none.
    pub of: Vec<DomainId>,
}

impl NodeGroups {
    fn single_nodes(cluster: &ClusterBuilder) -> NodeGroups {
        let ids = 0..cluster.len() as u32;
        NodeGroups {
            name: "node".to_owned(),
            key: String::new(),
            names: cluster.names.clone(),
            nodes: ids.clone().map(|node| vec![NodeId(node)]).collect(),
            of: ids.map(DomainId).collect(),
        }
    }

    /// Returns the islands.
    pub fn islands(cluster: &ClusterBuilder) -> NodeGroups {
        let mut nodes = vec![Vec::new(); cluster.island_kinds.len()];
        for (node, island) in cluster.island.iter().enumerate().filter(|(_, island)| island.is_some()) {
            nodes[island.ix()].push(NodeId(node as u32));
        }
        NodeGroups {
            name: "island".to_owned(),
            key: String::new(),
            names: (0..nodes.len()).map(|island| format!("island {island}")).collect(),
            of: cluster.island.iter().map(|island| DomainId(island.0)).collect(),
            nodes,
        }
    }

    fn of_label(name: &str, key: &str, cluster: &ClusterBuilder) -> NodeGroups {
        let TopologyDomains { values, of, nodes, .. } = TopologyDomains::build(cluster, key);
        NodeGroups { name: name.to_owned(), key: key.to_owned(), names: values, nodes, of }
    }

    /// Returns the islands, the network levels, and the domains of exclusive placement.
    pub fn of_placement<'j>(
        topology: &TopologySpec, cluster: &ClusterBuilder, jobsets: impl Iterator<Item = &'j JobSet>,
    ) -> Vec<NodeGroups> {
        let mut labels = level_labels(topology);
        for jobset in jobsets {
            let keys = jobset.spec.replicated_jobs.iter().filter_map(|rj| jobset.webhook_key(rj));
            labels.extend(keys.map(|key| (key.to_owned(), key.to_owned())));
        }
        with_labels(vec![NodeGroups::islands(cluster)], labels, cluster)
    }

    /// Returns the failure domains: nodes, islands, and the network levels and labels with several nodes per group, the
    /// smallest groups first. Labels that are constant within a pool describe its machines and define no domain.
    pub fn failure_domains(topology: &TopologySpec, cluster: &ClusterBuilder) -> Vec<NodeGroups> {
        let mut labels = level_labels(topology);
        let keys: BTreeSet<&String> = topology.pools.iter().flat_map(domain_labels).collect();
        labels.extend(keys.into_iter().map(|key| (key.clone(), key.clone())));
        let first = vec![NodeGroups::single_nodes(cluster), NodeGroups::islands(cluster)];
        let mut all = with_labels(first, labels, cluster);
        let nodes = cluster.len();
        all.retain(|groups| groups.name == "node" || (1..nodes).contains(&groups.nodes.len()));
        all[1..].sort_by_key(|groups| usize::MAX - groups.nodes.len());
        all
    }
}

fn level_labels(topology: &TopologySpec) -> Vec<(String, String)> {
    topology.dcn_levels.iter().map(|level| (level.name.clone(), level.label.clone())).collect()
}

/// Returns the labels of a pool whose values may differ between its nodes, and its zone.
fn domain_labels(pool: &NodePool) -> impl Iterator<Item = &String> {
    let numbered = pool.labels.iter().filter(|(key, value)| value.contains('{') || *key == ZONE);
    let listed = pool.nodes.iter().flat_map(|node| node.labels.keys());
    numbered.map(|(key, _)| key).chain(listed).filter(|key| *key != HOSTNAME)
}

/// Adds the groups of labels. A label that divides the nodes like earlier groups becomes their key.
fn with_labels(mut all: Vec<NodeGroups>, labels: Vec<(String, String)>, cluster: &ClusterBuilder) -> Vec<NodeGroups> {
    for (name, key) in labels {
        let groups = NodeGroups::of_label(&name, &key, cluster);
        if groups.nodes.is_empty() || all.iter().any(|known| known.key == key) {
            continue;
        }
        match all.iter_mut().find(|known| known.nodes == groups.nodes) {
            Some(known) if known.key.is_empty() => (known.key, known.names) = (groups.key, groups.names),
            Some(_) => {}
            None => all.push(groups),
        }
    }
    all
}
