//! Decisions of Kueue at ff69552, which the functions repeat.
//!
//! `upstream.ndjson` has the situations of upstream's table tests (`tas_cache_test.go`) under the default feature
//! gates, `drawn.ndjson` random ones. Both were recorded from `FindTopologyAssignmentsForFlavor`.

use super::situation::Situation;

fn check(lines: &str, expected: usize) {
    let results = lines.lines().enumerate().map(|(at, line)| (at + 1, Situation::read(line).check()));
    let wrong: Vec<String> = results.filter_map(|(at, result)| Some(format!("line {at}: {}", result.err()?))).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.lines().count(), wrong.join("\n"));
    assert_eq!(lines.lines().count(), expected);
}

#[test]
fn situations_of_upstreams_tables_are_decided_as_recorded() {
    check(include_str!("upstream.ndjson"), 102);
}

#[test]
fn drawn_situations_are_decided_as_recorded() {
    check(include_str!("drawn.ndjson"), 250);
}
