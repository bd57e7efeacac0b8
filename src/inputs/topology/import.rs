//! Imports a list of Nodes, as printed by `kubectl get nodes -o json`, to a Topology. Equal nodes become a pool;
//! pools whose labels are numbered consecutively become islands. Other nodes are listed by name (`named_pools`).
//!
//! This module must never invent a label. A label that differs within a pool is either a running number or reported
//! as omitted.

use super::anonymize::anonymize;
use super::dump::{ClusterDump, DumpObject, LEGAL};
use super::dump_fields::AmountError;
use super::import_files::read_pods;
use super::inferred_links::LinkCatalog;
use super::named_pools::named_pools;
use super::occupancy::{ClusterOccupancy, NodeOccupancy};
use super::platforms::{NODE_POOL, NodeIsland, accelerator_of, island_of};
use super::recognition::{domains, gaps};
use super::taint::effect_of_text;
use crate::acting_keys;
use crate::text::diagnostic::{Diagnostic, Diagnostics, SourceText};
use sim_api::spec::keys::{HOSTNAME, NODE_TAINT_PREFIX};
use sim_api::spec::{IslandKind, MachineBilling, NodePool, ResourceAmounts, TaintEffect, TaintSpec, TopologySpec};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Resources that kubelets report with small differences on equal machines, and the tolerance in percent.
const ABOUT: [&str; 2] = ["memory", "ephemeral-storage"];
const ALIKE_PERCENT: i64 = 2;
/// Amounts of these resources are rounded down to whole MiB, in thousandths of a byte.
const MEBIBYTE: i64 = (1 << 20) * 1_000;

/// A taint as key, value and effect.
pub(super) type MemberTaint = (String, String, TaintEffect);

/// The properties of a node other than its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ImportKind {
    pub(super) allocatable: ResourceAmounts,
    pub(super) taints: Vec<MemberTaint>,
    pub(super) features: Vec<String>,
    pub(super) billing: MachineBilling,
    pub(super) island: NodeIsland,
    /// Resources that pods of DaemonSets and static pods hold.
    pub(super) daemons: ResourceAmounts,
}

impl ImportKind {
    /// Returns whether each node is a unit of its pool: it is an island, or no label states which accelerators of
    /// several nodes links connect.
    fn is_unit(&self) -> bool {
        self.island.is_node() || self.island.label.is_none() && !accelerator_of(&self.allocatable).is_empty()
    }
}

pub(super) struct ImportMember {
    pub(super) name: String,
    pub(super) kind: ImportKind,
    pub(super) about: ResourceAmounts,
    /// All labels, except a host name that equals the name.
    pub(super) labels: BTreeMap<String, String>,
    /// Taint of a node that is not ready or cordoned.
    pub(super) own_taints: Vec<MemberTaint>,
    /// Resources that all running pods hold.
    pub(super) occupied: ResourceAmounts,
    /// The part of pods of Kueue's Workloads, by namespace and name of the Workload.
    pub(super) workloads: BTreeMap<String, ResourceAmounts>,
    /// The part of pods of JobSets, by namespace and name of the JobSet.
    pub(super) jobsets: BTreeMap<String, ResourceAmounts>,
    /// Annotations on which other components act.
    pub(super) annotations: BTreeMap<String, String>,
}

/// What to import besides the Nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportRequest<'r> {
    /// Name of the topology.
    pub name: &'r str,
    /// Paths of files with Pods.
    pub pods: &'r [String],
    /// Whether to replace all names.
    pub anonymize: bool,
}

/// An imported cluster.
#[derive(Clone, Debug, Default)]
pub struct ImportedTopology {
    pub topology: TopologySpec,
    /// The recognized domains: labels, who sets them, and their numbers. They contain no name of the cluster.
    pub domains: Vec<String>,
    /// The links of islands, with the shipped topology that has their values, and the pools whose links are unknown.
    pub links: Vec<String>,
    /// Parts that were omitted or changed.
    pub notes: Vec<String>,
}

/// Returns the topology of a list of Nodes. Pods in the list, or in the files of the request, occupy their nodes.
pub fn import_nodes(source: &SourceText, request: &ImportRequest<'_>) -> Result<ImportedTopology, Diagnostics> {
    import_dump(read_pods(ClusterDump::of_text(source)?, request.pods)?, source, request)
}

