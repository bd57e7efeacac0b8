//! `why`: critical paths that add up, what-ifs that are verified by runs, the effective change, and causes of
//! blocking.

use crate::program::{program, scratch};
use crate::support::{self, root};
use serde_json::Value;
use sim_analysis::experiment::simulate_replication;
use sim_analysis::metrics::restarts::phases::Phase;
use sim_analysis::metrics::{MetricFolds, RestartMetrics};
use sim_analysis::why;
use sim_analysis::why::{OverrideSetter, WhyExplanation, WhyRequest};
use sim_engine::SimulationInput;
use sim_engine::record::DiscardSink;
use sim_inputs::{LoadedScenario, SourceText};
use sim_reliability::faults;
use std::fs;

fn load(name: &str, more: &[OverrideSetter]) -> Result<LoadedScenario, String> {
    let path = root().join("scenarios").join(format!("{name}.yaml"));
    sim_inputs::read_scenario(&path, more).map_err(|e| e.to_string())
}

fn explained(name: &str, request: &WhyRequest) -> WhyExplanation {
    let load = |more: &[OverrideSetter]| load(name, more);
    why::explain(&load, request).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

fn path_only() -> WhyRequest {
    WhyRequest { path_only: true, ..WhyRequest::default() }
}

/// Returns the restarts of a separate run, as `run` would simulate it.
fn restarts(loaded: &LoadedScenario) -> Vec<RestartMetrics> {
    let seed = loaded.scenario.seed;
    let scenario = faults::draw_faults(&loaded.scenario, seed, 0);
    let mut simulation = SimulationInput::new(&scenario).expect("the pods can be placed");
    let folds = MetricFolds::new(&scenario, false);
    let (replication, _) = simulate_replication(&mut simulation, (seed, 0), folds, DiscardSink);
    replication.folded.restarts
}

#[test]
fn the_spans_of_a_path_follow_each_other_and_are_the_whole_restart_in_every_scenario() {
    let mut seen = 0;
    for name in support::scenario_names() {
        if !support::is_tried(&support::scenario(&name, &[])) {
            continue;
        }
        let why = explained(&name, &path_only());
        let (mut at, mut sum) = (why.subject.start, 0);
        assert!(!why.spans.is_empty(), "{name} has no path");
        for span in &why.spans {
            assert_eq!(span.step.from, at, "{name}: a gap before {span:?}");
            assert!(!span.what.is_empty() && !span.waited_for.is_empty(), "{name}: {span:?}");
            at = span.step.to;
            sum += span.step.duration().0;
        }
        assert_eq!(at, why.subject.end, "{name}");
        assert_eq!(sum, why.subject.total().0, "{name}");
        seen += usize::from(why.subject.kind == "restart");
    }
    assert!(seen > 10, "{seen} restarts are too few");
}

#[test]
fn every_what_if_is_a_run_with_its_overrides_to_the_nanosecond() {
    let mut seen = 0;
    for name in ["first-steps", "regime-grace-bound", "regime-dead-node-bound", "node-drain", "sidecar-grace"] {
        let why = explained(name, &WhyRequest::default());
        let (number, _) = why.subject.number.expect("the JobSet restarts");
        for w in &why.what_if {
            let loaded = load(name, &w.setting.sets).unwrap();
            let restart = &restarts(&loaded)[number - 1];
            assert_eq!(restart.latency(), Some(w.takes), "{name}: {:?}", w.setting);
            assert_eq!(w.saves.0, why.subject.total().0 - w.takes.0, "{name}: {:?}", w.setting);
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} what-ifs are too few");
}

#[test]
fn best_lever_of_a_regime_relieves_its_designed_bottleneck() {
    for (name, lever) in [
        ("regime-job-controller-bound", "QPS of each controller of kube-controller-manager"),
        ("regime-bind-bound", "QPS of kube-scheduler"),
        ("regime-algorithm-bound", "scheduling time per pod"),
        ("regime-event-bound", "QPS of each controller of kube-controller-manager"),
        ("regime-gc-bound", "workers of the garbage collector"),
        ("regime-image-bound", "imagePullPolicy IfNotPresent"),
        ("regime-dead-node-bound", "earlier scripted action"),
        ("regime-grace-bound", "time to stop on SIGTERM"),
    ] {
        if !support::runs_long_tests() && !support::is_tried(&support::scenario(name, &[])) {
            continue;
        }
        let why = explained(name, &WhyRequest::default());
        let binding = why.binding.as_ref().expect(name);
        let result = binding.lever.map(|i| why.what_if[i].setting.lever.as_str());
        assert_eq!(result, Some(lever), "{name}: {binding:?}");
    }
}

const DEAD: &str = r#"
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: dead}
jobSets: [{manifest: jobset.yaml}]
topology: {apiVersion: jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: [{name: "n-{node}", count: 1, nodesPerIsland: 6, allocatable: {cpu: 8, memory: 64Gi}}]}
faults:
  - {at: 10m, crashNode: {ofPod: a-w-0-1, alias: lost}}
stop: {at: 6h}
"#;

fn explain_texts(scenario: &str, jobset: &str, request: &WhyRequest) -> WhyExplanation {
    let source = SourceText { file: "scenario.yaml".to_owned(), text: scenario.to_owned() };
    let loader = |_: &str| Ok(jobset.to_owned());
    let load = |more: &[OverrideSetter]| sim_inputs::parse_scenario(&source, more, &loader).map_err(|e| e.to_string());
    why::explain(&load, request).unwrap_or_else(|e| panic!("{e:?}"))
}

fn jobset(policy: &str, pods: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: a}}\nspec:\n  {policy}\n  replicatedJobs:\n  - name: w\n    template: {{spec: {{{pods}, backoffLimit: 0, podReplacementPolicy: Failed, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: 'i:1', resources: {{requests: {{cpu: 6}}}}}}]}}}}}}}}\n"
    )
}

