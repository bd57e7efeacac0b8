//! Links between accelerators: within an island, and between islands. Rates are in one direction.

use sim_base::Duration;

/// Links between the accelerators of an island.
#[derive(Clone, Debug, PartialEq)]
pub enum Interconnect {
    /// A torus: chips with a link to each neighbor, `rate` per link. `latency` is that of a hop.
    Torus {
        /// Chips per axis.
        shape: Vec<u32>,
        /// Per axis, whether the last chip is connected to the first. Missing axes are not.
        wrap: Vec<bool>,
        rate: LinkRate,
    },
    /// A switch between all accelerators, `rate` per accelerator. `latency` is that of the steps of an AllReduce.
    Switch(LinkRate),
}

impl Interconnect {
    pub fn rate(&self) -> LinkRate {
        match self {
            Interconnect::Torus { rate, .. } | Interconnect::Switch(rate) => *rate,
        }
    }
}

/// Rate and latency of links.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LinkRate {
    pub gbits_per_s: f64,
    pub latency: Duration,
    /// Share of the rate that collectives reach.
    pub efficiency: f64,
    /// Links of islands: latency of each call in addition to its hops or steps.
    pub call_latency: Duration,
    /// A switch that reduces: share of the effective rate that an AllReduce in the switch (NVLS) reaches.
    pub nvls: Option<f64>,
}

impl Default for LinkRate {
    fn default() -> LinkRate {
        LinkRate {
            gbits_per_s: 0.0,
            latency: Duration::ZERO,
            efficiency: 1.0,
            call_latency: Duration::ZERO,
            nvls: None,
        }
    }
}

impl LinkRate {
    /// Returns the effective rate in bytes per second.
    pub fn bytes_per_s(self) -> f64 {
        self.gbits_per_s * 1e9 / 8.0 * self.efficiency
    }
}

/// A level of the network between islands. Its groups are the nodes with equal values of a label.
#[derive(Clone, Debug, PartialEq)]
pub struct DcnLevel {
    pub name: String,
    /// Node label whose values are the groups of this level.
    pub label: String,
    /// Rate of one node, and latency of one step between nodes that differ in the groups of the level below.
    pub rate: LinkRate,
    /// Rate of all nodes of a group, divided by the rate of the links that leave the group.
    pub oversubscription: f64,
    /// Algorithm of collectives over several islands; `None` means the fastest one.
    pub algorithm: Option<CollectiveAlgorithm>,
}

impl DcnLevel {
    /// Returns the rate of the links that leave a group of `nodes` nodes, in bytes per second.
    pub fn uplink_bytes_per_s(&self, nodes: usize) -> f64 {
        nodes as f64 * self.rate.bytes_per_s() / self.oversubscription
    }
}

/// Accelerators among which a parallel axis distributes the work.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AxisSpan {
    /// Within an island.
    Island,
    /// One host of each of several islands; each host exchanges its shard.
    Islands,
    /// All accelerators of several islands: first within the islands, then between them.
    All,
}

impl AxisSpan {
    pub const ALL: [AxisSpan; 3] = [AxisSpan::Island, AxisSpan::Islands, AxisSpan::All];

    /// Returns the name in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            AxisSpan::Island => "Island",
            AxisSpan::Islands => "Islands",
            AxisSpan::All => "All",
        }
    }
}

/// An axis of parallelism of a training job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelAxis {
    pub name: String,
    pub span: AxisSpan,
    /// Members of a group. `None` means all that the placement has.
    pub size: Option<u32>,
}

/// A communication operation. The size of its buffer is that of the gathered or reduced array.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Collective {
    AllGather,
    ReduceScatter,
    /// A ReduceScatter followed by an AllGather.
    AllReduce,
    AllToAll,
    /// Each member sends the buffer to the next one.
    SendReceive,
}

impl Collective {
    pub const ALL: [Collective; 5] = [
        Collective::AllGather,
        Collective::ReduceScatter,
        Collective::AllReduce,
        Collective::AllToAll,
        Collective::SendReceive,
    ];

    /// Returns the name in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Collective::AllGather => "AllGather",
            Collective::ReduceScatter => "ReduceScatter",
            Collective::AllReduce => "AllReduce",
            Collective::AllToAll => "AllToAll",
            Collective::SendReceive => "SendReceive",
        }
    }
}

/// Algorithm of a collective over all accelerators of several islands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CollectiveAlgorithm {
    /// One ring through all accelerators, as in NCCL.
    Ring,
    /// AllReduce: two binary trees between the islands, as in NCCL. Other collectives use a ring.
    Tree,
    /// First within the islands, then the shards between them, as in XLA.
    Hierarchical,
    /// AllReduce: a reduction in the switch of each island, and two binary trees between the islands, as in NCCL.
    Nvls,
}

impl CollectiveAlgorithm {
    pub const ALL: [CollectiveAlgorithm; 4] = [
        CollectiveAlgorithm::Ring,
        CollectiveAlgorithm::Tree,
        CollectiveAlgorithm::Hierarchical,
        CollectiveAlgorithm::Nvls,
    ];

    /// Returns the name in a file.
    pub const fn as_str(self) -> &'static str {
        match self {
            CollectiveAlgorithm::Ring => "Ring",
            CollectiveAlgorithm::Tree => "Tree",
            CollectiveAlgorithm::Hierarchical => "Hierarchical",
            CollectiveAlgorithm::Nvls => "Nvls",
        }
    }
}

/// Communication of one kind in each step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTraffic {
    /// Index in the list of axes.
    pub axis: usize,
    pub collective: Collective,
    /// Size of the buffer per group and step, summed over the calls.
    pub bytes: f64,
    /// Number of calls in a step.
    pub calls: u32,
    /// Share that computation hides.
    pub overlap: f64,
    pub order: RankOrder,
    /// `None` means that of the network, or the fastest one.
    pub algorithm: Option<CollectiveAlgorithm>,
}

/// Order in which the members of a collective pass data to each other between islands.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum RankOrder {
    /// A ring in the order of the pods, wherever they are.
    #[default]
    Ring,
    /// First within the groups of each network level, then between them.
    Hierarchical,
}

impl RankOrder {
    pub const ALL: [RankOrder; 2] = [RankOrder::Ring, RankOrder::Hierarchical];

    /// Returns the name in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            RankOrder::Ring => "Ring",
            RankOrder::Hierarchical => "Hierarchical",
        }
    }
}

/// Communication of a training job, which lengthens its steps according to the placement of its pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Communication {
    pub axes: Vec<ParallelAxis>,
    pub traffic: Vec<StepTraffic>,
}