/// Returns the topology of the Nodes of a dump, which was read from the source and the files of the request.
pub(super) fn import_dump(
    mut dump: ClusterDump, source: &SourceText, request: &ImportRequest<'_>,
) -> Result<ImportedTopology, Diagnostics> {
    let members = members(std::mem::take(&mut dump.nodes), source)?;
    import_members(members, dump, source, request)
}

/// Returns the topology of Nodes. The dump has the other objects.
pub(super) fn import_members(
    mut members: Vec<ImportMember>, dump: ClusterDump, source: &SourceText, request: &ImportRequest<'_>,
) -> Result<ImportedTopology, Diagnostics> {
    let mut notes = Vec::new();
    let untyped = dump.untyped();
    let ClusterDump { pods, mut others, .. } = dump;
    if untyped > 0 {
        others.insert(String::new(), untyped);
    }
    let troubled: Vec<String> = members.iter().filter(|m| !m.own_taints.is_empty()).map(|m| m.name.clone()).collect();
    if troubled.len() == members.len() {
        let message = match (members.len(), pods.count()) {
            (0, 0) => "the list contains no Node",
            (0, _) => "this is a list of Pods, not of Nodes",
            _ => "no node is ready and schedulable",
        };
        let mut error = Diagnostic::of_file(&source.file, message);
        error.legal(LEGAL);
        if members.is_empty() && pods.count() > 0 {
            error.suggest("use `jobset-sim topology import NODES --pods FILE`, with this file as FILE");
        }
        return Err(error.into());
    }
    if !troubled.is_empty() {
        notes.push(format!("not ready or cordoned, kept with a NoSchedule taint: {}", some(&troubled)));
    }
    let acting_annotations = acting_keys::of_node_annotations(members.iter().flat_map(|member| &member.annotations));
    for (kind, n) in &others {
        notes.push(format!("not imported: {n} of kind {kind:?}; pass the file under `objects` of a scenario"));
    }
    occupy(&mut members, &pods, &mut notes);
    notes.extend(gaps(&members));
    if request.anonymize {
        anonymize(&mut members);
    }
    let catalog = LinkCatalog::of_members(&members);
    for member in members.iter_mut().filter(|m| m.kind.island == NodeIsland::default()) {
        if catalog.is_nvlink_node(&member.labels) {
            member.kind.island.kind = IslandKind::NvLink;
        }
    }
    let domains = domains(&members);
    let mut pools = pools(members, &mut notes);
    let links = catalog.apply(&mut pools);
    let origin = if request.anonymize { "Imported and anonymized" } else { "Imported from" };
    let topology = TopologySpec {
        name: request.name.to_owned(),
        description: if request.anonymize { origin.to_owned() } else { format!("{origin} {}", source.file) },
        extended_resource_toleration: pools.iter().any(is_gke_device),
        pools,
        currency: "USD".to_owned(),
        acting_annotations,
        running_pods: pods.running(),
        ..TopologySpec::default()
    };
    Ok(ImportedTopology { topology, domains, links, notes })
}

/// Reads the Nodes. Reports all errors together.
pub(super) fn members(nodes: Vec<DumpObject>, source: &SourceText) -> Result<Vec<ImportMember>, Diagnostics> {
    let (mut members, mut errors) = (Vec::new(), Vec::new());
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (i, node) in nodes.into_iter().enumerate() {
        let name = node.metadata.name.clone();
        if name.is_empty() {
            errors.push(Diagnostic::of_file(&source.file, format!("Node {} of the list has no metadata.name", i + 1)));
        } else if let Some(first) = names.insert(name.clone(), i) {
            let message = format!("duplicate Node {name:?}: entries {} and {} of the list", first + 1, i + 1);
            let mut error = Diagnostic::of_file(&source.file, message);
            error.suggest("pass the Nodes of one cluster, each once");
            errors.push(error);
        }
        match member(node) {
            Ok(member) => members.push(member),
            Err(problem) => errors.push(Diagnostic::of_file(&source.file, format!("Node {name:?}: {problem}"))),
        }
    }
    if errors.is_empty() { Ok(members) } else { Err(Diagnostics(errors)) }
}

