//! The reduced cluster of trials, without trailing spare nodes that no trial needs. Measurements on it are valid for
//! any larger number of spares.

use sim_api::spec::{ScenarioSpec, TopologySpec};
use sim_base::NodeId;
use sim_reliability::faults::FaultModel;
use std::collections::BTreeSet;

/// Maximum number of faults in a trial.
const STRIKES: usize = 2;

/// Returns the scenario without the spares that no trial needs. `None` if there are none, or if random numbers would
/// change without them.
///
/// A spare is cordoned until a node is lost, and spares are used in order (`faults::spares`). The last spares are
/// therefore never used in a trial. The scheduler still counts them as nodes; the effect on times is measured
/// (`MeasuredFault::off_with`).
pub fn fewer_spares(scenario: &ScenarioSpec, faults: &FaultModel) -> Option<ScenarioSpec> {
    let needed = STRIKES * faults.max_units_affected();
    let left_out: BTreeSet<NodeId> = faults.spare_units().skip(needed).flatten().copied().collect();
    let nodes = 0..scenario.topology.nodes() as u32;
    let keep = nodes.rev().find(|node| !left_out.contains(&NodeId(*node))).map_or(0, |last| last + 1);
    let topology = first_nodes(&scenario.topology, u64::from(keep))?;
    Some(ScenarioSpec { topology, ..scenario.clone() })
}

/// Returns the cluster without its last nodes, with at least `keep` nodes left. Only whole pools and islands are
/// removed.
fn first_nodes(topology: &TopologySpec, keep: u64) -> Option<TopologySpec> {
    let mut fewer = topology.clone();
    let mut before = 0;
    for pool in &mut fewer.pools {
        let each = u64::from(pool.islands) * u64::from(pool.nodes_per_island);
        let wanted = keep.saturating_sub(before);
        before += u64::from(pool.count) * each;
        let is_numbered = pool.name.contains("{node");
        match (pool.count, pool.islands) {
            // The name of a node depends on whether it is the only one of its pool.
            (1, 1) if is_numbered || wanted > 1 => {
                pool.nodes_per_island = pool.nodes_per_island.min(wanted as u32);
            }
            (2.., _) if is_numbered || wanted > each => {
                let count = wanted.div_ceil(each.max(1)) as u32;
                pool.count = pool.count.min(count);
            }
            _ => {}
        }
    }
    fewer.pools.retain(|pool| pool.count > 0 && pool.nodes_per_island > 0);
    (fewer.nodes() < topology.nodes()).then_some(fewer)
}

#[cfg(test)]
#[path = "../../../../tests/inside/surrogate/reduced/measurement/reduced_cluster.rs"]
mod tests;
