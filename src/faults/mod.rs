//! Random faults, drawn before a run: instants and repairs of every entity, whatever the run will do.
//!
//! Pure: scenario, seed and replication in, a script out. Two policies under one seed meet the same faults at the same
//! instants, since a number is named by cause, entity and occurrence alone.

#![deny(missing_docs)]

mod lives;
mod outages;
mod shop;
mod slow;
mod spares;

use crate::base::random::{Dist, Draw, Draws, Key, Purpose};
use crate::base::{Duration, NodeId};
use crate::spec::{
    Arrivals, FaultAction, FaultTime, FaultsOn, RandomAction, RandomFaults, Scenario,
    ScriptedFault, Silent, SilentOn, TracedFault,
};
use crate::topology::Cluster;
use lives::Lives;
use outages::{How, Outage};
use shop::Shop;
use slow::Slowness;
use std::collections::{BTreeMap, BTreeSet};

/// The scenario of one replication: its processes are faults of its script, in the order of time behind the scripted
/// ones.
pub fn drawn(scenario: &Scenario, seed: u64, replication: u64) -> Scenario {
    let mut drawn = scenario.clone();
    if scenario.fault_processes.is_empty() {
        return drawn;
    }
    let cluster = Cluster::build(&scenario.topology, &["pods".to_owned()]);
    let mut draws = Draws::new(seed, replication);
    let mut found = Found::default();
    let mut shop = scenario
        .node_repair
        .as_ref()
        .map(|repair| Shop::new(repair, scenario.stop.at));
    for process in &scenario.fault_processes {
        for entity in entities(scenario, &cluster, process) {
            if let Some(shop) = shop.as_mut().filter(|_| process.is_repaired()) {
                shop.add(process, entity, &mut draws);
                continue;
            }
            let times = times(process, &entity.name, scenario.stop.at, &mut draws);
            for (occurrence, (start, end)) in (0..).zip(times) {
                let struck = Struck {
                    process,
                    entity: &entity,
                    occurrence,
                    start,
                    end,
                };
                found.add(&struck, &cluster, &mut draws);
            }
        }
    }
    for away in shop.map(|shop| shop.play(&mut draws)).into_iter().flatten() {
        found.add(&away.struck(), &cluster, &mut draws);
    }
    let (mut faults, mut repairs_later) = found.script(&cluster, scenario.stop.at);
    if let Some(spares) = &scenario.node_spares {
        let (more, later) = spares::script(spares, &cluster, &faults, scenario.stop.at);
        faults.extend(more);
        faults.sort_by_key(instant);
        repairs_later |= later;
    }
    drawn.faults.extend(faults);
    drawn.repairs_later = repairs_later;
    drawn.fault_processes.clear();
    drawn
}

/// When a drawn fault comes.
fn instant(fault: &ScriptedFault) -> Duration {
    match fault.at {
        FaultTime::At(at) => at,
        FaultTime::AfterReady(_) => unreachable!("drawn for an instant"),
    }
}

/// A fault of an entity, and the end of its repair.
struct Struck<'a> {
    process: &'a RandomFaults,
    entity: &'a Entity,
    occurrence: u32,
    start: Duration,
    end: Option<Duration>,
}

impl Struck<'_> {
    /// How long a detector needs.
    fn detection(&self, dist: &Dist, draws: &mut Draws) -> Duration {
        let draw = Draw {
            purpose: Purpose::FaultDetection,
            entity: key_of(self.process, &self.entity.name),
            occurrence: self.occurrence,
            lane: 0,
        };
        draws.sample(draw, dist)
    }
}

/// What was drawn: faults that stand for themselves, and what of a node may overlap.
#[derive(Default)]
struct Found {
    faults: Vec<ScriptedFault>,
    /// By node, and whether it is drained only.
    outages: BTreeMap<(NodeId, bool), Vec<Outage>>,
    slow: BTreeMap<NodeId, Vec<Slowness>>,
}

impl Found {
    fn add(&mut self, struck: &Struck, cluster: &Cluster, draws: &mut Draws) {
        let how = match &struck.process.does {
            RandomAction::Crash => How::Crashed,
            RandomAction::Partition => How::OutOfReach,
            RandomAction::Drain => return self.drain(struck),
            RandomAction::Reclaim => return self.reclaim(struck),
            RandomAction::Exit(exit_code) => {
                let action = FaultAction::ContainerExit {
                    pod: struck.entity.name.clone(),
                    exit_code: *exit_code,
                };
                return self.at(struck, action);
            }
            RandomAction::Hang {
                detected_after,
                exit_code,
            } => {
                let detected = detected_after.as_ref();
                let what = Silent::Hang {
                    detected_after: detected.map(|dist| struck.detection(dist, draws)),
                    exit_code: *exit_code,
                };
                return self.silent(struck, what, cluster);
            }
            RandomAction::Corrupt { found_after } => {
                let found_after = struck.detection(found_after, draws);
                return self.silent(struck, Silent::Corrupt { found_after }, cluster);
            }
            RandomAction::Slow(factor) => {
                let slowness = Slowness {
                    start: struck.start,
                    end: struck.end,
                    factor: *factor,
                    cause: struck.process.cause.as_str().into(),
                };
                for node in &struck.entity.nodes {
                    self.slow.entry(*node).or_default().push(slowness.clone());
                }
                return;
            }
        };
        let process = struck.process;
        let after = |after| struck.start + after;
        let (as_new, deleted) = (process.as_new, process.deleted_after.map(after));
        self.lose(struck, (how, struck.start, struck.end), (as_new, deleted));
    }

