//! Reports and charts: self-contained files, safe with any names, reproducible bytes, and the same numbers as those
//! of the other commands.

mod formats;
mod layouts;
mod open_metrics;
mod states;
mod stored_reports;
mod sweeps;

use crate::program::{program, scratch};
use crate::support::cases;
use std::fs;
use std::path::Path;

const SMALL: &str = "scenarios/first-steps.yaml";

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = program(arguments).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), text)
}

fn run_ok(arguments: &[&str]) -> String {
    let (code, text) = run(arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {text}");
    text
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Asserts that a page contains nothing that makes a browser load resources or run foreign scripts.
fn assert_self_contained(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    for foreign in ["http://", "https://", "src=", "<link rel=\"stylesheet", "@import", "url(//"] {
        let kept = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!kept.contains(foreign), "{foreign}");
    }
    assert_eq!(page.matches("<script>").count(), 1, "a page has exactly one script");
    for tag in ["html", "body", "main", "section", "table", "svg", "figure", "p", "td", "ul", "div"] {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        let opened = page.matches(&format!("{open} ")).count() + page.matches(&format!("{open}>")).count();
        assert_eq!(opened, page.matches(&close).count(), "{tag}");
    }
}

#[test]
fn a_report_is_one_file_with_the_seconds_of_run_and_the_path_of_why() {
    let dir = scratch("report");
    let (a, b) = (dir.join("a.html"), dir.join("b.html"));
    for file in [&a, &b] {
        run_ok(&["report", SMALL, "--html", file.to_str().unwrap()]);
    }
    let page = text(&a);
    assert!(page == text(&b), "the same inputs give the same bytes");
    assert_self_contained(&page);
    let output = run_ok(&["run", SMALL, "--verbose"]);
    let digest = output.split("digest ").nth(1).unwrap().split(')').next().unwrap();
    assert!(page.contains(digest), "{digest}");
    let title = output.lines().find(|l| l.starts_with("Restart 1 of")).unwrap();
    assert!(page.contains(title), "{title}");
    let why = run_ok(&["why", SMALL, "--path-only"]);
    let spans = why.lines().find(|l| l.contains(" spans, ") && l.contains(" in total: ")).unwrap();
    let spans = spans.trim().split(',').next().unwrap();
    assert!(page.contains(spans), "{spans}");
    for section in ["Critical path", "Main events", "Relevant assumptions", "Reproduce"] {
        assert!(page.contains(&format!("{section}</h2>")), "{section}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_run_directory_is_reported_as_its_scenario_is_and_has_its_waterfall() {
    let dir = scratch("report-run");
    let (out, page, md) = (dir.join("run"), dir.join("r.html"), dir.join("r.md"));
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    run_ok(&["run", SMALL, "--seed", "7", "--out", &name(&out)]);
    let drawn = text(&out.join("waterfall.svg"));
    assert!(drawn.contains("Restart 1 of JobSet") && drawn.contains("seed 7"));
    run_ok(&["report", &name(&out), "--html", &name(&page), "--md", &name(&md)]);
    let digest = text(&out.join("summary.json"));
    let digest = digest.split("\"digest\": \"").nth(1).unwrap()[..16].to_owned();
    assert!(text(&page).contains(&digest) && text(&md).contains(&digest));
    assert!(text(&md).contains("](r.charts/waterfall-1.svg)"));
    // The layouts differ, because the page of a report is as high as its content; the durations of the steps do not.
    let durations = |path: &Path| -> Vec<String> {
        let svg = text(path);
        let texts = svg.split("</text>").filter_map(|part| part.rsplit('>').next());
        texts.filter(|text| text.ends_with(" s") && text.len() < 10).map(str::to_owned).collect()
    };
    let alone = dir.join("alone.svg");
    run_ok(&["plot", "waterfall", &name(&out), "--size", "1600x700", "--out", &name(&alone)]);
    let drawn = durations(&alone);
    assert!(drawn.len() >= 5 && drawn == durations(&dir.join("r.charts/waterfall-1.svg")), "{drawn:?}");
    fs::remove_dir_all(dir).unwrap();
}

/// A JobSet whose texts try to escape from HTML, SVG, Markdown and YAML contexts.
const HOSTILE: &str = r#"
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: "</script><script>alert(1)</script>\u202e\u0007|`*[x](javascript:y)"}
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: "<img src=x onerror=alert(2)>"}
  pools: [{name: "a-{node}", count: 1, nodesPerIsland: 4, allocatable: {cpu: 8}}]
jobSets: [{manifest: jobset.yaml}]
faults: [{afterReady: 5s, containerExit: {pod: a-w-0-0, exitCode: 1}}]
stop: {at: 1h, when: Settled}
"#;

const JOBSET: &str = r#"
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a}
spec:
  failurePolicy: {maxRestarts: 1}
  replicatedJobs:
    - name: w
      template:
        spec:
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              containers: [{name: c, image: 'i:1', command: ["sh", "-c", "sleep 10 # <b onmouseover='x'>]]>"]}]
"#;

