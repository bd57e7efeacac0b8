//! Generates a cluster that is large enough for given JobSets.

use sim_api::spec::{JobSet, NodePool, ReplicatedJob, SubmittedJobSet, TopologySpec, keys};
use std::collections::BTreeMap;

const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
const PODS_PER_NODE_MILLI: i64 = 110_000;
/// CPU in millicores, and memory in thousandths of a byte, that a generated node has beyond the requests of its pod.
const SPARE_CPU_MILLI: i64 = 8_000;
const SPARE_MEMORY_MILLI: i64 = (32 << 30) * 1_000;

/// Generates one pool for each Job and one node for each pod, with every label that the pods select.
pub fn topology(jobsets: &[SubmittedJobSet]) -> TopologySpec {
    let mut pools = Vec::new();
    for (i, submitted) in jobsets.iter().enumerate() {
        let jobs = &submitted.jobset.spec.replicated_jobs;
        for (j, job) in jobs.iter().enumerate().filter(|(_, job)| job.replicas > 0) {
            pools.push(pool(&submitted.jobset, job, &format!("{i}-{j}")));
        }
    }
    if pools.is_empty() {
        pools.push(empty_pool());
    }
    TopologySpec {
        name: "generated".to_owned(),
        description: "one pool for each Job, one node for each pod".to_owned(),
        pools,
        dcn_levels: Vec::new(),
        currency: "USD".to_owned(),
        extended_resource_toleration: false,
    }
}

fn pool(jobset: &JobSet, job: &ReplicatedJob, id: &str) -> NodePool {
    let spec = &job.template.template.spec;
    let mut labels = BTreeMap::from([(ZONE_LABEL.to_owned(), "zone-a".to_owned())]);
    if let Some(key) = jobset.exclusive_key(job) {
        labels.insert(key.to_owned(), format!("pool-{id}-{{pool}}"));
    }
    if jobset.selects_labelled_nodes(job) {
        // The label that JobSet's hack/label_nodes sets on the nodes of each Job (EXC-2).
        let job = format!("{}_{}-{}-{{pool}}", jobset.namespace, jobset.name, job.name);
        labels.insert(keys::NAMESPACED_JOB.to_owned(), job);
    }
    labels.extend(spec.node_selector.clone());
    let mut allocatable = spec.requests();
    *allocatable.entry("cpu".to_owned()).or_default() += SPARE_CPU_MILLI;
    *allocatable.entry("memory".to_owned()).or_default() += SPARE_MEMORY_MILLI;
    allocatable.insert("pods".to_owned(), PODS_PER_NODE_MILLI);
    // The name of an extended resource has a domain prefix.
    let accelerator = allocatable.keys().find(|name| name.contains('/')).cloned();
    NodePool {
        name: format!("node-{id}-{{node}}"),
        count: job.replicas,
        islands: 1,
        nodes_per_island: job.template.pods().max(1),
        labels,
        allocatable,
        accelerator: accelerator.unwrap_or_default(),
        features: vec![keys::RESTART_ALL_CONTAINERS.to_owned()],
        ..NodePool::default()
    }
}

/// Returns a pool with one node, for JobSets without pods.
fn empty_pool() -> NodePool {
    NodePool {
        name: "node-{node}".to_owned(),
        count: 1,
        islands: 1,
        nodes_per_island: 1,
        allocatable: BTreeMap::from([("pods".to_owned(), PODS_PER_NODE_MILLI)]),
        ..NodePool::default()
    }
}
