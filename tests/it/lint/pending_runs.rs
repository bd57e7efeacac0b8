//! Pods that stay Pending: on random small clusters, lint reports a JobSet exactly if pods have no node at the end of a
//! run of it.

use super::notation;
use super::pending::{ALONE, REQUIRED, TOGETHER};
use crate::support;
use serde_json::{Value, json};
use sim_api::spec::{ScenarioSpec, TopologySpec};
use sim_engine::SimulationInput;
use sim_engine::record::{Body, KeepSink};
use sim_inputs::SourceText;
use sim_lint::{FindingKind, LintReport, TrapSeverity};
use std::collections::{BTreeMap, BTreeSet};

/// Random choices from a linear congruential generator (Knuth, MMIX).
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    /// Returns true in one of `n` cases.
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of(&mut self, choices: &[Value]) -> Value {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

fn pools(choices: &mut Choices) -> Value {
    let pool = |(at, choices): (u64, &mut Choices)| {
        let mut pool = json!({
            "name": format!("p{at}"), "count": 1 + choices.below(3), "nodesPerIsland": 1 + choices.below(4),
            "labels": {"rack": format!("p{at}-{{pool}}")},
            "allocatable": {"cpu": 3 + choices.below(5), "memory": "16Gi", "pods": 5},
        });
        if choices.one_in(2) {
            pool["labels"]["zone"] = choices.of(&[json!("z0"), json!("z1")]);
        }
        if choices.one_in(4) {
            pool["taints"] =
                json!([{"key": "t", "effect": choices.of(&[json!("NoSchedule"), json!("PreferNoSchedule")])}]);
        }
        pool
    };
    (0..1 + choices.below(3)).map(|at| pool((at, choices))).collect()
}

/// Returns terms of a pod that matter beside other pods.
fn terms(choices: &mut Choices) -> Value {
    let key = choices.of(&[json!("rack"), json!("kubernetes.io/hostname"), json!("zone")]);
    let app = choices.of(&[json!("a"), json!("b"), json!("none")]);
    let term = json!([{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]);
    match choices.below(12) {
        0 | 1 => json!({"affinity": {"podAntiAffinity": {REQUIRED: term}}}),
        2 => json!({"affinity": {"podAffinity": {REQUIRED: term}}}),
        3 => json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "minDomains": 1 + choices.below(3),
            "labelSelector": {"matchLabels": {"app": app}},
        }]}),
        _ => json!({}),
    }
}

