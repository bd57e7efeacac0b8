//! A performance test of Kueue's scheduler, as its generator describes it.

use super::{ClusterQueuePreemption, KueueBehavior, PreemptionPolicy};
use sim_base::Duration;
use std::collections::BTreeMap;

/// Cohorts with queues, the Workloads that are created in them, and the nodes if there is a topology.
#[derive(Clone, Debug, PartialEq)]
pub struct KueueLoadTest {
    pub name: String,
    pub topology: Option<LoadTopology>,
    pub flavor: String,
    /// Label of the nodes of the flavor, with the value `tas`.
    pub flavor_label: Option<String>,
    pub cohorts: Vec<LoadCohorts>,
    pub manager: LoadManager,
    /// Client of the program that creates and ends the Workloads.
    pub runner: ClientLimits,
}

/// Rate limit of a client for each kind of object.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ClientLimits {
    pub requests_per_s: f64,
    pub burst: u32,
}

/// Kueue's manager in the test.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LoadManager {
    pub behavior: KueueBehavior,
    pub client: ClientLimits,
    pub requests: LoadRequestTimes,
    /// Number of requests that the API server handles at a time.
    pub at_once: usize,
    /// Time from storing an object until a watch delivers it.
    pub watch: Duration,
    /// Time of a cycle by its number of heads, besides requests.
    pub cycle_per_head: Duration,
}

/// Times that the API server spends on a request.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LoadRequestTimes {
    /// A new Workload.
    pub creation: Duration,
    /// The status of a Workload.
    pub workload: Duration,
    pub cluster_queue: Duration,
    pub local_queue: Duration,
    pub event: Duration,
    /// A request about a node, a namespace or another small object, with the time of the client, which waits for the
    /// response before the next one.
    pub other: Duration,
}

/// Nodes in a tree of domains.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadTopology {
    pub name: String,
    pub levels: Vec<LoadLevel>,
    /// Allocatable amounts of each node in thousandths.
    pub allocatable: BTreeMap<String, i64>,
}

impl LoadTopology {
    /// Returns the number of nodes.
    pub fn nodes(&self) -> u64 {
        self.levels.iter().map(|level| u64::from(level.count)).product()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadLevel {
    pub name: String,
    /// Domains in each domain of the level above.
    pub count: u32,
    pub label: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadCohorts {
    pub class: String,
    pub count: u32,
    pub queues: Vec<LoadQueues>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadQueues {
    pub class: String,
    pub count: u32,
    /// Quota of CPUs in thousandths.
    pub nominal: i64,
    pub borrowing_limit: Option<i64>,
    pub reclaim_within_cohort: PreemptionPolicy,
    pub within_cluster_queue: PreemptionPolicy,
    pub workloads: Vec<LoadWorkloads>,
}

impl LoadQueues {
    pub fn preemption(&self) -> ClusterQueuePreemption {
        ClusterQueuePreemption {
            within_cluster_queue: self.within_cluster_queue,
            reclaim_within_cohort: self.reclaim_within_cohort,
            ..ClusterQueuePreemption::default()
        }
    }
}

/// Workloads that are created one after the other in a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadWorkloads {
    /// How often the templates are created.
    pub count: u32,
    /// Pause before each creation.
    pub interval: Duration,
    pub templates: Vec<LoadTemplate>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadTemplate {
    pub class: String,
    pub runtime: Duration,
    pub priority: i32,
    /// CPUs of each pod in thousandths.
    pub request: i64,
    pub pods: u32,
    pub topology: Option<LoadConstraint>,
}

/// What the pods of a Workload ask of a level of the topology.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadConstraint {
    Required(String),
    Preferred(String),
    /// Slices of this number of pods, each in one domain.
    Balanced {
        level: String,
        slice: u32,
    },
}
