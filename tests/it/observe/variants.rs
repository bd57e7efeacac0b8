//! Imports of restarts in every output format of `kubectl`: simulated runs with known milestones are printed as
//! watches and lists, and read again.

use super::printer::{Printer, Version};
use crate::support;

use serde_json::{Value, json};
use sim_analysis::metrics::{MetricFolds, Milestone, RestartMetrics};
use sim_api::spec::ScenarioSpec;
use sim_recordings::observe;
use sim_recordings::observe::{ImportedRecording, WatchReader, lifecycle};
use sim_recordings::validate::read;
use sim_recordings::validate::scenario::ScenarioOverrides;
use sim_recordings::validate::simulate;
use std::collections::BTreeMap;

/// The restarts of a run, and its printed objects.
struct Printed {
    restarts: Vec<RestartMetrics>,
    printer: Printer,
}

fn simulate(scenario: &ScenarioSpec, managed: bool) -> Printed {
    let mut sinks = (MetricFolds::new(scenario, false), Printer::new(scenario, managed));
    let mut simulation = support::simulation(scenario);
    let outcome = simulation.run(scenario.seed, 0, &mut sinks);
    let (folds, printer) = sinks;
    let folded = folds.finish(scenario, &outcome, simulation.names());
    Printed { restarts: folded.restarts, printer }
}

/// Output formats of kubectl.
#[derive(Copy, Clone, Debug)]
enum Style {
    /// One file for each kind, without separators between the objects, as `kubectl` prints them.
    Files,
    /// A single file with one object per line.
    Lines,
    /// One file for each kind, indented.
    Pretty,
    /// Events of the API group events.k8s.io.
    Modern,
    /// The objects alone, without `--output-watch-events`.
    Bare,
    /// No Events and Nodes.
    Few,
}

const STYLES: [Style; 6] = [Style::Bare, Style::Files, Style::Lines, Style::Pretty, Style::Modern, Style::Few];

/// Converts an Event to the field names of events.k8s.io: `regarding`, `note`, `reportingController`.
fn to_events_v1(event: &Value) -> Value {
    let mut new = event.clone();
    let map = new.as_object_mut().expect("an object");
    map.insert("apiVersion".to_owned(), json!("events.k8s.io/v1"));
    for (old, name) in [
        ("involvedObject", "regarding"),
        ("message", "note"),
        ("reportingComponent", "reportingController"),
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("count", "deprecatedCount"),
        ("source", "deprecatedSource"),
    ] {
        if let Some(value) = map.remove(old) {
            map.insert(name.to_owned(), value);
        }
    }
    map.entry("eventTime").or_insert(Value::Null);
    new
}

fn texts(printed: &[Version], style: Style) -> BTreeMap<&'static str, String> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for version in printed {
        if matches!(style, Style::Few) && ["Event", "Node"].contains(&version.kind) {
            continue;
        }
        let object = match (style, version.kind) {
            (Style::Modern, "Event") => to_events_v1(&version.object),
            _ => version.object.clone(),
        };
        let event = json!({"type": version.how, "object": object});
        let (file, text) = match style {
            Style::Bare => (version.kind, event["object"].to_string()),
            Style::Lines => ("all", format!("{event}\n")),
            Style::Pretty => (version.kind, serde_json::to_string_pretty(&event).expect("JSON") + "\n"),
            _ => (version.kind, event.to_string()),
        };
        files.entry(file).or_default().push_str(&text);
    }
    files
}

fn imported(texts: &BTreeMap<&str, String>, nth: u32) -> Result<ImportedRecording, String> {
    let mut reader = WatchReader::default();
    for (file, text) in texts {
        reader.read_json(file, text).map_err(|e| format!("{e:?}"))?;
    }
    let chosen = lifecycle::select_jobset(&reader.versions, None, None).map_err(|e| e.to_string())?;
    let lifecycle = lifecycle::observed_lifecycle(&reader.versions, &chosen);
    let defaults = sim_inputs::control_plane("scale-test").expect("a preset");
    observe::import(&lifecycle, nth, &defaults).map_err(|e| e.to_string())
}

/// Tolerance in seconds, because timestamps are whole seconds.
const TOLERANCE_S: f64 = 1.1;

fn origin(restart: &RestartMetrics, imported: &ImportedRecording) -> f64 {
    let (milestone, _) = imported.restart.origin.expect("an origin");
    let at = restart.milestone(milestone);
    at.unwrap_or_else(|| panic!("the run has no {}", milestone.as_str())).seconds()
}

