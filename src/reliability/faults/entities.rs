//! Entities with random faults: nodes, accelerators, domains and pods, each with the key of its random numbers.

use super::cells::FaultCells;
use sim_api::spec::{ArrivalProcess, FaultsOn, RandomFaults, ScenarioSpec};
use sim_base::random::{DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_base::{CellId, NodeId};
use sim_policy::topology::ClusterBuilder;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Number of entities whose random numbers are computed together.
const GROUP: usize = 16;

/// A fault process and its entities.
pub struct EntityProcess {
    pub spec: RandomFaults,
    pub entities: Vec<FaultEntity>,
    /// Keys of the entities.
    keys: Vec<StreamKey>,
    /// Random words whose first lifetime is longer than the run.
    surviving_words: Option<RangeInclusive<u64>>,
}

/// A set of nodes, or a pod, that fails as a unit.
#[derive(Clone)]
pub struct FaultEntity {
    pub name: Arc<str>,
    /// Its nodes; empty for a pod.
    pub nodes: Arc<[NodeId]>,
    /// The cells of these nodes.
    pub cells: Arc<[CellId]>,
    /// Its nodes with usage-based aging, where that applies.
    pub aging_nodes: Arc<[NodeId]>,
    /// Index of the pod among all pods.
    pub pod: Option<u32>,
    /// Key of its random numbers, independent of the cause.
    pub base_key: StreamKey,
    /// Key of its random numbers including the cause.
    pub key: StreamKey,
}

/// The level of the faults, and the label by which other nodes fail together.
type EntityLevel = (FaultsOn, Option<String>);

/// The entities of all levels in a scenario, computed once per level.
pub struct EntityLevels<'a> {
    scenario: &'a ScenarioSpec,
    cluster: &'a ClusterBuilder,
    computed: Vec<(EntityLevel, Vec<FaultEntity>)>,
}

impl<'a> EntityLevels<'a> {
    pub fn new(scenario: &'a ScenarioSpec, cluster: &'a ClusterBuilder) -> EntityLevels<'a> {
        EntityLevels { scenario, cluster, computed: Vec::new() }
    }

    /// Entities of a process, with keys that do not include a cause.
    fn entities_of_process(&mut self, spec: &RandomFaults) -> Vec<FaultEntity> {
        let wanted = (&spec.on, &spec.takes_along);
        let is_it = |((on, along), _): &&(EntityLevel, Vec<FaultEntity>)| (on, along) == wanted;
        if let Some((_, known)) = self.computed.iter().find(is_it) {
            return known.clone();
        }
        let one = |(pod, (name, nodes)): (u32, (String, Arc<[NodeId]>))| FaultEntity {
            pod: (spec.on == FaultsOn::Pod).then_some(pod),
            base_key: StreamKey::from_text(&name),
            key: StreamKey::default(),
            name: name.into(),
            cells: Arc::default(),
            aging_nodes: Arc::clone(&nodes),
            nodes,
        };
        let all = (0..).zip(entities_at_level(self.scenario, self.cluster, &spec.on));
        let mut all: Vec<FaultEntity> = all.map(one).collect();
        if let Some(key) = &spec.takes_along {
            extend_by_label(&mut all, self.cluster, key);
        }
        let of = (spec.on.clone(), spec.takes_along.clone());
        self.computed.push((of, all.clone()));
        all
    }

    /// Iterates over the distinct sets of nodes that fail together.
    pub fn node_sets(&self) -> impl Iterator<Item = &[NodeId]> {
        let sets = self.computed.iter().map(|(_, all)| {
            let mut seen = BTreeSet::new();
            let new = move |entity: &&FaultEntity| seen.insert(entity.nodes.as_ptr());
            all.iter().filter(new).map(|entity| &*entity.nodes)
        });
        sets.flatten()
    }
}

impl EntityProcess {
    pub fn new(spec: &RandomFaults, levels: &mut EntityLevels<'_>) -> EntityProcess {
        let cause = StreamKey::from_text(&spec.cause);
        let mut all = levels.entities_of_process(spec);
        for entity in &mut all {
            entity.key = cause.part(entity.base_key.0);
            if spec.is_calendar_based() {
                entity.aging_nodes = Arc::default();
            }
        }
        if let ArrivalProcess::Trace(rows) = &spec.arrivals {
            let named: BTreeSet<&str> = rows.iter().map(|row| row.entity.as_str()).collect();
            all.retain(|entity| named.contains(&*entity.name));
        }
        let stop = levels.scenario.stop.at;
        let ends = spec.until.map_or(stop, |until| until.min(stop));
        let first_life = match &spec.arrivals {
            ArrivalProcess::Renewal(life) if spec.lemons.is_none() => Some(life),
            _ => None,
        };
        EntityProcess {
            surviving_words: first_life.and_then(|life| life.words_exceeding(ends - spec.from)),
            keys: all.iter().map(|entity| entity.key).collect(),
            spec: spec.clone(),
            entities: all,
        }
    }

