//! Description of a cluster: pools of islands of nodes. The `topology` module assigns node ids and builds the arrays.

use super::fabric::{DcnLevel, Interconnect};
use super::pod::TaintSpec;
use std::collections::BTreeMap;

/// A file of `kind: TopologySpec`.
#[derive(Clone, Debug, Default)]
pub struct TopologySpec {
    pub name: String,
    pub description: String,
    pub pools: Vec<NodePool>,
    /// Networks between islands by level, nearest first.
    pub dcn_levels: Vec<DcnLevel>,
    /// Slices of several TPU cubes; their nodes have the label `keys::TPU_SLICE`.
    pub slices: Vec<FormedSlice>,
    pub currency: String,
    /// Whether the API server runs the admission plugin ExtendedResourceToleration, as on GKE. It adds a toleration
    /// for the NoSchedule taint of the same name to every pod that requests an extended resource.
    pub extended_resource_toleration: bool,
    /// Notes on annotations of imported Nodes on which components outside the model act.
    pub acting_annotations: Vec<String>,
    pub running_pods: RunningPods,
}

/// Numbers of the running pods of an imported cluster, of which only the resources are simulated.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningPods {
    pub all: usize,
    /// Pods with ports of their nodes.
    pub with_host_ports: usize,
    /// Pods with terms of `podAffinity` or `podAntiAffinity`.
    pub with_terms: usize,
    /// Pods of Jobs of JobSets, which have the label `keys::JOB_KEY`.
    pub of_jobsets: usize,
}

/// A slice that optical switches formed from cubes of 4x4x4 chips, as a torus with wraparound on all axes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormedSlice {
    pub name: String,
    /// Chips along each axis.
    pub shape: Vec<u32>,
    /// Values of the label that identifies cubes.
    pub cubes: Vec<String>,
}

/// `count` equal pools of `islands` × `nodes_per_island` nodes. In names and label values, `{pool}`, `{island}` and
/// `{node}` are replaced by running numbers, which are counted over the whole topology entry.
#[derive(Clone, Debug, Default)]
pub struct NodePool {
    pub name: String,
    pub count: u32,
    pub islands: u32,
    pub nodes_per_island: u32,
    pub island_kind: IslandKind,
    /// Links within an island, if known.
    pub interconnect: Option<Interconnect>,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<TaintSpec>,
    /// Quantity by resource name, in thousandths. `pods` defaults to 110.
    pub allocatable: BTreeMap<String, i64>,
    /// Part of `allocatable` that pods outside of the scenario hold on each node, in thousandths.
    pub occupied: BTreeMap<String, i64>,
    /// Resource whose units are the accelerators of the ledger, e.g. `google.com/tpu`. Empty if there is none.
    pub accelerator: String,
    pub price: AcceleratorPrice,
    pub billing: MachineBilling,
    /// Declared node features (`status.declaredFeatures`).
    pub features: Vec<String>,
    /// The first nodes by name, with their differences from the pool. Further nodes are named by the pattern.
    pub nodes: Vec<NamedNode>,
}

/// A node with a name of its own, and its differences from its pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedNode {
    pub name: String,
    /// Labels in addition to those of the pool, or instead of them.
    pub labels: BTreeMap<String, String>,
    /// All taints of the node, if it has more than the pool; otherwise empty.
    pub taints: Vec<TaintSpec>,
    /// Resources that replace those of the pool, in thousandths.
    pub allocatable: BTreeMap<String, i64>,
    /// Occupied resources that replace those of the pool, in thousandths.
    pub occupied: BTreeMap<String, i64>,
    /// Part of the occupied resources that pods of Kueue's Workloads hold, by namespace and name of the Workload.
    pub workloads: BTreeMap<String, BTreeMap<String, i64>>,
    /// Part of the occupied resources that pods of JobSets hold, by namespace and name of the JobSet.
    pub jobsets: BTreeMap<String, BTreeMap<String, i64>>,
}

impl NodePool {
    pub fn nodes(&self) -> u64 {
        u64::from(self.count) * u64::from(self.islands) * u64::from(self.nodes_per_island)
    }

    /// Returns the allocatable resources of a node of the pool, which may be listed.
    pub fn allocatable_of(&self, listed: Option<&NamedNode>) -> BTreeMap<String, i64> {
        merged(&self.allocatable, listed.map(|node| &node.allocatable))
    }

    /// Returns the resources that pods outside of the scenario hold on a node of the pool, which may be listed.
    pub fn occupied_of(&self, listed: Option<&NamedNode>) -> BTreeMap<String, i64> {
        merged(&self.occupied, listed.map(|node| &node.occupied))
    }

