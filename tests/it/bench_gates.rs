//! Gates of `bench ttr`: rows, replications, missing rows, Gates files, JUnit, and the CI snippets of `docs/bench.md`.

use crate::program::{program, scratch};
use crate::support::cases;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCENARIO: &str = "scenarios/first-steps.yaml";

fn bench(arguments: &[&str]) -> (Option<i32>, String, String) {
    let all = [&["bench", "ttr", "--quiet"][..], arguments].concat();
    text_of(&program(&all).output().unwrap())
}

fn text_of(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn written(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn strategy_preset_and_seeds_apply_to_scenarios_of_the_user() {
    let choices = ["--strategy", "Recreate,InPlaceRestart", "--preset", "stock,kops"];
    let (code, csv, error) = bench(&[&[SCENARIO, "--format", "csv", "--seeds", "3"][..], &choices].concat());
    assert_eq!(code, Some(0), "{error}");
    let rows: Vec<&str> = csv.lines().skip(1).map(|l| &l[..l.find(",1.36").unwrap()]).collect();
    let expected = [
        "first-steps,16,Recreate,stock", "first-steps,16,InPlaceRestart,stock", "first-steps,16,Recreate,kops",
        "first-steps,16,InPlaceRestart,kops",
    ];
    assert_eq!(rows, expected);
    assert!(csv.lines().skip(1).all(|l| l.split(',').rev().nth(2) == Some("3")), "{csv}");

    let (_, json, _) = bench(&[SCENARIO, "--format", "json", "--seeds", "3", "--threads", "1"]);
    let (_, again, _) = bench(&[SCENARIO, "--format", "json", "--seeds", "3", "--threads", "2"]);
    assert_eq!(json, again);
    let report: Value = serde_json::from_str(&json).unwrap();
    let row = &report["rows"][0];
    let mut times: Vec<u64> =
        row["replications"].as_array().unwrap().iter().map(|r| r["ttr_ns"].as_u64().unwrap()).collect();
    times.sort_unstable();
    assert_eq!(times.len(), 3);
    assert_eq!(row["ttr_ns"], times[1], "a row is its median replication");
}

#[test]
fn statistics_gate_each_row_unless_all_rows_are_named() {
    let dir = scratch("gates-rows");
    let (code, json, _) = bench(&["--case", "kill-process", "--nodes", "100", "--preset", "stock", "--format", "json"]);
    assert_eq!(code, Some(0));
    // One row of the baseline is 2 % faster, which the p95 over all rows does not show.
    let mut report: Value = serde_json::from_str(&json).unwrap();
    let rows = report["rows"].as_array_mut().unwrap();
    let fastest = rows.iter_mut().min_by_key(|r| r["ttr_ns"].as_u64()).unwrap();
    fastest["ttr_ns"] = (fastest["ttr_ns"].as_u64().unwrap() * 100 / 102).into();
    let baseline = written(&dir, "base.json", &report.to_string());
    let gate = |text: &str| {
        let some = ["--case", "kill-process", "--nodes", "100", "--preset", "stock"];
        bench(&[&some[..], &["--against", &baseline, "--fail-if", text]].concat())
    };
    for (text, expected) in
        [("ttr > +1%", 5), ("ttr.p95 > +1%", 5), ("ttr.p95.all > +1%", 0), ("ttr.min.all > +1%", 5), ("ttr > +3%", 0)]
    {
        let (code, out, error) = gate(text);
        assert_eq!(code, Some(expected), "{text}: {out}{error}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn rows_missing_from_the_run_or_the_baseline_fail_the_gates() {
    let dir = scratch("gates-missing");
    let baseline = dir.join("base.json").to_str().unwrap().to_owned();
    let (code, ..) = bench(&[SCENARIO, "scenarios/node-drain.yaml", "--out", &baseline]);
    assert_eq!(code, Some(0));
    let renamed = "metadata.name=renamed";
    let gate = ["--against", &baseline, "--fail-if", "ttr > +2%"];
    let both = [SCENARIO, "scenarios/node-drain.yaml"];
    let junit = dir.join("ttr.xml").to_str().unwrap().to_owned();
    for (scenarios, more, expected) in [
        (&both[..], &[][..], 0),
        (&both[..1], &["--set", renamed], 5),
        (&both[..1], &["--set", renamed, "--fail-if", "rows.missing > 3"], 0),
        (&both[..1], &["--junit", &junit], 5),
        // A selection excludes rows on purpose.
        (
            &[],
            &["--case", "drain", "--nodes", "100", "--preset", "stock", "--fail-if", "node-drain:rows.missing > 0"],
            0,
        ),
    ] {
        let (code, out, error) = bench(&[scenarios, &gate[..], more].concat());
        assert_eq!(code, Some(expected), "{scenarios:?} {more:?}: {out}{error}");
        let names_rows = out.contains("in the baseline, not in this run");
        assert_eq!(names_rows, scenarios != both && !scenarios.is_empty(), "{out}");
    }
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(xml.contains("failure message=\"rows.missing &gt; 0: in the baseline, not in this run\""), "{xml}");
    fs::remove_dir_all(dir).unwrap();
}

/// The median of five replications recovers; others have no restart left.
#[test]
fn a_row_with_a_replication_that_never_recovers_is_stuck() {
    let dir = scratch("gates-stuck");
    let exits = "faultProcesses: [{cause: exit, on: Pod, mtbf: 20h, until: 2h}]";
    for (restarts, expected) in [(100, 0), (2, 5)] {
        let limit = format!("spec.failurePolicy.maxRestarts={restarts}");
        let scenario = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology: small-16\njobSets: \
             [{{manifest: {}}}]\nfaults: [{{at: 5m, containerExit: {{pod: train-workers-0-0}}}}]\n{exits}\nstop: \
             {{at: 3h, when: Time}}\n",
            crate::support::root().join("scenarios/manifests/exclusive-workers.yaml").display()
        );
        let file = written(&dir, "s.yaml", &scenario);
        let (code, out, error) = bench(&[&file, "--seeds", "5", "--fail-if", "rows.stuck > 0", "--set", &limit]);
        assert_eq!(code, Some(expected), "{restarts}: {out}{error}");
        let never = out.contains("replications never recover");
        assert_eq!(never, expected > 0, "{restarts}: {out}");
    }
}

#[test]
fn gates_are_in_a_file_and_junit_has_the_phases_of_each_failed_row() {
    let dir = scratch("gates-file");
    let baseline = dir.join("base.json").to_str().unwrap().to_owned();
    assert_eq!(bench(&[SCENARIO, "--out", &baseline]).0, Some(0));
    let gates = written(&dir, "gates.yaml", "kind: Gates\ngates:\n  - ttr > +2%\n  - rows.stuck > 0\n");
    let junit = dir.join("ttr.xml").to_str().unwrap().to_owned();
    let run = |more: &[&str]| {
        bench(&[&[SCENARIO, "--against", &baseline, "--gates", &gates, "--junit", &junit][..], more].concat())
    };
    let (code, out, error) = run(&[]);
    assert_eq!(code, Some(0), "{out}{error}");
    let (code, out, _) = run(&["--set", "timing.jobSyncBatchPeriod=10s"]);
    assert_eq!(code, Some(5), "{out}");
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(xml.contains(" time=\"") && !xml.contains(".0000"), "at most three decimals: {xml}");
    for part in ["<failure message=\"ttr &gt; +2%: +", "; phase terminate +", "\nterminate: ", " s before, ", " s now"]
    {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    for (text, expected) in [
        ("gates: [ttr > +2%]\nlimit: 3\n", "limit"),
        ("gates: [ttr]\n", "no operator"),
        ("kind: Scenario\ngates: []\n", "Gates"),
        ("gates: [tttr > 2]\n", "available: ttr"),
        ("gates:\n  - ttr > +2%\n  - tttr > 2\n", "wrong.yaml:3:5"),
        ("gates:\n  - tttr > 2\n", "did you mean \"ttr\"?"),
    ] {
        let wrong = written(&dir, "wrong.yaml", text);
        let (code, _, error) = bench(&[SCENARIO, "--against", &baseline, "--gates", &wrong]);
        assert_eq!(code, Some(2), "{text}: {error}");
        assert!(error.contains(expected), "{text}: {error}");
    }
    fs::remove_dir_all(dir).unwrap();
}

/// Returns the n-th YAML block of `docs/bench.md` as JSON, and the Gates file.
fn snippets() -> Vec<(String, Value)> {
    let page = fs::read_to_string("docs/bench.md").unwrap();
    let blocks = page.split("```yaml\n").skip(1).map(|rest| &rest[..rest.find("```").unwrap()]);
    let read = |text: &str| {
        let (file, text) = ("docs/bench.md".to_owned(), text.to_owned());
        let source = sim_inputs::SourceText { file, text: text.clone() };
        (text, sim_inputs::documents(&source).unwrap().remove(0))
    };
    blocks.map(read).collect()
}

/// A runner with a stand-in for `curl` that returns an archive with the program.
struct StandInRunner {
    dir: PathBuf,
}

impl StandInRunner {
    fn new(dir: &Path, gates: &str) -> StandInRunner {
        let release = dir.join("release/jobset-sim-1");
        fs::create_dir_all(&release).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_jobset-sim"), release.join("jobset-sim")).unwrap();
        fs::create_dir_all(dir.join("stubs")).unwrap();
        let archive = dir.join("release");
        let curl = format!("#!/bin/sh\ntar -cz -C {} jobset-sim-1\n", archive.display());
        let curl = written(&dir.join("stubs"), "curl", &curl);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(curl, mode).unwrap();
        written(dir, "gates.yaml", gates);
        StandInRunner { dir: dir.to_owned() }
    }

    /// Runs a script with bash as CI services do, and returns its exit code.
    fn run(&self, script: &str) -> Option<i32> {
        let dir = &self.dir;
        let added = fs::read_to_string(dir.join("path")).unwrap_or_default();
        let added: Vec<&str> = added.lines().collect();
        let path = format!("{}:{}:{}", added.join(":"), dir.join("stubs").display(), env!("PATH"));
        let mut command = Command::new("bash");
        command.args(["-e", "-o", "pipefail", "-c", script]).current_dir(dir).env("PATH", path);
        command.env("RUNNER_TEMP", dir.join("temp")).env("GITHUB_PATH", dir.join("path"));
        command.env("GITHUB_STEP_SUMMARY", dir.join("step-summary")).env("CI_PROJECT_DIR", dir);
        command.env("JOBSET_SIM_URL", "https://example.com/jobset-sim.tar.gz");
        command.output().unwrap().status.code()
    }
}

#[test]
fn the_ci_snippets_of_the_documentation_run() {
    let snippets = snippets();
    let find = |key: &str| snippets.iter().find(|(_, json)| !json[key].is_null()).unwrap();
    let gates = &find("gates").0;
    let steps = find("jobs").1["jobs"]["ttr"]["steps"].as_array().unwrap().clone();
    let github: Vec<String> = steps.iter().filter_map(|s| Some(s["run"].as_str()?.to_owned())).collect();
    let script = find("ttr").1["ttr"]["script"].as_array().unwrap().clone();
    let gitlab: Vec<&str> = script.iter().map(|s| s.as_str().unwrap()).collect();
    assert_eq!((github.len(), gitlab.len()), (2, 4));
    let some = ["--nodes", "100", "--preset", "stock", "--out"];
    for (name, more, expected) in
        [("faster", &["--set", "timing.jobSyncBatchPeriod=100ms"][..], Some(5)), ("same", &[], Some(0))]
            .into_iter()
            .take(cases(1, 2) as usize)
    {
        let service = if name == "same" { "github" } else { "gitlab" };
        let dir = scratch(&format!("ci-{name}-{service}"));
        let runner = StandInRunner::new(&dir, gates);
        let baseline = dir.join("baseline.json").to_str().unwrap().to_owned();
        assert_eq!(bench(&[&some[..], &[&baseline], more].concat()).0, Some(0));
        let code = match service {
            "github" => github.iter().map(|s| runner.run(s)).find(|code| *code != Some(0)),
            _ => Some(runner.run(&gitlab.join("\n"))).filter(|code| *code != Some(0)),
        };
        assert_eq!(code.unwrap_or(Some(0)), expected, "{name} {service}");
        assert!(fs::read_to_string(dir.join("ttr.xml")).unwrap().contains("<testsuite "));
        if service == "github" {
            let summary = fs::read_to_string(dir.join("step-summary")).unwrap();
            assert!(summary.starts_with("## Time to recover"), "{summary}");
        }
        fs::remove_dir_all(dir).unwrap();
    }
}

/// A row that never recovers has the reason of `run`, changed inputs are listed also if they change nothing, and gates
/// between different numbers of replications are refused.
#[test]
fn gates_name_the_reason_the_changed_inputs_and_what_cannot_be_compared() {
    let dir = scratch("gates-inputs");
    let manifest = fs::read_to_string("scenarios/manifests/exclusive-workers.yaml").unwrap();
    let scenario = fs::read_to_string(SCENARIO).unwrap();
    assert!(
        scenario.contains("manifests/exclusive-workers.yaml") && manifest.contains("maxRestarts: "),
        "{scenario}{manifest}"
    );
    let root = std::env::current_dir().unwrap();
    let scenario = scenario.replace("manifests/exclusive-workers.yaml", "workers.yaml");
    let scenario = scenario.replace("../topologies/", &format!("{}/topologies/", root.display()));
    let path = written(&dir, "restart.yaml", &scenario);
    written(&dir, "workers.yaml", &manifest);
    let baseline = dir.join("base.json").to_str().unwrap().to_owned();
    let (code, _, error) = bench(&[&path, "--seeds", "2", "--out", &baseline]);
    assert_eq!(code, Some(0), "{error}");
    let gate = |seeds: &str| {
        let junit = dir.join("ttr.xml").to_str().unwrap().to_owned();
        bench(&[&path, "--seeds", seeds, "--against", &baseline, "--fail-if", "ttr.p95 > +2%", "--junit", &junit])
    };
    written(&dir, "restart.yaml", &scenario.replace("kind: Scenario", "kind: Scenario # comment"));
    let (code, out, _) = gate("2");
    assert!(code == Some(0) && !out.contains("changed inputs"), "{out}");
    let (code, _, error) = gate("3");
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("the baseline has 2 replications per row, and this run has 3; use --seeds 2"), "{error}");

    let unused = manifest.replacen("metadata:", "metadata:\n  labels: {unused: \"1\"}", 1);
    written(&dir, "workers.yaml", &unused);
    let (code, out, _) = gate("2");
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, Some(0), "{out}");
    assert!(text.contains("workers.yaml: metadata.labels.unused (absent) -> 1"), "{text}");
    assert!(text.contains("without an effect on its rows"), "{text}");

    // A limit that no row reaches, and a field that the model does not simulate.
    let pod = "restartPolicy: ";
    assert!(manifest.contains(pod), "{manifest}");
    for (field, because) in [
        ("terminationGracePeriodSeconds: 120", "every container that is stopped exits earlier"),
        ("activeDeadlineSeconds: 100000", "it is not modelled: "),
    ] {
        let indented = manifest.lines().find(|line| line.contains(pod)).unwrap();
        let indent = &indented[..indented.len() - indented.trim_start().len()];
        let changed = manifest.replacen(indented, &format!("{indent}{field}\n{indented}"), 1);
        written(&dir, "workers.yaml", &changed);
        let (code, out, _) = gate("2");
        let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, Some(0), "{out}");
        assert!(text.contains(&format!("no effect, because {because}")), "{text}");
    }
    written(&dir, "workers.yaml", &manifest);
    let returned =
        scenario.replacen("containerExit: {pod: train-workers-1-2, exitCode: 1}", "returnNode: {node: node-03}", 1);
    assert_ne!(returned, scenario);
    written(&dir, "restart.yaml", &returned);
    let (code, out, _) = gate("2");
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == Some(5) && text.contains("never: no restart: fault 0: node node-03 at"), "{text}");
    assert!(text.contains("returnNode had no effect, because it had not left"), "{text}");
    written(&dir, "restart.yaml", &scenario);

    let line = manifest.lines().find(|line| line.contains("maxRestarts: ")).unwrap();
    let at = line.find("maxRestarts: ").unwrap() + "maxRestarts: ".len();
    let digits = line[at..].chars().take_while(char::is_ascii_digit).count();
    let none = format!("{}0{}", &line[..at], &line[at + digits..]);
    written(&dir, "workers.yaml", &manifest.replacen(line, &none, 1));
    let (code, out, _) = gate("2");
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, Some(5), "{out}");
    assert!(text.contains("-> never: JobSet train failed after") && text.contains("ReachedMaxRestarts"), "{text}");
    let xml = fs::read_to_string(dir.join("ttr.xml")).unwrap();
    assert!(xml.contains("ReachedMaxRestarts") && xml.contains("maxRestarts"), "{xml}");
    fs::remove_dir_all(dir).unwrap();
}
