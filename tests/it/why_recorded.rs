//! `why` and `diff` on recordings of a real control plane: critical paths agree with recorded milestones, dead nodes
//! are reported with the recorded remedies, and a run is compared with a recording.

use crate::counterfactual::inline_situations;
use crate::program::{program, scratch};
use crate::support::{self, root};
use serde_json::Value;
use sim_analysis::metrics::CriticalSpan;
use sim_analysis::why;
use sim_analysis::why::{OverrideSetter, WhyExplanation, WhyRequest};
use sim_api::spec::{ExperimentSpec, FaultAction, FaultTime, NodeRef, ScenarioSpec, ScriptedFault, StopWhen};
use sim_base::{Duration, SimTime};
use sim_inputs::{LoadedScenario, SourceText};
use sim_recordings::validate::read::read;
use sim_recordings::validate::recording::RecordedRun;
use sim_recordings::validate::simulate;
use std::fs;

fn recording(kind: &str, name: &str) -> (RecordedRun, ScenarioSpec) {
    let file = format!("{kind}/{name}.json");
    let text = fs::read_to_string(support::recordings_folder().join(file)).unwrap();
    let recording = read(name, &text).unwrap();
    let scenario = simulate::default_replay_scenario(name, &recording).unwrap();
    (recording, scenario)
}

fn loaded(scenario: ScenarioSpec) -> LoadedScenario {
    LoadedScenario {
        scenario,
        inputs: Vec::new(),
        skipped: Vec::new(),
        unmodelled: Vec::new(),
        experiment: ExperimentSpec::default(),
        settings: sim_inputs::settings::InputSettings::default(),
    }
}

/// Loads a recording's scenario with overrides that a user could have performed on the cluster: actions on nodes.
fn with_actions(scenario: &ScenarioSpec, sets: &[OverrideSetter]) -> Result<LoadedScenario, String> {
    let mut scenario = scenario.clone();
    for (at, fault) in (0..).zip(&mut scenario.faults) {
        fault.entry = Some(at);
    }
    for (path, text) in sets {
        let value: Value = serde_yaml::from_str(text).unwrap();
        let time = |value: &Value| value.as_str().and_then(|at| at.parse::<Duration>().ok());
        let words: Vec<&str> = path.split('.').collect();
        let index = words.get(1).and_then(|i| i.parse::<usize>().ok());
        let (Some("faults"), Some(index)) = (words.first().copied(), index) else {
            return Err("only actions are added to a recording".to_owned());
        };
        if words.get(2) == Some(&"at") {
            scenario.faults[index].at = FaultTime::At(time(&value).ok_or("no time")?);
            continue;
        }
        let at = time(&value["at"]).ok_or("no time")?;
        let (name, node) = ["returnNode", "deleteNode", "newNode"]
            .into_iter()
            .find_map(|name| Some((name, value[name]["node"].as_str()?)))
            .ok_or("another action")?;
        let node = NodeRef { name: Some(node.to_owned()), of_pod: None, alias: None };
        let action = match name {
            "returnNode" => FaultAction::ReturnNode(node),
            "deleteNode" => FaultAction::DeleteNode(node),
            _ => FaultAction::NewNode(node),
        };
        scenario.stop.at = scenario.stop.at + Duration::from_secs(1000);
        let entry = Some(scenario.faults.len() as u32);
        scenario.faults.push(ScriptedFault { at: FaultTime::At(at), action, random_cause: None, entry });
    }
    Ok(loaded(scenario))
}

