//! The effect of the loss of a failure domain: the JobSets that it stops, and the simulated time until they are ready
//! again. Domains of equal size that hold equal parts of the JobSets share one simulation.

use super::copies::CopySet;
use super::groups::NodeGroups;
use super::placed::{PlacedJob, PlacementSink};
use serde::Serialize;
use sim_api::spec::{FaultAction, FaultTime, NodeRef, ScenarioSpec, ScriptedFault};
use sim_base::{Duration, JobSetId, NodeId, PodId, SimTime, row_or_default};
use sim_engine::record::{Body, RecordNames, RecordSink, RunOutcome, SimulationRecord};
use sim_engine::{CannotRun, SimulationInput};
use sim_policy::topology::ClusterBuilder;
use std::collections::{BTreeMap, BTreeSet};

/// Time from readiness to the fault.
const FAULT_AFTER: Duration = Duration::from_secs(60);

/// The part of a JobSet that is in a failure domain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HitJobSet {
    /// Name of the JobSet.
    pub name: String,
    /// Number of its Jobs with a pod in the domain.
    pub jobs: usize,
    /// Number of its pods in the domain.
    pub pods: usize,
}

/// The effect of a fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "effect")]
pub enum BlastEffect {
    /// No pod of the JobSets is in the domain.
    Nothing,
    /// All affected JobSets are ready again.
    Restart {
        /// Seconds from the fault until all JobSets are ready.
        seconds: f64,
    },
    /// A JobSet does not become ready again.
    Blocked {
        /// The reason, as a sentence.
        reason: String,
    },
}

/// Failure domains of one kind with an equal effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlastRow {
    /// `node`, `island`, the name of a network level, or a label.
    pub level: String,
    /// Label whose values are the domains; empty if there is none.
    pub key: String,
    /// Number of these domains.
    pub domains: usize,
    /// Name of the first one, which is simulated.
    pub example: String,
    /// Nodes of each domain.
    pub nodes: usize,
    /// Accelerators of each domain.
    pub accelerators: u64,
    /// The JobSets with pods in the domain.
    pub job_sets: Vec<HitJobSet>,
    /// Accelerators of all nodes whose pods stop, inside and outside of the domain.
    pub stopped_accelerators: u64,
    /// The effect of the loss of all nodes of one domain.
    #[serde(flatten)]
    pub effect: BlastEffect,
}

/// Places the JobSets of a scenario and evaluates the loss of each failure domain: its nodes crash and do not return,
/// and their Node objects are deleted after `deleted_after`. Returns `None` if the JobSets do not fit.
pub fn blast_radius(scenario: &ScenarioSpec, deleted_after: Duration) -> Result<Option<Vec<BlastRow>>, CannotRun> {
    let copies = CopySet::new(scenario);
    let base = copies.scenario(1, Duration::ZERO);
    let mut simulation = SimulationInput::new(&base)?;
    let mut sink = PlacementSink::default();
    simulation.run(base.seed, 0, &mut sink);
    if sink.copy_ready_at(0, base.jobsets.len()).is_none() {
        return Ok(None);
    }
    let jobs = sink.jobs(&base, simulation.names());
    let cluster = simulation.cluster();
    let mut rows = Vec::new();
    for groups in NodeGroups::failure_domains(&base.topology, cluster) {
        for (signature, domains) in equal_domains(&groups, &base, cluster, &jobs) {
            let first = domains[0];
            let nodes = &groups.nodes[first];
            let (effect, stopped_accelerators) = match &signature.job_sets[..] {
                [] => (BlastEffect::Nothing, 0),
                [..] => simulate_loss(&base, cluster, (nodes, deleted_after))?,
            };
            rows.push(BlastRow {
                level: groups.name.clone(),
                key: groups.key.clone(),
                domains: domains.len(),
                example: groups.names[first].clone(),
                nodes: nodes.len(),
                accelerators: signature.accelerators,
                job_sets: signature.job_sets,
                stopped_accelerators,
                effect,
            });
        }
    }
    Ok(Some(rows))
}

/// What distinguishes failure domains of one kind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct DomainSignature {
    job_sets: Vec<HitJobSet>,
    nodes: usize,
    accelerators: u64,
}