#[test]
fn a_dead_node_blocks_by_name_and_the_way_out_is_proven() {
    let pods = "parallelism: 3, completions: 3";
    let why = explain_texts(DEAD, &jobset("failurePolicy: {maxRestarts: 3}", pods), &WhyRequest::default());
    let blocked = why.blocked.expect("the JobSet is blocked");
    assert!(blocked.condition.contains("pod a-w-0-1 is terminating on node n-"), "{}", blocked.condition);
    let (setting, _) = blocked.change.expect("a change resolves the block");
    assert_eq!(setting.lever, "repair of the lost node");
    let deleted = |w: &why::WhatIf| w.setting.lever == "deletion of the Node object";
    assert!(why.what_if.iter().any(deleted), "{:?}", why.what_if);
    assert!(!why.subject.ended && why.what_if.iter().any(|w| w.setting == setting));
}

#[test]
fn a_jobset_that_is_ready_but_can_never_end_is_blocked_by_the_pod_on_the_dead_node() {
    // Without a failure policy and with a spare node, the pod is replaced; the dead pod keeps the Job from ending.
    let scenario =
        DEAD.replace("stop: {at: 6h}", "containers: [{runFor: 1h}]\nstop: {at: 6h, when: AllJobSetsFinished}");
    let pods = "parallelism: 3, completions: 3";
    let jobset = jobset("suspend: false", pods)
        .replace("podReplacementPolicy: Failed, ", "")
        .replace("backoffLimit: 0", "backoffLimit: 3");
    let why = explain_texts(&scenario, &jobset, &WhyRequest::default());
    let blocked = why.blocked.expect("the JobSet is blocked");
    assert!(blocked.condition.contains("pod a-w-0-1 is terminating on node n-"), "{}", blocked.condition);
    let (setting, _) = blocked.change.expect("a change resolves the block");
    assert_eq!(setting.lever, "repair of the lost node");
}

/// Three racks of two nodes. With this seed, a leader pod goes into the rack without the deleted node.
const RACKS: &str = r#"
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: racks}
jobSets: [{manifest: jobset.yaml}]
controlPlane: {kubeScheduler: {ties: InOrder}}
topology: {apiVersion: jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: [{name: "n{pool}-{node}", count: 3, nodesPerIsland: 2, allocatable: {cpu: 8, memory: 64Gi}, labels: {rack: "r{pool}"}}]}
faults:
  - {at: 10m, deleteNode: {ofPod: a-w-0-1, alias: lost}}
  - {at: 5h, newNode: {alias: lost}}
stop: {at: 6h}
seed: 2
"#;

#[test]
fn a_wait_for_capacity_names_idle_racks_and_tries_a_spare_node_and_a_cordon() {
    let jobset = jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 2, completions: 2")
        .replace("name: a}", "name: a, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}")
        .replace("  - name: w\n", "  - name: w\n    replicas: 2\n");
    let why = explain_texts(RACKS, &jobset, &WhyRequest::default());
    let idle = why.idle_domains.expect("a rack is free");
    assert_eq!((idle.topology_key.as_str(), idle.free, idle.missing), ("rack", 1, 1), "{idle:?}");
    assert!(idle.incomplete.iter().eq([&idle.domain]), "{idle:?}");
    // A fourth rack has fewer nodes than a third node in each of three racks.
    for lever in ["cordon of incomplete domains", "spare nodes", "replacement of the lost node"] {
        let ends = |w: &&why::WhatIf| w.setting.lever == lever;
        let what_if = why.what_if.iter().find(ends).unwrap_or_else(|| panic!("{lever}: {:?}", why.what_if));
        assert!(what_if.takes.seconds() < 600.0, "{lever}: {what_if:?}");
    }
    let waits = why.spans.iter().find(|span| span.waited_for.starts_with("no node fits")).expect("a wait");
    assert!(!waits.waited_for.contains("removed"), "a wait does not end with a loss: {}", waits.waited_for);
}

#[test]
fn a_failed_jobset_names_its_condition_and_the_smallest_change() {
    let faults =
        DEAD.replace("{at: 10m, crashNode: {ofPod: a-w-0-1, alias: lost}}", "{at: 10m, containerExit: {pod: a-w-0-1}}");
    for (policy, lever) in [
        ("suspend: false", "failurePolicy"),
        ("failurePolicy: {maxRestarts: 0}", "maxRestarts"),
        (
            "failurePolicy: {maxRestarts: 3, rules: [{name: r, action: FailJobSet}]}",
            "action of the failure policy rule",
        ),
    ] {
        let why = explain_texts(&faults, &jobset(policy, "parallelism: 3, completions: 3"), &WhyRequest::default());
        let blocked = why.blocked.unwrap_or_else(|| panic!("{policy}: the JobSet must have failed"));
        assert!(blocked.condition.contains("condition Failed is True"), "{policy}: {}", blocked.condition);
        let change = blocked.change.map(|(s, _)| s.lever);
        assert_eq!(change.as_deref(), Some(lever), "{policy}");
    }
}