fn explained(name: &str, scenario: &ScenarioSpec, path_only: bool) -> WhyExplanation {
    let load = |sets: &[OverrideSetter]| with_actions(scenario, sets);
    let request = WhyRequest { path_only, ..WhyRequest::default() };
    why::explain(&load, &request).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

/// Asserts that a recorded and a simulated time in a restart agree, in seconds after the fault.
fn assert_close(name: &str, what: &str, recorded_s: f64, simulated_s: f64) {
    let band = (0.1 * recorded_s).max(1.5);
    assert!(
        (recorded_s - simulated_s).abs() <= band,
        "{name}: {what} was recorded at {recorded_s:.3} s, but the path has {simulated_s:.3} s"
    );
}

/// Returns the share of the path between two times that is attributed to the given components.
fn path_share(why: &WhyExplanation, (from_s, to_s): (f64, f64), whom: &[&str]) -> f64 {
    let at = |t: SimTime| t.since(why.subject.start).seconds();
    let whose = |s: &&CriticalSpan| {
        let mut names = whom.iter();
        names.any(|name| s.what.contains(name) || s.waited_for.contains(name))
    };
    let within = |s: &CriticalSpan| (at(s.step.to).min(to_s) - at(s.step.from).max(from_s)).max(0.0);
    let own: f64 = why.spans.iter().filter(whose).map(within).sum();
    own / (to_s - from_s)
}

#[test]
fn the_critical_path_goes_through_the_recorded_milestones() {
    let (mut instants, mut stages) = (0, 0);
    for path in support::recordings("times").into_iter().step_by(support::cases(4, 1) as usize) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let (recording, scenario) = recording("times", &name);
        let recorded = &recording.milestones.as_ref().unwrap().milestones_s;
        let why = explained(&name, &scenario, true);
        let ends = |phase: &str| {
            let last = why.spans.iter().rfind(|span| span.phase == phase)?;
            Some(last.step.to.since(why.subject.start).seconds())
        };
        for (phase, milestone) in
            [("terminate", "lastJobGone"), ("recreate", "lastPodCreated"), ("barrier", "currentWritten")]
        {
            if let Some(recorded_s) = recorded.get(milestone) {
                let end = ends(phase).unwrap_or_else(|| panic!("{name} has no {phase}"));
                assert_close(&name, milestone, *recorded_s, end);
                instants += 1;
            }
        }
        if recording.scored_up_to.is_none() {
            let last = recorded.get("lastPodReady").or(recorded.get("lastReady"));
            assert_close(&name, "the end", *last.unwrap(), why.subject.total().seconds());
        }
        // The active components between two milestones.
        let jobs = ["job-controller", "Job controller"];
        for (from, to, whom) in [
            ("", "jobFailed", &jobs[..]),
            ("firstJobDeleting", "lastJobGone", &["garbage"]),
            ("firstPodCreated", "lastPodCreated", &jobs),
        ] {
            let from_s = recorded.get(from).copied().unwrap_or(0.0);
            let Some(to_s) = recorded.get(to).filter(|to_s| **to_s - from_s > 2.0) else {
                continue;
            };
            let own = path_share(&why, (from_s, *to_s), whom);
            assert!(own > 0.6, "{name}: from {from:?} to {to} only {own:.2} of the path is {whom:?}");
            stages += 1;
        }
    }
    assert!(instants >= 4 && stages >= 2, "{instants} instants, {stages} stages");
}

#[test]
fn a_recorded_dead_node_blocks_by_name_and_the_recorded_ways_out_end_it() {
    let (_, mut scenario) = recording("nodes", "n-crash-for-ever");
    scenario.stop.at = Duration::from_secs(6 * 3600);
    scenario.stop.when = StopWhen::Settled;
    let why = explained("n-crash-for-ever", &scenario, false);
    let blocked = why.blocked.expect("the JobSet is blocked");
    for part in
        ["pod js-w-0-1 is terminating on node ", "the Node object is deleted", "out-of-service", "removed by force"]
    {
        assert!(blocked.condition.contains(part), "{part}: {}", blocked.condition);
    }
    assert!(blocked.change.is_some());
    // n-crash-delete-node and n-lost-reboot-exit-rule show that these actions resolve the block.
    for lever in ["repair of the lost node", "deletion of the Node object", "replacement of the lost node"] {
        let result = why.what_if.iter().any(|w| w.setting.lever == lever);
        assert!(result, "{lever}: {:?}", why.what_if);
    }
}

#[test]
fn two_recorded_dead_nodes_need_two_actions() {
    let (_, mut scenario) = recording("nodes", "n-two-nodes-crash");
    scenario.faults.truncate(2);
    scenario.stop.at = Duration::from_secs(6 * 3600);
    scenario.stop.when = StopWhen::Settled;
    let why = explained("n-two-nodes-crash", &scenario, false);
    let blocked = why.blocked.expect("the JobSet is blocked");
    let (setting, _) = blocked.change.expect("a change resolves the block");
    assert_eq!(setting.sets.len(), 2, "{setting:?}");
}

