//! Topology assignments: how many pods of a pod set each domain gets.

/// The domains of a pod set, ordered by the values of all levels. If the lowest level is the hostname, only hostnames
/// are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyAssignment {
    /// Node labels whose values identify a domain.
    pub levels: Vec<String>,
    pub domains: Vec<DomainAssignment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainAssignment {
    /// One value per level.
    pub values: Vec<String>,
    pub count: u32,
}

impl TopologyAssignment {
    /// Returns whether the lowest value of a domain is this node.
    pub fn contains_node(&self, node: &str) -> bool {
        self.domains.iter().any(|domain| domain.is_on_node(node))
    }

    pub fn pod_count(&self) -> u32 {
        self.domains.iter().map(|domain| domain.count).sum()
    }
}

impl DomainAssignment {
    pub fn is_on_node(&self, node: &str) -> bool {
        self.values.last().is_some_and(|value| value == node)
    }

    /// Returns the identifier of the domain within its level.
    pub(super) fn id(&self) -> String {
        self.values.join(",")
    }
}
