//! Pod templates, each kept once however many pods are made from it, with what the scheduler and the kubelets work out
//! of it.

use serde_json::Value;
use sim_api::objects::Places;
use sim_api::spec::keys::{NAMESPACED_JOB, NO_SCHEDULE};
use sim_api::spec::*;
use sim_base::*;
use sim_policy::placement::{Asks, TemplateFacts};
use sim_policy::topology::{Cluster, Domains};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone)]
pub struct Template {
    pub pod: Arc<PodTemplate>,
    pub facts: TemplateFacts,
    /// Index into `Templates::domains` of the key of exclusive placement by webhook (EXC-2), if any.
    pub exclusive: Option<u32>,
    /// The key of exclusive placement in the pods' annotation, by whatever strategy.
    pub annotated: Option<String>,
    pub agent: AgentMode,
    pub accelerators: u32,
    /// The containers that are started in turn, each with whether its image is checked against the registry. With an
    /// agent as sidecar, only up to the agent: the worker waits for the barrier.
    pub starts: Box<[bool]>,
    /// The API server refuses every pod of it.
    pub refused: bool,
}

#[derive(Clone, Default)]
pub struct Templates {
    rows: Vec<Template>,
    /// What each Job of a slot has.
    of_slot: BTreeMap<Slot, (TemplateId, Arc<JobSpec>)>,
    /// Of which admission has accepted every Job.
    accepted: BTreeSet<Slot>,
    /// The server's words to a Job of that index; the controller asks again and again for the same attempt.
    refusals: BTreeMap<(Slot, u32), (Attempt, String)>,
    /// One per topology key of exclusive placement in use.
    pub domains: Vec<Domains>,
    /// The newest template that asks so of nodes.
    alike: BTreeMap<Asks, TemplateId>,
    /// Of the JobSet that was asked for last.
    places: Option<(Arc<Value>, Arc<Places>)>,
    /// Distinct pod priorities in the order of their appearance; exclusive placement counts per class.
    pub priorities: Vec<i32>,
    /// Worked out in an earlier run over the same nodes, to be used again.
    kept: Kept,
}

/// A JobSet, the version of its spec, a replicatedJob.
pub type Slot = (JobSetId, u32, u32);
/// What a posted Job's labels and annotations say of restarts: of its JobSet, and of its own where they are said.
pub type Attempt = (u32, Option<u32>);

/// What the API server says of the pods of a JobSet's replicatedJob: their priority, `None` if it refuses them.
#[derive(Clone)]
struct Word {
    /// Holds on to the object, so that its address stays its own.
    object: Arc<Value>,
    priority: Option<i32>,
}

/// Tells objects apart; nothing is ever in its order.
fn address(object: &Arc<Value>) -> usize {
    Arc::as_ptr(object) as usize
}

#[derive(Clone, Default)]
struct Kept {
    facts: Vec<(Arc<PodTemplate>, TemplateFacts)>,
    domains: Vec<Domains>,
    words: BTreeMap<(usize, u32), Word>,
    /// Nodes have changed since: none of it holds any longer.
    stale: bool,
}

fn starts(spec: &PodSpec, agent: &AgentMode) -> Box<[bool]> {
    let mains: &[Container] = match agent {
        AgentMode::Sidecar { .. } if agent.has_barrier() => &[],
        _ => &spec.containers,
    };
    let in_turn = spec.init_containers.iter().chain(mains);
    in_turn.map(Container::pulls_always).collect()
}

impl Templates {
    pub fn reset(&mut self) {
        // The next run asks for them in the same order, from the end of what is kept.
        let rows = std::mem::take(&mut self.rows).into_iter().rev();
        let facts = rows.map(|row| (row.pod, row.facts));
        self.kept.facts.extend(facts);
        self.kept.domains.append(&mut self.domains);
        if std::mem::take(&mut self.kept.stale) {
            self.kept = Kept::default();
        }
        // Objects that only this run had do not come again.
        let lives = |word: &Word| Arc::strong_count(&word.object) > 1;
        self.kept.words.retain(|_, word| lives(word));
        self.of_slot.clear();
        self.alike.clear();
        self.places = None;
        self.accepted.clear();
        self.refusals.clear();
        self.priorities.clear();
    }

