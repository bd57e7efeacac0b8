//! Tests of pod groups: the choice of a placement, and the victims of a group.

use crate::cluster::RestrictedCluster;
use crate::groups::attempt::{GroupAttempt, GroupResult};
use crate::groups::preemption::preempt_for_group;
use crate::labels::LabelSelector;
use crate::{Cluster, DisruptionBudget, NodeView, PodGroup, PodView, Profile};
use serde_json::{Value, json};

/// Returns a cluster with nodes of the given racks and CPUs.
fn cluster(nodes: &[(&str, &str)]) -> Cluster {
    let mut cluster = Cluster::default();
    for (row, (rack, cpu)) in nodes.iter().enumerate() {
        let object = json!({
            "metadata": {"name": format!("n{row}"), "labels": {"rack": rack}},
            "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110"}},
        });
        let view = NodeView::read(&object, &mut cluster.columns);
        cluster.add_node(view);
    }
    cluster
}

fn pod(cluster: &mut Cluster, name: &str, cpu: &str, priority: i64) -> PodView {
    let object = json!({"metadata": {"namespace": "ns", "name": name, "labels": {"app": name}}, "spec": {
        "priority": priority,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
    }});
    PodView::read(&object, &mut cluster.columns)
}

fn attempt<T>(
    cluster: &Cluster, group: &PodGroup, pods: &[PodView], run: impl FnOnce(&GroupAttempt<'_>, &Cluster) -> T,
) -> T {
    let profile = Profile::default();
    let attempt =
        GroupAttempt { group, pods, profile: &profile, scheduled: &[], is_topology_aware: true, ties: &[], start: 0 };
    run(&attempt, cluster)
}

fn run(attempt: &GroupAttempt<'_>, cluster: &Cluster) -> GroupResult {
    attempt.run(cluster)
}

#[test]
fn the_best_placement_is_used_the_most_and_holds_the_most_pods() {
    let domains = |placements: Vec<&crate::groups::attempt::Placement>| -> Vec<String> {
        placements.into_iter().map(|placement| placement.domain.clone()).collect()
    };
    // One pod of two CPUs: 50 % of rack a, 25 % of rack b. CPU and memory count equally.
    for (nodes, min_count, count, best) in [
        (vec![("a", "4"), ("b", "8")], Some(1), 1, vec!["a"]),
        (vec![("a", "4"), ("b", "4")], Some(1), 1, vec!["a", "b"]),
        // All four pods fit in rack b only: 25 % + 100 against 50 % + 50.
        (vec![("a", "4"), ("b", "16")], None, 4, vec!["b"]),
        // Nine of ten pods fill rack a: 51 + 90 points, against 11 + 100 of rack b.
        (vec![("a", "18"), ("b", "100")], None, 10, vec!["a"]),
    ] {
        let mut cluster = cluster(&nodes);
        let pods: Vec<PodView> = (0..count).map(|k| pod(&mut cluster, &format!("p{k}"), "2", 0)).collect();
        let group = PodGroup { topology_key: Some("rack".to_owned()), min_count, ..PodGroup::default() };
        let result = attempt(&cluster, &group, &pods, run);
        assert_eq!(domains(result.best()), best, "{nodes:?}");
    }
}

#[test]
fn a_group_without_a_placement_says_so_for_each_pod() {
    let mut cluster = cluster(&[("a", "4")]);
    let pods = [pod(&mut cluster, "p", "1", 0), pod(&mut cluster, "q", "1", 0)];
    let group = PodGroup { topology_key: Some("zone".to_owned()), min_count: Some(2), ..PodGroup::default() };
    let result = attempt(&cluster, &group, &pods, run);
    assert_eq!(result.message(), "no feasible placements found");
    assert_eq!(result.rejections(), ["no feasible placements found"; 2]);
}

/// Names of the victims if a pod fits the only node after one of its pods, of one CPU each, has gone.
fn victims(running: &[(&str, bool)], budgets: Value, change: impl FnOnce(&mut PodView)) -> Result<Vec<String>, String> {
    let mut cluster = cluster(&[("a", "4")]);
    cluster.groups.push(PodGroup { name: "other".to_owned(), ..PodGroup::default() });
    for (name, is_of_group) in running {
        let mut view = pod(&mut cluster, name, "1", 0);
        view.group = is_of_group.then_some(0);
        cluster.add_pod(0, view);
    }
    for (names, disruptions_allowed) in serde_json::from_value::<Vec<(Vec<String>, i64)>>(budgets).unwrap() {
        let expression = json!({"key": "app", "operator": "In", "values": names});
        let selector = LabelSelector::read(&json!({"selector": {"matchExpressions": [expression]}}), "selector");
        cluster.budgets.push(DisruptionBudget { namespace: "ns".to_owned(), selector, disruptions_allowed });
    }
    let mut own = pod(&mut cluster, "own", &(5 - running.len()).to_string(), 10);
    change(&mut own);
    let group = PodGroup { min_count: Some(1), priority: 10, ..PodGroup::default() };
    let found =
        attempt(&cluster, &group, &[own], |a, cluster| preempt_for_group(a, cluster, |node, pod| (node + pod) as u64))?;
    let pods = found.iter().flat_map(|unit| &unit.pods);
    Ok(pods.map(|(_, row)| cluster.pods[*row].name.clone()).collect())
}

#[test]
fn pods_of_groups_are_spared_before_other_pods_and_budgets_count_up_to_the_first_violation() {
    let none = || json!([]);
    for (name, running, budgets, expected) in [
        ("the first pods stay", vec![("a", false), ("b", false)], none(), vec!["b"]),
        ("pods of groups stay", vec![("a", false), ("b", true)], none(), vec!["a"]),
        ("covered pods stay", vec![("a", false), ("b", false)], json!([[["b"], 0]]), vec!["a"]),
        (
            "a violated budget hides the others",
            vec![("a", false), ("c", false), ("b", false)],
            json!([[["a"], 0], [["a", "b"], 1]]),
            vec!["b"],
        ),
    ] {
        assert_eq!(victims(&running, budgets, |_| {}), Ok(expected.into_iter().map(str::to_owned).collect()), "{name}");
    }
    let never = victims(&[("a", false), ("b", false)], none(), |pod| pod.may_preempt = false);
    assert_eq!(never, Err("not eligible due to preemptionPolicy=Never.".to_owned()));
}

#[test]
fn a_restricted_cluster_does_not_depend_on_what_was_tried_before() {
    let mut whole = cluster(&[("a", "4"), ("b", "4"), ("a", "8"), ("b", "8")]);
    let mut apart = pod(&mut whole, "apart", "1", 0);
    let anti = json!({"metadata": {"namespace": "ns", "name": "anti", "labels": {"app": "anti"}}, "spec": {
        "containers": [{"name": "c"}],
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": "anti"}}}]}},
    }});
    let anti = PodView::read(&anti, &mut whole.columns);
    for node in 0..4 {
        whole.add_pod(node, anti.clone());
    }
    for (node, name) in [(3, "first"), (0, "second"), (1, "third")] {
        name.clone_into(&mut apart.name);
        whole.nominated.push((node, apart.clone()));
    }
    let mut restricted = RestrictedCluster::new(&whole);
    for nodes in [[0, 2], [3, 1], [2, 0]] {
        let cluster = restricted.restrict_to(&nodes);
        assert_eq!(format!("{cluster:?}"), format!("{:?}", whole.restricted_to(&nodes)));
        let names: Vec<&str> = cluster.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, nodes.map(|node| format!("n{node}")));
        let nominated: Vec<(usize, &str)> =
            cluster.nominated.iter().map(|(row, pod)| (*row, pod.name.as_str())).collect();
        let expected = if nodes == [3, 1] {
            vec![(0, "first"), (1, "third")]
        } else {
            vec![(usize::from(nodes[0] == 2), "second")]
        };
        assert_eq!(nominated, expected);
        assert_eq!(cluster.with_terms.len(), 2);
        cluster.add_pod(1, anti.clone());
        cluster.nominated.clear();
    }
}
