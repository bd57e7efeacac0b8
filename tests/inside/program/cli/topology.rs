//! Unit tests of `jobset_sim::cli::topology`.

use super::*;

#[test]
fn pools_add_up_to_the_first_line() {
    let pool = NodePool {
        name: "v5p".into(),
        count: 2,
        islands: 3,
        nodes_per_island: 4,
        allocatable: [("google.com/tpu".to_owned(), 4000)].into(),
        accelerator: "google.com/tpu".into(),
        ..NodePool::default()
    };
    let topology = TopologySpec { name: "t".into(), pools: vec![pool.clone(), pool], ..TopologySpec::default() };
    assert!(show(&topology).starts_with("t: 48 nodes, 192 accelerators\n"));
}
