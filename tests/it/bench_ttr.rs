//! `bench ttr`: identical output for any number of threads, the phase behind each change, `--fail-if` gates, and an
//! up-to-date baseline.

use crate::program::{program, scratch};
use crate::support;
use serde_json::Value;
use std::fs;
use std::process::Output;

fn bench(arguments: &[&str]) -> Output {
    let all = [&["bench", "ttr", "--quiet"][..], arguments].concat();
    program(&all).output().unwrap()
}

fn code_and_output(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const SMALL: [&str; 6] = ["--nodes", "100", "--preset", "scale-test", "--format", "json"];

#[test]
fn an_unchanged_program_gives_equal_bytes_on_any_number_of_threads() {
    // A quick run compares threads in `determinism` and `compare`.
    if !support::runs_long_tests() {
        return;
    }
    let one = bench(&[&SMALL[..], &["--threads", "1"]].concat());
    let two = bench(&[&SMALL[..], &["--threads", "2"]].concat());
    assert_eq!(one.status.code(), Some(0), "{:?}", code_and_output(&one).2);
    assert!(one.stdout == two.stdout);
    let report: Value = serde_json::from_slice(&one.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 11 * 3 * 2);
    for row in rows {
        assert!(row["ttr_ns"].is_u64(), "the case never recovers: {row}");
        let phases = row["phases_ns"].as_object().unwrap();
        let sum: u64 = phases.values().map(|ns| ns.as_u64().unwrap()).sum();
        assert!(sum <= row["ttr_ns"].as_u64().unwrap(), "{row}");
        assert!(row["restarts"] != 1 || sum == row["ttr_ns"].as_u64().unwrap(), "{row}");
    }
}

/// The injected regression is a longer batch period of the Job controller: equivalent to a wrong rule, and available
/// to users as a setting.
#[test]
fn slower_rule_fails_the_gate_and_names_case_phase_and_wait() {
    let dir = scratch("bench");
    let (baseline, junit) = (dir.join("baseline.json"), dir.join("ttr.xml"));
    let some = ["--case", "kill-process", "--nodes", "100", "--strategy", "Recreate", "--preset", "scale-test"];
    let of = |more: &[&str]| bench(&[&some[..], more].concat());
    let baseline = baseline.to_str().unwrap();
    let made = of(&["--out", baseline]);
    assert_eq!(made.status.code(), Some(0), "{:?}", code_and_output(&made));
    let gate = ["--against", baseline, "--fail-if", "ttr > +0%"];
    let (code, text, _) = code_and_output(&of(&gate));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("2 rows unchanged, 0 changed, 0 new"), "{text}");
    let slower = ["--set", "timing.jobSyncBatchPeriod=10s", "--junit", junit.to_str().unwrap()];
    let (code, text, _) = code_and_output(&of(&[&gate[..], &slower].concat()));
    assert_eq!(code, Some(5), "{text}");
    // The report wraps long lines, so they are joined.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("kill-process/100/Recreate/scale-test/1.36"), "{text}");
    assert!(text.contains("; phase terminate +") && text.contains("; wait for Job controller batches"), "{text}");
    let xml = fs::read_to_string(junit).unwrap();
    assert!(xml.contains("tests=\"3\" failures=\"2\"") && xml.contains("ttr &gt; +0%"), "{xml}");
    fs::remove_dir_all(dir).unwrap();
}

/// Returns the maximum restart latency of first-steps, as `run` reports it.
fn latency() -> String {
    let run = ["run", "scenarios/first-steps.yaml", "--format", "json"];
    let output = program(&run).output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    summary["jobSets"][0]["restartLatency_s"]["max"].to_string()
}