    /// Every node of the entity is away.
    fn lose(
        &mut self,
        struck: &Struck,
        (how, start, end): (How, Duration, Option<Duration>),
        (as_new, deleted): (bool, Option<Duration>),
    ) {
        for node in &struck.entity.nodes {
            let outage = Outage {
                start,
                end,
                cause: struck.process.cause.as_str().into(),
                how,
                as_new,
                deleted,
            };
            let of_node = self.outages.entry((*node, how <= How::Drained));
            of_node.or_default().push(outage);
        }
    }

    /// Maintenance: announced, then drained, then back.
    fn drain(&mut self, struck: &Struck) {
        let drained = struck.start + struck.process.notice;
        if drained > struck.start {
            self.lose(
                struck,
                (How::Announced, struck.start, struck.end),
                (false, None),
            );
        }
        self.lose(struck, (How::Drained, drained, struck.end), (false, None));
    }

    /// The provider takes the machine back: drained at the notice, gone when it is over.
    fn reclaim(&mut self, struck: &Struck) {
        let gone = struck.start + struck.process.notice;
        if gone > struck.start {
            self.lose(
                struck,
                (How::Drained, struck.start, Some(gone)),
                (false, None),
            );
        }
        self.lose(struck, (How::Crashed, gone, struck.end), (true, Some(gone)));
    }

    fn at(&mut self, struck: &Struck, action: FaultAction) {
        self.faults.push(ScriptedFault {
            at: FaultTime::At(struck.start),
            action,
            drawn_as: Some(struck.process.cause.as_str().into()),
        });
    }

    /// In the processes of the pod, or on each node.
    fn silent(&mut self, struck: &Struck, what: Silent, cluster: &Cluster) {
        let mut on: Vec<SilentOn> = Vec::new();
        match struck.process.on {
            FaultsOn::Pod => on.push(SilentOn::Pod(struck.entity.name.clone())),
            _ => {
                let name = |node: &NodeId| outages::reference(&cluster.names[node.ix()]);
                let nodes = struck.entity.nodes.iter();
                on.extend(nodes.map(|node| SilentOn::Node(name(node))));
            }
        }
        for on in on {
            self.at(struck, FaultAction::Silent { on, what });
        }
    }

    /// All of it in the order of time, and whether some repair ends after `stop`.
    fn script(self, cluster: &Cluster, stop: Duration) -> (Vec<ScriptedFault>, bool) {
        let mut faults = self.faults;
        let late = |o: &Outage| o.end.is_some_and(|end| end > stop);
        let repairs_later = self.outages.values().flatten().any(late);
        for ((node, _), of_node) in self.outages {
            let name = &cluster.names[node.ix()];
            faults.extend(outages::script(name, of_node, stop));
        }
        for (node, of_node) in self.slow {
            faults.extend(slow::script(&cluster.names[node.ix()], &of_node, stop));
        }
        // Stable: at one instant, in the order of processes, entities and nodes.
        faults.sort_by_key(instant);
        (faults, repairs_later)
    }
}

/// What fails at once.
#[derive(Clone)]
struct Entity {
    name: String,
    /// Without pods.
    nodes: Vec<NodeId>,
}

fn entities(scenario: &Scenario, cluster: &Cluster, process: &RandomFaults) -> Vec<Entity> {
    let mut all = of_level(scenario, cluster, &process.on);
    if let Arrivals::Trace(rows) = &process.arrivals {
        let named: BTreeSet<&str> = rows.iter().map(|row| row.entity.as_str()).collect();
        all.retain(|entity| named.contains(entity.name.as_str()));
    }
    if let Some(key) = &process.takes_along {
        let domains = domains(cluster, |node| cluster.label(node, key));
        for entity in &mut all {
            let value = entity
                .nodes
                .first()
                .and_then(|node| cluster.label(*node, key));
            if let Some(nodes) = value.and_then(|value| domains.get(&value)) {
                entity.nodes.clone_from(nodes);
            }
        }
    }
    all
}

fn nodes(cluster: &Cluster) -> impl Iterator<Item = NodeId> + '_ {
    (0..cluster.names.len()).map(|node| NodeId(node as u32))
}

