//! The algorithms with which collectives run over islands and the network: their latency, and the bytes on the links.

use super::collective::{Collective, Transfer, passes};
use super::flows::{FabricLoad, FlowLoads, LinkBytes, NetworkLink};
use super::island::{IslandLinks, JobIsland};
use super::map::FabricMap;
use super::network::NetworkGroup;
use sim_api::spec::{CollectiveAlgorithm, RankOrder, StepTraffic};

/// Factor of the latency of a ring AllReduce over several islands ("Plateau effect of ring" in NCCL's tuning.cc).
const RING_PLATEAU: f64 = 1.4;

/// One way to perform the collectives of an entry of the traffic in a step.
#[derive(Default)]
pub struct CollectivePlan {
    pub latency_s: f64,
    /// Time on the links of the slowest island.
    pub island_s: f64,
    /// Bytes on the links of the network.
    pub links: LinkBytes,
}

impl CollectivePlan {
    /// Returns the time on the slowest link of the network, and that link, if no other job uses them.
    pub fn network_s(&self, map: &FabricMap, load: &FabricLoad) -> (f64, Option<NetworkLink>) {
        let mut slowest = (0.0, None);
        for (link, bytes) in &self.links {
            let seconds = bytes / link.bytes_per_s(map, load);
            if seconds > slowest.0 {
                slowest = (seconds, Some(*link));
            }
        }
        slowest
    }

    fn seconds(&self, map: &FabricMap, load: &FabricLoad) -> f64 {
        self.latency_s + self.island_s.max(self.network_s(map, load).0)
    }
}

/// The islands of a job with the links between the accelerators that take part.
pub struct IslandSet {
    /// Equal islands in sequence are one entry.
    pub links: Vec<IslandLinks>,
    /// Accelerators in total.
    pub ranks: f64,
}

impl IslandSet {
    fn slowest(&self, seconds: impl Fn(&IslandLinks) -> f64) -> f64 {
        self.links.iter().map(seconds).fold(0.0, f64::max)
    }

    /// Returns the plan of a collective within each of the islands.
    pub fn within(&self, traffic: &StepTraffic) -> CollectivePlan {
        let (calls, call) = one_call(traffic);
        let by_ring = |links: &IslandLinks| links.transfer_s(call);
        let reduced = |links: &IslandLinks| links.reduction_s(call);
        let seconds = |links: &IslandLinks| match traffic.algorithm {
            None => by_ring(links).min(reduced(links).unwrap_or(f64::INFINITY)),
            Some(CollectiveAlgorithm::Nvls) => reduced(links).unwrap_or(by_ring(links)),
            Some(_) => by_ring(links),
        };
        let latency = |links: &IslandLinks| links.call_s() + links.steps_s(traffic.collective);
        CollectivePlan {
            latency_s: calls * self.slowest(latency),
            island_s: calls * self.slowest(seconds),
            links: LinkBytes::new(),
        }
    }
}

/// Returns the number of calls in a step, and the transfer of each.
fn one_call(traffic: &StepTraffic) -> (f64, Transfer) {
    let calls = f64::from(traffic.calls.max(1));
    (calls, Transfer { collective: traffic.collective, bytes: traffic.bytes / calls })
}

