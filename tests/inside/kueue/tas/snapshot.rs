//! Usage in flavors that share nodes, and domains that are gone.

use super::situation::{assignment, format};
use crate::tas::{
    LevelRequest, NodeConstraints, PlacementMode, PlacementResult, PodSetRequest, TasFlavor, TasNode, TopologyRequest,
    TopologySnapshot, TopologyUsage,
};
use sim_api::spec::ResourceAmounts;
use sim_api::spec::keys::HOSTNAME;
use std::collections::BTreeMap;

fn cpus(count: i64) -> ResourceAmounts {
    BTreeMap::from([("cpu".to_owned(), count * 1000)])
}

/// Two nodes with two CPUs each. Flavors `a` and `b` have both nodes, with the given lowest level.
fn snapshot(lowest: &str) -> TopologySnapshot {
    let node = |name: &str| TasNode {
        name: name.to_owned(),
        labels: ["rack", HOSTNAME].map(|key| (key.to_owned(), name.to_owned())).into(),
        is_ready: true,
        allocatable: BTreeMap::from([("cpu".to_owned(), 2000), ("pods".to_owned(), 10_000)]),
        ..TasNode::default()
    };
    let flavor = |name: &str| TasFlavor {
        name: name.to_owned(),
        topology: "default".to_owned(),
        levels: vec![lowest.to_owned()],
        ..TasFlavor::default()
    };
    TopologySnapshot::new(&[flavor("b"), flavor("a")], &[node("x"), node("y")])
}

fn find(snapshot: &TopologySnapshot, pod_sets: &[(&str, u32)], mode: PlacementMode<'_>) -> PlacementResult {
    let (selector, cpu) = (BTreeMap::new(), cpus(1));
    let topology = TopologyRequest { level: Some(LevelRequest::Unconstrained), ..TopologyRequest::default() };
    let requests = pod_sets.iter().map(|(flavor, count)| PodSetRequest {
        name: "main",
        flavor,
        count: *count,
        requests: &cpu,
        topology: Some(&topology),
        is_implied: false,
        constraints: NodeConstraints { node_selector: &selector, node_affinity: None, tolerations: &[] },
        existing: None,
    });
    snapshot.find(&requests.collect::<Vec<_>>(), mode)
}

fn usage(snapshot: &TopologySnapshot, flavor: &str, domains: &str, level: &str) -> TopologyUsage {
    snapshot.usage(flavor, &assignment(domains, &[level.to_owned()]), &cpus(1)).expect("a flavor")
}

fn domains(result: &PlacementResult) -> Vec<String> {
    result.assignments.iter().map(|found| found.as_ref().map_or("-".to_owned(), format)).collect()
}

#[test]
fn an_admitted_workload_uses_the_nodes_of_all_flavors() {
    let mut snapshot = snapshot(HOSTNAME);
    let used = usage(&snapshot, "a", "x=2", HOSTNAME);
    snapshot.add(&used);
    assert_eq!(domains(&find(&snapshot, &[("b", 2)], PlacementMode::Normal)), ["y=2"]);
    assert_eq!(domains(&find(&snapshot, &[("b", 4)], PlacementMode::Normal)), ["-"]);
    assert_eq!(domains(&find(&snapshot, &[("b", 4)], PlacementMode::Empty)), ["x=2 y=2"]);
    assert!(!snapshot.fits(&usage(&snapshot, "b", "x=1", HOSTNAME)));
    snapshot.remove_in_flavor(&used);
    assert_eq!(domains(&find(&snapshot, &[("a", 4)], PlacementMode::Normal)), ["x=2 y=2"]);
    assert_eq!(domains(&find(&snapshot, &[("b", 4)], PlacementMode::Normal)), ["-"], "a cycle knows its own flavor");
}

#[test]
fn domains_above_the_nodes_are_not_shared() {
    let mut snapshot = snapshot("rack");
    snapshot.add(&usage(&snapshot, "a", "x=2", "rack"));
    assert_eq!(domains(&find(&snapshot, &[("b", 4)], PlacementMode::Normal)), ["x=2 y=2"]);
    assert_eq!(domains(&find(&snapshot, &[("a", 2), ("b", 4)], PlacementMode::Normal)), ["y=2", "x=2 y=2"]);
}

#[test]
fn pod_sets_in_several_flavors_share_the_nodes() {
    let snapshot = snapshot(HOSTNAME);
    assert_eq!(domains(&find(&snapshot, &[("b", 2), ("a", 2)], PlacementMode::Normal)), ["y=2", "x=2"]);
    let result = find(&snapshot, &[("b", 2), ("a", 3)], PlacementMode::Normal);
    assert_eq!(domains(&result), ["-", "x=2 y=1"]);
    let failure = result.failure.expect("a failure");
    assert_eq!(failure.flavor, "b");
    assert_eq!(
        failure.reason,
        "topology \"default\" allows to fit only 1 out of 2 pod(s). Total nodes: 2; excluded: resource \"cpu\": 1"
    );
}

#[test]
fn a_domain_that_is_gone_fits_nothing() {
    let mut snapshot = snapshot(HOSTNAME);
    let gone = usage(&snapshot, "a", "x=1 z=1", HOSTNAME);
    assert!(!snapshot.fits(&gone));
    snapshot.add(&gone);
    assert_eq!(domains(&find(&snapshot, &[("a", 4)], PlacementMode::Normal)), ["-"]);
    snapshot.remove(&gone);
    assert_eq!(domains(&find(&snapshot, &[("a", 4)], PlacementMode::Normal)), ["x=2 y=2"]);
    assert!(snapshot.usage("c", &assignment("x=1", &[HOSTNAME.to_owned()]), &cpus(1)).is_none());
}