/// The JobSet fails in its second restart and would fail in every further one. The success of the first restart
/// proves nothing.
#[test]
fn change_is_reported_only_if_it_removes_the_blocker() {
    let path = root().join("scenarios/upstream/max-restarts.yaml");
    let load = |more: &[OverrideSetter]| sim_inputs::read_scenario(&path, more).map_err(|e| e.to_string());
    let why = why::explain(&load, &WhyRequest::default()).unwrap();
    assert!(why.subject.ended);
    let blocked = why.blocked.expect("the JobSet failed");
    assert!(blocked.condition.contains("ReachedMaxRestarts"), "{blocked:?}");
    if let Some((setting, _)) = blocked.change {
        let loaded = load(&setting.sets).unwrap();
        let mut simulation = support::simulation(&loaded.scenario);
        let outcome = simulation.run(loaded.scenario.seed, 0, &mut DiscardSink);
        assert_ne!(outcome.jobsets[0].terminal_state, "Failed", "{setting:?}");
    }
}

#[test]
fn a_suspended_jobset_waits_for_nothing_but_its_resume() {
    let why = explain_texts(DEAD, &jobset("suspend: true", "parallelism: 3, completions: 3"), &WhyRequest::default());
    let blocked = why.blocked.expect("the JobSet is suspended");
    assert!(blocked.condition.contains("condition Suspended is True"), "{blocked:?}");
    let change = blocked.change.map(|(s, _)| s.lever);
    assert_eq!(change.as_deref(), Some("resumption (suspend: false)"));
}

#[test]
fn a_broken_node_whose_domain_is_needed_is_replaced() {
    let why = explain_texts(
        DEAD,
        &jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 6, completions: 6"),
        &WhyRequest::default(),
    );
    let replaced = |w: &&why::WhatIf| w.setting.lever == "replacement of the lost node";
    let matching = why.what_if.iter().find(replaced).expect("six pods need six nodes");
    assert!(matching.setting.sets[0].1.contains("newNode"), "{matching:?}");
}

#[test]
fn what_cannot_be_placed_says_so_and_one_more_node_is_proven_to_be_enough() {
    let why = explain_texts(DEAD, &jobset("suspend: false", "parallelism: 7, completions: 7"), &WhyRequest::default());
    let blocked = why.blocked.expect("seven pods do not fit on six nodes");
    assert!(!blocked.condition.is_empty());
    let (setting, _) = blocked.change.expect("one node more");
    assert_eq!(setting.lever, "spare node in each domain");
}

#[test]
fn pending_pod_has_the_scheduler_message_and_others_have_their_path() {
    let lost = "{at: 10m, crashNode: {ofPod: a-w-0-1, alias: lost}}";
    let gone = format!("{lost}\n  - {{at: 20m, deleteNode: {{alias: lost}}}}");
    let (scenario, pods) = (DEAD.replace(lost, &gone), "parallelism: 6, completions: 6");
    let jobset = jobset("failurePolicy: {maxRestarts: 3}", pods);
    let mut pending = 0;
    for index in 0..6 {
        let request = WhyRequest { pod: Some(format!("w-0-{index}")), ..WhyRequest::default() };
        let why = explain_texts(&scenario, &jobset, &request);
        assert_eq!(why.subject.kind, "pod");
        assert!(!why.spans.is_empty(), "{why:?}");
        let Some(blocked) = why.blocked else {
            assert!(why.subject.ended, "{why:?}");
            continue;
        };
        pending += 1;
        assert!(blocked.condition.contains("0/5 nodes are available"), "{blocked:?}");
    }
    assert_eq!(pending, 1, "one of six pods must be pending on five nodes");
    let why = explain_texts(&scenario, &jobset, &WhyRequest::default());
    let change = why.blocked.and_then(|b| b.change).map(|(s, _)| s.lever);
    assert_eq!(change.as_deref(), Some("repair of the lost node"));
}