/// Returns the plan of a collective of several groups whose members are islands.
pub fn between(map: &FabricMap, groups: &[NetworkGroup<'_>], traffic: &StepTraffic) -> CollectivePlan {
    let mut loads = FlowLoads::new(&map.network);
    let transfer = Transfer { collective: traffic.collective, bytes: traffic.bytes };
    let (calls, _) = one_call(traffic);
    let mut latency = 0.0f64;
    for group in groups.iter().filter(|group| group.members.len() > 1) {
        if has_trees(traffic.collective, traffic.algorithm) {
            group.add_trees(transfer.bytes, &mut loads);
        } else {
            group.add_flows(map, transfer, &mut loads);
        }
        latency = latency.max(group.latency_s(map, transfer.collective));
    }
    CollectivePlan { latency_s: calls * latency, island_s: 0.0, links: loads.into_links() }
}

fn has_trees(collective: Collective, algorithm: Option<CollectiveAlgorithm>) -> bool {
    use CollectiveAlgorithm::{Nvls, Tree};
    collective == Collective::AllReduce && matches!(algorithm, Some(Tree | Nvls))
}

/// Returns the plan of a collective over all accelerators of several islands.
pub fn over_all(
    map: &FabricMap, load: &FabricLoad, (islands, set): (&[JobIsland], &IslandSet), traffic: &StepTraffic,
) -> CollectivePlan {
    if islands.len() < 2 {
        return set.within(traffic);
    }
    let all = AllIslands { map, group: NetworkGroup::of_accelerators(map, islands, traffic.order), set, traffic };
    use CollectiveAlgorithm::{Hierarchical, Nvls, Ring, Tree};
    let is_torus = set.links.iter().any(|links| matches!(links, IslandLinks::Torus { .. }));
    let usual = || map.levels.first().and_then(|level| level.algorithm);
    let algorithm = match traffic.collective {
        Collective::AllToAll | Collective::SendReceive => Some(Hierarchical),
        _ => traffic.algorithm.or_else(|| match traffic.order {
            RankOrder::Hierarchical => Some(Hierarchical),
            RankOrder::Ring if is_torus => Some(usual().unwrap_or(Hierarchical)),
            RankOrder::Ring => usual(),
        }),
    };
    match algorithm {
        Some(Hierarchical) => all.hierarchy(),
        Some(Tree | Nvls) if traffic.collective == Collective::AllReduce => all.trees(),
        Some(Ring | Tree | Nvls) => all.ring(),
        None if traffic.collective == Collective::AllReduce => {
            let (ring, trees) = (all.ring(), all.trees());
            if trees.seconds(map, load) < ring.seconds(map, load) { trees } else { ring }
        }
        None => all.ring(),
    }
}

/// A collective over all accelerators of several islands.
struct AllIslands<'a> {
    map: &'a FabricMap,
    group: NetworkGroup<'a>,
    set: &'a IslandSet,
    traffic: &'a StepTraffic,
}

impl AllIslands<'_> {
    fn collective(&self) -> Collective {
        self.traffic.collective
    }

    fn plan(
        &self, latency_s: f64, island_s: impl Fn(&IslandLinks, Transfer) -> f64,
        flows: impl Fn(Transfer, &mut FlowLoads<'_>),
    ) -> CollectivePlan {
        let (calls, call) = one_call(self.traffic);
        let mut loads = FlowLoads::new(&self.map.network);
        flows(Transfer { bytes: self.traffic.bytes, ..call }, &mut loads);
        CollectivePlan {
            latency_s: calls * (self.set.slowest(IslandLinks::call_s) + latency_s),
            island_s: calls * self.set.slowest(|links| island_s(links, call)),
            links: loads.into_links(),
        }
    }

    fn steps_s(&self) -> f64 {
        self.set.slowest(|links| links.steps_s(self.collective()))
    }

    /// A ring through all accelerators enters and leaves each island once, with R − 1 of R parts of the buffer.
    fn ring(&self) -> CollectivePlan {
        let (ranks, islands) = (self.set.ranks, self.group.members.len() as f64);
        let network = passes(self.collective()) * (islands - 1.0) * self.group.step_s(self.map);
        let factor = if self.collective() == Collective::AllReduce { RING_PLATEAU } else { 1.0 };
        self.plan(
            factor * (islands * self.steps_s() + network),
            |links, call| links.ring_s(call, ranks),
            |transfer, loads| self.group.add_ring(transfer.sent_bytes(ranks), loads),
        )
    }

    /// Two binary trees between the islands; in an island, a reduction in the switch or a chain.
    fn trees(&self) -> CollectivePlan {
        let depth = libm::floor(libm::log2(self.group.members.len() as f64));
        let within = |links: &IslandLinks, call: Transfer| {
            let chain = links.chain_s(call);
            match (links.reduction_s(call), self.traffic.algorithm) {
                (Some(reduction), Some(CollectiveAlgorithm::Nvls)) => reduction,
                (Some(reduction), None) => reduction.min(chain),
                _ => chain,
            }
        };
        self.plan(self.steps_s() + 2.0 * depth * self.group.step_s(self.map), within, |transfer, loads| {
            self.group.add_trees(transfer.bytes, loads)
        })
    }

    /// First within the islands, then the shards of the hosts between them.
    fn hierarchy(&self) -> CollectivePlan {
        self.plan(
            self.steps_s() + self.group.latency_s(self.map, self.collective()),
            |links, call| links.transfer_s(call),
            |transfer, loads| self.group.add_flows(self.map, transfer, loads),
        )
    }
}
