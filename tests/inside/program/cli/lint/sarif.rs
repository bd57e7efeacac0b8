//! Unit tests of `jobset_sim::cli::lint::sarif`.

use super::*;

#[test]
fn every_trap_is_a_rule_and_paths_are_references() {
    let all = sarif(None);
    let rules = all["runs"][0]["tool"]["driver"]["rules"].as_array();
    assert_eq!(rules.map(Vec::len), Some(trap_table::all().count() + 1));
    assert_eq!(uri("./a b/ü.yaml"), "a%20b/%C3%BC.yaml");
}