    /// Returns the amounts of a resource on all nodes: allocatable, and the occupied part of it, in thousandths.
    pub fn totals(&self, resource: &str) -> (i128, i128) {
        let nodes = self.nodes();
        let listed = self.nodes.iter().take(nodes as usize);
        let of = |amounts: &BTreeMap<String, i64>| amounts.get(resource).map(|milli| i128::from(*milli));
        let (has, holds) = (of(&self.allocatable).unwrap_or(0), of(&self.occupied).unwrap_or(0));
        let unlisted = i128::from(nodes - listed.len() as u64);
        let start = (has * unlisted, holds.clamp(0, has) * unlisted);
        listed.fold(start, |(all, held), node| {
            let has = of(&node.allocatable).unwrap_or(has);
            (all + has, held + of(&node.occupied).unwrap_or(holds).clamp(0, has))
        })
    }
}

/// Returns the resources of a pool with those that a node replaces.
fn merged(pool: &BTreeMap<String, i64>, own: Option<&BTreeMap<String, i64>>) -> BTreeMap<String, i64> {
    let mut all = pool.clone();
    all.extend(own.into_iter().flatten().map(|(name, milli)| (name.clone(), *milli)));
    all
}

/// Times at which the machines of a pool cost money.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum MachineBilling {
    /// Always, whether or not the machine exists.
    #[default]
    Reserved,
    /// While the machine exists: not after its Node was deleted, and not as an idle spare with a take-over time.
    OnDemand,
}

/// Node labels of providers and autoscalers for spot machines.
const SPOT: [(&str, &str); 6] = [
    ("cloud.google.com/gke-spot", "true"),
    ("cloud.google.com/gke-preemptible", "true"),
    ("eks.amazonaws.com/capacityType", "SPOT"),
    ("karpenter.sh/capacity-type", "spot"),
    ("kubernetes.azure.com/scalesetpriority", "spot"),
    ("node.kubernetes.io/lifecycle", "spot"),
];

impl MachineBilling {
    pub const ALL: [MachineBilling; 2] = [MachineBilling::Reserved, MachineBilling::OnDemand];

    /// Returns the spelling in topology files.
    pub const fn as_str(self) -> &'static str {
        match self {
            MachineBilling::Reserved => "reserved",
            MachineBilling::OnDemand => "onDemand",
        }
    }

    /// Returns the default of a pool: on demand if its labels denote spot machines, otherwise reserved.
    pub fn from_labels(labels: &BTreeMap<String, String>) -> MachineBilling {
        let has = |(key, value): &(&str, &str)| labels.get(*key).is_some_and(|found| found == value);
        if SPOT.iter().any(has) { MachineBilling::OnDemand } else { MachineBilling::Reserved }
    }
}

/// Price per hour in millionths of the currency. The ledger adds integers only.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AcceleratorPrice {
    PerNode(u64),
    PerAccelerator(u64),
}

impl Default for AcceleratorPrice {
    fn default() -> AcceleratorPrice {
        AcceleratorPrice::PerNode(0)
    }
}

impl AcceleratorPrice {
    /// Converts a price in the currency to millionths, rounded to the nearest.
    pub fn micros(price: f64) -> u64 {
        (price * 1e6 + 0.5) as u64
    }

    /// Returns the price of one of the node's accelerators, rounded to the nearest millionth.
    pub fn per_accelerator(self, accelerators: u32) -> u64 {
        let n = u64::from(accelerators.max(1));
        match self {
            AcceleratorPrice::PerNode(micros) => (micros + n / 2) / n,
            AcceleratorPrice::PerAccelerator(micros) => micros,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum IslandKind {
    #[default]
    None,
    Ici,
    NvLink,
}

/// Name of a cluster that the program generated for the JobSets.
pub const GENERATED_CLUSTER: &str = "generated";

impl TopologySpec {
    /// Returns the pools of a generated cluster as text; `None` for other clusters.
    pub fn composition(&self) -> Option<&str> {
        (self.name == GENERATED_CLUSTER && !self.description.is_empty()).then_some(self.description.as_str())
    }

    /// Returns the number of accelerators, and of those that pods outside of the scenario hold.
    pub fn accelerators(&self) -> (u64, u64) {
        let units = |milli: i128| u64::try_from(milli / 1_000).unwrap_or(0);
        let totals = self.pools.iter().map(|pool| pool.totals(&pool.accelerator));
        totals.fold((0, 0), |(all, held), (has, holds)| (all + units(has), held + units(holds)))
    }

    /// Returns whether pods outside of the scenario occupy resources of nodes.
    pub fn is_occupied(&self) -> bool {
        let by_pods = |pool: &NodePool| !pool.occupied.is_empty() || pool.nodes.iter().any(|n| !n.occupied.is_empty());
        self.pools.iter().any(by_pods)
    }

    pub fn nodes(&self) -> u64 {
        self.pools.iter().map(NodePool::nodes).sum()
    }
}
