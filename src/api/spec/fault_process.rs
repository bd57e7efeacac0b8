//! Specification of random faults of a cluster: renewal processes, one per node, domain or pod.

use super::fleet::{DiagnosisSpec, ExposureSpec, RepairSpec, RetirementSpec};
use super::node_ref::NodeRef;
use sim_base::Duration;
use sim_base::random::Distribution;
use std::sync::Arc;

/// A random fault process. Each entity selected by `on` has an independent instance of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomFaults {
    /// Name of the faults in reports. Together with the entity's name it also names the random-number stream.
    pub cause: String,
    /// Entities that the faults affect.
    pub on: FaultsOn,
    /// Node label: a fault also affects all nodes that have the same value of this label as the failed node.
    pub takes_along: Option<String>,
    pub arrivals: ArrivalProcess,
    /// Periods in which an entity ages: always except during repair, or only while pods use it.
    pub exposure: ExposureSpec,
    /// Time from a fault to the end of its repair. `None` means that the entity is never repaired.
    pub repair_time: Option<Distribution>,
    pub action: RandomAction,
    /// Whether a repaired node is registered as a new Node object of the same name.
    pub as_new: bool,
    /// Start of the process, as time since the start of the run. `until` is its end.
    pub from: Duration,
    pub until: Option<Duration>,
    /// For `Drain` and `Reclaim`: time between the notice and the fault.
    pub notice: Duration,
    /// For `Reclaim`: time after the notice during which the processes keep running.
    pub grace: Duration,
    /// Probability that a lost node returns at all.
    pub comes_back: f64,
    /// Entities that fail more often than the others.
    pub lemons: Option<FaultLemons>,
    /// Time after the fault at which the Node object is deleted, unless the node has returned by then.
    pub deleted_after: Option<Duration>,
}

/// Repair of lost nodes whose fault process does not specify a repair time.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRepair {
    /// Time from the fault to the start of the diagnosis.
    pub detected_after: Distribution,
    /// Selection of the node that is sent to repair.
    pub diagnosis: DiagnosisSpec,
    /// Stages and capacity of the repair.
    pub repair: RepairSpec,
    /// Rule for nodes that are not used again.
    pub retirement: RetirementSpec,
}

/// Spare nodes that replace nodes lost to random faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpares {
    /// Label key of the spare nodes; `value` is its value at the start.
    pub key: String,
    pub value: String,
    /// Node label whose nodes of equal value replace others as one unit. `None` means that each node is a unit.
    pub unit: Option<String>,
    /// Time from the loss to the availability of the replacement.
    pub take_over: Duration,
    /// Whether the replacement becomes a spare again when the lost node returns. Otherwise the returned node becomes
    /// the spare.
    pub hand_back: bool,
}

/// Properties of the entities that fail more often than the others ("lemons").
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct FaultLemons {
    /// Fraction of all entities that are lemons.
    pub share: f64,
    /// Factor by which the fault rate of a lemon is higher.
    pub factor: f64,
    /// Probability that a repair turns a lemon into a normal entity.
    pub healed: f64,
}

/// Times at which faults occur.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalProcess {
    /// Renewal process: distribution of the aging time from the start, or from the end of a repair, to the next fault.
    Renewal(Distribution),
    /// A list of faults at fixed times.
    Trace(Arc<[TracedFault]>),
}

/// A recorded fault of one node or pod.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedFault {
    /// Name of the node, or name of the pod without its random suffix.
    pub entity: String,
    /// Time since the start of the run.
    pub at: Duration,
    /// Time to the end of the repair. `None` means that the process determines it.
    pub outage: Option<Duration>,
}

/// Entities that a fault process affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultsOn {
    /// Each node of the topology fails independently.
    Node,
    /// Each accelerator of each node fails independently; its node is lost with it.
    Accelerator,
    /// All nodes of an island fail at once.
    Island,
    /// All nodes with the same value of this label fail at once.
    Label(String),
    /// Each pod that the JobSets specify at submission fails independently. Pods are identified by name without suffix.
    Pod,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RandomAction {
    /// The kubelet and the containers of the nodes stop.
    Crash,
    /// The nodes lose contact with the control plane; their containers keep running.
    Partition,
    /// The nodes are cordoned and their pods evicted, as before maintenance.
    Drain,
    /// The provider reclaims the machines: the nodes are drained at the notice and deleted when the notice period ends.
    Reclaim,
    /// The running containers of the pod exit with this code.
    Exit(i32),
    /// The processes keep running but make no progress. A detector, if any, terminates them with this exit code
    /// after `detected_after`.
    Hang { detected_after: Option<Distribution>, exit_code: i32 },
    /// Steps take this many times as long until the end of the repair.
    Slow(f64),
    /// Links are this many times slower until the end of the repair.
    Degrade { links: LinkKind, factor: f64 },
    /// Results are wrong from the fault on; the error is detected after this time.
    Corrupt { found_after: Distribution },
}

/// Links that a fault degrades.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkKind {
    /// The links between the accelerators of an island.
    Island,
    /// The ports of a node to the network between islands.
    Network,
}

/// A scripted fault that the control plane does not see: the kubelet and the processes appear healthy.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum SilentFaults {
    /// Running processes make no further progress. A detector, if any, terminates them with this exit code after
    /// `detected_after`, unless they have ended before.
    Hang { detected_after: Option<Duration>, exit_code: i32 },
    /// Steps take this many times as long from now on. The value 1 is the normal speed. It replaces the previous
    /// factor.
    Slow { factor: f64 },
    /// Links of the node, or of its island, are this many times slower than normal from now on.
    Degrade { links: LinkKind, factor: f64 },
    /// Results are wrong from now on; the error is detected after this time.
    Corrupt { found_after: Duration },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SilentTarget {
    /// The machine: the fault affects all processes on it.
    Node(NodeRef),
    /// The processes of a pod, identified by its name without suffix.
    Pod(String),
}

impl SilentFaults {
    /// Returns the name of the fault in a scenario file.
    pub const fn name(self) -> &'static str {
        match self {
            SilentFaults::Hang { .. } => "Hang",
            SilentFaults::Slow { .. } => "Slow",
            SilentFaults::Degrade { .. } => "Degrade",
            SilentFaults::Corrupt { .. } => "Corrupt",
        }
    }
}

impl RandomFaults {
    /// Returns whether `NodeRepair` determines when a failed node returns.
    pub fn uses_node_repair(&self) -> bool {
        let lost = matches!(self.action, RandomAction::Crash | RandomAction::Partition);
        let has_no_ends = match &self.arrivals {
            ArrivalProcess::Renewal(_) => true,
            ArrivalProcess::Trace(rows) => rows.iter().all(|row| row.outage.is_none()),
        };
        lost && self.repair_time.is_none() && has_no_ends
    }

    /// Returns whether entities age with calendar time, independent of their use.
    pub fn is_calendar_based(&self) -> bool {
        self.exposure == ExposureSpec::Always
    }

    /// Returns the expected number of faults of this many entities up to `until`.
    pub fn expected_faults(&self, entities: usize, until: Duration) -> f64 {
        match &self.arrivals {
            ArrivalProcess::Trace(rows) => rows.len() as f64,
            ArrivalProcess::Renewal(life) => {
                let each = life.mean_s() + self.repair_time.as_ref().map_or(0.0, Distribution::mean_s);
                entities as f64 * until.seconds() / each
            }
        }
    }
}