    /// The API server's word on the pods of a replicatedJob of this very object, if it was asked.
    pub fn word(&self, object: &Arc<Value>, rj: u32) -> Option<Option<i32>> {
        let word = self.kept.words.get(&(address(object), rj))?;
        Some(word.priority)
    }

    pub fn keep_word(&mut self, object: Arc<Value>, rj: u32, priority: Option<i32>) {
        let key = (address(&object), rj);
        self.kept.words.insert(key, Word { object, priority });
    }

    /// The places of the Jobs of this very object.
    pub fn places(&mut self, object: &Arc<Value>) -> Arc<Places> {
        match &self.places {
            Some((of, places)) if Arc::ptr_eq(of, object) => places.clone(),
            _ => {
                let places = Arc::new(Places::of(object));
                self.places = Some((object.clone(), places.clone()));
                places
            }
        }
    }

    pub fn get(&self, id: TemplateId) -> &Template {
        &self.rows[id.ix()]
    }

    pub fn spec(&self, id: TemplateId) -> &PodSpec {
        &self.rows[id.ix()].pod.spec
    }

    pub fn of_slot(&self, slot: Slot) -> Option<(TemplateId, Arc<JobSpec>)> {
        self.of_slot.get(&slot).cloned()
    }

    pub fn keep_for_slot(&mut self, slot: Slot, job: (TemplateId, Arc<JobSpec>)) {
        self.of_slot.insert(slot, job);
    }

    /// What admission said of a Job when it was last asked about this very one.
    pub fn admission(
        &self,
        slot: Slot,
        index: u32,
        attempt: Attempt,
    ) -> Option<Result<(), String>> {
        if self.accepted.contains(&slot) {
            return Some(Ok(()));
        }
        let (of, refusal) = self.refusals.get(&(slot, index))?;
        (*of == attempt).then(|| Err(refusal.clone()))
    }

    pub fn keep_accepted(&mut self, slot: Slot) {
        self.accepted.insert(slot);
    }

    pub fn keep_refusal(&mut self, slot: Slot, index: u32, attempt: Attempt, words: String) {
        self.refusals.insert((slot, index), (attempt, words));
    }

    /// Nothing binds the claims that these pods mount.
    pub fn block_by_claims(&mut self, id: TemplateId) {
        self.rows[id.ix()].facts.block_by_claims();
    }

    /// Its pods carry the annotation of exclusive placement, though no webhook places them (EXC-2).
    pub fn annotate(&mut self, id: TemplateId, key: Option<&str>) {
        self.rows[id.ix()].annotated = key.map(str::to_owned);
    }

    /// The API server refuses every pod of it.
    pub fn refuse(&mut self, id: TemplateId) {
        self.rows[id.ix()].refused = true;
    }

    pub fn add(
        &mut self,
        cluster: &Cluster,
        pod: Arc<PodTemplate>,
        exclusive_key: Option<&str>,
        agent: AgentMode,
    ) -> TemplateId {
        let class = self.class(pod.spec.priority);
        let facts = self.facts(cluster, &pod, class);
        self.alike
            .insert(facts.asks(), TemplateId(self.rows.len() as u32));
        let exclusive = exclusive_key.map(|key| self.domain(cluster, key));
        self.rows.push(Template {
            accelerators: facts.accelerators(cluster),
            starts: starts(&pod.spec, &agent),
            pod,
            facts,
            exclusive,
            annotated: exclusive_key.map(str::to_owned),
            agent,
            refused: false,
        });
        TemplateId(self.rows.len() as u32 - 1)
    }

