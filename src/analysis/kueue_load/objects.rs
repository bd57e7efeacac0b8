//! The objects that the generator creates before the Workloads.

use sim_api::spec::kueue::{
    ClusterQueue, FlavorQuotas, KueueLoadTest, KueueObjects, KueueTopology, LoadConstraint, LoadQueues, LoadTemplate,
    LoadTopology, LocalQueue, NamespaceSelector, ResourceFlavor, ResourceGroup, ResourceQuota,
};
use sim_api::spec::{PodSpec, PodTemplate};
use sim_kueue::tas::{LevelRequest, SliceConstraint, TasNode, TopologyRequest};
use sim_kueue::workload::PodSet;
use std::collections::BTreeMap;
use std::sync::Arc;

pub const CPU: &str = "cpu";
/// Value of the label of the flavor's nodes.
const FLAVOR_VALUE: &str = "tas";

/// A ClusterQueue with its set in the test.
#[derive(Clone, Copy)]
pub struct GeneratedQueue<'a> {
    pub set: &'a LoadQueues,
}

/// Returns the objects, and the set of each ClusterQueue.
pub fn objects(test: &KueueLoadTest) -> (KueueObjects, Vec<GeneratedQueue<'_>>) {
    let mut objects = KueueObjects { flavors: vec![flavor(test)], ..KueueObjects::default() };
    objects.topologies.extend(test.topology.as_ref().map(|topology| KueueTopology {
        name: topology.name.clone(),
        levels: topology.levels.iter().map(|level| level.label.clone()).collect(),
    }));
    objects.configuration.wait_for_pods_ready = None;
    objects.configuration.behavior = test.manager.behavior;
    let mut queues = Vec::new();
    for cohorts in &test.cohorts {
        for cohort in (0..cohorts.count).map(|index| format!("{}-{index}", cohorts.class)) {
            for (nth, set) in cohorts.queues.iter().enumerate() {
                for index in 0..set.count {
                    let queue = cluster_queue(test, &cohort, set, &format!("{}-{nth}-{index}-{cohort}", set.class));
                    objects.local_queues.push(local_queue(&queue));
                    objects.cluster_queues.push(queue);
                    queues.push(GeneratedQueue { set });
                }
            }
        }
    }
    (objects, queues)
}

fn flavor(test: &KueueLoadTest) -> ResourceFlavor {
    let topology = test.topology.as_ref().map(|topology| topology.name.clone());
    let label = test.flavor_label.clone().filter(|_| topology.is_some());
    ResourceFlavor {
        name: test.flavor.clone(),
        node_labels: label.into_iter().map(|label| (label, FLAVOR_VALUE.to_owned())).collect(),
        topology,
        ..ResourceFlavor::default()
    }
}

fn cluster_queue(test: &KueueLoadTest, cohort: &str, set: &LoadQueues, name: &str) -> ClusterQueue {
    let quota = ResourceQuota {
        name: CPU.to_owned(),
        nominal: set.nominal,
        borrowing_limit: set.borrowing_limit,
        lending_limit: None,
    };
    ClusterQueue {
        name: name.to_owned(),
        resource_groups: vec![ResourceGroup {
            covered_resources: vec![CPU.to_owned()],
            flavors: vec![FlavorQuotas { name: test.flavor.clone(), resources: vec![quota] }],
        }],
        cohort: Some(cohort.to_owned()),
        namespace_selector: Some(NamespaceSelector::default()),
        preemption: set.preemption(),
        ..ClusterQueue::default()
    }
}

fn local_queue(queue: &ClusterQueue) -> LocalQueue {
    LocalQueue {
        namespace: queue.name.clone(),
        name: queue.name.clone(),
        cluster_queue: queue.name.clone(),
        ..LocalQueue::default()
    }
}

/// Returns the only pod set of the Workloads of a template.
pub fn pod_sets(template: &LoadTemplate) -> Arc<[PodSet]> {
    let slice = |level: &String, size: u32| SliceConstraint { topology: level.clone(), size };
    let topology = template.topology.as_ref().map(|constraint| match constraint {
        LoadConstraint::Required(level) => level_request(LevelRequest::Required(level.clone())),
        LoadConstraint::Preferred(level) => level_request(LevelRequest::Preferred(level.clone())),
        LoadConstraint::Balanced { level, slice: size } => {
            TopologyRequest { slices: vec![slice(level, *size)], ..TopologyRequest::default() }
        }
    });
    let resources = [(CPU.to_owned(), template.request)].into();
    let template_of_pods = PodTemplate { spec: PodSpec { resources, ..PodSpec::default() }, ..PodTemplate::default() };
    let (name, count, template, stored) = ("main".to_owned(), template.pods, template_of_pods, None);
    let pod_set = PodSet { name, count, replicas: 1, template, topology, stored };
    Arc::new([pod_set])
}

fn level_request(level: LevelRequest) -> TopologyRequest {
    TopologyRequest { level: Some(level), ..TopologyRequest::default() }
}

/// Returns the nodes of the topology.
pub fn nodes(test: &KueueLoadTest) -> Vec<TasNode> {
    let Some(topology) = &test.topology else { return Vec::new() };
    let mut labels: BTreeMap<String, String> = BTreeMap::new();
    labels.extend(test.flavor_label.clone().map(|label| (label, FLAVOR_VALUE.to_owned())));
    let mut nodes = Vec::new();
    add_nodes(topology, 0, "node", &labels, &mut nodes);
    nodes
}

fn add_nodes(
    topology: &LoadTopology, level: usize, name: &str, labels: &BTreeMap<String, String>, nodes: &mut Vec<TasNode>,
) {
    let Some(own) = topology.levels.get(level) else {
        nodes.push(TasNode {
            name: name.to_owned(),
            labels: labels.clone(),
            is_ready: true,
            allocatable: topology.allocatable.clone(),
            ..TasNode::default()
        });
        return;
    };
    let initial = own.name.chars().next().map(String::from).unwrap_or_default();
    for index in 0..own.count {
        let mut labels = labels.clone();
        // Kueue sets the value without the domain above; the host name of a node is its name in a cluster.
        labels.insert(own.label.clone(), format!("{}-{index}", own.name));
        add_nodes(topology, level + 1, &format!("{name}-{initial}{index}"), &labels, nodes);
    }
}
