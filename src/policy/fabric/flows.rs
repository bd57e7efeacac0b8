//! Flows over the links of the network, and the max–min fair rates of jobs that share links.

use super::graph::{FabricGraph, FabricVertex};
use super::island::JobIsland;
use super::map::FabricMap;
use petgraph::graph::EdgeIndex;
use sim_base::NodeId;
use std::collections::BTreeMap;

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

/// What reduces the rates of links at an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FabricLoad {
    /// Factor of the rate of the links of an island, for each node with degraded ones. The smallest applies.
    pub island_links: BTreeMap<NodeId, f64>,
    /// Factor of the network rate of a node.
    pub nodes: BTreeMap<NodeId, f64>,
    /// What the other jobs send over the network, by job.
    pub demands: BTreeMap<usize, JobDemand>,
}

impl FabricLoad {
    /// Returns the factor of the rate of the links between these nodes of one island.
    pub fn island_factor(&self, nodes: &[NodeId]) -> f64 {
        if self.island_links.is_empty() {
            return 1.0;
        }
        nodes.iter().filter_map(|node| self.island_links.get(node)).copied().fold(1.0, f64::min)
    }
}

/// A link of the network in one direction: twice the index of its edge, plus one if it leads downwards.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetworkLink(u32);

impl NetworkLink {
    fn new(edge: EdgeIndex, is_up: bool) -> NetworkLink {
        NetworkLink(2 * edge.index() as u32 + u32::from(!is_up))
    }

    fn edge(self) -> EdgeIndex {
        EdgeIndex::new(self.0 as usize / 2)
    }

    /// Returns the rate of the link in bytes per second.
    pub fn bytes_per_s(self, map: &FabricMap, load: &FabricLoad) -> f64 {
        let graph = &map.network.graph;
        let rate = graph.edge_weight(self.edge()).copied().unwrap_or(0.0);
        match graph.edge_endpoints(self.edge()).map(|(lower, _)| graph[lower]) {
            Some(FabricVertex::Node(node)) => rate * load.nodes.get(&node).copied().unwrap_or(1.0),
            _ => rate,
        }
    }

    /// Describes the link as a limit.
    pub fn limit(self, map: &FabricMap) -> FabricLimit {
        let graph = &map.network.graph;
        match graph.edge_endpoints(self.edge()).map(|(lower, _)| graph[lower]) {
            Some(FabricVertex::Group((level, _))) => FabricLimit::Uplinks { level },
            _ => FabricLimit::NodePorts,
        }
    }
}

/// Bytes per link, in the order of the links.
pub type LinkBytes = Vec<(NetworkLink, f64)>;

/// Adds up the bytes of flows.
pub struct FlowLoads<'g> {
    network: &'g FabricGraph,
    /// By number of the link.
    bytes: Vec<f64>,
}

impl<'g> FlowLoads<'g> {
    pub fn new(network: &'g FabricGraph) -> FlowLoads<'g> {
        FlowLoads { network, bytes: vec![0.0; 2 * network.graph.edge_count()] }
    }

    /// Adds bytes to a link in one direction.
    pub fn add(&mut self, edge: EdgeIndex, is_up: bool, bytes: f64) {
        self.bytes[NetworkLink::new(edge, is_up).0 as usize] += bytes;
    }

    /// Adds bytes to a link in both directions.
    pub fn add_both(&mut self, edge: EdgeIndex, bytes: f64) {
        self.add(edge, true, bytes);
        self.add(edge, false, bytes);
    }

    /// Adds a flow between two nodes.
    pub fn add_flow(&mut self, from: NodeId, to: NodeId, bytes: f64) {
        let network = self.network;
        network.visit_path(from, to, |edge, is_up| self.add(edge, is_up, bytes));
    }

    /// Adds flows from all hosts of an island to those of another one, with equal bytes for each host of an island.
    pub fn add_between(&mut self, from: &JobIsland, to: &JobIsland, bytes: f64) {
        let (senders, receivers) = (from.nodes.len(), to.nodes.len());
        let flows = senders / greatest_common_divisor(senders, receivers) * receivers;
        for flow in 0..flows {
            let (sender, receiver) = (from.nodes[flow * senders / flows], to.nodes[flow * receivers / flows]);
            self.add_flow(sender, receiver, bytes / flows as f64);
        }
    }

    /// Returns the links that carry bytes.
    pub fn into_links(self) -> LinkBytes {
        let all = self.bytes.into_iter().zip(0..);
        all.filter(|(bytes, _)| *bytes > 0.0).map(|(bytes, link)| (NetworkLink(link), bytes)).collect()
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

/// What a job sends over a link in a step, if no other job shares links with it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LinkDemand {
    pub bytes: f64,
    /// Time during which it sends.
    pub seconds: f64,
}

/// What a job sends over the network in each step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobDemand {
    /// Duration of a step, if no other job shares links with it.
    pub step_s: f64,
    /// In the order of the links.
    links: Vec<(NetworkLink, LinkDemand)>,
}

impl JobDemand {
    /// Returns the demand of communications with the given bytes and durations.
    pub fn new<'l>(step_s: f64, communications: impl Iterator<Item = (&'l LinkBytes, f64)>) -> JobDemand {
        let mut all: Vec<(NetworkLink, LinkDemand)> = Vec::new();
        for (links, seconds) in communications {
            all.extend(links.iter().map(|(link, bytes)| (*link, LinkDemand { bytes: *bytes, seconds })));
        }
        all.sort_by_key(|(link, _)| *link);
        let mut links: Vec<(NetworkLink, LinkDemand)> = Vec::with_capacity(all.len());
        for (link, demand) in all {
            match links.last_mut().filter(|(last, _)| *last == link) {
                Some((_, sum)) => {
                    *sum = LinkDemand { bytes: sum.bytes + demand.bytes, seconds: sum.seconds + demand.seconds };
                }
                None => links.push((link, demand)),
            }
        }
        JobDemand { step_s, links }
    }

    pub fn on(&self, link: NetworkLink) -> Option<LinkDemand> {
        let at = self.links.binary_search_by_key(&link, |(link, _)| *link).ok()?;
        Some(self.links[at].1)
    }

    /// Returns whether both jobs use a link.
    pub fn shares_links(&self, other: &JobDemand) -> bool {
        self.links.iter().any(|(link, _)| other.on(*link).is_some())
    }

    /// Returns the levels of the network whose uplinks the job uses, and the number of these uplinks.
    pub fn uplinks(&self, map: &FabricMap) -> usize {
        let up = self.links.iter().filter(|(link, _)| link.0 % 2 == 0);
        up.filter(|(link, _)| matches!(link.limit(map), FabricLimit::Uplinks { .. })).count()
    }
}

