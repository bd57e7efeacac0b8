//! Generates a cluster that is large enough for given JobSets.

use sim_api::spec::{
    GENERATED_CLUSTER, JobSet, NodePool, ReplicatedJob, RunningPods, SubmittedJobSet, TaintEffect, TaintSpec,
    TopologySpec, keys,
};
use std::collections::BTreeMap;

const PODS_PER_NODE_MILLI: i64 = 110_000;
/// CPU in millicores, and memory in thousandths of a byte, that a generated node has beyond the requests of its pod.
const SPARE_CPU_MILLI: i64 = 8_000;
const SPARE_MEMORY_MILLI: i64 = (32 << 30) * 1_000;

/// A replicatedJob and the pool that is generated for it.
struct JobPool<'j> {
    jobset: &'j JobSet,
    job: &'j ReplicatedJob,
    pool: NodePool,
}

/// Generates one pool for each replicatedJob and one node for each pod, with every label that the pods select. Pools
/// with accelerators have the taint that GKE sets, so that other pods do not take their nodes. With `spare`, each
/// accelerator pool, or each pool if none has accelerators, has one more domain, or one more node without exclusive
/// placement.
pub fn topology(jobsets: &[SubmittedJobSet], spare: bool) -> TopologySpec {
    let mut all: Vec<JobPool<'_>> = Vec::new();
    for (i, submitted) in jobsets.iter().enumerate() {
        let jobset = &submitted.jobset;
        let jobs = jobset.spec.replicated_jobs.iter().enumerate();
        all.extend(jobs.filter(|(_, job)| job.replicas > 0).map(|(j, job)| JobPool {
            jobset,
            job,
            pool: pool(jobset, job, &format!("{i}-{j}")),
        }));
    }
    let has_accelerators = all.iter().any(|p| !p.pool.accelerator.is_empty());
    let mut pools: Vec<NodePool> = all.iter().map(|own| enlarged(own, &all)).collect();
    if spare {
        let mut extra = Vec::new();
        for (pool, own) in pools.iter_mut().zip(&all) {
            if pool.accelerator.is_empty() == has_accelerators {
                continue;
            }
            match own.jobset.exclusive_key(own.job) {
                Some(_) => pool.count = pool.count.saturating_add(1),
                None => extra.push(NodePool {
                    name: format!("spare-{}", pool.name),
                    count: 1,
                    nodes_per_island: 1,
                    ..pool.clone()
                }),
            }
        }
        pools.extend(extra);
    }
    if pools.is_empty() {
        pools.push(empty_pool());
    }
    TopologySpec {
        name: GENERATED_CLUSTER.to_owned(),
        description: composition(&pools),
        pools,
        dcn_levels: Vec::new(),
        currency: "USD".to_owned(),
        extended_resource_toleration: has_accelerators,
        slices: Vec::new(),
        acting_annotations: Vec::new(),
        running_pods: RunningPods::default(),
    }
}

/// Returns a pool with the additional domains and nodes that it needs because other Jobs can take its domains. Jobs
/// whose domains are interchangeable need none.
fn enlarged(own: &JobPool<'_>, all: &[JobPool<'_>]) -> NodePool {
    let mut pool = own.pool.clone();
    let Some(key) = own.jobset.exclusive_key(own.job) else {
        return pool;
    };
    for other in all.iter().filter(|o| !std::ptr::eq(*o, own) && o.can_use(&own.pool)) {
        let pods = other.job.template.pods().max(1);
        if other.jobset.exclusive_key(other.job) != Some(key) {
            // Each pod without exclusive placement can take a domain of its own.
            pool.count = pool.count.saturating_add(other.job.replicas.saturating_mul(pods));
            continue;
        }
        if key != keys::HOSTNAME {
            pool.nodes_per_island = pool.nodes_per_island.max(pods);
        }
        if !own.can_use(&other.pool) {
            pool.count = pool.count.saturating_add(other.job.replicas);
        }
    }
    pool
}

