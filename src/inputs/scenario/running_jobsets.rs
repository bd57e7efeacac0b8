//! Resources that running pods of the simulated JobSets hold in a list of Nodes and Pods. A run creates these JobSets,
//! so that their pods do not exist at its start.

use sim_api::spec::{NamedNode, ResourceAmounts, ScenarioSpec};
use std::collections::BTreeSet;

/// Frees the resources of the pods of the JobSets in the scenario. Existing Workloads of these JobSets hold theirs
/// until Kueue takes them over. Returns a note for each JobSet.
pub fn release(scenario: &mut ScenarioSpec) -> Vec<(String, usize)> {
    let mut names = BTreeSet::new();
    for submitted in &scenario.jobsets {
        let mut workloads = scenario.kueue.iter().flat_map(|kueue| &kueue.workloads);
        if !workloads.any(|workload| workload.is_of(&submitted.jobset)) {
            names.insert(format!("{}/{}", submitted.jobset.namespace, submitted.jobset.name));
        }
    }
    let mut released = BTreeSet::new();
    for pool in &mut scenario.topology.pools {
        let common = pool.occupied.clone();
        for node in &mut pool.nodes {
            let own: Vec<String> = node.jobsets.keys().filter(|name| names.contains(*name)).cloned().collect();
            for name in own {
                free(node, &name, &common);
                released.insert(name);
            }
        }
    }
    let note = |name: String| {
        let text = format!(
            "running pods of JobSet {name} in the list of nodes: their resources are free, because the run \
                            starts the JobSet"
        );
        (text, 1)
    };
    released.into_iter().map(note).collect()
}

/// Removes the resources of a JobSet from those that are occupied on a node. `common` is what the nodes of the pool
/// hold if they state nothing else.
fn free(node: &mut NamedNode, jobset: &str, common: &ResourceAmounts) {
    for (resource, milli) in node.jobsets.remove(jobset).unwrap_or_default() {
        let held = node.occupied.get(&resource).or(common.get(&resource)).copied().unwrap_or(0);
        node.occupied.insert(resource, (held - milli).max(0));
    }
}
