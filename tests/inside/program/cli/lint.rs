//! Unit tests of `jobset_sim::cli::lint`.

use super::*;

#[test]
fn a_gate_is_a_name_an_operator_and_a_number() {
    for (text, ok) in [
        ("lint.warnings > 0", true),
        ("lint.errors>=1", true),
        ("lint.traps == 3", true),
        ("warnings > 0", false),
        ("lint.errors", false),
        ("lint.errors = 1", false),
        ("lint.errors > 1.5", false),
        ("lint.errors > -1", false),
    ] {
        assert_eq!(exit_status(text).is_ok(), ok, "{text}");
    }
    let report = LintReport::default();
    assert!(!exit_status("lint.errors > 0").unwrap().failed(&report));
    assert!(exit_status("lint.errors >= 0").unwrap().failed(&report));
}

#[test]
fn versions_of_kubernetes_have_two_or_three_parts() {
    for (text, minor_of) in [("1.36", Some(36)), ("v1.34.2", Some(34)), ("1", None), ("2.0", None), ("1.20", None)] {
        let read = kubernetes(text).ok();
        assert_eq!(read, minor_of.map(KubeVersion::new), "{text}");
    }
}