    /// Stores the cells of each entity.
    pub fn set_cells(&mut self, cells: &FaultCells, known: &mut BTreeMap<*const NodeId, Arc<[CellId]>>) {
        for entity in &mut self.entities {
            let within = || cells.cells_in(&entity.nodes).into();
            let of = known.entry(entity.nodes.as_ptr()).or_insert_with(within);
            entity.cells = Arc::clone(of);
        }
    }

    /// Adds the entities that may fail before the run ends; the failure times of all others are not needed.
    pub fn add_failing_entities<'a>(&'a self, draws: &DrawSequence, found: &mut Vec<&'a FaultEntity>) {
        let Some(surviving) = &self.surviving_words else {
            return found.extend(&self.entities);
        };
        for (entities, keys) in self.entities.chunks(GROUP).zip(self.keys.chunks(GROUP)) {
            let mut group = [StreamKey::default(); GROUP];
            group[..keys.len()].copy_from_slice(keys);
            let words = draws.words_once(group.map(first_lifetime_draw));
            let failing = entities.iter().zip(words).filter(|(_, word)| !surviving.contains(word));
            found.extend(failing.map(|(entity, _)| entity));
        }
    }

    /// Returns true if the entity with that key may fail before the run ends.
    pub fn may_fail(&self, key: StreamKey, draws: &DrawSequence) -> bool {
        let outlives = |words: &RangeInclusive<u64>| words.contains(&draws.word_once(first_lifetime_draw(key)));
        !self.surviving_words.as_ref().is_some_and(outlives)
    }
}

/// Extends each entity by all nodes with the same value of the label.
fn extend_by_label(all: &mut [FaultEntity], cluster: &ClusterBuilder, key: &str) {
    let domains = domains(cluster, |node| cluster.label(node, key));
    for entity in all {
        let first = entity.nodes.first();
        let value = first.and_then(|node| cluster.label(*node, key));
        if let Some(nodes) = value.and_then(|value| domains.get(&value)) {
            entity.nodes = Arc::clone(nodes);
        }
    }
}

fn node_ids(cluster: &ClusterBuilder) -> impl Iterator<Item = NodeId> + '_ {
    (0..cluster.names.len()).map(|node| NodeId(node as u32))
}

/// Groups the nodes by a common label, island or pool.
fn domains(cluster: &ClusterBuilder, of: impl Fn(NodeId) -> Option<String>) -> BTreeMap<String, Arc<[NodeId]>> {
    let mut domains: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    for node in node_ids(cluster) {
        if let Some(value) = of(node) {
            domains.entry(value).or_default().push(node);
        }
    }
    let settled = domains.into_iter();
    settled.map(|(value, nodes)| (value, nodes.into())).collect()
}

fn entities_at_level(scenario: &ScenarioSpec, cluster: &ClusterBuilder, on: &FaultsOn) -> Vec<(String, Arc<[NodeId]>)> {
    match on {
        FaultsOn::Node => {
            let named = |node: NodeId| (cluster.names[node.ix()].clone(), Arc::from([node]));
            node_ids(cluster).map(named).collect()
        }
        FaultsOn::Accelerator => {
            let each = |node: NodeId| {
                let name = &cluster.names[node.ix()];
                let all = 0..cluster.accelerators[node.ix()];
                let own: Arc<[NodeId]> = Arc::from([node]);
                all.map(move |n| (format!("{name}/{n}"), Arc::clone(&own)))
            };
            node_ids(cluster).flat_map(each).collect()
        }
        FaultsOn::Island => {
            let island = |node: NodeId| Some(format!("island-{:06}", cluster.island[node.ix()].0));
            domains(cluster, island).into_iter().collect()
        }
        FaultsOn::Label(key) => {
            let of_key = domains(cluster, |node| cluster.label(node, key));
            of_key.into_iter().collect()
        }
        FaultsOn::Pod => (pod_names(scenario).into_iter()).map(|name| (name, Arc::default())).collect(),
    }
}

/// Names without suffix of the pods that the JobSets create at submission.
pub fn pod_names(scenario: &ScenarioSpec) -> Vec<String> {
    let mut all = Vec::new();
    for submitted in &scenario.jobsets {
        let jobset = &submitted.jobset;
        for rj in &jobset.spec.replicated_jobs {
            for job in 0..rj.replicas {
                for pod in 0..rj.template.pods() {
                    all.push(format!("{}-{}-{job}-{pod}", jobset.name, rj.name));
                }
            }
        }
    }
    all
}

/// Name of the random number for the first lifetime of an entity.
pub fn first_lifetime_draw(entity: StreamKey) -> UniformDraw {
    UniformDraw { purpose: StreamPurpose::FaultLifetime, entity, occurrence: 0, substream: 0 }
}
