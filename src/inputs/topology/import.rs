//! Imports a list of Nodes, as printed by `kubectl get nodes -o yaml`, to a Topology. Equal nodes become a pool;
//! pools whose labels are numbered consecutively become islands. Other nodes are listed by name (`named_pools`).
//!
//! This module must never invent a label. A label that differs within a pool is either a running number or reported
//! as omitted.

use super::named_pools::named_pools;
use super::taint::taint;
use crate::text::diagnostic::{Diagnostic, Diagnostics, SourceText};
use crate::{object_list::unlisted, read, text::node::YamlNode, text::yaml};
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::{IslandKind, MachineBilling, NodePool, TaintEffect, TaintSpec, TopologySpec};
use std::collections::{BTreeMap, BTreeSet};

/// Extended resources that count as accelerators, in order of precedence.
const ACCELERATORS: [&str; 6] = [
    "google.com/tpu", "nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
];
/// Labels whose values identify an island: a TPU slice or an NVLink domain.
pub(super) const SLICE: &str = "cloud.google.com/gke-nodepool";
pub(super) const TPU_TOPOLOGY: &str = "cloud.google.com/gke-tpu-topology";
pub(super) const CLIQUE: &str = "nvidia.com/gpu.clique";
/// Prefix of taints that node controllers set on unhealthy nodes.
const LIFECYCLE: &str = "node.kubernetes.io/";
/// Resources that kubelets report with small differences on equal machines, and the tolerance in percent.
const ABOUT: [&str; 2] = ["memory", "ephemeral-storage"];
const ALIKE_PERCENT: i64 = 2;

/// The properties of a node other than its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ImportKind {
    pub(super) allocatable: BTreeMap<String, i64>,
    pub(super) taints: Vec<(String, String, TaintEffect)>,
    pub(super) features: Vec<String>,
    labels: BTreeMap<String, String>,
}

#[derive(Clone)]
pub(super) struct ImportMember {
    pub(super) name: String,
    pub(super) kind: ImportKind,
    pub(super) about: BTreeMap<String, i64>,
    /// All labels, except a host name that equals the name.
    pub(super) labels: BTreeMap<String, String>,
    /// Taint of a node that is not ready or cordoned.
    pub(super) own_taints: Vec<(String, String, TaintEffect)>,
}

/// Returns the topology, and notes on what was not imported.
pub fn import_nodes(source: &SourceText, name: &str) -> Result<(TopologySpec, Vec<String>), Diagnostics> {
    let mut notes = Vec::new();
    let mut members = Vec::new();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for node in unlisted(yaml::parse(source)?) {
        let kind = node.get("kind").and_then(YamlNode::as_str).unwrap_or("");
        if kind == "Node" {
            members.push(member(&node));
        } else {
            *others.entry(kind.to_owned()).or_default() += 1;
        }
    }
    let troubled: Vec<String> = members.iter().filter(|m| !m.own_taints.is_empty()).map(|m| m.name.clone()).collect();
    if troubled.len() == members.len() {
        let message = if members.is_empty() { "the list contains no Node" } else { "no node is ready and schedulable" };
        let mut error = Diagnostic::of_file(&source.file, message);
        error.legal("the output of `kubectl get nodes -o yaml`");
        return Err(error.into());
    }
    if !troubled.is_empty() {
        notes.push(format!("not ready or cordoned, kept with a NoSchedule taint: {}", some(&troubled)));
    }
    for (kind, n) in others {
        notes.push(format!("not imported: {n} of kind {kind:?}; pass the file under `objects` of a scenario"));
    }
    let pools = pools(members, &mut notes);
    let topology = TopologySpec {
        name: name.to_owned(),
        description: format!("Imported from {}", source.file),
        extended_resource_toleration: pools.iter().any(is_gke_device),
        pools,
        currency: "USD".to_owned(),
        ..TopologySpec::default()
    };
    Ok((topology, notes))
}

fn name_of(node: &YamlNode) -> String {
    let name = node.at_path(&["metadata", "name"]).and_then(YamlNode::as_str);
    name.unwrap_or("").to_owned()
}

