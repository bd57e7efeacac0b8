//! All objects of the cluster as the API server stores them: the single source of truth during a run.
//!
//! Objects have dense rows, added when objects appear. Only the engine's API server writes here (`engine/apiserver`).
//! Must never make decisions or read the clock.

pub mod change;
pub mod exit_codes;
pub mod jobs;
pub mod jobsets;
pub mod nodes;
pub mod others;
pub mod pod_list;
pub mod pods;
mod tallies;
pub mod templates;

pub use change::{ChangeKind, JobChange, JobSetChange, NodeChange, PodChange, StoreChange};
pub use exit_codes::{ContainersState, ExitedContainers, StoredContainersState, exit_codes, failed_init};
pub use jobs::{JobCondition, JobCounters, JobEntry, JobStatus};
pub use jobsets::JobSetRow;
pub use nodes::NodeStore;
pub use others::{OtherObject, OtherObjects, remove_owner};
pub use pods::{BAD_ATTEMPT, NO_ATTEMPT, PodPhase, Pods, flag};
pub use templates::{StoredTemplate, TemplateSlot, TemplateStore, add_node_selection, agent_mode};

use crate::record::{JobName, JobSetName, RecordNames};
use sim_api::spec::keys::JOBSET_NAME;
use sim_api::spec::{CompletionMode, JobSet, JobSpec, ObjectKind, PodSpec};
use sim_base::fnv::fnv1a;
use sim_base::random::StreamKey;
use sim_base::{JobId, JobSetId, NodeId, PodId, TemplateId, row_or_default};
use sim_policy::placement::TemplateFacts;
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct ObjectStore {
    pub names: RecordNames,
    pub jobsets: Vec<JobSetRow>,
    pub jobs: Vec<JobEntry>,
    pub pods: Pods,
    pub nodes: NodeStore,
    pub templates: TemplateStore,
    /// Services, claims and other objects that are stored whole.
    pub others: OtherObjects,
    /// Namespaces in which each name exists, in order of appearance, each with the number of the (namespace, name)
    /// pair.
    namespaces_by_name: BTreeMap<String, Vec<(String, u32)>>,
    name_count: u32,
    rows_by_name: Vec<Vec<JobId>>,
    /// Rows of removed pods, which become free after all watchers were notified.
    retired: Vec<PodId>,
    pub changes: Vec<StoreChange>,
}

impl ObjectStore {
    pub fn new(cluster: ClusterBuilder) -> ObjectStore {
        let mut store = ObjectStore::default();
        store.names.nodes.clone_from(&cluster.names);
        store.nodes.cluster = cluster;
        store
    }

    /// Removes everything but the nodes; buffers are kept.
    pub fn reset(&mut self) {
        self.nodes.reset();
        self.names.jobsets.clear();
        self.names.jobs.clear();
        self.names.clear_texts();
        self.names.nodes.truncate(self.nodes.len());
        self.jobsets.clear();
        self.jobs.clear();
        self.pods.reset();
        self.templates.reset();
        self.others.reset();
        self.namespaces_by_name.clear();
        self.name_count = 0;
        self.rows_by_name.clear();
        self.retired.clear();
        self.changes.clear();
    }

    /// Adds a row for a JobSet that is created later.
    pub fn add_jobset(&mut self, namespace: &str, name: &str) -> JobSetId {
        let (key, _) = self.register_name(namespace, name);
        self.jobsets.push(JobSetRow { key, ..JobSetRow::default() });
        self.names.jobsets.push(JobSetName { namespace: namespace.to_owned(), name: name.to_owned() });
        JobSetId(self.jobsets.len() as u32 - 1)
    }

    /// Returns the key of an object in the names of random numbers. The namespace has no influence unless the name
    /// exists in several namespaces.
    fn register_name(&mut self, namespace: &str, name: &str) -> (StreamKey, u32) {
        if !self.namespaces_by_name.contains_key(name) {
            self.namespaces_by_name.insert(name.to_owned(), Vec::new());
        }
        let homes = self.namespaces_by_name.get_mut(name).expect("just put in");
        let nth = homes.iter().position(|(home, _)| home == namespace);
        let nth = nth.unwrap_or_else(|| {
            homes.push((namespace.to_owned(), self.name_count));
            self.name_count += 1;
            homes.len() - 1
        });
        (StreamKey::from_text(name).part(nth as u64), homes[nth].1)
    }