fn json(arguments: &[&str], code: i32) -> Value {
    let output = program(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

#[test]
fn a_run_directory_is_explained_as_its_scenario_is() {
    let dir = scratch("why");
    let out = dir.join("it's a run");
    let out = out.to_str().unwrap();
    let sets = ["--set", "faults.0.afterReady=40s", "--seed", "7"];
    let scenario = "scenarios/first-steps.yaml";
    json(&[&["run", scenario, "--out", out, "--format", "json"][..], &sets].concat(), 0);
    let of_scenario = json(&[&["why", scenario, "--format", "json"][..], &sets].concat(), 0);
    let of_run = json(&["why", out, "--format", "json"], 0);
    assert_eq!(of_run, of_scenario);
    let span = of_run["criticalPath"][0].as_object().unwrap();
    for key in ["from_s", "to_s", "what", "waitedFor", "rule"] {
        assert!(span.contains_key(key), "{span:?}");
    }
    let row = of_run["whatIf"][0].as_object().unwrap();
    for key in ["lever", "set", "saves_s", "restart_s"] {
        assert!(row.contains_key(key), "{row:?}");
    }
    json(&["why", out, "--restart", "2"], 2);
    json(&["why", dir.to_str().unwrap()], 2);
    json(&["why", scenario, "--pod", "nobody"], 2);
    fs::remove_dir_all(dir).unwrap();
}

/// The critical path and the phases of `run` divide the same restart at the same times.
#[test]
fn phases_of_the_path_are_those_of_run_in_every_restart_of_every_scenario() {
    let mut seen = 0;
    for name in support::scenario_names().into_iter().step_by(support::cases(3, 1) as usize) {
        let loaded = load(&name, &[]).expect("the scenario is valid");
        if !support::is_tried(&loaded.scenario) {
            continue;
        }
        for (i, restart) in restarts(&loaded).iter().take(6).enumerate() {
            let why = explained(&name, &WhyRequest { restart: Some(i + 1), ..path_only() });
            assert_eq!(restart.path.total(), restart.total(), "{name}: the path of restart {}", i + 1);
            for phase in Phase::ALL.into_iter().filter(|phase| *phase < Phase::Rendezvous) {
                let own = why.spans.iter().filter(|span| span.phase == phase.as_str());
                let sum: u64 = own.map(|span| span.step.duration().0).sum();
                assert_eq!(sum, restart.phases()[phase as usize].0, "{name}: restart {}, {phase:?}", i + 1);
            }
            seen += 1;
        }
    }
    assert!(seen > support::cases(7, 20), "{seen} restarts are too few");
}

#[test]
fn combinations_of_levers_do_not_overwrite_or_exclude_each_other() {
    let mut seen = 0;
    for name in support::scenario_names().into_iter().step_by(support::cases(4, 2) as usize) {
        let loaded = load(&name, &[]).expect("the scenario is valid");
        if loaded.scenario.jobsets.iter().map(|js| js.jobset.spec.pods()).sum::<u64>() > 300 {
            continue;
        }
        let why = explained(&name, &WhyRequest::default());
        for w in why.what_if.iter().filter(|w| w.parts_save.is_some()) {
            let mut paths: Vec<&str> = w.setting.sets.iter().map(|(path, _)| path.as_str()).collect();
            let sets = paths.len();
            paths.sort_unstable();
            paths.dedup();
            assert_eq!(paths.len(), sets, "{name}: {:?} sets a field twice", w.setting);
            let mut families = w.setting.families.clone();
            families.sort_unstable();
            families.dedup();
            assert_eq!(families.len(), w.setting.families.len(), "{name}: {:?}", w.setting);
            seen += 1;
        }
        let binding = why.binding.as_ref().and_then(|b| Some(why.what_if[b.lever?].setting.lever.as_str()));
        let helpless = |lever: &str| why.no_help.iter().any(|(s, _)| s.lever == lever);
        let helps = |lever: &str| why.what_if.iter().any(|w| w.setting.lever == lever);
        assert!(binding.is_none_or(|lever| helps(lever) || !helpless(lever)), "{name}: {binding:?}");
    }
    assert!(seen > support::cases(1, 3), "{seen} combinations are too few");
}

#[test]
fn levers_act_on_the_explained_jobset_only() {
    let manifest = |name: &str| {
        jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 2, completions: 2")
            .replace("{name: a}", &format!("{{name: {name}}}"))
    };
    let both = format!("{}\n---\n{}", manifest("a"), manifest("b"));
    let scenario = DEAD
        .replace("nodesPerIsland: 6", "nodesPerIsland: 16")
        .replace("crashNode: {ofPod: a-w-0-1, alias: lost}", "containerExit: {pod: a-w-0-1}");
    let why = explain_texts(&scenario, &both, &WhyRequest::default());
    let tested = why.what_if.iter().map(|w| &w.setting).chain(why.no_help.iter().map(|(setting, _)| setting));
    let fields = tested.flat_map(|setting| &setting.sets).filter(|(path, _)| path.contains("spec."));
    let fields: Vec<&str> = fields.map(|(path, _)| path.as_str()).collect();
    assert!(!fields.is_empty(), "{why:?}");
    assert!(fields.iter().all(|path| path.starts_with("jobSet.a.spec.")), "{fields:?}");
    let unknown = explain_error(&scenario, &both, ("jobSet.c.spec.suspend", "true"));
    assert!(unknown.contains("JobSet \"c\" does not exist") && unknown.contains("a, b"), "{unknown}");
}

/// Time limits and detectors, which no manifest contains.
#[test]
fn waits_are_named_by_what_they_wait_for() {
    let queue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n---\napiVersion: \
                 kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  namespaceSelector: {}\n  \
                 resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: \
                 100}]}]}]\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: l, namespace: \
                 default}\nspec: {clusterQueue: cq}\n---\n";
    let plain = jobset("failurePolicy: {maxRestarts: 900}", "parallelism: 3, completions: 3");
    let queued = plain.replace("{name: a}", "{name: a, labels: {kueue.x-k8s.io/queue-name: l}}");
    let silent = |does: &str| {
        format!(
            "training: {{checkpoint: {{every: 10m}}}}\nfaultProcesses: [{{cause: s, per1000NodeDays: 20000, does: \
             {does}: 7m}}]\nstop: {{at: 6h}}\n"
        )
    };
    let crash = "faults: [{at: 10m, crashNode: {ofPod: a-w-0-1}}]\nstop: {at: 6h}\n".to_owned();
    let kueue = format!("{queue}{queued}");
    for (rest, manifest, expected) in [
        (silent("Hang, detectedAfter"), &plain, "detection of the hang"),
        (silent("Corrupt, foundAfter"), &plain, "discovery of wrong results"),
        (crash, &kueue, "Kueue's time limit for ready pods (waitForPodsReady)"),
    ] {
        let scenario = format!("{}\n{rest}", DEAD.split("faults:").next().unwrap().trim_end());
        let why = explain_texts(&scenario, manifest, &WhyRequest { path_only: true, ..WhyRequest::default() });
        let waits: Vec<&str> = why.spans.iter().map(|span| span.waited_for.as_str()).collect();
        assert!(waits.contains(&expected), "{expected}: {waits:?}");
    }
}

