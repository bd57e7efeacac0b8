//! Resources that running pods hold on the nodes of a dump.
//!
//! Pods of DaemonSets and static pods run on every node, so added nodes have them as well. Finished pods hold nothing,
//! and a pod that is being deleted holds its resources until it is gone (`pkg/scheduler/eventhandlers.go`).

use super::dump_fields::{AmountError, DumpMetadata, DumpResources, DumpSpec};
use sim_api::spec::keys::{JOB_KEY, JOBSET_NAME};
use sim_api::spec::{ResourceAmounts, RunningPods, pod_requests};
use std::collections::BTreeMap;

/// Owners whose pods belong to the node.
const NODE_OWNERS: [&str; 2] = ["DaemonSet", "Node"];
/// One pod, in thousandths.
const ONE_POD: i64 = 1_000;

/// What the pods of a node hold, in thousandths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeOccupancy {
    pub(super) all: ResourceAmounts,
    /// The part of DaemonSets and static pods.
    pub(super) daemons: ResourceAmounts,
    /// The part of pods of Kueue's Workloads, by namespace and name of the Workload.
    pub(super) workloads: BTreeMap<String, ResourceAmounts>,
    /// The part of pods of JobSets, by namespace and name of the JobSet.
    pub(super) jobsets: BTreeMap<String, ResourceAmounts>,
}

/// Occupancy by node name, and the number of pods of each kind.
#[derive(Debug, Default)]
pub(super) struct ClusterOccupancy {
    pub(super) nodes: BTreeMap<String, NodeOccupancy>,
    running: RunningPods,
    daemons: usize,
    finished: usize,
    unbound: usize,
    /// The first request that is not a quantity, in words.
    pub(super) wrong: Option<String>,
}

impl ClusterOccupancy {
    /// Returns the number of pods.
    pub(super) fn count(&self) -> usize {
        self.running.all + self.unbound + self.finished
    }

    /// Returns the numbers of running pods.
    pub(super) fn running(&self) -> RunningPods {
        self.running
    }

    /// Adds the requests of a pod.
    pub(super) fn add(&mut self, metadata: DumpMetadata, mut spec: DumpSpec, phase: &str) {
        if ["Succeeded", "Failed"].contains(&phase) {
            self.finished += 1;
            return;
        }
        if spec.node_name.is_empty() {
            self.unbound += 1;
            return;
        }
        self.running = sum(self.running, running(&metadata, &spec));
        let node = std::mem::take(&mut spec.node_name);
        match requests(spec) {
            Ok(mut requests) => {
                requests.insert("pods".to_owned(), ONE_POD);
                let is_daemon = metadata.owner_references.iter().any(|o| NODE_OWNERS.contains(&o.kind.as_str()));
                let node = self.nodes.entry(node).or_default();
                if is_daemon {
                    self.daemons += 1;
                    add(&mut node.daemons, &requests);
                }
                let named = |name: &str| format!("{}/{name}", metadata.namespace);
                let workload = &metadata.annotations.workload;
                if !workload.is_empty() {
                    add(node.workloads.entry(named(workload)).or_default(), &requests);
                }
                if let Some(jobset) = metadata.labels.get(JOBSET_NAME) {
                    add(node.jobsets.entry(named(jobset)).or_default(), &requests);
                }
                add(&mut node.all, &requests);
            }
            Err(error) => {
                let name = format!("{}/{}", metadata.namespace, metadata.name);
                self.wrong.get_or_insert_with(|| format!("Pod {name:?} requests {error}"));
            }
        }
    }

    /// Adds the pods of another dump.
    pub(super) fn extend(&mut self, others: ClusterOccupancy) {
        for (name, more) in others.nodes {
            let node = self.nodes.entry(name).or_default();
            add(&mut node.all, &more.all);
            add(&mut node.daemons, &more.daemons);
            for (all, more) in [(&mut node.workloads, &more.workloads), (&mut node.jobsets, &more.jobsets)] {
                more.iter().for_each(|(name, held)| add(all.entry(name.clone()).or_default(), held));
            }
        }
        self.running = sum(self.running, others.running);
        self.daemons += others.daemons;
        self.finished += others.finished;
        self.unbound += others.unbound;
        self.wrong = self.wrong.take().or(others.wrong);
    }

    /// Describes the pods; `unknown` is the number of names of nodes that are not in the dump.
    pub(super) fn describe(&self, unknown: usize) -> String {
        let RunningPods { all, with_host_ports, with_terms, of_jobsets } = self.running;
        let mut text = format!("pods that hold resources of their nodes: {all}");
        if self.daemons > 0 {
            text.push_str(&format!(
                ", of which {} of DaemonSets or static, which added nodes have as well",
                self.daemons
            ));
        }
        let omitted = [
            (with_host_ports, "host ports of"),
            (with_terms, "affinity terms of"),
            (of_jobsets, "labels of JobSets of"),
        ];
        let omitted = omitted.iter().filter(|(pods, _)| *pods > 0).map(|(pods, what)| format!("{what} {pods}"));
        let omitted: Vec<String> = omitted.collect();
        if !omitted.is_empty() {
            text.push_str(&format!("; only their resources are kept, without {}", omitted.join(", ")));
        }
        if self.unbound + self.finished > 0 {
            text.push_str(&format!("; omitted: {} without a node, {} finished", self.unbound, self.finished));
        }
        if unknown > 0 {
            text.push_str(&format!("; nodes with pods that are not in the list of nodes: {unknown}"));
        }
        text
    }
}

/// Returns what one running pod counts as.
fn running(metadata: &DumpMetadata, spec: &DumpSpec) -> RunningPods {
    RunningPods {
        all: 1,
        with_host_ports: usize::from(spec.has_host_ports()),
        with_terms: usize::from(spec.affinity.has_terms()),
        of_jobsets: usize::from(metadata.labels.contains_key(JOB_KEY)),
    }
}

fn sum(a: RunningPods, b: RunningPods) -> RunningPods {
    RunningPods {
        all: a.all + b.all,
        with_host_ports: a.with_host_ports + b.with_host_ports,
        with_terms: a.with_terms + b.with_terms,
        of_jobsets: a.of_jobsets + b.of_jobsets,
    }
}

fn requests(spec: DumpSpec) -> Result<ResourceAmounts, AmountError> {
    let containers: Vec<ResourceAmounts> =
        spec.containers.into_iter().map(|c| amounts(c.resources)).collect::<Result<_, _>>()?;
    let init = spec.init_containers.into_iter().map(|c| Ok((c.restart_policy == "Always", amounts(c.resources)?)));
    let init: Vec<(bool, ResourceAmounts)> = init.collect::<Result<_, AmountError>>()?;
    let pod_level = amounts(spec.resources)?;
    Ok(pod_requests(containers.into_iter(), init.into_iter(), &pod_level, &spec.overhead.milli()?))
}

/// Returns the requests of a container or of a pod as a whole. Limits replace absent requests.
fn amounts(resources: DumpResources) -> Result<ResourceAmounts, AmountError> {
    let mut all = resources.limits.milli()?;
    all.extend(resources.requests.milli()?);
    Ok(all)
}

fn add(sum: &mut ResourceAmounts, more: &ResourceAmounts) {
    for (name, milli) in more.iter().filter(|(_, milli)| **milli > 0) {
        match sum.get_mut(name) {
            Some(all) => *all = all.saturating_add(*milli),
            None => _ = sum.insert(name.clone(), *milli),
        }
    }
}