    /// Returns the JobSet with this name, the first one if several namespaces have one.
    pub fn jobset_named(&self, name: &str) -> Option<JobSetId> {
        self.find_jobset(|names| names.name == name)
    }

    /// Returns the JobSet of a namespace with this name.
    pub fn jobset_in(&self, namespace: &str, name: &str) -> Option<JobSetId> {
        self.find_jobset(|names| names.name == name && names.namespace == namespace)
    }

    fn find_jobset(&self, is_wanted: impl Fn(&JobSetName) -> bool) -> Option<JobSetId> {
        let named = |(row, names): (&JobSetRow, &JobSetName)| row.exists() && is_wanted(names);
        let at = self.jobsets.iter().zip(&self.names.jobsets).position(named)?;
        Some(JobSetId(at as u32))
    }

    /// Returns the row for the Job of a JobSet's slot: the row whose Job exists (a POST will fail), otherwise one
    /// without old pods.
    pub fn row_for_slot(&mut self, jobset: JobSetId, rj: u32, index: u32) -> JobId {
        let slots = &self.jobsets[jobset.ix()].slots;
        let known = slots.get(rj as usize).and_then(|s| s.get(index as usize));
        if let Some(job) = known.filter(|j| j.is_some()) {
            let place = self.jobs[job.ix()].name_number;
            if let Some(job) = self.free_row(place, jobset) {
                return job;
            }
        }
        let names = &self.names.jobsets[jobset.ix()];
        let rj_name = &self.jobsets[jobset.ix()].spec.spec.replicated_jobs[rj as usize].name;
        let name = JobName {
            jobset,
            namespace: String::new(),
            name: format!("{}-{rj_name}-{index}", names.name),
            replicated_job: rj_name.clone(),
            job_index: index,
            standalone_pod: false,
            without_index: false,
        };
        let job = self.row_for_name(name);
        (self.jobs[job.ix()].rj, self.jobs[job.ix()].index) = (rj, index);
        *row_or_default(row_or_default(&mut self.jobsets[jobset.ix()].slots, rj as usize), index as usize) = job;
        job
    }

    /// Returns the row for a Job, or for a pod without a Job, with any name.
    pub fn row_for_name(&mut self, name: JobName) -> JobId {
        let namespace =
            if name.jobset.is_some() { self.names.namespace(name.jobset).to_owned() } else { name.namespace.clone() };
        let (key, place) = self.register_name(&namespace, &name.name);
        if let Some(job) = self.free_row(place, name.jobset) {
            return job;
        }
        let job = JobId(self.jobs.len() as u32);
        row_or_default(&mut self.rows_by_name, place as usize).push(job);
        if let Some(owner) = self.jobsets.get_mut(name.jobset.ix()) {
            owner.jobs.push(job);
        }
        self.jobs.push(JobEntry {
            key,
            object_key: key,
            name_number: place,
            jobset: name.jobset,
            template: TemplateId::NONE,
            ..JobEntry::default()
        });
        self.names.jobs.push(name);
        job
    }

    /// Returns the owner's row with a name: that of the existing Job, otherwise one without old pods.
    fn free_row(&self, place: u32, owner: JobSetId) -> Option<JobId> {
        let rows = self.rows_by_name.get(place as usize)?;
        let mut own = rows.iter().copied();
        let is_own = |j: &JobId| self.jobs[j.ix()].jobset == owner;
        let there = own.clone().find(|j| is_own(j) && self.jobs[j.ix()].exists);
        there.or_else(|| own.find(|j| is_own(j) && self.jobs[j.ix()].pods.is_empty()))
    }

    /// NAM-2, C-18: returns true if a Job object with the name of the row exists, regardless of its owner.
    pub fn name_is_taken(&self, job: JobId) -> bool {
        let rows = &self.rows_by_name[self.jobs[job.ix()].name_number as usize];
        rows.iter().any(|j| self.jobs[j.ix()].exists)
    }