/// Compares every imported milestone with the run's own. Returns the names of the milestones.
fn check(what: &str, restart: &RestartMetrics, imported: &ImportedRecording) -> Vec<&'static str> {
    let zero = origin(restart, imported);
    let (_, from) = imported.restart.origin.expect("an origin");
    let mut actual = Vec::new();
    for (milestone, at) in &imported.restart.at {
        let name = milestone.as_str();
        let is = at.ms_after(from) as f64 / 1e3;
        let truth = restart.milestone(*milestone);
        let truth = truth.unwrap_or_else(|| panic!("{what}: {name} at {is} s is not in the run"));
        let truth = truth.seconds() - zero;
        let allowed = at.uncertainty_with(from) + 0.002;
        // If the first milestone was not observed, its own time is no more accurate than that of others.
        assert!(
            (is - truth).abs() <= TOLERANCE_S || imported.restart.derived,
            "{what}: {name} at {is} s, expected {truth} s"
        );
        assert!((is - truth).abs() <= allowed, "{what}: {name} at {is} ± {allowed} s, expected {truth} s");
        actual.push(name);
    }
    for (milestone, why) in &imported.restart.unknown {
        assert!(restart.milestone(*milestone).is_none(), "{what}: {} was not found: {why}", milestone.as_str());
    }
    actual
}

/// Asserts that a simulation of the imported restart takes as long as the recorded one.
fn assert_replay(what: &str, imported: &ImportedRecording, more: f64) {
    let scored = imported.json["scoredUpTo"].as_str().unwrap_or("");
    let end = imported.restart.at.iter().filter(|(m, _)| m.as_str() == scored || *m == Milestone::LastReady);
    let (_, from) = imported.restart.origin.expect("an origin");
    // Tolerance: the uncertainty of the end, plus the effect of container times that were not recorded.
    let off = more + end.map(|(_, at)| at.uncertainty_with(from)).fold(0.0, f64::max);
    let recording = read::read("f", &imported.json.to_string()).expect("a recording");
    let defaults = simulate::defaults().expect("presets");
    let result = simulate::validate("f", &recording, &defaults, &ScenarioOverrides::default());
    assert_eq!(result.not_simulated, Vec::<String>::new(), "{what}");
    let restart = result.restart.unwrap_or_else(|| panic!("{what}: no restart"));
    let simulated = restart.simulated_s.unwrap_or_else(|| {
        panic!("{what}: the simulation does not reach the end: {} {:?}", imported.json["script"], result.milestones)
    });
    assert!(
        (simulated - restart.recorded_s).abs() < off,
        "{what}: {} {simulated}, recorded {}: {} {:?}",
        restart.milestone,
        restart.recorded_s,
        imported.json["script"],
        result.milestones
    );
}

const TWO_KINDS: &str = "
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: two-kinds}
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: t}
  pools: [{name: 'n-{node}', count: 1, nodesPerIsland: 12, allocatable: {cpu: 8, memory: 64Gi}}]
controlPlane: {preset: scale-test, kubernetes: '1.36'}
timing: {containerStart: 3s, containerStop: 2s}
jobSets: [{manifest: jobset.yaml}]
containers: [{replicatedJob: worker, jobIndex: 1, podIndex: 2, restartAttempt: ATTEMPT, runFor: 40s, exitCode: 3}]
stop: {at: 5m, when: Settled}
";
const LEADER_AND_WORKERS: &str = "
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train-big, namespace: research}
spec:
  failurePolicy: {maxRestarts: 3, restartStrategy: STRATEGY}
  replicatedJobs:
    - name: leader
      template:
        spec:
          backoffLimit: 0
          template:
            spec: {restartPolicy: Never, terminationGracePeriodSeconds: 10, containers: [{name: c, image: 'i:1'}]}
    - name: worker
      replicas: 2
      template:
        spec:
          parallelism: 4
          completions: 4
          completionMode: Indexed
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 10
              containers: [{name: c, image: 'i:1', resources: {requests: {cpu: '2'}}}]
";

fn two_kinds(strategy: &str, attempt: &str) -> ScenarioSpec {
    let text = TWO_KINDS.replace("ATTEMPT", attempt);
    let jobset = LEADER_AND_WORKERS.replace("STRATEGY", strategy);
    support::parse(&text, &jobset).expect("the scenario is valid")
}

