//! The step time of a training job from the placement of its pods.

use super::algorithms::{CollectivePlan, IslandSet, between, over_all};
use super::flows::{FabricLimit, FabricLoad, JobDemand, contended_seconds};
use super::island::{IslandLinks, JobIsland};
use super::map::FabricMap;
use super::network::NetworkGroup;
use sim_api::spec::{AxisSpan, Communication, StepTraffic};
use sim_base::NodeId;

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
    /// What the job sends over the network, if no other job shares links with it.
    pub demand: JobDemand,
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
    let traffic = &communication.traffic;
    let plans = traffic.iter().map(|traffic| plan(map, load, islands, communication, traffic));
    let plans: Vec<CollectivePlan> = plans.collect();
    let alone: Vec<(f64, FabricLimit)> = plans.iter().map(|plan| network_time(map, load, plan)).collect();
    let times = |network: &[(f64, FabricLimit)]| {
        plans.iter().zip(network).map(|(plan, network)| traffic_time(plan, *network)).collect::<Vec<TrafficTime>>()
    };
    let total = |times: &[TrafficTime]| {
        let (mut hidden, mut exposed) = (0.0, 0.0);
        for (traffic, time) in traffic.iter().zip(times) {
            hidden += traffic.overlap * time.seconds;
            exposed += (1.0 - traffic.overlap) * time.seconds;
        }
        compute_s.max(hidden) + exposed
    };
    let mut all = times(&alone);
    let communications = plans.iter().zip(&alone).map(|(plan, (seconds, _))| {
        // The links of an island may be slower than the network.
        (&plan.links, seconds.max(plan.island_s))
    });
    let demand = JobDemand::new(total(&all), communications);
    if load.demands.values().any(|other| demand.shares_links(other)) {
        let shared = plans.iter().zip(&alone).map(|(plan, alone)| contended_time(map, load, (plan, *alone), &demand));
        all = times(&shared.collect::<Vec<_>>());
    }
    let seconds = total(&all);
    StepTime { seconds, exposed_s: seconds - compute_s, traffic: all, demand }
}

/// Returns the time on the network, and what limits it, if no other job shares links.
fn network_time(map: &FabricMap, load: &FabricLoad, plan: &CollectivePlan) -> (f64, FabricLimit) {
    let (seconds, link) = plan.network_s(map, load);
    (seconds, link.map_or(FabricLimit::NodePorts, |link| link.limit(map)))
}

/// Returns the time on the network while other jobs share its links.
fn contended_time(
    map: &FabricMap, load: &FabricLoad, (plan, alone): (&CollectivePlan, (f64, FabricLimit)), demand: &JobDemand,
) -> (f64, FabricLimit) {
    let mut slowest = alone;
    let seconds = alone.0.max(plan.island_s);
    for (link, bytes) in &plan.links {
        let rate = link.bytes_per_s(map, load);
        let shared = contended_seconds(*link, (*bytes, seconds), demand, load.demands.values(), rate);
        if shared > slowest.0.max(seconds) {
            slowest = (shared, link.limit(map));
        }
    }
    slowest
}

fn traffic_time(plan: &CollectivePlan, (network_s, limit): (f64, FabricLimit)) -> TrafficTime {
    let limit = if plan.links.is_empty() || plan.island_s > network_s { FabricLimit::IslandLinks } else { limit };
    TrafficTime { seconds: plan.latency_s + plan.island_s.max(network_s), limit }
}

fn plan(
    map: &FabricMap, load: &FabricLoad, islands: &[JobIsland], communication: &Communication, traffic: &StepTraffic,
) -> CollectivePlan {
    match communication.axes[traffic.axis].span {
        AxisSpan::Islands => between(map, &network_groups(islands, communication, traffic), traffic),
        AxisSpan::Island => island_set(map, load, islands, communication, traffic).within(traffic),
        AxisSpan::All => {
            let set = island_set(map, load, islands, communication, traffic);
            over_all(map, load, (islands, &set), traffic)
        }
    }
}

/// Returns the links of the islands along an axis. Equal islands in sequence are evaluated once.
fn island_set(
    map: &FabricMap, load: &FabricLoad, islands: &[JobIsland], communication: &Communication, traffic: &StepTraffic,
) -> IslandSet {
    let mut set = IslandSet { links: Vec::new(), ranks: 0.0 };
    let mut before = None;
    for island in islands {
        let nodes = island.nodes.len() as u32;
        let accelerators: u32 = island.nodes.iter().map(|node| map.accelerators(*node)).sum();
        set.ranks += f64::from(accelerators);
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
        set.links.push(links.degraded(factor));
    }
    set
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
    let (stride, members) = layout(communication, traffic.axis, all);
    let first = |at: &u32| (at / stride).is_multiple_of(members.max(1));
    let group = |at: u32| {
        let members = (0..members).map(|nth| at + nth * stride).take_while(|at| *at < all);
        NetworkGroup::of_islands(members.map(|at| &islands[at as usize]).collect(), traffic.order)
    };
    (0..all).filter(first).map(group).collect()
}
