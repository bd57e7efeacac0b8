//! The contents of `reports/`: every kind of page and chart, each as written by its command.

use super::{run_ok, text};
use crate::program::scratch;
use crate::support::{self, updates_golden_files};
use std::fs;
use std::path::Path;

/// Directories that are inputs of some files in `reports/`, and the commands that write them.
const REPORT_INPUTS: [(&str, &str); 5] = [
    ("target/kept/one-failure", "compare scenarios/compare-one-failure.yaml --seeds 40 --out"),
    ("target/kept/training", "compare scenarios/training.yaml --seeds 12 --out"),
    ("target/kept/slice-shapes", "compare scenarios/stories/slice-shapes.yaml --seeds 3 --out"),
    (
        "target/kept/sizes",
        "sweep scenarios/restart-5000-recreate.yaml --grid 'spec.replicatedJobs[0].replicas=1,2,3,5' --grid controlPlane.preset=stock,scale-test --seeds 3 --out",
    ),
    (
        "target/kept/relist",
        "sweep scenarios/first-steps.yaml --range timing.plegPeriod=500ms..10s:log --lhs 12 --seeds 3 --out",
    ),
];

/// The files in `reports/`, and the commands that write them.
const STORED_REPORTS: [(&str, &str); 28] = [
    ("restart-5000.html", "report scenarios/restart-5000-recreate.yaml --html"),
    ("one-failure.html", "report target/kept/one-failure --html"),
    ("sizes.html", "report target/kept/sizes --html"),
    ("ttr.html", "report reports/ttr-baseline.json --html"),
    ("restart-5000-waterfall.svg", "plot waterfall scenarios/restart-5000-recreate.yaml --out"),
    ("restart-5000-gantt.svg", "plot gantt scenarios/restart-5000-recreate.yaml --out"),
    ("restart-5000-queues.svg", "plot queues scenarios/restart-5000-recreate.yaml --out"),
    ("restart-5000-utilization.svg", "plot utilization scenarios/restart-5000-recreate.yaml --out"),
    ("restart-5000-map.svg", "plot map scenarios/restart-5000-recreate.yaml --out"),
    (
        "restart-5000-film.svg",
        "plot film scenarios/restart-5000-recreate.yaml scenarios/restart-5000-in-place.yaml --out",
    ),
    ("spot-spares-fragmentation.svg", "plot fragmentation scenarios/spot-spares-repair.yaml --out"),
    ("restart-5000-at-2m.svg", "plot map scenarios/restart-5000-recreate.yaml --at 2m --out"),
    (
        "recreate-and-in-place.svg",
        "plot restarts scenarios/restart-5000-recreate.yaml scenarios/restart-5000-in-place.yaml --out",
    ),
    ("ttr-scaling.svg", "plot scaling reports/ttr-baseline.json --case kill-process --preset stock --out"),
    ("sizes-scaling.svg", "plot scaling target/kept/sizes --out"),
    ("sizes-heat.svg", "plot heat target/kept/sizes --out"),
    ("sizes-bands.svg", "plot bands target/kept/sizes --out"),
    ("sizes-knee.svg", "plot knee target/kept/sizes --out"),
    ("relist-scatter.svg", "plot scatter target/kept/relist --out"),
    ("one-failure-cdf.svg", "plot cdf target/kept/one-failure --out"),
    ("one-failure-differences.svg", "plot differences target/kept/one-failure --out"),
    ("one-failure-distributions.svg", "plot distributions target/kept/one-failure --out"),
    ("one-failure-ledger.svg", "plot ledger target/kept/one-failure --out"),
    ("slice-shapes-steps.svg", "plot steps target/kept/slice-shapes --out"),
    ("training-goodput.svg", "plot goodput target/kept/training --out"),
    ("training-availability.svg", "plot availability target/kept/training --out"),
    ("kueue-quota.svg", "plot quota scenarios/kueue.yaml --out"),
    ("kueue-workloads.svg", "plot workloads scenarios/kueue.yaml --out"),
];

/// Splits a command line at spaces, and removes single quotes.
fn words(line: &str) -> Vec<String> {
    line.split(' ').map(|w| w.trim_matches('\'').to_owned()).collect()
}

/// Runs the program in the root of the repository, as a reader of `reports/README.md` would.
fn run_from_root(command: &str, out: &str) {
    let mut line = words(command);
    line.extend([out.to_owned(), "--quiet".to_owned()]);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    run_ok(&line);
}

#[test]
fn the_pages_and_charts_of_reports_are_those_that_their_commands_make() {
    let dir = scratch("report-kept");
    let base = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = base.join("reports");
    let manual = text(&root.join("README.md"));
    let message = |line: String| assert!(manual.contains(&line), "reports/README.md does not contain: {line}");
    // A quick run makes the charts of single runs with few pods; the others take seconds each.
    let is_complete = support::runs_long_tests() || updates_golden_files();
    let is_quick = |command: &str| command.contains("scenarios/") && !command.contains("-5000");
    let is_run = |command: &str| is_complete || is_quick(command);
    for (out, command) in REPORT_INPUTS {
        message(format!("jobset-sim {command} {out}"));
        if !is_complete {
            continue;
        }
        let _ = fs::remove_dir_all(base.join(out));
        fs::create_dir_all(base.join("target/kept")).unwrap();
        run_from_root(command, out);
    }
    let mut stale = Vec::new();
    for (name, command) in STORED_REPORTS {
        let new = dir.join(name);
        message(format!("jobset-sim {command} reports/{name}"));
        if !is_run(command) {
            continue;
        }
        run_from_root(command, new.to_str().unwrap());
        let new = fs::read(new).unwrap();
        if updates_golden_files() {
            fs::write(root.join(name), &new).unwrap();
        }
        if fs::read(root.join(name)).ok() != Some(new) {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "these files are out of date (UPDATE_GOLDEN=1 writes them): {stale:?}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn every_kind_of_chart_is_kept_once() {
    let text = run_ok(&["plot", "--help"]);
    let kinds = text.lines().filter_map(|l| l.trim_start().strip_prefix("- "));
    let kinds: Vec<&str> = kinds.filter_map(|l| l.split(':').next()).collect();
    assert!(kinds.len() >= 17, "{kinds:?}");
    for kind in kinds {
        let plot = format!("plot {kind} ");
        assert!(
            STORED_REPORTS.iter().any(|(_, command)| command.starts_with(&plot)),
            "there is no chart of kind {kind} in reports/"
        );
    }
}
