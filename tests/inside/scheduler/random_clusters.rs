//! Random clusters: preemption, which updates the state of a cycle pod by pod, equals an evaluation that builds a new
//! cluster and a new cycle for each set of pods.

use crate::cluster::Cluster;
use crate::cycle::SchedulingCycle;
use crate::decision::{Decision, find_feasible, schedule};
use crate::index::{NodeIndex, PodIndex};
use crate::node::NodeView;
use crate::pod::PodView;
use crate::profile::Profile;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A random pod: CPUs, priority, label `app`, and which terms it has.
type PodShape = (u8, i8, u8, u8);

fn pod(name: &str, (cpus, priority, app, terms): PodShape) -> Value {
    let apps = ["a", "b", "c"];
    let app = apps[usize::from(app) % apps.len()];
    let other = apps[usize::from(terms / 8) % apps.len()];
    let key = if terms & 1 == 0 { "zone" } else { "kubernetes.io/hostname" };
    let selector = json!({"matchLabels": {"app": other}});
    let term = json!([{"labelSelector": selector, "topologyKey": key}]);
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let mut spec = json!({
        "priority": priority,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpus.to_string()}}}],
    });
    if terms & 2 != 0 {
        spec["affinity"]["podAntiAffinity"][required] = term.clone();
    }
    if terms & 4 != 0 {
        let own = json!({"matchLabels": {"app": app}});
        spec["topologySpreadConstraints"] = json!([
            {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": own},
        ]);
    }
    if terms & 64 != 0 {
        spec["affinity"]["podAffinity"][required] = term;
    }
    if terms & 128 != 0 {
        spec["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]);
    }
    json!({"metadata": {"name": name, "namespace": "n", "labels": {"app": app}}, "spec": spec})
}

fn cluster(nodes: &[(u8, u8)], pods: &[(u8, PodShape)]) -> Cluster {
    let mut cluster = Cluster::default();
    for (n, (cpus, zone)) in nodes.iter().enumerate() {
        let mut labels = json!({"kubernetes.io/hostname": format!("n{n}")});
        if *zone < 3 {
            labels["zone"] = json!(format!("z{zone}"));
        }
        let allocatable = json!({"cpu": cpus.to_string(), "pods": "4"});
        let node =
            json!({"metadata": {"name": format!("n{n}"), "labels": labels}, "status": {"allocatable": allocatable}});
        let view = NodeView::read(&node, &mut cluster.columns);
        cluster.add_node(view);
    }
    for (p, (node, shape)) in pods.iter().enumerate() {
        let view = PodView::read(&pod(&format!("p{p}"), *shape), &mut cluster.columns);
        let count = cluster.nodes.len();
        cluster.add_pod(usize::from(*node) % count, view);
    }
    cluster
}

/// Returns whether the pod fits on a node without some of its pods, evaluated on a new cluster.
fn fits_without(cluster: &Cluster, pod: &PodView, node: NodeIndex, removed: &[PodIndex]) -> bool {
    let mut cluster = cluster.clone();
    removed.iter().for_each(|other| cluster.remove_pod(node, *other));
    let profile = Profile::default();
    let cycle = SchedulingCycle::new(&cluster, pod, &profile).expect("no node is named");
    cycle.filter(node, &cluster.usage[node]).is_ok()
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
    (1u8..4, -1i8..3, 0u8..3, any::<u8>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn preemption_equals_an_evaluation_without_incremental_updates(
        nodes in prop::collection::vec((1u8..8, 0u8..4), 1..6),
        pods in prop::collection::vec((any::<u8>(), shapes()), 0..12),
        pending in shapes(),
    ) {
        let mut cluster = cluster(&nodes, &pods);
        let pending = PodView::read(&pod("new", pending), &mut cluster.columns);
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
    fn the_start_of_the_search_does_not_change_the_feasible_nodes(
        nodes in prop::collection::vec((1u8..8, 0u8..4), 1..6),
        pods in prop::collection::vec((any::<u8>(), shapes()), 0..12),
        pending in shapes(),
        start in 0usize..6,
    ) {
        let mut cluster = cluster(&nodes, &pods);
        let pending = PodView::read(&pod("new", pending), &mut cluster.columns);
        let expected: Vec<NodeIndex> =
            (0..nodes.len()).filter(|node| fits_without(&cluster, &pending, *node, &[])).collect();
        match schedule(&cluster, &pending, &Profile::default(), start) {
            Decision::Unschedulable { .. } => prop_assert!(expected.is_empty()),
            Decision::Scheduled(scored) => {
                let mut found = scored.nodes.clone();
                found.sort_unstable();
                prop_assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn the_search_stops_when_enough_feasible_nodes_were_found() {
    let nodes: Vec<(u8, u8)> = (0..1000).map(|_| (4, 0)).collect();
    let mut cluster = cluster(&nodes, &[]);
    let pending = PodView::read(&pod("new", (1, 0, 0, 0)), &mut cluster.columns);
    let Decision::Scheduled(first) = schedule(&cluster, &pending, &Profile::default(), 700) else {
        panic!("the pod fits");
    };
    // 1,000 nodes: 50 − 1000/125 = 42 %.
    assert_eq!((first.nodes.len(), first.nodes[0], first.next_start), (420, 700, 120));
}