    /// A template like `like` with another pod; if the newest one is just that, it is taken.
    pub fn add_like(
        &mut self,
        cluster: &Cluster,
        like: TemplateId,
        pod: PodTemplate,
    ) -> TemplateId {
        let (exclusive, agent) = (self.get(like).exclusive, self.get(like).agent);
        let (refused, annotated) = (self.get(like).refused, self.get(like).annotated.clone());
        if let Some(newest) = self.rows.last()
            && *newest.pod == pod
            && (newest.exclusive, newest.agent) == (exclusive, agent)
            && newest.annotated == annotated
        {
            return TemplateId(self.rows.len() as u32 - 1);
        }
        let id = self.add(cluster, Arc::new(pod), None, agent);
        self.rows[id.ix()].exclusive = exclusive;
        self.rows[id.ix()].refused = refused;
        self.rows[id.ix()].annotated = annotated;
        id
    }

    fn facts(&mut self, cluster: &Cluster, pod: &PodTemplate, class: u32) -> TemplateFacts {
        let same = |(kept, facts): &(Arc<PodTemplate>, TemplateFacts)| {
            facts.priority_class == class && facts.is_plain() && **kept == *pod
        };
        let kept = &mut self.kept.facts;
        if let Some(at) = kept.iter().rposition(same).filter(|_| !self.kept.stale) {
            return kept.swap_remove(at).1;
        }
        let facts = TemplateFacts::of_pod(cluster, pod, class);
        // Many JobSets ask the same of nodes; there may be many nodes.
        match self
            .alike
            .get(&facts.asks())
            .map(|like| &self.rows[like.ix()].facts)
        {
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

    fn domain(&mut self, cluster: &Cluster, key: &str) -> u32 {
        let known = self.domains.iter().position(|d| d.key == key);
        let at = known.unwrap_or_else(|| {
            let kept = self.kept.domains.iter().position(|d| d.key == key);
            let domains = match kept.filter(|_| !self.kept.stale) {
                Some(at) => self.kept.domains.swap_remove(at),
                None => Domains::build(cluster, key),
            };
            self.domains.push(domains);
            self.domains.len() - 1
        });
        at as u32
    }

    /// Labels, taints or features of a node are others now.
    pub fn node_changed(&mut self, cluster: &Cluster, node: NodeId) {
        self.kept.stale = true;
        for template in &mut self.rows {
            template.facts.look_at(cluster, node);
        }
        for domains in &mut self.domains {
            domains.place(cluster, node);
        }
    }
}

/// EXC-2, JOB-1: the pod template of a Job whose nodes somebody has labelled and tainted for it.
pub fn on_labelled_nodes(pod: &mut PodTemplate, namespace: &str, job: &str) {
    let value = format!("{namespace}_{job}");
    let selector = &mut pod.spec.node_selector;
    selector.insert(NAMESPACED_JOB.to_owned(), value);
    pod.spec.tolerations.push(Toleration {
        key: Some(NO_SCHEDULE.to_owned()),
        exists: true,
        value: String::new(),
        effect: Some(TaintEffect::NoSchedule),
        toleration_seconds: None,
    });
}

/// AG-1: pods whose agent bypasses its barrier behave as if they had none. The recordings' player puts an agent into
/// every pod of an InPlaceRestart JobSet, whatever the manifest says.
pub fn agent_mode(jobset: &JobSet, pod: &PodSpec, gate: bool, kubelet: &Kubelet) -> AgentMode {
    let in_place = jobset.spec.strategy() == RestartStrategy::InPlaceRestart && gate;
    if !in_place || jobset.annotations.contains_key(DISABLE_IN_PLACE_RESTART) {
        return AgentMode::Absent;
    }
    match kubelet {
        Kubelet::Scripted { .. } => AgentMode::Sidecar {
            probe_period_s: Some(0),
        },
        Kubelet::Real(_) => pod.agent_mode(),
    }
}
