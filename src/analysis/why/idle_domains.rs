//! Whole domains of exclusive placement that stay free while pods of a restart wait for a node.

use crate::metrics::nodes::NodeMetrics;
use crate::metrics::pods::PodMetrics;
use crate::metrics::restarts::path::CriticalPath;
use crate::metrics::restarts::waits::WaitKind;
use crate::metrics::{RestartBlocker, RunView};
use serde::Serialize;
use sim_base::{Duration, JobId, NodeId, SimTime};
use sim_engine::record::{NodeReady, TicketSubject, TicketWait};
use sim_policy::topology::{ClusterBuilder, TopologyDomains};

/// Free domains that a waiting Job cannot use, because its leader pod is in a domain without enough nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IdleDomains {
    /// Label whose values are the domains.
    pub topology_key: String,
    /// Number of free domains with enough nodes for the Job.
    pub free: usize,
    /// Name of the waiting Job.
    pub job: String,
    /// The domain of its leader pod.
    pub domain: String,
    /// Number of nodes of this domain that cannot be used: not ready, removed, tainted or occupied by other Jobs.
    pub missing: usize,
    /// All domains with nodes that are not ready, removed or tainted.
    pub incomplete: Vec<String>,
}

impl IdleDomains {
    /// Finds them during the longest wait for capacity of a path; `None` if there is no such wait or no free domain.
    pub fn find(run: &RunView<'_>, path: &CriticalPath, witness: &RestartBlocker) -> Option<IdleDomains> {
        let (of_pods, of_nodes) = run.folded.tables.as_ref()?;
        let waits = |kind: WaitKind| matches!(kind, WaitKind::Mechanism(TicketWait::Unschedulable) | WaitKind::DeadEnd);
        let steps = path.steps.iter().filter(|step| waits(WaitKind::from_step(step)));
        let step = steps.max_by_key(|step| step.duration())?;
        // In the middle of the wait, every Job that can be placed is placed.
        let at = step.from + Duration(step.duration().0 / 2);
        let pods = of_pods.rows();
        let job = match step.about {
            TicketSubject::Pod(pod) => witness.pod_at(pod, at)?.0,
            TicketSubject::JobSet(jobset) => {
                let is_waiting = |pod: &&PodMetrics| {
                    pod.created <= at && pod.bound > at && run.names.jobset_of(pod.job) == Some(jobset)
                };
                pods.iter().find(is_waiting)?.job
            }
            _ => return None,
        };
        let submitted = run.scenario.jobsets.get(run.names.jobset_of(job)?.ix())?;
        let mut jobs = submitted.jobset.spec.replicated_jobs.iter();
        let key = jobs.find_map(|rj| submitted.jobset.webhook_key(rj))?;
        let cluster = ClusterBuilder::build(&run.scenario.topology, &["pods".to_owned()]);
        let domains = TopologyDomains::build(&cluster, key);
        NodesAt::new(pods, of_nodes.rows(), cluster.len(), at).idle(run, &domains, job)
    }

    /// Describes them in a sentence.
    pub fn describe(&self) -> String {
        let IdleDomains { topology_key, free, job, domain, missing, .. } = self;
        let (domains, are) = if *free == 1 { ("domain", "is") } else { ("domains", "are") };
        let (nodes, have) = if *missing == 1 { ("node", "is") } else { ("nodes", "are") };
        format!(
            "Meanwhile {free} whole {domains} of {topology_key} {are} free, but the leader pod of Job {job} has a node \
             in {domain}, where {missing} {nodes} {have} missing; its other pods wait there"
        )
    }
}

/// The state of the nodes at an instant.
struct NodesAt<'p> {
    pods: &'p [PodMetrics],
    at: SimTime,
    unavailable: Vec<bool>,
    /// A Job with a pod on each node.
    job: Vec<Option<JobId>>,
}

impl<'p> NodesAt<'p> {
    fn new(pods: &'p [PodMetrics], rows: &[NodeMetrics], nodes: usize, at: SimTime) -> NodesAt<'p> {
        let nodes = nodes.max(rows.len());
        let mut job = vec![None; nodes];
        for pod in pods.iter().filter(|pod| holds_node(pod, at)) {
            if let Some(job) = job.get_mut(pod.node.ix()) {
                *job = Some(pod.job);
            }
        }
        let is_unavailable = |node| rows.get(node).is_some_and(|row| is_unavailable(row, at));
        NodesAt { pods, at, unavailable: (0..nodes).map(is_unavailable).collect(), job }
    }

    fn idle(&self, run: &RunView<'_>, domains: &TopologyDomains, job: JobId) -> Option<IdleDomains> {
        let leader = self.pods.iter().find(|pod| pod.job == job && pod.index == 0 && holds_node(pod, self.at))?;
        let own = domains.of.get(leader.node.ix()).filter(|domain| domain.is_some())?;
        let of_job = |pod: &&PodMetrics| pod.job == job && pod.created <= self.at && self.at < pod.gone;
        let needed = self.pods.iter().filter(of_job).count();
        let cannot_use = |node: &&NodeId| {
            let at = node.ix();
            self.unavailable[at] || self.job[at].is_some_and(|other| other != job)
        };
        let missing = domains.nodes[own.ix()].iter().filter(cannot_use).count();
        let is_free = |nodes: &&Vec<NodeId>| {
            nodes.len() >= needed && nodes.iter().all(|n| !self.unavailable[n.ix()] && self.job[n.ix()].is_none())
        };
        let free = domains.nodes.iter().filter(is_free).count();
        let is_incomplete = |nodes: &[NodeId]| nodes.iter().any(|node| self.unavailable[node.ix()]);
        let incomplete = domains.nodes.iter().zip(&domains.values).filter(|(nodes, _)| is_incomplete(nodes));
        (free > 0 && missing > 0).then(|| IdleDomains {
            topology_key: domains.key.clone(),
            free,
            job: run.names.job(job).to_owned(),
            domain: domains.values[own.ix()].clone(),
            missing,
            incomplete: incomplete.map(|(_, value)| value.clone()).collect(),
        })
    }
}

fn holds_node(pod: &PodMetrics, at: SimTime) -> bool {
    pod.node.is_some() && pod.bound <= at && at < pod.finished.min(pod.gone)
}

fn is_unavailable(node: &NodeMetrics, at: SimTime) -> bool {
    let last = node.transitions.iter().rev().find(|(since, _)| *since <= at);
    let is_down = last.is_some_and(|(_, ready)| *ready != NodeReady::True);
    // A new Node object with the name of a removed one is ready.
    let removal = node.removals.iter().rev().find(|removal| **removal <= at);
    let is_gone = removal.is_some_and(|removal| last.is_none_or(|(since, _)| since <= removal));
    // A new object has none of the taints of the removed one.
    let of_object = |since: &SimTime| *since <= at && removal.is_none_or(|removal| since > removal);
    let mut taints = node.taints.iter().filter(|(since, ..)| of_object(since)).map(|(_, key, added)| (*key, *added));
    let mut open = Vec::new();
    for (key, added) in taints.by_ref() {
        open.retain(|known| *known != key);
        if added {
            open.push(key);
        }
    }
    is_down || is_gone || !open.is_empty()
}
