//! Input files: shipped files are readable, upstream's examples are readable unmodified, and invalid input gives the
//! expected messages.

use sim_api::spec::*;
use sim_inputs::kube::{read_manifest_path, read_manifests};
use sim_inputs::scenario::{parse_scenario, read_scenario, scenario_from_manifests};
use sim_inputs::text::diagnostic::SourceText;
use sim_inputs::topology::read_topology;
use sim_inputs::*;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(directory: &Path) -> Vec<PathBuf> {
    files::manifest_files(directory).unwrap().0
}

fn source(file: &str, text: &str) -> SourceText {
    SourceText { file: file.to_owned(), text: text.to_owned() }
}

#[test]
fn all_shipped_scenarios_and_topologies_are_read() {
    let mut scenarios = 0;
    for path in files(&root().join("scenarios")) {
        let of = |folder: &str| path.parent().is_some_and(|p| p.ends_with(folder));
        if of("manifests") || of("wrapped") {
            continue;
        }
        let source = files::read_source(&path).unwrap();
        if sim_inputs::is_fleet(&source) {
            let loaded = sim_inputs::parse_fleet(&source, &[]);
            let loaded = loaded.unwrap_or_else(|e| panic!("{}\n{e}", path.display()));
            let stem = path.file_stem().and_then(|s| s.to_str());
            assert_eq!(Some(loaded.fleet.name.as_str()), stem);
            continue;
        }
        let loaded = read_scenario(&path, &[]);
        let loaded = loaded.unwrap_or_else(|e| panic!("{}\n{e}", path.display()));
        let stem = path.file_stem().and_then(|s| s.to_str());
        assert_eq!(Some(loaded.scenario.name.as_str()), stem);
        assert_eq!(loaded.unmodelled, [], "{}", path.display());
        assert!(loaded.scenario.topology.nodes() <= 5_250);
        scenarios += 1;
    }
    assert!(scenarios >= 16, "{scenarios}");
    for (name, nodes) in [("small-16", 16), ("tpu-5000", 5_000), ("gpu-nvl72-5000", 5_040), ("tpu-65k", 65_000)] {
        let path = root().join(format!("topologies/{name}.yaml"));
        let topology = read_topology(&files::read_source(&path).unwrap()).unwrap();
        assert_eq!((topology.name.as_str(), topology.nodes()), (name, nodes));
    }
}

#[test]
fn the_three_strategies_run_over_one_manifest() {
    for (name, strategy, mode) in [
        ("recreate", RestartStrategy::Recreate, AgentMode::Absent),
        ("blocking-recreate", RestartStrategy::BlockingRecreate, AgentMode::Absent),
        ("in-place", RestartStrategy::InPlaceRestart, AgentMode::Sidecar { probe_period_s: Some(1) }),
    ] {
        let path = root().join(format!("scenarios/restart-5000-{name}.yaml"));
        let scenario = read_scenario(&path, &[]).unwrap().scenario;
        let jobset = &scenario.jobsets[0].jobset;
        let job = &jobset.spec.replicated_jobs[0];
        assert_eq!(jobset.spec.strategy(), strategy);
        let pod = &job.template.template.spec;
        assert_eq!(pod.agent_mode(), mode);
        let in_place = strategy == RestartStrategy::InPlaceRestart;
        assert_eq!(job.template.backoff_limit() == i32::MAX, in_place, "{name}");
        assert_eq!(pod.containers[0].restart_policy_rules.is_empty(), !in_place);
        assert_eq!(scenario.control_plane.feature_gates.in_place_restart, in_place);
        assert_eq!((job.replicas, job.template.pods()), (5, 1000));
        assert_eq!(jobset.exclusive_key(job), Some("cloud.google.com/gke-nodepool"));
    }
}

