//! A run allocates little once its tables have grown: the second run of one `Simulation` is counted.

use crate::{growth, support};
use sim_api::spec::ScenarioSpec;
use sim_engine::record::DiscardSink;
use sim_inputs::SourceText;
use sim_scheduler::{Cluster, GroupAttempt, NodeView, PodGroup, PodView, Profile};
use sim_surrogate::fleet::{FleetOutcome, FleetSimulation};
use sim_testkit::allocation::{CountingAllocator, allocations, bytes_held};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_second_run_stays_within_its_limit_of_allocations_per_event() {
    // A run performs a few hundred allocations of its own (admission of each template). With 1,250 Jobs, reconcile
    // passes and their texts (names, rejected pods, conditions of each Job) account for a share of the events that a
    // few large Jobs do not cause.
    for (name, share_max) in [
        ("restart-5000-recreate", 0.021),
        ("restart-5000-in-place", 0.02),
        ("regime-job-controller-bound", 0.05),
        // Each follower pod that the webhook rejects gets its own message, and most are rejected once.
        ("regime-event-bound", 0.32),
    ] {
        let scenario = support::scenario(name, &[]);
        let mut simulation = support::simulation(&scenario);
        simulation.run(scenario.seed, 0, &mut DiscardSink);
        let before = allocations();
        let outcome = simulation.run(scenario.seed, 0, &mut DiscardSink);
        let allocations = allocations() - before;
        let share = allocations as f64 / outcome.events as f64;
        println!("{name}: {allocations} allocations, {} events, {:.2} %", outcome.events, 100.0 * share);
        assert!(share < share_max, "{name}: {:.2} %", 100.0 * share);
    }
}

/// Returns the number of bytes that the simulation of a scenario holds on the heap after a run.
fn held_bytes(scenario: ScenarioSpec) -> i64 {
    let before = bytes_held();
    let mut simulation = support::simulation(&scenario);
    simulation.run(scenario.seed, 0, &mut DiscardSink);
    let held = bytes_held() - before;
    drop(simulation);
    held
}

#[test]
fn a_replication_of_a_fleet_takes_few_bytes() {
    let source = sim_inputs::read_source(&support::root().join("scenarios/planning/multislice-64x64.yaml")).unwrap();
    let loaded = sim_inputs::parse_fleet(&source, &[]).unwrap();
    let mut simulation = FleetSimulation::new(&loaded.fleet);
    let first = simulation.run(1, 0);
    let before = bytes_held();
    let rows: Vec<FleetOutcome> = (1..=100).map(|i| simulation.run(1, i)).collect();
    let bytes = (bytes_held() - before) / rows.len() as i64;
    let outputs = first.outputs.names().len() as i64;
    println!("{bytes} bytes per replication with {outputs} outputs");
    // The values of the outputs, and the ledger with its twelve categories.
    assert!(bytes < 500 + 8 * outputs, "{bytes} bytes per replication with {outputs} outputs");
}

#[test]
fn a_pod_and_its_node_take_few_bytes() {
    // Measured for one pod on one node at two sizes, including the spare capacity of the tables.
    let (small, large) = (2_500, 5_000);
    let held = |n| held_bytes(growth::scenario(n));
    let per_pod = (held(large) - held(small)) / i64::from(large - small);
    println!("{per_pod} B per pod and node");
    assert!((1..=880).contains(&per_pod), "{per_pod} B per pod and node");
}

#[test]
fn the_hot_state_of_a_pod_is_small() {
    // Measured for pods alone, with the same number of nodes. Tables double when full, so two sizes with nearly full
    // tables are compared.
    let (small, large) = (2_045, 4_095);
    let held = |pods| held_bytes(growth::with_pods(5_000, pods));
    let per_pod = (held(large) - held(small)) / i64::from(large - small);
    println!("{per_pod} B per pod");
    // Pods wait in the scheduler's queue, which grows with the time of a cycle.
    assert!((1..=410).contains(&per_pod), "{per_pod} B per pod");
}

const HEAD: &str = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec:\n";
const POD: &str = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'x:1'}]}}";

