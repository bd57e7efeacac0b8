//! Where the pods of a run are, and the quality of their placement.

use super::groups::NodeGroups;
use serde::Serialize;
use sim_api::spec::{ReplicatedJob, ScenarioSpec, TopologySpec};
use sim_base::{JobId, JobSetId, NodeId, SimTime, row_or_default};
use sim_engine::record::{Body, NO_STOP_CHECK, RecordNames, RecordSink, SimulationRecord};
use sim_policy::fabric::{FabricGraph, FabricMap};
use sim_policy::topology::{ClusterBuilder, FreeNodes, GroupSpread, free_nodes, group_spread};
use std::collections::BTreeSet;

/// Number of events between two checks whether to stop.
const CHECK_EVERY: u64 = 100;

/// Collects the nodes of pods and the readiness of JobSets.
#[derive(Default)]
pub struct PlacementSink {
    /// JobSets per copy. If it is not zero, the run stops when a copy is submitted before the previous one is ready.
    copy_size: usize,
    /// Time at which each JobSet was ready for the first time.
    ready_at: Vec<Option<SimTime>>,
    pods: Vec<Option<PlacedPod>>,
    /// The JobSet with whose readiness the run ends; `None` if the run continues.
    awaited: Option<Awaited>,
    stops: bool,
    is_unsettled: bool,
}

#[derive(Copy, Clone)]
struct Awaited {
    jobset: usize,
    /// Number of events after which the run is stopped.
    events_max: u64,
}

#[derive(Copy, Clone)]
struct PlacedPod {
    job: JobId,
    index: u32,
    node: NodeId,
}

/// A Job with the nodes of its pods, in the order of their indexes.
#[derive(Clone, Debug)]
pub struct PlacedJob {
    /// Position of the JobSet in the scenario.
    pub jobset: usize,
    /// Position of its replicatedJob in the JobSet.
    pub replicated_job: usize,
    /// Name of the Job.
    pub name: String,
    /// Node of each pod.
    pub nodes: Vec<NodeId>,
    /// True if the pods use accelerators.
    pub uses_accelerators: bool,
}

impl PlacementSink {
    /// Creates a sink that stops the run at the first copy that is submitted before the previous one is ready.
    pub fn stopping(copy_size: usize) -> PlacementSink {
        PlacementSink { copy_size, ..PlacementSink::default() }
    }

    /// Creates a sink that stops the run as soon as a JobSet is ready, or after a number of events.
    pub fn until_ready(jobset: usize, events_max: u64) -> PlacementSink {
        PlacementSink { awaited: Some(Awaited { jobset, events_max }), ..PlacementSink::default() }
    }

    /// Returns whether the run was stopped because of its number of events.
    pub fn is_unsettled(&self) -> bool {
        self.is_unsettled
    }

    /// Returns the time at which the JobSets of a copy were all ready.
    pub fn copy_ready_at(&self, copy: usize, copy_size: usize) -> Option<SimTime> {
        let mut ready = (copy * copy_size..(copy + 1) * copy_size).map(|jobset| self.ready_at.get(jobset).copied()?);
        ready.try_fold(SimTime::ZERO, |latest, at| Some(latest.max(at?)))
    }

    /// Returns the Jobs of the JobSets of the scenario with their nodes, in the order of the manifests.
    pub fn jobs(&self, scenario: &ScenarioSpec, names: &RecordNames) -> Vec<PlacedJob> {
        let placed = self.pods.iter().flatten().filter(|pod| pod.node.is_some());
        let row = |pod: &PlacedPod| {
            let job = names.jobs.get(pod.job.ix())?;
            let submitted = scenario.jobsets.get(job.jobset.ix())?;
            let rj = submitted.jobset.spec.replicated_jobs.iter().position(|rj| rj.name == job.replicated_job)?;
            Some(((job.jobset.ix(), rj, job.job_index, pod.job, pod.index), pod.node))
        };
        let mut rows: Vec<_> = placed.filter_map(row).collect();
        rows.sort_unstable();
        let mut jobs: Vec<(JobId, PlacedJob)> = Vec::new();
        for ((jobset, replicated_job, _, id, _), node) in rows {
            match jobs.last_mut().filter(|(last, _)| *last == id) {
                Some((_, job)) => job.nodes.push(node),
                None => {
                    let rj = &scenario.jobsets[jobset].jobset.spec.replicated_jobs[replicated_job];
                    let uses_accelerators = uses_accelerators(scenario, rj);
                    let name = names.job(id).to_owned();
                    jobs.push((id, PlacedJob { jobset, replicated_job, name, nodes: vec![node], uses_accelerators }));
                }
            }
        }
        jobs.into_iter().map(|(_, job)| job).collect()
    }

    fn created(&mut self, jobset: JobSetId) {
        let Some(copy) = jobset.ix().checked_div(self.copy_size) else {
            return;
        };
        self.stops |= copy > 0 && self.copy_ready_at(copy - 1, self.copy_size).is_none();
    }
}

fn uses_accelerators(scenario: &ScenarioSpec, rj: &ReplicatedJob) -> bool {
    let requests = rj.template.template.spec.requests();
    let is_accelerator = |name: &String| scenario.topology.pools.iter().any(|pool| pool.accelerator == *name);
    requests.iter().any(|(name, milli)| *milli > 0 && is_accelerator(name))
}

