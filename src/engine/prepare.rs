//! Preparation of a run: the cluster as arrays, and detection of workloads that no node could ever run.

#![deny(missing_docs)]

use crate::store::{ObjectStore, add_node_selection};
use serde_json::Value;
use sim_api::objects;
use sim_api::spec::{
    AgentMode, ContainerRule, FaultAction, JobSet, ObjectKind, PodTemplate, ReplicatedJob, RequestVerb, ScenarioSpec,
    ScriptedFault,
};
use sim_policy::placement::{TemplateFacts, capacity};
use sim_policy::topology::ClusterBuilder;
use sim_scheduler::explain::{PlacementExplanation, explain_template};
use std::fmt;

/// The reasons why a scenario cannot be run; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotRun(pub Vec<PrepareError>);

/// A conflict in a scenario that makes it impossible to run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrepareError {
    /// The cluster is empty.
    NoNodes {
        /// Name of the topology.
        topology: String,
    },
    /// No node of the empty cluster can run the pod.
    NeverFits {
        /// Name of the pod without the random suffix.
        pod: String,
        /// The reason in kube-scheduler's words, the nodes that each plugin rejects, and the smallest change.
        explanation: Box<PlacementExplanation>,
    },
    /// No node has the label that defines the domains of exclusive placement.
    NoDomain {
        /// Name of the replicatedJob.
        replicated_job: String,
        /// Key of the topology label.
        key: String,
    },
    /// Exclusive placement, but no domain is large enough for a whole Job, and no container ends to make room.
    DomainsTooSmall {
        /// Name of the replicatedJob.
        replicated_job: String,
        /// Key of the topology label.
        key: String,
        /// Number of pods per Job.
        pods: u64,
        /// Number of these pods that fit into the largest domain.
        most: u64,
    },
    /// Exclusive placement with more Jobs than domains, and no container ends to make room.
    TooFewDomains {
        /// Name of the JobSet.
        jobset: String,
        /// Key of the topology label.
        key: String,
        /// Number of Jobs that run at the same time.
        jobs: u64,
        /// Number of domains that can hold a Job.
        domains: usize,
    },
    /// More pods than the empty cluster can hold, and no container ends to make room.
    TooManyPods {
        /// Name of the replicatedJob.
        replicated_job: String,
        /// Number of its pods.
        pods: u64,
        /// Number of these pods that the cluster can hold.
        most: u64,
    },
}

/// If containers end, the capacity becomes free again later.
const NOTHING_ENDS: &str = "no container ends here that would make room";

impl fmt::Display for PrepareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrepareError::NoNodes { topology } => write!(f, "topology {topology:?} has no nodes"),
            PrepareError::NeverFits { pod, explanation } => {
                write!(f, "pod {pod} can never be placed: {}", explanation.message)?;
                // The alternate form is for output that contains the explanation itself.
                let change = explanation.change.as_ref().filter(|_| !f.alternate());
                change.map_or(Ok(()), |change| write!(f, "\n  Smallest change: {}", change.text()))
            }
            PrepareError::NoDomain { replicated_job, key } => write!(
                f,
                "replicatedJob {replicated_job:?} wants exclusive placement per {key:?}, but no node has that label"
            ),
            PrepareError::DomainsTooSmall { replicated_job, key, pods, most } => write!(
                f,
                "a Job of replicatedJob {replicated_job:?} has {pods} pods, and a domain of {key:?} holds {most} of \
                 them at most; {NOTHING_ENDS}"
            ),
            PrepareError::TooFewDomains { jobset, key, jobs, domains } => write!(
                f,
                "JobSet {jobset} has {jobs} Jobs with exclusive placement per {key:?}, and the cluster has {domains} \
                 such domains that can take one; {NOTHING_ENDS}"
            ),
            PrepareError::TooManyPods { replicated_job, pods, most } => write!(
                f,
                "replicatedJob {replicated_job:?} has {pods} pods, and the empty cluster holds {most} of them; \
                 {NOTHING_ENDS}"
            ),
        }
    }
}