fn replicated_job(choices: &mut Choices, name: &str) -> Value {
    let pods = 1 + choices.below(3);
    let mut pod = terms(choices);
    let spec = pod.as_object_mut().expect("a pod");
    let mut set = |field: &str, value: Value| drop(spec.insert(field.to_owned(), value));
    set("restartPolicy", json!("Never"));
    if choices.one_in(8) {
        set("nodeSelector", choices.of(&[json!({"zone": "z0"}), json!({"rack": "p0-0"}), json!({"zone": "z9"})]));
    }
    if choices.one_in(3) {
        set("tolerations", json!([{"key": "t", "operator": "Exists"}]));
    }
    for (field, value) in
        [("priorityClassName", "high"), ("schedulerName", "other"), ("nodeName", "p0-0"), ("nodeName", "ghost")]
    {
        if choices.one_in(if field == "priorityClassName" { 5 } else { 50 }) {
            set(field, json!(value));
        }
    }
    if choices.one_in(10) {
        set("volumes", json!([{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]));
    }
    let mut container = json!({});
    if choices.one_in(5) {
        container["ports"] = json!([{"containerPort": 80, "hostPort": 8080}]);
    }
    if !choices.one_in(3) {
        container["resources"] = json!({"requests": {"cpu": 1 + choices.below(2)}});
    }
    if choices.one_in(50) {
        container["resources"] = json!({"requests": {"example.com/gpu": 1}, "limits": {"example.com/gpu": 1}});
    }
    json!({
        "name": name, "replicas": 1 + choices.below(3), "job": {"parallelism": pods, "completions": pods},
        "podMeta": {"labels": {"app": name}}, "pod": pod, "container": container,
    })
}

fn jobset(choices: &mut Choices, name: &str) -> Value {
    let mut rjs: Vec<Value> =
        ["a", "b"].iter().take(1 + choices.below(2) as usize).map(|name| replicated_job(choices, name)).collect();
    if rjs.len() > 1 && choices.one_in(3) {
        let status = choices.of(&[json!("Ready"), json!("Complete")]);
        if status == "Complete" {
            rjs[0]["container"]["command"] = json!(["sleep", "1"]);
        }
        rjs[1]["dependsOn"] = json!([{"name": "a", "status": status}]);
    }
    let mut side = json!({"name": name, "rjs": rjs, "spec": {}});
    if choices.one_in(4) {
        let keys = ["rack", "rack", "kubernetes.io/hostname", "zone", "unknown"].map(|key| json!(key));
        let key = choices.of(&keys);
        side["annotations"] = json!({"alpha.jobset.sigs.k8s.io/exclusive-topology": key});
    }
    if choices.one_in(4) && !rjs.iter().any(|rj| rj["dependsOn"].is_array()) {
        side["spec"]["startupPolicy"] = json!({"startupPolicyOrder": "InOrder"});
    }
    notation::jobset(&side)
}

/// Returns further objects: a PriorityClass, and claims with or without volumes.
fn objects(choices: &mut Choices) -> Vec<Value> {
    let mut objects = vec![json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9,
    })];
    let class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disk"},
        "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer",
    });
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "disk",
            "resources": {"requests": {"storage": "1Gi"}}},
    });
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk-0"},
        "spec": {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "disk",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z0"]}]}]}},
            "local": {"path": "/mnt/disk"}},
    });
    match choices.below(4) {
        0 => {}
        1 => objects.push(class),
        2 => objects.extend([class, claim]),
        _ => objects.extend([class, claim, volume]),
    }
    objects
}

/// Returns the names of the JobSets of a scenario that have pods without a node at the end of its run.
fn without_node(scenario: &ScenarioSpec) -> BTreeSet<String> {
    let mut simulation = SimulationInput::new(scenario).unwrap_or_else(|e| panic!("{e}"));
    let mut sink = KeepSink::default();
    simulation.run(scenario.seed, 0, &mut sink);
    let mut waiting = BTreeMap::new();
    for record in &sink.0 {
        match record.body {
            Body::PodCreated { pod, job, .. } => drop(waiting.insert(pod, job)),
            Body::PodBound { pod, .. } | Body::PodGone { pod, .. } => drop(waiting.remove(&pod)),
            _ => {}
        }
    }
    let names = simulation.names();
    waiting.values().filter_map(|job| Some(names.jobset(names.jobset_of(*job)?).to_owned())).collect()
}

/// Runs the JobSets with these names, or all.
fn run(sources: &[SourceText], topology: &TopologySpec, names: Option<&[String]>) -> BTreeSet<String> {
    let manifests = sim_inputs::read_sources(sources, &[]).unwrap_or_else(|e| panic!("{e}"));
    let scenario = sim_inputs::scenario_with_unplaceable(manifests, topology.clone());
    let mut scenario = scenario.unwrap_or_else(|e| panic!("{e}"));
    scenario.jobsets.retain(|s| names.is_none_or(|names| names.contains(&s.jobset.name)));
    without_node(&scenario)
}

/// Returns the JobSets with a trap of one of these names.
fn reported(report: &LintReport, names: &[&str]) -> BTreeSet<String> {
    let traps = report.findings.iter().filter(|f| f.kind == FindingKind::Trap && names.contains(&f.name));
    traps.map(|f| f.jobset.clone()).collect()
}

