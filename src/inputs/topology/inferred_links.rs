//! The links of imported islands. Nodes do not state rates, so they are those of a shipped topology whose nodes have
//! the same accelerator or machine type; the shape of a TPU slice is in the labels of GKE.
//!
//! This module must never guess: without an equal label, or with fewer nodes than the shape requires, links are
//! unknown.

use super::import::ImportMember;
use super::platforms::{INSTANCE_TYPE, TPU_TOPOLOGY, shape_of};
use super::read_topology;
use crate::presets::shipped::{shipped_topology, topology_names};
use sim_api::spec::{Interconnect, IslandKind, NodePool};
use std::collections::{BTreeMap, BTreeSet};

/// Labels whose values name an accelerator or a machine type, in the order of precedence.
const MACHINE_LABELS: [&str; 4] = [
    "cloud.google.com/gke-tpu-accelerator", "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", INSTANCE_TYPE,
];

/// The links of a kind of machine in a shipped topology.
struct MachineLinks {
    label: &'static str,
    value: String,
    topology: &'static str,
    accelerator: String,
    /// Accelerators of a node, in thousandths.
    per_node: i64,
    nodes_per_island: u32,
    interconnect: Interconnect,
}

/// The links of the machines of a cluster.
pub(super) struct LinkCatalog(Vec<MachineLinks>);

impl LinkCatalog {
    /// Returns the links of the machines with these labels.
    pub(super) fn of_members(members: &[ImportMember]) -> LinkCatalog {
        let values = |label| members.iter().filter_map(move |m| Some((label, m.labels.get(label)?.as_str())));
        let mut distinct = BTreeSet::new();
        //  Not `collect`, which sorts all values; most are equal.
        distinct.extend(MACHINE_LABELS.into_iter().flat_map(values));
        LinkCatalog::of_values(&distinct)
    }

    fn of_values(values: &BTreeSet<(&'static str, &str)>) -> LinkCatalog {
        let mut all = Vec::new();
        for topology in topology_names() {
            let source =
                shipped_topology(topology).filter(|source| values.iter().any(|(_, v)| source.text.contains(v)));
            let spec = source.and_then(|source| read_topology(&source).ok());
            for pool in spec.iter().flat_map(|spec| &spec.pools) {
                let Some(interconnect) = &pool.interconnect else { continue };
                let known = MACHINE_LABELS.into_iter().filter_map(|label| Some((label, pool.labels.get(label)?)));
                all.extend(known.filter(|(label, value)| values.contains(&(*label, value.as_str()))).map(
                    |(label, value)| MachineLinks {
                        label,
                        value: value.clone(),
                        topology,
                        accelerator: pool.accelerator.clone(),
                        per_node: amount(pool),
                        nodes_per_island: pool.nodes_per_island,
                        interconnect: interconnect.clone(),
                    },
                ));
            }
        }
        LinkCatalog(all)
    }

    /// Returns the links of nodes with these labels; of several, those with the lowest effective rate.
    fn find(
        &self, labels: &BTreeMap<String, String>, accepts: impl Fn(&MachineLinks) -> bool,
    ) -> Option<&MachineLinks> {
        MACHINE_LABELS.iter().find_map(|key| {
            let value = labels.get(*key)?;
            let equal = self.0.iter().filter(|m| m.label == *key && m.value == *value && accepts(m));
            equal.min_by(|a, b| a.interconnect.rate().bytes_per_s().total_cmp(&b.interconnect.rate().bytes_per_s()))
        })
    }

    /// Returns whether each node with these labels is an NVLink domain.
    pub(super) fn is_nvlink_node(&self, labels: &BTreeMap<String, String>) -> bool {
        let is_switch = |m: &MachineLinks| m.nodes_per_island == 1 && matches!(m.interconnect, Interconnect::Switch(_));
        self.find(labels, is_switch).is_some()
    }

    /// Sets the links of the pools. Returns a line on each set of links, and on pools whose links are unknown.
    pub(super) fn apply(&self, pools: &mut [NodePool]) -> Vec<String> {
        let (mut known, mut unknown) = (BTreeMap::<_, Vec<String>>::new(), Vec::new());
        for pool in pools.iter_mut().filter(|pool| amount(pool) > 0) {
            match self.of_pool(pool) {
                Some((links, topology)) => {
                    let text = (describe(&links), topology);
                    known.entry(text).or_default().push(pool.name.clone());
                    pool.interconnect = Some(links);
                }
                None => unknown.push(pool.name.clone()),
            }
        }
        let line = |((links, topology), pools): (_, Vec<String>)| {
            format!("links: {links}, the values of {topology}, for pool {}", pools.join(", "))
        };
        let mut lines: Vec<String> = known.into_iter().map(line).collect();
        if !unknown.is_empty() {
            let pools = unknown.join(", ");
            lines.push(format!(
                "links unknown: no shipped topology has islands of the machines of pool {pools}; set `interconnect`"
            ));
        }
        lines
    }

    fn of_pool(&self, pool: &NodePool) -> Option<(Interconnect, &'static str)> {
        let is_equal = |m: &MachineLinks| m.accelerator == pool.accelerator && m.per_node == amount(pool);
        if pool.island_kind == IslandKind::NvLink {
            let switch = |m: &MachineLinks| is_equal(m) && matches!(m.interconnect, Interconnect::Switch(_));
            let found = self.find(&pool.labels, switch)?;
            return Some((found.interconnect.clone(), found.topology));
        }
        let shape = shape_of(pool.labels.get(TPU_TOPOLOGY).filter(|_| pool.island_kind == IslandKind::Ici)?)?;
        let chips = shape.iter().try_fold(1_000i64, |all, axis| all.checked_mul(i64::from(*axis)))?;
        if i64::from(pool.nodes_per_island).checked_mul(amount(pool)) != Some(chips) {
            return None;
        }
        let found = self.find(&pool.labels, is_equal)?;
        let wrap = torus_wraps(&shape);
        Some((Interconnect::Torus { shape, wrap, rate: found.interconnect.rate() }, found.topology))
    }
}

fn amount(pool: &NodePool) -> i64 {
    pool.allocatable.get(&pool.accelerator).copied().unwrap_or(0)
}

fn describe(links: &Interconnect) -> String {
    match links {
        Interconnect::Torus { shape, wrap, rate } => {
            let shape: Vec<String> = shape.iter().map(u32::to_string).collect();
            let closed = match wrap.iter().filter(|closed| **closed).count() {
                0 => "no wraparound".to_owned(),
                n if n == wrap.len() => "wraparound on all axes".to_owned(),
                n => format!("wraparound on {n} of {} axes", wrap.len()),
            };
            format!("torus {} with {closed}, {} Gbit/s per link", shape.join("x"), rate.gbits_per_s)
        }
        Interconnect::Switch(rate) => format!("switch, {} Gbit/s per accelerator", rate.gbits_per_s),
    }
}

/// Side of a cube, whose faces optical switches connect.
pub(super) const CUBE_SIDE: u32 = 4;
/// Length of an axis of a 2D pod; only a complete axis is closed.
const POD_SIDE: u32 = 16;

/// Returns which axes of a slice are closed to rings: all axes of whole cubes, and the axes of length 16 of a 2D slice
/// (jax-ml.github.io/scaling-book/tpus, docs.cloud.google.com/tpu/docs/v5p).
pub(super) fn torus_wraps(shape: &[u32]) -> Vec<bool> {
    let is_cubes = shape.iter().all(|axis| axis % CUBE_SIDE == 0);
    shape.iter().map(|axis| if shape.len() > 2 { is_cubes } else { *axis == POD_SIDE }).collect()
}
