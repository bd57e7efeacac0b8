//! Pages and charts of sweeps: generated from the directory alone, and identical to those of the sweep itself.

use super::{SMALL, assert_self_contained, run, run_ok, text};
use crate::program::scratch;
use std::fs;

/// Runs a sweep over the QPS limit of the Job controller, which is decisive because the burst is 1; `more` are
/// further options.
fn sweep(out: &str, more: &[&str]) -> String {
    let line = "--set controlPlane.kubeControllerManager.burst=1 --grid controlPlane.kubeControllerManager.qps=0.5,1,5";
    let mut words = vec!["sweep", SMALL];
    words.extend(line.split(' '));
    words.extend(["--seeds", "2", "--quiet", "--out", out]);
    words.extend(more);
    run_ok(&words)
}

#[test]
fn a_directory_of_a_sweep_has_a_page_and_the_charts_that_the_sweep_has_drawn() {
    let dir = scratch("report-sweep");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let output = sweep(&at("sw"), &["--grid", "strategy=Recreate,BlockingRecreate"]);
    run_ok(&["report", &at("sw"), "--html", &at("s.html"), "--md", &at("s.md")]);
    let page = text(&dir.join("s.html"));
    assert_self_contained(&page);
    let conclusion = output.split("\n\n").nth(1).unwrap().replace('\n', " ");
    assert!(page.contains(&conclusion), "{conclusion}");
    for part in ["Points</h2>", "Relevant assumptions</h2>", "tokens", "--grid"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(text(&dir.join("s.md")).contains("](s.charts/scaling.svg)"));
    for kind in ["heat", "bands"] {
        let drawn = at(&format!("{kind}.svg"));
        run_ok(&["plot", kind, &at("sw"), "--out", &drawn]);
        let own = dir.join(format!("sw/charts/{kind}.svg"));
        let same = fs::read(&drawn).unwrap() == fs::read(own).unwrap();
        assert!(same, "{kind}: the chart differs from that of the sweep");
        let drawn = fs::read_to_string(drawn).unwrap();
        assert!(drawn.contains("depends on: ") && drawn.contains("(unverified)"), "{kind}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_sweep_is_drawn_along_any_of_its_fields_with_the_closed_form_beside_latencies() {
    let dir = scratch("report-sweep-scaling");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    sweep(&at("sw"), &[]);
    let plot = |more: &[&str]| {
        let mut line = vec!["plot", "scaling"];
        let (sw, out) = (at("sw"), at("p.svg"));
        line.extend([sw.as_str(), "--out", &out]);
        line.extend(more);
        run(&line)
    };
    let latency = "restartLatency_s.p50";
    assert_eq!(plot(&["--over", "qps", "--metric", latency]).0, Some(0));
    let drawn = text(&dir.join("p.svg"));
    assert!(drawn.contains("tokens") && drawn.contains("closed form: (pods - burst) / rate s"));
    assert!(drawn.contains("restart duration (median) (logarithmic)"), "the axes must be labeled");
    assert_eq!(plot(&["--metric", "ledger.productive"]).0, Some(0));
    assert!(!text(&dir.join("p.svg")).contains("closed form"), "a share has no closed form");
    for (more, message) in [
        (&["--over", "x"][..], "unknown axis \"x\"; available axes: qps"),
        (&["--metric", "x"], "unknown metric \"x\""),
        (&["--seed", "9"], "run `sweep` again"),
    ] {
        let (code, output) = plot(more);
        assert!(code == Some(2) && output.contains(message), "{message}: {output}");
    }
    for (line, message) in [
        (["plot", "goodput"], "not a sweep"),
        (["plot", "waterfall"], "was written by `sweep`; only directories of `run`"),
    ] {
        let (sw, out) = (at("sw"), at("x.svg"));
        let (code, output) = run(&[line[0], line[1], &sw, "--out", &out]);
        assert!(code == Some(2) && output.contains(message), "{message}: {output}");
    }
    // A report requires the inputs of the sweep to be unchanged.
    let input = dir.join("sw/inputs/scenarios/first-steps.yaml");
    let changed = text(&input).replace("seed: ", "seed: 1");
    fs::write(&input, changed).unwrap();
    let (code, output) = run(&["report", &at("sw"), "--html", &at("x.html")]);
    assert!(code == Some(2) && output.contains("the stored inputs differ from those of the sweep"), "{output}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn charts_of_comparisons_and_sweeps_have_the_size_that_is_asked_for() {
    let dir = scratch("report-sizes");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    sweep(&at("sw"), &[]);
    let compared = "scenarios/compare-one-failure.yaml";
    run_ok(&["compare", compared, "--seeds", "3", "--quiet", "--out", &at("cmp")]);
    for (kind, of) in [("bands", at("sw")), ("scaling", at("sw")), ("differences", at("cmp"))] {
        run_ok(&["plot", kind, &of, "--size", "1280x720", "--out", &at("p.svg")]);
        let drawn = text(&dir.join("p.svg"));
        assert!(drawn.contains("width=\"1280\" height=\"720\""), "{kind}");
    }
    fs::remove_dir_all(dir).unwrap();
}
