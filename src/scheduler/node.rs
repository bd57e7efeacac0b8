//! A node as the scheduler sees it: properties of the Node object, and what its pods use.

use crate::labels::{Labels, read_labels};
use crate::resources::{Amounts, PODS, ResourceColumns, amount};
use crate::{host_port::HostPort, index::PodIndex, pod::PodView, taints::read_taint};
use serde_json::Value;
use sim_api::objects::value_access::{list, text};
use sim_api::spec::TaintSpec;
use sim_base::NodeId;
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct NodeView {
    pub name: String,
    pub labels: Labels,
    pub is_unschedulable: bool,
    pub taints: Vec<TaintSpec>,
    pub allocatable: Amounts,
    /// Requests of pods that are not part of the simulation.
    pub occupied: Amounts,
    pub max_pods: i64,
    /// Features that the kubelet declares (`status.declaredFeatures`).
    pub features: Vec<String>,
    /// Size in bytes by image name.
    pub images: BTreeMap<String, i64>,
}

/// Sums over the pods of a node.
#[derive(Clone, Debug, Default)]
pub struct NodeUsage {
    pub requested: Amounts,
    /// CPU and memory with the amounts that scores assume for containers without requests.
    pub assumed: Amounts,
    pub pods: Vec<PodIndex>,
    pub ports: Vec<HostPort>,
}

impl NodeView {
    pub fn read(node: &Value, columns: &mut ResourceColumns) -> NodeView {
        let allocatable = &node["status"]["allocatable"];
        NodeView {
            name: text(&node["metadata"], "name").to_owned(),
            labels: read_labels(&node["metadata"]["labels"]),
            is_unschedulable: node["spec"]["unschedulable"] == true,
            taints: list(&node["spec"], "taints").iter().filter_map(read_taint).collect(),
            allocatable: Amounts::read(allocatable, columns),
            occupied: Amounts::default(),
            features: list(&node["status"], "declaredFeatures").iter().filter_map(as_text).collect(),
            max_pods: amount(&allocatable[PODS], 0),
            images: read_images(list(&node["status"], "images")),
        }
    }

    /// Reads a node of a topology, with the taints of its description and without images.
    pub fn of_topology(topology: &ClusterBuilder, node: NodeId, columns: &mut ResourceColumns) -> NodeView {
        let object = topology.object(node);
        NodeView {
            allocatable: Amounts::from_milli(&object.allocatable, columns),
            occupied: Amounts::from_milli(&topology.occupied(node), columns),
            max_pods: topology.allocatable[node.ix() * topology.resources.len()] / 1000,
            name: object.name,
            labels: object.labels,
            is_unschedulable: object.unschedulable,
            taints: object.taints,
            features: object.features,
            images: BTreeMap::new(),
        }
    }
}

impl NodeUsage {
    /// Returns the usage of a node without pods of the simulation.
    pub fn of_empty(node: &NodeView) -> NodeUsage {
        NodeUsage { requested: node.occupied.clone(), assumed: node.occupied.clone(), ..NodeUsage::default() }
    }

    pub fn add(&mut self, index: PodIndex, pod: &PodView) {
        self.requested.add(&pod.requests, 1);
        self.assumed.add(&pod.assumed, 1);
        self.pods.push(index);
        self.ports.extend(pod.host_ports.iter().cloned());
    }

    pub fn remove(&mut self, index: PodIndex, pod: &PodView) {
        self.requested.add(&pod.requests, -1);
        self.assumed.add(&pod.assumed, -1);
        self.pods.retain(|other| *other != index);
        for port in &pod.host_ports {
            if let Some(at) = self.ports.iter().position(|used| used == port) {
                self.ports.remove(at);
            }
        }
    }
}

fn as_text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn read_images(images: &[Value]) -> BTreeMap<String, i64> {
    let named = images.iter().flat_map(|image| {
        let size = image["sizeBytes"].as_i64().unwrap_or(0);
        list(image, "names").iter().filter_map(Value::as_str).map(move |name| (name.to_owned(), size))
    });
    let mut images = BTreeMap::new();
    // Of several sizes with one name, the first counts (`addNodeImageStates` in `backend/cache/cache.go`).
    for (name, size) in named {
        images.entry(name).or_insert(size);
    }
    images
}
