//! Node time of a fleet by category. Each node is in exactly one category at each instant, so the sums are exact.

use sim_reliability::pool::NodePlace;

/// Category of a node's time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TimeCategory {
    /// Active nodes: work that is completed and not lost later.
    Productive,
    /// Active nodes: work that a failure discarded.
    Lost,
    /// Active nodes: blocked by a checkpoint.
    Checkpoint,
    /// Active nodes: recovery after a failure, until the job runs again.
    Recovery,
    /// Active nodes: waiting for a host selection.
    HostSelection,
    /// Active nodes: waiting for spare nodes.
    WaitingForSpares,
    /// Active nodes: waiting for repairs because there are too few nodes.
    Stalled,
    /// Standby nodes of the job, ready to replace a failed node.
    Standby,
    /// Unused nodes in the working pool.
    Idle,
    /// Nodes in the spare pool.
    Spare,
    /// Nodes under repair, or waiting for a repair crew.
    Repair,
    /// Nodes removed permanently.
    Retired,
}

impl TimeCategory {
    /// Number of categories.
    pub const COUNT: usize = 12;

    /// All categories, in the order of their numeric values.
    pub const ALL: [TimeCategory; TimeCategory::COUNT] = [
        TimeCategory::Productive,
        TimeCategory::Lost,
        TimeCategory::Checkpoint,
        TimeCategory::Recovery,
        TimeCategory::HostSelection,
        TimeCategory::WaitingForSpares,
        TimeCategory::Stalled,
        TimeCategory::Standby,
        TimeCategory::Idle,
        TimeCategory::Spare,
        TimeCategory::Repair,
        TimeCategory::Retired,
    ];

    /// Returns the category of the time of a node; `None` for active nodes, whose category depends on the job's phase.
    pub(super) const fn of_place(place: NodePlace) -> Option<TimeCategory> {
        match place {
            NodePlace::Active => None,
            NodePlace::Standby => Some(TimeCategory::Standby),
            NodePlace::Idle => Some(TimeCategory::Idle),
            NodePlace::Spare => Some(TimeCategory::Spare),
            NodePlace::Repair => Some(TimeCategory::Repair),
            NodePlace::Retired => Some(TimeCategory::Retired),
        }
    }

    /// Returns the name used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            TimeCategory::Productive => "productive",
            TimeCategory::Lost => "lost",
            TimeCategory::Checkpoint => "checkpoint",
            TimeCategory::Recovery => "recovery",
            TimeCategory::HostSelection => "hostSelection",
            TimeCategory::WaitingForSpares => "waitingForSpares",
            TimeCategory::Stalled => "stalled",
            TimeCategory::Standby => "standby",
            TimeCategory::Idle => "idle",
            TimeCategory::Spare => "spare",
            TimeCategory::Repair => "repair",
            TimeCategory::Retired => "retired",
        }
    }
}

/// Ledger of node time: node-nanoseconds per category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetLedger {
    node_ns: [u128; TimeCategory::COUNT],
}

impl FleetLedger {
    /// Adds `ns` nanoseconds of `nodes` nodes to the category.
    pub(super) fn add(&mut self, category: TimeCategory, nodes: u32, ns: u64) {
        self.node_ns[category as usize] += u128::from(nodes) * u128::from(ns);
    }

    /// Moves node time from `Productive` to `Lost`, for work that a failure discarded.
    pub(super) fn discard_work(&mut self, nodes: u32, ns: u64) {
        let lost = u128::from(nodes) * u128::from(ns);
        let productive = &mut self.node_ns[TimeCategory::Productive as usize];
        *productive = productive.checked_sub(lost).expect("lost work was productive before");
        self.node_ns[TimeCategory::Lost as usize] += lost;
    }

    /// Returns the node-nanoseconds of one category.
    pub fn node_ns(&self, category: TimeCategory) -> u128 {
        self.node_ns[category as usize]
    }

    /// Returns the sum over all categories, which is the number of nodes × the duration of the run.
    pub fn total_node_ns(&self) -> u128 {
        self.node_ns.iter().sum()
    }
}
