//! Coverage of upstream's tests: each situation has a counterpart here, or a reason why it cannot have one.
//!
//! `situations.txt` lists the cases of all JobSet test suites by upstream's name. Each case has a row in one of the
//! files that the tests of this folder evaluate, with upstream's expectation. Must never refer to another test.

use super::{outcomes, pods, unit};
use crate::support::root;
use std::collections::BTreeSet;

const SITUATIONS: &str = include_str!("situations.txt");

/// Returns upstream's names with their counterparts.
fn situations() -> Vec<(&'static str, &'static str)> {
    let lines = SITUATIONS.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.map(|l| l.split_once(" => ").unwrap_or_else(|| panic!("no counterpart: {l}"))).collect()
}

/// Returns the names of the situations with this counterpart.
fn situations_of(kind: &str) -> BTreeSet<&'static str> {
    situations().into_iter().filter(|(_, what)| *what == kind).map(|(name, _)| name).collect()
}

#[test]
fn every_situation_of_upstreams_suites_is_simulated_or_says_why_not() {
    let all = situations();
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), all.len(), "duplicate name");
    let mut data = unit::tested_rows();
    data.extend(pods::tested_rows());
    for (kind, tested) in [("data", data), ("scenario", outcomes::tested_rows())] {
        let distinct: BTreeSet<&str> = tested.iter().map(String::as_str).collect();
        assert_eq!(situations_of(kind), distinct, "situations.txt and the files of the kind {kind} must agree");
    }
    let has_reason = |what: &str| what.strip_prefix("not: ").is_some_and(|reason| reason.len() > 10);
    let known = |what: &str| what == "data" || what == "scenario" || has_reason(what);
    let wrong: Vec<_> = all.iter().filter(|(_, what)| !known(what)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_count_of_upstreams_situations_is_the_one_that_is_reported() {
    let all = situations();
    let (data, scenarios) = (situations_of("data").len(), situations_of("scenario").len());
    let text = format!(
        "Of {} situations {} can be simulated, and all of them agree: {data} by upstream's own inputs, {scenarios} as \
         scenarios whose outcome is compared with upstream's expectation. {} cannot; the reason is in the same row.",
        all.len(),
        data + scenarios,
        all.len() - data - scenarios
    );
    let page = std::fs::read_to_string(root().join("docs/rules/README.md")).expect("a page");
    assert!(page.contains(&text), "docs/rules/README.md does not say: {text}");
}