#[test]
fn upstream_examples_are_read_unmodified() {
    let directory = root().join("../shared/corpus/jobset-examples");
    if !directory.is_dir() {
        let text = "NOT TESTED: the examples of the JobSet project are missing, so none was read";
        writeln!(std::io::stderr(), "{text}").unwrap();
        return;
    }
    let (mut count, mut jobsets) = (0, 0);
    for path in files(&directory) {
        let text = path.display().to_string();
        let (manifests, _) = read_manifest_path(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        jobsets += manifests.jobsets.len();
        count += 1;
        if manifests.jobsets.is_empty() {
            continue;
        }
        let loaded = scenario_from_manifests(vec![manifests], None, &[]);
        let loaded = loaded.unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert!(loaded.scenario.topology.nodes() > 0, "{text}");
    }
    // The JobSet inside an Argo Workflow is not read.
    assert_eq!((count, jobsets), (47, 31));
}

#[test]
fn what_a_real_cluster_accepted_is_accepted() {
    let mut directory = root().join("../shared/recordings");
    if !directory.is_dir() {
        directory = root().join("tests/recordings");
    }
    let mut count = 0;
    for kind in ["decisions", "corner", "nodes", "times"] {
        for path in files(&directory.join(kind)) {
            let text = fs::read_to_string(&path).unwrap();
            let recording: serde_json::Value = serde_json::from_str(&text).unwrap();
            let manifest = recording["jobSet"].to_string();
            let name = path.display().to_string();
            match read_manifests(&source(&name, &manifest)) {
                Ok(read) => assert_eq!(read.jobsets.len(), 1, "{name}"),
                Err(e) => panic!("{name}\n{e}"),
            }
            count += 1;
        }
    }
    assert!(count > 80, "{count} recordings");
}

#[test]
fn defaults_are_those_of_the_api_server_and_the_webhooks() {
    let text = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {generateName: js-}\nspec:\n  \
                failurePolicy: {rules: [{action: FailJobSet}]}\n  replicatedJobs:\n  - name: w\n    template: {spec: {template: {spec: {containers: \
                [{name: c, image: busybox, resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 500m}}}]}}}}\n";
    let manifests = read_manifests(&source("x.yaml", text)).unwrap();
    let (jobset, place) = &manifests.jobsets[0];
    assert_eq!((jobset.name.as_str(), jobset.namespace.as_str()), ("js-x7k2p", "default"));
    assert_eq!(place, "x.yaml:1");
    let spec = &jobset.spec;
    assert!(spec.network.enable_dns_hostnames && spec.network.publish_not_ready_addresses);
    assert_eq!(spec.success_policy.as_ref().map(|p| p.operator), Some(ConditionOperator::All));
    let policy = spec.failure_policy.as_ref().unwrap();
    assert_eq!(policy.restart_strategy, RestartStrategy::Recreate);
    assert_eq!((policy.max_restarts, policy.rules[0].name.as_str()), (0, "failurePolicyRule0"));
    let job = &spec.replicated_jobs[0];
    assert_eq!((job.replicas, job.group_name.as_str()), (1, "default"));
    assert_eq!(job.template.completion_mode, CompletionMode::Indexed);
    assert_eq!((job.template.parallelism, job.template.completions()), (None, Some(1)));
    let pod = &job.template.template.spec;
    assert_eq!(pod.restart_policy, RestartPolicy::OnFailure);
    assert_eq!(pod.termination_grace_period_s, 30);
    assert!(pod.containers[0].pulls_always());
    let requests = &pod.containers[0].requests;
    assert_eq!((requests["cpu"], requests["memory"]), (500, (1 << 30) * 1000));
}

