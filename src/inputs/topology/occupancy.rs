//! Resources that running pods hold on the nodes of a dump.
//!
//! Pods of DaemonSets and static pods run on every node, so added nodes have them as well. Finished pods hold nothing,
//! and a pod that is being deleted holds its resources until it is gone (`pkg/scheduler/eventhandlers.go`).

use super::dump::{AmountError, DumpObject, DumpResources};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use sim_api::spec::{ResourceAmounts, pod_requests};
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
}

/// Occupancy by node name, and the number of pods of each kind.
#[derive(Debug, Default)]
pub(super) struct ClusterOccupancy {
    pub(super) nodes: BTreeMap<String, NodeOccupancy>,
    counted: usize,
    daemons: usize,
    finished: usize,
    unbound: usize,
}

impl ClusterOccupancy {
    /// Sums up the requests of the pods of a file. Fails for a request that is not a quantity.
    pub(super) fn read(pods: &[DumpObject], file: &str) -> Result<ClusterOccupancy, Diagnostics> {
        let mut sums = ClusterOccupancy::default();
        for pod in pods {
            if ["Succeeded", "Failed"].contains(&pod.status.phase.as_str()) {
                sums.finished += 1;
                continue;
            }
            if pod.spec.node_name.is_empty() {
                sums.unbound += 1;
                continue;
            }
            let wrong = |error: AmountError| -> Diagnostics {
                let name = format!("{}/{}", pod.metadata.namespace, pod.metadata.name);
                Diagnostic::of_file(file, format!("Pod {name:?} requests {error}")).into()
            };
            let mut requests = requests(pod).map_err(wrong)?;
            requests.insert("pods".to_owned(), ONE_POD);
            let is_daemon = pod.metadata.owner_references.iter().any(|o| NODE_OWNERS.contains(&o.kind.as_str()));
            let node = sums.nodes.entry(pod.spec.node_name.clone()).or_default();
            add(&mut node.all, &requests);
            if is_daemon {
                add(&mut node.daemons, &requests);
            }
            sums.counted += 1;
            sums.daemons += usize::from(is_daemon);
        }
        Ok(sums)
    }

    /// Describes the pods; `unknown` is the number of names of nodes that are not in the dump.
    pub(super) fn describe(&self, unknown: usize) -> String {
        let mut text = format!("pods that hold resources of their nodes: {}", self.counted);
        if self.daemons > 0 {
            text.push_str(&format!(
                ", of which {} of DaemonSets or static, which added nodes have as well",
                self.daemons
            ));
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

fn requests(pod: &DumpObject) -> Result<ResourceAmounts, AmountError> {
    let spec = &pod.spec;
    let containers: Vec<ResourceAmounts> =
        spec.containers.iter().map(|c| amounts(&c.resources)).collect::<Result<_, _>>()?;
    let init = spec.init_containers.iter().map(|c| Ok((c.restart_policy == "Always", amounts(&c.resources)?)));
    let init: Vec<(bool, ResourceAmounts)> = init.collect::<Result<_, AmountError>>()?;
    let pod_level = amounts(&spec.resources)?;
    Ok(pod_requests(containers.into_iter(), init.into_iter(), &pod_level, &spec.overhead.milli()?))
}

/// Returns the requests of a container or of a pod as a whole. Limits replace absent requests.
fn amounts(resources: &DumpResources) -> Result<ResourceAmounts, AmountError> {
    let mut all = resources.limits.milli()?;
    all.extend(resources.requests.milli()?);
    Ok(all)
}

fn add(sum: &mut ResourceAmounts, more: &ResourceAmounts) {
    for (name, milli) in more.iter().filter(|(_, milli)| **milli > 0) {
        let all = sum.entry(name.clone()).or_default();
        *all = all.saturating_add(*milli);
    }
}
