//! The node table: what the kubelet does, what the API server shows, what the scheduler's books hold.

use crate::base::*;
use crate::spec::Taint;

#[derive(Default)]
pub struct Nodes {
    /// Thousandths still free in the scheduler's books, node-major.
    pub free: Vec<i64>,
    /// Taints beyond the pool's own; empty for nearly all nodes.
    pub taints: Vec<Vec<Taint>>,
    pub state: Vec<NodeState>,
    /// Pods bound to the node, ended ones too while the object exists; only for nodes that had trouble is it walked.
    pub pods: Vec<Vec<PodId>>,
    pub accelerators_free: Vec<u32>,
    /// Nodes that are not as new: some taint, no contact, or gone.
    pub troubled: u32,
}

#[derive(Copy, Clone, Debug)]
pub struct NodeState {
    /// The Node object exists.
    pub exists: bool,
    pub contact: bool,
    /// Containers run on after a partition, die in a crash.
    pub crashed: bool,
    /// What the node lifecycle controller has written.
    pub unknown: bool,
    /// When contact was lost.
    pub silent_since: Time,
    /// In the queue for the NoExecute taint.
    pub taint_queued: bool,
    pub cordoned: bool,
    /// When pod garbage collection found the Node object missing.
    pub missed_since: Time,
}

impl Default for NodeState {
    fn default() -> NodeState {
        NodeState {
            exists: true,
            contact: true,
            crashed: false,
            unknown: false,
            silent_since: Time::NEVER,
            taint_queued: false,
            cordoned: false,
            missed_since: Time::NEVER,
        }
    }
}

impl Nodes {
    pub fn reset(&mut self, allocatable: &[i64], accelerators: &[u32]) {
        self.free.clear();
        self.free.extend_from_slice(allocatable);
        self.accelerators_free.clear();
        self.accelerators_free.extend_from_slice(accelerators);
        let n = accelerators.len();
        self.state.clear();
        self.state.resize(n, NodeState::default());
        self.taints.iter_mut().for_each(Vec::clear);
        self.taints.resize_with(n, Vec::new);
        self.pods.iter_mut().for_each(Vec::clear);
        self.pods.resize_with(n, Vec::new);
        self.troubled = 0;
    }

    pub fn has_taint(&self, node: NodeId, key: &str, effect: crate::spec::TaintEffect) -> bool {
        self.taints[node.ix()]
            .iter()
            .any(|t| t.key == key && t.effect == effect)
    }
}
