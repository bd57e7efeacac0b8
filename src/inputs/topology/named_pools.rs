//! Pools of imported nodes whose names or labels do not count up: every node is listed with its name and its
//! differences from the pool.
//!
//! Nodes of equal machine type, accelerators, taints and features form a pool, also if labels or memory differ. Slices
//! of equal size are the units of its count.

use super::import::{ImportMember, MemberTaint, is_about, split};
use super::platforms::{INSTANCE_TYPE, NODE_POOL, NodeIsland, accelerator_of};
use sim_api::spec::{MachineBilling, NamedNode, NodePool, ResourceAmounts, TaintSpec};
use std::collections::{BTreeMap, BTreeSet};

/// The properties that all nodes of a pool share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PoolKey {
    instance_type: String,
    accelerator: &'static str,
    devices: i64,
    taints: Vec<MemberTaint>,
    features: Vec<String>,
    billing: MachineBilling,
    island: NodeIsland,
}

pub(super) fn key(m: &ImportMember) -> PoolKey {
    let accelerator = accelerator_of(&m.kind.allocatable);
    PoolKey {
        instance_type: m.labels.get(INSTANCE_TYPE).cloned().unwrap_or_default(),
        accelerator,
        devices: m.kind.allocatable.get(accelerator).copied().unwrap_or(0),
        taints: m.kind.taints.clone(),
        features: m.kind.features.clone(),
        billing: m.kind.billing,
        island: m.kind.island,
    }
}

/// Returns the pools of these nodes, in the order of their keys.
pub(super) fn named_pools(members: Vec<ImportMember>) -> Vec<NodePool> {
    let names: BTreeSet<String> = members.iter().map(|m| m.name.clone()).collect();
    let mut groups: BTreeMap<PoolKey, Vec<ImportMember>> = BTreeMap::new();
    for member in members {
        groups.entry(key(&member)).or_default().push(member);
    }
    let mut pools: Vec<NodePool> = Vec::new();
    for (key, mut members) in groups {
        members.sort_by_cached_key(|m| natural(&m.name));
        let mut islands: BTreeMap<_, Vec<ImportMember>> = BTreeMap::new();
        for (i, member) in members.into_iter().enumerate() {
            let value = key.island.label.map_or(String::new(), |label| member.labels[label].clone());
            let number = if key.island.label.is_none() { i } else { 0 };
            islands.entry((natural(&value), number)).or_default().push(member);
        }
        let mut sizes: BTreeMap<usize, Vec<Vec<ImportMember>>> = BTreeMap::new();
        for island in islands.into_values() {
            sizes.entry(island.len()).or_default().push(island);
        }
        //  The most frequent size of a slice comes first.
        let mut sizes: Vec<(usize, Vec<Vec<ImportMember>>)> = sizes.into_iter().collect();
        sizes.sort_by_key(|(size, islands)| std::cmp::Reverse((islands.len() * size, *size)));
        for (size, islands) in sizes {
            let mut pool = pool(&key, size, islands.into_iter().flatten().collect());
            let base = std::mem::take(&mut pool.name);
            let is_taken = |name: &str| pools.iter().any(|other| other.name == name);
            let is_used = |base: &str| names.iter().any(|n| n.strip_prefix(base).is_some_and(|n| n.starts_with('-')));
            let base = if is_used(&base) { format!("{base}-added") } else { base };
            let candidates = std::iter::once(base.clone()).chain((2..).map(|i| format!("{base}-{i}")));
            let name = candidates.map(|base| format!("{base}-{{node}}")).find(|name| !is_taken(name));
            pool.name = name.unwrap_or_default();
            if let Some(label) = key.island.label {
                //  A label that identifies a slice must differ on added slices.
                let added = pool.name.replace("{node}", "{island}");
                pool.labels.entry(label.to_owned()).or_insert(added);
            }
            pools.push(pool);
        }
    }
    pools
}

/// Returns a key that orders names by the numbers at their ends.
pub(super) fn natural(name: &str) -> (String, u64, String) {
    let (before, number, _) = split(name).unwrap_or((name, 0, 0));
    (before.to_owned(), number, name.to_owned())
}

/// Returns the pool of these nodes. Its name is only the part before the numbers.
fn pool(key: &PoolKey, size: usize, members: Vec<ImportMember>) -> NodePool {
    let mut labels = common(&members);
    if let (Some(label), true) = (key.island.label, members.len() > size) {
        labels.remove(label);
    }
    let (name, count) = (base_name(key, &members), (members.len() / size) as u32);
    let allocatable = usual_resources(&members);
    let occupied = usual_occupied(&members);
    let listed = |mut m: ImportMember| {
        m.labels.retain(|k, v| labels.get(k) != Some(v));
        NamedNode {
            taints: match m.own_taints.as_slice() {
                [] => Vec::new(),
                own => m.kind.taints.iter().chain(own).map(spec).collect(),
            },
            allocatable: differences(&m, &allocatable),
            occupied: other_occupied(&m.occupied, &occupied),
            workloads: m.workloads,
            jobsets: m.jobsets,
            name: m.name,
            labels: m.labels,
        }
    };
    NodePool {
        name,
        count,
        islands: 1,
        nodes_per_island: size as u32,
        island_kind: key.island.kind,
        nodes: members.into_iter().map(listed).collect(),
        taints: key.taints.iter().map(spec).collect(),
        accelerator: key.accelerator.to_owned(),
        features: key.features.clone(),
        billing: key.billing,
        labels,
        allocatable,
        occupied,
        ..NodePool::default()
    }
}