#[test]
fn restarts_of_several_replicated_jobs_are_read_however_they_were_printed() {
    for strategy in ["Recreate", "BlockingRecreate"] {
        let scenario = two_kinds(strategy, "0");
        for managed in [true, false] {
            let run = simulate(&scenario, managed);
            assert_eq!(run.restarts.len(), 1);
            for style in STYLES {
                let what = format!("{strategy} {style:?} managed={managed}");
                let imported = imported(&texts(&run.printer.printed, style), 1).expect(&what);
                let result = check(&what, &run.restarts[0], &imported);
                assert_eq!(result.len(), 14, "{what}: {result:?}");
                assert_replay(&what, &imported, 1.0);
            }
        }
    }
}

#[test]
fn the_second_restart_is_distinguished_from_the_first() {
    let scenario = two_kinds("Recreate", "null");
    let run = simulate(&scenario, true);
    assert!(run.restarts.len() >= 3);
    for nth in [1, 2, 3] {
        let what = format!("restart {nth}");
        let imported = imported(&texts(&run.printer.printed, Style::Files), nth).expect(&what);
        let result = check(&what, &run.restarts[nth as usize - 1], &imported);
        assert_eq!(result.len(), 14, "{what}: {result:?}");
        assert_replay(&what, &imported, 1.0);
    }
}

#[test]
fn exclusive_placement_and_restarts_in_place_are_read_and_simulated_again() {
    let exclusive = support::scenario("first-steps", &[]);
    let run = simulate(&exclusive, true);
    let one = imported(&texts(&run.printer.printed, Style::Files), 1).expect("first-steps");
    check("first-steps", &run.restarts[0], &one);
    assert_replay("first-steps", &one, 1.0);
    let in_place = support::scenario("in-place-main-container", &[]);
    let run = simulate(&in_place, true);
    for nth in [1, 2] {
        for style in STYLES {
            let what = format!("in place {nth} {style:?}");
            let one = imported(&texts(&run.printer.printed, style), nth).expect(&what);
            let result = check(&what, &run.restarts[nth as usize - 1], &one);
            assert_eq!(result.len(), 6, "{what}: {result:?}");
            assert_replay(&what, &one, 1.0);
        }
    }
}

#[test]
fn later_list_gives_milestones_with_their_precision() {
    for strategy in ["Recreate", "BlockingRecreate"] {
        let run = simulate(&two_kinds(strategy, "0"), true);
        let text = serde_json::to_string_pretty(&run.printer.final_list()).expect("JSON");
        let one = imported(&BTreeMap::from([("after.json", text)]), 1).expect(strategy);
        let result = check_held(strategy, &run.restarts[0], &one);
        for name in [
            "jobFailed", "restartCounted", "firstJobCreated", "lastPodCreated", "lastPodBound", "lastReady",
            "jobsReady",
        ] {
            assert!(result.contains(&name), "{strategy}: {name} is not in {result:?}: {:?}", one.restart.unknown);
        }
        // The list does not show that containers took 2 s to stop, once for each of the two deletions.
        assert_replay(strategy, &one, 2.0 * 2.0 + 1.0);
    }
}

/// Compares only the imported milestones, because a list contains less than the run.
fn check_held(what: &str, restart: &RestartMetrics, imported: &ImportedRecording) -> Vec<&'static str> {
    let mut held = ImportedRecording {
        json: imported.json.clone(),
        restart: imported.restart.clone(),
        zero: imported.zero,
        assumed: Vec::new(),
        notes: Vec::new(),
    };
    held.restart.unknown.clear();
    check(what, restart, &held)
}

#[test]
fn nodes_that_were_drained_tainted_or_lost_are_lost_again() {
    for (name, action, more) in [
        // The list does not show how long the kubelets clean up after each pod.
        ("node-drain", "cordonNode", 1.1),
        ("taint-noexecute", "taintNode", 1.0),
        ("node-partition-return", "partitionNode", 7.5),
    ] {
        let run = simulate(&support::scenario(name, &[]), true);
        let one = imported(&texts(&run.printer.printed, Style::Files), 1).expect(name);
        let result = check(name, &run.restarts[0], &one);
        assert!(result.len() >= 13, "{name}: {result:?}");
        let actions = one.json["script"]["actions"].to_string();
        assert!(actions.contains(action), "{name}: {actions}");
        assert_replay(name, &one, more);
    }
}