/// Adds what the pods hold, as far as the nodes have it.
fn occupy(members: &mut [ImportMember], pods: &ClusterOccupancy, notes: &mut Vec<String>) {
    if pods.count() == 0 {
        return;
    }
    let mut known = 0;
    for member in members {
        let Some(NodeOccupancy { all, daemons, workloads, jobsets }) = pods.nodes.get(&member.name) else { continue };
        known += 1;
        let has = |name: &String| member.kind.allocatable.get(name).or(member.about.get(name)).copied();
        let within = |held: &ResourceAmounts| {
            let each = held.iter().filter_map(|(name, milli)| Some((name.clone(), (*milli).min(has(name)?))));
            each.collect::<ResourceAmounts>()
        };
        let parts = |parts: &BTreeMap<String, ResourceAmounts>| -> BTreeMap<String, ResourceAmounts> {
            parts.iter().map(|(name, held)| (name.clone(), within(held))).collect()
        };
        (member.occupied, member.kind.daemons) = (within(all), within(daemons));
        (member.workloads, member.jobsets) = (parts(workloads), parts(jobsets));
    }
    notes.push(pods.describe(pods.nodes.len() - known));
}

/// Formats the first five names and the number of the others.
pub(super) fn some(names: &[String]) -> String {
    let listed: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    match names.len() - listed.len() {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

/// Returns the taint that Kubernetes gives to a node that is cordoned or not ready, if any.
fn trouble(node: &DumpObject) -> Option<MemberTaint> {
    let taint = |what: &str| Some((format!("{NODE_TAINT_PREFIX}{what}"), String::new(), TaintEffect::NoSchedule));
    if node.spec.unschedulable {
        return taint("unschedulable");
    }
    let mut conditions = node.status.conditions.iter();
    if conditions.all(|c| c.name != "Ready" || c.status == "True") { None } else { taint("not-ready") }
}

/// A part of a Node that the import cannot read.
enum NodeProblem {
    Amount(AmountError),
    Effect(String),
}

impl fmt::Display for NodeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeProblem::Amount(error) => write!(f, "allocatable {error}"),
            NodeProblem::Effect(effect) => write!(f, "unknown effect {effect:?} of a taint"),
        }
    }
}

fn member(node: DumpObject) -> Result<ImportMember, NodeProblem> {
    let own_taints = trouble(&node).into_iter().collect();
    let status = node.status;
    let given = if status.allocatable.is_empty() { status.capacity } else { status.allocatable };
    let mut allocatable = given.milli().map_err(NodeProblem::Amount)?;
    allocatable.retain(|_, milli| *milli > 0);
    let about = ABOUT.iter().filter_map(|name| allocatable.remove_entry(*name));
    let about = about.map(|(name, milli)| (name, if milli > MEBIBYTE { milli / MEBIBYTE * MEBIBYTE } else { milli }));
    let about = about.collect();
    let mut taints = Vec::new();
    for taint in node.spec.taints.iter().filter(|taint| !taint.key.starts_with(NODE_TAINT_PREFIX)) {
        let effect = effect_of_text(&taint.effect).ok_or_else(|| NodeProblem::Effect(taint.effect.clone()))?;
        taints.push((taint.key.clone(), taint.value.clone(), effect));
    }
    taints.sort();
    let annotations = node.metadata.annotations.acting;
    let (name, mut labels) = (node.metadata.name, node.metadata.labels);
    if labels.get(HOSTNAME) == Some(&name) {
        labels.remove(HOSTNAME);
    }
    let accelerators = allocatable.get(accelerator_of(&allocatable)).copied().unwrap_or(0) / 1_000;
    Ok(ImportMember {
        name,
        about,
        kind: ImportKind {
            allocatable,
            taints,
            features: status.declared_features,
            billing: MachineBilling::from_labels(&labels),
            island: island_of(&labels, accelerators),
            daemons: ResourceAmounts::new(),
        },
        labels,
        own_taints,
        occupied: ResourceAmounts::new(),
        workloads: BTreeMap::new(),
        jobsets: BTreeMap::new(),
        annotations,
    })
}

/// Returns the value of the label that identifies the island of a node.
fn island_value(m: &ImportMember) -> Option<&String> {
    m.labels.get(m.kind.island.label?)
}

