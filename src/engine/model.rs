//! What does not change during a run: the scenario resolved into ids, arrays and per-template facts.

use crate::base::*;
use crate::placement::TemplateFacts;
use crate::record::{JobName, JobSetName, Names};
use crate::spec::*;
use crate::topology::{Cluster, Domains};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

pub struct Model {
    pub scenario: Scenario,
    pub cluster: Cluster,
    pub names: Names,
    pub jobsets: Vec<JobSetModel>,
    pub jobs: Vec<JobModel>,
    pub templates: Vec<TemplateFacts>,
    /// One per exclusive-topology key in use.
    pub domains: Vec<Domains>,
    /// Distinct pod priorities, ascending; exclusive placement counts per class.
    pub priorities: Vec<i32>,
    /// Whether the script asks for objects; only then are they kept.
    pub shows_objects: bool,
    /// Jobs of different JobSets that would have the same name.
    pub same_name: BTreeMap<JobId, Vec<JobId>>,
    /// Places of pods; extra ones beyond are made during a run.
    pub pod_slots: u32,
}

pub struct JobSetModel {
    /// As submitted; `JobSetState::spec` is what is stored now.
    pub spec: Arc<JobSet>,
    pub submit_at: Duration,
    /// Jobs are `first_job .. first_job + jobs`, replicatedJob after replicatedJob.
    pub first_job: u32,
    pub jobs: u32,
    /// `jobs` more places from here, one per slot: for a Job that is created while pods of a Job of its name live on
    /// without their owner. Absent unless the script deletes Jobs that way.
    pub second_places: Option<u32>,
    /// First job id of each replicatedJob.
    pub rj_first: Vec<u32>,
    /// REC-4: false if another controller manages it.
    pub managed: bool,
    pub in_place: bool,
    /// Pods that must carry an attempt (IPR-5).
    pub expected_pods: u32,
    /// Pods that are ready when all is well.
    pub wanted_pods: u32,
}

#[derive(Clone)]
pub struct JobModel {
    pub jobset: JobSetId,
    pub rj: u32,
    pub index: u32,
    pub first_pod: u32,
    /// Completion indexes: a pod place each.
    pub slots: u32,
    pub template: TemplateId,
    /// Index into `Model::domains` of the exclusive-topology key (strategy A of EXC-2), if any.
    pub exclusive: Option<u32>,
    pub agent: AgentMode,
    pub accelerators: u32,
}

impl Model {
    /// Resolves a scenario. The errors are sentences about what cannot exist or be placed.
    pub fn build(scenario: &Scenario) -> Result<Model, Vec<String>> {
        let mut resources = vec!["pods".to_owned()];
        for rj in scenario
            .jobsets
            .iter()
            .flat_map(|s| &s.jobset.spec.replicated_jobs)
        {
            for name in rj.template.template.spec.requests().into_keys() {
                if !resources.contains(&name) {
                    resources.push(name);
                }
            }
        }
        for pool in &scenario.topology.pools {
            if !pool.accelerator.is_empty() && !resources.contains(&pool.accelerator) {
                resources.push(pool.accelerator.clone());
            }
        }
        let cluster = Cluster::build(&scenario.topology, &resources);
        if cluster.is_empty() {
            return Err(vec![format!(
                "topology {:?} has no nodes",
                scenario.topology.name
            )]);
        }
        let mut model = Model {
            scenario: scenario.clone(),
            names: Names {
                nodes: cluster.names.clone(),
                ..Names::default()
            },
            cluster,
            jobsets: Vec::new(),
            jobs: Vec::new(),
            templates: Vec::new(),
            domains: Vec::new(),
            priorities: Vec::new(),
            shows_objects: false,
            same_name: BTreeMap::new(),
            pod_slots: 0,
        };
        for submitted in &scenario.jobsets {
            model.add_jobset(submitted);
        }
        model.find_same_names();
        let shows = model
            .requests()
            .any(|r| matches!(r.verb, Verb::Show { .. }));
        model.shows_objects = shows;
        let problems: Vec<String> = model.unplaceable();
        if problems.is_empty() || scenario.admit_unplaceable {
            Ok(model)
        } else {
            Err(problems)
        }
    }

