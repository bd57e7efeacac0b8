//! Converts a row of the suite to a scenario, as text for the scenario reader.

use super::BenchSetting;
use super::suite::BenchCombination;
use serde_json::json;
use sim_inputs::{LoadedScenario, SourceText, strategy};

/// Number of nodes per rack and of pods per Job.
const RACK: u32 = 25;
/// Number of racks that remain free.
const FREE: u32 = 2;
/// Minimum number of nodes: two racks in use and two free racks.
pub const NODES_MIN: u32 = RACK * (FREE + 2);

const MANIFEST: &str = include_str!("../../../scenarios/manifests/workers.yaml");
const EXCLUSIVE: &str = include_str!("../../../scenarios/manifests/exclusive-workers.yaml");

/// Returns the reason why the suite does not support a number of nodes; `None` if it does.
pub fn refused(nodes: u32) -> Option<String> {
    let wrong = nodes < NODES_MIN || !nodes.is_multiple_of(RACK) || nodes > 65_000;
    wrong.then(|| {
        format!("--nodes {nodes}: expected a multiple of {RACK}, the size of a rack, from {NODES_MIN} to 65000")
    })
}

pub fn load(row: &BenchCombination, more: &[BenchSetting]) -> Result<LoadedScenario, String> {
    let source = SourceText { file: format!("{}.yaml", row.case.name), text: text(row) };
    let manifest = if row.case.exclusive { EXCLUSIVE } else { MANIFEST };
    let loader = |_: &str| Ok(manifest.to_owned());
    let read = |sets: &[BenchSetting]| sim_inputs::parse_scenario(&source, sets, &loader).map_err(|e| e.to_string());
    let plain = read(&[])?;
    let overrides = [("strategy".to_owned(), row.strategy.as_str().to_owned())];
    let changes = strategy::with_companions(&overrides, &plain.scenario.jobsets);
    let changes = changes.map_err(|e| e.to_string())?;
    let sets = changes.into_iter().map(|c| (c.path, c.value));
    let sets: Vec<BenchSetting> = sets.chain(more.iter().cloned()).collect();
    read(&sets)
}

fn text(row: &BenchCombination) -> String {
    let racks = row.nodes / RACK;
    let jobs = "spec.replicatedJobs[0]";
    let scenario = json!({
        "apiVersion": sim_inputs::API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": row.case.name, "description": row.case.about},
        "topology": {
            "apiVersion": sim_inputs::API_VERSION,
            "kind": "Topology",
            "metadata": {"name": format!("{racks}x{RACK}")},
            "pools": [{
                "name": "n-{node:05}",
                "count": racks,
                "nodesPerIsland": RACK,
                "accelerator": "example.com/accelerator",
                "allocatable": {"cpu": 8, "memory": "64Gi", "example.com/accelerator": 4},
                "labels": {"topology.kubernetes.io/zone": "zone-a", "cloud.google.com/gke-nodepool": "rack-{pool}"},
                "features": ["RestartAllContainersOnContainerExits"]
            }]
        },
        "controlPlane": {"preset": row.plane.preset, "kubernetes": row.plane.kubernetes},
        "jobSets": [{
            "manifest": "workers.yaml",
            "set": [
                format!("{jobs}.replicas={}", racks - FREE),
                format!("{jobs}.template.spec.parallelism={RACK}"),
                format!("{jobs}.template.spec.completions={RACK}")
            ]
        }],
        "faults": row.case.faults,
        "stop": {"at": "6h", "when": "Settled"},
        "seed": 42
    });
    scenario.to_string()
}
