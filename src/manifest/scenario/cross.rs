//! Names that one part of a scenario uses of another must exist; messages say which do.

use super::generate;
use crate::manifest::diagnostic::{Diagnostic, Report};
use crate::manifest::node::Node;
use crate::manifest::topology::label_keys;
use crate::spec::{JobSet, NodePool, ReplicatedJob, Scenario, SubmittedJobSet, Topology};

/// Every node has it: its own name.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// What faults and rules may refer to.
#[derive(Copy, Clone)]
pub struct Inputs<'a> {
    pub topology: &'a Topology,
    pub jobsets: &'a [SubmittedJobSet],
}

impl Inputs<'_> {
    pub fn jobset(&self, node: &Node, report: &mut Report) -> Option<String> {
        let name = node.as_str()?;
        let known = || self.jobsets.iter().map(|s| s.jobset.name.as_str());
        if known().any(|n| n == name) {
            return Some(name.to_owned());
        }
        let error = report.error(node.at, format!("there is no JobSet {name:?}"));
        error.nearest(name, known());
        error.legal(known().take(20).collect::<Vec<_>>().join(", "));
        None
    }

    pub fn node(&self, node: &Node, report: &mut Report) -> Option<()> {
        let name = node.as_str()?;
        if generate::node_names(self.topology).any(|n| n == name) {
            return Some(());
        }
        let examples: Vec<String> = generate::node_names(self.topology).take(3).collect();
        let error = report.error(node.at, format!("there is no node {name:?}"));
        error.legal(format!("{}, ...", examples.join(", ")));
        None
    }
}

/// Labels, resources and topology keys of the JobSets exist in the cluster.
pub fn check(scenario: &Scenario, found: &mut Vec<Diagnostic>) {
    for submitted in &scenario.jobsets {
        for job in &submitted.jobset.spec.replicated_jobs {
            let mut error = |message: String, legal: String| {
                let mut error = Diagnostic::of_file(&submitted.source, message);
                error.legal(legal);
                found.push(error);
            };
            topology_key(&submitted.jobset, job, &scenario.topology, &mut error);
            selector(job, &scenario.topology, &mut error);
            resources(job, &scenario.topology, &mut error);
        }
    }
}

type Refuse<'f> = dyn FnMut(String, String) + 'f;

fn topology_key(jobset: &JobSet, job: &ReplicatedJob, topology: &Topology, error: &mut Refuse) {
    let Some(key) = jobset.exclusive_key(job) else {
        return;
    };
    let keys = label_keys(topology);
    if key != HOSTNAME && !keys.iter().any(|k| k == key) {
        let message = format!(
            "replicatedJob {:?} has the exclusive-topology key {key:?}, which no node has as a label",
            job.name
        );
        error(message, keys.join(", "));
    }
}

fn selector(job: &ReplicatedJob, topology: &Topology, error: &mut Refuse) {
    for (key, value) in &job.template.template.spec.node_selector {
        if key == HOSTNAME {
            continue;
        }
        let values: Vec<&str> = topology
            .pools
            .iter()
            .filter_map(|p: &NodePool| p.labels.get(key).map(String::as_str))
            .collect();
        let what = format!("nodeSelector of replicatedJob {:?}", job.name);
        if values.is_empty() {
            let keys = label_keys(topology).join(", ");
            error(format!("{what}: no node has the label {key:?}"), keys);
        } else if !values.iter().any(|v| *v == value || v.contains('{')) {
            let mut values = values;
            values.dedup();
            let message = format!("{what}: no node has the label {key:?} with the value {value:?}");
            error(message, values.join(", "));
        }
    }
}

fn resources(job: &ReplicatedJob, topology: &Topology, error: &mut Refuse) {
    for resource in job.template.template.spec.requests().keys() {
        let has = |p: &NodePool| p.allocatable.contains_key(resource);
        if !topology.pools.iter().any(has) {
            let message = format!(
                "replicatedJob {:?} requests {resource:?}, which no node has",
                job.name
            );
            let mut known: Vec<String> = topology
                .pools
                .iter()
                .flat_map(|p| p.allocatable.keys().cloned())
                .collect();
            known.sort();
            known.dedup();
            error(message, known.join(", "));
        }
    }
}
