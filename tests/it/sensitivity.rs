//! `sensitivity`: every default with its source, the defaults that the inputs replace, and the assumptions that
//! dominate the result.

use serde_json::Value;
use std::process::Command;

fn assumptions(words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    command.arg("sensitivity").args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn json(words: &[&str]) -> Value {
    let all: Vec<&str> = words.iter().copied().chain(["--format", "json"]).collect();
    let (code, out, err) = assumptions(&all);
    assert_eq!(code, Some(0), "{words:?}: {err}");
    serde_json::from_str(&out).expect("the output is JSON")
}

fn row<'v>(all: &'v Value, id: &str) -> &'v Value {
    let rows = all["parameters"].as_array().expect("rows");
    let matching = rows.iter().find(|row| row["id"] == id);
    matching.unwrap_or_else(|| panic!("{id} is not listed"))
}

#[test]
fn most_influential_delay_is_listed_first() {
    let all = json(&["scenarios/first-steps.yaml", "--set", "timing.containerStart=60s", "--seeds", "3"]);
    let first = &all["parameters"][0];
    assert_eq!(first["id"], "timing.containerStart", "{first}");
    assert_eq!(first["insteadOf"], "{logNormal: {median: 0.3, sigma: 0.3}}");
    assert_eq!(first["confidence"], "given");
    // 1 % of 60 s, once per restart.
    let slope = first["effect"]["perPercent"].as_f64().expect("a number");
    assert!((slope - 0.6).abs() < 0.01, "{slope}");
    let agents = row(&all, "timing.agentBoot");
    assert_eq!(agents["effect"]["perPercent"], 0.0, "no pod restarts in place");
    assert_eq!(all["metric"]["name"], "restartLatency_s.p50");
}

#[test]
fn only_defaults_that_are_in_force_are_listed() {
    let stock = json(&[
        "scenarios/first-steps.yaml", "--set", "controlPlane.preset=stock", "--set", "controlPlane.kubernetes=1.30",
        "--parameters-only",
    ]);
    let kcm = row(&stock, "controlPlane.kubeControllerManager.qps");
    assert_eq!((&kcm["value"], &kcm["unit"]), (&"20".into(), &"requests/s".into()));
    let grace = row(&stock, "controlPlane.nodeMonitorGracePeriodSeconds");
    assert_eq!(grace["value"], "40");
    let rows = stock["parameters"].as_array().expect("rows");
    assert!(rows.iter().all(|r| r["effect"].is_null()), "no replication is simulated");
    let every = json(&[]);
    let known = sim_inputs::assumptions().len()
        + sim_inputs::presets::faults::assumptions().len()
        + sim_surrogate::nodes::measurement_parameters().len();
    assert_eq!(every["parameters"].as_array().map(Vec::len), Some(known));
}

#[test]
fn fault_rates_are_assumptions_of_scenarios_with_a_fault_preset() {
    let all =
        json(&["scenarios/first-steps.yaml", "--set", "faultProcesses=[{preset: llama3-405b}]", "--parameters-only"]);
    let rate = row(&all, "faults.llama3-405b.per1000NodeDays");
    assert_eq!(rate["confidence"], "derived");
    assert_eq!(rate["unit"], "faults per 1,000 node-days");
    assert_eq!(row(&all, "faults.repair")["confidence"], "unverified");
}

#[test]
fn a_scenario_at_level_nodes_lists_its_measurement_assumptions() {
    let jobset_pods = "tests/it/levels/gang.yaml";
    let nodes = json(&[jobset_pods, "--parameters-only"]);
    let off = row(&nodes, "nodes.measuredRestarts");
    assert_eq!(off["value"], "8 to 64");
    let text = off["source"].as_str().unwrap_or_default();
    assert!(text.contains("measured starts and restarts per JobSet"), "{text}");
    let pods = json(&[jobset_pods, "--parameters-only", "--level", "pods"]);
    let rows = pods["parameters"].as_array().expect("rows");
    let is = |row: &serde_json::Value| row["id"].as_str().unwrap_or("").starts_with("nodes.");
    assert!(!rows.iter().any(is), "every pod is simulated");
}

/// Given failure rates and pools are varied, and inputs without a range are named.
#[test]
fn ranges_vary_given_failure_rates_and_name_what_they_do_not_vary() {
    let (code, out, err) = assumptions(&["tests/it/levels/gang.yaml", "--ranges", "--seeds", "4"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("faultProcesses[0].times") && out.contains("half and twice"), "{out}");
    assert!(out.contains("Not varied: ") && out.contains("--input"), "{out}");
}

#[test]
fn a_run_directory_tables_and_wrong_metrics_are_answered() {
    let dir = std::env::temp_dir().join(format!("assumed-{}", std::process::id()));
    let mut run = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    run.args(["run", "scenarios/first-steps.yaml", "--quiet", "--out"])
        .arg(&dir)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(run.output().expect("the run succeeds").status.success());
    let path = dir.display().to_string();
    let (code, out, err) = assumptions(&[&path, "--seeds", "2", "--step", "20"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("Parameters of first-steps"), "{out}");
    for line in out.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let (_, csv, _) = assumptions(&[&path, "--parameters-only", "--format", "csv"]);
    assert!(csv.starts_with("id,value,unit,source,confidence,instead_of"), "{csv}");
    let (_, md, _) = assumptions(&[&path, "--parameters-only", "--format", "md"]);
    assert!(md.contains("| `timing.plegPeriod` | 1s | documented |"), "{md}");
    let (code, _, err) = assumptions(&[&path, "--metric", "restartLatency_s.p5"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("did you mean \"restartLatency_s.p50\""), "{err}");
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}

#[test]
fn ends_of_ranges_have_one_notation_of_durations() {
    let input = "parameters.every=1047s..30m";
    let scenario = "tests/it/levels/gang.yaml";
    let run = Command::new(env!("CARGO_BIN_EXE_jobset-sim"))
        .args(["sensitivity", scenario, "--input", input, "--metric", "end.t_s", "--seeds", "2", "--quiet"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("17m27s to 30m") && !text.contains("1047s"), "{text}");
}
