//! Which workloads lose a node, and what follows (`pkg/controller/tas/node_controller.go`).
//!
//! The controller examines a node when its Ready condition or its taints change, when it is created or deleted, and
//! 100 ms after a pod with a topology annotation on it terminates or waits for it.

use super::request::NodeConstraints;
use super::tree::TasNode;
use sim_api::spec::TaintEffect;

/// Condition of a pod that the controller terminates because it waits for a node that is lost.
pub const TERMINATED_CONDITION: &str = "TerminatedByKueue";
pub const TERMINATED_REASON: &str = "UnschedulableOnAssignedNode";
pub const TERMINATED_MESSAGE: &str = "Pod terminated by Kueue NodeController due to node taint";
/// Reason of the Event on such a pod.
pub const TERMINATED_EVENT: &str = "PodTerminatedByKueue";

/// What the controller does about a workload and a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFailureResponse {
    pub change: UnhealthyNodeChange,
    /// Whether pending pods without gate whose node selector names the node become Failed.
    pub fails_pending_pods: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UnhealthyNodeChange {
    #[default]
    None,
    /// The node is added to `status.unhealthyNodes`. The scheduler then replaces it.
    Add,
    /// The node is removed from `status.unhealthyNodes`.
    Remove,
    /// The workload is evicted with the reason NodeFailures, because another node is already unhealthy.
    Evict { message: String },
}

/// A workload that is neither finished nor evicted, as the controller sees it for one node.
#[derive(Clone, Debug)]
pub struct WorkloadOnNode<'a> {
    /// Whether the topology assignment of a pod set contains the node.
    pub is_assigned: bool,
    /// Constraints of the pod sets on the node, with the tolerations of their flavors.
    pub pod_sets: &'a [NodeConstraints<'a>],
    /// Whether a pod on the node is neither terminating nor terminated.
    pub has_running_pod: bool,
    pub unhealthy_nodes: &'a [String],
}

/// Decides about a workload that is assigned to a node or has pods on it. `state` is `None` if the node does not exist
/// or has no Ready condition.
pub fn respond(name: &str, state: Option<&TasNode>, workload: &WorkloadOnNode<'_>) -> NodeFailureResponse {
    let Some(node) = state else {
        let change = if workload.is_assigned { workload.change(name, true) } else { UnhealthyNodeChange::None };
        return NodeFailureResponse { change, fails_pending_pods: false };
    };
    let is_suspect = !workload.is_assigned || !node.is_ready || has_intolerable_taint(node, workload);
    let is_lost = workload.is_assigned && is_suspect && !workload.has_running_pod;
    let change = workload.change(name, is_lost);
    let is_evicted = matches!(change, UnhealthyNodeChange::Evict { .. });
    NodeFailureResponse { change, fails_pending_pods: is_suspect && !is_evicted }
}

/// Returns whether a taint is not tolerated by all pod sets for an unlimited time.
fn has_intolerable_taint(node: &TasNode, workload: &WorkloadOnNode<'_>) -> bool {
    let mut hard = node.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
    hard.any(|taint| {
        let mut pod_sets = workload.pod_sets.iter();
        let is_tolerated = |pod_set: &NodeConstraints<'_>| {
            let mut permanent = pod_set.tolerations.iter().filter(|t| t.toleration_seconds.is_none());
            permanent.any(|toleration| toleration.tolerates(taint))
        };
        !pod_sets.all(is_tolerated)
    })
}

impl WorkloadOnNode<'_> {
    fn change(&self, node: &str, is_lost: bool) -> UnhealthyNodeChange {
        let is_known = self.unhealthy_nodes.iter().any(|known| known == node);
        match (is_lost, is_known) {
            (true, false) if !self.unhealthy_nodes.is_empty() => {
                let nodes = [self.unhealthy_nodes, &[node.to_owned()]].concat().join(", ");
                let message = format!(
                    "Workload eviction triggered due to multiple TAS assigned node failures, including: {nodes}"
                );
                UnhealthyNodeChange::Evict { message }
            }
            (true, false) => UnhealthyNodeChange::Add,
            (false, true) => UnhealthyNodeChange::Remove,
            (true, true) | (false, false) => UnhealthyNodeChange::None,
        }
    }
}
