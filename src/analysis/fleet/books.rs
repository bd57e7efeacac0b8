//! Node-time of a fleet: each node is in exactly one category at each instant, and the sums are exact.

/// What a node's time goes to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Category {
    /// The job's nodes: work that counts in the end.
    Productive,
    /// The job's nodes: work that a failure took back.
    Lost,
    /// The job's nodes stand still for a checkpoint.
    Checkpoint,
    /// The job's nodes after a failure, until the job runs on.
    Recovery,
    /// The job's nodes during a host selection.
    HostSelection,
    /// The job's nodes while spares are pulled.
    WaitingForSpares,
    /// The job's nodes while there are too few.
    Stalled,
    /// Owned by the job, to take over.
    Standby,
    /// In the working pool, without work.
    Idle,
    /// In the spare pool.
    Spare,
    /// In repair, or waiting for a crew.
    Repair,
    /// Never used again.
    Retired,
}

impl Category {
    /// How many there are.
    pub const COUNT: usize = 12;

    /// All of them, in the order of their numbers.
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

    /// In files.
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

/// Node-nanoseconds per category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    node_ns: [u128; Category::COUNT],
}

impl Books {
    /// `nodes` nodes spent `ns` in the category.
    pub(super) fn add(&mut self, category: Category, nodes: u32, ns: u64) {
        self.node_ns[category as usize] += u128::from(nodes) * u128::from(ns);
    }

    /// Work that a failure took back.
    pub(super) fn lose(&mut self, nodes: u32, ns: u64) {
        let lost = u128::from(nodes) * u128::from(ns);
        let productive = &mut self.node_ns[Category::Productive as usize];
        *productive = productive
            .checked_sub(lost)
            .expect("what is lost was done before");
        self.node_ns[Category::Lost as usize] += lost;
    }

    /// Node-nanoseconds of one category.
    pub fn node_ns(&self, category: Category) -> u128 {
        self.node_ns[category as usize]
    }

    /// Over all categories: nodes × the time of the run.
    pub fn total_node_ns(&self) -> u128 {
        self.node_ns.iter().sum()
    }
}
