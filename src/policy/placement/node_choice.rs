//! Nodes that a pod may run on according to its nodeSelector and required node affinity, evaluated like
//! kube-scheduler's NodeAffinity plugin.

use crate::topology::ClusterBuilder;
use sim_api::spec::{NodeTerm, PodSpec};
use sim_base::NodeId;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeChoice {
    selector: Vec<(String, String)>,
    /// At least one of the terms has to match.
    affinity: Option<Vec<NodeTerm>>,
}

impl NodeChoice {
    pub fn from_spec(spec: &PodSpec) -> NodeChoice {
        NodeChoice { selector: spec.node_selector.clone().into_iter().collect(), affinity: spec.node_affinity.clone() }
    }

    /// The Filter stage.
    pub fn matches(&self, cluster: &ClusterBuilder, node: NodeId) -> bool {
        let label = |key: &str| cluster.label(node, key);
        let mut selector = self.selector.iter();
        let name = &cluster.names[node.ix()];
        selector.all(|(key, value)| label(key).as_deref() == Some(value))
            && self.affinity.as_ref().is_none_or(|terms| terms.iter().any(|t| t.matches(name, label)))
    }

    /// The PreFilter stage: the nodes to examine, if each term names some.
    pub fn names(&self) -> Option<BTreeSet<&str>> {
        let terms = self.affinity.as_ref()?;
        let sets: Option<Vec<BTreeSet<&str>>> = terms.iter().map(NodeTerm::node_names).collect();
        let sets = sets.filter(|sets| !sets.is_empty())?;
        Some(sets.into_iter().flatten().collect())
    }

    /// Returns true if no node can match both, whatever its labels.
    pub fn is_disjoint_from(&self, other: &NodeChoice) -> bool {
        let disjoint =
            |a: Option<BTreeSet<&str>>, b: Option<BTreeSet<&str>>| a.zip(b).is_some_and(|(a, b)| a.is_disjoint(&b));
        let mut keys = self.keys().into_iter();
        keys.any(|key| disjoint(self.values_of(key), other.values_of(key))) || disjoint(self.names(), other.names())
    }

    fn keys(&self) -> BTreeSet<&str> {
        let selector = self.selector.iter().map(|(key, _)| key.as_str());
        let terms = self.affinity.iter().flatten();
        let request = terms.flat_map(|t| t.expressions.iter().map(|r| r.key.as_str()));
        selector.chain(request).collect()
    }

    /// The allowed values of a label, if they are enumerable.
    fn values_of(&self, key: &str) -> Option<BTreeSet<&str>> {
        if let Some((_, value)) = self.selector.iter().find(|(k, _)| k == key) {
            return Some(BTreeSet::from([value.as_str()]));
        }
        let terms = self.affinity.iter().flatten();
        let sets: Option<Vec<BTreeSet<&str>>> = terms.map(|t| t.required_values(key)).collect();
        let sets = sets.filter(|sets| !sets.is_empty())?;
        Some(sets.into_iter().flatten().collect())
    }
}