#[test]
fn user_scenarios_are_rows_and_missing_files_are_rejected_by_name() {
    let output = bench(&["scenarios/first-steps.yaml", "scenarios/node-drain.yaml", "--format", "csv"]);
    let (code, text, error) = code_and_output(&output);
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(text.lines().count(), 3, "{text}");
    let row = format!("first-steps,16,Recreate,scale-test,1.36,{},1,", latency());
    assert!(text.contains(&row), "{row}: {text}");
    for (arguments, expected) in [
        (&["--case", "drian"][..], "did you mean drain?"),
        (&["--nodes", "110"], "expected a multiple of 25, the size of a rack"),
        (&["--fail-if", "ttr > +2%"], "needs --against"),
        (&["--fail-if", "tttr > 2"], "available: ttr"),
        (
            &["scenarios/first-steps.yaml", "--nodes", "100"],
            "--nodes: cannot change the cluster of scenarios/first-steps.yaml",
        ),
        (
            &["scenarios/first-steps.yaml", "--strategy", "Recreation"],
            "--strategy: \"Recreation\" is not a restart strategy",
        ),
        (
            &["scenarios/first-steps.yaml", "scenarios/first-steps.yaml"],
            "two rows are named first-steps/16/Recreate/scale-test/1.36",
        ),
        (&["--against", "Cargo.toml"], "not a result of `bench ttr --format json`"),
    ] {
        let (code, _, error) = code_and_output(&bench(arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn the_committed_baseline_is_what_the_suite_gives() {
    let some = ["--nodes", "100", "--against", "reports/ttr-baseline.json", "--fail-if", "rows.changed > 0"];
    let (code, text, error) = code_and_output(&bench(&[&some[..], &["--fail-if", "rows.new > 0"]].concat()));
    assert_eq!(
        code,
        Some(0),
        "the baseline is out of date. If the change of results is intended, describe it in CHANGELOG.md and rewrite the baseline with bench ttr --out: {text}{error}"
    );
}

#[test]
fn run_and_compare_accept_the_same_gates() {
    let scenario = "scenarios/first-steps.yaml";
    let candidate = ["--variant", "slow: timing.jobSyncBatchPeriod=3s", "--seeds", "2", "--quiet"];
    for (arguments, code, expected) in [
        (&["run", scenario, "--fail-if", "restartLatency_s.max > 1m"][..], 0, ""),
        (&["run", scenario, "--fail-if", "restartLatency_s.max > 2500ms"], 5, "is true: the value is"),
        (&["run", scenario, "--seeds", "3", "--fail-if", "restartLatency_s.p50@max > 1s"], 5, "is true: the value is"),
        (&["run", scenario, "--fail-if", "restartLatency_s.max > +2%"], 2, "a relative change needs a baseline"),
        (&["run", scenario, "--fail-if", "latency > 1"], 2, "unknown name"),
        (&["run", "scenarios/user-actions.yaml", "--fail-if", "blocked < 1"], 5, "blocked"),
        (&["compare", scenario, "--fail-if", "slow:restartLatency_s.p50 > +5%"], 5, "in slow"),
        (&["compare", scenario, "--fail-if", "restartLatency_s.p50 > +500%"], 0, ""),
        (&["compare", scenario, "--fail-if", "fast:restarts > 1"], 2, "available: baseline, slow"),
    ] {
        let more = if arguments[0] == "compare" { &candidate[..] } else { &[] };
        let (got, _, error) = code_and_output(&program(&[arguments, more].concat()).output().unwrap());
        assert_eq!(got, Some(code), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn diff_reports_inputs_then_first_record_then_metrics() {
    let dir = scratch("diff");
    let run = |name: &str, sets: &[&str]| {
        let out = dir.join(name).to_str().unwrap().to_owned();
        let arguments =
            [&["run", "scenarios/first-steps.yaml", "--trace", "decisions", "--out", &out][..], sets].concat();
        assert!(program(&arguments).output().unwrap().status.success());
        out
    };
    let (a, same, b) = (run("a", &[]), run("same", &[]), run("b", &["--set", "timing.jobSyncBatchPeriod=1500ms"]));
    let diff = |x: &str, y: &str, more: &[&str]| {
        let output = program(&[&["diff", x, y][..], more].concat()).output().unwrap();
        code_and_output(&output)
    };
    let (code, text, _) = diff(&a, &same, &["--fail-if", "diff.records > 0"]);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("No differences in inputs, records"), "{text}");
    let (code, text, _) = diff(&a, &b, &["--format", "json", "--fail-if", "diff.records > 0"]);
    assert_eq!(code, Some(5), "{text}");
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["inputs"][0]["file"], "command.txt");
    let first = &result["first"];
    assert_eq!(first["before"].as_array().unwrap().len(), 10, "{first}");
    assert_ne!(first["a"], first["b"]);
    assert!(first["causesOfA"][0]["seq"].is_u64() && first["decisionOfA"]["decision"].is_u64(), "{first}");
    let metrics = result["metrics"].as_array().unwrap();
    let latency = metrics.iter().find(|m| m["metric"] == "jobSets.train.restartLatency_s.max");
    assert!(latency.is_some(), "{metrics:?}");
    let (code, text, _) = diff(&a, &b, &[]);
    assert_eq!(code, Some(0));
    for part in ["Inputs that differ", "First record that differs: line", "cause      ", "Metrics that differ"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(diff(&a, "scenarios", &[]).0, Some(2));
    fs::remove_dir_all(dir).unwrap();
}