#[test]
fn a_jobset_is_reported_exactly_if_its_run_leaves_pods_pending() {
    let (mut alone_count, mut together_count, mut placed_count) = (0, 0, 0);
    let seeds = support::cases(20, 40);
    for seed in 0..seeds {
        let mut choices = Choices(seed);
        let pools = pools(&mut choices);
        let names = ["one", "two", "three"].into_iter().take(1 + choices.below(3) as usize);
        let mut all: Vec<Value> = names.map(|name| jobset(&mut choices, name)).collect();
        let jobsets: Vec<String> = all.iter().map(|o| o["metadata"]["name"].as_str().unwrap().to_owned()).collect();
        all.extend(objects(&mut choices));
        let (report, sources, topology) = notation::objects_on_topology(&all, &pools);
        let refused: Vec<_> = report.findings.iter().filter(|f| f.kind == FindingKind::Rejected).collect();
        assert!(refused.is_empty() && report.not_simulated.is_none(), "seed {seed}: {refused:?}");
        let pending = run(&sources, &topology, None);
        let is_alone = |name: &String| !run(&sources, &topology, Some(std::slice::from_ref(name))).is_empty();
        let (alone, together): (BTreeSet<String>, BTreeSet<String>) = pending.into_iter().partition(is_alone);
        let context = || format!("seed {seed}: {}\n{pools:#}", sources[0].text);
        assert_eq!(reported(&report, &ALONE), alone, "{}", context());
        assert_eq!(reported(&report, &[TOGETHER]).is_empty(), together.is_empty(), "{}", context());
        let mut warned = report.findings.iter().filter(|f| ALONE.contains(&f.name));
        assert!(warned.all(|f| f.severity == TrapSeverity::Error), "{}", context());
        placed_count += jobsets.len() - alone.len() - together.len();
        alone_count += alone.len();
        together_count += together.len();
    }
    let counts = [alone_count, together_count, placed_count];
    // Of 200 seeds, more than 100, 10 and 100.
    assert!(counts.iter().zip([2, 20, 2]).all(|(count, one_in)| *count as u64 > seeds / one_in), "{counts:?}");
}

/// Runs a shipped scenario. Returns the JobSets of which a pod ever found no node.
fn ever_unschedulable(scenario: &ScenarioSpec) -> BTreeSet<String> {
    let mut simulation = support::simulation(scenario);
    let mut sink = KeepSink::default();
    simulation.run(scenario.seed, 0, &mut sink);
    let (names, mut jobs, mut jobsets) = (simulation.names(), BTreeMap::new(), BTreeSet::new());
    for record in &sink.0 {
        match record.body {
            Body::PodCreated { pod, job, .. } => drop(jobs.insert(pod, job)),
            Body::PodUnschedulable { pod, .. } => {
                jobsets.extend(names.jobset_of(jobs[&pod]).map(|id| names.jobset(id).to_owned()));
            }
            _ => {}
        }
    }
    jobsets
}

#[test]
fn no_jobset_of_a_shipped_scenario_is_reported_whose_pods_always_find_a_node() {
    let (mut compared, mut reports) = (0, 0);
    for name in support::scenario_names() {
        let scenario = support::scenario(&name, &[]);
        let has_own_nodes = scenario.objects.iter().any(|object| object["kind"] == "Node");
        if has_own_nodes || scenario.jobsets.iter().any(|s| s.submit_at == sim_api::spec::BY_SCRIPT) {
            continue;
        }
        let stored = scenario.jobsets.iter().filter_map(|s| s.jobset.object.as_deref());
        let objects: Vec<Value> = stored.chain(&scenario.objects).cloned().collect();
        let report = notation::objects_on(&objects, &scenario.topology);
        assert!(report.findings.iter().all(|f| f.kind != FindingKind::Rejected), "{name}: {:?}", report.findings);
        assert_eq!(report.not_simulated, None, "{name}");
        let mut traps = report.findings.iter().filter(|f| f.severity == TrapSeverity::Error);
        if traps.any(|f| ALONE.contains(&f.name)) {
            let (reported, seen) = (reported(&report, &ALONE), ever_unschedulable(&scenario));
            assert!(reported.is_subset(&seen), "{name}: {reported:?}, without a node {seen:?}");
            reports += reported.len();
        }
        compared += 1;
    }
    assert!(compared > 25 && reports > 0, "{compared} scenarios, {reports} reports");
}
