//! Random small clusters with JobSets that restart: in each scheduling cycle, the search over columns with scores by
//! classes of nodes (`scheduler/place.rs`) finds the nodes, scores and outcome of the plugins, which examine all nodes.
//! `set_checks_placement` compares them in each cycle.

use crate::support;
use sim_api::spec::{NodePool, ScenarioSpec, TaintEffect, TaintSpec};
use sim_engine::record::{Body, KeepSink};
use std::collections::{BTreeMap, BTreeSet};

const JOBSETS: u64 = 30;
const CLUSTERS_PER_JOBSETS: u64 = 10;

/// A linear congruential generator (Knuth, MMIX).
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

fn jobset(draws: &mut Draws, name: &str) -> String {
    let exclusive = draws.one_of(&["", "", "rack", "topology.kubernetes.io/zone"]);
    let annotations = match exclusive {
        "" => String::new(),
        key => format!(", annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: {key}}}"),
    };
    let network = draws.one_of(&["", "", "  network: {enableDNSHostnames: false}\n"]);
    let mut rjs = String::new();
    for rj in ["a", "b"].iter().take(1 + draws.below(2) as usize) {
        let (replicas, pods) = (1 + draws.below(3), 1 + draws.below(3));
        let cpu = draws.one_of(&["300m", "1", "2", "3500m"]);
        let restricts = draws.one_of(&["", "", "", "nodeSelector: {topology.kubernetes.io/zone: z0}, "]);
        let tolerates = draws.one_of(&["", "", "tolerations: [{key: t, operator: Exists}], "]);
        let class = draws.one_of(&["", "", "priorityClassName: high, "]);
        let terms = draws.one_of(&[
            "",
            "",
            "",
            "",
            "",
            "hostNetwork: true, ",
            "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack, \
             labelSelector: {matchLabels: {app: a}}}]}}, ",
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, \
             labelSelector: {matchLabels: {app: b}}}], ",
        ]);
        rjs += &format!(
            "  - name: {rj}\n    replicas: {replicas}\n    template: {{spec: {{parallelism: {pods}, completions: \
             {pods}, completionMode: Indexed, backoffLimit: 0, template: {{metadata: {{labels: {{app: {rj}}}}}, spec: \
             {{{restricts}{tolerates}{class}{terms}restartPolicy: Never, terminationGracePeriodSeconds: 5, \
             containers: [{{name: c, image: \"x:1\", ports: [{{containerPort: 80}}], resources: {{requests: {{cpu: \
             {cpu}}}}}}}]}}}}}}}}\n"
        );
    }
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}{annotations}}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 2}}\n{network}  replicatedJobs:\n{rjs}---\n"
    )
}

fn scenario(draws: &mut Draws) -> ScenarioSpec {
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 9\n---\n";
    let first = class.to_owned() + &jobset(draws, "one");
    let services = draws.one_of(&[
        "",
        "",
        "",
        "",
        "{apiVersion: v1, kind: Service, metadata: {name: all}, spec: {ports: [{port: 80}], selector: {app: a}}}",
    ]);
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools: [{{name: p, count: 1, \
         nodesPerIsland: 1, labels: {{rack: r, topology.kubernetes.io/zone: z0}}, allocatable: {{cpu: 4, memory: 16Gi, \
         pods: 9}}}}]\njobSets: [{{manifest: one.yaml}}, {{manifest: two.yaml, submitAt: 4s}}]\ncontainers: \
         [{{podIndex: 0, runFor: 8s, exitCode: 1}}]\nobjects: [{services}]\nstop: {{at: 20s}}\nseed: 1\n"
    );
    let files = [("one.yaml", first.as_str()), ("two.yaml", &jobset(draws, "two"))];
    let mut scenario = support::parse_with(&text, &files).unwrap_or_else(|e| panic!("{e}\n{files:?}"));
    scenario.admit_unplaceable = true;
    scenario
}

