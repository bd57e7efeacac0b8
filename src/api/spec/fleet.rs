//! Specification of a fleet: equal nodes that run one synchronous job, without a control plane and without a topology.

use super::training::{ProgressSpec, checkpoint_contradictions, trace_contradiction, work_contradiction};
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_base::time::MAX_INPUT_DURATION;
use std::sync::Arc;

/// Complete input of a run of a Fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetSpec {
    pub name: String,
    /// Description for the reader; does not affect results.
    pub description: String,
    /// Number of nodes in the working pool at the start.
    pub nodes: u32,
    /// Nodes that do other work until they are taken over.
    pub spares: SparePool,
    /// Job that runs on the nodes.
    pub job: FleetJob,
    /// Work of the job.
    pub training: FleetTraining,
    /// Fault processes. Each node has an independent instance of each.
    pub faults: Vec<FaultProcess>,
    /// Nodes that fail more often than the others.
    pub lemons: LemonSpec,
    /// Selection of the node that is sent to repair after a failure.
    pub diagnosis: DiagnosisSpec,
    /// Repair of failed nodes.
    pub repair: RepairSpec,
    /// Rule for repaired nodes that are not used again.
    pub retirement: RetirementSpec,
    /// Time limit of the run.
    pub stop_at: Duration,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl FleetSpec {
    /// Returns inputs that contradict each other and are simulated nevertheless, in sentences for warnings.
    pub fn contradictions(&self) -> Vec<String> {
        let traces = self.faults.iter().filter_map(|process| {
            let times = process.trace.iter().flat_map(|trace| trace.iter()).map(|fault| fault.at);
            trace_contradiction(self.stop_at, &process.cause, times)
        });
        let checkpoints = match self.training.progress {
            ProgressSpec::Checkpoints { every, blocking } => vec![(every, blocking)],
            ProgressSpec::Kept | ProgressSpec::FromScratch => Vec::new(),
        };
        let work = work_contradiction(self.stop_at, self.work(), &checkpoints, true).into_iter();
        work.chain(self.checkpoint_contradictions()).chain(traces).collect()
    }

    /// Returns the contradictions of the checkpoint interval.
    pub fn checkpoint_contradictions(&self) -> Vec<String> {
        match self.training.progress {
            ProgressSpec::Checkpoints { every, blocking } => {
                checkpoint_contradictions("training.checkpoint", (every, blocking), self.work(), self.stop_at)
            }
            ProgressSpec::Kept | ProgressSpec::FromScratch => Vec::new(),
        }
    }

    /// Returns the amount of work of the job; `None` if it is not limited.
    pub fn work(&self) -> Option<Duration> {
        Some(self.training.work).filter(|work| *work < MAX_INPUT_DURATION)
    }
}

/// Nodes outside the working pool. A node that has been taken over never returns to the spare pool.
#[derive(Clone, Debug, PartialEq)]
pub struct SparePool {
    /// Number of spare nodes at the start.
    pub nodes: u32,
    /// Time to take over one node. Nodes are taken over one after another.
    pub take_over: Duration,
}

/// A synchronous job: it makes progress only while it has all its nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetJob {
    /// Number of nodes that the job needs at the same time.
    pub nodes: u32,
    /// Number of additional nodes that the job owns. They replace failed nodes without a new host selection.
    pub standbys: u32,
    /// Rule for the choice among the free nodes.
    pub selection: HostSelection,
    /// Duration of a host selection.
    pub selection_time: Distribution,
    /// Time from a failure until the job resumes with a standby node.
    pub recovery: Distribution,
    /// Number of restarts after which the next one fails the job. `None` means no limit.
    pub max_restarts: Option<u32>,
}

/// Rule for the choice among the free nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HostSelection {
    /// Chooses the nodes that have been in the pool longest. The standby nodes are chosen at random among them.
    LongestInPool,
    /// Chooses the nodes with the fewest failures; ties are broken at random. The chosen nodes with the most
    /// failures become standbys.
    FewestFailures,
}

/// Work of the job and the loss of work at a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetTraining {
    /// Time that the job would need without failures and checkpoints.
    pub work: Duration,
    /// Progress that is lost at a failure.
    pub progress: ProgressSpec,
}

/// A renewal process of failures. Each node has an independent instance with its own clock.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultProcess {
    /// Name of the failures in reports.
    pub cause: String,
    pub only_lemons: bool,
    /// Time from new or repaired to the failure, measured in the time that `exposure` selects.
    pub life: Distribution,
    /// Periods in which the node ages.
    pub exposure: ExposureSpec,
    /// Recorded faults in chronological order, used instead of `life`.
    pub trace: Option<Arc<[FleetFault]>>,
    /// Whether the node leaves the job for a repair. Otherwise the failure only interrupts the job, like a crash of
    /// its program.
    pub needs_repair: bool,
}

/// A recorded fault of one node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FleetFault {
    /// Time since the start of the run.
    pub at: Duration,
    /// Index of the node among all nodes.
    pub node: u32,
    /// Duration of the outage. `None` means that the repair pipeline determines it.
    pub outage: Option<Duration>,
}

/// Periods in which a node ages. In a fleet they depend on its one job; in the pod-level model they depend on the
/// pods that are bound to the node or run on it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ExposureSpec {
    /// The node ages while it belongs to the job and the job runs.
    Running,
    /// The node ages while it belongs to the job, whether the job runs or waits.
    Assigned,
    /// The node ages always except during its repair.
    Always,
}

impl ExposureSpec {
    /// All names, as written in a file.
    pub const NAMES: [&'static str; 3] = ["Running", "Assigned", "Always"];
}

/// Nodes that fail more often than the others.
#[derive(Clone, Debug, PartialEq)]
pub struct LemonSpec {
    /// Fraction of all nodes that are lemons at the start.
    pub share: f64,
    /// Interval at which good nodes turn into lemons, and the fraction of `share` that turns each time. At least one
    /// node turns.
    pub regeneration: Option<(Duration, f64)>,
}

/// Selection of the node that is sent to repair after a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagnosisSpec {
    /// Probability that a failure leads to a repair. Otherwise the node returns immediately.
    pub repair_probability: f64,
    /// Probability that a different node of the job is sent to repair.
    pub misdiagnosis_probability: f64,
}

/// A repair pipeline. A node passes the stages in order until one of them closes the ticket.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairSpec {
    /// Stages in order. The last stage does not escalate.
    pub stages: Vec<RepairStage>,
    /// Number of nodes that can be repaired at the same time. `None` means no limit.
    pub crews: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RepairStage {
    pub name: String,
    pub duration: Distribution,
    /// Probability that the stage hands the node on to the next stage.
    pub escalates: f64,
    /// Probability that the stage reports success although the node is still faulty.
    pub fails: f64,
}

/// Rule for repaired nodes that are not used again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RetirementSpec {
    /// Every repaired node is used again.
    Never,
    /// Retires a node with this many failures within this period before the end of its repair. As in AIReSim, failures
    /// count for the node that the diagnosis blames.
    Window(u32, Duration),
    /// Retires a node with this many failures in total.
    Life(u32),
}
