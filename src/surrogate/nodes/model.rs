//! The parts of a scenario that do not change between replications: nodes, domains, pod templates and Jobs.

use super::profile::JobSetProfile;
use super::script::NodesScript;
use sim_api::spec::{FaultsOn, JobSet, ReplicatedJob, ScenarioSpec, StartupPolicyOrder, TrainingJob};
use sim_base::random::StreamKey;
use sim_base::{Duration, NodeId};
use sim_policy::placement::{TemplateFacts, has_room};
use sim_policy::topology::{ClusterBuilder, TopologyDomains};
use sim_reliability::faults::FaultModel;
use sim_reliability::training::TrainingFabric;
use sim_scheduler::SchedulerConfiguration;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// A scenario prepared for replications at level `nodes`.
pub struct NodesModel {
    pub scenario: Arc<ScenarioSpec>,
    pub faults: FaultModel,
    pub script: NodesScript,
    /// The links of the cluster, without jobs.
    pub fabric: TrainingFabric,
    pub cluster: ClusterBuilder,
    /// The domains of each topology key of exclusive placement.
    pub domains: Vec<TopologyDomains>,
    /// One entry per replicatedJob of each JobSet.
    pub templates: Vec<PodKind>,
    pub jobsets: Vec<JobSetModel>,
    /// The Jobs of all JobSets, in the order of the scenario.
    pub jobs: Vec<JobModel>,
    /// Job of each pod, in the order in which random faults number the pods.
    pub job_of_pod: Vec<u32>,
    /// Number of feasible nodes after which a search ends, if the scheduler draws among them.
    pub nodes_to_find: u32,
    /// Whether a pod leaves no room on its node for another one, of whatever template.
    pub takes_nodes_alone: bool,
    /// Whether nodes differ in nothing that matters: one pool, no faults of whole domains or named nodes, and no
    /// communication over their links.
    pub has_equal_nodes: bool,
    /// Whether machines are billed only while they exist, and whether idle spares are not billed.
    pub has_on_demand: bool,
    pub has_cold_spares: bool,
    /// Price of an accelerator per hour, in millionths of the currency, if it is always the same on all nodes.
    pub price: Option<u64>,
}

/// The pods of a replicatedJob.
pub struct PodKind {
    pub facts: TemplateFacts,
    /// Index of the topology key of exclusive placement.
    pub exclusive: Option<u32>,
    /// Number of accelerators that a pod holds.
    pub accelerators: u32,
    /// Time for which a pod tolerates a node that is not reachable; `None`: indefinitely.
    pub toleration: Option<Duration>,
    /// Number of pods of the template that fit on an empty node, at most.
    pub pods_per_node: u64,
    /// Nodes on which a pod fits if they are empty; 64 per word.
    pub fits: Vec<u64>,
}

/// A JobSet and its training job.
pub struct JobSetModel {
    pub spec: JobSet,
    pub submit_at: Duration,
    /// Indices of its Jobs.
    pub jobs: Range<usize>,
    /// Per replicatedJob, the Jobs whose pods must be ready before its Jobs are created (SU-1, DEP-1).
    pub predecessors: Vec<Vec<usize>>,
    /// Its training job.
    pub training: TrainingJob,
    /// Key of its random numbers, as in the engine.
    pub key: StreamKey,
    pub profile: Arc<JobSetProfile>,
}

/// A Job of a JobSet.
pub struct JobModel {
    pub jobset: usize,
    /// Position of the replicatedJob in the JobSet.
    pub rj: u32,
    pub index: u32,
    /// Index in `templates`.
    pub template: usize,
    /// Numbers of its pods.
    pub pods: Range<usize>,
    /// Key of its random numbers.
    pub key: StreamKey,
}

impl NodesModel {
    /// Prepares a scenario that level `nodes` accepts; `profiles` has one entry per JobSet.
    pub fn new(scenario: Arc<ScenarioSpec>, profiles: Vec<Arc<JobSetProfile>>) -> NodesModel {
        let cluster = ClusterBuilder::build(&scenario.topology, &requested_resources(&scenario));
        let configuration = SchedulerConfiguration::read(&scenario.scheduler);
        let nodes_to_find = configuration.profile("").map_or(cluster.len(), |p| p.nodes_to_find(cluster.len()));
        let has_on_demand = (0..cluster.len()).any(|node| cluster.is_on_demand(NodeId(node as u32)));
        let faults = FaultModel::new(&scenario);
        let mut model = NodesModel {
            has_on_demand,
            has_cold_spares: scenario.node_spares.as_ref().is_some_and(|spares| spares.take_over > Duration::ZERO),
            fabric: TrainingFabric::new(&scenario.topology, &cluster, &scenario.training),
            script: NodesScript::new(&scenario, faults.pods()),
            faults,
            domains: Vec::new(),
            templates: Vec::new(),
            jobsets: Vec::new(),
            jobs: Vec::new(),
            job_of_pod: Vec::new(),
            nodes_to_find: nodes_to_find.max(1) as u32,
            takes_nodes_alone: false,
            has_equal_nodes: scenario.topology.pools.len() == 1
                && scenario.topology.pools[0].nodes.is_empty()
                && scenario.faults.is_empty()
                && scenario.training.iter().all(|training| training.communication.is_none())
                && scenario.fault_processes.iter().all(|process| matches!(process.on, FaultsOn::Node | FaultsOn::Pod)),
            price: cluster
                .price_micros_per_hour
                .first()
                .copied()
                .filter(|first| cluster.price_micros_per_hour.iter().all(|price| price == first) && !has_on_demand),
            cluster,
            scenario: Arc::clone(&scenario),
        };
        for ((at, submitted), profile) in scenario.jobsets.iter().enumerate().zip(profiles) {
            let training = scenario.training.iter().find(|training| training.jobset == at);
            let jobs = model.add_jobs(at, &submitted.jobset);
            let predecessors = model.predecessors(&submitted.jobset, jobs.clone());
            model.jobsets.push(JobSetModel {
                spec: submitted.jobset.clone(),
                submit_at: submitted.submit_at,
                jobs,
                predecessors,
                training: training.cloned().expect("each JobSet has a training job"),
                key: jobset_key(&submitted.jobset),
                profile,
            });
        }
        model.takes_nodes_alone = model.leaves_no_room();
        model
    }