    fn add_jobset(&mut self, submitted: &SubmittedJobSet) {
        let jobset = &submitted.jobset;
        let id = JobSetId(self.jobsets.len() as u32);
        let first_job = self.jobs.len() as u32;
        let in_place = jobset.spec.strategy() == RestartStrategy::InPlaceRestart
            && self.scenario.control_plane.feature_gates.in_place_restart;
        let mut rj_first = Vec::new();
        let (mut expected_pods, mut wanted_pods) = (0, 0);
        for (rj_position, rj) in jobset.spec.replicated_jobs.iter().enumerate() {
            rj_first.push(self.jobs.len() as u32);
            let by_node_selector = jobset.uses_node_selector_strategy(rj);
            let mut template = self.add_template(jobset, rj, None);
            let exclusive = match jobset.exclusive_key(rj) {
                Some(key) if !by_node_selector => Some(self.domain_index(key)),
                _ => None,
            };
            let slots = rj
                .template
                .completions()
                .unwrap_or_else(|| rj.template.parallelism())
                .max(rj.template.pods())
                .max(self.scaled_to(&jobset.name, &rj.name));
            let facts = &self.templates[template.ix()];
            let accelerators = facts.accelerators(&self.cluster, &self.scenario.topology);
            let agent = self.agent_mode(jobset, rj, in_place);
            for index in 0..rj.replicas {
                let name = format!("{}-{}-{index}", jobset.name, rj.name);
                if by_node_selector {
                    template = self.add_template(jobset, rj, Some(&name));
                }
                self.names.jobs.push(JobName {
                    jobset: id,
                    name,
                    replicated_job: rj.name.clone(),
                    job_index: index,
                    pods: slots,
                });
                self.jobs.push(JobModel {
                    jobset: id,
                    rj: rj_position as u32,
                    index,
                    first_pod: self.pod_slots,
                    slots,
                    template,
                    exclusive,
                    agent,
                    accelerators,
                });
                self.pod_slots += slots;
            }
            expected_pods += rj.replicas * rj.template.parallelism();
            wanted_pods += rj.replicas * rj.template.pods();
        }
        self.names.jobsets.push(JobSetName {
            namespace: jobset.namespace.clone(),
            name: jobset.name.clone(),
        });
        let managed = jobset
            .spec
            .managed_by
            .as_deref()
            .is_none_or(|m| m == JOBSET_CONTROLLER);
        let jobs = self.jobs.len() as u32 - first_job;
        let second_places = self
            .leaves_pods_behind()
            .then(|| self.add_second_places(first_job));
        self.jobsets.push(JobSetModel {
            spec: Arc::new(jobset.clone()),
            submit_at: submitted.submit_at,
            first_job,
            jobs,
            second_places,
            rj_first,
            managed,
            in_place,
            expected_pods,
            wanted_pods,
        });
    }

    /// Whether the script deletes a Job and not, or not at once, its pods.
    fn leaves_pods_behind(&self) -> bool {
        self.requests().any(|r| {
            let whose = matches!(r.object.kind, ObjectKind::Job | ObjectKind::JobSet);
            whose && matches!(r.verb, Verb::Delete { propagation, .. } if propagation != Propagation::Foreground)
        })
    }

    fn find_same_names(&mut self) {
        if self.jobsets.len() < 2 && self.jobsets.iter().all(|js| js.second_places.is_none()) {
            return;
        }
        let mut by_name: BTreeMap<(&str, &str), Vec<JobId>> = BTreeMap::new();
        for (i, job) in self.names.jobs.iter().enumerate() {
            let namespace = self.names.jobsets[job.jobset.ix()].namespace.as_str();
            let jobs = by_name.entry((namespace, &job.name)).or_default();
            jobs.push(JobId(i as u32));
        }
        let shared = by_name.into_values().filter(|jobs| jobs.len() > 1);
        self.same_name = shared
            .flat_map(|jobs| jobs.clone().into_iter().map(move |j| (j, jobs.clone())))
            .collect();
    }

