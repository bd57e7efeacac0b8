//! Unit tests of `jobset_sim::bench::suite`.

use super::*;

#[test]
fn the_table_is_read_and_its_rows_can_be_chosen() {
    let suite = BenchSuite::shipped();
    assert_eq!((suite.cases.len(), suite.nodes.len()), (11, 4));
    assert!(suite.cases.iter().all(|c| !c.about.is_empty() && !c.faults.is_empty()));
    let all = suite.combinations(&RowFilter::default()).unwrap();
    assert_eq!(all.len(), 11 * 4 * suite.strategies.len() * suite.control_planes.len());
    let rack = suite.cases.iter().find(|c| c.name == "rack-loss").unwrap();
    assert_eq!(rack.faults.len(), 50);
    assert_eq!(rack.faults[24]["crashNode"]["alias"], "lost-24");
    let only = RowFilter {
        cases: vec!["drain".to_owned()],
        nodes: vec![200],
        presets: vec!["kops".to_owned()],
        ..RowFilter::default()
    };
    assert_eq!(suite.combinations(&only).unwrap().len(), 6);
    let wrong = RowFilter { cases: vec!["drian".to_owned()], ..RowFilter::default() };
    let error = suite.combinations(&wrong).err().unwrap();
    assert!(error.contains("did you mean drain?"), "{error}");
}