/// Returns manifests with `n` items of one kind, each with the name of the kind.
fn long_inputs(n: usize) -> Vec<(&'static str, String)> {
    let each = |one: &dyn Fn(usize) -> String| (0..n).map(one).collect::<String>();
    let job = |pod: String| {
        format!("{HEAD}  replicatedJobs:\n  - {{name: w, template: {{spec: {{template: {{spec: {{{pod}}}}}}}}}}}\n")
    };
    let containers = each(&|i| format!("{{name: c{i}, image: 'x:1'}}, "));
    let variables = each(&|i| format!("{{name: V{i}, value: x}}, "));
    let tolerations = each(&|i| format!("{{key: k{i}, operator: Exists}}, "));
    let of_one = |more: String| job(format!("restartPolicy: Never, {more}"));
    let others = each(&|i| format!("apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j{i}}}\n---\n"));
    let plain = job("restartPolicy: Never, containers: [{name: c, image: 'x:1'}]".to_owned());
    let jobs = each(&|i| format!("  - {{name: w{i}, template: {{spec: {{{POD}}}}}}}\n"));
    vec![
        ("unknown fields", format!("{HEAD}{}", each(&|i| format!("  u{i}: 1\n")))),
        ("containers", of_one(format!("containers: [{containers}]"))),
        ("wrong containers", of_one(format!("containers: [{}]", containers.replace("image", "imaje")))),
        ("variables", of_one(format!("containers: [{{name: c, image: 'x:1', env: [{variables}]}}]"))),
        ("tolerations", of_one(format!("tolerations: [{tolerations}], containers: [{{name: c, image: 'x:1'}}]"))),
        ("other objects", format!("{others}{plain}")),
        ("replicatedJobs", format!("{HEAD}  replicatedJobs:\n{jobs}")),
        ("Jobs", plain.replace("name: w,", &format!("name: w, replicas: {n},"))),
    ]
}

/// Counts the allocations of reading, checking, defaulting and running an input.
fn work(text: &str) -> u64 {
    let source = SourceText { file: "a.yaml".to_owned(), text: text.to_owned() };
    let before = allocations();
    let read = sim_inputs::read_sources(&[source], &[]);
    let loaded = read.and_then(|read| sim_inputs::scenario_from_manifests(vec![read], None, &[]));
    match loaded {
        Ok(loaded) => {
            let mut simulation = support::simulation(&loaded.scenario);
            simulation.run(1, 0, &mut DiscardSink);
        }
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
    allocations() - before
}

#[test]
fn four_times_as_many_of_anything_are_four_times_as_much_work() {
    for ((what, small), (_, large)) in long_inputs(100).into_iter().zip(long_inputs(400)) {
        let (small, large) = (work(&small), work(&large));
        let growth = large as f64 / small as f64;
        println!("{what}: {small} and {large} allocations, {growth:.2} times");
        assert!(growth < 4.8, "{what}: {small} and {large} allocations, {growth:.2} times");
    }
}

/// Returns the objects of `n` ClusterQueues of one cohort, whose quota is in use, and a JobSet for one of them.
fn full_queues(n: usize) -> String {
    let object = |kind: &str, metadata: &str, spec: &str| {
        let version = "kueue.x-k8s.io/v1beta2";
        format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{{metadata}}}\nspec: {{{spec}}}\n")
    };
    let queue = |i: usize| {
        let quota = "resources: [{name: example.com/gpu, nominalQuota: 4}]";
        let flavors = format!("coveredResources: [example.com/gpu], flavors: [{{name: f, {quota}}}]");
        let cluster = format!("namespaceSelector: {{}}, cohortName: lab, resourceGroups: [{{{flavors}}}]");
        let container = "{name: m, image: x, resources: {requests: {example.com/gpu: 4}}}";
        let pods = format!("{{name: w, count: 1, template: {{spec: {{containers: [{container}]}}}}}}");
        let workload = format!("name: w{i}, namespace: default, uid: u{i}, creationTimestamp: 2026-08-22T00:00:00Z");
        let condition = |kind: &str| {
            format!("{{type: {kind}, status: 'True', reason: x, message: x, lastTransitionTime: 2026-08-22T00:00:00Z}}")
        };
        let used = "flavors: {example.com/gpu: f}, resourceUsage: {example.com/gpu: 4}";
        let admission = format!("clusterQueue: c{i}, podSetAssignments: [{{name: w, count: 1, {used}}}]");
        let conditions = format!("{}, {}", condition("QuotaReserved"), condition("Admitted"));
        [
            object("ClusterQueue", &format!("name: c{i}"), &cluster),
            object("LocalQueue", &format!("name: q{i}, namespace: default"), &format!("clusterQueue: c{i}")),
            object("Workload", &workload, &format!("queueName: q{i}, podSets: [{pods}]"))
                + &format!("status: {{admission: {{{admission}}}, conditions: [{conditions}]}}\n"),
        ]
        .join("---\n")
    };
    let queues: Vec<String> = (0..n).map(queue).collect();
    let jobset = HEAD.replace("name: a", "name: a, labels: {kueue.x-k8s.io/queue-name: q0}")
        + &format!("  replicatedJobs:\n  - {{name: w, template: {{spec: {{{POD}}}}}}}\n")
            .replace("image: 'x:1'", "image: 'x:1', resources: {limits: {example.com/gpu: 4}}");
    [object("ResourceFlavor", "name: f", ""), queues.join("---\n"), jobset].join("---\n")
}