    /// Iterates over Job objects with that name in any namespace, then over rows with that name that only hold pods.
    pub fn jobs_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = JobId> + 'a {
        let rows = self.names.jobs.iter().enumerate();
        let rows = rows.filter(move |(_, j)| j.name == name);
        let rows = rows.map(|(i, _)| JobId(i as u32));
        let exists = |j: &JobId| self.jobs[j.ix()].exists;
        let objects = rows.clone().filter(exists);
        objects.chain(rows.filter(move |j| self.jobs[j.ix()].has_only_pods()))
    }

    /// Iterates over the rows of a JobSet's Jobs, with or without an object, in the order of their first creation.
    pub fn jobs_of(&self, jobset: JobSetId) -> impl Iterator<Item = JobId> + '_ {
        let row = self.jobsets.get(jobset.ix());
        row.into_iter().flat_map(|js| js.jobs.iter().copied())
    }

    pub fn jobset_of(&self, pod: PodId) -> JobSetId {
        self.jobs[self.pods.job[pod.ix()].ix()].jobset
    }

    /// Returns the JobSet that owns the pod's Job if its Service selects the pod. The pods of a Job that a user created
    /// have only the labels of its template.
    pub fn labelled_jobset(&self, pod: PodId) -> JobSetId {
        let job = self.pods.job[pod.ix()];
        let row = &self.jobs[job.ix()];
        let Some(posted) = row.object.as_ref().filter(|_| row.jobset.is_some()) else { return row.jobset };
        let template = if self.names.is_standalone_pod(job) { posted } else { &posted["spec"]["template"] };
        let label = template["metadata"]["labels"][JOBSET_NAME].as_str();
        if label == Some(&*self.names.jobsets[row.jobset.ix()].name) { row.jobset } else { JobSetId::NONE }
    }

    /// Returns true if the Job that created the pod exists; a pod in its own row has no owner.
    pub fn is_owned(&self, pod: PodId) -> bool {
        let job = &self.jobs[self.pods.job[pod.ix()].ix()];
        job.exists || !job.jobset.is_some()
    }

    pub fn namespace_of(&self, job: JobId) -> &str {
        self.names.namespace_of(job)
    }

    pub fn job_spec(&self, job: JobId) -> &JobSpec {
        &self.jobs[job.ix()].spec
    }

    pub fn template(&self, pod: PodId) -> &StoredTemplate {
        self.templates.get(self.pods.template[pod.ix()])
    }

    pub fn pod_spec(&self, pod: PodId) -> &PodSpec {
        &self.template(pod).pod.spec
    }

    /// Returns the UID of a pod: a hash of its name in the form of a random UUID.
    pub fn pod_uid(&self, pod: PodId) -> String {
        let (i, job) = (pod.ix(), self.pods.job[pod.ix()]);
        let name = self.names.pod(job, self.pods.index[i], pod, self.pods.incarnation[i]);
        let half = |salt: &str| fnv1a(format!("{salt}{}/{name}", self.names.namespace_of(job)).bytes());
        let (a, b) = (half("pod/"), half("uid/"));
        let (version, variant) = (a & 0xfff | 0x4000, b >> 48 & 0x3fff | 0x8000);
        format!("{:08x}-{:04x}-{version:04x}-{variant:04x}-{:012x}", a >> 32, a >> 16 & 0xffff, b & 0xffff_ffff_ffff)
    }

    /// Returns the owner of the stored Service of the JobSet's subdomain, if the JobSet needs one.
    pub fn owner_of_service(&self, jobset: &JobSet) -> Option<JobSetId> {
        let stored = self.others.get(ObjectKind::Service, &jobset.namespace, jobset.service_name());
        stored.filter(|_| jobset.spec.network.enable_dns_hostnames).map(|service| service.jobset)
    }

    /// Returns whether a Service that the JobSet owns selects its pods.
    pub fn owns_service(&self, jobset: JobSetId) -> bool {
        let row = self.jobsets.get(jobset.ix());
        row.is_some_and(|row| self.owner_of_service(&row.spec) == Some(jobset))
    }

    /// Returns a claim of the pod that is being deleted; until it is removed, no pod that uses it is scheduled.
    pub fn deleting_claim(&self, pod: PodId) -> Option<&str> {
        let mut claims = self.pod_spec(pod).claims.iter();
        let namespace = || self.names.namespace_of(self.pods.job[pod.ix()]);
        let claim = claims.find(|name| self.others.is_deleting_claim(namespace(), name))?;
        Some(claim)
    }

    /// Returns true if a bound pod mounts the claim, whatever its phase (`pvc_protection_controller.go`, podUsesPVC).
    pub fn claim_is_used(&self, namespace: &str, name: &str) -> bool {
        let uses = |pod: PodId| {
            self.pods.exists(pod)
                && self.pods.has(pod, flag::BOUND)
                && self.pod_spec(pod).claims.iter().any(|claim| claim == name)
                && self.names.namespace_of(self.pods.job[pod.ix()]) == namespace
        };
        (0..self.pods.len() as u32).map(PodId).any(uses)
    }

    pub fn facts(&self, pod: PodId) -> &TemplateFacts {
        &self.template(pod).facts
    }

    /// Returns true if the Job's pods have completion indexes.
    pub fn is_indexed(&self, job: JobId) -> bool {
        self.job_spec(job).completion_mode == CompletionMode::Indexed
    }

    pub fn is_leader(&self, pod: PodId) -> bool {
        let job = self.pods.job[pod.ix()];
        self.pods.index[pod.ix()] == 0 && self.is_indexed(job)
    }

    /// Returns the label and the value that the pod webhook adds to the node selector of a follower: the domain of its
    /// leader.
    pub fn follower_selector(&self, pod: PodId) -> Option<(&String, &String)> {
        let key = self.template(pod).exclusive.filter(|_| !self.is_leader(pod))?;
        let domains = &self.templates.domains[key as usize];
        let domain = self.pods.domain[pod.ix()];
        Some((&domains.key, domains.values.get(domain.ix())?))
    }

    /// Returns the nodes of the domain that the pod webhook wrote into the node selector of a follower.
    pub fn follower_domain(&self, pod: PodId) -> Option<&[NodeId]> {
        let key = self.template(pod).exclusive.filter(|_| !self.is_leader(pod))?;
        Some(self.templates.domains[key as usize].nodes.get(self.pods.domain[pod.ix()].ix())?)
    }

    /// Returns the newest pod with an index, or `None`.
    pub fn pod_of(&self, job: JobId, index: u32) -> Option<PodId> {
        let (pods, index_of) = (self.jobs[job.ix()].pods.iter(), &self.pods.index);
        if index == 0 {
            // The leader is looked up often; alone in its Job, it may have had many predecessors.
            let newest = self.jobs[job.ix()].pods.iter().next_back();
            if newest.is_some_and(|p| index_of[p.ix()] == 0) {
                return newest;
            }
            return pods.take_while(|p| index_of[p.ix()] == 0).last();
        }
        let mut newest_first = pods.rev().skip_while(|p| index_of[p.ix()] > index);
        newest_first.next().filter(|p| index_of[p.ix()] == index)
    }

    /// Returns the key of the pod in the names of random numbers: that of its Job; the lane is its index.
    #[inline]
    pub fn pod_key(&self, pod: PodId) -> StreamKey {
        let job = &self.jobs[self.pods.job[pod.ix()].ix()];
        match self.pods.job_try[pod.ix()] {
            0 => job.object_key,
            nth => job.object_key.part(u64::from(nth)),
        }
    }

    /// Frees the rows of removed pods after all watchers were notified.
    pub fn free_retired(&mut self) {
        for pod in self.retired.drain(..) {
            self.pods.release(pod);
        }
    }

    pub fn retire(&mut self, pod: PodId) {
        self.pods.phase[pod.ix()] = PodPhase::Absent;
        self.pods.finalizers.remove(&pod);
        self.pods.disrupted_by.remove(&pod);
        self.pods.unschedulable.remove(&pod);
        self.retired.push(pod);
    }
}
