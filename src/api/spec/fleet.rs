//! A fleet of alike nodes with one synchronous job on them, as it is asked for: no control plane, no topology.

use super::training::Progress;
use sim_base::Duration;
use sim_base::random::Dist;
use std::collections::VecDeque;
use std::sync::Arc;

/// Everything that a run of the collapsed model needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// Stands in reports.
    pub name: String,
    /// For people.
    pub description: String,
    /// In the working pool at the start.
    pub nodes: u32,
    /// Nodes that do other work until they are pulled.
    pub spares: SparePool,
    /// What runs on the nodes.
    pub job: FleetJob,
    /// What the job has to do.
    pub training: Training,
    /// Each node has each of them.
    pub faults: Vec<FaultProcess>,
    /// Nodes that fail more often.
    pub lemons: Lemons,
    /// Which node is sent to repair after a failure.
    pub diagnosis: Diagnosis,
    /// What happens to nodes that failed.
    pub repair: Repair,
    /// When a repaired node is not used again.
    pub retirement: Retirement,
    /// The run ends here in any case.
    pub stop_at: Duration,
    /// Of all random numbers.
    pub seed: u64,
}

/// Nodes beside the working pool. One that was pulled never goes back.
#[derive(Clone, Debug, PartialEq)]
pub struct SparePool {
    /// How many at the start.
    pub nodes: u32,
    /// How long it takes to pull one; one after another.
    pub take_over: Duration,
}

/// One synchronous job: it runs while it has all its nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetJob {
    /// Nodes that it needs at once.
    pub nodes: u32,
    /// Nodes that it owns beside them, to take over without a new host selection.
    pub standbys: u32,
    /// Who is chosen among the free nodes.
    pub selection: HostSelection,
    /// How long a host selection takes.
    pub select: Dist,
    /// From a failure until the job runs on, with a standby.
    pub recovery: Dist,
    /// One restart more fails the job; without it there is no limit.
    pub max_restarts: Option<u32>,
}

/// Who is chosen among the free nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HostSelection {
    /// Those that are in the pool for the longest time; who of them stands by is chance.
    LongestInPool,
    /// Those that failed least, equal ones by chance; who failed most stands by.
    FewestFailures,
}

/// The work of the job and what of it a failure takes back.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Time that the job would need without failures and checkpoints.
    pub work: Duration,
    /// What a failure takes back.
    pub progress: Progress,
}

/// A renewal process of failures that each node has, on a clock of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultProcess {
    /// What failures are called in reports.
    pub cause: String,
    /// Only lemons have it.
    pub only_lemons: bool,
    /// Time from new or repaired to the failure, on the clock of `exposure`.
    pub life: Dist,
    /// When the node ages.
    pub exposure: Exposure,
    /// Instead of lives: faults that happened, in the order of time.
    pub trace: Option<Arc<[FleetFault]>>,
    /// Whether the node leaves the job for a repair; else only the job is interrupted, as by a crash of its program.
    pub needs_repair: bool,
}

/// A fault of a trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FleetFault {
    /// Since the start.
    pub at: Duration,
    /// Which of all nodes.
    pub node: u32,
    /// How long it is away; else a repair says.
    pub lasts: Option<Duration>,
}

/// When a node ages. In a Fleet that is a matter of its one job; with pods, of what runs on it or is bound to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// While it is one of the job's nodes and the job runs.
    Running,
    /// While it is one of the job's nodes, whether the job runs or waits.
    Assigned,
    /// Always but during its repair.
    Always,
}

impl Exposure {
    /// All of them, as they are written.
    pub const NAMES: [&'static str; 3] = ["Running", "Assigned", "Always"];
}

/// Nodes that fail more often.
#[derive(Clone, Debug, PartialEq)]
pub struct Lemons {
    /// The part of all nodes that are lemons at the start.
    pub share: f64,
    /// Good nodes turn bad: every so often, this part of `share` of them, but one at least.
    pub regeneration: Option<(Duration, f64)>,
}

/// Which node is sent to repair after a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The chance that a failure leads to a repair at all; else the node is back at once.
    pub finds: f64,
    /// The chance that another of the job's nodes is blamed.
    pub blames_another: f64,
}

/// A pipeline of repair: stage after stage, until one closes the ticket.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// In their order; the last one does not escalate.
    pub stages: Vec<RepairStage>,
    /// Nodes that can be repaired at a time; without it there is no limit.
    pub crews: Option<u32>,
}

/// One stage of repair.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairStage {
    /// In reports.
    pub name: String,
    /// How long it takes.
    pub takes: Dist,
    /// The chance that it hands the node on to the next stage.
    pub escalates: f64,
    /// The chance that it says "repaired" of a node that is as it was.
    pub fails: f64,
}

/// When a repaired node is not used again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Retirement {
    /// It always is.
    Never,
    /// It failed so often within so long before the end of its repair.
    Window(u32, Duration),
    /// It failed so often in all.
    Life(u32),
}

impl Retirement {
    /// Whether a node that has failed so often in all, and at these times, is not used again after `now`. Forgets
    /// times that nobody will ask for again.
    pub fn retires(self, failures: u32, failed_at: &mut VecDeque<u64>, now: u64) -> bool {
        match self {
            Retirement::Never => false,
            Retirement::Life(limit) => failures >= limit,
            Retirement::Window(limit, within) => {
                let since = now.saturating_sub(within.0);
                failed_at.retain(|at| *at >= since);
                failed_at.len() as u32 >= limit
            }
        }
    }
}