impl RecordSink for PlacementSink {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        match record.body {
            Body::JobSetCreated { jobset } => self.created(jobset),
            Body::AllReady { jobset, ready: true } => {
                row_or_default(&mut self.ready_at, jobset.ix()).get_or_insert(record.at);
                self.stops |= self.awaited.is_some_and(|awaited| awaited.jobset == jobset.ix());
            }
            Body::PodCreated { pod, job, index, .. } => {
                *row_or_default(&mut self.pods, pod.ix()) = Some(PlacedPod { job, index, node: NodeId::NONE });
            }
            Body::PodBound { pod, node, .. } => {
                if let Some(Some(row)) = self.pods.get_mut(pod.ix()) {
                    row.node = node;
                }
            }
            Body::PodGone { pod, .. } | Body::PodFinished { pod, .. } => {
                *row_or_default(&mut self.pods, pod.ix()) = None;
            }
            _ => {}
        }
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        if self.copy_size > 0 || self.awaited.is_some() { CHECK_EVERY } else { NO_STOP_CHECK }
    }

    fn should_stop(&mut self, events: u64) -> bool {
        self.is_unsettled = !self.stops && self.awaited.is_some_and(|awaited| events >= awaited.events_max);
        self.stops || self.is_unsettled
    }
}

/// The use of groups by one Job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobUse {
    /// Name of the Job.
    pub job: String,
    /// Number of its pods that have a node.
    pub pods: usize,
    /// Number of distinct nodes.
    pub nodes: usize,
    /// Names of the groups that it uses, in the order of `PlacementReport::groups`.
    pub domains: Vec<Vec<String>>,
}

/// The free nodes of groups of one kind, and the spread of the JobSets over them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupUse {
    /// `island`, the name of a network level, or a label.
    pub level: String,
    /// Label whose values are the groups; empty for islands without a label.
    pub key: String,
    /// Number of groups with nodes that have accelerators, or of all groups if no node has.
    pub groups: usize,
    /// Free nodes without the JobSets.
    pub before: FreeNodes,
    /// Free nodes with the JobSets.
    pub after: FreeNodes,
    /// Spread of all pods.
    pub spread: GroupSpread,
}

/// The quality of a placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacementReport {
    /// The Jobs in the order of the manifests.
    pub jobs: Vec<JobUse>,
    /// Islands first, then network levels and the domains of exclusive placement.
    pub groups: Vec<GroupUse>,
    /// Capacity between the first and the second half of the pods in Mbit/s; `None` if the topology states no links.
    pub bisection_mbits: Option<u64>,
}

/// Evaluates a placement. `occupied` are the nodes that other pods use.
pub fn report(
    scenario: &ScenarioSpec, cluster: &ClusterBuilder, jobs: &[PlacedJob], occupied: &BTreeSet<NodeId>,
) -> PlacementReport {
    let jobsets = scenario.jobsets.iter().map(|submitted| &submitted.jobset);
    let all = NodeGroups::of_placement(&scenario.topology, cluster, jobsets);
    let has_accelerators = cluster.accelerators.iter().any(|accelerators| *accelerators > 0);
    let counts = |node: &NodeId| !has_accelerators || cluster.accelerators[node.ix()] > 0;
    let using = jobs.iter().filter(|job| job.uses_accelerators || !has_accelerators);
    let used: BTreeSet<NodeId> =
        using.flat_map(|job| job.nodes.iter().copied()).chain(occupied.iter().copied()).collect();
    let group_use = |groups: &NodeGroups| {
        let nodes = groups.nodes.iter().map(|nodes| nodes.iter().copied().filter(counts).collect());
        let nodes: Vec<Vec<NodeId>> = nodes.filter(|nodes: &Vec<NodeId>| !nodes.is_empty()).collect();
        let ranks: Vec<_> = jobs.iter().flat_map(|job| &job.nodes).map(|node| groups.of[node.ix()]).collect();
        GroupUse {
            level: groups.name.clone(),
            key: groups.key.clone(),
            groups: nodes.len(),
            before: free_nodes(&nodes, |node| occupied.contains(&node)),
            after: free_nodes(&nodes, |node| used.contains(&node)),
            spread: group_spread(&ranks),
        }
    };
    let job_use = |job: &PlacedJob| JobUse {
        job: job.name.clone(),
        pods: job.nodes.len(),
        nodes: job.nodes.iter().collect::<BTreeSet<_>>().len(),
        domains: all.iter().map(|groups| domain_names(groups, &job.nodes)).collect(),
    };
    PlacementReport {
        jobs: jobs.iter().map(job_use).collect(),
        groups: all.iter().map(group_use).collect(),
        bisection_mbits: bisection_mbits(&scenario.topology, cluster, jobs),
    }
}

/// Returns the capacity between the halves of the pods, in their order.
fn bisection_mbits(topology: &TopologySpec, cluster: &ClusterBuilder, jobs: &[PlacedJob]) -> Option<u64> {
    let has_links = topology.pools.iter().any(|pool| pool.interconnect.is_some());
    let nodes: Vec<NodeId> = jobs.iter().flat_map(|job| job.nodes.iter().copied()).collect();
    if nodes.len() < 2 || !has_links && topology.dcn_levels.is_empty() {
        return None;
    }
    let (first, second) = nodes.split_at(nodes.len() / 2);
    Some(FabricGraph::build(&FabricMap::build(topology, cluster)).cut_mbits(first, second))
}

fn domain_names(groups: &NodeGroups, nodes: &[NodeId]) -> Vec<String> {
    let used: BTreeSet<_> = nodes.iter().map(|node| groups.of[node.ix()]).collect();
    used.into_iter().filter(|group| group.is_some()).map(|group| groups.names[group.ix()].clone()).collect()
}
