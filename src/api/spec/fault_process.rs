//! Random faults of a cluster, as they are asked for: renewal processes, one per node, domain or pod.

use super::fleet::{Diagnosis, Exposure, Repair, Retirement};
use super::node_ref::NodeRef;
use sim_base::Duration;
use sim_base::random::Dist;
use std::sync::Arc;

/// A process of faults that each of many entities has.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomFaults {
    /// What they are called in reports; with the entity's name it names the random numbers.
    pub cause: String,
    /// What has them.
    pub on: FaultsOn,
    /// Label of nodes: all nodes that have the same value of it as one that fails are lost with it.
    pub takes_along: Option<String>,
    /// When they come.
    pub arrivals: Arrivals,
    /// When what has them ages: always but in repair, by the calendar, or while pods use it.
    pub ages: Exposure,
    /// From a fault to the end of its repair; without it what fails never comes back.
    pub back: Option<Dist>,
    /// What a fault does.
    pub does: RandomAction,
    /// A repaired node is a new Node of that name.
    pub as_new: bool,
    /// It begins, and ends, so long after the run began.
    pub from: Duration,
    pub until: Option<Duration>,
    /// Of `Drain` and `Reclaim`: so long before.
    pub notice: Duration,
    /// Of `Reclaim`: so long after the notice processes go on.
    pub grace: Duration,
    /// The chance that what is gone comes back at all.
    pub comes_back: f64,
    /// Entities that fail more often.
    pub lemons: Option<FaultLemons>,
    /// So long after the fault the Node object is deleted, if the node is not back by then.
    pub deleted_after: Option<Duration>,
}

/// What happens to nodes that are lost and have no time of repair of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRepair {
    /// From the fault until somebody looks.
    pub detected_after: Dist,
    /// Who is sent to repair then.
    pub diagnosis: Diagnosis,
    /// How, and by how many.
    pub repair: Repair,
    /// Who is not used again.
    pub retirement: Retirement,
}

/// Nodes that are kept back until others are lost by random faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpares {
    /// They have this value of this label at the start.
    pub key: String,
    pub value: String,
    /// Label: nodes with one value of it take over together; without it each node for itself.
    pub unit: Option<String>,
    /// From the loss until the spare is there.
    pub take_over: Duration,
    /// It stands back again when what was lost is there; else that is a spare then.
    pub hand_back: bool,
}

/// Entities that fail more often than the others.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct FaultLemons {
    /// The part of all of them.
    pub share: f64,
    /// So many times as often.
    pub factor: f64,
    /// The chance that a repair makes one as good as the others.
    pub healed: f64,
}

/// When faults come.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// From the start, or from the end of the repair, to the next fault, in time in which it ages.
    Renewal(Dist),
    /// As they are listed.
    Trace(Arc<[TracedFault]>),
}

/// A fault of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedFault {
    /// The node, or the pod without its suffix.
    pub entity: String,
    /// Since the run began.
    pub at: Duration,
    /// To the end of its repair; else what the process says.
    pub lasts: Option<Duration>,
}

/// What has faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultsOn {
    /// Each node of the topology.
    Node,
    /// Each accelerator of each node; the node is lost with it.
    Accelerator,
    /// All nodes of an island at once.
    Island,
    /// All nodes with the same value of this label at once.
    Label(String),
    /// Each pod that the JobSets want when they are submitted, by its name without suffix.
    Pod,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq)]
pub enum RandomAction {
    /// Kubelet and containers of the nodes stop.
    Crash,
    /// The nodes lose contact; their containers run on.
    Partition,
    /// The nodes are cordoned and their pods evicted, as before maintenance.
    Drain,
    /// The provider takes the machines back: the nodes are drained at the notice, and deleted when it is over.
    Reclaim,
    /// The containers of the pod exit with this code, if they run.
    Exit(i32),
    /// The processes go on, and do nothing; after so long, if ever, a detector ends them with this exit code.
    Hang {
        detected_after: Option<Dist>,
        exit_code: i32,
    },
    /// Steps take so many times as long, until the repair is over.
    Slow(f64),
    /// What is computed is wrong, which is found out so long after.
    Corrupt { found_after: Dist },
}

/// A trouble of which nobody is told: kubelet and processes look as ever. A fault of the script.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Silent {
    /// The processes that are there then do nothing any more; after so long, if ever, a detector ends them with this
    /// exit code, unless they have ended before.
    Hang {
        detected_after: Option<Duration>,
        exit_code: i32,
    },
    /// From now on steps take so many times as long; 1: as long as ever. It replaces the factor of before.
    Slow { factor: f64 },
    /// What is computed from now on is wrong; found out so long after.
    Corrupt { found_after: Duration },
}

/// Where a silent trouble is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SilentOn {
    /// In the machine: all processes on it.
    Node(NodeRef),
    /// In the processes of a pod, by its name without suffix.
    Pod(String),
}

impl Silent {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Silent::Hang { .. } => "Hang",
            Silent::Slow { .. } => "Slow",
            Silent::Corrupt { .. } => "Corrupt",
        }
    }
}

impl RandomFaults {
    /// Whether `NodeRepair` says when what fails is back.
    pub fn is_repaired(&self) -> bool {
        let lost = matches!(self.does, RandomAction::Crash | RandomAction::Partition);
        lost && self.back.is_none() && matches!(self.arrivals, Arrivals::Renewal(_))
    }

    /// Whether it knows the calendar alone.
    pub fn is_of_calendar(&self) -> bool {
        self.ages == Exposure::Always
    }

    /// How many faults are expected until then, of so many entities.
    pub fn expected(&self, entities: usize, until: Duration) -> f64 {
        match &self.arrivals {
            Arrivals::Trace(rows) => rows.len() as f64,
            Arrivals::Renewal(life) => {
                let each = life.mean_s() + self.back.as_ref().map_or(0.0, Dist::mean_s);
                entities as f64 * until.seconds() / each
            }
        }
    }
}