/// Formats the first five names and the number of the others.
fn some(names: &[String]) -> String {
    let listed: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    match names.len() - listed.len() {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

/// Returns the taint that Kubernetes gives to a node that is cordoned or not ready, if any.
fn trouble(node: &YamlNode) -> Option<(String, String, TaintEffect)> {
    let empty = YamlNode::empty_map();
    let taint = |what: &str| Some((format!("{LIFECYCLE}{what}"), String::new(), TaintEffect::NoSchedule));
    if node.at_path(&["spec", "unschedulable"]).and_then(YamlNode::as_bool) == Some(true) {
        return taint("unschedulable");
    }
    let ready = |c: &YamlNode| {
        let text = |key: &str| c.get(key).and_then(YamlNode::as_str);
        text("type") != Some("Ready") || text("status") == Some("True")
    };
    let status = node.get("status").unwrap_or(&empty);
    if read::list(status, "conditions").iter().all(ready) { None } else { taint("not-ready") }
}

fn member(node: &YamlNode) -> ImportMember {
    let empty = YamlNode::empty_map();
    let part = |key: &str| node.get(key).unwrap_or(&empty);
    let given = ["allocatable", "capacity"];
    let given = given.into_iter().find(|key| part("status").get(key).is_some());
    let mut allocatable = read::quantities(part("status"), given.unwrap_or("allocatable"));
    allocatable.retain(|_, milli| *milli > 0);
    let about = ABOUT.iter().filter_map(|name| allocatable.remove_entry(*name));
    let about = about.collect();
    let taints = read::list(part("spec"), "taints").iter().map(taint);
    let taints = taints.filter(|t| !t.key.starts_with(LIFECYCLE));
    let mut taints: Vec<_> = taints.map(|t| (t.key, t.value, t.effect)).collect();
    taints.sort();
    let name = name_of(node);
    let mut all = read::string_map(part("metadata"), "labels");
    if all.get(HOSTNAME) == Some(&name) {
        all.remove(HOSTNAME);
    }
    let mut labels = all.clone();
    labels.remove(HOSTNAME);
    ImportMember {
        name,
        about,
        kind: ImportKind { allocatable, taints, features: read::strings(part("status"), "declaredFeatures"), labels },
        labels: all,
        own_taints: trouble(node).into_iter().collect(),
    }
}

/// Removes labels that identify a single node. Labels whose values end with a running number are kept.
fn drop_identities(members: &mut [ImportMember]) -> Option<String> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in members.iter().flat_map(|m| &m.kind.labels) {
        values.entry(key.clone()).or_default().push(value.clone());
    }
    let all = members.len();
    let is_identity = |values: &Vec<String>| {
        let distinct: BTreeSet<&String> = values.iter().collect();
        let counts_up = values.iter().all(|v| split(v).is_some());
        all > 1 && distinct.len() == all && !counts_up
    };
    let dropped = values.iter().filter(|(key, values)| ![SLICE, CLIQUE].contains(&key.as_str()) && is_identity(values));
    let dropped: Vec<String> = dropped.map(|(key, _)| key.clone()).collect();
    for key in &dropped {
        members.iter_mut().for_each(|m| drop(m.kind.labels.remove(key)));
    }
    (!dropped.is_empty()).then(|| dropped.join(", "))
}

/// Splits a text into a prefix, the number at its end, and the minimum number of digits (0 without zero padding).
pub(super) fn split(text: &str) -> Option<(&str, u64, usize)> {
    let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (before, number) = text.split_at(text.len() - digits);
    let padded = digits > 1 && number.starts_with('0');
    Some((before, number.parse().ok()?, if padded { digits } else { 0 }))
}

/// Equal nodes, in the order of their names.
struct ImportCell {
    kind: ImportKind,
    names: Vec<String>,
    about: BTreeMap<String, i64>,
}

/// Returns pools with patterns for names and labels if all of them count up; otherwise pools that list each node.
fn pools(mut members: Vec<ImportMember>, notes: &mut Vec<String>) -> Vec<NodePool> {
    let originals = members.clone();
    let dropped = drop_identities(&mut members);
    let has_trouble = members.iter().any(|m| !m.own_taints.is_empty());
    let has_host_name = members.iter().any(|m| m.labels.contains_key(HOSTNAME));
    match patterned_pools(members) {
        Some(pools) if !has_trouble && !has_host_name && dropped.is_none() => pools,
        _ => {
            notes.push("each node is listed with its name; a larger count adds nodes named after the pool".to_owned());
            named_pools(originals)
        }
    }
}

/// Returns `None` if the names of any pool do not count up.
fn patterned_pools(mut members: Vec<ImportMember>) -> Option<Vec<NodePool>> {
    members.sort_by(|a, b| (&a.kind, &a.about).cmp(&(&b.kind, &b.about)));
    let mut cells: Vec<ImportCell> = Vec::new();
    for m in members {
        let is_similar = |c: &&mut ImportCell| {
            let near = |(name, least): (&String, &i64)| {
                let more = m.about.get(name).copied().unwrap_or(0);
                more <= least.saturating_add(least / 100 * ALIKE_PERCENT) && more >= *least
            };
            c.kind == m.kind && c.about.len() == m.about.len() && c.about.iter().all(near)
        };
        match cells.last_mut().filter(is_similar) {
            Some(cell) => cell.names.push(m.name),
            None => cells.push(ImportCell { kind: m.kind, names: vec![m.name], about: m.about }),
        }
    }
    let natural = |name: &String| split(name).map(|(before, n, _)| (before.to_owned(), n));
    for cell in &mut cells {
        cell.names.sort_by_cached_key(|name| (natural(name), name.clone()));
    }
    let families = families(cells);
    let mut pools = Vec::new();
    for family in &families {
        let names: Vec<&String> = family.iter().flat_map(|cell| &cell.names).collect();
        let name = match names.as_slice() {
            [one] => Some((*one).clone()),
            _ => counted(&names, "node"),
        };
        pools.push(pool(family, name?));
    }
    Some(pools)
}

/// Groups cells of equal size that differ only in labels numbered consecutively from 0. They become the islands of
/// one pool.
fn families(cells: Vec<ImportCell>) -> Vec<Vec<ImportCell>> {
    let family_of = |cell: &ImportCell| {
        let without = |(key, value): (&String, &String)| {
            let before = split(value).map_or(value.as_str(), |(before, _, _)| before);
            (key.clone(), before.to_owned())
        };
        let kind = ImportKind { labels: cell.kind.labels.iter().map(without).collect(), ..cell.kind.clone() };
        (kind, cell.names.len())
    };
    let mut result: BTreeMap<(ImportKind, usize), Vec<ImportCell>> = BTreeMap::new();
    for cell in cells {
        result.entry(family_of(&cell)).or_default().push(cell);
    }
    let mut families = Vec::new();
    for (_, mut family) in result {
        let number = |cell: &ImportCell| {
            let numbers = cell.kind.labels.values().filter_map(|v| split(v));
            numbers.map(|(_, n, _)| n).collect::<Vec<_>>()
        };
        family.sort_by_cached_key(number);
        match labels(&family) {
            Some(_) => families.push(family),
            None => families.extend(family.into_iter().map(|cell| vec![cell])),
        }
    }
    families.sort_by(|a, b| a[0].names.cmp(&b[0].names));
    families
}

/// Returns the labels of a pool in which each cell is an island. Returns `None` if a label is neither constant nor
/// numbered from 0.
fn labels(family: &[ImportCell]) -> Option<BTreeMap<String, String>> {
    let one = |key: &String| {
        let values: Vec<&String> = family.iter().map(|cell| &cell.kind.labels[key]).collect();
        if values.iter().all(|v| *v == values[0]) { Some(values[0].clone()) } else { counted(&values, "island") }
    };
    let keys = family[0].kind.labels.keys();
    keys.map(|key| Some((key.clone(), one(key)?))).collect()
}

/// Maximum number of digits in a variable such as `{node:09}`.
const WIDEST: usize = 9;

/// Replaces the running number of texts such as `a-0`, `a-1`, ... by a variable: `a-{word}`.
fn counted(texts: &[&String], word: &str) -> Option<String> {
    let (before, _, width) = split(texts.first()?)?;
    if width > WIDEST {
        return None;
    }
    let counts = |(at, text): (u64, &&String)| {
        let padded = format!("{before}{at:0width$}");
        **text == padded
    };
    let all = (0..).zip(texts).all(counts);
    let number = match width {
        0 => format!("{{{word}}}"),
        _ => format!("{{{word}:{width:02}}}"),
    };
    (all && !before.contains(['{', '}'])).then(|| format!("{before}{number}"))
}

/// Returns the resource that counts as the accelerator of a node; empty if there is none.
pub(super) fn accelerator_of(allocatable: &BTreeMap<String, i64>) -> &'static str {
    ACCELERATORS.iter().find(|name| allocatable.contains_key(**name)).map_or("", |name| name)
}