impl fmt::Display for CannotRun {
    /// Writes one line per conflict.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, one) in self.0.iter().enumerate() {
            let line = if i > 0 { "\n" } else { "" };
            f.write_str(line)?;
            one.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for CannotRun {}

/// Builds the store of a scenario before the first event.
pub fn build_store(scenario: &ScenarioSpec) -> Result<ObjectStore, CannotRun> {
    let drawn = scenario.fault_processes.is_empty();
    assert!(drawn, "random faults are drawn before a run, by sim_reliability::faults::draw_faults");
    let cluster = ClusterBuilder::build(&scenario.topology, &resource_names(scenario));
    let more_nodes = scenario.objects.iter().any(|o| o["kind"] == "Node") || scenario.changes_nodes();
    if cluster.is_empty() && !more_nodes {
        let topology = scenario.topology.name.clone();
        return Err(CannotRun(vec![PrepareError::NoNodes { topology }]));
    }
    let mut store = ObjectStore::new(cluster);
    store.reset();
    let problems =
        if more_nodes || scenario.admit_unplaceable { Vec::new() } else { unplaceable_workloads(&mut store, scenario) };
    if problems.is_empty() { Ok(store) } else { Err(CannotRun(problems)) }
}

/// Resources that a pod may request; they are the columns of the cluster.
fn resource_names(scenario: &ScenarioSpec) -> Vec<String> {
    let mut result = vec!["pods".to_owned()];
    let mut add = |name: &str| {
        if !name.is_empty() && !result.iter().any(|f| f == name) {
            result.push(name.to_owned());
        }
    };
    for submitted in &scenario.jobsets {
        for rj in &submitted.jobset.spec.replicated_jobs {
            let requests = rj.template.template.spec.requests();
            requests.keys().for_each(|name| add(name));
        }
    }
    for pool in &scenario.topology.pools {
        add(&pool.accelerator);
    }
    let created = scenario.scripted_requests().filter_map(|request| match &request.verb {
        RequestVerb::Create { object, .. } | RequestVerb::Patch { body: object, .. } => Some(object),
        RequestVerb::Delete { .. } | RequestVerb::Show { .. } => None,
    });
    for object in scenario.objects.iter().chain(created) {
        collect_requested(object, &mut add);
    }
    result
}

/// Collects the resource names in every `requests` and `limits` of an object of any kind.
fn collect_requested(value: &Value, add: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_object() {
                    Some(names) if key == "requests" || key == "limits" => {
                        names.keys().for_each(|name| add(name));
                    }
                    _ => collect_requested(value, add),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_requested(item, add)),
        _ => {}
    }
}

/// Workloads that no node of the empty cluster could ever run, with the reasons in kube-scheduler's words.
fn unplaceable_workloads(store: &mut ObjectStore, scenario: &ScenarioSpec) -> Vec<PrepareError> {
    let mut problems = Vec::new();
    let mut rooms = TemplateCapacity::default();
    for submitted in &scenario.jobsets {
        let jobset = &submitted.jobset;
        // A resume may change the templates of a suspended JobSet.
        let rjs = jobset.spec.replicated_jobs.iter();
        let is_suspended = jobset.spec.suspend || scenario.kueue.as_ref().is_some_and(|kueue| kueue.suspends(jobset));
        let rjs = rjs.filter(|rj| rj.replicas > 0 && !is_suspended);
        let before = problems.len();
        for rj in rjs {
            problems.extend(unplaceable_job(store, (jobset, rj)));
        }
        if problems.len() == before && has_fixed_capacity(scenario) && !is_suspended {
            problems.extend(capacity_errors(&store.nodes.cluster, jobset, &scenario.containers, &mut rooms));
        }
    }
    store.templates.reset();
    problems
}

/// Returns true if no scripted action can add capacity: faults and lost nodes never leave more than the empty cluster
/// has. All other cases can only be decided by the run.
fn has_fixed_capacity(scenario: &ScenarioSpec) -> bool {
    // Random faults restore at most what they removed.
    let makes_none = |fault: &ScriptedFault| match &fault.action {
        _ if fault.random_cause.is_some() => true,
        FaultAction::ContainerExit { exit_code, .. } => *exit_code != 0,
        FaultAction::SuspendJobSet(_)
        | FaultAction::ResumeJobSet(_)
        | FaultAction::DeleteJobSet(_)
        | FaultAction::Request(_) => false,
        _ => true,
    };
    // A training job ends only after all of its pods were placed.
    let others_end = scenario.jobsets.len() > 1 && scenario.training.iter().any(|t| t.work.is_some());
    !others_end && scenario.faults.iter().all(makes_none)
}

/// Returns true if no rule ends the containers of the replicatedJob: all of its pods then run at the same time,
/// indefinitely.
fn runs_indefinitely(rules: &[ContainerRule], jobset: &JobSet, rj: &ReplicatedJob) -> bool {
    !rules.iter().any(|rule| rule.run_for.is_some() && rule.may_apply_to(jobset, rj))
}

/// Number of pods of a template that fit into the empty cluster; caches the last template, because the next one is
/// often equal.
#[derive(Default)]
struct TemplateCapacity<'s>(Option<(&'s PodTemplate, u64)>);

impl<'s> TemplateCapacity<'s> {
    fn capacity(&mut self, cluster: &ClusterBuilder, pod: &'s PodTemplate) -> u64 {
        if let Some((_, most)) = self.0.filter(|(known, _)| *known == pod) {
            return most;
        }
        let most = capacity::of_cluster(&TemplateFacts::build(cluster, pod, 0), cluster);
        self.0 = Some((pod, most));
        most
    }
}

