//! Tests of `sim_lint::trap_table`.

use sim_lint::trap_table::*;
use std::collections::BTreeSet;
#[test]
fn names_are_unique_and_in_kebab_case_and_every_trap_is_explained() {
    let mut seen = BTreeSet::new();
    for trap in all() {
        assert!(seen.insert(&trap.name), "{} twice", trap.name);
        let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(trap.name.chars().all(kebab), "{}", trap.name);
        assert!(!trap.rules.is_empty(), "{}", trap.name);
        for text in [&trap.consequence, &trap.fix] {
            assert!(text.ends_with('.') && text.len() > 10, "{}", trap.name);
        }
        assert!(!trap.title.ends_with('.'), "{}", trap.name);
    }
}
