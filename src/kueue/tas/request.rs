//! What a pod set asks of the topology.

use super::assignment::TopologyAssignment;
use sim_api::spec::{NodeTerm, PodSpec, ResourceAmounts, TolerationSpec};
use std::collections::BTreeMap;

/// `podSets[].topologyRequest` of a Workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyRequest {
    pub level: Option<LevelRequest>,
    /// Slices, the largest first.
    pub slices: Vec<SliceConstraint>,
    /// Name of the group of a leader and its workers, which get their domains together.
    pub group: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelRequest {
    /// All pods in one domain of the level.
    Required(String),
    /// All pods in one domain of the level if possible, else in one of a higher level, else in several.
    Preferred(String),
    Unconstrained,
}

/// Groups of `size` consecutive pods that must share a domain of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceConstraint {
    pub topology: String,
    pub size: u32,
}

/// A pod set for which a topology assignment is wanted.
#[derive(Clone, Debug)]
pub struct PodSetRequest<'a> {
    pub name: &'a str,
    /// The ResourceFlavor with a topology that the pod set was assigned.
    pub flavor: &'a str,
    pub count: u32,
    /// Requests of one pod in thousandths, from its template and not from the quota.
    pub requests: &'a ResourceAmounts,
    pub topology: Option<&'a TopologyRequest>,
    /// Whether the pod set requests nothing and TAS applies because all flavors of its ClusterQueue have a topology.
    pub is_implied: bool,
    pub constraints: NodeConstraints<'a>,
    /// The assignment in which a node is to be replaced.
    pub existing: Option<&'a TopologyAssignment>,
}

/// Constraints on nodes, of the pod template merged with the `podSetUpdates` of admission checks. They apply only if
/// the lowest level is the hostname.
#[derive(Copy, Clone, Debug)]
pub struct NodeConstraints<'a> {
    pub node_selector: &'a BTreeMap<String, String>,
    /// Required terms, at least one of which has to match.
    pub node_affinity: Option<&'a [NodeTerm]>,
    pub tolerations: &'a [TolerationSpec],
}

impl<'a> NodeConstraints<'a> {
    pub fn of_pod(pod: &'a PodSpec) -> NodeConstraints<'a> {
        NodeConstraints {
            node_selector: &pod.node_selector,
            node_affinity: pod.node_affinity.as_deref(),
            tolerations: &pod.tolerations,
        }
    }
}

impl TopologyRequest {
    /// Returns whether only slices are requested: the pod set may then be in any domains.
    fn is_slice_only(&self) -> bool {
        !matches!(self.level, Some(LevelRequest::Required(_) | LevelRequest::Preferred(_))) && !self.slices.is_empty()
    }

    /// Returns whether the request itself asks for TAS. A group name alone does not.
    pub fn is_explicit(&self) -> bool {
        self.level.is_some() || !self.slices.is_empty()
    }
}

impl PodSetRequest<'_> {
    /// Returns whether TAS applies to a pod set, given whether all flavors of its ClusterQueue have a topology.
    pub fn is_tas_requested(topology: Option<&TopologyRequest>, is_tas_only_queue: bool) -> bool {
        is_tas_only_queue || topology.is_some_and(TopologyRequest::is_explicit)
    }

    pub(super) fn slices(&self) -> &[SliceConstraint] {
        self.topology.map_or(&[], |topology| &topology.slices)
    }

    pub(super) fn is_required(&self) -> bool {
        self.topology.is_some_and(|topology| matches!(topology.level, Some(LevelRequest::Required(_))))
    }

    pub(super) fn is_unconstrained(&self) -> bool {
        let is_free = |t: &TopologyRequest| t.level == Some(LevelRequest::Unconstrained) || t.is_slice_only();
        self.is_implied || self.topology.is_some_and(is_free)
    }

    /// Returns the requested level among these levels, or `None` if the request names none.
    pub(super) fn level_key<'b>(&'b self, levels: &'b [String]) -> Option<&'b str> {
        let explicit = self.topology.and_then(|topology| level_key(topology, levels));
        explicit.or_else(|| levels.last().filter(|_| self.is_implied).map(String::as_str))
    }
}

/// Returns the level that a request names, or the highest one for slices and the lowest one without a constraint.
pub(super) fn level_key<'a>(topology: &'a TopologyRequest, levels: &'a [String]) -> Option<&'a str> {
    match &topology.level {
        Some(LevelRequest::Required(key) | LevelRequest::Preferred(key)) => Some(key),
        _ if topology.is_slice_only() => levels.first().map(String::as_str),
        Some(LevelRequest::Unconstrained) => levels.last().map(String::as_str),
        None => None,
    }
}
