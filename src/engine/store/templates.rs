//! Pod templates, stored once for all pods created from them, with data that the scheduler and the kubelets derive
//! from them.

use serde_json::Value;
use sim_api::admission::AdmissionRejection;
use sim_api::objects::GlobalJobIndexes;
use sim_api::spec::keys::{NAMESPACED_JOB, NO_SCHEDULE};
use sim_api::spec::{
    AgentMode, ContainerSpec, DISABLE_IN_PLACE_RESTART, JobSet, JobSpec, KubeletTiming, PodSpec, PodTemplate,
    RestartStrategy, TaintEffect, TolerationSpec,
};
use sim_base::{JobSetId, NodeId, TemplateId};
use sim_policy::placement::{ResourceRequirements, TemplateFacts};
use sim_policy::topology::{ClusterBuilder, TopologyDomains};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone)]
pub struct StoredTemplate {
    pub pod: Arc<PodTemplate>,
    pub facts: TemplateFacts,
    /// Index into `TemplateStore::domains` of the topology key of exclusive placement by webhook (EXC-2), if any.
    pub exclusive: Option<u32>,
    /// The topology key of exclusive placement in the pods' annotation, with any strategy.
    pub annotated_key: Option<String>,
    pub agent: AgentMode,
    pub accelerators: u32,
    /// The containers that start one after another, each with whether its image is checked against the registry. With
    /// an agent as sidecar, only those up to the agent, because the worker waits for the barrier.
    pub start_order: Box<[bool]>,
    /// True if the API server may reject pods of the template, so that every POST is checked.
    pub rejected: bool,
}

#[derive(Clone, Default)]
pub struct TemplateStore {
    rows: Vec<StoredTemplate>,
    by_slot: BTreeMap<TemplateSlot, (TemplateId, Arc<JobSpec>)>,
    /// Slots of which admission accepted every Job.
    accepted: BTreeSet<TemplateSlot>,
    /// The server's response for a rejected Job by index; the controller retries the same attempt.
    refusals: BTreeMap<(TemplateSlot, u32), (RestartAttempt, AdmissionRejection)>,
    /// Domains per topology key of exclusive placement in use.
    pub domains: Vec<TopologyDomains>,
    /// The newest template with these resource requirements.
    by_requirements: BTreeMap<ResourceRequirements, TemplateId>,
    /// Job index ranges of the JobSet that was looked up last.
    job_index_ranges: Option<(Arc<Value>, Arc<GlobalJobIndexes>)>,
    /// Distinct pod priorities in order of appearance; exclusive placement counts pods per priority.
    pub priorities: Vec<i32>,
    /// Templates of pods that Kueue released for a topology domain, by the gated template and the added node selector.
    released: BTreeMap<(TemplateId, BTreeMap<String, String>), TemplateId>,
    /// Results of an earlier run on the same nodes, to be reused.
    cache: TemplateCache,
}

/// A JobSet, the version of its spec, and a replicatedJob.
pub type TemplateSlot = (JobSetId, u32, u32);
/// Restart attempts in a posted Job's labels and annotations: that of its JobSet, and its own if present.
pub type RestartAttempt = (u32, Option<u32>);

/// Admission result for the pods of a JobSet's replicatedJob: their priority, or `None` if they are rejected.
#[derive(Clone)]
struct PodAdmissionResult {
    /// Keeps the object alive, so that its address stays unique.
    object: Arc<Value>,
    priority: Option<i32>,
}

/// Address used as identity; no order depends on it.
fn address(object: &Arc<Value>) -> usize {
    Arc::as_ptr(object) as usize
}

#[derive(Clone, Default)]
struct TemplateCache {
    facts: Vec<(Arc<PodTemplate>, TemplateFacts)>,
    domains: Vec<TopologyDomains>,
    admissions: BTreeMap<(usize, u32), PodAdmissionResult>,
    /// True after a node changed: the results are no longer valid.
    stale: bool,
}

fn start_order(spec: &PodSpec, agent: &AgentMode) -> Box<[bool]> {
    let mains: &[ContainerSpec] = match agent {
        AgentMode::Sidecar { .. } if agent.has_barrier() => &[],
        _ => &spec.containers,
    };
    let in_turn = spec.init_containers.iter().chain(mains);
    in_turn.map(ContainerSpec::pulls_always).collect()
}

impl TemplateStore {
    pub fn reset(&mut self) {
        // The next run requests the rows in the same order, from the end.
        let rows = std::mem::take(&mut self.rows).into_iter().rev();
        let facts = rows.map(|row| (row.pod, row.facts));
        self.cache.facts.extend(facts);
        self.cache.domains.append(&mut self.domains);
        if std::mem::take(&mut self.cache.stale) {
            self.cache = TemplateCache::default();
        }
        // Objects that only this run referenced cannot occur again.
        let lives = |word: &PodAdmissionResult| Arc::strong_count(&word.object) > 1;
        self.cache.admissions.retain(|_, word| lives(word));
        self.by_slot.clear();
        self.by_requirements.clear();
        self.released.clear();
        self.job_index_ranges = None;
        self.accepted.clear();
        self.refusals.clear();
        self.priorities.clear();
    }

