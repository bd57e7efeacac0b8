//! Random small topologies against an enumeration of all assignments.

use super::situation::{FLAVOR, TOPOLOGY};
use crate::cases::cases;
use crate::tas::{
    LevelRequest, NodeConstraints, PlacementMode, PlacementResult, PodSetRequest, SliceConstraint, TasFlavor, TasNode,
    TopologyAssignment, TopologyRequest, TopologySnapshot,
};
use proptest::prelude::*;
use sim_api::spec::ResourceAmounts;
use sim_api::spec::keys::HOSTNAME;
use std::collections::BTreeMap;

const LEVELS: [&str; 3] = ["block", "rack", HOSTNAME];

/// A node: block, rack, CPUs and used CPUs.
type NodeShape = (u8, u8, u8, u8);

/// A pod set: kind of the level request, its level, the layers of slices, and the number of outer slices.
#[derive(Clone, Debug)]
struct Shape {
    kind: u8,
    level: usize,
    slices: Vec<(usize, u32)>,
    units: u32,
}

impl Shape {
    fn request(&self) -> TopologyRequest {
        let key = || LEVELS[self.level].to_owned();
        let level = match self.kind {
            0 => Some(LevelRequest::Required(key())),
            1 => Some(LevelRequest::Preferred(key())),
            2 => Some(LevelRequest::Unconstrained),
            _ => None,
        };
        let slice = |(level, size): &(usize, u32)| SliceConstraint { topology: LEVELS[*level].to_owned(), size: *size };
        TopologyRequest { level, slices: self.slices.iter().map(slice).collect(), group: None }
    }

    fn count(&self) -> u32 {
        self.units * self.slices.first().map_or(1, |(_, size)| *size)
    }

    /// Returns whether an assignment, by node, satisfies the constraints.
    fn allows(&self, nodes: &[NodeShape], pods: &[u32]) -> bool {
        let is_whole = |(level, size): &(usize, u32)| by_domain(nodes, pods, *level).all(|pods| pods % size == 0);
        pods.iter().sum::<u32>() == self.count()
            && self.slices.iter().all(is_whole)
            && (self.kind != 0 || by_domain(nodes, pods, self.level).filter(|pods| *pods > 0).count() <= 1)
    }
}

fn by_domain(nodes: &[NodeShape], pods: &[u32], level: usize) -> impl Iterator<Item = u32> {
    let mut sums: BTreeMap<(u8, u8, usize), u32> = BTreeMap::new();
    for (at, ((block, rack, ..), pods)) in nodes.iter().zip(pods).enumerate() {
        let domain = [(*block, 0, 0), (*block, *rack, 0), (*block, *rack, at)][level];
        *sums.entry(domain).or_default() += pods;
    }
    sums.into_values()
}

fn snapshot(nodes: &[NodeShape]) -> TopologySnapshot {
    let amounts = |cpus: u8| BTreeMap::from([("cpu".to_owned(), i64::from(cpus) * 1000)]);
    let node = |(at, (block, rack, cpus, _)): (usize, &NodeShape)| {
        let labels = [("block", format!("b{block}")), ("rack", format!("r{rack}")), (HOSTNAME, format!("n{at}"))];
        let mut allocatable = amounts(*cpus);
        allocatable.insert("pods".to_owned(), 10_000);
        TasNode {
            name: format!("n{at}"),
            labels: labels.map(|(key, value)| (key.to_owned(), value)).into(),
            is_ready: true,
            allocatable,
            ..TasNode::default()
        }
    };
    let nodes_of_tas: Vec<TasNode> = nodes.iter().enumerate().map(node).collect();
    let flavor = TasFlavor {
        name: FLAVOR.to_owned(),
        topology: TOPOLOGY.to_owned(),
        levels: LEVELS.map(str::to_owned).to_vec(),
        ..TasFlavor::default()
    };
    let mut snapshot = TopologySnapshot::new(&[flavor], &nodes_of_tas);
    for (at, (.., used)) in nodes.iter().enumerate().filter(|(_, node)| node.3 > 0) {
        snapshot.add_other_pod(&format!("n{at}"), &amounts(*used));
    }
    snapshot
}

fn find(snapshot: &TopologySnapshot, requests: &[(TopologyRequest, u32)]) -> PlacementResult {
    let (selector, cpu): (_, ResourceAmounts) = (BTreeMap::new(), BTreeMap::from([("cpu".to_owned(), 1000)]));
    let requests: Vec<PodSetRequest<'_>> = requests
        .iter()
        .map(|(topology, count)| PodSetRequest {
            name: "main",
            flavor: FLAVOR,
            count: *count,
            requests: &cpu,
            topology: Some(topology),
            is_implied: false,
            constraints: NodeConstraints { node_selector: &selector, node_affinity: None, tolerations: &[] },
            existing: None,
        })
        .collect();
    snapshot.find(&requests, PlacementMode::Normal)
}

/// Returns the pods by node.
fn pods_by_node(assignment: &TopologyAssignment, nodes: usize) -> Vec<u32> {
    let mut pods = vec![0; nodes];
    for domain in &assignment.domains {
        let at: usize = domain.values[0][1..].parse().expect("a node");
        pods[at] += domain.count;
    }
    pods
}