/// Returns the time in which a job sends bytes over a link on which other jobs send at the same time. They have max–min
/// fair rates at each instant, and none needs more than its own demand. `bytes` are a part of those of `own`.
///
/// Steps of jobs are assumed to begin together, so a job with an equal step meets all bytes of the other. If the step
/// of the other job is longer, its bytes meet only a part of the steps. If it is shorter, several of its steps are met.
pub fn contended_seconds<'d>(
    link: NetworkLink, (bytes, seconds): (f64, f64), own: &JobDemand, others: impl Iterator<Item = &'d JobDemand>,
    rate: f64,
) -> f64 {
    let Some(all) = own.on(link) else {
        return seconds;
    };
    let mut rivals = Vec::new();
    for other in others {
        let Some(demand) = other.on(link).filter(|demand| demand.seconds > 0.0) else {
            continue;
        };
        let steps = (own.step_s / other.step_s).min(1.0).max(all.seconds / other.step_s);
        let met = demand.bytes * steps * (bytes / all.bytes);
        rivals.push((met, demand.bytes / demand.seconds));
    }
    if rivals.is_empty() || seconds <= 0.0 { seconds } else { shared_seconds((bytes, bytes / seconds), rivals, rate) }
}

/// Returns the time until a job has sent its bytes over a link of a capacity. Each job has its bytes, and the rate at
/// which it sends them on an empty link. At each instant all jobs that have bytes left have max–min fair rates.
pub fn shared_seconds((bytes, rate): (f64, f64), mut rivals: Vec<(f64, f64)>, capacity: f64) -> f64 {
    let (mut left, mut elapsed) = (bytes, 0.0);
    loop {
        rivals.retain(|(bytes, rate)| *bytes > 0.0 && *rate > 0.0);
        let demand: f64 = rate + rivals.iter().map(|(_, rate)| rate).sum::<f64>();
        if demand <= capacity * (1.0 + 1e-9) {
            return elapsed + left / rate;
        }
        let share = fair_share(rate, &rivals, capacity);
        let own = left / rate.min(share);
        let first = rivals.iter().map(|(bytes, rate)| bytes / rate.min(share)).fold(f64::INFINITY, f64::min);
        if own <= first {
            return elapsed + own;
        }
        elapsed += first;
        left -= first * rate.min(share);
        for (bytes, rate) in &mut rivals {
            let rest = *bytes - first * rate.min(share);
            *bytes = if rest > *bytes * 1e-12 { rest } else { 0.0 };
        }
    }
}

/// Returns the largest rate of a job on a link whose capacity is less than the sum of the demands.
fn fair_share(rate: f64, rivals: &[(f64, f64)], capacity: f64) -> f64 {
    let mut demands: Vec<f64> = rivals.iter().map(|(_, rate)| *rate).chain([rate]).collect();
    demands.sort_by(f64::total_cmp);
    let (mut rest, mut jobs) = (capacity, demands.len() as f64);
    for demand in demands {
        if demand * jobs >= rest {
            break;
        }
        rest -= demand;
        jobs -= 1.0;
    }
    rest / jobs.max(1.0)
}
