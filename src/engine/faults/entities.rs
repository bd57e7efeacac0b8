//! Entities with random faults: nodes, accelerators, domains and pods, each with the key of its random numbers.

use super::cells::Cells;
use sim_api::spec::{Arrivals, FaultsOn, RandomFaults, Scenario};
use sim_base::random::{Draw, Draws, Key, Purpose};
use sim_base::{CellId, NodeId};
use sim_policy::topology::Cluster;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A fault process and its entities.
pub struct Process {
    pub spec: RandomFaults,
    pub entities: Vec<Entity>,
    /// Keys of the entities.
    keys: Vec<Key>,
    /// Random words whose first lifetime is longer than the run.
    outlives: Option<RangeInclusive<u64>>,
}

/// A set of nodes, or a pod, that fails as a unit.
#[derive(Clone)]
pub struct Entity {
    pub name: Arc<str>,
    /// Its nodes; empty for a pod.
    pub nodes: Arc<[NodeId]>,
    /// The cells of these nodes.
    pub cells: Arc<[CellId]>,
    /// Its nodes with usage-based aging, where that applies.
    pub worn: Arc<[NodeId]>,
    /// Index of the pod among all pods.
    pub pod: Option<u32>,
    /// Key of its random numbers, independent of the cause.
    pub own: Key,
    /// Key of its random numbers including the cause.
    pub key: Key,
}

/// The level of the faults, and the label by which other nodes fail together.
type Level = (FaultsOn, Option<String>);

/// The entities of all levels in a scenario, computed once per level.
pub struct Levels<'a> {
    scenario: &'a Scenario,
    cluster: &'a Cluster,
    found: Vec<(Level, Vec<Entity>)>,
}

impl<'a> Levels<'a> {
    pub fn new(scenario: &'a Scenario, cluster: &'a Cluster) -> Levels<'a> {
        Levels {
            scenario,
            cluster,
            found: Vec::new(),
        }
    }

    /// Entities of a process, with keys that do not include a cause.
    fn of(&mut self, spec: &RandomFaults) -> Vec<Entity> {
        let wanted = (&spec.on, &spec.takes_along);
        let is_it = |((on, along), _): &&(Level, Vec<Entity>)| (on, along) == wanted;
        if let Some((_, known)) = self.found.iter().find(is_it) {
            return known.clone();
        }
        let one = |(pod, (name, nodes)): (u32, (String, Arc<[NodeId]>))| Entity {
            pod: (spec.on == FaultsOn::Pod).then_some(pod),
            own: Key::of(&name),
            key: Key::default(),
            name: name.into(),
            cells: Arc::default(),
            worn: Arc::clone(&nodes),
            nodes,
        };
        let all = (0..).zip(of_level(self.scenario, self.cluster, &spec.on));
        let mut all: Vec<Entity> = all.map(one).collect();
        if let Some(key) = &spec.takes_along {
            take_along(&mut all, self.cluster, key);
        }
        let of = (spec.on.clone(), spec.takes_along.clone());
        self.found.push((of, all.clone()));
        all
    }

    /// Iterates over the distinct sets of nodes that fail together.
    pub fn sets(&self) -> impl Iterator<Item = &[NodeId]> {
        let sets = self.found.iter().map(|(_, all)| {
            let mut seen = BTreeSet::new();
            let new = move |entity: &&Entity| seen.insert(entity.nodes.as_ptr());
            all.iter().filter(new).map(|entity| &*entity.nodes)
        });
        sets.flatten()
    }
}

impl Process {
    pub fn of(spec: &RandomFaults, levels: &mut Levels<'_>) -> Process {
        let cause = Key::of(&spec.cause);
        let mut all = levels.of(spec);
        for entity in &mut all {
            entity.key = cause.and(entity.own.0);
            if spec.is_of_calendar() {
                entity.worn = Arc::default();
            }
        }
        if let Arrivals::Trace(rows) = &spec.arrivals {
            let named: BTreeSet<&str> = rows.iter().map(|row| row.entity.as_str()).collect();
            all.retain(|entity| named.contains(&*entity.name));
        }
        let stop = levels.scenario.stop.at;
        let ends = spec.until.map_or(stop, |until| until.min(stop));
        let first_life = match &spec.arrivals {
            Arrivals::Renewal(life) if spec.lemons.is_none() => Some(life),
            _ => None,
        };
        Process {
            outlives: first_life.and_then(|life| life.later_than(ends - spec.from)),
            keys: all.iter().map(|entity| entity.key).collect(),
            spec: spec.clone(),
            entities: all,
        }
    }

