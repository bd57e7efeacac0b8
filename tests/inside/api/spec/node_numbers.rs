//! Unit tests of `sim_api::spec::node_numbers`.

use super::*;

#[test]
fn variables_are_replaced_by_the_numbers() {
    let numbers = NodeNumbers { pool: 2, island: 3, node: 41 };
    for (pattern, expanded) in [
        ("pool-{pool}", "pool-2"),
        ("n-{node:05}", "n-00041"),
        ("{pool:00}{node:1}{node:99}", "241000000041"),
        ("{island}/{unknown}", "3/{unknown}"),
        ("{node/16} {node/16:03} {island/2} {pool/0} {pool/x}", "2 002 1 {pool/0} {pool/x}"),
        ("plain", "plain"),
        ("broken{", "broken{"),
    ] {
        assert_eq!(numbers.expand(pattern), expanded);
    }
}
