//! Checks references between the parts of a scenario. Messages list the names that exist.

use super::jobsets::WrittenAt;
use super::objects::ScenarioObjects;
use super::pod_names;
use crate::text::diagnostic::{Diagnostic, DiagnosticReport};
use crate::{kube, text::node::YamlNode, topology::node_names::node_names, topology::slices};
use sim_api::spec::keys::{EXCLUSIVE_TOPOLOGY, HOSTNAME, TPU_SLICE, TPU_SLICE_TOPOLOGY};
use sim_api::spec::{
    ContainerSpec, JobSet, NodeObject, ObjectKind, ReplicatedJob, RequestVerb, ScenarioSpec, SubmittedJobSet,
    TopologySpec,
};
use std::collections::{BTreeMap, BTreeSet};

/// The objects that faults and rules may refer to.
#[derive(Copy, Clone)]
pub struct CrossInputs<'a> {
    pub topology: &'a TopologySpec,
    pub jobsets: &'a [SubmittedJobSet],
    pub others: &'a ScenarioObjects,
}

impl<'a> CrossInputs<'a> {
    /// Returns the JobSets of `jobSets`, of `objects`, and those that actions create.
    pub fn all_jobsets(&self) -> impl Iterator<Item = &'a SubmittedJobSet> {
        self.jobsets.iter().chain(&self.others.jobsets)
    }

    pub fn jobset(&self, node: &YamlNode, report: &mut DiagnosticReport) -> Option<String> {
        let name = node.as_str()?;
        let known = || self.all_jobsets().map(|s| s.jobset.name.as_str());
        if known().any(|n| n == name) {
            return Some(name.to_owned());
        }
        let error = report.error(node.at, format!("JobSet {name:?} does not exist"));
        error.nearest(name, known());
        error.legal(known().take(20).collect::<Vec<_>>().join(", "));
        None
    }

    pub fn node(&self, node: &YamlNode, report: &mut DiagnosticReport) -> Option<()> {
        let name = node.as_str()?;
        let others = self.others.nodes.iter().map(|n| n.name.clone());
        let names = || others.clone().chain(node_names(&self.topology.pools));
        if names().any(|n| n == name) {
            return Some(());
        }
        let examples: Vec<String> = names().take(3).collect();
        let error = report.error(node.at, format!("node {name:?} does not exist"));
        error.legal(format!("{}, ...", examples.join(", ")));
        None
    }

    pub fn pod(&self, node: &YamlNode, report: &mut DiagnosticReport) -> Option<String> {
        let name = node.as_str()?;
        if let Some(pod) = self.others.pod(name) {
            return Some(pod);
        }
        match pod_names::meant(self.jobsets, name).as_slice() {
            [one] => return Some(one.clone()),
            [] => {}
            several => {
                let message = format!("pod name {name:?} is ambiguous: it matches {}", several.join(" or "));
                report.error(node.at, message);
                return None;
            }
        }
        let mut known = vec![pod_names::describe(self.jobsets)];
        known.extend(self.others.describe_pods());
        let error = report.error(node.at, format!("pod {name:?} does not exist"));
        error.legal(known.join(", "));
        None
    }
}

/// Labels and resources of all nodes, including those created or patched later.
struct ClusterFacts<'a> {
    topology: &'a TopologySpec,
    /// Values of each label key. Placeholders such as `{node}` are not expanded.
    labels: BTreeMap<String, Vec<String>>,
    resources: BTreeSet<String>,
}