/// The nodes by what they have in common.
fn domains(
    cluster: &Cluster,
    of: impl Fn(NodeId) -> Option<String>,
) -> BTreeMap<String, Vec<NodeId>> {
    let mut domains: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    for node in nodes(cluster) {
        if let Some(value) = of(node) {
            domains.entry(value).or_default().push(node);
        }
    }
    domains
}

fn of_level(scenario: &Scenario, cluster: &Cluster, on: &FaultsOn) -> Vec<Entity> {
    let one = |(name, nodes)| Entity { name, nodes };
    match on {
        FaultsOn::Node => {
            let named = |node: NodeId| (cluster.names[node.ix()].clone(), vec![node]);
            nodes(cluster).map(named).map(one).collect()
        }
        FaultsOn::Accelerator => {
            let each = |node: NodeId| {
                let name = &cluster.names[node.ix()];
                let all = 0..cluster.accelerators[node.ix()];
                all.map(move |n| (format!("{name}/{n}"), vec![node]))
            };
            nodes(cluster).flat_map(each).map(one).collect()
        }
        FaultsOn::Island => {
            let island = |node: NodeId| Some(format!("island-{:06}", cluster.island[node.ix()].0));
            domains(cluster, island).into_iter().map(one).collect()
        }
        FaultsOn::Label(key) => {
            let of_key = domains(cluster, |node| cluster.label(node, key));
            of_key.into_iter().map(one).collect()
        }
        FaultsOn::Pod => pods(scenario),
    }
}

/// Names without suffix of the pods that JobSets want when they are submitted.
fn pods(scenario: &Scenario) -> Vec<Entity> {
    let mut all = Vec::new();
    for submitted in &scenario.jobsets {
        let jobset = &submitted.jobset;
        for rj in &jobset.spec.replicated_jobs {
            for job in 0..rj.replicas {
                for pod in 0..rj.template.pods() {
                    all.push(Entity {
                        name: format!("{}-{}-{job}-{pod}", jobset.name, rj.name),
                        nodes: Vec::new(),
                    });
                }
            }
        }
    }
    all
}

/// Whose random numbers they are.
fn key_of(process: &RandomFaults, entity: &str) -> Key {
    Key::of(&process.cause).and(Key::of(entity).0)
}

/// Fault and end of the repair, one after another until `stop`; no end: it never comes back.
fn times(
    process: &RandomFaults,
    entity: &str,
    stop: Duration,
    draws: &mut Draws,
) -> Vec<(Duration, Option<Duration>)> {
    let life = match &process.arrivals {
        Arrivals::Renewal(life) => life,
        Arrivals::Trace(rows) => return traced(process, rows, entity, stop, draws),
    };
    let stop = process.until.map_or(stop, |until| until.min(stop));
    let mut lives = Lives::new(process, entity, draws);
    let mut all = Vec::new();
    let mut now = process.from;
    loop {
        now = Duration(now.0.saturating_add(lives.next(life, draws)));
        if now > stop {
            break;
        }
        let returns = lives.chance(Purpose::FaultReturn, process.comes_back, draws);
        let Some(back) = process.back.as_ref().filter(|_| returns) else {
            all.push((now, None));
            // A pod is made anew by its Job, and a machine that hung or erred runs on; a node that is lost is not.
            match process.does {
                RandomAction::Exit(_)
                | RandomAction::Hang { .. }
                | RandomAction::Corrupt { .. } => {
                    continue;
                }
                _ => break,
            }
        };
        let healed = process.lemons.map_or(0.0, |lemons| lemons.healed);
        if lives.chance(Purpose::FaultLemon, healed, draws) {
            lives.heal();
        }
        let repair = draws.sample(lives.named(Purpose::FaultRepair), back).0;
        let end = Duration(
            now.0
                .saturating_add(process.notice.0)
                .saturating_add(repair),
        );
        all.push((now, Some(end)));
        now = end;
    }
    all
}

/// The same of a trace.
fn traced(
    process: &RandomFaults,
    rows: &[TracedFault],
    entity: &str,
    stop: Duration,
    draws: &mut Draws,
) -> Vec<(Duration, Option<Duration>)> {
    let mine = rows
        .iter()
        .filter(|row| row.entity == entity && row.at <= stop);
    let one = |(occurrence, row): (u32, &TracedFault)| {
        let draw = Draw {
            purpose: Purpose::FaultRepair,
            entity: key_of(process, entity),
            occurrence,
            lane: 0,
        };
        let back = process.back.as_ref().map(|back| draws.sample(draw, back));
        let lasts = row.lasts.or(back);
        (
            row.at,
            lasts.map(|lasts| Duration(row.at.0.saturating_add(lasts.0))),
        )
    };
    (0..).zip(mine).map(one).collect()
}