    fn leaves_no_room(&self) -> bool {
        let columns = self.cluster.resources.len();
        (0..self.cluster.len()).map(|node| NodeId(node as u32)).all(|node| {
            let mut fitting =
                self.templates.iter().filter(|kind| kind.fits[node.ix() / 64] >> (node.ix() % 64) & 1 == 1);
            fitting.clone().all(|kind| {
                let mut free = self.cluster.allocatable[node.ix() * columns..][..columns].to_vec();
                kind.facts.requests.iter().for_each(|(column, milli)| free[*column as usize] -= milli);
                !fitting.any(|other| has_room(&other.facts, &free, columns, NodeId(0)))
            })
        })
    }

    fn add_jobs(&mut self, jobset: usize, spec: &JobSet) -> Range<usize> {
        let first = self.jobs.len();
        for (rj, replicated) in (0..).zip(&spec.spec.replicated_jobs) {
            self.add_template(spec, replicated);
            for index in 0..replicated.replicas {
                let pods = self.job_of_pod.len()..self.job_of_pod.len() + replicated.template.pods() as usize;
                self.job_of_pod.resize(pods.end, self.jobs.len() as u32);
                self.jobs.push(JobModel {
                    jobset,
                    rj,
                    index,
                    template: self.templates.len() - 1,
                    pods,
                    key: StreamKey::from_text(&job_name(spec, rj, index)),
                });
            }
        }
        first..self.jobs.len()
    }

    fn predecessors(&self, spec: &JobSet, jobs: Range<usize>) -> Vec<Vec<usize>> {
        let rjs = &spec.spec.replicated_jobs;
        let in_order = spec.spec.startup_order == StartupPolicyOrder::InOrder;
        let comes_before = |other: usize, own: usize| {
            in_order && other < own || rjs[own].depends_on.iter().any(|on| on.name == rjs[other].name)
        };
        let of = |own: usize| jobs.clone().filter(|job| comes_before(self.jobs[*job].rj as usize, own)).collect();
        (0..rjs.len()).map(of).collect()
    }

    fn add_template(&mut self, spec: &JobSet, rj: &ReplicatedJob) {
        let facts = TemplateFacts::build(&self.cluster, &rj.template.template, 0);
        let exclusive = spec.webhook_key(rj).map(|key| {
            let known = self.domains.iter().position(|domains| domains.key == key);
            known.unwrap_or_else(|| {
                self.domains.push(TopologyDomains::build(&self.cluster, key));
                self.domains.len() - 1
            }) as u32
        });
        let rooms = (0..self.cluster.len()).map(|node| {
            let node = NodeId(node as u32);
            if facts.allows(node) { facts.room(&self.cluster, node) } else { 0 }
        });
        let mut fits = vec![0; self.cluster.len().div_ceil(64)];
        let nodes = (0..self.cluster.len()).map(|node| NodeId(node as u32));
        for node in nodes.filter(|node| facts.allows(*node) && facts.room(&self.cluster, *node) > 0) {
            fits[node.ix() / 64] |= 1 << (node.ix() % 64);
        }
        self.templates.push(PodKind {
            exclusive,
            fits,
            accelerators: facts.accelerators(&self.cluster),
            toleration: sim_engine::unreachable_toleration(&facts.tolerations),
            pods_per_node: rooms.max().unwrap_or(0),
            facts,
        });
    }

    /// The replicatedJob of a Job.
    pub fn spec_of(&self, job: usize) -> &ReplicatedJob {
        let of = &self.jobs[job];
        &self.jobsets[of.jobset].spec.spec.replicated_jobs[of.rj as usize]
    }

    /// Time from the deletion of a running pod of a Job until it has ended.
    pub fn termination_of(&self, job: usize) -> Duration {
        let jobset = &self.jobsets[self.jobs[job].jobset];
        jobset.profile.terminations[job - jobset.jobs.start]
    }

    pub fn template_of(&self, job: usize) -> &PodKind {
        &self.templates[self.jobs[job].template]
    }
}

/// Name of a Job (NAM-1).
pub fn job_name(spec: &JobSet, rj: u32, index: u32) -> String {
    let rj = spec.spec.replicated_jobs.get(rj as usize).map_or("", |rj| rj.name.as_str());
    format!("{}-{rj}-{index}", spec.name)
}

/// Key of a JobSet's random numbers, as in the engine.
fn jobset_key(spec: &JobSet) -> StreamKey {
    StreamKey::from_text(&spec.name).part(0)
}

/// Names of the resources that pods request, with `pods` first.
fn requested_resources(scenario: &ScenarioSpec) -> Vec<String> {
    let specs = scenario.jobsets.iter().flat_map(|submitted| &submitted.jobset.spec.replicated_jobs);
    let names: BTreeSet<String> = specs.flat_map(|rj| rj.template.template.spec.requests().into_keys()).collect();
    let others = names.into_iter().filter(|name| name != "pods");
    std::iter::once("pods".to_owned()).chain(others).collect()
}