/// Returns whether an amount of a resource differs from a smaller one only as it does between equal machines.
pub(super) fn is_about(name: &str, milli: i64, least: i64) -> bool {
    ABOUT.contains(&name) && milli >= least && milli <= least.saturating_add(least / 100 * ALIKE_PERCENT)
}

fn pool(family: &[ImportCell], name: String) -> NodePool {
    let first = &family[0];
    let mut allocatable = first.kind.allocatable.clone();
    for cell in family {
        for (name, least) in &cell.about {
            let milli = allocatable.entry(name.clone()).or_insert(*least);
            *milli = (*milli).min(*least);
        }
    }
    let labels = labels(family).unwrap_or_default();
    let accelerator = accelerator_of(&allocatable);
    let island_kind = match () {
        () if labels.contains_key(CLIQUE) => IslandKind::NvLink,
        () if labels.contains_key(TPU_TOPOLOGY) && labels.contains_key(SLICE) => IslandKind::Ici,
        () => IslandKind::None,
    };
    let taints = first.kind.taints.iter().map(|(key, value, effect)| TaintSpec {
        key: key.clone(),
        value: value.clone(),
        effect: *effect,
    });
    NodePool {
        name,
        count: 1,
        islands: family.len() as u32,
        nodes_per_island: first.names.len() as u32,
        island_kind,
        taints: taints.collect(),
        accelerator: accelerator.to_owned(),
        features: first.kind.features.clone(),
        billing: MachineBilling::from_labels(&labels),
        labels,
        allocatable,
        ..NodePool::default()
    }
}

/// Returns whether the pool has GKE's device taint. GKE taints nodes with their extended resource and runs the
/// admission plugin that adds the toleration to pods that request it.
fn is_gke_device(pool: &NodePool) -> bool {
    let device = |t: &TaintSpec| pool.allocatable.contains_key(&t.key);
    pool.labels.contains_key(SLICE) && pool.taints.iter().any(device)
}
