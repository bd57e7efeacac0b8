//! Builds a `ClusterBuilder` from a `spec::TopologySpec`; nodes are numbered in the order of the description.

use sim_api::spec::keys::{HOSTNAME, ZONE};
use sim_api::spec::{
    IslandKind, MachineBilling, NamedNode, NodeNumbers, NodeObject, NodePool, TaintSpec, TopologySpec,
};
use sim_base::{IslandId, NodeId, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Default of the kubelet's `maxPods`.
const MAX_PODS_PER_NODE: i64 = 110;

#[derive(Clone, Debug, Default)]
pub struct ClusterBuilder {
    pub names: Vec<String>,
    pools: Vec<NodePool>,
    /// Per node: entry of `pools`, and the numbers of its island and of the node.
    place: Vec<NodePlace>,
    pub island: Vec<IslandId>,
    pub island_kinds: Vec<IslandKind>,
    pub zone: Vec<ZoneId>,
    pub zone_sizes: Vec<u32>,
    zone_names: Vec<String>,
    /// Resources that pods may request; the columns of `allocatable`.
    pub resources: Vec<String>,
    /// Amounts in thousandths that a node has for the pods of the scenario, node-major. Resources that other pods
    /// occupy are not included.
    pub allocatable: Vec<i64>,
    pub accelerators: Vec<u32>,
    /// Price per accelerator and hour, in millionths of the currency.
    pub price_micros_per_hour: Vec<u64>,
    pub currency: String,
    /// True if pods tolerate the taint that is named like a device they request.
    pub extended_resource_toleration: bool,
    /// Nodes that differ from the description: created or changed during a run.
    own: BTreeMap<NodeId, NodeObject>,
    /// Resources that were occupied at the start and have become free during a run.
    released: BTreeMap<NodeId, BTreeMap<String, i64>>,
    /// Those among the nodes of `own` that lack the label with their hostname.
    without_hostname: BTreeSet<NodeId>,
    /// Nodes of the description sorted by name; filled on first use.
    by_name: OnceLock<Vec<NodeId>>,
    /// The state restored by `reset`; empty while nothing has changed.
    described: Option<Box<DescribedDomain>>,
}

/// What pods hold on a node, in thousandths.
pub type HeldOnNode = (NodeId, BTreeMap<String, i64>);

/// The columns that a change of a node may affect.
#[derive(Clone, Debug)]
struct DescribedDomain {
    nodes: usize,
    zones: usize,
    zone: Vec<ZoneId>,
    zone_sizes: Vec<u32>,
    allocatable: Vec<i64>,
    accelerators: Vec<u32>,
}

#[derive(Copy, Clone, Debug, Default)]
struct NodePlace {
    pool: u32,
    pool_number: u32,
    island_number: u32,
    node_number: u32,
}

/// Capacity and price of a node.
struct NodeCapacity {
    /// In thousandths, in the order of `ClusterBuilder::resources`.
    allocatable: Vec<i64>,
    accelerators: u32,
    price_micros_per_hour: u64,
}

impl NodePlace {
    fn numbers(self) -> NodeNumbers {
        let (pool, island) = (u64::from(self.pool_number), u64::from(self.island_number));
        NodeNumbers { pool, island, node: u64::from(self.node_number) }
    }
}

impl ClusterBuilder {
    /// Builds the arrays. `resources` are the names of requested resources, with `pods` always first.
    pub fn build(topology: &TopologySpec, resources: &[String]) -> ClusterBuilder {
        let mut c = ClusterBuilder {
            pools: topology.pools.clone(),
            resources: resources.to_vec(),
            currency: topology.currency.clone(),
            extended_resource_toleration: topology.extended_resource_toleration,
            ..ClusterBuilder::default()
        };
        let nodes = topology.nodes() as usize;
        c.names.reserve_exact(nodes);
        c.place.reserve_exact(nodes);
        c.allocatable.reserve_exact(nodes * resources.len());
        for (p, pool) in topology.pools.iter().enumerate() {
            let mut place = NodePlace { pool: p as u32, ..NodePlace::default() };
            let (common, has_island_zone) = (c.capacity(pool, None), is_island_label(pool, ZONE));
            for pool_number in 0..pool.count {
                place.pool_number = pool_number;
                for _ in 0..pool.islands {
                    for nth in 0..pool.nodes_per_island {
                        let zone = c.zone.last().copied().filter(|_| nth > 0 && has_island_zone);
                        c.push_node(pool, (place, zone), &common);
                        place.node_number += 1;
                    }
                    c.island_kinds.push(pool.island_kind);
                    place.island_number += 1;
                }
            }
        }
        c
    }

    /// Adds the next node of a pool; `zone` is its zone, if known.
    fn push_node(&mut self, pool: &NodePool, (place, zone): (NodePlace, Option<ZoneId>), common: &NodeCapacity) {
        let listed = pool.nodes.get(place.node_number as usize);
        self.names.push(place.numbers().node_name(pool));
        self.place.push(place);
        self.island.push(IslandId(self.island_kinds.len() as u32));
        let zone = zone.unwrap_or_else(|| {
            let own = listed.and_then(|node| node.labels.get(ZONE).cloned());
            let zone = own.or_else(|| place.numbers().label(pool, ZONE));
            ZoneId(self.zone_named(zone.unwrap_or_default()) as u32)
        });
        self.zone.push(zone);
        self.zone_sizes[zone.ix()] += 1;
        let differs = |node: &&NamedNode| !node.allocatable.is_empty() || !node.occupied.is_empty();
        let own = listed.filter(differs).map(|node| self.capacity(pool, Some(node)));
        let capacity = own.as_ref().unwrap_or(common);
        self.allocatable.extend_from_slice(&capacity.allocatable);
        self.accelerators.push(capacity.accelerators);
        self.price_micros_per_hour.push(capacity.price_micros_per_hour);
    }

    /// Returns the capacity of a node of the pool, which may be listed with values of its own.
    fn capacity(&self, pool: &NodePool, listed: Option<&NamedNode>) -> NodeCapacity {
        let (amounts, occupied) = (pool.allocatable_of(listed), pool.occupied_of(listed));
        let installed = self.accelerators_in(&amounts);
        NodeCapacity {
            allocatable: self.resources.iter().map(|resource| available(&amounts, &occupied, resource)).collect(),
            accelerators: installed.saturating_sub(self.accelerators_in(&occupied)),
            price_micros_per_hour: pool.price.per_accelerator(installed),
        }
    }

    /// Returns the resources of the node that pods outside of the scenario hold.
    pub fn occupied(&self, node: NodeId) -> BTreeMap<String, i64> {
        let pool = self.place.get(node.ix()).and_then(|place| self.pools.get(place.pool as usize));
        let mut held = pool.map_or(BTreeMap::new(), |pool| pool.occupied_of(self.listed(node)));
        for (resource, milli) in self.released.get(&node).into_iter().flatten() {
            if let Some(held) = held.get_mut(resource) {
                *held = held.saturating_sub(*milli).max(0);
            }
        }
        held
    }

    /// Returns what pods of Workloads hold at the start, by Workload.
    pub fn held_by_workloads(&self) -> BTreeMap<String, Vec<HeldOnNode>> {
        let mut all: BTreeMap<String, Vec<HeldOnNode>> = BTreeMap::new();
        if !self.pools.iter().flat_map(|pool| &pool.nodes).any(|node| !node.workloads.is_empty()) {
            return all;
        }
        for node in (0..self.len() as u32).map(NodeId) {
            for (workload, amounts) in self.listed(node).iter().flat_map(|listed| &listed.workloads) {
                all.entry(workload.clone()).or_default().push((node, amounts.clone()));
            }
        }
        all
    }

    /// Frees resources that pods outside of the scenario held.
    pub fn release(&mut self, node: NodeId, amounts: &BTreeMap<String, i64>) {
        let released = self.released.entry(node).or_default();
        for (resource, milli) in amounts {
            let sum = released.entry(resource.clone()).or_default();
            *sum = i64::saturating_add(*sum, *milli);
        }
        let object = self.object(node);
        self.change(node, &object);
    }

    /// Returns whether the node is billed only while its machine exists.
    pub fn is_on_demand(&self, node: NodeId) -> bool {
        let pool = self.place.get(node.ix()).and_then(|place| self.pools.get(place.pool as usize));
        pool.is_some_and(|pool| pool.billing == MachineBilling::OnDemand)
    }

    pub fn named(&self, name: &str) -> Option<NodeId> {
        let described = (self.described.as_ref()).map_or(self.names.len(), |was| was.nodes);
        let of = |node: &NodeId| self.names[node.ix()].as_str();
        let by_name = self.by_name.get_or_init(|| {
            let mut all: Vec<NodeId> = (0..described as u32).map(NodeId).collect();
            all.sort_by_key(of);
            all
        });
        let at = by_name.partition_point(|node| of(node) < name);
        let known = by_name.get(at).filter(|node| of(node) == name).copied();
        // Few nodes are created during a run.
        let created = || (described as u32..self.names.len() as u32).map(NodeId);
        known.or_else(|| created().find(|node| of(node) == name))
    }

    fn zone_named(&mut self, zone: String) -> usize {
        let known = self.zone_names.iter().rposition(|z| *z == zone);
        known.unwrap_or_else(|| {
            self.zone_names.push(zone);
            self.zone_sizes.push(0);
            self.zone_names.len() - 1
        })
    }

    /// Restores the description.
    pub fn reset(&mut self) {
        self.own.clear();
        self.released.clear();
        self.without_hostname.clear();
        let Some(described) = self.described.take() else {
            return;
        };
        let nodes = described.nodes;
        self.names.truncate(nodes);
        self.place.truncate(nodes);
        self.island.truncate(nodes);
        self.price_micros_per_hour.truncate(nodes);
        self.zone_names.truncate(described.zones);
        self.zone = described.zone;
        self.zone_sizes = described.zone_sizes;
        self.allocatable = described.allocatable;
        self.accelerators = described.accelerators;
    }

    fn remember(&mut self) {
        if self.described.is_none() {
            self.described = Some(Box::new(DescribedDomain {
                nodes: self.names.len(),
                zones: self.zone_names.len(),
                zone: self.zone.clone(),
                zone_sizes: self.zone_sizes.clone(),
                allocatable: self.allocatable.clone(),
                accelerators: self.accelerators.clone(),
            }));
        }
    }

    /// Adds a node that is not in the description, without an island or a price.
    pub fn push(&mut self, node: &NodeObject) -> NodeId {
        self.remember();
        let id = NodeId(self.names.len() as u32);
        self.names.push(node.name.clone());
        self.place.push(NodePlace { pool: u32::MAX, ..NodePlace::default() });
        self.island.push(IslandId::NONE);
        self.zone.push(ZoneId::NONE);
        self.allocatable.resize(self.allocatable.len() + self.resources.len(), 0);
        self.accelerators.push(0);
        self.price_micros_per_hour.push(0);
        self.change(id, node);
        id
    }

    /// Replaces the node's description by `object`, independent of its pool.
    pub fn change(&mut self, node: NodeId, object: &NodeObject) {
        self.remember();
        let (columns, occupied) = (self.resources.len(), self.occupied(node));
        for (c, resource) in self.resources.iter().enumerate() {
            self.allocatable[node.ix() * columns + c] = available(&object.allocatable, &occupied, resource);
        }
        let installed = self.accelerators_in(&object.allocatable);
        self.accelerators[node.ix()] = installed.saturating_sub(self.accelerators_in(&occupied));
        let old = self.zone[node.ix()];
        if old.is_some() {
            self.zone_sizes[old.ix()] -= 1;
        }
        let zone = object.labels.get(ZONE).cloned().unwrap_or_default();
        let zone = self.zone_named(zone);
        self.zone_sizes[zone] += 1;
        self.zone[node.ix()] = ZoneId(zone as u32);
        self.own.insert(node, object.clone());
        self.without_hostname.remove(&node);
        if !object.labels.contains_key(HOSTNAME) {
            self.without_hostname.insert(node);
        }
    }

    /// Returns the node as an object that can be changed.
    pub fn object(&self, node: NodeId) -> NodeObject {
        if let Some(own) = self.own.get(&node) {
            return own.clone();
        }
        let place = self.place[node.ix()];
        let pool = &self.pools[place.pool as usize];
        let filled = pool.labels.iter().map(|(k, v)| (k.clone(), place.numbers().expand(v)));
        let mut labels: BTreeMap<String, String> = filled.collect();
        let listed = self.listed(node);
        labels.extend(listed.iter().flat_map(|node| node.labels.clone()));
        labels.entry(HOSTNAME.to_owned()).or_insert_with(|| self.names[node.ix()].clone());
        NodeObject {
            name: self.names[node.ix()].clone(),
            labels,
            taints: self.taints(node).to_vec(),
            unschedulable: false,
            allocatable: pool.allocatable_of(listed),
            features: pool.features.clone(),
        }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn label(&self, node: NodeId, key: &str) -> Option<String> {
        if let Some(own) = self.own.get(&node) {
            return own.labels.get(key).cloned();
        }
        if let Some(own) = self.listed(node).and_then(|node| node.labels.get(key)) {
            return Some(own.clone());
        }
        let place = self.place[node.ix()];
        match self.pools[place.pool as usize].labels.get(key) {
            Some(value) => Some(place.numbers().expand(value)),
            None if key == HOSTNAME => Some(self.names[node.ix()].clone()),
            None => None,
        }
    }

    /// Returns whether the node has the label with its hostname, which only a created object may lack.
    pub fn has_hostname(&self, node: NodeId) -> bool {
        !self.without_hostname.contains(&node)
    }

    /// Returns whether the nodes differ in their zones, or one may lack its hostname.
    pub fn has_several_zones(&self) -> bool {
        !self.without_hostname.is_empty() || self.zone_sizes.iter().filter(|nodes| **nodes > 0).nth(1).is_some()
    }

    /// Returns the name of a zone, or `None` for nodes without the label.
    pub fn zone_name(&self, zone: ZoneId) -> Option<&str> {
        self.zone_names.get(zone.ix()).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Returns a function that is true for two nodes that certainly have the same value of a label, or none; decides
    /// without formatting numbers.
    pub fn label_comparison(&self, key: &str) -> impl Fn(NodeId, NodeId) -> bool {
        let pools: Vec<bool> = self.pools.iter().map(|pool| is_island_label(pool, key)).collect();
        move |node, other| {
            let island = self.island[node.ix()];
            let is_own = self.own.contains_key(&node) || self.own.contains_key(&other);
            let is_same_island = island.is_some() && island == self.island[other.ix()];
            is_same_island && !is_own && pools[self.place[node.ix()].pool as usize]
        }
    }

    /// The taints of the description or the created object, and those added by a user.
    pub fn taints(&self, node: NodeId) -> &[TaintSpec] {
        if let Some(own) = self.own.get(&node) {
            return &own.taints;
        }
        match self.listed(node) {
            Some(listed) if !listed.taints.is_empty() => &listed.taints,
            _ => &self.pools[self.place[node.ix()].pool as usize].taints,
        }
    }

    /// Returns the entry of a node that its pool lists by name.
    fn listed(&self, node: NodeId) -> Option<&NamedNode> {
        let place = self.place[node.ix()];
        self.pools.get(place.pool as usize)?.nodes.get(place.node_number as usize)
    }

    pub fn has_feature(&self, node: NodeId, feature: &str) -> bool {
        if let Some(own) = self.own.get(&node) {
            return own.features.iter().any(|f| f == feature);
        }
        self.pools[self.place[node.ix()].pool as usize].features.iter().any(|f| f == feature)
    }

    /// Returns true if units of a resource are accelerators in the ledger.
    pub fn is_accelerator(&self, resource: &str) -> bool {
        !resource.is_empty() && self.pools.iter().any(|p| p.accelerator == resource)
    }

    /// Number of accelerators: units of every resource that is an accelerator in some pool; also used for pods.
    fn accelerators_in(&self, allocatable: &BTreeMap<String, i64>) -> u32 {
        let accelerators = allocatable.iter().filter(|(r, _)| self.is_accelerator(r));
        let all = accelerators.fold(0i64, |sum, (_, milli)| sum.saturating_add(milli / 1000));
        all.clamp(0, i64::from(u32::MAX)) as u32
    }
}

/// Returns true if the nodes of an island of the pool certainly have the same value of a label, or none.
fn is_island_label(pool: &NodePool, key: &str) -> bool {
    let is_listed = pool.nodes.iter().any(|node| node.labels.contains_key(key));
    let is_constant = pool.labels.get(key).map_or(key != HOSTNAME, |value| !value.contains("{node"));
    is_constant && !is_listed
}

/// Returns the amount of a resource that is not occupied, in thousandths.
fn available(allocatable: &BTreeMap<String, i64>, occupied: &BTreeMap<String, i64>, resource: &str) -> i64 {
    let all = allocatable.get(resource).copied().unwrap_or(default_allocatable(resource));
    match occupied.get(resource) {
        Some(held) => all.saturating_sub(*held).max(0),
        None => all,
    }
}

fn default_allocatable(resource: &str) -> i64 {
    if resource == "pods" { MAX_PODS_PER_NODE * 1000 } else { 0 }
}