#[test]
fn lists_and_live_objects_are_read_and_other_kinds_are_skipped() {
    let jobset = "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: NAME, uid: u, creationTimestamp: \"2026-01-01T00:00:00Z\", \
                  managedFields: [{manager: kubectl, fieldsV1: {\"f:spec\": {}}}]}, spec: {replicatedJobs: []}, status: {restarts: 3}}";
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}\n- {{apiVersion: v1, kind: Service, metadata: {{name: web}}}}\n---\n{}\n---\n\
         apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\n---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSetList\nitems: [{{metadata: {{name: c}}}}]\n",
        jobset.replace("NAME", "a"),
        jobset.replace("NAME", "b"),
    );
    let manifests = read_manifests(&source("x", &text)).unwrap();
    let names: Vec<&str> = manifests.jobsets.iter().map(|(j, _)| j.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(manifests.skipped, ["Service/web"]);
    assert_eq!(manifests.unmodelled, []);
}

#[test]
fn fields_that_are_not_modelled_are_counted_once_and_inert_ones_are_not() {
    let pod = "{affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}, \
               nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}], \
               requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}, \
               schedulingGates: [{name: g}], schedulerName: other, containers: [{name: c, command: [x], \
               livenessProbe: {exec: {}}, lifecycle: {preStop: {exec: {command: [x]}}}}]}";
    let job = |name: &str| format!("  - {{name: {name}, template: {{spec: {{template: {{spec: {pod}}}}}}}}}\n");
    let text = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js}}\nspec:\n  replicatedJobs:\n{}{}",
        job("a"),
        job("b")
    );
    let manifests = read_manifests(&source("x", &text)).unwrap();
    let prefix = "spec.replicatedJobs[].template.spec.template.spec";
    let expected = ["containers[].lifecycle.preStop.exec", "containers[].livenessProbe"];
    let expected: Vec<(String, usize)> = expected.iter().map(|f| (format!("{prefix}.{f}"), 2)).collect();
    assert_eq!(manifests.unmodelled, expected);
    let (jobset, _) = &manifests.jobsets[0];
    assert_eq!(jobset.spec.replicated_jobs[0].template.template.spec.scheduling_gates, 1);
}

#[test]
fn overrides_reach_every_part_of_a_scenario() {
    let path = root().join("scenarios/first-steps.yaml");
    let sets = [
        ("controlPlane.preset", "stock"),
        ("controlPlane.kubernetes", "1.30"),
        ("controlPlane.kubeScheduler.qps", "77"),
        ("jobSets[0].restartStrategy", "BlockingRecreate"),
        ("jobSets.0.submitAt", "5s"),
        ("faults[0].afterReady", "10s"),
        ("timing.sandbox", "{uniform: [1s, 2]}"),
        ("timing.schedulerFixed", "1ms"),
        ("seed", "9"),
    ];
    let sets = sets.map(|(p, v)| (p.to_owned(), v.to_owned()));
    let loaded = read_scenario(&path, &sets).unwrap_or_else(|e| panic!("{e}"));
    let scenario = &loaded.scenario;
    let plane = &scenario.control_plane;
    assert_eq!((plane.preset.as_str(), plane.kubernetes), ("custom", KubeVersion::new(30)));
    assert_eq!(plane.node_monitor_grace_period_s, 40);
    assert_eq!((plane.kube_scheduler.qps, plane.kube_controller_manager.qps), (77.0, 20.0));
    let submitted = &scenario.jobsets[0];
    assert_eq!(submitted.jobset.spec.strategy(), RestartStrategy::BlockingRecreate);
    assert_eq!(submitted.submit_at, sim_base::Duration::from_secs(5));
    assert_eq!(scenario.timing.scheduler.fixed, sim_base::Duration::from_millis(1));
    assert_eq!(scenario.seed, 9);
    let names: Vec<&str> = loaded.inputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[1..], ["--set", "../topologies/small-16.yaml", "manifests/exclusive-workers.yaml"]);
}

