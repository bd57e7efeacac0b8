//! A random fault without text: time, target, effect and process.

use super::FaultModel;
use sim_api::spec::{FaultAction, FaultTime, NodeRef, ScriptedFault, SilentFaults, SilentTarget};
use sim_base::{CellId, Duration, NodeId};
use std::sync::Arc;

/// The cause of actions by spares, which belong to no process.
pub const SPARE: u32 = u32::MAX;
/// The cause of scripted faults.
pub const SCRIPT: u32 = u32::MAX - 1;

/// A fault, or an action that ends one.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct InjectedFault {
    /// Time since the start of the run.
    pub at: Duration,
    /// The target of the fault.
    pub target: FaultScope,
    /// The effect of the fault.
    pub operation: FaultOperation,
    /// Index of the scenario's fault process, `SPARE` or `SCRIPT`.
    pub cause: u32,
}

/// The target of a fault.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FaultScope {
    /// The object is a node.
    Node(NodeId),
    /// All nodes of the cell.
    Cell(CellId),
    /// Index of the pod among all pods that the JobSets create at submission.
    Pod(u32),
}

/// The effect of a fault: an action of the script.
#[derive(Copy, Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum FaultOperation {
    Crash,
    Partition,
    Return,
    New,
    Delete,
    Cordon,
    Uncordon,
    Drain,
    Exit(i32),
    Silent(SilentFaults),
}

impl InjectedFault {
    /// Returns true if both faults are one action on several cells.
    pub fn is_same_action(&self, other: &InjectedFault) -> bool {
        matches!((self.target, other.target), (FaultScope::Cell(_), FaultScope::Cell(_)))
            && (self.at, self.cause, self.operation) == (other.at, other.cause, other.operation)
    }
}

impl FaultModel {
    /// Expands cells into nodes; the faults of one action are sorted by node.
    pub fn expand_cells(&self, faults: &[InjectedFault]) -> Vec<InjectedFault> {
        let mut all = Vec::with_capacity(faults.len());
        for deed in faults.chunk_by(|a, b| a.is_same_action(b) && a.cause != SPARE) {
            let before = all.len();
            for fault in deed {
                let FaultScope::Cell(cell) = fault.target else {
                    all.push(*fault);
                    continue;
                };
                let on = |node: &NodeId| InjectedFault { target: FaultScope::Node(*node), ..*fault };
                all.extend(self.cells.nodes(cell).iter().map(on));
            }
            all[before..].sort_by_key(|fault| match fault.target {
                FaultScope::Node(node) => node,
                _ => NodeId::NONE,
            });
        }
        all
    }

    /// Converts the fault to an action of a script.
    pub fn to_scripted(&self, fault: &InjectedFault) -> ScriptedFault {
        self.to_scripted_at(FaultTime::At(fault.at), fault)
    }

    /// Converts the fault to an action of a script at a different time.
    pub(super) fn to_scripted_at(&self, at: FaultTime, fault: &InjectedFault) -> ScriptedFault {
        ScriptedFault {
            at,
            action: self.action(fault),
            random_cause: Some(Arc::clone(self.cause(fault.cause))),
            entry: None,
        }
    }

    fn action(&self, fault: &InjectedFault) -> FaultAction {
        match fault.target {
            FaultScope::Pod(pod) => {
                let pod = self.pods[pod as usize].clone();
                match fault.operation {
                    FaultOperation::Silent(what) => FaultAction::Silent { on: SilentTarget::Pod(pod), fault: what },
                    FaultOperation::Exit(exit_code) => FaultAction::ContainerExit { pod, exit_code },
                    other => unreachable!("of nodes alone: {other:?}"),
                }
            }
            FaultScope::Cell(cell) => unreachable!("a script names nodes: {cell:?}"),
            FaultScope::Node(node) => {
                let node = node_ref(&self.nodes[node.ix()]);
                match fault.operation {
                    FaultOperation::Crash => FaultAction::CrashNode(node),
                    FaultOperation::Partition => FaultAction::PartitionNode(node),
                    FaultOperation::Return => FaultAction::ReturnNode(node),
                    FaultOperation::New => FaultAction::NewNode(node),
                    FaultOperation::Delete => FaultAction::DeleteNode(node),
                    FaultOperation::Cordon => FaultAction::CordonNode(node),
                    FaultOperation::Uncordon => FaultAction::UncordonNode(node),
                    FaultOperation::Drain => FaultAction::DrainNode(node),
                    FaultOperation::Silent(what) => FaultAction::Silent { on: SilentTarget::Node(node), fault: what },
                    FaultOperation::Exit(_) => unreachable!("of pods alone"),
                }
            }
        }
    }
}

/// The target of a scripted fault, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptTarget {
    /// A node, possibly that of a pod at the time of the fault.
    Node(NodeRef),
    /// A pod, identified by its name without suffix.
    Pod(String),
}

/// The target and the effect of a scripted action; `None` if random faults have no such effect.
pub fn scripted_operation(action: &FaultAction) -> Option<(ScriptTarget, FaultOperation)> {
    let (node, operation) = match action {
        FaultAction::ContainerExit { pod, exit_code } => {
            return Some((ScriptTarget::Pod(pod.clone()), FaultOperation::Exit(*exit_code)));
        }
        FaultAction::Silent { on: SilentTarget::Pod(pod), fault } => {
            return Some((ScriptTarget::Pod(pod.clone()), FaultOperation::Silent(*fault)));
        }
        FaultAction::Silent { on: SilentTarget::Node(node), fault } => (node, FaultOperation::Silent(*fault)),
        FaultAction::CrashNode(node) => (node, FaultOperation::Crash),
        FaultAction::PartitionNode(node) => (node, FaultOperation::Partition),
        FaultAction::ReturnNode(node) => (node, FaultOperation::Return),
        FaultAction::NewNode(node) => (node, FaultOperation::New),
        FaultAction::DeleteNode(node) => (node, FaultOperation::Delete),
        FaultAction::CordonNode(node) => (node, FaultOperation::Cordon),
        FaultAction::UncordonNode(node) => (node, FaultOperation::Uncordon),
        FaultAction::DrainNode(node) => (node, FaultOperation::Drain),
        FaultAction::DeletePod { .. }
        | FaultAction::EvictPod { .. }
        | FaultAction::TaintNode(..)
        | FaultAction::SuspendJobSet(_)
        | FaultAction::ResumeJobSet(_)
        | FaultAction::DeleteJobSet(_)
        | FaultAction::StopManager(_)
        | FaultAction::FailImagePulls(_)
        | FaultAction::Request(_) => return None,
    };
    Some((ScriptTarget::Node(node.clone()), operation))
}

/// A reference to a node by its name.
pub fn node_ref(name: &str) -> NodeRef {
    NodeRef { name: Some(name.to_owned()), of_pod: None, alias: None }
}
