//! The step time of a training job from the placement of its pods.

use super::collective::Transfer;
use super::island::IslandLinks;
use super::map::{FabricLoad, FabricMap, Uplink};
use super::network::{NetworkGroup, network_time};
use sim_api::spec::{AxisSpan, Communication, StepTraffic};
use sim_base::{IslandId, NodeId};

/// The hosts of a job in one island.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobIsland {
    pub island: IslandId,
    /// In the order of the pods; never empty.
    pub nodes: Vec<NodeId>,
}

impl JobIsland {
    pub fn first_node(&self) -> NodeId {
        self.nodes[0]
    }
}

/// What determines the time of a communication.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FabricLimit {
    /// The links within the islands.
    IslandLinks,
    /// The network ports of the nodes.
    NodePorts,
    /// The links that leave the groups of a network level, by index.
    Uplinks { level: usize },
}

/// The time of one entry of the traffic.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TrafficTime {
    pub seconds: f64,
    pub limit: FabricLimit,
}

/// The time of a step: the longer of computation and hidden communication, and the exposed communication.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTime {
    pub seconds: f64,
    /// The part of `seconds` beyond the computation.
    pub exposed_s: f64,
    /// Per entry of the traffic.
    pub traffic: Vec<TrafficTime>,
    /// Uplinks that the job uses.
    pub uplinks: Vec<Uplink>,
}

impl StepTime {
    /// Returns what limits the largest exposed communication; `None` if nothing is exposed.
    pub fn limit(&self, communication: &Communication) -> Option<FabricLimit> {
        let exposed = |(traffic, time): (&StepTraffic, &TrafficTime)| {
            let share = if self.exposed_s > 0.0 { 1.0 - traffic.overlap } else { 0.0 };
            (share * time.seconds, time.limit)
        };
        let all = communication.traffic.iter().zip(&self.traffic).map(exposed);
        let largest = all.reduce(|largest, next| if next.0 > largest.0 { next } else { largest });
        largest.filter(|(seconds, _)| *seconds > 0.0).map(|(_, limit)| limit)
    }
}

/// Groups the nodes of a job by island, in the order of its pods. Nodes without accelerators take no part.
pub fn job_islands(map: &FabricMap, nodes: impl Iterator<Item = NodeId>) -> Vec<JobIsland> {
    let mut islands: Vec<JobIsland> = Vec::new();
    let mut seen = vec![false; map.node_count()];
    let mut places = vec![usize::MAX; map.island_count()];
    for node in nodes.filter(|node| map.accelerators(*node) > 0) {
        if std::mem::replace(&mut seen[node.ix()], true) {
            continue;
        }
        let island = map.island(node);
        let place = places.get_mut(island.ix());
        match place.as_ref().and_then(|place| islands.get_mut(**place)) {
            Some(known) => known.nodes.push(node),
            None => {
                place.into_iter().for_each(|place| *place = islands.len());
                islands.push(JobIsland { island, nodes: vec![node] });
            }
        }
    }
    islands
}

/// Returns the time of a step whose computation takes `compute_s`.
pub fn step_time(
    map: &FabricMap, load: &FabricLoad, islands: &[JobIsland], communication: &Communication, compute_s: f64,
) -> StepTime {
    let (mut hidden, mut exposed) = (0.0, 0.0);
    let mut uplinks = Vec::new();
    let mut all = Vec::new();
    for traffic in &communication.traffic {
        let (time, used) = traffic_time(map, load, islands, communication, traffic);
        hidden += traffic.overlap * time.seconds;
        exposed += (1.0 - traffic.overlap) * time.seconds;
        uplinks.extend(used);
        all.push(time);
    }
    uplinks.sort_unstable();
    uplinks.dedup();
    let seconds = compute_s.max(hidden) + exposed;
    StepTime { seconds, exposed_s: seconds - compute_s, traffic: all, uplinks }
}