    /// Stores the cells of each entity.
    pub fn settle(&mut self, cells: &Cells, known: &mut BTreeMap<*const NodeId, Arc<[CellId]>>) {
        for entity in &mut self.entities {
            let within = || cells.within(&entity.nodes).into();
            let of = known.entry(entity.nodes.as_ptr()).or_insert_with(within);
            entity.cells = Arc::clone(of);
        }
    }

    /// Entities that may fail before the run ends; the failure times of all others are not needed.
    pub fn mortal<'a, 'd>(
        &'a self,
        draws: &'d Draws,
    ) -> impl Iterator<Item = &'a Entity> + use<'a, 'd> {
        let all = self.entities.iter().zip(&self.keys);
        all.filter(move |(_, key)| self.may_fail(**key, draws))
            .map(|(entity, _)| entity)
    }

    /// Returns true if the entity with that key may fail before the run ends.
    pub fn may_fail(&self, key: Key, draws: &Draws) -> bool {
        let outlives =
            |words: &RangeInclusive<u64>| words.contains(&draws.word_once(first_life(key)));
        !self.outlives.as_ref().is_some_and(outlives)
    }
}

/// Extends each entity by all nodes with the same value of the label.
fn take_along(all: &mut [Entity], cluster: &Cluster, key: &str) {
    let domains = domains(cluster, |node| cluster.label(node, key));
    for entity in all {
        let first = entity.nodes.first();
        let value = first.and_then(|node| cluster.label(*node, key));
        if let Some(nodes) = value.and_then(|value| domains.get(&value)) {
            entity.nodes = Arc::clone(nodes);
        }
    }
}

fn nodes(cluster: &Cluster) -> impl Iterator<Item = NodeId> + '_ {
    (0..cluster.names.len()).map(|node| NodeId(node as u32))
}

/// Groups the nodes by a common label, island or pool.
fn domains(
    cluster: &Cluster,
    of: impl Fn(NodeId) -> Option<String>,
) -> BTreeMap<String, Arc<[NodeId]>> {
    let mut domains: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    for node in nodes(cluster) {
        if let Some(value) = of(node) {
            domains.entry(value).or_default().push(node);
        }
    }
    let settled = domains.into_iter();
    settled
        .map(|(value, nodes)| (value, nodes.into()))
        .collect()
}

fn of_level(scenario: &Scenario, cluster: &Cluster, on: &FaultsOn) -> Vec<(String, Arc<[NodeId]>)> {
    match on {
        FaultsOn::Node => {
            let named = |node: NodeId| (cluster.names[node.ix()].clone(), Arc::from([node]));
            nodes(cluster).map(named).collect()
        }
        FaultsOn::Accelerator => {
            let each = |node: NodeId| {
                let name = &cluster.names[node.ix()];
                let all = 0..cluster.accelerators[node.ix()];
                let own: Arc<[NodeId]> = Arc::from([node]);
                all.map(move |n| (format!("{name}/{n}"), Arc::clone(&own)))
            };
            nodes(cluster).flat_map(each).collect()
        }
        FaultsOn::Island => {
            let island = |node: NodeId| Some(format!("island-{:06}", cluster.island[node.ix()].0));
            domains(cluster, island).into_iter().collect()
        }
        FaultsOn::Label(key) => {
            let of_key = domains(cluster, |node| cluster.label(node, key));
            of_key.into_iter().collect()
        }
        FaultsOn::Pod => (pods(scenario).into_iter())
            .map(|name| (name, Arc::default()))
            .collect(),
    }
}

/// Names without suffix of the pods that the JobSets create at submission.
pub fn pods(scenario: &Scenario) -> Vec<String> {
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
pub fn first_life(entity: Key) -> Draw {
    Draw {
        purpose: Purpose::FaultLife,
        entity,
        occurrence: 0,
        lane: 0,
    }
}