#[test]
fn overrides_address_jobsets_by_the_names_that_the_scenario_gives_them() {
    let manifest = jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 2, completions: 2");
    let scenario = DEAD.replace(
        "jobSets: [{manifest: jobset.yaml}]",
        "jobSets: [{manifest: jobset.yaml}, {manifest: jobset.yaml, set: [metadata.name=b]}]",
    );
    assert!(scenario.contains("metadata.name=b"), "{scenario}");
    let limits = |path: &str, value: &str| -> Vec<i32> {
        let source = SourceText { file: "scenario.yaml".to_owned(), text: scenario.clone() };
        let sets = [(path.to_owned(), value.to_owned())];
        let loaded = sim_inputs::parse_scenario(&source, &sets, &|_: &str| Ok(manifest.clone()));
        let jobsets = loaded.unwrap_or_else(|e| panic!("{e}")).scenario.jobsets;
        jobsets.iter().map(|s| s.jobset.spec.failure_policy.as_ref().unwrap().max_restarts).collect()
    };
    for (name, expected) in [("a", [9, 3]), ("b", [3, 9])] {
        assert_eq!(limits(&format!("jobSet.{name}.spec.failurePolicy.maxRestarts"), "9"), expected, "{name}");
    }
    assert_eq!(limits("jobSet.b.metadata.name", "c"), [3, 3]);
    for (path, message) in [
        ("jobSet.b.spec.nonsense", "unknown field"),
        ("jobSet.jobset.spec.suspend", "JobSet \"jobset\" does not exist"),
    ] {
        let error = explain_error(&scenario, &manifest, (path, "1"));
        assert!(error.contains(message), "{path}: {error}");
    }
}

fn explain_error(scenario: &str, jobset: &str, (path, value): (&str, &str)) -> String {
    let source = SourceText { file: "scenario.yaml".to_owned(), text: scenario.to_owned() };
    let loader = |_: &str| Ok(jobset.to_owned());
    let sets = [(path.to_owned(), value.to_owned())];
    sim_inputs::parse_scenario(&source, &sets, &loader).err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn waits_for_a_spare_end_earlier_if_it_takes_over_at_once() {
    let scenario = r#"
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: spares}
jobSets: [{manifest: jobset.yaml}]
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: t}
  pools:
    - {name: "n-{node}", nodesPerIsland: 6, allocatable: {cpu: 8, memory: 64Gi}}
    - {name: "s-{node}", nodesPerIsland: 1, allocatable: {cpu: 8, memory: 64Gi}, labels: {role: spare}}
faultProcesses: [{cause: host, mtbf: 200h, deletedAfter: 5m, asNew: true, backAfter: 4h}]
nodeSpares: {label: role=spare, takeOver: 40m}
stop: {at: 60h, when: Time}
"#;
    let jobset = jobset("failurePolicy: {maxRestarts: 30}", "parallelism: 6, completions: 6");
    let request = WhyRequest { restart: Some(1), ..WhyRequest::default() };
    let why = explain_texts(scenario, &jobset, &request);
    let at_once = why.what_if.iter().find(|w| w.setting.lever == "take-over time of spares");
    assert!(at_once.is_some_and(|w| w.saves.seconds() > 1800.0), "{:?}", why.what_if);
}