#[test]
fn markup_in_names_is_escaped_in_pages() {
    let dir = scratch("report-hostile");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::write(dir.join("s.yaml"), HOSTILE).unwrap();
    fs::write(dir.join("jobset.yaml"), JOBSET).unwrap();
    run_ok(&["report", &at("s.yaml"), "--html", &at("r.html"), "--md", &at("r.md")]);
    run_ok(&["plot", "waterfall", &at("s.yaml"), "--out", &at("w.svg")]);
    let page = text(&dir.join("r.html"));
    assert_self_contained(&page.replace("src=x", "").replace("javascript:", ""));
    for file in ["r.html", "r.md", "w.svg"] {
        let text = text(&dir.join(file));
        for raw in ["<script>alert", "<img", "<b onmouseover", "\u{202e}", "\u{7}"] {
            assert!(!text.contains(raw), "{file}: {raw:?}");
        }
    }
    let md = text(&dir.join("r.md"));
    assert!(!md.contains("[x](javascript"), "a link was injected: {md}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn what_cannot_be_written_is_rejected_by_name() {
    let dir = scratch("report-refused");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    for (arguments, message) in [
        (vec!["report", SMALL, "--html", &at("r.txt")], "must end with .html"),
        (vec!["report", SMALL], "--html"),
        (vec!["report", "scenarios", "--html", &at("r.html")], "is not a run directory"),
        (vec!["plot", "waterfall", SMALL, "--out", &at("w.pdf")], "SVG (.svg)"),
        (vec!["plot", "waterfall", SMALL, "--out", &at("w.svg"), "--restart", "9"], "restart numbers start at 1"),
        (vec!["plot", "waterfall", SMALL, "--out", &at("w.svg"), "--size", "1x1"], "WIDTHxHEIGHT"),
        (vec!["plot", "waterfall", SMALL, SMALL, "--out", &at("w.svg")], "plot restarts"),
        (vec!["plot", "waterfall", SMALL, "--out", &at("w.svg"), "--window", "1m..2m"], "charts over time only"),
        (vec!["plot", "gantt", SMALL, "--out", &at("w.svg"), "--window", "2m..1m"], "FROM before TO"),
    ] {
        let (code, text) = run(&arguments);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(message), "{message}: {text}");
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "no file may remain");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_chart_has_the_title_window_and_size_that_were_asked_for() {
    let dir = scratch("report-options");
    let file = dir.join("gantt.svg").to_str().unwrap().to_owned();
    let draw = |more: &[&str]| {
        run_ok(&[&["plot", "gantt", "scenarios/first-steps.yaml", "--out", &file], more].concat());
        fs::read_to_string(&file).unwrap()
    };
    let title = draw(&["--title", "Pods & nodes"]);
    assert!(title.contains("<title>Pods &amp; nodes</title>"), "the title is that of the chart, escaped");
    let window = draw(&["--window", "2m..3m"]);
    for (time, is_shown) in [(">110 s<", false), (">120 s<", true), (">180 s<", true), (">190 s<", false)] {
        assert_eq!(window.contains(time), is_shown, "{time}");
    }
    for (size, expected) in [("slide", "width=\"1600\" height=\"900\""), ("page", "width=\"1280\" height=\"720\"")] {
        assert!(draw(&["--size", size]).contains(expected), "{size}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_restart_of_5000_pods_is_a_small_page_with_every_pod_in_its_lanes_and_every_node_on_its_map() {
    let dir = scratch("report-5000");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let scenario = "scenarios/restart-5000-recreate.yaml";
    run_ok(&["report", scenario, "--html", &at("r.html")]);
    let page = text(&dir.join("r.html"));
    assert_self_contained(&page);
    assert!(page.len() < 3_000_000, "{}", page.len());
    assert!(page.matches("<small>1,000 pods</small>").count() == 5);
    assert!(page.contains("4,000 of 5,000 nodes run pods of a different Job"));
    let kinds = ["gantt", "map", "queues", "utilization", "fragmentation", "waterfall"];
    for kind in &kinds[..cases(2, 6) as usize] {
        let file = at(&format!("{kind}.svg"));
        run_ok(&["plot", kind, scenario, "--out", &file]);
        let drawn = fs::read_to_string(file).unwrap();
        for part in ["digest ", "node requests 4,000/s (unverified)", "grace period 0 s", "(assumed)"] {
            assert!(drawn.contains(part), "{kind}: {part}");
        }
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn comparisons_and_benchmarks_have_pages_and_charts_of_their_own() {
    let dir = scratch("report-many");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let compared = "scenarios/compare-one-failure.yaml";
    run_ok(&["compare", compared, "--seeds", "4", "--quiet", "--out", &at("cmp")]);
    run_ok(&["report", &at("cmp"), "--html", &at("c.html"), "--md", &at("c.md")]);
    let page = text(&dir.join("c.html"));
    assert_self_contained(&page);
    let summary = text(&dir.join("cmp/summary.json"));
    let digest = summary.split("digest\": ").nth(1).unwrap().split(',').next().unwrap();
    let digest: u64 = digest.trim().parse().unwrap_or(0);
    assert!(digest == 0 || page.contains(&format!("{digest:016x}")), "{digest:016x}");
    assert!(text(&dir.join("c.md")).contains("](c.charts/differences.svg)"));
    for part in ["Relevant assumptions</h2>", "depends on: ", ">in-place</td>"] {
        assert!(page.contains(part), "{part}");
    }
    let (drawn, again) = (at("d.svg"), dir.join("cmp/charts/differences.svg"));
    run_ok(&["plot", "differences", &at("cmp"), "--out", &drawn]);
    assert!(fs::read(drawn).unwrap() == fs::read(again).unwrap(), "the chart must be the one that compare wrote");
    run_ok(&["plot", "cdf", SMALL, compared, "--seeds", "4", "--out", &at("cdf.svg")]);
    run_ok(&["report", "reports/ttr-baseline.json", "--html", &at("b.html")]);
    let page = text(&dir.join("b.html"));
    assert_self_contained(&page);
    for part in ["Relevant assumptions</h2>", "depends on: ", "drain/1000/Recreate/"] {
        assert!(page.replace("<wbr>", "").contains(part), "{part}");
    }
    run_ok(&["plot", "scaling", "reports/ttr-baseline.json", "--case", "drain", "--out", &at("s.svg")]);
    let drawn = text(&dir.join("s.svg"));
    assert!(drawn.contains("drain: time to recover") && drawn.contains("closed form: (nodes - 100) / 100 s"));
    for (arguments, message) in [
        (vec!["plot", "goodput", &at("cmp"), "--out", &at("x.svg")], "available charts: differences"),
        (
            vec!["plot", "scaling", "reports/ttr-baseline.json", "--case", "x", "--out", &at("x.svg")],
            "cases in the file: ",
        ),
        (vec!["report", &at("cmp"), "--perfetto", &at("x.pftrace")], "need a single run"),
    ] {
        let (code, part) = run(&arguments);
        assert!(code == Some(2) && part.contains(message), "{message}: {part}");
    }
    fs::remove_dir_all(dir).unwrap();
}