#[test]
fn four_times_as_many_cluster_queues_are_four_times_as_much_work_for_admit() {
    let work = |n: usize| {
        let source = SourceText { file: "a.yaml".to_owned(), text: full_queues(n) };
        let before = allocations();
        let read = sim_inputs::read_sources(&[source], &[]).unwrap_or_else(|e| panic!("{e}"));
        let loaded = sim_inputs::scenario_from_manifests(vec![read], None, &[]).unwrap_or_else(|e| panic!("{e}"));
        let report = sim_analysis::admission::admission_report(&loaded.scenario, false, None).expect("a report");
        let verdict = &report.job_sets[0];
        assert_eq!((verdict.cause, verdict.smallest_changes.len()), (Some("quota"), 2), "{verdict:?}");
        allocations() - before
    };
    let (small, large) = (work(40), work(160));
    let growth = large as f64 / small as f64;
    println!("{small} and {large} allocations, {growth:.2} times");
    assert!(growth < 4.8, "{small} and {large} allocations, {growth:.2} times");
}

#[test]
fn four_times_as_many_domains_are_four_times_as_much_work_for_a_gang() {
    let work = |racks: usize| {
        let mut cluster = Cluster::default();
        let pod = |name: String| PodView { name, ..PodView::default() };
        for row in 0..4 * racks {
            let labels = [("rack".to_owned(), format!("r{}", row / 4))].into();
            let node =
                cluster.add_node(NodeView { name: format!("n{row}"), labels, max_pods: 8, ..NodeView::default() });
            cluster.add_pod(node, pod(format!("other-{row}")));
        }
        let group = PodGroup { min_count: Some(4), topology_key: Some("rack".to_owned()), ..PodGroup::default() };
        let pods: Vec<PodView> = (0..4).map(|at| pod(format!("p{at}"))).collect();
        let (profile, ties) = (&Profile::default(), &[]);
        let (group, pods) = (&group, &pods[..]);
        let attempt = GroupAttempt { group, pods, profile, scheduled: &[], is_topology_aware: true, ties, start: 0 };
        let before = allocations();
        let feasible = attempt.run(&cluster).placements.iter().filter(|placement| placement.is_feasible).count();
        assert_eq!(feasible, racks);
        allocations() - before
    };
    let (small, large) = (work(16), work(64));
    let growth = large as f64 / small as f64;
    println!("{small} and {large} allocations, {growth:.2} times");
    assert!(growth < 4.8, "{small} and {large} allocations, {growth:.2} times");
}

/// Counts the allocations of a restart of `n` pods. `pod` is a part of the spec of the pods, and `other` that of a
/// JobSet of one pod that is submitted first.
fn restart_work(n: u32, pod: &str, other: Option<&str>) -> u64 {
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: beside}\ntopology:\n  \
                    apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {name: beside}\n  pools: [{name: p, \
                    count: 1, nodesPerIsland: NODES, allocatable: {cpu: 1, memory: 1Gi, pods: 9}}]\njobSets:\nOTHER  - \
                    {manifest: jobset.yaml, submitAt: 30s}\nfaults: [{afterReady: 10s, containerExit: {pod: \
                    train-w-0-7, exitCode: 1}}]\nstop: {at: 10m}\nseed: 1\n";
    let jobset = |name: &str, pods: u32, pod: &str| {
        format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}}}\nspec:\n  failurePolicy: \
             {{maxRestarts: 1}}\n  replicatedJobs: [{{name: w, template: {{spec: {{parallelism: {pods}, completions: \
             {pods}, backoffLimit: 0, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{pod}restartPolicy: \
             Never, containers: [{{name: c, image: 'x:1', ports: [{{containerPort: 80}}], resources: {{requests: \
             {{cpu: 1}}}}}}]}}}}}}}}}}]\n"
        )
    };
    let train = jobset("train", n, pod);
    let beside = other.map(|other| jobset("other", 1, other));
    let scenario = scenario.replace("OTHER", beside.as_ref().map_or("", |_| "  - {manifest: other.yaml}\n"));
    let scenario = scenario.replace("NODES", &(n + 20).to_string());
    let mut files = vec![("jobset.yaml", train.as_str())];
    files.extend(beside.as_ref().map(|other| ("other.yaml", other.as_str())));
    let scenario = support::parse_with(&scenario, &files).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    let before = allocations();
    let outcome = simulation.run(1, 0, &mut DiscardSink);
    assert_eq!(outcome.jobsets.last().map(|js| js.restarts), Some(1));
    allocations() - before
}

#[test]
fn each_pod_is_placed_as_quickly_beside_pods_with_terms_and_with_ports_of_the_node() {
    const TERMS: &str = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: \
                         kubernetes.io/hostname, labelSelector: {matchLabels: {app: other}}}]}}, ";
    for (what, pod, other) in [
        ("alone", "", None),
        ("beside a pod with a term that selects none of them", "", Some(TERMS)),
        ("with ports of the node", "hostNetwork: true, ", None),
        ("beside a pod with ports of the node", "", Some("hostNetwork: true, ")),
    ] {
        let (small, large) = (restart_work(100, pod, other), restart_work(400, pod, other));
        let growth = large as f64 / small as f64;
        println!("{what}: {small} and {large} allocations, {growth:.2} times");
        assert!(growth < 4.8, "{what}: {small} and {large} allocations, {growth:.2} times");
    }
}