fn spec((key, value, effect): &MemberTaint) -> TaintSpec {
    TaintSpec { key: key.clone(), value: value.clone(), effect: *effect }
}

/// Returns the labels that all members have with the same value.
fn common(members: &[ImportMember]) -> BTreeMap<String, String> {
    let Some(first) = members.first() else { return BTreeMap::new() };
    let mut all = first.labels.clone();
    all.retain(|key, value| members.iter().all(|m| m.labels.get(key) == Some(value)));
    all
}

fn resources(m: &ImportMember) -> impl Iterator<Item = (&String, &i64)> {
    m.kind.allocatable.iter().chain(&m.about)
}

/// Returns the most frequent amount of each resource. Of amounts that are about equal on all nodes, the smallest.
fn usual_resources(members: &[ImportMember]) -> BTreeMap<String, i64> {
    let mut amounts: BTreeMap<&String, BTreeMap<i64, usize>> = BTreeMap::new();
    for (name, milli) in members.iter().flat_map(resources) {
        *amounts.entry(name).or_default().entry(*milli).or_default() += 1;
    }
    let usual = |(name, counts): (&String, BTreeMap<i64, usize>)| {
        let least = counts.keys().next().copied().unwrap_or(0);
        let is_about_equal = counts.keys().all(|milli| is_about(name, *milli, least));
        let frequent = counts.iter().max_by_key(|(milli, n)| (**n, **milli)).map_or(0, |(milli, _)| *milli);
        (name.clone(), if is_about_equal { least } else { frequent })
    };
    amounts.into_iter().map(usual).collect()
}

/// Returns the resources of a node that differ from those of its pool. A resource that it lacks is 0.
fn differences(m: &ImportMember, pool: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let differs = |(name, usual): &(&String, &i64)| {
        let milli = m.kind.allocatable.get(*name).or(m.about.get(*name)).copied().unwrap_or(0);
        (milli != **usual && !is_about(name, milli, **usual)).then(|| ((*name).clone(), milli))
    };
    pool.iter().filter_map(|entry| differs(&entry)).collect()
}

/// Returns the most frequent amount of each resource that DaemonSets and static pods hold on a node.
fn usual_occupied(members: &[ImportMember]) -> ResourceAmounts {
    let names: BTreeSet<&String> = members.iter().flat_map(|m| m.kind.daemons.keys()).collect();
    let usual = |name: &String| {
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        for member in members {
            *counts.entry(member.kind.daemons.get(name).copied().unwrap_or(0)).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, n)| *n).map_or(0, |(milli, _)| milli)
    };
    let all = names.into_iter().map(|name| (name.clone(), usual(name)));
    all.filter(|(_, milli)| *milli > 0).collect()
}

/// Returns the occupied resources of a node that differ from those of its pool. One that is free is 0.
fn other_occupied(own: &ResourceAmounts, pool: &ResourceAmounts) -> ResourceAmounts {
    let names: BTreeSet<&String> = own.keys().chain(pool.keys()).collect();
    let amount = |of: &ResourceAmounts, name: &String| of.get(name).copied().unwrap_or(0);
    let differs = names.into_iter().filter(|name| amount(own, name) != amount(pool, name));
    differs.map(|name| (name.clone(), amount(own, name))).collect()
}

/// Returns a name for the pool: of its slices or its node pool, otherwise of its machine type or accelerator.
fn base_name(key: &PoolKey, members: &[ImportMember]) -> String {
    let of_pool: BTreeSet<&str> = members.iter().filter_map(|m| m.labels.get(NODE_POOL)).map(String::as_str).collect();
    let shared = match (of_pool.first(), of_pool.last()) {
        //  The first and the last text in order share the prefix of all.
        (Some(first), Some(last)) => {
            let same = first.chars().zip(last.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a);
            same.collect::<String>()
        }
        _ => String::new(),
    };
    let accelerator = key.accelerator.rsplit('/').next().unwrap_or("");
    let candidates = [shared.as_str(), &key.instance_type, accelerator];
    let clean = |text: &str| {
        let lower = text.to_ascii_lowercase();
        let legal = lower.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
        legal.collect::<String>().trim_matches('-').to_owned()
    };
    let found = candidates.into_iter().map(clean).find(|name| !name.is_empty());
    found.unwrap_or_else(|| "nodes".to_owned())
}
