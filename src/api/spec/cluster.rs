//! A cluster as described: pools of islands of nodes. Numbering and arrays are `topology`'s business.

use super::pod::Taint;
use std::collections::BTreeMap;

/// `kind: Topology`.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    pub name: String,
    pub description: String,
    pub pools: Vec<NodePool>,
    /// Links between islands by level, nearest first; only named and drawn so far.
    pub dcn_levels: Vec<DcnLevel>,
    pub currency: String,
    /// The API server has the admission plugin ExtendedResourceToleration, as on GKE: whoever requests a device
    /// tolerates the NoSchedule taint of that name.
    pub extended_resource_toleration: bool,
}

/// `count` equal pools of `islands` × `nodes_per_island` nodes. In names and label values `{pool}`, `{island}` and
/// `{node}` stand for the running numbers (pool and node over the whole topology entry, island over the entry too).
#[derive(Clone, Debug, Default)]
pub struct NodePool {
    pub name: String,
    pub count: u32,
    pub islands: u32,
    pub nodes_per_island: u32,
    pub island_kind: IslandKind,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
    /// Resource name → thousandths. `pods` defaults to 110.
    pub allocatable: BTreeMap<String, i64>,
    /// The resource whose units are the accelerators of the ledger, e.g. `google.com/tpu`; empty: none.
    pub accelerator: String,
    pub price: Price,
    /// Declared node features (`status.declaredFeatures`).
    pub features: Vec<String>,
}

/// What an hour costs, in millionths of the currency: the ledger adds integers only.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Price {
    PerNode(u64),
    PerAccelerator(u64),
}

impl Default for Price {
    fn default() -> Price {
        Price::PerNode(0)
    }
}

impl Price {
    /// A price as it is written, to the nearest millionth.
    pub fn micros(price: f64) -> u64 {
        (price * 1e6 + 0.5) as u64
    }

    /// Of one of a node's accelerators, to the nearest millionth.
    pub fn of_accelerator(self, accelerators: u32) -> u64 {
        let n = u64::from(accelerators.max(1));
        match self {
            Price::PerNode(micros) => (micros + n / 2) / n,
            Price::PerAccelerator(micros) => micros,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum IslandKind {
    #[default]
    None,
    Ici,
    NvLink,
}

#[derive(Clone, Debug)]
pub struct DcnLevel {
    pub name: String,
    /// Node label whose values are the groups of this level.
    pub label: String,
    pub gbits_per_s: f64,
}

impl Topology {
    pub fn nodes(&self) -> u64 {
        self.pools
            .iter()
            .map(|p| u64::from(p.count) * u64::from(p.islands) * u64::from(p.nodes_per_island))
            .sum()
    }
}
