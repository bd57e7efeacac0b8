//! `compare` on the command line: the JSON contract, identical output for any number of threads, verdicts, rejected
//! paths.

use crate::support::cases;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub fn compare(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    let command = command.arg("compare").args(arguments).arg("--quiet");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap()
}

#[track_caller]
pub fn stdout_of(arguments: &[&str]) -> String {
    let output = compare(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
pub fn json(arguments: &[&str]) -> Value {
    let text = stdout_of(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
pub fn assert_rejected(arguments: &[&str], code: i32) -> String {
    let output = compare(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

pub fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("jobset-sim-it-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

const SCENARIO: &str = "scenarios/first-steps.yaml";
const BLOCKING: &str = "blocking: strategy=BlockingRecreate";
const SAME: &str = "same: stop.at=2h";
const WORKERS: &str = "scenarios/manifests/workers.yaml";
const FAIL: &str = "train-workers-0-1:exit=1";

pub fn find_by_name<'v>(all: &'v Value, name: &str) -> &'v Value {
    let variants = all["variants"].as_array().unwrap();
    variants.iter().find(|v| v["name"] == name).unwrap_or_else(|| panic!("no variant {name} in {all}"))
}

fn pair<'v>(all: &'v Value, (a, b): (&str, &str), metric: &str) -> Option<&'v Value> {
    let mut pairs = all["paired"].as_array().unwrap().iter();
    pairs.find(|p| p["a"] == a && p["b"] == b && p["metric"] == metric)
}

#[test]
fn the_json_keeps_its_contract() {
    let dir = scratch("compare");
    let out = dir.join("out");
    let out_text = out.to_str().unwrap();
    let all = json(&[SCENARIO, "--variant", BLOCKING, "--seeds", "5", "--out", out_text]);
    assert_eq!(all["schema"], "jobset-sim/compare/v1");
    let written = fs::read_to_string(out.join("summary.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), all);
    let table = fs::read(out.join("replications.csv")).unwrap();
    let mut table = csv::Reader::from_reader(table.as_slice());
    let header = table.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 10, "a row for each replication and variant");
    for name in ["baseline", "blocking"] {
        let metrics = find_by_name(&all, name)["metrics"].as_object().unwrap();
        assert!(metrics.len() > 10, "{metrics:?}");
        for (metric, estimate) in metrics {
            for key in ["mean", "ci95", "p10", "p50", "p90", "n"] {
                assert!(estimate.get(key).is_some(), "{metric} has no {key}");
            }
            let column = header.iter().position(|h| h == metric).unwrap();
            let own = rows.iter().filter(|row| &row[0] == name);
            let values: Vec<f64> = own.filter_map(|row| row[column].parse().ok()).collect();
            assert_eq!(estimate["n"], values.len(), "{metric}");
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let text = estimate["mean"].as_f64();
            assert!(text.is_none_or(|m| (m - mean).abs() <= 1e-9 * mean.abs()), "{metric}");
        }
    }
    for p in all["paired"].as_array().unwrap() {
        let mean = |name: &Value| {
            let metrics = &find_by_name(&all, name.as_str().unwrap())["metrics"];
            metrics[p["metric"].as_str().unwrap()]["mean"].as_f64().unwrap()
        };
        let difference = mean(&p["b"]) - mean(&p["a"]);
        let text = p["mean"].as_f64().unwrap();
        assert!((text - difference).abs() < 1e-6, "{p}");
        let interval: Vec<f64> = serde_json::from_value(p["ci95"].clone()).unwrap();
        let apart = interval[0] > 0.0 || interval[1] < 0.0;
        let is_small = p["verdict"] == "noDifference";
        assert!(is_small || (p["verdict"] != "inconclusive") == apart, "{p}");
        assert_eq!(p["n"], 5);
        if apart && !is_small {
            let b_is_better = (text < 0.0) == (p["better"] == "lower");
            assert_eq!(p["verdict"], if b_is_better { "b" } else { "a" }, "{p}");
        }
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn one_thread_and_two_give_the_same_bytes_and_more_replications_change_none() {
    let dir = scratch("compare-threads");
    let arguments = [SCENARIO, "--variant", BLOCKING, "--variant", SAME];
    for format in ["text", "json", "csv", "md"].into_iter().step_by(cases(2, 1) as usize) {
        let on = |threads: &str| {
            let more = ["--seeds", "4", "--format", format, "--threads", threads];
            stdout_of(&[&arguments[..], &more].concat())
        };
        assert_eq!(on("1"), on("2"), "{format}");
    }
    let rows = |n: &str| -> BTreeMap<(String, String), String> {
        let out = dir.join(n);
        let more = ["--seeds", n, "--out", out.to_str().unwrap()];
        stdout_of(&[&arguments[..], &more].concat());
        let table = fs::read(out.join("replications.csv")).unwrap();
        let mut table = csv::Reader::from_reader(table.as_slice());
        let rows = table.records().map(Result::unwrap);
        let key = |r: &csv::StringRecord| (r[0].to_owned(), r[1].to_owned());
        let text = |r: &csv::StringRecord| r.iter().collect::<Vec<_>>().join(",");
        rows.map(|r| (key(&r), text(&r))).collect()
    };
    let (few, many) = (rows("3"), rows("5"));
    assert_eq!((few.len(), many.len()), (9, 15));
    assert!(few.iter().all(|(key, row)| many[key] == *row));
    fs::remove_dir_all(dir).unwrap();
}

/// A field without effect leaves every number unchanged; the report states that and ranks nothing.
#[test]
fn variants_that_are_equal_are_not_ranked() {
    let text = stdout_of(&[SCENARIO, "--variant", SAME, "--seeds", "3"]);
    assert!(text.contains("The variants do not differ in any metric."), "{text}");
    // A metric that only one of them has, such as that of a cause, is no difference.
    let fleet = ["tests/it/sweep/fleet.yaml", "--seeds", "2"];
    let renamed = ["--variant", "renamed: faults.0.cause=other"];
    let text = stdout_of(&[&fleet[..], &renamed].concat());
    assert!(text.contains("The variants do not differ in any metric that two of them have."), "{text}");
    let text = stdout_of(&[&fleet[..], &renamed, &["--metric", "training_time_h"]].concat());
    assert!(text.contains("The variants do not differ in training_time_h."), "{text}");
    let all = json(&[SCENARIO, "--variant", SAME, "--seeds", "3"]);
    let (one, other) = (find_by_name(&all, "baseline"), find_by_name(&all, "same"));
    assert_eq!(one["digest"], other["digest"]);
    let pairs = all["paired"].as_array().unwrap();
    assert!(pairs.iter().all(|p| p["verdict"] == "noDifference" && p["mean"] == 0.0));
}

#[test]
fn random_faults_are_the_same_in_all_variants() {
    let arguments = [
        "-f", WORKERS, "--set", "faultProcesses=[{cause: process, on: Pod, mtbf: 2d}]", "--set",
        "stop={at: 4h, when: Time}", "--variant", "patient: spec.failurePolicy.maxRestarts=500", "--strategies",
        "BlockingRecreate", "--seeds", "6",
    ];
    let all = json(&arguments);
    let metrics = &find_by_name(&all, "baseline")["metrics"];
    assert!(metrics["restarts"]["mean"].as_f64().unwrap() > 0.5, "{metrics}");
    // A different restart budget that is never reached changes nothing: the faults and their consequences are the
    // same.
    let digest = |name: &str| find_by_name(&all, name)["digest"].clone();
    let p = pair(&all, ("baseline", "patient"), "restartLatency_s.max").unwrap();
    assert_eq!((&p["mean"], digest("patient")), (&Value::from(0.0), digest("baseline")));
    let p = pair(&all, ("baseline", "BlockingRecreate"), "restartLatency_s.p50").unwrap();
    let deviation = |key: &str| p[key].as_f64().unwrap();
    assert!(deviation("deviation") < deviation("unpairedDeviation"), "{p}");
}

#[test]
fn strategy_sets_and_lists_its_dependent_fields() {
    let arguments = ["-f", WORKERS, "--strategies", "all", "--fail", FAIL, "--seeds", "4"];
    let all = json(&arguments);
    let names: Vec<&Value> = all["variants"].as_array().unwrap().iter().map(|v| &v["name"]).collect();
    assert_eq!(names, ["Recreate", "BlockingRecreate", "InPlaceRestart"]);
    let changes = find_by_name(&all, "InPlaceRestart")["changes"].as_array().unwrap();
    let brought = changes.iter().filter(|c| c["because"] == "InPlaceRestart").count();
    assert_eq!((changes.len(), brought), (6, 5), "{changes:?}");
    assert_eq!(find_by_name(&all, "Recreate")["changes"], serde_json::json!([]));
    // InPlaceRestart replaces no pod when one container fails. The paired difference still covers all 4 seeds.
    let p = pair(&all, ("Recreate", "InPlaceRestart"), "restarts").unwrap();
    assert!(p["n"] == 4, "{p}");
    let text = stdout_of(&[&arguments[..], &["--all"]].concat());
    assert!(text.contains("initContainers[0]="), "{text}");
    assert!(text.contains("(for InPlaceRestart)"), "{text}");
}

#[test]
fn blocked_runs_are_counted_separately_and_reported() {
    // Without a spare node, the pods of a crashed node remain pending indefinitely.
    let lost = "lost: faults=[{afterReady: 2m, crashNode: {ofPod: train-workers-0-0}}]";
    let arguments = ["-f", WORKERS, "--fail", FAIL, "--variant", lost, "--seeds", "3"];
    let all = json(&arguments);
    let latency = &find_by_name(&all, "lost")["metrics"]["restartLatency_s.p50"];
    assert_eq!((&latency["blocked"], &latency["n"]), (&Value::from(3), &Value::from(0)));
    assert!(latency["mean"].is_null() && latency["p90"].is_null());
    assert!(pair(&all, ("baseline", "lost"), "restartLatency_s.p50").is_none());
    let text = stdout_of(&[&arguments[..], &["--all"]].concat());
    for expected in [
        "of 3 replications, 3 blocked: worst value in quantiles, excluded from the mean",
        "lost      3 blocked; digest",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_keeps_the_replications_that_are_finished() {
    let dir = scratch("compare-signal");
    let out = dir.join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    let command = command.args(["compare", SCENARIO, "--variant", BLOCKING, "--out"]);
    let command = command.arg(&out).args(["--seeds", "10000000", "--format", "csv"]);
    let command = command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let kill = ["-s", "INT", &child.id().to_string()];
    assert!(Command::new("kill").args(kill).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{text}");
    assert!(text.contains("of 20000000 replications were finished"), "{text}");
    let printed = String::from_utf8_lossy(&ended.stdout);
    assert!(printed.contains("variant,baseline"), "{printed}");
    let table = fs::read_to_string(out.join("replications.csv")).unwrap();
    assert!(table.lines().count() > 1);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_variant_with_a_wrong_path_is_an_error_with_a_suggestion() {
    for (variant, expected) in [
        ("x: spec.failurePolcy.maxRestarts=1", "failurePolicy"),
        ("x: controlPlane.prest=stock", "preset"),
        ("x: strategy=InPlace", "InPlaceRestart"),
        ("x: jobSets[7].submitAt=1s", "the length of the list is 1"),
    ] {
        let text = assert_rejected(&[SCENARIO, "--variant", variant], 2);
        assert!(text.contains("in variant \"x\""), "{text}");
        assert!(text.contains(expected), "{variant}: {text}");
    }
    let text = assert_rejected(&[SCENARIO], 2);
    assert!(text.contains("nothing to compare"), "{text}");
    let twice = [SCENARIO, "--variant", BLOCKING, "--variant", BLOCKING];
    assert!(assert_rejected(&twice, 2).contains("is used twice"));
    let text = assert_rejected(&[SCENARIO, "--variant", BLOCKING, "--until", "restartLatency.p50 ±1%"], 2);
    assert!(text.contains("did you mean restartLatency_s.p50?"), "{text}");
}

#[test]
fn playing_until_a_metric_is_precise_ends_when_it_is() {
    let until = ["--until", "restartLatency_s.p50 ±5%", "--seeds", "500"];
    let all = json(&[&[SCENARIO, "--variant", BLOCKING], &until[..]].concat());
    for name in ["baseline", "blocking"] {
        let variant = find_by_name(&all, name);
        let n = variant["replications"].as_u64().unwrap();
        assert!((36..500).contains(&n), "{n} replications");
        let latency = &variant["metrics"]["restartLatency_s.p50"];
        let half = latency["ci95"][1].as_f64().unwrap() - latency["mean"].as_f64().unwrap();
        assert!(half <= 0.05 * latency["mean"].as_f64().unwrap(), "{latency}");
    }
}

#[test]
fn variants_of_a_scenario_are_simulated_by_compare_and_not_by_run() {
    let dir = scratch("compare-experiment");
    let text = fs::read_to_string(SCENARIO).unwrap();
    let from = Path::new("scenarios").canonicalize().unwrap();
    let text = text.replace("../topologies", &format!("{}/../topologies", from.display()));
    let text = text.replace("manifests/", &format!("{}/manifests/", from.display()));
    let more = "\nexperiment:\n  replications: 3\n  variants:\n    - name: blocking\n      set: {strategy: BlockingRecreate}\n";
    let file = dir.join("s.yaml");
    fs::write(&file, text + more).unwrap();
    let all = json(&[file.to_str().unwrap()]);
    assert_eq!(find_by_name(&all, "blocking")["replications"], 3);
    let on_the_line = json(&[SCENARIO, "--variant", BLOCKING, "--seeds", "3"]);
    assert_eq!(all["paired"], on_the_line["paired"]);
    for (wrong, expected) in
        [("name: blocking", "duplicate variant name"), ("name: baseline", "cannot be the name of a variant")]
    {
        let twice = fs::read_to_string(&file).unwrap() + &format!("    - {wrong}\n      set: {{seed: 2}}\n");
        let other = dir.join("wrong.yaml");
        fs::write(&other, twice).unwrap();
        let output = assert_rejected(&[other.to_str().unwrap()], 2);
        assert!(output.contains(expected), "{output}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn the_directory_alone_repeats_the_comparison() {
    let dir = scratch("compare-inputs");
    let out = dir.join("out");
    let arguments = ["-f", WORKERS, "--variant", "small: spec.replicatedJobs[0].replicas=2", "--seeds", "2"];
    stdout_of(&[&arguments[..], &["--out", out.to_str().unwrap()]].concat());
    let command = fs::read_to_string(out.join("inputs/command.txt")).unwrap();
    let words = command.trim().strip_prefix("jobset-sim ").unwrap();
    let program = env!("CARGO_BIN_EXE_jobset-sim");
    let shell = format!("'{program}' {words} --out again --quiet");
    let mut again = Command::new("sh");
    let again = again.args(["-c", &shell]).current_dir(out.join("inputs")).output().unwrap();
    assert!(again.status.success(), "{shell}: {}", String::from_utf8_lossy(&again.stderr));
    let read = |path: &str| fs::read_to_string(out.join(path)).unwrap();
    assert_eq!(read("summary.json"), read("inputs/again/summary.json"));
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let digest = summary["variants"][1]["digest"].as_str().unwrap();
    for chart in ["differences", "ledger", "distributions"] {
        let drawn = read(&format!("charts/{chart}.svg"));
        assert!(drawn.contains(&format!("small {digest}")), "{chart} does not show the digest");
        assert_eq!(drawn, read(&format!("inputs/again/charts/{chart}.svg")));
        let png = fs::read(out.join(format!("charts/{chart}.png")));
        assert_eq!(png.is_ok(), cfg!(feature = "png"), "{chart}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn metrics_of_several_jobsets_have_their_names() {
    let dir = scratch("compare-names");
    let second = fs::read_to_string(WORKERS).unwrap();
    let file = dir.join("second.yaml");
    fs::write(&file, second.replacen("name: train", "name: other", 1)).unwrap();
    let file = file.to_str().unwrap();
    let both = json(&["-f", WORKERS, "-f", file, "--fail", FAIL, "--seeds", "2", "--variant", BLOCKING]);
    let metrics = find_by_name(&both, "baseline")["metrics"].as_object().unwrap();
    for name in ["train.restarts", "other.restarts"] {
        assert!(metrics.contains_key(name), "{name} is not in {:?}", metrics.keys());
    }
    fs::remove_dir_all(dir).unwrap();
}

/// Pods of one Job that complete 4 of 2 at a time cannot restart in place.
#[test]
fn all_strategies_are_those_that_the_jobset_permits() {
    let dir = scratch("left-out");
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(WORKERS)).unwrap();
    let parallelism = manifest.find("parallelism: ").unwrap() + "parallelism: ".len();
    let n: u32 = manifest[parallelism..].split_whitespace().next().unwrap().parse().unwrap();
    let manifest = manifest.replace(&format!("completions: {n}"), &format!("completions: {}", 2 * n));
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("jobset.yaml");
    fs::write(&file, manifest).unwrap();
    let with = |strategies| ["-f", file.to_str().unwrap(), "--strategies", strategies, "--seeds", "2"];
    let all = json(&with("all"));
    let names: Vec<&str> = all["variants"].as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Recreate", "BlockingRecreate"], "{all}");
    let left_out = all["warnings"][0].as_str().unwrap();
    assert!(
        left_out.starts_with("InPlaceRestart is left out: ") && left_out.contains("must be set and equal"),
        "{left_out}"
    );
    let text = stdout_of(&with("all"));
    assert!(text.contains("InPlaceRestart is left out"), "{text}");
    // A strategy that is named must be possible.
    let refused = assert_rejected(&with("Recreate,InPlaceRestart"), 2);
    assert!(
        refused.contains("in variant \"InPlaceRestart\"") && refused.contains("must be set and equal"),
        "{refused}"
    );
    fs::remove_dir_all(dir).unwrap();
}

/// The conclusion is about the requested metric, and states how many pairs are compared without a correction.
#[test]
fn the_conclusion_is_about_the_requested_metric_and_states_the_number_of_pairs() {
    let some = [SCENARIO, "--variant", BLOCKING, "--variant", "pleg: timing.plegPeriod=2s", "--seeds", "3"];
    let text = stdout_of(&[&some[..], &["--metric", "restarts"]].concat()).replace('\n', " ");
    assert!(text.contains("The variants do not differ in restarts."), "{text}");
    assert!(
        text.contains("3 pairs without correction: equal variants show a false difference per metric in 12 % of cases"),
        "{text}"
    );
    let all = json(&[&some[..], &["--metric", "restarts"]].concat());
    assert_eq!(all["conclusion"], "The variants do not differ in restarts.");
    assert_eq!(all["multiplicity"]["pairs"], 3);
    assert!(all["paired"].as_array().unwrap().iter().all(|pair| pair.get("needed").is_none()));
    let two = json(&[SCENARIO, "--variant", BLOCKING, "--seeds", "2"]);
    assert_eq!(two["multiplicity"], Value::Null);
    let wrong = assert_rejected(&[SCENARIO, "--strategies", "all,foo"], 2);
    assert!(wrong.contains("unknown strategy \"foo\""), "{wrong}");
}

/// The text states why no variant is ranked; the JSON output has the pairs.
#[test]
fn variants_with_different_time_limits_are_named_in_every_format() {
    let limits = [SCENARIO, "--set", "stop.at=4m", "--variant", "short: stop.at=2m", "--seeds", "2"];
    let all = json(&limits);
    let names: Vec<&str> = all["variants"].as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(all["unequalTimes"], serde_json::json!([names]), "{all}");
    let equal = json(&[SCENARIO, "--variant", BLOCKING, "--seeds", "2"]);
    assert_eq!(equal.get("unequalTimes"), None);
}

/// Two equal laws with all differences due to chance.
#[test]
fn an_inconclusive_difference_asks_for_no_more_replications() {
    let text = stdout_of(&[
        "scenarios/published/bloom-176b.yaml", "--set", "training.work=10d", "--variant", "other: faults.0.times=1.01",
        "--seeds", "4", "--verbose",
    ]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("inconclusive") && !text.contains("needed; "), "{text}");
    assert!(!text.contains("more replications needed"), "{text}");
}

/// The directory of an interrupted comparison is reported with the replications that it contains, in pairs.
#[test]
fn the_report_of_an_interrupted_comparison_has_the_replications_of_its_directory() {
    let dir = scratch("compare-interrupted");
    let out = dir.join("out");
    let at = |path: &Path| path.to_str().unwrap().to_owned();
    stdout_of(&[SCENARIO, "--variant", BLOCKING, "--seeds", "3", "--out", &at(&out)]);
    let command = out.join("inputs/command.txt");
    let text = fs::read_to_string(&command).unwrap();
    let text = text.trim_end().replace("--seeds 3", "--seeds 1000000");
    fs::write(&command, format!("{text}  # interrupted: 5 of 2000000 replications were finished\n")).unwrap();
    let table = fs::read_to_string(out.join("replications.csv")).unwrap();
    let last = table.trim_end().rfind('\n').unwrap();
    fs::write(out.join("replications.csv"), &table[..=last]).unwrap();
    let page = dir.join("c.md");
    let mut report = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    let report = report.args(["report", &at(&out), "--md", &at(&page)]).output().unwrap();
    let err = String::from_utf8_lossy(&report.stderr);
    assert_eq!(report.status.code(), Some(0), "{err}");
    assert!(err.contains("these are simulated again"), "{err}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("only the 5 replications that the directory contains"), "{page}");
    fs::remove_dir_all(dir).unwrap();
}
