//! Random clusters: feasible nodes, scores and victims, which a cycle finds with counts by domain that it updates pod
//! by pod, equal those of an evaluation of each node against all pods (`brute_force`).

use crate::brute_force::{affinity_scores, is_feasible, spread_scores};
use crate::cases::cases;
use crate::cluster::Cluster;
use crate::cycle::SchedulingCycle;
use crate::decision::{Decision, ScoredNodes, find_feasible, schedule};
use crate::index::{NodeIndex, PodIndex};
use crate::labels::Labels;
use crate::node::NodeView;
use crate::plugin::Plugin;
use crate::pod::PodView;
use crate::pod_terms::SpreadConstraint;
use crate::profile::Profile;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A random pod: CPUs, priority, label `app`, and bits that select its terms.
type PodShape = (u8, i8, u8, u32);
/// A random node: CPUs, zone, and taint.
type NodeShape = (u8, u8, u8);

const APPS: [&str; 3] = ["a", "b", "c"];
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const ZONE: &str = "topology.kubernetes.io/zone";
const JOB_KEY: &str = "jobset.sigs.k8s.io/job-key";

fn pod(name: &str, (cpus, priority, app, bits): PodShape) -> Value {
    let is_set = |bit: u32| bits >> bit & 1 == 1;
    let app = APPS[usize::from(app) % APPS.len()];
    let other = APPS[(bits >> 29) as usize % APPS.len()];
    let key = if is_set(0) { "kubernetes.io/hostname" } else { ZONE };
    let term = json!({"labelSelector": {"matchLabels": {"app": other}}, "topologyKey": key});
    let weighted = |weight: u32| json!([{"weight": weight, "podAffinityTerm": term.clone()}]);
    let mut spec = json!({
        "priority": priority,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpus.to_string()}}}],
    });
    let mut labels = json!({"app": app, "tier": "t"});
    // Each property needs two bits, so that most pods have few of them.
    let has = |property: u32| is_set(2 * property + 1) && is_set(2 * property + 2);
    if has(0) {
        spec["affinity"]["podAntiAffinity"][REQUIRED] = json!([term.clone()]);
    }
    if has(1) {
        spec["affinity"]["podAffinity"][REQUIRED] = json!([term.clone()]);
    }
    if has(2) {
        spec["affinity"]["podAffinity"][PREFERRED] = weighted(7);
    }
    if has(3) {
        spec["affinity"]["podAntiAffinity"][PREFERRED] = weighted(40);
    }
    let selector = if is_set(28) && is_set(0) { json!({}) } else { json!({"matchLabels": {"app": app}}) };
    let constraint = |skew: u32, action: &str| json!({"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": selector});
    let spread = [(4, constraint(1, "DoNotSchedule")), (5, constraint(2, "ScheduleAnyway"))];
    let spread: Vec<Value> = spread.into_iter().filter(|(property, _)| has(*property)).map(|(_, c)| c).collect();
    if !spread.is_empty() {
        spec["topologySpreadConstraints"] = json!(spread);
    }
    if has(6) {
        spec["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]);
    }
    if has(7) {
        spec["tolerations"] = json!([{"key": "t", "operator": "Exists"}]);
    }
    if has(8) {
        spec["nodeSelector"] = json!({ZONE: "z0"});
    }
    // The terms of the pod webhook for exclusive placement.
    if has(9) {
        labels[JOB_KEY] = json!(app);
        let of_job = |operator: &str| json!({"key": JOB_KEY, "operator": operator, "values": [app]});
        let exists = json!({"key": JOB_KEY, "operator": "Exists"});
        let term = |expressions: Value| {
            json!([{
                "labelSelector": {"matchExpressions": expressions}, "topologyKey": ZONE, "namespaceSelector": {},
            }])
        };
        spec["affinity"]["podAffinity"][REQUIRED] = term(json!([of_job("In")]));
        spec["affinity"]["podAntiAffinity"][REQUIRED] = term(json!([exists, of_job("NotIn")]));
    }
    let mut metadata = json!({"name": name, "namespace": "n", "labels": labels});
    if has(10) {
        metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    json!({"metadata": metadata, "spec": spec})
}

/// Builds a cluster. `services` selects which Services exist.
fn cluster(nodes: &[NodeShape], pods: &[(u8, PodShape)], services: u8) -> Cluster {
    let mut cluster = Cluster::default();
    for (n, (cpus, zone, taint)) in nodes.iter().enumerate() {
        let mut labels = json!({"kubernetes.io/hostname": format!("n{n}")});
        if *zone < 3 {
            labels[ZONE] = json!(format!("z{zone}"));
        }
        let effect = ["NoSchedule", "PreferNoSchedule"].get(usize::from(*taint));
        let taints: Vec<Value> = effect.iter().map(|effect| json!({"key": "t", "effect": effect})).collect();
        let view = NodeView::read(
            &json!({
                "metadata": {"name": format!("n{n}"), "labels": labels},
                "spec": {"taints": taints},
                "status": {"allocatable": {"cpu": cpus.to_string(), "pods": "4"}},
            }),
            &mut cluster.columns,
        );
        cluster.add_node(view);
    }
    for (p, (node, shape)) in pods.iter().enumerate() {
        let view = PodView::read(&pod(&format!("p{p}"), *shape), &mut cluster.columns);
        let count = cluster.nodes.len();
        cluster.add_pod(usize::from(*node) % count, view);
    }
    for (bit, (key, value)) in [("app", "a"), ("app", "b"), ("tier", "t")].into_iter().enumerate() {
        if services >> bit & 1 == 1 {
            cluster.services.push(("n".to_owned(), Labels::from([(key.to_owned(), value.to_owned())])));
        }
    }
    cluster
}

/// Returns whether the pod fits on a node without some of its pods, evaluated on a new cluster.
fn fits_without(cluster: &Cluster, pod: &PodView, node: NodeIndex, removed: &[PodIndex]) -> bool {
    let mut cluster = cluster.clone();
    removed.iter().for_each(|other| cluster.remove_pod(node, *other));
    is_feasible(&cluster, pod, node)
}

/// Returns the victims on a node, with all pods in the order of their importance.
fn brute_force_victims(cluster: &Cluster, pod: &PodView, node: NodeIndex) -> Option<Vec<PodIndex>> {
    let mut removed = cluster.usage[node].pods.clone();
    removed.retain(|other| cluster.pods[*other].priority < pod.priority);
    if removed.is_empty() || !fits_without(cluster, pod, node, &removed) {
        return None;
    }
    let mut order = removed.clone();
    order.sort_by_key(|other| -cluster.pods[*other].priority);
    for other in order {
        let fewer: Vec<PodIndex> = removed.iter().copied().filter(|kept| *kept != other).collect();
        if fits_without(cluster, pod, node, &fewer) {
            removed = fewer;
        }
    }
    removed.sort_by_key(|other| -cluster.pods[*other].priority);
    Some(removed)
}

fn shapes() -> impl Strategy<Value = PodShape> {
    (1u8..4, -1i8..3, 0u8..3, any::<u32>())
}

fn nodes() -> impl Strategy<Value = Vec<NodeShape>> {
    prop::collection::vec((1u8..8, 0u8..4, 0u8..6), 1..6)
}

fn pods() -> impl Strategy<Value = Vec<(u8, PodShape)>> {
    prop::collection::vec((any::<u8>(), shapes()), 0..12)
}

/// Returns the scores of PodTopologySpread by an evaluation of each node against all pods.
fn brute_force_spread(cluster: &Cluster, pod: &PodView, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let soft: Vec<&SpreadConstraint> = pod.spread.iter().filter(|c| !c.is_required).collect();
    if !pod.spread.is_empty() {
        return (!soft.is_empty()).then(|| spread_scores(cluster, pod, nodes, &soft, true));
    }
    let selects = |selector: &&Labels| selector.iter().all(|(key, value)| pod.labels.get(key) == Some(value));
    let merged: Labels = cluster
        .services
        .iter()
        .map(|(_, s)| s)
        .filter(selects)
        .flatten()
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let constraint = |(key, skew): (&str, u32)| {
        let selector = json!({"matchLabels": merged});
        let read = json!({
            "maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector,
        });
        SpreadConstraint::read(&read, &pod.labels)
    };
    let defaults = [("kubernetes.io/hostname", 3), (ZONE, 5)].map(constraint);
    let defaults: Vec<&SpreadConstraint> = defaults.iter().collect();
    (!merged.is_empty()).then(|| spread_scores(cluster, pod, nodes, &defaults, false))
}

fn check_scores(cluster: &Cluster, pod: &PodView, scored: &ScoredNodes) -> Result<(), TestCaseError> {
    let of_plugin = |wanted: Plugin| {
        let mut all = scored.scores.iter();
        all.find(|(plugin, _)| *plugin == wanted).map(|(_, scores)| scores.clone())
    };
    let spread = brute_force_spread(cluster, pod, &scored.nodes);
    prop_assert_eq!(of_plugin(Plugin::PodTopologySpread), spread);
    let affinity = of_plugin(Plugin::InterPodAffinity).unwrap_or(vec![0; scored.nodes.len()]);
    prop_assert_eq!(affinity, affinity_scores(cluster, pod, &scored.nodes));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(300, 1_000) as u32, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn victims_equal_those_of_a_brute_force_evaluation(
        nodes in nodes(), pods in pods(), pending in shapes(), learned in any::<bool>(),
    ) {
        let mut cluster = cluster(&nodes, &pods, 0);
        let pending = PodView::read(&pod("new", pending), &mut cluster.columns);
        if learned {
            cluster.learn_topologies(&pending);
        }
        let Decision::Unschedulable { preemption, .. } = schedule(&cluster, &pending, &Profile::default(), 0) else {
            return Ok(());
        };
        let profile = Profile::default();
        let cycle = SchedulingCycle::new(&cluster, &pending, &profile).expect("no node is named");
        let rejected = find_feasible(&cycle, 0).rejected;
        let resolvable = rejected.iter().filter(|(_, rejection)| rejection.is_resolvable).map(|(node, _)| *node);
        let expected: Vec<(NodeIndex, Vec<PodIndex>)> = resolvable
            .filter_map(|node| Some((node, brute_force_victims(&cluster, &pending, node)?)))
            .collect();
        prop_assert_eq!(preemption.best().is_some(), !expected.is_empty());
        for candidate in preemption.best().unwrap_or_default() {
            let found = expected.iter().find(|(node, _)| *node == candidate.node).map(|(_, victims)| victims);
            prop_assert_eq!(found, Some(&candidate.victims));
        }
    }

    #[test]
    fn feasible_nodes_and_scores_equal_those_of_a_brute_force_evaluation(
        nodes in nodes(), pods in pods(), pending in shapes(), start in 0usize..6, services in 0u8..8,
    ) {
        let mut cluster = cluster(&nodes, &pods, services);
        let pending = PodView::read(&pod("new", pending), &mut cluster.columns);
        let expected: Vec<NodeIndex> =
            (0..nodes.len()).filter(|node| is_feasible(&cluster, &pending, *node)).collect();
        match schedule(&cluster, &pending, &Profile::default(), start) {
            Decision::Unschedulable { .. } => prop_assert!(expected.is_empty()),
            Decision::Scheduled(scored) => {
                let mut found = scored.nodes.clone();
                found.sort_unstable();
                prop_assert_eq!(found, expected);
                if scored.nodes.len() > 1 {
                    check_scores(&cluster, &pending, &scored)?;
                }
            }
        }
    }
}

#[test]
fn the_search_stops_when_enough_feasible_nodes_were_found() {
    let nodes: Vec<NodeShape> = (0..1000).map(|_| (4, 0, 9)).collect();
    let mut cluster = cluster(&nodes, &[], 0);
    let pending = PodView::read(&pod("new", (1, 0, 0, 0)), &mut cluster.columns);
    let Decision::Scheduled(first) = schedule(&cluster, &pending, &Profile::default(), 700) else {
        panic!("the pod fits");
    };
    // 1,000 nodes: 50 − 1000/125 = 42 %.
    assert_eq!((first.nodes.len(), first.nodes[0], first.next_start), (420, 700, 120));
}