/// Checks that each pod fits, and that all pods that never end fit together.
fn capacity_errors<'s>(
    cluster: &ClusterBuilder, jobset: &'s JobSet, rules: &[ContainerRule], rooms: &mut TemplateCapacity<'s>,
) -> Vec<PrepareError> {
    let mut demands = capacity::demands(jobset, cluster);
    demands.retain(|d| runs_indefinitely(rules, jobset, d.rj) && !bypasses_scheduler(d.rj));
    let mut problems = Vec::new();
    for d in &demands {
        let most = d.rooms.iter().map(|r| r.pods).max().unwrap_or(0);
        if most < d.pods() && !objects::refuses_job(jobset, d.rj) {
            problems.push(PrepareError::DomainsTooSmall {
                replicated_job: d.rj.name.clone(),
                key: d.key.to_owned(),
                pods: d.pods(),
                most,
            });
        }
    }
    for d in capacity::by_key(&demands) {
        let refused = || d.of.iter().any(|d| objects::refuses_job(jobset, d.rj));
        if (d.domains as u64) < d.jobs && !refused() {
            problems.push(PrepareError::TooFewDomains {
                jobset: jobset.name.clone(),
                key: d.key.to_owned(),
                jobs: d.jobs,
                domains: d.domains,
            });
        }
    }
    let free = |rj: &&ReplicatedJob| {
        jobset.exclusive_key(rj).is_none() && runs_indefinitely(rules, jobset, rj) && !bypasses_scheduler(rj)
    };
    for rj in jobset.spec.replicated_jobs.iter().filter(free) {
        let pods = u64::from(rj.replicas) * u64::from(rj.template.pods());
        let most = rooms.capacity(cluster, &rj.template.template);
        if most < pods && !objects::refuses_job(jobset, rj) {
            problems.push(PrepareError::TooManyPods { replicated_job: rj.name.clone(), pods, most });
        }
    }
    problems
}

/// Returns true if the template has `nodeName`: its pods exist in any case, and a kubelet without room refuses them.
fn bypasses_scheduler(rj: &ReplicatedJob) -> bool {
    rj.template.template.spec.node_name.is_some()
}

fn unplaceable_job(store: &mut ObjectStore, (jobset, rj): (&JobSet, &ReplicatedJob)) -> Option<PrepareError> {
    if bypasses_scheduler(rj) {
        return None;
    }
    let by_selector = jobset.selects_labelled_nodes(rj);
    let job = format!("{}-{}-0", jobset.name, rj.name);
    let mut pod = rj.template.template.clone();
    if by_selector {
        add_node_selection(&mut pod, &jobset.namespace, &job);
    }
    let key = jobset.webhook_key(rj);
    let cluster = &store.nodes.cluster;
    let id = store.templates.add(cluster, pod.into(), key, AgentMode::Absent);
    let template = store.templates.get(id);
    if !template.facts.fits_somewhere(cluster) {
        if objects::refuses_job(jobset, rj) {
            return None;
        }
        let pod = format!("{job}-0");
        let explanation = Box::new(explain_template(cluster, &template.pod, &template.facts));
        return Some(PrepareError::NeverFits { pod, explanation });
    }
    let domains = &store.templates.domains[template.exclusive? as usize];
    domains
        .values
        .is_empty()
        .then(|| PrepareError::NoDomain { replicated_job: rj.name.clone(), key: domains.key.clone() })
}

/// Number of pods that the JobSets of the scenario create at the same time.
pub fn required_pods(scenario: &ScenarioSpec) -> u32 {
    let rjs = scenario.jobsets.iter();
    let rjs = rjs.flat_map(|js| &js.jobset.spec.replicated_jobs);
    let wanted = rjs.map(|rj| u64::from(rj.replicas) * u64::from(rj.template.pods()));
    wanted.sum::<u64>().min(u64::from(u32::MAX)) as u32
}

/// Returns true if something depends on whole objects: the script, priorities or budgets. Only then are objects kept
/// as posted.
pub fn reads_objects(scenario: &ScenarioSpec) -> bool {
    let kinds = [ObjectKind::PriorityClass, ObjectKind::PodDisruptionBudget, ObjectKind::PodGroup];
    let concerns_pods = |object: &serde_json::Value| kinds.iter().any(|kind| object["kind"] == kind.as_str());
    if scenario.objects.iter().any(concerns_pods) {
        return true;
    }
    let mut jobsets = scenario.jobsets.iter().flat_map(|s| &s.jobset.spec.replicated_jobs);
    if jobsets.any(|rj| !rj.template.template.spec.terms.is_empty()) {
        return true;
    }
    scenario.scripted_requests().any(|request| match &request.verb {
        RequestVerb::Show { .. } => true,
        RequestVerb::Create { object, .. } => concerns_pods(object),
        RequestVerb::Patch { .. } | RequestVerb::Delete { .. } => false,
    })
}