    fn requests(&self) -> impl Iterator<Item = &UserRequest> {
        self.scenario.faults.iter().filter_map(|f| match &f.action {
            FaultAction::Request(request) => Some(request),
            _ => None,
        })
    }

    fn add_second_places(&mut self, first_job: u32) -> u32 {
        let first = self.jobs.len();
        for at in first_job as usize..first {
            let mut job = self.jobs[at].clone();
            job.first_pod = self.pod_slots;
            self.pod_slots += job.slots;
            self.names.jobs.push(self.names.jobs[at].clone());
            self.jobs.push(job);
        }
        first as u32
    }

    /// ELA-2: the most pods that a patch of the script gives a Job of this replicatedJob.
    fn scaled_to(&self, jobset: &str, rj: &str) -> u32 {
        let count = |spec: &Value, key: &str| {
            let n = spec[key].as_u64().unwrap_or(0);
            n.min(u64::from(MOST_SCALED_PODS)) as u32
        };
        self.requests()
            .filter(|r| r.object.name == jobset || r.object.kind == ObjectKind::Job)
            .flat_map(|r| match &r.verb {
                Verb::Patch { body, .. } => jobs_in_patch(body, rj),
                _ => Vec::new(),
            })
            .map(|spec| count(spec, "parallelism").max(count(spec, "completions")))
            .max()
            .unwrap_or(0)
    }

    /// AG-1: pods whose agent bypasses its barrier behave as if they had none. The recordings' player puts an agent
    /// into every pod of an InPlaceRestart JobSet, whatever the manifest says.
    fn agent_mode(&self, jobset: &JobSet, rj: &ReplicatedJob, in_place: bool) -> AgentMode {
        if !in_place || jobset.annotations.contains_key(DISABLE_IN_PLACE_RESTART) {
            return AgentMode::Absent;
        }
        match self.scenario.timing.kubelet {
            Kubelet::Scripted { .. } => AgentMode::Sidecar { probe_period_s: 0 },
            Kubelet::Real(_) => rj.template.template.spec.agent_mode(),
        }
    }

    fn add_template(
        &mut self,
        jobset: &JobSet,
        rj: &ReplicatedJob,
        job: Option<&str>,
    ) -> TemplateId {
        let priority = rj.template.template.spec.priority;
        if !self.priorities.contains(&priority) {
            self.priorities.push(priority);
        }
        let class = self
            .priorities
            .iter()
            .position(|p| *p == priority)
            .unwrap_or(0) as u32;
        let mut facts = TemplateFacts::build(&self.cluster, jobset, rj, class, job);
        if !self.scenario.claims_bind && mounts_claims(jobset, rj) {
            facts.block_by_claims();
        }
        self.templates.push(facts);
        TemplateId(self.templates.len() as u32 - 1)
    }

    /// The scheduler's view of a Job with another template than the manifest's; the priority stays.
    pub fn facts_of(&self, job: JobId, jobset: &JobSet, rj: &ReplicatedJob) -> TemplateFacts {
        let m = &self.jobs[job.ix()];
        let class = self.templates[m.template.ix()].priority_class;
        let by_node_selector = jobset.uses_node_selector_strategy(rj);
        let name = by_node_selector.then(|| self.names.job(job));
        TemplateFacts::build(&self.cluster, jobset, rj, class, name)
    }

    fn domain_index(&mut self, key: &str) -> u32 {
        if let Some(i) = self.domains.iter().position(|d| d.key == key) {
            return i as u32;
        }
        self.domains.push(self.cluster.domains(key));
        self.domains.len() as u32 - 1
    }

