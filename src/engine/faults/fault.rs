//! A random fault without text: time, target, effect and process.

use super::Faults;
use sim_api::spec::{FaultAction, FaultTime, NodeRef, ScriptedFault, Silent, SilentOn};
use sim_base::{CellId, Duration, NodeId};
use std::sync::Arc;

/// The cause of actions by spares, which belong to no process.
pub const SPARE: u32 = u32::MAX;

/// A fault, or an action that ends one.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Fault {
    /// Time since the start of the run.
    pub at: Duration,
    /// The target of the fault.
    pub on: On,
    /// The effect of the fault.
    pub does: Does,
    /// Index of the scenario's fault process, or `SPARE`.
    pub cause: u32,
}

/// The target of a fault.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// A node.
    Node(NodeId),
    /// All nodes of the cell.
    Cell(CellId),
    /// Index of the pod among all pods that the JobSets create at submission.
    Pod(u32),
}

/// The effect of a fault: an action of the script.
#[derive(Copy, Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Does {
    Crash,
    Partition,
    Return,
    New,
    Delete,
    Cordon,
    Uncordon,
    Drain,
    Exit(i32),
    Silent(Silent),
}

impl Fault {
    /// Returns true if both faults are one action on several cells.
    pub fn is_with(&self, other: &Fault) -> bool {
        matches!((self.on, other.on), (On::Cell(_), On::Cell(_)))
            && (self.at, self.cause, self.does) == (other.at, other.cause, other.does)
    }
}

impl Faults {
    /// Expands cells into nodes; the faults of one action are sorted by node.
    pub fn node_by_node(&self, faults: &[Fault]) -> Vec<Fault> {
        let mut all = Vec::with_capacity(faults.len());
        for deed in faults.chunk_by(|a, b| a.is_with(b) && a.cause != SPARE) {
            let before = all.len();
            for fault in deed {
                let On::Cell(cell) = fault.on else {
                    all.push(*fault);
                    continue;
                };
                let on = |node: &NodeId| Fault {
                    on: On::Node(*node),
                    ..*fault
                };
                all.extend(self.cells.nodes(cell).iter().map(on));
            }
            all[before..].sort_by_key(|fault| match fault.on {
                On::Node(node) => node,
                _ => NodeId::NONE,
            });
        }
        all
    }

    /// Converts the fault to an action of a script.
    pub fn scripted(&self, fault: &Fault) -> ScriptedFault {
        self.scripted_at(FaultTime::At(fault.at), fault)
    }

    /// Converts the fault to an action of a script at a different time.
    pub(super) fn scripted_at(&self, at: FaultTime, fault: &Fault) -> ScriptedFault {
        ScriptedFault {
            at,
            action: self.action(fault),
            drawn_as: Some(Arc::clone(self.cause(fault.cause))),
        }
    }

    fn action(&self, fault: &Fault) -> FaultAction {
        match fault.on {
            On::Pod(pod) => {
                let pod = self.pods[pod as usize].clone();
                match fault.does {
                    Does::Silent(what) => FaultAction::Silent {
                        on: SilentOn::Pod(pod),
                        what,
                    },
                    Does::Exit(exit_code) => FaultAction::ContainerExit { pod, exit_code },
                    other => unreachable!("of nodes alone: {other:?}"),
                }
            }
            On::Cell(cell) => unreachable!("a script names nodes: {cell:?}"),
            On::Node(node) => {
                let node = reference(&self.nodes[node.ix()]);
                match fault.does {
                    Does::Crash => FaultAction::CrashNode(node),
                    Does::Partition => FaultAction::PartitionNode(node),
                    Does::Return => FaultAction::ReturnNode(node),
                    Does::New => FaultAction::NewNode(node),
                    Does::Delete => FaultAction::DeleteNode(node),
                    Does::Cordon => FaultAction::CordonNode(node),
                    Does::Uncordon => FaultAction::UncordonNode(node),
                    Does::Drain => FaultAction::DrainNode(node),
                    Does::Silent(what) => FaultAction::Silent {
                        on: SilentOn::Node(node),
                        what,
                    },
                    Does::Exit(_) => unreachable!("of pods alone"),
                }
            }
        }
    }
}

/// A reference to a node by its name.
pub fn reference(name: &str) -> NodeRef {
    NodeRef {
        name: Some(name.to_owned()),
        of_pod: None,
        alias: None,
    }
}