    /// Returns the admission result of a replicatedJob's pods for exactly this object, if known.
    pub fn cached_admission(&self, object: &Arc<Value>, rj: u32) -> Option<Option<i32>> {
        let word = self.cache.admissions.get(&(address(object), rj))?;
        Some(word.priority)
    }

    pub fn cache_admission(&mut self, object: Arc<Value>, rj: u32, priority: Option<i32>) {
        let key = (address(&object), rj);
        self.cache.admissions.insert(key, PodAdmissionResult { object, priority });
    }

    /// Returns the job index ranges of exactly this object.
    pub fn job_index_ranges(&mut self, object: &Arc<Value>) -> Arc<GlobalJobIndexes> {
        match &self.job_index_ranges {
            Some((of, places)) if Arc::ptr_eq(of, object) => places.clone(),
            _ => {
                let places = Arc::new(GlobalJobIndexes::for_jobset(object));
                self.job_index_ranges = Some((object.clone(), places.clone()));
                places
            }
        }
    }

    pub fn get(&self, id: TemplateId) -> &StoredTemplate {
        &self.rows[id.ix()]
    }

    pub fn spec(&self, id: TemplateId) -> &PodSpec {
        &self.rows[id.ix()].pod.spec
    }

    pub fn for_slot(&self, slot: TemplateSlot) -> Option<(TemplateId, Arc<JobSpec>)> {
        self.by_slot.get(&slot).cloned()
    }

    pub fn cache_for_slot(&mut self, slot: TemplateSlot, job: (TemplateId, Arc<JobSpec>)) {
        self.by_slot.insert(slot, job);
    }

    /// Jobs that are created from now on are read again.
    pub fn forget_slots(&mut self) {
        self.by_slot.clear();
    }

    /// Returns the last admission result of exactly this Job, if known.
    pub fn admission(
        &self, slot: TemplateSlot, index: u32, attempt: RestartAttempt,
    ) -> Option<Result<(), AdmissionRejection>> {
        if self.accepted.contains(&slot) {
            return Some(Ok(()));
        }
        let (of, refusal) = self.refusals.get(&(slot, index))?;
        (*of == attempt).then(|| Err(refusal.clone()))
    }

    pub fn cache_acceptance(&mut self, slot: TemplateSlot) {
        self.accepted.insert(slot);
    }

    pub fn cache_rejection(
        &mut self, slot: TemplateSlot, index: u32, attempt: RestartAttempt, rejection: AdmissionRejection,
    ) {
        self.refusals.insert((slot, index), (attempt, rejection));
    }

    /// Marks the template: no controller binds the claims that its pods mount.
    pub fn mark_unbound_claims(&mut self, id: TemplateId) {
        self.rows[id.ix()].facts.block_by_claims();
    }

    /// Marks that its pods have the annotation of exclusive placement although no webhook places them (EXC-2).
    pub fn set_exclusive_annotation(&mut self, id: TemplateId, key: Option<&str>) {
        self.rows[id.ix()].annotated_key = key.map(str::to_owned);
    }

    /// Marks the template: the API server may reject its pods.
    pub fn mark_rejected(&mut self, id: TemplateId) {
        self.rows[id.ix()].rejected = true;
    }

    /// A PriorityClass was deleted: pods that name it are rejected from now on.
    pub fn recheck_all(&mut self) {
        self.rows.iter_mut().for_each(|row| row.rejected = true);
    }

    pub fn add(
        &mut self, cluster: &ClusterBuilder, pod: Arc<PodTemplate>, exclusive_key: Option<&str>, agent: AgentMode,
    ) -> TemplateId {
        let class = self.class(pod.spec.priority);
        let facts = self.facts(cluster, &pod, class);
        self.by_requirements.insert(facts.requirements(), TemplateId(self.rows.len() as u32));
        let exclusive = exclusive_key.map(|key| self.domain(cluster, key));
        self.rows.push(StoredTemplate {
            accelerators: facts.accelerators(cluster),
            start_order: start_order(&pod.spec, &agent),
            // `ValidatePodCreate` refuses such a pod; a template may become one when Kueue adds its gate.
            rejected: pod.spec.node_name.is_some() && pod.spec.scheduling_gates > 0,
            pod,
            facts,
            exclusive,
            annotated_key: exclusive_key.map(str::to_owned),
            agent,
        });
        TemplateId(self.rows.len() as u32 - 1)
    }