/// Returns whether a label identifies nodes: all nodes have different values of it, or the nodes of one kind have more
/// values than half their number. The label of the islands, and one with a single value per island, identifies islands.
/// If each node is an island of its own, a label with running numbers may count the islands; nodes of an island cannot
/// be counted by a label.
fn has_identities(members: &[ImportMember]) -> bool {
    let islands: BTreeSet<&str> = members.iter().filter_map(|m| m.kind.island.label).collect();
    let values = members.iter().filter_map(|m| Some((m.kind.island.label?, island_value(m)?)));
    let has_larger_islands = !islands.is_empty() && values.collect::<BTreeSet<_>>().len() < members.len();
    let mut kinds: BTreeMap<&ImportKind, Vec<&ImportMember>> = BTreeMap::new();
    for member in members {
        kinds.entry(&member.kind).or_default().push(member);
    }
    let is_identity = |key: &String| {
        let values: Vec<&String> = members.iter().filter_map(|m| m.labels.get(key)).collect();
        let counts_up = values.iter().all(|value| split(value).is_some());
        let is_unique = values.len() == members.len() && values.iter().collect::<BTreeSet<_>>().len() == values.len();
        is_unique && (!counts_up || has_larger_islands)
            || kinds.values().any(|alike| has_own_values(alike, key, has_larger_islands))
    };
    let keys: BTreeSet<&String> = members.iter().flat_map(|m| m.labels.keys()).collect();
    let mut keys = keys.into_iter().filter(|key| *key != HOSTNAME && !islands.contains(key.as_str()));
    members.len() > 1 && keys.any(is_identity)
}

/// Returns whether a label of nodes of one kind has more values than half the number of the nodes that have it.
fn has_own_values(alike: &[&ImportMember], key: &str, has_larger_islands: bool) -> bool {
    let values: Vec<&String> = alike.iter().filter_map(|m| m.labels.get(key)).collect();
    let distinct: BTreeSet<&String> = values.iter().copied().collect();
    if values.len() < 2 || distinct.len() * 2 <= values.len() {
        return false;
    }
    if has_larger_islands {
        let pairs: BTreeSet<_> = alike.iter().map(|m| (island_value(m), m.labels.get(key))).collect();
        let of_islands: BTreeSet<_> = alike.iter().map(|m| island_value(m)).collect();
        return pairs.len() > of_islands.len();
    }
    let prefixes: Option<BTreeSet<&str>> = distinct.iter().map(|value| Some(split(value)?.0)).collect();
    prefixes.is_none_or(|prefixes| prefixes.len() * 2 > values.len())
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
    labels: BTreeMap<String, String>,
    names: Vec<String>,
    about: BTreeMap<String, i64>,
}

/// Returns pools with patterns for names and labels if all of them count up; otherwise pools that list each node.
fn pools(members: Vec<ImportMember>, notes: &mut Vec<String>) -> Vec<NodePool> {
    let differs =
        |m: &ImportMember| !m.own_taints.is_empty() || m.labels.contains_key(HOSTNAME) || m.occupied != m.kind.daemons;
    let is_listed = members.iter().any(differs) || has_identities(&members);
    let patterned = if is_listed { None } else { patterned_pools(&members) };
    patterned.unwrap_or_else(|| {
        notes.push("each node is listed with its name; a larger count adds nodes named after the pool".to_owned());
        named_pools(members)
    })
}