/// Calls `visit` with all assignments up to the free CPUs.
fn any_assignment(free: &[u32], visit: &mut impl FnMut(&[u32]) -> bool) -> bool {
    let mut pods = vec![0; free.len()];
    loop {
        if visit(&pods) {
            return true;
        }
        let Some(at) = (0..free.len()).find(|at| pods[*at] < free[*at]) else { return false };
        pods[at] += 1;
        pods[..at].fill(0);
    }
}

fn free(nodes: &[NodeShape]) -> Vec<u32> {
    nodes.iter().map(|(_, _, cpus, used)| u32::from(cpus.saturating_sub(*used))).collect()
}

fn shapes() -> impl Strategy<Value = Shape> {
    let two = |(level, inner, factor)| vec![(level, inner * factor), (level + 1, inner)];
    let layers = prop_oneof![
        3 => Just(vec![]),
        2 => (0usize..3, 1u32..4).prop_map(|slice| vec![slice]),
        1 => (0usize..2, 1u32..3, 1u32..3).prop_map(two),
    ];
    (0u8..4, 0usize..3, layers, 1u32..5).prop_map(|(kind, level, slices, units)| {
        let level = slices.first().map_or(level, |(outer, _)| level.min(*outer));
        let kind = if kind == 3 && slices.is_empty() { 2 } else { kind };
        Shape { kind, level, slices, units }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(200, 600) as u32, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn an_assignment_is_found_if_and_only_if_one_exists(
        nodes in prop::collection::vec((0u8..2, 0u8..2, 0u8..4, 0u8..2), 1..6),
        shape in shapes(),
    ) {
        let result = find(&snapshot(&nodes), &[(shape.request(), shape.count())]);
        let free = free(&nodes);
        match &result.assignments[0] {
            Some(assignment) => {
                let pods = pods_by_node(assignment, nodes.len());
                prop_assert!(pods.iter().zip(&free).all(|(pods, free)| pods <= free), "{pods:?} of {free:?}");
                prop_assert!(shape.allows(&nodes, &pods), "{pods:?}");
            }
            None => {
                let exists = any_assignment(&free, &mut |pods| shape.allows(&nodes, pods));
                prop_assert!(!exists, "{:?}", result.failure);
            }
        }
    }

    #[test]
    fn a_leader_and_workers_fit_together(
        nodes in prop::collection::vec((0u8..2, 0u8..2, 0u8..4, 0u8..2), 1..6),
        shape in shapes(),
    ) {
        let mut workers = shape.request();
        workers.group = Some("group".to_owned());
        let leader = TopologyRequest { slices: Vec::new(), ..workers.clone() };
        let result = find(&snapshot(&nodes), &[(leader, 1), (workers, shape.count())]);
        if let [Some(leader), Some(workers)] = &result.assignments[..] {
            let leader = pods_by_node(leader, nodes.len());
            let pods = pods_by_node(workers, nodes.len());
            let both: Vec<u32> = leader.iter().zip(&pods).map(|(leader, pods)| leader + pods).collect();
            prop_assert!(both.iter().zip(free(&nodes)).all(|(pods, free)| *pods <= free), "{both:?}");
            prop_assert_eq!(leader.iter().sum::<u32>(), 1);
            prop_assert!(shape.allows(&nodes, &pods), "{:?}", pods);
            if shape.kind == 0 {
                prop_assert!(by_domain(&nodes, &both, shape.level).filter(|pods| *pods > 0).count() == 1);
            }
        }
    }

    #[test]
    fn pod_sets_of_a_workload_share_the_capacity(
        nodes in prop::collection::vec((0u8..2, 0u8..2, 0u8..4, 0u8..2), 1..6),
        shapes in prop::collection::vec(shapes(), 2..4),
    ) {
        let requests: Vec<_> = shapes.iter().map(|shape| (shape.request(), shape.count())).collect();
        let result = find(&snapshot(&nodes), &requests);
        let mut used = vec![0; nodes.len()];
        for (shape, assignment) in shapes.iter().zip(result.assignments.iter().flatten()) {
            let pods = pods_by_node(assignment, nodes.len());
            prop_assert!(shape.allows(&nodes, &pods), "{pods:?}");
            used.iter_mut().zip(pods).for_each(|(used, pods)| *used += pods);
        }
        prop_assert!(used.iter().zip(free(&nodes)).all(|(used, free)| *used <= free), "{used:?}");
    }

    #[test]
    fn removing_a_usage_reverts_adding_it(
        nodes in prop::collection::vec((0u8..2, 0u8..2, 0u8..4, 0u8..2), 1..6),
        shapes in prop::collection::vec(shapes(), 2..3),
    ) {
        let mut snapshot = snapshot(&nodes);
        let first = find(&snapshot, &[(shapes[0].request(), shapes[0].count())]);
        let second = [(shapes[1].request(), shapes[1].count())];
        let before = find(&snapshot, &second);
        if let Some(assignment) = &first.assignments[0] {
            let cpu = BTreeMap::from([("cpu".to_owned(), 1000)]);
            let usage = snapshot.usage(FLAVOR, assignment, &cpu).expect("a flavor");
            prop_assert!(snapshot.fits(&usage));
            snapshot.add(&usage);
            snapshot.remove_in_flavor(&usage);
            snapshot.add_in_flavor(&usage);
            snapshot.remove(&usage);
        }
        prop_assert_eq!(find(&snapshot, &second), before);
    }
}
