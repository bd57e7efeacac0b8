//! Unit tests of `jobset_sim::bench::play`.

use super::super::BaselineReport;
use super::super::against::moved;
use super::super::print::change;
use super::super::suite::{BenchSuite, RowFilter};
use super::*;

#[test]
fn a_row_that_changed_is_named_with_its_case_and_its_phase() {
    let only = RowFilter {
        cases: vec!["kill-process".to_owned()],
        nodes: vec![100],
        strategies: vec!["Recreate".to_owned()],
        presets: vec!["kops".to_owned()],
    };
    let rows = BenchSuite::shipped().combinations(&only).unwrap();
    let entry = BenchEntry::OfSuite(rows[0].clone());
    let with = |sets: &[BenchSetting]| row(&entry, sets, (0, &ReplicationLimits::unlimited())).unwrap().unwrap();
    let play = || with(&[]);
    // Before 1.31 a Job is Failed before its pods have ended (kubernetes.md 1.4).
    let old = [("controlPlane.kubernetes".to_owned(), "1.30".to_owned())];
    let right = BaselineReport::new(vec![play()], Vec::new());
    let wrong = BaselineReport::new(vec![with(&old)], Vec::new());
    assert_eq!(moved(&right, &BaselineReport::new(vec![play()], Vec::new())), []);
    let moved = moved(&wrong, &right);
    let text = change(&moved[0]);
    let begins = "kill-process/100/Recreate/kops/1.36: ";
    assert!(text.starts_with(begins) && text.contains("; phase terminate -"), "{text}");
}
