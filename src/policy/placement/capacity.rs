//! The number of pods of a template that fit into an empty cluster or topology domain.

use super::template::TemplateFacts;
use crate::topology::{ClusterBuilder, TopologyDomains};
use sim_api::spec::{DependsOnStatus, JobSet, ReplicatedJob};
use sim_base::NodeId;

/// A topology domain that can hold a leader.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FreeCapacity {
    /// Index among the values of the key.
    pub domain: usize,
    /// Number of pods that fit.
    pub pods: u64,
    /// Largest number of pods on one node: the loss if that node fails.
    pub largest_node: u64,
}

impl FreeCapacity {
    /// Returns true if, after the loss of a node, it still accepts a leader but no longer holds all pods (EXC-19).
    pub fn is_a_trap_without_a_node(&self, pods: u64) -> bool {
        let left = self.pods - self.largest_node;
        0 < left && left < pods && pods <= self.pods
    }

    /// Returns true if it still holds this number of pods after the loss of any one node.
    pub fn spares_a_node(&self, pods: u64) -> bool {
        self.pods - self.largest_node >= pods
    }
}

/// Number of pods per node; 0 where none is allowed.
pub fn of_nodes(facts: &TemplateFacts, cluster: &ClusterBuilder) -> Vec<u64> {
    let one = |n: usize| {
        let node = NodeId(n as u32);
        if facts.allows(node) { facts.room(cluster, node) } else { 0 }
    };
    (0..cluster.len()).map(one).collect()
}

/// Number of pods on all nodes together.
pub fn of_cluster(facts: &TemplateFacts, cluster: &ClusterBuilder) -> u64 {
    let rooms = of_nodes(facts, cluster);
    rooms.into_iter().fold(0, u64::saturating_add)
}

/// The domains that hold at least one pod.
pub fn of_domains(facts: &TemplateFacts, cluster: &ClusterBuilder, domains: &TopologyDomains) -> Vec<FreeCapacity> {
    let rooms = of_nodes(facts, cluster);
    let room = |(domain, nodes): (usize, &Vec<NodeId>)| {
        let each = || nodes.iter().map(|n| rooms[n.ix()]);
        FreeCapacity { domain, pods: each().fold(0, u64::saturating_add), largest_node: each().max().unwrap_or(0) }
    };
    let rooms = domains.nodes.iter().enumerate().map(room);
    rooms.filter(|room| room.pods > 0).collect()
}

/// The demand of one replicatedJob with exclusive placement for domains of its key.
pub struct SliceDemand<'a> {
    /// Position in the JobSet.
    pub index: usize,
    pub rj: &'a ReplicatedJob,
    pub key: &'a str,
    pub rooms: Vec<FreeCapacity>,
}

impl SliceDemand<'_> {
    pub fn pods(&self) -> u64 {
        u64::from(self.rj.template.pods())
    }
}

/// The replicatedJobs with exclusive placement and pods, whose key exists on a node.
pub fn demands<'a>(jobset: &'a JobSet, cluster: &ClusterBuilder) -> Vec<SliceDemand<'a>> {
    let mut result = Vec::new();
    let mut domains: Vec<TopologyDomains> = Vec::new();
    for (index, rj) in jobset.spec.replicated_jobs.iter().enumerate() {
        let wants = rj.replicas > 0 && rj.template.pods() > 0;
        let Some(key) = jobset.webhook_key(rj).filter(|_| wants) else {
            continue;
        };
        let known = domains.iter().position(|d| d.key == key);
        let at = known.unwrap_or_else(|| {
            domains.push(TopologyDomains::build(cluster, key));
            domains.len() - 1
        });
        if !domains[at].nodes.is_empty() {
            let facts = TemplateFacts::build(cluster, &rj.template.template, 0);
            result.push(SliceDemand { index, rj, key, rooms: of_domains(&facts, cluster, &domains[at]) });
        }
    }
    result
}

/// The total demand for the domains of one key.
pub struct KeyDemand<'d, 'a> {
    pub key: &'a str,
    /// In the order of the JobSet; not empty.
    pub of: Vec<&'d SliceDemand<'a>>,
    /// Number of domains that at least one of their Jobs can use.
    pub domains: usize,
    /// Number of Jobs that run at the same time.
    pub jobs: u64,
}

pub fn by_key<'d, 'a>(demands: &'d [SliceDemand<'a>]) -> Vec<KeyDemand<'d, 'a>> {
    let mut keys: Vec<&str> = Vec::new();
    for demand in demands {
        if !keys.contains(&demand.key) {
            keys.push(demand.key);
        }
    }
    let together = |key| {
        let of: Vec<&SliceDemand> = demands.iter().filter(|d| d.key == key).collect();
        let usable = of.iter().flat_map(|d| d.rooms.iter().map(|r| r.domain));
        let mut usable: Vec<usize> = usable.collect();
        usable.sort_unstable();
        usable.dedup();
        // A replicatedJob that waits for complete Jobs reuses their domains.
        let waits = |d: &&&SliceDemand| {
            let mut on = d.rj.depends_on.iter();
            on.any(|d| d.status == DependsOnStatus::Complete)
        };
        let replicas = |d: &&SliceDemand| u64::from(d.rj.replicas);
        let at_once: u64 = of.iter().filter(|d| !waits(d)).map(replicas).sum();
        let largest = of.iter().map(replicas).max();
        KeyDemand { key, domains: usable.len(), jobs: at_once.max(largest.unwrap_or(0)), of }
    };
    keys.into_iter().map(together).collect()
}
