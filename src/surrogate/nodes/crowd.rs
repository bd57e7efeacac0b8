//! The ordinary pods of a Job: bound, running, and each alone on its node. A set of nodes describes them, so that a
//! restart moves all of them at once. A pod that a fault concerns leaves the crowd and gets a state of its own.

use super::places::PlacedCrowd;
use sim_base::{NodeId, SimTime};
use sim_policy::placement::{NodeSearch, NodeSet};

#[derive(Clone)]
pub struct Crowd {
    pub nodes: NodeSet,
    /// Node of the leader, which has its own choice; `NodeId::NONE` without exclusive placement.
    pub leader: NodeId,
    /// The nodes of all others at their placement: the pods are numbered in this order.
    placed: PlacedCrowd,
    pub bound_at: SimTime,
}

impl Crowd {
    /// A crowd without pods.
    pub fn empty() -> Crowd {
        Crowd {
            nodes: NodeSet::default(),
            leader: NodeId::NONE,
            placed: PlacedCrowd::default(),
            bound_at: SimTime::ZERO,
        }
    }

    /// Places all pods.
    pub fn place(&mut self, now: SimTime, leader: NodeId, placed: PlacedCrowd) {
        self.nodes.clone_from(&placed.nodes);
        if leader.is_some() {
            self.nodes.set(leader, true);
        }
        (self.leader, self.placed, self.bound_at) = (leader, placed, now);
    }

    fn leaders(&self) -> u32 {
        u32::from(self.leader.is_some())
    }

    /// Returns the number, in the Job, of the pod on a node.
    pub fn number_of(&self, node: NodeId) -> u32 {
        let all = &self.placed.nodes;
        if node == self.leader {
            return 0;
        }
        let before = all.rank(NodeId(self.placed.start));
        let rank = all.rank(node);
        self.leaders() + if rank >= before { rank - before } else { rank + all.len() - before }
    }

    /// Returns the node of the pod with this number, if it is in the crowd.
    pub fn node_of(&self, number: u32, nodes: usize) -> Option<NodeId> {
        let node = match number.checked_sub(self.leaders()) {
            None => self.leader,
            Some(nth) => {
                let words = self.placed.nodes.range();
                let search = NodeSearch { count: nodes as u32, start: self.placed.start, wanted: 1, words };
                NodeId(search.nth(nth, &self.placed.nodes)?)
            }
        };
        self.nodes.has(node).then_some(node)
    }
}