/// The action that resolved the block in the recording is on the path, with the waiting pod and the duration.
#[test]
fn handled_dead_node_is_the_longest_wait() {
    for name in ["n-crash-delete-node", "n-crash-out-of-service", "n-lost-force-delete"] {
        let (recording, scenario) = recording("nodes", name);
        let why = explained(name, &scenario, false);
        let wait = why.spans.iter().max_by_key(|span| span.step.duration()).unwrap();
        assert!(wait.what.contains("pod js-w-0-1 cannot terminate"), "{name}: {wait:?}");
        assert!(wait.waited_for.contains("an unresponsive node"), "{name}: {wait:?}");
        let action = &recording.script.actions[1];
        let recorded_s = (action.at_ms - recording.script.actions[0].at_ms) as f64 / 1e3;
        // The wait has one span per phase.
        let parts = why.spans.iter().filter(|span| span.waited_for == wait.waited_for);
        let end = parts.map(|span| span.step.to).max().unwrap();
        assert_close(name, &action.what, recorded_s, end.since(why.subject.start).seconds());
        assert!(why.subject.ended, "{name}");
    }
}

#[test]
fn user_situations_are_explained_by_their_bottleneck() {
    for (name, waited, lever) in [
        ("depends-on-a-slow-predecessor", "a container that runs until it exits", Some("dependsOn")),
        ("in-order-behind-a-slow-driver", "container starts", Some("container start delay")),
        ("a-pod-on-a-silent-node", "an unresponsive node", Some("repair of the lost node")),
        // There is no dominant wait: the pods of 16 racks pass through one Job controller and one garbage collector.
        ("288-pods-on-18-node-racks", "kubelet cleans up", None),
    ] {
        let mut all = inline_situations().into_iter();
        let situation = all.find(|s| s.name == name).unwrap();
        let source = SourceText { file: "scenario.yaml".to_owned(), text: situation.scenario };
        let loader = |_: &str| Ok(situation.jobset.clone());
        let load =
            |more: &[OverrideSetter]| sim_inputs::parse_scenario(&source, more, &loader).map_err(|e| e.to_string());
        let why = why::explain(&load, &WhyRequest::default()).unwrap();
        let binding = why.binding.as_ref().expect(name);
        assert!(binding.name.contains(waited), "{name}: {binding:?}");
        let result = binding.lever.map(|i| why.what_if[i].setting.lever.as_str());
        assert!(lever.is_none() || result == lever, "{name}: {result:?}");
        assert!(why.subject.ended && why.blocked.is_none(), "{name}");
    }
}

/// The content of the recording, as a scenario.
const PLAYED: &str = r#"
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: played}
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: t}
  pools: [{name: "node-{node:05}", count: 10, nodesPerIsland: 5, allocatable: {cpu: 8, memory: 64Gi, pods: 110}}]
controlPlane:
  preset: stock
  kubernetes: "1.36"
  featureGates: {InPlaceRestart: true, RestartJob: true, ElasticJobSet: true}
  kubeControllerManager: {qps: 500, burst: 500}
  kubeScheduler: {qps: 500, burst: 500}
  jobsetManager: {qps: 500, burst: 500}
timing: {kubelet: {scripted: {start: 100ms, stop: 100ms, stopExitCode: 143, restart: 500ms}}}
jobSets: [{manifest: jobset.yaml}]
containers:
- {replicatedJob: w, restartAttempt: 0, runFor: 4s, exitCode: 1}
- {replicatedJob: w, runFor: 5s, exitCode: 0}
faults:
- {at: 2s, patch: {kind: Job, name: js-zaux-0, merge: {metadata: {labels: {jobset.sigs.k8s.io/restart-attempt: x}}}}}
- {at: 8s, patch: {kind: Job, name: js-zaux-0, merge: {metadata: {labels: {jobset.sigs.k8s.io/restart-attempt: "0"}}}}}
stop: {at: 26649ms, when: Time}
"#;

