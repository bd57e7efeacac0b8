//! Tests of `sim_inputs::topology::node_names`.

use sim_api::spec::{NodePool, TopologySpec};
use sim_inputs::topology::node_names::*;
#[test]
fn node_names_carry_the_running_numbers() {
    let names = |name: &str, count, islands, nodes| {
        let pool = NodePool { name: name.into(), count, islands, nodes_per_island: nodes, ..NodePool::default() };
        let pools = vec![pool];
        let topology = TopologySpec { pools, ..TopologySpec::default() };
        node_names(&topology.pools).collect::<Vec<_>>()
    };
    assert_eq!(names("p{pool}-i{island}-n{node:03}", 2, 1, 2)[3], "p1-i1-n003");
    assert_eq!(names("tpu", 1, 2, 2), ["tpu-00000", "tpu-00001", "tpu-00002", "tpu-00003"]);
    assert_eq!(names("one", 1, 1, 1), ["one"]);
    assert!(names("none", 0, 1, 1).is_empty());
}
