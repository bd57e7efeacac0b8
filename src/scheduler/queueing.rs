//! Queueing hints: whether an event in the cluster may help a pod that plugins rejected (`EventsToRegister` of each
//! plugin). The queue itself belongs to the caller.

use crate::plugin::{Plugin, PluginSet};
use crate::plugins::{pod_topology_spread::constraints, taint_toleration::tolerates_node};
use crate::pod_terms::{PodTerm, SpreadConstraint};
use crate::{cluster::Cluster, node::NodeView, pod::PodView, profile::Profile, storage::ClaimKey};

/// An event that may requeue unschedulable pods.
#[derive(Copy, Clone, Debug)]
pub enum ClusterEvent<'a> {
    /// A pod was bound to a node.
    AssignedPodAdd(&'a PodView),
    /// A pod with a node was removed, or its phase became terminal.
    AssignedPodDelete(&'a PodView),
    NodeAdd(&'a NodeView),
    /// The node before and after the change.
    NodeUpdate(&'a NodeView, &'a NodeView),
    NodeDelete(&'a NodeView),
    /// The PersistentVolumeClaim with this namespace and name changed.
    ClaimChange(&'a ClaimKey),
    /// A PersistentVolume or StorageClass changed.
    StorageChange,
}

impl ClusterEvent<'_> {
    /// Returns whether the event requeues a pod that these plugins rejected. Without plugins the cause is not known.
    pub fn requeues(&self, cluster: &Cluster, profile: &Profile, rejecting: &PluginSet, pod: &PodView) -> bool {
        rejecting.is_empty() || rejecting.iter().any(|plugin| self.helps((cluster, profile), *plugin, pod))
    }

    fn helps(&self, (cluster, profile): (&Cluster, &Profile), plugin: Plugin, pod: &PodView) -> bool {
        match plugin {
            Plugin::NodeResourcesFit if matches!(self, ClusterEvent::AssignedPodDelete(_)) => true,
            Plugin::NodeResourcesFit => self.makes_true(|node| fits(pod, node)) || self.adds_resources(pod),
            Plugin::NodeUnschedulable => self.makes_true(|node| !node.is_unschedulable),
            Plugin::TaintToleration => self.makes_true(|node| tolerates_node(pod, node)),
            Plugin::NodeAffinity => self.makes_true(|node| {
                profile.added_affinity.as_ref().is_none_or(|added| added.allows(node)) && pod.node_affinity.allows(node)
            }),
            Plugin::NodeDeclaredFeatures => {
                self.makes_true(|node| pod.required_features.iter().all(|feature| node.features.contains(feature)))
            }
            Plugin::NodePorts => match self {
                ClusterEvent::AssignedPodDelete(other) => {
                    let frees = |port| pod.host_ports.iter().any(|own| own.conflicts_with(port));
                    other.host_ports.iter().any(frees)
                }
                event => matches!(event, ClusterEvent::NodeAdd(_)),
            },
            Plugin::VolumeRestrictions => match self {
                ClusterEvent::AssignedPodDelete(other) => {
                    pod.shared_claims(&cluster.storage.claims_of_one_pod(pod), other) > 0
                }
                ClusterEvent::ClaimChange(claim) => uses(pod, claim),
                event => matches!(event, ClusterEvent::NodeAdd(_)),
            },
            Plugin::VolumeBinding | Plugin::VolumeZone | Plugin::DynamicResources => match self {
                ClusterEvent::NodeUpdate(before, after) => before.labels != after.labels,
                ClusterEvent::ClaimChange(claim) => uses(pod, claim),
                event => matches!(event, ClusterEvent::NodeAdd(_) | ClusterEvent::StorageChange),
            },
            Plugin::PodTopologySpread => self.changes_spread(pod, &constraints(cluster, pod, profile)),
            Plugin::InterPodAffinity => self.changes_affinity(cluster, pod),
            // A plugin without hints is helped by every event.
            _ => true,
        }
    }

    /// Returns whether a property is true of the node now and was not before the event.
    fn makes_true(&self, property: impl Fn(&NodeView) -> bool) -> bool {
        match self {
            ClusterEvent::NodeAdd(node) => property(node),
            ClusterEvent::NodeUpdate(before, after) => property(after) && !property(before),
            _ => false,
        }
    }

    /// Returns whether the node has more of a resource that the pod requests, and enough of all.
    fn adds_resources(&self, pod: &PodView) -> bool {
        let ClusterEvent::NodeUpdate(before, after) = self else { return false };
        let mut requested = pod.requests.iter();
        let grows = |column| after.allocatable.get(column) > before.allocatable.get(column);
        fits(pod, after) && (after.max_pods > before.max_pods || requested.any(|(column, _)| grows(column)))
    }

    fn changes_spread(&self, pod: &PodView, constraints: &[SpreadConstraint]) -> bool {
        let mut required = constraints.iter().filter(|constraint| constraint.is_required);
        let has_keys = |node: &NodeView| {
            let mut required = constraints.iter().filter(|constraint| constraint.is_required);
            required.all(|constraint| node.labels.contains_key(&constraint.topology_key))
        };
        match self {
            ClusterEvent::AssignedPodAdd(other) | ClusterEvent::AssignedPodDelete(other) => {
                other.namespace == pod.namespace && required.any(|c| c.selector.matches(&other.labels))
            }
            ClusterEvent::NodeAdd(node) | ClusterEvent::NodeDelete(node) => has_keys(node),
            ClusterEvent::NodeUpdate(before, after) => {
                let differs = |key: &String| before.labels.get(key) != after.labels.get(key);
                has_keys(before) != has_keys(after)
                    || (has_keys(after)
                        && (before.taints != after.taints || required.any(|c| differs(&c.topology_key))))
            }
            ClusterEvent::ClaimChange(_) | ClusterEvent::StorageChange => false,
        }
    }

    fn changes_affinity(&self, cluster: &Cluster, pod: &PodView) -> bool {
        let (affinity, anti_affinity) = (&pod.affinity.required, &pod.anti_affinity.required);
        let selects_all = |terms: &[PodTerm], other: &PodView| {
            !terms.is_empty() && terms.iter().all(|term| cluster.selects(term, other))
        };
        match self {
            ClusterEvent::AssignedPodAdd(other) => selects_all(affinity, other),
            ClusterEvent::AssignedPodDelete(other) => {
                selects_all(anti_affinity, other) || selects_all(&other.anti_affinity.required, pod)
            }
            ClusterEvent::NodeAdd(node) => {
                !anti_affinity.is_empty() || affinity.iter().any(|term| node.labels.contains_key(&term.topology_key))
            }
            ClusterEvent::NodeUpdate(before, after) => {
                let differs =
                    |term: &&PodTerm| before.labels.get(&term.topology_key) != after.labels.get(&term.topology_key);
                affinity.iter().filter(differs).any(|term| after.labels.contains_key(&term.topology_key))
                    || anti_affinity.iter().filter(differs).any(|term| before.labels.contains_key(&term.topology_key))
            }
            ClusterEvent::NodeDelete(_) | ClusterEvent::ClaimChange(_) | ClusterEvent::StorageChange => false,
        }
    }
}

/// Returns whether the pod uses the PersistentVolumeClaim.
fn uses(pod: &PodView, (namespace, name): &ClaimKey) -> bool {
    pod.namespace == *namespace && pod.claims.contains(name)
}

/// Returns whether the empty node has enough resources for the pod.
fn fits(pod: &PodView, node: &NodeView) -> bool {
    node.max_pods > 0 && pod.requests.iter().all(|(column, amount)| amount <= node.allocatable.get(column))
}

#[cfg(test)]
#[path = "../../tests/inside/scheduler/queueing.rs"]
mod tests;
