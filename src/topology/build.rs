//! `spec::Topology` → `Cluster`: deterministic numbering of nodes in the order of the description.

use super::domain::Domains;
use crate::base::*;
use crate::spec::{IslandKind, NodePool, Taint, Topology};

/// The label by which the node lifecycle controller groups nodes into failure zones.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
pub const HOSTNAME_LABEL: &str = "kubernetes.io/hostname";
/// kubelet default `maxPods`.
const MAX_PODS_PER_NODE: i64 = 110;

#[derive(Clone, Debug, Default)]
pub struct Cluster {
    pub names: Vec<String>,
    pools: Vec<NodePool>,
    /// Per node: entry of `pools` and the running numbers inside it.
    place: Vec<Place>,
    pub island: Vec<IslandId>,
    pub island_kinds: Vec<IslandKind>,
    pub zone: Vec<ZoneId>,
    pub zone_sizes: Vec<u32>,
    /// Resources that some pod requests; the columns of `allocatable`.
    pub resources: Vec<String>,
    /// Thousandths, node-major.
    pub allocatable: Vec<i64>,
    pub accelerators: Vec<u32>,
    /// Millionths of the currency per accelerator and hour.
    pub price_micros_per_hour: Vec<u64>,
    pub currency: String,
}

#[derive(Copy, Clone, Debug, Default)]
struct Place {
    pool: u32,
    pool_number: u32,
    island_number: u32,
    node_number: u32,
}

impl Cluster {
    /// `resources`: the resource names pods request, `pods` always first.
    pub fn build(topology: &Topology, resources: &[String]) -> Cluster {
        let mut c = Cluster {
            pools: topology.pools.clone(),
            resources: resources.to_vec(),
            currency: topology.currency.clone(),
            ..Cluster::default()
        };
        let mut zone_names: Vec<String> = Vec::new();
        for (p, pool) in topology.pools.iter().enumerate() {
            let mut place = Place {
                pool: p as u32,
                ..Place::default()
            };
            for pool_number in 0..pool.count {
                place.pool_number = pool_number;
                for _ in 0..pool.islands {
                    for _ in 0..pool.nodes_per_island {
                        c.push_node(pool, place, &mut zone_names);
                        place.node_number += 1;
                    }
                    c.island_kinds.push(pool.island_kind);
                    place.island_number += 1;
                }
            }
        }
        c
    }

    fn push_node(&mut self, pool: &NodePool, place: Place, zone_names: &mut Vec<String>) {
        let name = fill(&pool.name, place);
        let many =
            u64::from(pool.islands) * u64::from(pool.nodes_per_island) * u64::from(pool.count) > 1;
        let numbered = pool.name.contains("{node");
        self.names.push(if many && !numbered {
            format!("{name}-{:05}", place.node_number)
        } else {
            name
        });
        self.place.push(place);
        self.island.push(IslandId(self.island_kinds.len() as u32));
        let zone = pool
            .labels
            .get(ZONE_LABEL)
            .map_or(String::new(), |l| fill(l, place));
        let at = zone_names
            .iter()
            .rposition(|z| *z == zone)
            .unwrap_or_else(|| {
                zone_names.push(zone);
                self.zone_sizes.push(0);
                zone_names.len() - 1
            });
        self.zone.push(ZoneId(at as u32));
        self.zone_sizes[at] += 1;
        for resource in &self.resources {
            let default = if resource == "pods" {
                MAX_PODS_PER_NODE * 1000
            } else {
                0
            };
            self.allocatable
                .push(pool.allocatable.get(resource).copied().unwrap_or(default));
        }
        let accelerators = pool
            .allocatable
            .get(&pool.accelerator)
            .map_or(0, |m| (m / 1000) as u32);
        self.accelerators.push(accelerators);
        let per = pool.price_per_node_hour * 1e6 / f64::from(accelerators.max(1));
        self.price_micros_per_hour.push(per as u64);
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The value of a node label.
    pub fn label(&self, node: NodeId, key: &str) -> Option<String> {
        let place = self.place[node.ix()];
        match self.pools[place.pool as usize].labels.get(key) {
            Some(value) => Some(fill(value, place)),
            None if key == HOSTNAME_LABEL => Some(self.names[node.ix()].clone()),
            None => None,
        }
    }

    pub fn taints(&self, node: NodeId) -> &[Taint] {
        &self.pools[self.place[node.ix()].pool as usize].taints
    }

    pub fn has_feature(&self, node: NodeId, feature: &str) -> bool {
        self.pools[self.place[node.ix()].pool as usize]
            .features
            .iter()
            .any(|f| f == feature)
    }

    /// The entry of the topology a node belongs to: equal entries have equal labels up to the running numbers.
    pub fn pool_entry(&self, node: NodeId) -> usize {
        self.place[node.ix()].pool as usize
    }

    pub fn domains(&self, key: &str) -> Domains {
        Domains::build(self, key)
    }
}

/// Puts the running numbers into `{pool}`, `{island}`, `{node}`; `{node:05}` pads with zeros.
fn fill(text: &str, place: Place) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('}') else {
            rest = &rest[open..];
            break;
        };
        let inside = &rest[open + 1..open + close];
        let (word, width) = inside.split_once(':').unwrap_or((inside, "0"));
        let number = match word {
            "pool" => Some(place.pool_number),
            "island" => Some(place.island_number),
            "node" => Some(place.node_number),
            _ => None,
        };
        match number {
            Some(n) => out.push_str(&format!(
                "{n:0width$}",
                width = width.parse().unwrap_or(0).min(9)
            )),
            None => out.push_str(&rest[open..=open + close]),
        }
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_numbers_fill_names_and_labels() {
        let place = Place {
            pool: 0,
            pool_number: 2,
            island_number: 3,
            node_number: 41,
        };
        for (text, filled) in [
            ("pool-{pool}", "pool-2"),
            ("n-{node:05}", "n-00041"),
            ("{island}/{unknown}", "3/{unknown}"),
            ("plain", "plain"),
            ("broken{", "broken{"),
        ] {
            assert_eq!(fill(text, place), filled);
        }
    }
}