/// Returns the signatures in the order of their first domains, with these domains.
fn equal_domains(
    groups: &NodeGroups, scenario: &ScenarioSpec, cluster: &ClusterBuilder, jobs: &[PlacedJob],
) -> Vec<(DomainSignature, Vec<usize>)> {
    let mut hits: Vec<BTreeMap<usize, HitJobSet>> = vec![BTreeMap::new(); groups.nodes.len()];
    for job in jobs {
        let name = &scenario.jobsets[job.jobset].jobset.name;
        let mut seen = BTreeSet::new();
        for group in job.nodes.iter().map(|node| groups.of[node.ix()]).filter(|group| group.is_some()) {
            let none = || HitJobSet { name: name.clone(), jobs: 0, pods: 0 };
            let hit = hits[group.ix()].entry(job.jobset).or_insert_with(none);
            hit.pods += 1;
            hit.jobs += usize::from(seen.insert(group));
        }
    }
    let mut result: Vec<(DomainSignature, Vec<usize>)> = Vec::new();
    let mut known: BTreeMap<DomainSignature, usize> = BTreeMap::new();
    for (domain, (nodes, hit)) in groups.nodes.iter().zip(hits).enumerate() {
        let accelerators = nodes.iter().map(|node| u64::from(cluster.accelerators[node.ix()])).sum();
        let signature = DomainSignature { job_sets: hit.into_values().collect(), nodes: nodes.len(), accelerators };
        let at = *known.entry(signature.clone()).or_insert(result.len());
        match result.get_mut(at) {
            Some((_, domains)) => domains.push(domain),
            None => result.push((signature, vec![domain])),
        }
    }
    result
}

/// Simulates the loss of all nodes of a domain. Returns the effect and the accelerators of the nodes whose pods stop.
fn simulate_loss(
    base: &ScenarioSpec, cluster: &ClusterBuilder, (nodes, deleted_after): (&[NodeId], Duration),
) -> Result<(BlastEffect, u64), CannotRun> {
    let mut scenario = base.clone();
    let named = |node: &NodeId| NodeRef { name: Some(cluster.names[node.ix()].clone()), of_pod: None, alias: None };
    let fault = |after, action| {
        let at = FaultTime::AfterReady(after);
        ScriptedFault { at, action, random_cause: None, entry: None }
    };
    let crash = |node| fault(FAULT_AFTER, FaultAction::CrashNode(named(node)));
    let delete = |node| fault(FAULT_AFTER + deleted_after, FaultAction::DeleteNode(named(node)));
    scenario.faults = nodes.iter().map(crash).chain(nodes.iter().map(delete)).collect();
    let mut simulation = SimulationInput::new(&scenario)?;
    let mut sink = LossSink::default();
    let outcome = simulation.run(scenario.seed, 0, &mut sink);
    let stopped = sink.stopped.iter().map(|node| u64::from(cluster.accelerators[node.ix()])).sum();
    Ok((sink.effect(&outcome, simulation.names()), stopped))
}

/// Observes the pods and JobSets after a fault.
#[derive(Default)]
struct LossSink {
    fault: Option<SimTime>,
    /// Node of each pod that was bound before the fault.
    nodes: Vec<Option<NodeId>>,
    /// Nodes on which pods stopped after the fault.
    stopped: BTreeSet<NodeId>,
    /// Per JobSet that was not ready after the fault: the time at which it was ready again.
    ready_again: BTreeMap<JobSetId, Option<SimTime>>,
}

impl LossSink {
    fn stop(&mut self, pod: PodId) {
        if self.fault.is_some() {
            self.stopped.extend(self.nodes.get(pod.ix()).copied().flatten());
        }
    }

    fn effect(&self, outcome: &RunOutcome, names: &RecordNames) -> BlastEffect {
        let fault = self.fault.unwrap_or(SimTime::ZERO);
        let ready = self.ready_again.values().try_fold(fault, |latest, at| Some(latest.max((*at)?)));
        if let Some(latest) = ready {
            return BlastEffect::Restart { seconds: latest.since(fault).seconds() };
        }
        let lost = self.ready_again.iter().find(|(_, at)| at.is_none()).map(|(jobset, _)| *jobset);
        let name = lost.map_or("", |jobset| names.jobset(jobset));
        let ended = lost.and_then(|jobset| outcome.jobsets.get(jobset.ix()));
        let failed = ended.and_then(|o| o.conditions.iter().find(|c| c.kind == "Failed" && c.status));
        let reason = match (failed, outcome.pending_reason(name)) {
            (Some(failed), _) => format!("JobSet {name} fails: {}", failed.message),
            (None, Some(why)) => format!("JobSet {name} is not ready again: {why}"),
            (None, None) => format!("JobSet {name} is not ready again"),
        };
        BlastEffect::Blocked { reason }
    }
}

impl RecordSink for LossSink {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        match record.body {
            Body::Fault { .. } => {
                self.fault.get_or_insert(record.at);
            }
            Body::PodBound { pod, node, .. } => {
                let bound = Some(node).filter(|_| self.fault.is_none());
                *row_or_default(&mut self.nodes, pod.ix()) = bound;
            }
            Body::AllReady { jobset, ready } if self.fault.is_some() => {
                self.ready_again.insert(jobset, ready.then_some(record.at));
            }
            Body::PodNotReady { pod, .. }
            | Body::ContainersRestarting { pod, .. }
            | Body::PodFinished { pod, .. }
            | Body::PodDeleting { pod, .. } => self.stop(pod),
            _ => {}
        }
    }
}