    /// Workloads that no node of the empty cluster could ever take, in kube-scheduler's words.
    fn unplaceable(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for js in &self.jobsets {
            for (rj, &first) in js.spec.spec.replicated_jobs.iter().zip(&js.rj_first) {
                let Some(job) = self.jobs.get(first as usize).filter(|_| rj.replicas > 0) else {
                    continue;
                };
                let facts = &self.templates[job.template.ix()];
                if let Some(reason) = facts.never_fits(&self.cluster) {
                    let pod = format!("{}-0", self.names.jobs[first as usize].name);
                    problems.push(format!("pod {pod} can never be placed: {reason}"));
                    continue;
                }
                if let Some(d) = job.exclusive
                    && self.domains[d as usize].values.is_empty()
                {
                    problems.push(format!(
                        "replicatedJob {:?} wants exclusive placement per {:?}, but no node has that label",
                        rj.name, self.domains[d as usize].key
                    ));
                }
            }
        }
        problems
    }

    pub fn job_spec(&self, job: JobId) -> &JobSpec {
        let j = &self.jobs[job.ix()];
        &self.jobsets[j.jobset.ix()].spec.spec.replicated_jobs[j.rj as usize].template
    }

    pub fn pod_spec(&self, job: JobId) -> &PodSpec {
        &self.job_spec(job).template.spec
    }

    /// All places of Jobs, the first ones in slot order, then the second ones.
    pub fn jobs_of(&self, jobset: JobSetId) -> impl Iterator<Item = JobId> + use<> {
        let js = &self.jobsets[jobset.ix()];
        let second = js.second_places.map_or(0..0, |at| at..at + js.jobs);
        (js.first_job..js.first_job + js.jobs)
            .chain(second)
            .map(JobId)
    }

    /// The places of the Jobs of one slot.
    pub fn places(&self, jobset: JobSetId, rj: u32, index: u32) -> impl Iterator<Item = JobId> {
        let js = &self.jobsets[jobset.ix()];
        let slot = js.rj_first[rj as usize] + index;
        let second = js.second_places.map(|at| at + slot - js.first_job);
        [Some(slot), second].into_iter().flatten().map(JobId)
    }
}

/// PVC-1: claims of its own, or claims of the JobSet's policies that some container mounts.
fn mounts_claims(jobset: &JobSet, rj: &ReplicatedJob) -> bool {
    if !rj.template.template.spec.claims.is_empty() {
        return true;
    }
    let Some(spec) = jobset.object.as_ref().map(|o| &o["spec"]) else {
        return false;
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let templates: Vec<Value> = list(&spec["volumeClaimPolicies"])
        .iter()
        .flat_map(|policy| list(&policy["templates"]))
        .map(|template| template["metadata"]["name"].clone())
        .collect();
    let rjs = list(&spec["replicatedJobs"]);
    let pod = rjs.iter().find(|r| r["name"] == rj.name.as_str());
    let pod = pod.map(|r| &r["template"]["spec"]["template"]["spec"]);
    let containers = |key: &str| pod.map(|p| list(&p[key])).unwrap_or_default();
    let mut all = containers("containers");
    all.extend(containers("initContainers"));
    all.iter()
        .flat_map(|c| list(&c["volumeMounts"]))
        .any(|mount| templates.contains(&mount["name"]))
}

/// A script that scales beyond is refused at run time like any workload that does not fit.
const MOST_SCALED_PODS: u32 = 100_000;

/// Job specs that a patch of a JobSet or of a Job writes.
fn jobs_in_patch<'b>(body: &'b Value, rj: &str) -> Vec<&'b Value> {
    let rjs = body["spec"]["replicatedJobs"].as_array();
    let of_rj = rjs.into_iter().flatten().filter(|r| r["name"] == rj);
    of_rj
        .map(|r| &r["template"]["spec"])
        .chain([&body["spec"]])
        .collect()
}