fn traffic_time(
    map: &FabricMap, load: &FabricLoad, islands: &[JobIsland], communication: &Communication, traffic: &StepTraffic,
) -> (TrafficTime, Vec<Uplink>) {
    let span = communication.axes[traffic.axis].span;
    let transfer = Transfer { collective: traffic.collective, bytes: traffic.bytes };
    let within = match span {
        AxisSpan::Islands => 0.0,
        AxisSpan::Island | AxisSpan::All => slowest_island(map, load, islands, communication, traffic),
    };
    let within = TrafficTime { seconds: within, limit: FabricLimit::IslandLinks };
    if span == AxisSpan::Island {
        return (within, Vec::new());
    }
    let groups = network_groups(islands, communication, traffic);
    let (seconds, limit, uplinks) = network_time(map, load, &groups, transfer);
    let between = TrafficTime { seconds, limit };
    (if within.seconds > between.seconds { within } else { between }, uplinks)
}

/// Returns the time within the slowest island. Equal islands in sequence are evaluated once.
fn slowest_island(
    map: &FabricMap, load: &FabricLoad, islands: &[JobIsland], communication: &Communication, traffic: &StepTraffic,
) -> f64 {
    let (mut slowest, mut before) = (0.0f64, None);
    for island in islands {
        let nodes = island.nodes.len() as u32;
        let accelerators: u32 = island.nodes.iter().map(|node| map.accelerators(*node)).sum();
        let factor = load.island_factor(&island.nodes);
        let kind = Some((map.pool(island.island), nodes, accelerators, factor));
        if std::mem::replace(&mut before, kind) == kind {
            continue;
        }
        let Some(links) = map.links(island.island, nodes) else {
            continue;
        };
        let links = match communication.axes[traffic.axis].span {
            AxisSpan::All => whole(links, accelerators),
            _ => {
                let (stride, members) = layout(communication, traffic.axis, accelerators);
                links.group(stride, members)
            }
        };
        let transfer = Transfer { collective: traffic.collective, bytes: traffic.bytes };
        slowest = slowest.max(links.degraded(factor).seconds(transfer));
    }
    slowest
}

fn whole(links: IslandLinks, accelerators: u32) -> IslandLinks {
    match links {
        IslandLinks::Switch { .. } => links.group(1, accelerators),
        IslandLinks::Torus { .. } => links,
    }
}

/// Returns the distance between the members of a group along an axis, and their number, if `all` members of the span
/// are present. The last axis varies fastest. An axis without a size takes what the others leave.
fn layout(communication: &Communication, axis: usize, all: u32) -> (u32, u32) {
    let span = communication.axes[axis].span;
    let same = || communication.axes.iter().enumerate().filter(|(_, other)| other.span == span);
    let given: u32 = same().filter_map(|(_, other)| other.size).product();
    let size = |other: Option<u32>| other.unwrap_or((all / given.max(1)).max(1));
    let stride = same().filter(|(at, _)| *at > axis).map(|(_, other)| size(other.size)).product();
    (stride, size(communication.axes[axis].size).min(all.max(1)))
}

/// Returns the groups along an axis between islands.
fn network_groups<'i>(
    islands: &'i [JobIsland], communication: &Communication, traffic: &StepTraffic,
) -> Vec<NetworkGroup<'i>> {
    let all = islands.len() as u32;
    let (stride, members) = match communication.axes[traffic.axis].span {
        AxisSpan::All => (1, all),
        AxisSpan::Island | AxisSpan::Islands => layout(communication, traffic.axis, all),
    };
    let first = |at: &u32| (at / stride).is_multiple_of(members.max(1));
    let group = |at: u32| {
        let members = (0..members).map(|nth| at + nth * stride).take_while(|at| *at < all);
        NetworkGroup { members: members.map(|at| &islands[at as usize]).collect(), order: traffic.order }
    };
    (0..all).filter(first).map(group).collect()
}
