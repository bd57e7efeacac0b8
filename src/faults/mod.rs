//! Random faults, drawn before a run: instants and repairs of every entity, whatever the run will do.
//!
//! Pure: scenario, seed and replication in, a script out. Two policies under one seed meet the same faults at the same
//! instants, since a number is named by cause, entity and occurrence alone.

#![deny(missing_docs)]

mod outages;

use crate::base::random::{Draw, Draws, Key, Purpose};
use crate::base::{Duration, NodeId};
use crate::spec::{
    FaultAction, FaultTime, FaultsOn, RandomAction, RandomFaults, Scenario, ScriptedFault,
};
use crate::topology::Cluster;
use outages::{How, Outage};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The scenario of one replication: its processes are faults of its script, in the order of time behind the scripted
/// ones.
pub fn drawn(scenario: &Scenario, seed: u64, replication: u64) -> Scenario {
    let mut drawn = scenario.clone();
    if scenario.fault_processes.is_empty() {
        return drawn;
    }
    let cluster = Cluster::build(&scenario.topology, &["pods".to_owned()]);
    let mut draws = Draws::new(seed, replication);
    let mut faults = Vec::new();
    let mut outages: BTreeMap<(NodeId, bool), Vec<Outage>> = BTreeMap::new();
    for process in &scenario.fault_processes {
        let cause: Arc<str> = process.cause.as_str().into();
        for entity in entities(scenario, &cluster, process) {
            let times = times(process, &entity.name, scenario.stop.at, &mut draws);
            for (start, end) in times {
                match process.does {
                    RandomAction::Exit(exit_code) => faults.push(ScriptedFault {
                        at: FaultTime::At(start),
                        action: FaultAction::ContainerExit {
                            pod: entity.name.clone(),
                            exit_code,
                        },
                        drawn_as: Some(cause.clone()),
                    }),
                    does => {
                        let how = match does {
                            RandomAction::Drain => How::Drained,
                            RandomAction::Partition => How::OutOfReach,
                            _ => How::Crashed,
                        };
                        for node in &entity.nodes {
                            let outage = Outage {
                                start,
                                end,
                                cause: cause.clone(),
                                how,
                                as_new: process.as_new,
                                deleted: process.deleted_after.map(|after| start + after),
                            };
                            outages
                                .entry((*node, how == How::Drained))
                                .or_default()
                                .push(outage);
                        }
                    }
                }
            }
        }
    }
    let late = |o: &Outage| o.end.is_some_and(|end| end > scenario.stop.at);
    drawn.repairs_later = outages.values().flatten().any(late);
    for ((node, _), of_node) in outages {
        let name = &cluster.names[node.ix()];
        faults.extend(outages::script(name, of_node, scenario.stop.at));
    }
    // Stable: at one instant, in the order of processes, entities and nodes.
    faults.sort_by_key(|fault| match fault.at {
        FaultTime::At(at) => at,
        FaultTime::AfterReady(_) => unreachable!("drawn for an instant"),
    });
    drawn.faults.extend(faults);
    drawn.fault_processes.clear();
    drawn
}

/// How many entities have a process.
pub fn count(scenario: &Scenario, process: &RandomFaults) -> usize {
    let cluster = Cluster::build(&scenario.topology, &["pods".to_owned()]);
    entities(scenario, &cluster, process).len()
}

/// What fails at once.
struct Entity {
    name: String,
    /// Without pods.
    nodes: Vec<NodeId>,
}

fn entities(scenario: &Scenario, cluster: &Cluster, process: &RandomFaults) -> Vec<Entity> {
    let nodes = (0..cluster.names.len()).map(|node| NodeId(node as u32));
    match &process.on {
        FaultsOn::Node => {
            let one = |node: NodeId| Entity {
                name: cluster.names[node.ix()].clone(),
                nodes: vec![node],
            };
            nodes.map(one).collect()
        }
        FaultsOn::Label(key) => {
            let mut domains: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
            for node in nodes {
                if let Some(value) = cluster.label(node, key) {
                    domains.entry(value).or_default().push(node);
                }
            }
            let one = |(name, nodes)| Entity { name, nodes };
            domains.into_iter().map(one).collect()
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

/// Fault and end of the repair, one after another until `stop`; no end: it never comes back.
fn times(
    process: &RandomFaults,
    entity: &str,
    stop: Duration,
    draws: &mut Draws,
) -> Vec<(Duration, Option<Duration>)> {
    let key = Key::of(&process.cause).and(Key::of(entity).0);
    let mut all = Vec::new();
    let mut now = Duration::ZERO;
    for occurrence in 0.. {
        let mut sample = |purpose, dist| {
            let draw = Draw {
                purpose,
                entity: key,
                occurrence,
                lane: 0,
            };
            draws.sample(draw, dist)
        };
        // A nanosecond at least: the next fault is a later one.
        let life = sample(Purpose::FaultLife, &process.life).0.max(1);
        now = Duration(now.0.saturating_add(life));
        if now > stop {
            break;
        }
        let Some(back) = &process.back else {
            all.push((now, None));
            // A pod is made anew by its Job; a node is not.
            match process.does {
                RandomAction::Exit(_) => continue,
                _ => break,
            }
        };
        let end = Duration(now.0.saturating_add(sample(Purpose::FaultRepair, back).0));
        all.push((now, Some(end)));
        now = end;
    }
    all
}