/// Options, exit code, expected texts and texts that must not appear.
type OptionRow<'a> = (&'a [&'a str], i32, &'a [&'a str], &'a [&'a str]);

#[test]
fn the_options_jobset_and_at_select_a_wait_for_admission() {
    // Waits of JobSet train: from 60.155 s until 185.477 s; before and afterwards it runs.
    let waiting = "Admission of JobSet train: waiting for";
    let raise = "raise nominalQuota of example.com/accelerator in flavor zone-a of ClusterQueue research by 32";
    let since = "39.8 s, since 60.155s";
    let table: [OptionRow<'_>; 7] = [
        (&["--jobset", "train", "--at", "100s"], 0, &[waiting, since, "WaitingForQuota", raise], &[]),
        (&["--jobset", "train", "--at", "160s"], 0, &[waiting, "99.8 s, since 60.155s", raise], &[]),
        // Without a JobSet, the one that waits is explained.
        (&["--at", "100s"], 0, &[waiting], &[]),
        (&["--jobset", "urgent", "--at", "100s"], 0, &["JobSet urgent"], &[waiting, "raise nominalQuota"]),
        (&["--jobset", "train", "--at", "50s"], 0, &["Start of JobSet train"], &[waiting, "raise nominalQuota"]),
        (&["--jobset", "train"], 0, &["JobSet train"], &[waiting]),
        (&["--jobset", "trian", "--at", "100s"], 2, &["trian", "train, urgent"], &[waiting]),
    ];
    for (options, code, present, absent) in table {
        let arguments = [&["why", "scenarios/kueue.yaml", "--path-only"][..], options].concat();
        let output = program(&arguments).output().expect("a program");
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{options:?}: {text}");
        // Lines are wrapped.
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lacks: Vec<_> = present.iter().filter(|part| !words.contains(**part)).collect();
        let has: Vec<_> = absent.iter().filter(|part| words.contains(**part)).collect();
        assert!(lacks.is_empty() && has.is_empty(), "{options:?}: lacks {lacks:?}, has {has:?}: {text}");
    }
}

#[test]
fn a_pod_cannot_be_given_with_a_jobset_but_the_number_of_its_restart() {
    let explained = |option: [&str; 2]| {
        let arguments = [&["why", "scenarios/kueue.yaml", "--path-only", "--jobset", "train"][..], &option].concat();
        let output = program(&arguments).output().expect("a program");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let (code, text) = explained(["--pod", "train-slices-0-0"]);
    assert!(code == Some(2) && text.contains("cannot be used with"), "{text}");
    let (code, text) = explained(["--restart", "1"]);
    assert!(code == Some(0) && text.starts_with("Restart 1 of JobSet train (Resume"), "{text}");
    assert!(text.contains("cause: Kueue evicted the JobSet (Preempted)"), "{text}");
    let (code, text) = explained(["--restart", "2"]);
    assert!(code == Some(2), "{text}");
}

/// With a JobSet, its own restarts are counted, in the title as in the option.
#[test]
fn the_number_of_a_restart_of_a_given_jobset_counts_its_own() {
    let pods = jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 4, completions: 4");
    let scenario = SHARED.split("faults:").next().unwrap().replace("maxRestarts=0", "maxRestarts=5").to_owned()
        + "faults:\n  - {at: 5m, containerExit: {pod: a-w-0-1}}\n  - {at: 10m, containerExit: {pod: b-w-0-1}}\n  - {at: 15m, \
           containerExit: {pod: b-w-0-1}}\nstop: {at: 1h, when: Time}\n";
    for (asked, number, expected, title) in [
        (Some("b"), 1, (1, 2), "Restart 1 of JobSet b "),
        (Some("b"), 2, (2, 2), "Restart 2 of JobSet b "),
        (Some("a"), 1, (1, 1), "Restart 1 of JobSet a "),
        (None, 2, (2, 3), "Restart 2 of JobSet b "),
    ] {
        let request = WhyRequest { restart: Some(number), jobset: asked.map(str::to_owned), ..path_only() };
        let subject = explain_texts(&scenario, &pods, &request).subject;
        assert!(subject.number == Some(expected) && subject.title.starts_with(title), "{asked:?}: {subject:?}");
    }
}

/// The wait of the preempted JobSet for its quota is most of the restart; it was tried in runs to the end.
#[test]
fn a_wait_for_quota_within_a_restart_has_the_changes_that_halve_it() {
    let why = explained("kueue", &WhyRequest::default());
    assert!(why.subject.ended && why.subject.kind == "restart", "{:?}", why.subject);
    let admission = why.admission.expect("the restart waits for quota");
    assert!((120.0..130.0).contains(&(admission.until - admission.from)), "{admission:?}");
    assert_eq!((admission.pending.cause, admission.pending.reason.as_str()), ("quota", "WaitingForQuota"));
    let changes: Vec<String> = admission.pending.smallest_changes.iter().map(|row| row.sentence()).collect();
    let raise = "raise nominalQuota of example.com/accelerator in flavor zone-a of ClusterQueue research by 32";
    assert!(changes.iter().any(|change| change == raise), "{changes:?}");
    assert!(changes.iter().all(|change| !change.contains("wait for the end")), "{changes:?}");
    let text = fs::read_to_string(root().join("scenarios/kueue.yaml")).unwrap();
    let loader = |name: &str| {
        let text = fs::read_to_string(root().join("scenarios").join(name)).unwrap();
        Ok(text.replace("nominalQuota: 64", "nominalQuota: 96"))
    };
    let source = SourceText { file: "scenario.yaml".to_owned(), text };
    let loaded = sim_inputs::parse_scenario(&source, &[], &loader).unwrap_or_else(|e| panic!("{e}"));
    assert!(restarts(&loaded).is_empty(), "with this quota nothing is preempted");
}

/// Which rack a leader chooses is a draw: a change that only leads to another draw is not listed.
#[test]
fn changes_are_repeated_in_other_placements_if_the_placement_is_a_draw() {
    let jobset = jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 2, completions: 2")
        .replace("name: a}", "name: a, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}")
        .replace("  - name: w\n", "  - name: w\n    replicas: 2\n");
    let racks = RACKS.replace("controlPlane: {kubeScheduler: {ties: InOrder}}\n", "");
    let waits = (1..20).map(|seed| {
        let request = WhyRequest { seed: Some(seed), ..path_only() };
        (seed, explain_texts(&racks, &jobset, &request).subject.total().seconds())
    });
    let (seed, _) = waits.into_iter().find(|(_, total)| *total > 3600.0).expect("a leader in the broken rack");
    let why = explain_texts(&racks, &jobset, &WhyRequest { seed: Some(seed), ..WhyRequest::default() });
    let shares: Vec<_> = why.what_if.iter().map(|w| (w.setting.lever.as_str(), w.draws)).collect();
    let share_of = |name: &str| shares.iter().find(|(lever, _)| *lever == name).map(|(_, share)| *share);
    let repeated = shares.iter().filter_map(|(_, share)| *share);
    assert!(repeated.clone().all(|share| share.with_change > share.unchanged), "{shares:?}");
    let spare = share_of("spare node in each domain").flatten().expect("a share");
    assert!(spare.with_change == spare.draws && spare.unchanged < spare.draws / 2, "{shares:?}");
    // It names the rack that is broken in this placement.
    assert_eq!(share_of("cordon of incomplete domains"), Some(None), "{shares:?}");
}

/// The removal of the label cannot end the wait, at whatever time it is done.
#[test]
fn a_jobset_without_its_queue_label_gets_it_back() {
    let removed = "[{at: 70s, patch: {kind: JobSet, name: train, merge: {metadata: {labels: \
                   {kueue.x-k8s.io/queue-name: null}}}}}]";
    let load =
        |more: &[OverrideSetter]| load("kueue", &[&[("faults".to_owned(), removed.to_owned())][..], more].concat());
    let why = why::explain(&load, &WhyRequest::default()).unwrap_or_else(|e| panic!("{e}"));
    let (change, _) = why.blocked.expect("Kueue ignores it").change.expect("a change");
    assert_eq!(change.lever, "queue label of the JobSet");
    let tried = why.what_if.iter().map(|w| &w.setting).chain(why.no_help.iter().map(|(setting, _)| setting));
    assert!(tried.clone().all(|setting| setting.lever != "earlier scripted action"));
    assert!(load(&change.sets).is_ok());
}

/// One of four pods has no node until the end of the run: three become ready, four are created.
#[test]
fn the_number_of_created_pods_includes_those_that_never_start() {
    let scenario = DEAD.replace("nodesPerIsland: 6", "nodesPerIsland: 4").replace("crashNode", "deleteNode");
    let pods = jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 4, completions: 4");
    let source = SourceText { file: "scenario.yaml".to_owned(), text: scenario };
    let loaded = sim_inputs::parse_scenario(&source, &[], &|_: &str| Ok(pods.clone())).unwrap();
    let all = restarts(&loaded);
    let [restart] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((restart.pods, restart.created), (3, 4));
    let texts = restart.spans().iter().map(|span| restart.describe_step(span.step)).collect::<Vec<_>>();
    assert!(texts.contains(&"Job controller creates 4 pods".to_owned()), "{texts:?}");
}

/// JobSets a and b hold the 8 nodes. A node of a is lost, and a waits until b releases nodes.
const SHARED: &str = r#"
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: shared}
jobSets: [{manifest: jobset.yaml}, {manifest: jobset.yaml, set: [metadata.name=b, spec.failurePolicy.maxRestarts=0]}]
topology: {apiVersion: jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: [{name: "n-{node}", nodesPerIsland: 8, allocatable: {cpu: 8, memory: 64Gi}}]}
faults:
  - {at: 5m, crashNode: {ofPod: a-w-0-1, alias: x}}
  - {at: 6m, deleteNode: {alias: x}}
"#;

fn of_jobset_a() -> WhyRequest {
    WhyRequest { restart: Some(1), jobset: Some("a".to_owned()), ..path_only() }
}

/// However the other JobSet releases its nodes, its own work is no step of the path.
#[test]
fn a_wait_for_nodes_of_another_jobset_is_a_wait_for_capacity() {
    let pods = jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 4, completions: 4");
    let table = [
        ("containers: [{jobSet: b, runFor: 2h}]\n", "until pods of JobSet b release their nodes"),
        ("  - {at: 2h, deleteJobSet: {name: b}}\n", "until JobSet b"),
        ("  - {at: 2h, suspendJobSet: {name: b}}\n", "until JobSet b"),
        ("  - {at: 2h, containerExit: {pod: b-w-0-2, exitCode: 1}}\n", "until the container of pod b-w-0-2"),
    ];
    for (end, until) in table {
        let scenario = format!("{SHARED}{end}stop: {{at: 4h, when: Time}}\n");
        let why = explain_texts(&scenario, &pods, &of_jobset_a());
        assert!(why.subject.ended && why.subject.total().seconds() > 6800.0, "{end}: {:?}", why.subject);
        let binding = why.binding.expect("a longest wait");
        assert!(binding.name.starts_with("no node fits") && binding.time.seconds() > 6700.0, "{end}: {binding:?}");
        let foreign: Vec<_> = why.spans.iter().filter(|s| s.what.contains(" b-w-") || s.what.ends_with(" b")).collect();
        assert!(foreign.is_empty(), "{end}: {foreign:?}");
        let waits: Vec<_> = why.spans.iter().filter(|s| s.waited_for.starts_with("no node fits")).collect();
        assert!(waits.iter().any(|s| s.waited_for.contains(until)), "{end}: {waits:?}");
        let detect: f64 = why.spans.iter().filter(|s| s.phase == "detect").map(|s| s.step.duration().seconds()).sum();
        assert!((100.0..120.0).contains(&detect), "{end}: {detect}");
    }
    let scenario = format!("{SHARED}{}stop: {{at: 4h, when: Time}}\n", table[0].0);
    let why = explain_texts(&scenario, &pods, &WhyRequest { path_only: false, ..of_jobset_a() });
    for lever in ["spare node in each domain", "replacement of the lost node"] {
        let what_if = why.what_if.iter().find(|w| w.setting.lever == lever);
        assert!(what_if.is_some_and(|w| w.takes.seconds() < 400.0), "{lever}: {:?}", why.what_if);
    }
    // A second island of eight nodes saves no more than a ninth node.
    assert!(why.what_if.iter().all(|w| w.setting.lever != "spare nodes"), "{:?}", why.what_if);
}

#[test]
fn an_unfinished_wait_for_nodes_ends_with_the_fewest_spare_nodes() {
    let pods = jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 4, completions: 4");
    let scenario = format!("{SHARED}containers: [{{jobSet: b, runFor: 20h}}]\nstop: {{at: 4h, when: Time}}\n");
    let why = explain_texts(&scenario, &pods, &WhyRequest::default());
    assert!(!why.subject.ended, "{:?}", why.subject);
    let binding = why.binding.expect("a longest wait");
    assert!(binding.name.starts_with("no node fits") && binding.time.seconds() > 13_000.0, "{binding:?}");
    let (setting, takes) = why.blocked.expect("a pod is pending").change.expect("a change");
    // The smallest change adds no node beside the lost one.
    assert!(setting.lever == "replacement of the lost node" && takes.seconds() < 400.0, "{setting:?}: {takes:?}");
    let change = why.placement[0].explanation.change.as_ref().expect("a node could be freed").text();
    assert!(change.contains("7 nodes qualify: n-0 to n-") && change.contains(", n-"), "{change}");
}

/// The start of c waits until b has completed, and that of b does not.
#[test]
fn a_start_that_waits_for_nodes_does_not_include_the_work_of_other_jobsets() {
    let pods = jobset("failurePolicy: {maxRestarts: 3}", "parallelism: 4, completions: 4");
    let scenario =
        SHARED.split("faults:").next().unwrap().replace(
            "maxRestarts=0]}]",
            "maxRestarts=0]}, {manifest: jobset.yaml, submitAt: 1m, set: [metadata.name=c]}]",
        ) + "containers: [{jobSet: b, runFor: 1h}]\nstop: {at: 2h, when: Time}\n";
    let why = explain_texts(&scenario, &pods, &WhyRequest { jobset: Some("c".to_owned()), ..path_only() });
    let binding = why.binding.expect("a longest wait");
    assert!(binding.name.starts_with("no node fits") && binding.time.seconds() > 3500.0, "{binding:?}");
    assert!(why.spans.iter().all(|span| !span.what.contains(" b-w-")), "{:?}", why.spans);
}

/// Queue of four CPUs with two AdmissionChecks, of 3 min and 7 min.
const CHECKED: &str = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n---\napiVersion: \
    kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  namespaceSelector: {}\n  preemption: \
    {withinClusterQueue: LowerPriority}\n  admissionChecksStrategy: {admissionChecks: [{name: p1}, {name: p2}]}\n  \
    resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 24}]}]}]\n---\n\
    apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: l, namespace: default}\nspec: {clusterQueue: \
    cq}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: top}\nvalue: 500\n---\n\
    apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: p1}\nspec: {controllerName: e.com/c}\n---\n\
    apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: p2}\nspec: {controllerName: e.com/c}\n";

