//! `plan` and `sensitivity` on the command line: exit codes, formats, rejected arguments, contents of the run
//! directory.

use crate::program::{program, scratch};
use crate::support;
use serde_json::Value;
use std::fs;

const FLEET: &str = "scenarios/published/bloom-176b.yaml";
const SHORT: &str = "stop.at=20d";
/// Ends most replications before the time limit.
const LITTLE_WORK: &str = "training.work=20d";

#[track_caller]
pub fn run(arguments: &[&str], code: i32) -> (String, String) {
    let output = program(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {out}{err}");
    (out, err)
}

const SPARES: [&str; 7] = ["plan", "spares", FLEET, "--set", LITTLE_WORK, "--path", "spares.nodes"];

fn spares(target: &str, more: &[&str], code: i32) -> (String, String) {
    run(&[&SPARES[..], &["--target", target, "--seeds", "80"], more].concat(), code)
}

#[test]
fn unmet_target_exits_with_3_and_reports_the_closest_value() {
    let (out, err) = spares("effective_training_ratio.p10 >= 0.9999", &["--max", "2"], 3);
    assert!(out.contains("No value up to spares.nodes = 2 satisfies"), "{out}");
    assert!(err.contains("error: No value up to"), "{err}");
    assert!(out.contains("missed"), "{out}");
}

#[test]
fn invalid_arguments_are_rejected_before_simulating() {
    for (target, more, message) in [
        ("effective_training_ratio >= 0.9", &[][..], "add a statistic over the replications"),
        ("effective_training_rati.p10 >= 0.9", &[], "did you mean effective_training_ratio?"),
        ("failures.p90 <= lots", &[], "not a number"),
        (
            "effective_training_ratio.p10 >= 90",
            &[],
            "is a ratio between 0 and 1, and the limit is 90: write 90% or 0.9",
        ),
        ("failures.p90 <= 3", &["--min", "5", "--max", "2"], "the range is empty"),
        ("failures.p90 <= 3", &["--path", "spares.node"], "unknown field \"node\""),
        ("failures.p90 <= 3", &["--path", "metadata.name"], "metadata.name=32"),
    ] {
        let mut arguments = vec!["plan", "spares", FLEET, "--target", target];
        if !more.contains(&"--path") {
            arguments.extend(["--path", "spares.nodes"]);
        }
        let (out, err) = run(&[&arguments[..], more].concat(), 2);
        assert!(out.is_empty() && err.contains(message), "{target}: {err}");
    }
    for (arguments, message) in [
        (&["--ignore", "gpus"][..], "did you mean gpu?"),
        (&["--probability", "1.5"], "a probability between 0 and 1"),
        (&["--horizon", "0"], "expected a duration above 0"),
        (&["--horizon", "0s"], "expected a duration above 0 and up to 36500 days"),
        (&["--jobset", "train"], "unknown JobSet \"train\"; no JobSet is available"),
    ] {
        let (_, err) = run(&[&["plan", "budget", FLEET, "--seeds", "2"], arguments].concat(), 2);
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
}

#[test]
fn every_format_reports_the_same_and_a_directory_repeats_it() {
    let dir = scratch("planning").join("out");
    let out = dir.to_str().unwrap();
    let target = "effective_training_ratio.p10 >= 0.95";
    let (json, _) = spares(target, &["--max", "4", "--format", "json", "--out", out], 0);
    let text: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(text["schema"], "jobset-sim/plan-spares/v1");
    assert_eq!((&text["found"], &text["value"], &text["level"]), (&"least".into(), &0.into(), &"fleet".into()));
    let kept = fs::read_to_string(dir.join("summary.json")).unwrap();
    assert_eq!(kept, json);
    assert!(dir.join("charts/knee.svg").is_file());
    let command = fs::read_to_string(dir.join("inputs/command.txt")).unwrap();
    assert!(command.starts_with("jobset-sim plan spares "), "{command}");
    assert!(command.contains("--target 'effective_training_ratio.p10 >= 0.95'"), "{command}");
    let (csv, _) = spares(target, &["--max", "4", "--format", "csv"], 0);
    assert_eq!(fs::read_to_string(dir.join("table.csv")).unwrap(), csv);
    let (md, _) = spares(target, &["--max", "4", "--format", "md"], 0);
    assert!(md.starts_with("| value |"), "{md}");
    let (one, _) = spares(target, &["--max", "4", "--threads", "1"], 0);
    assert_eq!(one, spares(target, &["--max", "4", "--threads", "2"], 0).0);
    fs::remove_dir_all(dir.parent().unwrap()).unwrap();
}

#[test]
fn a_budget_names_its_causes_and_draws_its_survival() {
    let dir = scratch("budget").join("out");
    let (text, _) = run(
        &[
            "plan",
            "budget",
            "scenarios/published/llama3-405b.yaml",
            "--horizon",
            "10d",
            "--set",
            "nodes=64",
            "--set",
            "job.nodes=64",
            "--seeds",
            "40",
            "--ignore",
            "planned",
            "--probability",
            "50%",
            "--verbose",
            "--out",
            dir.to_str().unwrap(),
        ],
        0,
    );
    assert!(text.contains("If restarts by planned were not counted"), "{text}");
    assert!(text.contains("gpu_sram_or_processor"), "{text}");
    let kept: Value = serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
    assert_eq!(kept["schema"], "jobset-sim/plan-budget/v1");
    assert_eq!(kept["horizon_s"], 864_000.0);
    let shares = kept["causes"].as_array().unwrap().iter().map(|c| c["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(dir.join("charts/budget.svg").is_file());
    fs::remove_dir_all(dir.parent().unwrap()).unwrap();
}

const TRAINING: &str = "scenarios/training.yaml";

#[test]
fn best_interval_is_shown_with_closed_forms_and_their_limits() {
    let at_pods = ["--set", "training.work=1d", "--verbose", "--level", "pods"];
    let (text, _) = run(&[&["plan", "interval", TRAINING, "--seeds", "20"], &at_pods[..]].concat(), 0);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for message in
        ["Young", "Daly", ", exact 10m18s.", "restored only 1m after", "intervals are multiples of the step time 6s"]
    {
        assert!(text.contains(message), "{message}: {text}");
    }
    for (set, message) in [
        ("training.checkpoint=Continuous", "the job saves continuously"),
        ("training.checkpoint.blocking=0s", "the shortest interval that the storage supports is best"),
        ("faultProcesses=[]", "no interruptions in"),
    ] {
        let (_, err) = run(&["plan", "interval", TRAINING, "--seeds", "4", "--set", set], 2);
        assert!(err.contains(message), "{set}: {err}");
    }
}

#[test]
fn break_even_lies_between_distinguished_values() {
    let dir = scratch("breakeven").join("out");
    let over = "training.checkpoint.blocking=1s..2m";
    let (json, _) = run(
        &[
            "plan",
            "breakeven",
            TRAINING,
            "--a",
            "often: training.checkpoint.every=5m",
            "--b",
            "rarely: training.checkpoint.every=30m",
            "--over",
            over,
            "--seeds",
            if support::runs_long_tests() { "24" } else { "12" },
            "--set",
            "training.work=12h",
            "--format",
            "json",
            "--out",
            dir.to_str().unwrap(),
        ],
        0,
    );
    let text: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&text["found"], &text["below"]), (&"at".into(), &"a".into()));
    let number = |key: &str| text[key].as_f64().unwrap();
    assert!(1.0 < number("low") && number("low") < number("estimate") && number("estimate") < number("high"));
    assert!(number("high") < 60.0, "{text}");
    assert!(dir.join("charts/breakeven.svg").is_file());
    fs::remove_dir_all(dir.parent().unwrap()).unwrap();
    for (over, message) in [
        ("training.checkpoint.blocking=2m..1s", "the range is empty"),
        ("training.checkpoint.blocking=a..b", "neither a number nor a duration"),
        ("training.chekpoint.blocking=1s..2s", "chekpoint"),
    ] {
        let (_, err) = run(&["plan", "breakeven", TRAINING, "--b", "training.step=7s", "--over", over], 2);
        assert!(err.contains(message), "{over}: {err}");
    }
    let (_, err) = run(
        &["plan", "breakeven", TRAINING, "--b", "training.step=7s", "--over", "stop.at=9d..10d", "--metric", "godput"],
        2,
    );
    assert!(err.contains("did you mean goodput?"), "{err}");
}

#[test]
fn inputs_vary_over_published_or_given_ranges_one_at_a_time() {
    let (text, _) = run(&["sensitivity", FLEET, "--ranges", "--seeds", "20", "--set", SHORT], 0);
    assert!(text.contains("parameters.checkpoint_interval") && text.contains("CKPT-05"), "{text}");
    let given = ["--input", "parameters.checkpoint_interval=1h..6h"];
    let (csv, _) = run(&[&["sensitivity", FLEET, "--seeds", "20", "--format", "csv"], &given[..]].concat(), 0);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(csv.contains("parameters.checkpoint_interval,1h,6h") && csv.contains("as given"), "{csv}");
    let (_, err) = run(&["sensitivity", "scenarios/first-steps.yaml", "--ranges", "--seeds", "2"], 2);
    assert!(err.contains("no field of these inputs has a published range"), "{err}");
    for (more, message) in [
        (&["--out", "x"][..], "--ranges"),
        (&["--ranges", "--parameters-only"], "cannot be used with"),
        (&["--ranges", "--seeds", "1"], "at least 2"),
    ] {
        let (_, err) = run(&[&["sensitivity", FLEET], more].concat(), 2);
        assert!(err.contains(message), "{more:?}: {err}");
    }
    let (_, err) = run(&["sensitivity", "--ranges"], 2);
    assert!(err.contains("need a scenario"), "{err}");
}

#[test]
fn a_rare_chance_says_how_many_runs_would_have_to_be_counted() {
    let rare = ["plan", "rare", FLEET, "--horizon", "20", "--runs", "30", "--seeds", "10"];
    let (text, _) = run(&[&rare[..], &["--restarts", "14"]].concat(), 0);
    assert!(text.contains("maxRestarts 14 is exhausted within 20 days") && text.contains("full runs"), "{text}");
    let one = run(&[&rare[..], &["--loss-budget", "2d", "--threads", "1"]].concat(), 0).0;
    assert_eq!(one, run(&[&rare[..], &["--loss-budget", "2d", "--threads", "2"]].concat(), 0).0);
    let (_, err) = run(&rare, 2);
    assert!(err.contains("--restarts N"), "{err}");
    let (_, err) = run(&["plan", "rare", TRAINING, "--restarts", "3", "--level", "pods"], 2);
    assert!(err.contains("a scenario that level nodes supports"), "{err}");
}

#[test]
fn several_levels_are_searched_in_one_call_and_the_cheapest_combination_is_proposed() {
    let dir = scratch("several").join("out");
    let levels = |target: &str, more: &[&str], code: i32| {
        let all = [
            "plan", "spares", "tests/it/sweep/fleet.yaml", "--path", "parameters.spares=0..4", "--path",
            "nodes=16..18", "--seeds", "80", "--target", target,
        ];
        run(&[&all[..], more].concat(), code)
    };
    let out = ["--format", "json", "--out", dir.to_str().unwrap()];
    let target = "effective_training_ratio.mean >= 0.75";
    let output: Value = serde_json::from_str(&levels(target, &out, 0).0).unwrap();
    assert_eq!(output["schema"], "jobset-sim/plan-spares-levels/v1");
    let all = output["combinations"].as_array().unwrap();
    assert!(!all.is_empty() && all[0]["judgement"] == "meets", "{output}");
    let costs: Vec<f64> =
        all.iter().filter(|c| c["judgement"] == "meets").map(|c| c["cost"].as_f64().unwrap()).collect();
    assert!(costs.iter().all(|cost| *cost >= costs[0] * 0.999), "{costs:?}");
    assert!(dir.join("charts/combinations.svg").is_file());
    let command = fs::read_to_string(dir.join("inputs/command.txt")).unwrap();
    assert!(command.contains("--path nodes=16..18"), "{command}");
    let (text, _) = levels(target, &[], 0);
    assert!(text.contains("at the lowest cost:"), "{text}");
    let (_, err) = levels("effective_training_ratio.mean >= 0.9999", &[], 3);
    let most = "No combination up to parameters.spares=4, nodes=18 satisfies";
    assert!(err.contains(most), "{err}");
    for (path, message) in [
        ("nodes=0..2", "--path nodes is used twice"),
        ("job.recovery=1m..2m", "whole numbers"),
        ("job.recovery=", "no range"),
    ] {
        let (_, err) = levels(target, &["--path", path], 2);
        assert!(err.contains(message), "{path}: {err}");
    }
    fs::remove_dir_all(dir.parent().unwrap()).unwrap();
}

#[test]
fn the_heading_of_a_budget_counts_replications_and_not_what_is_simulated_again() {
    let (text, _) =
        run(&["plan", "budget", "scenarios/stories/restart-budget.yaml", "--seeds", "2", "--horizon", "1"], 0);
    let head = text.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(head.contains("2 replications, each repeated with the rule"), "{head}");
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// More of a field helps neither against maxRestarts, nor against the time limit, nor if it is no limit of the metric.
#[test]
fn a_failed_search_names_its_reason() {
    let text = |target: &str, more: &[&str]| {
        let range = ["--path", "nodes", "--min", "48", "--max", "56", "--set", "job.standbys=0"];
        let (out, err) =
            run(&[&["plan", "spares", FLEET, "--target", target, "--seeds", "40"], &range[..], more].concat(), 3);
        assert!(words(&err).contains("No value up to"), "{err}");
        words(&out)
    };
    let restarts = text("effective_training_ratio.p10 >= 0.5", &["--set", "job.maxRestarts=1"]);
    assert!(restarts.contains("maxRestarts 1 is used up") && restarts.contains("raise job.maxRestarts"), "{restarts}");
    let time = text("training_time_h.p90 <= 900", &["--set", SHORT]);
    assert!(time.contains("the time limit stop.at 480h comes before the end of the work"), "{time}");
    let cut = text("effective_training_ratio.p10 >= 0.5", &["--set", SHORT]);
    assert!(cut.contains("40 of 40 replications do not complete their work"), "the ratio has a value: {cut}");
    let equal = text("effective_training_ratio.p10 >= 0.9999", &["--set", LITTLE_WORK]);
    assert!(equal.contains("More does not help: nodes = 52 and nodes = 56 do not differ significantly"), "{equal}");
    assert!(!equal.contains("The reason in"), "all replications complete: {equal}");
}

#[test]
fn a_sensitivity_ranks_uncertainties_and_names_every_other_input() {
    let dir = scratch("sensitivity-inputs");
    let path = dir.join("fleet.yaml");
    let text = fs::read_to_string("tests/it/sweep/fleet.yaml").unwrap();
    let stage = "    - {name: manual,";
    let reboot = format!("    - {{name: reboot, takes: 40m, escalates: 0.3}}\n{stage}");
    assert!(text.contains(stage), "{text}");
    fs::write(&path, text.replace(stage, &reboot)).unwrap();
    let path = path.to_str().unwrap();
    let json: Value =
        serde_json::from_str(&run(&["sensitivity", path, "--ranges", "--seeds", "4", "--format", "json"], 0).0)
            .unwrap();
    let bars = json["bars"].as_array().unwrap();
    let decisions: Vec<bool> = bars.iter().map(|bar| bar["decision"].as_bool().unwrap()).collect();
    assert!(decisions.contains(&true) && decisions.is_sorted(), "uncertainties come first: {json}");
    assert!(bars.iter().all(|bar| !bar["path"].as_str().unwrap().starts_with("repair.")), "{json}");
    let named: Vec<&str> = json["notVaried"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    for path in ["repair.stages[0].takes", "repair.stages[0].escalates", "repair.stages[1].takes", "job.nodes"] {
        assert!(named.contains(&path), "{path}: {named:?}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn contradicting_inputs_are_named() {
    for (sets, message) in [
        (&["stop.at=2h"][..], "stop.at 2h comes before the work can be done: training.work is 48h"),
        (
            &["training.checkpoint.every=15m", "training.checkpoint.blocking=20m", "stop.at=72h"],
            "training.checkpoint.blocking 20m is not shorter than training.checkpoint.every 15m",
        ),
        (
            &["training.work=20m", "training.checkpoint.every=1h"],
            "training.checkpoint.every 1h is longer than training.work 20m",
        ),
        (
            &["training.step=100h", "stop.at=150h"],
            "training.step 100h is longer than training.work 48h: the work is extended to one step",
        ),
        (&["training.step=10h", "stop.at=9h"], "training.step 10h is longer than stop.at 9h: no step can end"),
        (&["training.compile=10h", "stop.at=9h"], "training.initialization and training.compile take "),
    ] {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let (out, _) = run(&[&["run", TRAINING, "--format", "json", "--quiet"], &sets[..]].concat(), 0);
        let json: Value = serde_json::from_str(&out).unwrap();
        let warnings = json["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|w| w.as_str().unwrap().contains(message)), "{message}: {warnings:?}");
        let (out, _) = run(&[&["compare", TRAINING, "--seeds", "2", "--verbose", "--quiet"], &sets[..]].concat(), 0);
        assert!(words(&out).contains(message), "{message}: {out}");
    }
    for (set, message) in [
        (&["stop.at=2h"][..], "stop.at 2h comes before the work can be done: training.work is "),
        (&["training.checkpoint.every=400d"], "training.checkpoint.every 9600h is longer than training.work "),
        (
            &["stop.at=10d", "faults=[{cause: late, trace: late.csv}]"],
            "stop.at 240h comes before the first fault of the trace with cause \"late\"",
        ),
    ] {
        let dir = scratch("contradicting-fleet");
        fs::write(dir.join("late.csv"), "node,time\na,400h\nb,300h\n").unwrap();
        fs::copy("tests/it/sweep/fleet.yaml", dir.join("fleet.yaml")).unwrap();
        let fleet = dir.join("fleet.yaml");
        let fleet = fleet.to_str().unwrap();
        let sets: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        let (out, _) = run(&[&["run", fleet, "--seeds", "2", "--format", "json", "--quiet"], &sets[..]].concat(), 0);
        let json: Value = serde_json::from_str(&out).unwrap();
        let warnings = json["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|w| w.as_str().unwrap().contains(message)), "{message}: {warnings:?}");
        fs::remove_dir_all(dir).unwrap();
    }
    let blocked = ["--set", "training.checkpoint.blocking=3h", "--set", "parameters.checkpoint_interval=1h"];
    let (_, err) = run(&[&["plan", "budget", FLEET, "--seeds", "2"], &blocked[..]].concat(), 0);
    assert!(err.contains("warning: training.checkpoint.blocking 3h is not shorter than"), "{err}");
    let returned = "faults=[{at: 1m, returnNode: {node: node-03}}, {at: 2m, uncordonNode: {node: node-03}}]";
    let (out, _) = run(&["run", "scenarios/first-steps.yaml", "--set", returned, "--format", "json", "--quiet"], 0);
    assert!(out.contains("returnNode had no effect, because it had not left"), "{out}");
    assert!(out.contains("uncordonNode had no effect, because it was not cordoned"), "{out}");
    let again = "faults=[{at: 1m, crashNode: {node: node-03}}, {at: 2m, crashNode: {node: node-03}}, \
                 {at: 3m, partitionNode: {node: node-03}}, {at: 4m, cordonNode: {node: node-04}}, \
                 {at: 5m, cordonNode: {node: node-04}}, {at: 6m, resumeJobSet: {name: train}}, \
                 {at: 7m, deleteJobSet: {name: train}}, {at: 420.1s, deleteJobSet: {name: train}}, \
                 {at: 420.2s, suspendJobSet: {name: train}}]";
    let (out, _) = run(&["run", "scenarios/first-steps.yaml", "--set", again, "--format", "json", "--quiet"], 0);
    for reason in [
        "crashNode had no effect, because it had already crashed",
        "partitionNode had no effect, because it had already left",
        "cordonNode had no effect, because it was already cordoned",
        "resume had no effect, because it was not suspended",
        "deleteJobSet had no effect, because it was already being deleted",
        "suspend had no effect, because it was being deleted",
    ] {
        assert!(out.contains(reason), "{reason}: {out}");
    }
    let (_, err) = run(&["run", TRAINING, "--fail-if", "goodput < 90"], 2);
    assert!(err.contains("goodput is a ratio between 0 and 1"), "{err}");
}

/// The messages are those of scenarios with the same contradiction.
#[test]
fn contradicting_inputs_of_a_fleet_are_refused_as_in_scenarios() {
    let dir = scratch("refused-fleet");
    fs::write(dir.join("faults.csv"), "node,time,kind\na,1h,xid79\nb,2h,reboot\n").unwrap();
    let text = fs::read_to_string("tests/it/sweep/fleet.yaml").unwrap();
    let path = dir.join("fleet.yaml");
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    for (set, message) in [
        ("stop.at=0s", "stop.at is 0: the run would end before it begins"),
        ("repair.retire=window:3:0s", "is not a valid retirement rule"),
        ("repair.stages=[{name: a, takes: 1h}, {name: a, takes: 2h}]", "duplicate repair stage \"a\""),
        ("faults=[{cause: job, mtbf: 30d, needsRepair: false}]", "repair has no effect: no fault process sends"),
        ("lemons={share: 0.2}", "lemons has no effect: no fault process has onlyLemons"),
        ("lemons={share: 0.2, regenerateShare: 0.5}", "lemons: regenerateShare requires regenerateEvery"),
        (
            "faults=[{cause: t, trace: {file: faults.csv, kinds: [xid79, xid97]}}]",
            "the trace \"faults.csv\" contains no fault of kind \"xid97\"",
        ),
        ("job.standbys=100", "16 nodes and 1 spares are fewer than the 116 nodes that the job requires"),
    ] {
        let (_, err) = run(&["run", path, "--set", set], 2);
        assert!(words(&err).contains(message), "{message}: {err}");
    }
    let spares = ["plan", "spares", path, "--path", "parameters.spares", "--seeds", "2"];
    let (_, err) = run(&[&spares[..], &["--target", "effective_training_ratio.p10>=1.2"]].concat(), 2);
    assert!(err.contains("effective_training_ratio is a ratio between 0 and 1"), "{err}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_frequent_event_is_left_to_plain_simulation() {
    let rare = ["plan", "rare", FLEET, "--horizon", "20", "--runs", "30", "--seeds", "4", "--restarts"];
    let is_frequent = |restarts: &str| run(&[&rare[..], &[restarts]].concat(), 0).0.contains("use plain simulation");
    assert!(is_frequent("4") && !is_frequent("18"));
}