/// Returns `None` if the names of any pool do not count up, or if a label that does not count up separates single
/// nodes.
fn patterned_pools(members: &[ImportMember]) -> Option<Vec<NodePool>> {
    let mut members: Vec<&ImportMember> = members.iter().collect();
    members.sort_by_key(|m| (&m.kind, &m.labels, &m.about));
    let mut cells: Vec<ImportCell> = Vec::new();
    for m in members {
        let is_similar = |c: &&mut ImportCell| {
            let near = |(name, least): (&String, &i64)| {
                let more = m.about.get(name).copied().unwrap_or(0);
                more <= least.saturating_add(least / 100 * ALIKE_PERCENT) && more >= *least
            };
            c.kind == m.kind && c.labels == m.labels && c.about.len() == m.about.len() && c.about.iter().all(near)
        };
        let name = m.name.clone();
        match cells.last_mut().filter(is_similar) {
            Some(cell) => cell.names.push(name),
            None => {
                let (kind, labels) = (m.kind.clone(), m.labels.clone());
                cells.push(ImportCell { kind, labels, names: vec![name], about: m.about.clone() });
            }
        }
    }
    let natural = |name: &String| split(name).map(|(before, n, _)| (before.to_owned(), n));
    for cell in &mut cells {
        cell.names.sort_by_cached_key(|name| (natural(name), name.clone()));
    }
    let families = families(cells)?;
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
/// one pool. Returns `None` if this would leave single nodes in pools of their own.
fn families(cells: Vec<ImportCell>) -> Option<Vec<Vec<ImportCell>>> {
    let family_of = |cell: &ImportCell| {
        let without = |(key, value): (&String, &String)| {
            let before = split(value).map_or(value.as_str(), |(before, _, _)| before);
            (key.clone(), before.to_owned())
        };
        let labels: BTreeMap<String, String> = cell.labels.iter().map(without).collect();
        (cell.kind.clone(), labels, cell.names.len())
    };
    let mut result: BTreeMap<_, Vec<ImportCell>> = BTreeMap::new();
    for cell in cells {
        result.entry(family_of(&cell)).or_default().push(cell);
    }
    let mut families = Vec::new();
    for (_, mut family) in result {
        let number = |cell: &ImportCell| {
            let numbers = cell.labels.values().filter_map(|v| split(v));
            numbers.map(|(_, n, _)| n).collect::<Vec<_>>()
        };
        family.sort_by_cached_key(number);
        match labels(&family) {
            Some(_) => families.push(family),
            None if family[0].names.len() == 1 => return None,
            None => families.extend(family.into_iter().map(|cell| vec![cell])),
        }
    }
    families.sort_by(|a, b| a[0].names.cmp(&b[0].names));
    Some(families)
}

/// Returns the labels of a pool in which each cell is an island. Returns `None` if a label is neither constant nor
/// numbered from 0.
fn labels(family: &[ImportCell]) -> Option<BTreeMap<String, String>> {
    let one = |key: &String| {
        let values: Vec<&String> = family.iter().map(|cell| &cell.labels[key]).collect();
        let word = if family[0].kind.is_unit() { "pool" } else { "island" };
        if values.iter().all(|v| *v == values[0]) { Some(values[0].clone()) } else { counted(&values, word) }
    };
    let keys = family[0].labels.keys();
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

/// Returns whether an amount of a resource differs from a smaller one only as it does between equal machines.
pub(super) fn is_about(name: &str, milli: i64, least: i64) -> bool {
    ABOUT.contains(&name) && milli >= least && milli <= least.saturating_add(least / 100 * ALIKE_PERCENT)
}

fn pool(family: &[ImportCell], name: String) -> NodePool {
    let first = &family[0];
    let nodes = first.names.len() as u32;
    let cells = family.len() as u32;
    let (count, islands, nodes_per_island) = if first.kind.is_unit() { (cells, nodes, 1) } else { (1, cells, nodes) };
    let mut allocatable = first.kind.allocatable.clone();
    for cell in family {
        for (name, least) in &cell.about {
            let milli = allocatable.entry(name.clone()).or_insert(*least);
            *milli = (*milli).min(*least);
        }
    }
    let labels = labels(family).unwrap_or_default();
    let accelerator = accelerator_of(&allocatable);
    let taints = first.kind.taints.iter().map(|(key, value, effect)| TaintSpec {
        key: key.clone(),
        value: value.clone(),
        effect: *effect,
    });
    NodePool {
        name,
        count,
        islands,
        nodes_per_island,
        island_kind: first.kind.island.kind,
        taints: taints.collect(),
        accelerator: accelerator.to_owned(),
        features: first.kind.features.clone(),
        billing: first.kind.billing,
        labels,
        allocatable,
        occupied: first.kind.daemons.clone(),
        ..NodePool::default()
    }
}

/// Returns whether the pool has GKE's device taint. GKE taints nodes with their extended resource and runs the
/// admission plugin that adds the toleration to pods that request it.
fn is_gke_device(pool: &NodePool) -> bool {
    let device = |t: &TaintSpec| pool.allocatable.contains_key(&t.key);
    pool.labels.contains_key(NODE_POOL) && pool.taints.iter().any(device)
}