    /// Adds a template like `like` with a different pod, or returns the newest one if it is equal.
    pub fn add_like(&mut self, cluster: &ClusterBuilder, like: TemplateId, pod: PodTemplate) -> TemplateId {
        let (exclusive, agent) = (self.get(like).exclusive, self.get(like).agent);
        let (refused, annotated) = (self.get(like).rejected, self.get(like).annotated_key.clone());
        if let Some(newest) = self.rows.last()
            && *newest.pod == pod
            && (newest.exclusive, newest.agent) == (exclusive, agent)
            && newest.annotated_key == annotated
        {
            return TemplateId(self.rows.len() as u32 - 1);
        }
        let id = self.add(cluster, Arc::new(pod), None, agent);
        self.rows[id.ix()].exclusive = exclusive;
        self.rows[id.ix()].rejected |= refused;
        self.rows[id.ix()].annotated_key = annotated;
        id
    }

    /// Returns the template without one of its scheduling gates and with an additional node selector.
    pub fn released(
        &mut self, cluster: &ClusterBuilder, gated: TemplateId, selector: &BTreeMap<String, String>,
    ) -> TemplateId {
        let key = (gated, selector.clone());
        if let Some(known) = self.released.get(&key) {
            return *known;
        }
        let mut pod = (*self.get(gated).pod).clone();
        pod.spec.scheduling_gates = pod.spec.scheduling_gates.saturating_sub(1);
        pod.spec.node_selector.extend(selector.clone());
        let id = self.add_like(cluster, gated, pod);
        self.released.insert(key, id);
        id
    }

    fn facts(&mut self, cluster: &ClusterBuilder, pod: &PodTemplate, class: u32) -> TemplateFacts {
        let same = |(kept, facts): &(Arc<PodTemplate>, TemplateFacts)| {
            facts.priority_class == class && facts.is_plain() && **kept == *pod
        };
        let kept = &mut self.cache.facts;
        if let Some(at) = kept.iter().rposition(same).filter(|_| !self.cache.stale) {
            return kept.swap_remove(at).1;
        }
        let facts = TemplateFacts::of_pod(cluster, pod, class);
        // Many JobSets have equal requirements, and the cluster may have many nodes.
        match self.by_requirements.get(&facts.requirements()).map(|like| &self.rows[like.ix()].facts) {
            Some(like) if like.is_plain() => facts.allowed_like(like),
            _ => facts.look_at_all(cluster),
        }
    }

    fn class(&mut self, priority: i32) -> u32 {
        let known = self.priorities.iter().position(|p| *p == priority);
        let class = known.unwrap_or_else(|| {
            self.priorities.push(priority);
            self.priorities.len() - 1
        });
        class as u32
    }

    fn domain(&mut self, cluster: &ClusterBuilder, key: &str) -> u32 {
        let known = self.domains.iter().position(|d| d.key == key);
        let at = known.unwrap_or_else(|| {
            let kept = self.cache.domains.iter().position(|d| d.key == key);
            let domains = match kept.filter(|_| !self.cache.stale) {
                Some(at) => self.cache.domains.swap_remove(at),
                None => TopologyDomains::build(cluster, key),
            };
            self.domains.push(domains);
            self.domains.len() - 1
        });
        at as u32
    }

    /// Updates derived data after labels, taints or features of a node changed.
    pub fn node_changed(&mut self, cluster: &ClusterBuilder, node: NodeId) {
        self.cache.stale = true;
        for template in &mut self.rows {
            template.facts.look_at(cluster, node);
        }
        for domains in &mut self.domains {
            domains.move_node(cluster, node);
        }
    }
}

/// EXC-2, JOB-1: the pod template of a Job for which a user labelled and tainted nodes.
pub fn add_node_selection(pod: &mut PodTemplate, namespace: &str, job: &str) {
    let value = format!("{namespace}_{job}");
    let selector = &mut pod.spec.node_selector;
    selector.insert(NAMESPACED_JOB.to_owned(), value);
    pod.spec.tolerations.push(TolerationSpec {
        key: Some(NO_SCHEDULE.to_owned()),
        exists: true,
        value: String::new(),
        effect: Some(TaintEffect::NoSchedule),
        toleration_seconds: None,
    });
}

/// AG-1: an agent that bypasses its barrier counts as no agent. Scripted kubelets run an agent in every pod of a
/// cluster with agents (recordings/cluster, cu-preempt-in-place: also in pods of a JobSet with the strategy Recreate).
pub fn agent_mode(jobset: &JobSet, pod: &PodSpec, gate: bool, kubelet: &KubeletTiming) -> AgentMode {
    let in_place = jobset.spec.strategy() == RestartStrategy::InPlaceRestart;
    if !gate || jobset.annotations.contains_key(DISABLE_IN_PLACE_RESTART) {
        return AgentMode::Absent;
    }
    match kubelet {
        KubeletTiming::Scripted { has_agents, .. } if in_place || *has_agents => {
            AgentMode::Sidecar { probe_period_s: Some(0) }
        }
        KubeletTiming::Real(_) if in_place => pod.agent_mode(),
        _ => AgentMode::Absent,
    }
}