#[test]
fn a_generated_cluster_has_a_node_for_each_pod_and_the_labels_that_are_used() {
    let path = root().join("scenarios/manifests/train-5000.yaml");
    let (manifests, _) = read_manifest_path(&path.display().to_string()).unwrap();
    let scenario = scenario_from_manifests(vec![manifests], None, &[]).unwrap().scenario;
    assert_eq!(scenario.name, "train");
    assert_eq!(scenario.topology.nodes(), 5_000);
    let pool = &scenario.topology.pools[0];
    assert_eq!((pool.count, pool.nodes_per_island), (5, 1_000));
    assert!(pool.labels["cloud.google.com/gke-nodepool"].contains("{pool}"));
    assert_eq!(pool.accelerator, "google.com/tpu");
    assert_eq!(scenario.control_plane.preset, "scale-test");
    assert!(scenario.control_plane.feature_gates.in_place_restart);
}

/// Reads a file of `tests/it/bad`. The prefix of its name determines the reader.
fn answer(path: &Path) -> String {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    let source = source(name, &fs::read_to_string(path).unwrap());
    let beside = |file: &str| {
        let path = root().join("tests/it/bad/files").join(file);
        fs::read_to_string(path).map_err(|_| FileTextError::Unreadable { reason: "it is not there".to_owned() })
    };
    let outcome = match name.split('-').next() {
        Some("manifest") => read_manifests(&source).map(|_| ()),
        Some("topology") => read_topology(&source).map(|_| ()),
        Some("generator") => parse_kueue_load(&source, &[]).map(|_| ()),
        _ => parse_scenario(&source, &[], &beside).map(|_| ()),
    };
    match outcome {
        Ok(()) => "accepted".to_owned(),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn bad_input_gets_exactly_the_expected_errors() {
    let directory = root().join("tests/it/bad");
    let mut different = Vec::new();
    let mut count = 0;
    let answers = root().join("target/bad");
    fs::create_dir_all(&answers).unwrap();
    for path in files(&directory) {
        if path.parent() != Some(directory.as_path()) {
            continue;
        }
        count += 1;
        let expected = fs::read_to_string(path.with_extension("expected")).unwrap_or_default();
        let actual = answer(&path) + "\n";
        if actual != expected {
            // Saved for review; copy it next to the input if it is correct.
            let name = path.with_extension("expected");
            fs::write(answers.join(name.file_name().unwrap()), &actual).unwrap();
            different.push(format!("== {}\n{actual}", path.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(count >= 40, "{count}");
}

#[test]
fn errors_of_overrides_show_the_override() {
    let path = root().join("scenarios/first-steps.yaml");
    let set = |p: &str, v: &str| vec![(p.to_owned(), v.to_owned())];
    for (sets, expected) in [
        (
            set("controlPlane.preset", "stok"),
            "error: control plane preset \"stok\" does not exist\n --> --set:1:21\n  |\n1 | controlPlane.preset=stok\n  \
             |                     ^^^^ did you mean \"stock\"?\n  = legal: stock, scale-test, kops",
        ),
        (
            set("controlPlan.preset", "stock"),
            "error: unknown field \"controlPlan\" in Scenario\n --> --set:1:1\n  |\n1 | controlPlan.preset=stock\n  \
             | ^^^^^^^^^^^^^^^^^^ did you mean \"controlPlane\"?",
        ),
        (
            set("stop.at", "1 h"),
            "error: stop.at: \"1 h\" has no unit; a duration is written like 500ms, 1.5s, 2m30s, 4h or 7d\n --> --set:1:9\n  \
             |\n1 | stop.at=1 h\n  |         ^^^",
        ),
    ] {
        let error = read_scenario(&path, &sets).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let missing = read_manifest_path("/nowhere/x.yaml").unwrap_err().to_string();
    assert!(missing.starts_with("error: cannot be read: No such file"), "{missing}");
    assert!(missing.contains("--> /nowhere/x.yaml"), "{missing}");
    let path = root().join("scenarios/first-steps.yaml");
    let sets = [("topology".to_owned(), "../topologies/smal.yaml".to_owned())];
    let error = read_scenario(&path, &sets).unwrap_err().to_string();
    assert!(error.contains("topology \"../topologies/smal.yaml\" cannot be read"), "{error}");
}
