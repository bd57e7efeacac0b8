//! The cluster that a Topology file describes.

use sim_policy::topology::ClusterBuilder;

/// A resource that is an accelerator in one pool counts as one on every node, because the ledger must be consistent.
#[test]
fn what_is_an_accelerator_in_one_pool_is_one_in_every_pool() {
    let text = "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {name: t}\npools:\n\
        - {name: a, nodesPerIsland: 1, accelerator: gpu, allocatable: {gpu: 4}}\n\
        - {name: b, nodesPerIsland: 1, allocatable: {gpu: 2, cpu: 9}}\n";
    let source = sim_inputs::SourceText { file: "t.yaml".to_owned(), text: text.to_owned() };
    let topology = sim_inputs::read_topology(&source).expect("a topology");
    let cluster = ClusterBuilder::build(&topology, &["pods".to_owned()]);
    assert_eq!(cluster.accelerators, [4, 2]);
}
