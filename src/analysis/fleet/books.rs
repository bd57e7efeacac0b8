//! Node time of a fleet by category. Each node is in exactly one category at each instant, so the sums are exact.

/// Category of a node's time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Category {
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

impl Category {
    /// Number of categories.
    pub const COUNT: usize = 12;

    /// All categories, in the order of their numeric values.
    pub const ALL: [Category; Category::COUNT] = [
        Category::Productive,
        Category::Lost,
        Category::Checkpoint,
        Category::Recovery,
        Category::HostSelection,
        Category::WaitingForSpares,
        Category::Stalled,
        Category::Standby,
        Category::Idle,
        Category::Spare,
        Category::Repair,
        Category::Retired,
    ];

    /// Returns the name used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Category::Productive => "productive",
            Category::Lost => "lost",
            Category::Checkpoint => "checkpoint",
            Category::Recovery => "recovery",
            Category::HostSelection => "hostSelection",
            Category::WaitingForSpares => "waitingForSpares",
            Category::Stalled => "stalled",
            Category::Standby => "standby",
            Category::Idle => "idle",
            Category::Spare => "spare",
            Category::Repair => "repair",
            Category::Retired => "retired",
        }
    }
}

/// Ledger of node time: node-nanoseconds per category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    node_ns: [u128; Category::COUNT],
}

impl Books {
    /// Adds `ns` nanoseconds of `nodes` nodes to the category.
    pub(super) fn add(&mut self, category: Category, nodes: u32, ns: u64) {
        self.node_ns[category as usize] += u128::from(nodes) * u128::from(ns);
    }

    /// Moves node time from `Productive` to `Lost`, for work that a failure discarded.
    pub(super) fn lose(&mut self, nodes: u32, ns: u64) {
        let lost = u128::from(nodes) * u128::from(ns);
        let productive = &mut self.node_ns[Category::Productive as usize];
        *productive = productive
            .checked_sub(lost)
            .expect("what is lost was done before");
        self.node_ns[Category::Lost as usize] += lost;
    }

    /// Returns the node-nanoseconds of one category.
    pub fn node_ns(&self, category: Category) -> u128 {
        self.node_ns[category as usize]
    }

    /// Returns the sum over all categories, which is the number of nodes × the duration of the run.
    pub fn total_node_ns(&self) -> u128 {
        self.node_ns.iter().sum()
    }
}
