//! A case of kind `children`, and the eight nodes on which all cases were recorded.

use serde_json::Value;
use sim_api::admission::AdmissionGates;
use sim_api::spec::keys::{HOSTNAME, RESTART_ALL_CONTAINERS};
use sim_api::spec::{NodePool, TopologySpec};
use sim_base::quantity::parse_milli;
use std::collections::BTreeMap;

const NODES: u32 = 8;

/// Number of consecutive nodes with the same value of the label `pool`. All nodes are in one rack.
const NODES_PER_POOL: u32 = 4;

const CAPACITY: [(&str, &str); 4] =
    [("cpu", "32"), ("memory", "128Gi"), ("ephemeral-storage", "100Gi"), ("pods", "110")];

/// Inputs of a case: the stored JobSets, and the objects that existed before them.
pub struct ChildrenCase {
    pub namespace: String,
    pub gates: AdmissionGates,
    pub jobsets: Vec<Value>,
    pub objects: Vec<Value>,
}

/// Returns nodes with the labels `pool`, `rack` and hostname.
pub fn topology() -> TopologySpec {
    let pool = |k: u32| {
        let name = format!("node-{k:05}");
        let labels =
            [(HOSTNAME, name.clone()), ("pool", format!("pool-{}", k / NODES_PER_POOL)), ("rack", "rack-0".to_owned())];
        let milli = |(resource, amount): (&str, &str)| (resource.to_owned(), parse_milli(amount).unwrap_or_default());
        NodePool {
            name,
            count: 1,
            islands: 1,
            nodes_per_island: 1,
            labels: labels.map(|(k, v)| (k.to_owned(), v)).into(),
            allocatable: CAPACITY.into_iter().map(milli).collect::<BTreeMap<_, _>>(),
            features: vec![RESTART_ALL_CONTAINERS.to_owned()],
            ..NodePool::default()
        }
    };
    TopologySpec { name: "children".to_owned(), pools: (0..NODES).map(pool).collect(), ..TopologySpec::default() }
}