#[test]
fn diff_with_a_recording_reports_inputs_then_first_different_decision() {
    let file = root().join("tests/recordings/corner/c-02-two-fail-together-restart-jobset.json");
    let text = fs::read_to_string(&file).unwrap();
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let dir = scratch("beside");
    fs::write(dir.join("jobset.yaml"), recorded["jobSet"].to_string()).unwrap();
    fs::write(dir.join("scenario.yaml"), PLAYED).unwrap();
    let run = |name: &str, sets: &[&str]| {
        let (scenario, out) = (dir.join("scenario.yaml"), dir.join(name));
        let words = ["run", scenario.to_str().unwrap(), "--out", out.to_str().unwrap()];
        let output = program(&[&words[..], sets].concat()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        out.to_str().unwrap().to_owned()
    };
    let diff = |words: &[&str]| {
        let output = program(&[&["diff"][..], words].concat()).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), printed)
    };
    let file = file.to_str().unwrap();
    let as_recorded = run("as-recorded", &[]);
    let (code, printed) = diff(&[&as_recorded, file, "--format", "json", "--fail-if", "diff.records > 0"]);
    assert_eq!(code, Some(0), "{printed}");
    let result: Value = serde_json::from_str(&printed).unwrap();
    assert!(result["first"].is_null(), "{result}");
    // The inputs differ only in the 50 nodes, the last two of which are special.
    let inputs = result["inputs"].as_array().unwrap();
    assert!(inputs.iter().all(|d| d["path"] == "nodes"), "{inputs:?}");

    let later = run("later", &["--set", "faults.1.at=12s", "--set", "spec.failurePolicy.maxRestarts=4"]);
    let (code, printed) = diff(&[&later, file, "--format", "json", "--fail-if", "diff.records > 0"]);
    assert_eq!(code, Some(5), "{printed}");
    let result: Value = serde_json::from_str(&printed).unwrap();
    let paths: Vec<&str> = result["inputs"].as_array().unwrap().iter().filter_map(|d| d["path"].as_str()).collect();
    assert!(paths.contains(&"action 1") && paths.contains(&"jobSet.spec.failurePolicy.maxRestarts"), "{paths:?}");
    let first = &result["first"];
    assert!(first["moment"]["what"].as_str().unwrap().contains("RestartingJobSet=True"), "{first}");
    let before = first["before"].as_array().unwrap();
    assert!(before.len() >= 8 && before.iter().all(|m| m["differs"] == false), "{before:?}");
    assert_eq!(result["decision"]["object"], "default/js", "{}", result["decision"]);
    let (_, printed) = diff(&[&later, file]);
    for part in [
        "Inputs that differ", "First decision that differs", "last decision of the run before",
        "as reported by validate",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let admission = root().join("tests/recordings/admission/create.json");
    for words in [[file, &later], [&later, admission.to_str().unwrap()], [dir.to_str().unwrap(), file]] {
        assert_eq!(diff(&words).0, Some(2), "{words:?}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn runs_of_two_versions_say_so_and_the_inputs_that_are_the_same() {
    let dir = scratch("versions");
    let [old, new] = ["old", "new"].map(|name| dir.join(name).to_str().unwrap().to_owned());
    for out in [&old, &new] {
        let run = ["run", "scenarios/first-steps.yaml", "--quiet", "--out", out];
        assert!(program(&run).output().unwrap().status.success());
    }
    // Simulates the run directory of an older version: another version number, and another time of one record.
    let edit = |file: &str, from: &str, to: &str| {
        let path = dir.join("old").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    edit("summary.json", &version, "\"version\": \"0.0.9\"");
    edit("events.ndjson", "\"kind\":\"PodBound\"", "\"kind\":\"PodBounded\"");
    let output = program(&["diff", &old, &new]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let versions = format!("versions of the program: 0.0.9 and {}", env!("CARGO_PKG_VERSION"));
    for part in [versions.as_str(), "The inputs are equal.", "PodBounded", "      cause      "] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    fs::remove_dir_all(dir).unwrap();
}
