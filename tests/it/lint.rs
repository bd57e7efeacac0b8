//! Traps as data: for each trap a manifest that contains it and one that does not; upstream's examples and the
//! documentation page.

#[path = "lint/against_runs.rs"]
mod against_runs;
#[path = "lint/notation.rs"]
mod notation;
#[path = "lint/pending.rs"]
mod pending;
#[path = "lint/pending_runs.rs"]
mod pending_runs;

use crate::support::{self, files, root, updates_golden_files};
use notation::{Case, cases, target};
use sim_lint::{FindingKind, LintReport, trap_table};
use std::collections::BTreeSet;

fn names(report: &LintReport) -> BTreeSet<&'static str> {
    report.findings.iter().map(|f| f.name).collect()
}

#[test]
fn each_case_shows_its_trap_and_its_counterpart_does_not() {
    let mut wrong = Vec::new();
    for case in cases() {
        let (with, without) = (case.report(&case.with), case.report(&case.without));
        for (what, report) in [("with", &with), ("without", &without)] {
            for f in report.findings.iter().filter(|f| f.kind == FindingKind::Rejected) {
                let server = f.server.as_deref().unwrap_or("");
                wrong.push(format!("{} ({what}): rejected: {} {server}", case.trap, f.diagnostic.message));
            }
        }
        if !names(&with).contains(case.trap.as_str()) {
            wrong.push(format!("{}: not reported; reported {:?}", case.trap, names(&with)));
        }
        if names(&without).contains(case.trap.as_str()) {
            wrong.push(format!("{}: also reported for the counterpart", case.trap));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_trap_has_a_case_and_every_case_names_rules_of_its_trap() {
    let all: Vec<Case> = cases();
    for trap in trap_table::all() {
        assert!(all.iter().any(|c| c.trap == trap.name), "{} has no case", trap.name);
    }
    for case in &all {
        let trap = trap_table::named(&case.trap).unwrap_or_else(|| panic!("no trap {:?}", case.trap));
        assert!(!case.rules.is_empty(), "{}", case.trap);
        for rule in &case.rules {
            assert!(trap.rules.contains(rule), "{}: {rule}", case.trap);
        }
    }
}

#[test]
fn findings_have_a_place_in_the_file() {
    for case in cases() {
        for f in &case.report(&case.with).findings {
            assert!(f.diagnostic.line > 0 && !f.diagnostic.snippet.is_empty(), "{}", f.name);
        }
    }
}

/// The traps in upstream's own examples, with the reason for each.
const UPSTREAM: [(&str, &[&str]); 17] = [
    // Without restartPolicy, the kubelet restarts the container, and the Job fails as well.
    ("failure-policy/failjobset-action.yaml", &["restart-policy-default"]),
    ("failure-policy/host-maintenance-event-model.yaml", &["restart-policy-default"]),
    ("failure-policy/onjobfailurereasons-present-podfailurepolicy.yaml", &["restart-policy-default"]),
    ("failure-policy/restartjobset-action.yaml", &["restart-policy-default"]),
    ("simple/failure-policy.yaml", &["restart-policy-default"]),
    ("tpu-multislice/v6e-jax-workload.yaml", &["restart-policy-default"]),
    ("workload-aware-scheduling/tas/jobset.yaml", &["restart-policy-default", "scheduling-group-dropped"]),
    // The leader always exits with 1, and the rule has no limit.
    ("failure-policy/onjobfailurereasons-present.yaml", &["restart-policy-default", "restart-without-limit"]),
    ("failure-policy/restartjobandignoremaxrestarts-action.yaml", &["restart-without-limit"]),
    (
        "failure-policy/restartjobsetandignoremaxrestarts-action.yaml",
        &["restart-policy-default", "restart-without-limit"],
    ),
    // With /tmp/exit0, one pod exits with 0 while the others continue; after the next failure, the barrier is never
    // lifted.
    ("in-place-restart/jobset-main-container-mode.yaml", &["in-place-pod-may-succeed"]),
    ("in-place-restart/jobset-sidecar-container-mode.yaml", &["in-place-pod-may-succeed"]),
    // backoffLimit 10 with exclusive placement.
    ("simple/exclusive-placement.yaml", &["restart-policy-default", "exclusive-leader-ends-first"]),
    // The driver's readiness may be lost again.
    ("startup-policy/startup-driver-ready.yaml", &["in-order-readiness-probe"]),
    // Three pods share a ReadWriteOnce claim that is retained without volumeMode; backoffLimit is 6.
    ("volume-claim-policy/single-pvc.yaml", &["claim-not-reusable", "claim-single-node", "two-pods-of-one-index"]),
    // The JobSet is linted without the PodGroup of the other file.
    ("workload-aware-scheduling/jobset.yaml", &["scheduling-group-dropped"]),
    ("workload-aware-scheduling/dra/jobset.yaml", &["scheduling-group-dropped"]),
];

#[test]
fn upstream_examples_have_exactly_the_listed_traps() {
    let Some(corpus) = support::examples("their traps") else {
        return;
    };
    let mut folders = vec![corpus.clone()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).expect("a folder can be read").flatten();
        folders.extend(entries.map(|e| e.path()).filter(|p| p.is_dir()));
        for file in files(&folder, "yaml") {
            let path = file.display().to_string();
            let inspected = notation::inspect_path(&path);
            let report = sim_lint::lint(&sim_lint::LintInputs {
                files: &inspected,
                sources: &[],
                topology: None,
                update: None,
                target: target(true, true, false, 36),
            });
            let short = file.strip_prefix(&corpus).expect("the file is below the directory").display().to_string();
            let expected = UPSTREAM.iter().find(|(name, _)| *name == short);
            let expected: BTreeSet<&str> = match expected {
                Some((_, names)) => names.iter().copied().collect(),
                None => BTreeSet::new(),
            };
            assert_eq!(names(&report), expected, "{short}");
            seen += report.examined;
        }
    }
    assert!(seen > 20, "{seen} JobSets");
}

#[test]
fn the_page_about_lint_is_the_table() {
    let path = root().join("docs/lint.md");
    let page = sim_lint::docs::markdown();
    if updates_golden_files() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/lint.md: UPDATE_GOLDEN=1 cargo test writes it");
}

#[test]
fn server_rejections_are_reported_with_position_and_message() {
    for (patch, line_has, server) in [
        (r#"{"spec":{"ttlSecondsAfterFinished":-1}}"#, "ttlSecondsAfterFinished", "422 Invalid"),
        (r#"{"spec":{"relpicatedJobs":[]}}"#, "relpicatedJobs", "strict decoding error"),
        (r#"{"spec":{"successPolicy":{"operator":"All","targetReplicatedJobs":["x"]}}}"#, "\"x\"", "vjobset.kb.io"),
        (r#"{"spec":{"suspend":"yes"}}"#, "suspend", "400"),
        (r#"{"metadata":{"name":"A"}}"#, "\"A\"", "422 Invalid"),
    ] {
        let report = notation::patched(patch);
        let rejected: Vec<_> = report.findings.iter().filter(|f| f.kind == FindingKind::Rejected).collect();
        assert!(!rejected.is_empty(), "{patch}");
        assert!(rejected[0].diagnostic.snippet.contains(line_has), "{patch}: {rejected:?}");
        let sentence = rejected[0].server.as_deref().unwrap_or("");
        assert!(sentence.contains(server), "{patch}: {sentence}");
    }
}

#[test]
fn an_update_of_what_cannot_change_is_rejected() {
    use sim_lint::UpdateMethod;
    // The list of replicatedJobs is replaced as a whole, so values that were defaulted in it are lost (UPD-1).
    for how in [UpdateMethod::Apply, UpdateMethod::Replace] {
        let report = notation::updated("{}", "{}", how);
        let refused = report.findings.iter().find(|f| f.kind == FindingKind::Rejected);
        let refused = refused.and_then(|f| f.server.as_deref()).unwrap_or("");
        assert!(refused.contains("field is immutable"), "{how:?}: {:?}", report.findings);
    }
}