/// Each longest wait of a finished restart has a lever that shortens it.
#[test]
fn waits_for_checks_detectors_and_resumptions_have_their_levers() {
    let plain = jobset("failurePolicy: {maxRestarts: 30}", "parallelism: 4, completions: 4");
    let queued = plain.replace("name: a}", "name: a, labels: {kueue.x-k8s.io/queue-name: l}}");
    let urgent = queued.replace("name: a, labels: {", "name: b, labels: {kueue.x-k8s.io/priority-class: top, ");
    let base = SHARED.split("jobSets:").next().unwrap().to_owned()
        + "topology: {apiVersion: jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: [{name: \"n-{node}\", \
           nodesPerIsland: 8, allocatable: {cpu: 8, memory: 64Gi}}]}\n";
    let table = [
        (
            "jobSets: [{manifest: a.yaml}, {manifest: b.yaml, submitAt: 30m}]\nobjects: [{manifest: q.yaml}]\ncontainers: \
             [{jobSet: b, runFor: 1m}]\nadmissionChecks: [{name: p1, after: 3m}, {name: p2, after: 17m}]\nstop: {at: 3h, \
             when: Time}\n",
            "time of AdmissionChecks",
            500.0,
        ),
        (
            "jobSets: [{manifest: plain.yaml}]\ntraining: {step: 10s, checkpoint: {every: 10m}}\nfaultProcesses: [{cause: \
             stall, on: Pod, mtbf: 10h, does: Hang, detectedAfter: 20m}]\nstop: {at: 30h, when: Time}\n",
            "detection time of silent faults",
            600.0,
        ),
        (
            "jobSets: [{manifest: plain.yaml}]\nfaults:\n  - {at: 2m, containerExit: {pod: a-w-0-1, exitCode: 1}}\n  - {at: \
             121500ms, suspendJobSet: {name: a}}\n  - {at: 12m, resumeJobSet: {name: a}}\nstop: {at: 1h, when: Time}\n",
            "earlier scripted action",
            200.0,
        ),
    ];
    for (rest, lever, saves) in table {
        let source = SourceText { file: "scenario.yaml".to_owned(), text: format!("{base}{rest}") };
        let loader = |name: &str| {
            let files = [("a.yaml", &*queued), ("b.yaml", &*urgent), ("q.yaml", CHECKED), ("plain.yaml", &*plain)];
            Ok(files.iter().find(|(file, _)| *file == name).expect("a known file").1.to_owned())
        };
        let load =
            |more: &[OverrideSetter]| sim_inputs::parse_scenario(&source, more, &loader).map_err(|e| e.to_string());
        let request = WhyRequest { restart: Some(1), jobset: Some("a".to_owned()), ..WhyRequest::default() };
        let why = why::explain(&load, &request).unwrap_or_else(|e| panic!("{lever}: {e:?}"));
        assert!(why.subject.ended, "{lever}: {:?}", why.subject);
        let best = why.what_if.iter().find(|w| w.setting.lever == lever);
        assert!(best.is_some_and(|w| w.saves.seconds() > saves), "{lever}: {:?}, {:?}", why.what_if, why.binding);
        let binding = why.binding.expect("a longest wait");
        // The quota is held by a JobSet that waits for the checks.
        if !binding.name.starts_with("quota") {
            let index = binding.lever.unwrap_or_else(|| panic!("{lever}: {binding:?}"));
            assert_eq!(why.what_if[index].setting.lever, lever, "{binding:?}");
        }
    }
}