fn pool(draws: &mut Draws, like: &NodePool, name: &str) -> NodePool {
    let mut pool = NodePool { name: name.to_owned(), ..like.clone() };
    pool.nodes_per_island = 1 + draws.below(3) as u32;
    pool.labels.clear();
    pool.labels.insert("rack".to_owned(), format!("{name}-{{pool}}"));
    if let Some(zone) = [Some("z0"), Some("z0"), Some("z1"), None][draws.below(4) as usize] {
        pool.labels.insert("topology.kubernetes.io/zone".to_owned(), zone.to_owned());
    }
    pool.allocatable.insert("cpu".to_owned(), 1000 * (2 + draws.below(6) as i64));
    let effects = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule];
    if let Some(effect) = effects.get(draws.below(6) as usize) {
        pool.taints.push(TaintSpec { key: "t".to_owned(), value: String::new(), effect: *effect });
    }
    pool
}

#[test]
fn the_search_over_columns_equals_the_plugins_on_random_clusters() {
    let mut draws = Draws(7);
    let mut placed = 0_u64;
    let jobsets = support::cases(JOBSETS / 6, JOBSETS / 2);
    for _ in 0..jobsets {
        let mut scenario = scenario(&mut draws);
        let like = scenario.topology.pools[0].clone();
        for seed in 0..CLUSTERS_PER_JOBSETS {
            let pools = ["p", "q", "r"].into_iter().take(1 + draws.below(3) as usize);
            scenario.topology.pools = pools.map(|name| pool(&mut draws, &like, name)).collect();
            let mut simulation = support::simulation(&scenario);
            simulation.set_checks_placement(true);
            let mut sink = KeepSink::default();
            simulation.run(seed, 0, &mut sink);
            placed += sink.0.iter().filter(|record| matches!(record.body, Body::PodBound { .. })).count() as u64;
        }
    }
    assert!(placed > 100 * jobsets, "{placed} pods were placed");
}

/// Returns the sorted numbers of the nodes of two pods: nodes 0 and 1 are in one zone, node 2 in another.
fn nodes_of_two_pods(network: &str, seed: u64) -> Vec<u32> {
    let text = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: zones}\ntopology:\n  apiVersion: \
                jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {name: zones}\n  pools: [{name: p, count: 1, \
                nodesPerIsland: 2, allocatable: {cpu: 4}, labels: {topology.kubernetes.io/zone: a}}, {name: q, count: 1, \
                nodesPerIsland: 1, allocatable: {cpu: 4}, labels: {topology.kubernetes.io/zone: b}}]\n\
                jobSets: [{manifest: jobset.yaml}]\nstop: {at: 50s}\nseed: 1\n";
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js}}\nspec:\n{network}  replicatedJobs:\n  \
         - name: w\n    template: {{spec: {{parallelism: 2, completions: 2, template: {{spec: {{restartPolicy: Never, \
         containers: [{{name: c, image: \"x:1\", resources: {{requests: {{cpu: 1}}}}}}]}}}}}}}}\n"
    );
    let scenario = support::parse(text, &jobset).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut sink = KeepSink::default();
    simulation.run(seed, 0, &mut sink);
    let bound = sink.0.iter().filter_map(|record| match record.body {
        Body::PodBound { node, .. } => Some(node.0),
        _ => None,
    });
    let mut nodes: Vec<u32> = bound.collect();
    nodes.sort_unstable();
    nodes
}

#[test]
fn pods_that_a_service_selects_are_spread_over_zones() {
    let spread = BTreeSet::from_iter((1..=40).map(|seed| nodes_of_two_pods("", seed)));
    assert_eq!(spread, BTreeSet::from([vec![0, 2], vec![1, 2]]), "one pod per zone, on either node of the first");
}

#[test]
fn equal_nodes_are_drawn_with_equal_probability() {
    let mut pairs = BTreeMap::new();
    let runs = support::cases(100, 300);
    for seed in 1..=runs {
        *pairs.entry(nodes_of_two_pods("  network: {enableDNSHostnames: false}\n", seed)).or_insert(0) += 1;
    }
    let (expected, counts): (Vec<Vec<u32>>, Vec<u32>) = pairs.into_iter().unzip();
    assert_eq!(expected, [[0, 1], [0, 2], [1, 2]]);
    // Each pair is expected in a third of the runs, within three standard deviations.
    let (mean, deviation) = (runs as f64 / 3.0, libm::sqrt(runs as f64 * 2.0 / 9.0));
    assert!(counts.iter().all(|count| (f64::from(*count) - mean).abs() < 3.0 * deviation), "{counts:?}");
}
