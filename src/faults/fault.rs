//! One drawn fault, without any text: where, what, and which process it is of.

use super::Faults;
use super::outages::reference;
use crate::base::{Duration, NodeId};
use crate::spec::{FaultAction, FaultTime, ScriptedFault, Silent, SilentOn};
use std::sync::Arc;

/// The cause of what spares do: no process.
pub const SPARE: u32 = u32::MAX;

/// A fault, or what ends one.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Fault {
    /// Since the run began.
    pub at: Duration,
    /// What it hits.
    pub on: On,
    /// What it does.
    pub does: Does,
    /// Which of the scenario's processes it is of; `SPARE`: of none.
    pub cause: u32,
}

/// What a fault hits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// A node.
    Node(NodeId),
    /// A pod: which of all that the JobSets want when they are submitted.
    Pod(u32),
}

/// What happens to it: an action of the script.
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

impl Faults {
    /// The fault as a line of a script.
    pub fn scripted(&self, fault: &Fault) -> ScriptedFault {
        self.scripted_at(FaultTime::At(fault.at), fault)
    }

    /// The same at another time than its own.
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