impl<'a> ClusterFacts<'a> {
    fn new(scenario: &'a ScenarioSpec, others: &[NodeObject]) -> ClusterFacts<'a> {
        let topology = &scenario.topology;
        let mut cluster = ClusterFacts { topology, labels: BTreeMap::new(), resources: BTreeSet::new() };
        let pools = topology.pools.iter().map(|p| (&p.labels, &p.allocatable));
        let listed = topology.pools.iter().flat_map(|p| &p.nodes).map(|n| (&n.labels, &n.allocatable));
        let nodes = others.iter().map(|n| (&n.labels, &n.allocatable));
        for (labels, allocatable) in pools.chain(listed).chain(nodes) {
            for (key, value) in labels {
                let values = cluster.labels.entry(key.clone()).or_default();
                values.push(value.clone());
            }
            cluster.resources.extend(allocatable.keys().cloned());
        }
        for request in scenario.scripted_requests().filter(|request| request.object.kind == ObjectKind::Node) {
            if let RequestVerb::Patch { body, .. } = &request.verb {
                for (key, value) in body["metadata"]["labels"].as_object().into_iter().flatten() {
                    let values = cluster.labels.entry(key.clone()).or_default();
                    values.extend(value.as_str().map(str::to_owned));
                }
                let allocatable = body["status"]["allocatable"].as_object();
                cluster.resources.extend(allocatable.into_iter().flatten().map(|(resource, _)| resource.clone()));
            }
        }
        cluster
    }

    fn keys(&self) -> String {
        let keys: Vec<&str> = self.labels.keys().map(String::as_str).collect();
        keys.join(", ")
    }

    /// Returns how to provide the nodes with the label of a slice that a replicatedJob needs.
    fn slices_advice(&self, job: &ReplicatedJob) -> String {
        let shape = job.template.template.annotations.get(TPU_SLICE_TOPOLOGY);
        let example = shape.and_then(|shape| slices::example(self.topology, &job.name, job.replicas, shape));
        let example = example.map(|slices| format!(", for example --set 'topology.slices={slices}'"));
        let advice = "; GKE's slice controller sets it: list its slices under `slices` of the topology";
        format!("{advice}{}", example.unwrap_or_default())
    }
}

/// Checks that the labels, resources and topology keys used by the JobSets exist in the cluster.
pub fn check(scenario: &ScenarioSpec, others: &ScenarioObjects, written: &WrittenAt, result: &mut Vec<Diagnostic>) {
    let cluster = ClusterFacts::new(scenario, &others.nodes);
    for submitted in scenario.jobsets.iter().chain(others.at_start()) {
        let rjs = submitted.jobset.spec.replicated_jobs.iter().enumerate();
        for (k, job) in rjs.filter(|(_, job)| job.replicas > 0) {
            let mut error = |field: String, message: String, legal: String| {
                let field = match field.strip_prefix('.') {
                    Some(below) => format!("spec.replicatedJobs[{k}].template.{below}"),
                    None => field,
                };
                let mut error = kube::error(written, &submitted.source, &field, message);
                error.legal(legal);
                error.no_place = true;
                result.push(error);
            };
            // Suspended JobSets are not checked: a resume may change the selector or the topology key (SUS-5).
            if !submitted.jobset.spec.suspend {
                topology_key(&submitted.jobset, job, &cluster, &mut error);
                selector(job, &cluster, &mut error);
            }
            resources(job, &cluster, &mut error);
            node_name(job, scenario, others, &mut error);
        }
    }
}

/// Reports an error: takes the field path, the message and the legal values. A path that begins with a dot is
/// relative to the Job template.
type CrossError<'f> = dyn FnMut(String, String, String) + 'f;
const POD: &str = ".spec.template.spec";

fn topology_key(jobset: &JobSet, job: &ReplicatedJob, cluster: &ClusterFacts, error: &mut CrossError) {
    let Some(key) = jobset.exclusive_key(job) else {
        return;
    };
    if key != HOSTNAME && !cluster.labels.contains_key(key) {
        let advice = match key {
            TPU_SLICE => cluster.slices_advice(job),
            _ => String::new(),
        };
        let message = format!(
            "replicatedJob {:?} uses the exclusive-topology key {key:?}, but no node has this label{advice}",
            job.name
        );
        let annotation = format!("metadata.annotations[{EXCLUSIVE_TOPOLOGY}]");
        let field = match () {
            () if job.annotations.contains_key(EXCLUSIVE_TOPOLOGY) => format!(".{annotation}"),
            () if jobset.has_exclusive_job(job) => annotation,
            () => format!(".spec.template.{annotation}"),
        };
        error(field, message, cluster.keys());
    }
}

fn node_name(job: &ReplicatedJob, scenario: &ScenarioSpec, others: &ScenarioObjects, error: &mut CrossError) {
    let Some(name) = &job.template.template.spec.node_name else {
        return;
    };
    let own = others.nodes.iter().map(|n| n.name.clone());
    let names = || own.clone().chain(node_names(&scenario.topology.pools));
    if !names().any(|n| n == *name) {
        let examples: Vec<String> = names().take(3).collect();
        let message = format!("nodeName of replicatedJob {:?}: node {name:?} does not exist", job.name);
        let field = format!("{POD}.nodeName");
        error(field, message, format!("{}, ...", examples.join(", ")));
    }
}

fn selector(job: &ReplicatedJob, cluster: &ClusterFacts, error: &mut CrossError) {
    for (key, value) in &job.template.template.spec.node_selector {
        if key == HOSTNAME {
            continue;
        }
        let what = format!("nodeSelector of replicatedJob {:?}", job.name);
        let field = format!("{POD}.nodeSelector[{key}]");
        let Some(values) = cluster.labels.get(key) else {
            let message = format!("{what}: no node has the label {key:?}");
            error(field, message, cluster.keys());
            continue;
        };
        if !values.iter().any(|v| v == value || v.contains('{')) {
            let mut values = values.clone();
            values.dedup();
            let message = format!("{what}: no node has the label {key:?} with the value {value:?}");
            error(field, message, values.join(", "));
        }
    }
}

fn resources(job: &ReplicatedJob, cluster: &ClusterFacts, error: &mut CrossError) {
    // NodeResourcesFit skips requests of zero (`fitsRequest` in `noderesources/fit.go`).
    for (resource, _) in job.template.template.spec.requests().iter().filter(|(_, milli)| **milli > 0) {
        if !cluster.resources.contains(resource) {
            let message =
                format!("replicatedJob {:?} requests {resource:?}, but no node provides this resource", job.name);
            let known: Vec<&str> = cluster.resources.iter().map(String::as_str).collect();
            error(requested_at(job, resource), message, known.join(", "));
        }
    }
}

/// Returns the field path of the first container that requests the resource.
fn requested_at(job: &ReplicatedJob, resource: &str) -> String {
    let pod = &job.template.template.spec;
    let lists = [("initContainers", &pod.init_containers), ("containers", &pod.containers)];
    for (list, containers) in lists {
        let asks = |c: &ContainerSpec| c.requests.get(resource).is_some_and(|milli| *milli > 0);
        if let Some(at) = containers.iter().position(asks) {
            return format!("{POD}.{list}[{at}].resources");
        }
    }
    POD.to_owned()
}