impl JobPool<'_> {
    /// Whether pods of this Job can run on empty nodes of a pool.
    fn can_use(&self, pool: &NodePool) -> bool {
        let spec = &self.job.template.template.spec;
        let requests = node_requests(self.jobset, self.job);
        let key = self.jobset.exclusive_key(self.job);
        // The admission plugin ExtendedResourceToleration adds a toleration for a request of zero as well.
        let named = spec.requests();
        let tolerated =
            |taint: &TaintSpec| named.contains_key(&taint.key) || spec.tolerations.iter().any(|t| t.tolerates(taint));
        key.is_none_or(|key| key == keys::HOSTNAME || pool.labels.contains_key(key))
            && !self.jobset.selects_labelled_nodes(self.job)
            && spec.node_selector.iter().all(|(k, v)| pool.labels.get(k) == Some(v))
            && pool.taints.iter().all(tolerated)
            && requests.iter().all(|(name, n)| pool.allocatable.get(name).is_some_and(|has| has >= n))
    }
}

/// Returns the number of pods that one node has to hold. Nodes are the domains of the hostname: one holds all pods of
/// an exclusive Job.
fn pods_per_node(jobset: &JobSet, job: &ReplicatedJob) -> u32 {
    let is_node = jobset.exclusive_key(job) == Some(keys::HOSTNAME);
    if is_node { job.template.pods().max(1) } else { 1 }
}

/// Returns the resources that the pods on one node request. A node need not have a resource of which they request zero.
fn node_requests(jobset: &JobSet, job: &ReplicatedJob) -> BTreeMap<String, i64> {
    let n = i64::from(pods_per_node(jobset, job));
    let requests = job.template.template.spec.requests().into_iter().filter(|(_, milli)| *milli > 0);
    requests.map(|(name, milli)| (name, milli.saturating_mul(n))).collect()
}

/// Describes the pools: numbers of domains and nodes, accelerators per node and selected labels.
fn composition(pools: &[NodePool]) -> String {
    let count = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let one = |pool: &NodePool| {
        let nodes = match (pool.count, pool.labels.values().any(|v| v.contains("{pool}"))) {
            (_, false) => count(pool.count.saturating_mul(pool.nodes_per_island), "node"),
            (1, true) => format!("1 domain of {}", count(pool.nodes_per_island, "node")),
            (n, true) => format!("{n} domains of {}", count(pool.nodes_per_island, "node")),
        };
        let has = pool.allocatable.get(&pool.accelerator).map(|milli| milli / 1_000);
        let has = has.map_or(String::new(), |n| format!(" with {n} {}", pool.accelerator));
        format!("{}: {nodes}{has}", pool.name.trim_end_matches("-{node}"))
    };
    pools.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn pool(jobset: &JobSet, job: &ReplicatedJob, id: &str) -> NodePool {
    let spec = &job.template.template.spec;
    let mut labels = BTreeMap::from([(keys::ZONE.to_owned(), "zone-a".to_owned())]);
    if let Some(key) = jobset.exclusive_key(job).filter(|key| *key != keys::HOSTNAME) {
        labels.insert(key.to_owned(), format!("pool-{id}-{{pool}}"));
    }
    if jobset.selects_labelled_nodes(job) {
        // The label that JobSet's hack/label_nodes sets on the nodes of each Job (EXC-2).
        let job = format!("{}_{}-{}-{{pool}}", jobset.namespace, jobset.name, job.name);
        labels.insert(keys::NAMESPACED_JOB.to_owned(), job);
    }
    labels.extend(spec.node_selector.clone());
    let mut allocatable = node_requests(jobset, job);
    let pods_per_node = pods_per_node(jobset, job);
    *allocatable.entry("cpu".to_owned()).or_default() += SPARE_CPU_MILLI;
    *allocatable.entry("memory".to_owned()).or_default() += SPARE_MEMORY_MILLI;
    allocatable.insert("pods".to_owned(), PODS_PER_NODE_MILLI.max(i64::from(pods_per_node) * 1_000));
    // The name of an extended resource has a domain prefix.
    let accelerator = allocatable.keys().find(|name| name.contains('/')).cloned();
    // GKE taints its accelerator nodes with the resource's name, and admission adds the toleration.
    let taint = accelerator.iter().map(|key| TaintSpec {
        key: key.clone(),
        value: "present".to_owned(),
        effect: TaintEffect::NoSchedule,
    });
    NodePool {
        name: format!("node-{id}-{{node}}"),
        taints: taint.collect(),
        count: job.replicas,
        islands: 1,
        nodes_per_island: job.template.pods().max(1) / pods_per_node,
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
