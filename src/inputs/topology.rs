//! Reads and writes Topology files.

pub mod anonymize;
mod dump;
mod dump_fields;
pub mod import;
mod import_files;
mod inferred_links;
pub(crate) mod links;
mod named_pools;
pub mod node_names;
mod occupancy;
mod platforms;
mod recognition;
pub(crate) mod slices;
pub(crate) mod taint;
mod writing;

use super::files::read_dump;
use super::read;
use super::schema::check::{UnmodelledFields, check};
use super::schema::definitions::topology::{NODES_MAX, PER_ACCELERATOR, PER_NODE, TOPOLOGY};
use super::schema::field_type::FieldType;
use super::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use super::text::node::{MappingKey, NodeOrigin, SourcePosition, YamlNode, YamlValue};
use super::text::path::{self, PathSetting, YamlPath};
use super::text::{print, yaml};
use dump::ClusterDump;
use import::{ImportRequest, ImportedTopology};
use node_names::node_names;
use sim_api::admission::names;
use sim_api::admission::names::NameRule;
use sim_api::spec::{
    AcceleratorPrice, GENERATED_CLUSTER, IslandKind, MachineBilling, NamedNode, NodePool, RunningPods, TaintSpec,
    TopologySpec,
};
use std::collections::{BTreeMap, BTreeSet};
use taint::taint;
pub use writing::{quantity, written};

/// Default maximum number of pods on a node, in thousandths. Used if `allocatable` does not contain pods.
pub const PODS_PER_NODE_MILLI: i64 = 110_000;
/// Maximum number of accelerators on a node.
const DEVICES_MAX: i64 = 1_000_000;
const RUNNING_NUMBERS: [&str; 3] = ["{pool}", "{island}", "{node}"];

/// Reads a Topology file. A list of Nodes printed by kubectl is imported like with `topology import`.
pub fn read_topology(source: &SourceText) -> Result<TopologySpec, Diagnostics> {
    read_noting(source).map(|read| read.topology)
}

/// A topology that was read from a file.
#[derive(Clone, Debug, Default)]
pub struct NotedTopology {
    pub topology: TopologySpec,
    /// Parts of a Node list that were not imported.
    pub notes: Vec<String>,
    /// The command that converts the file, if it is a Node list.
    pub conversion: Option<String>,
}

/// Reads a topology like [`read_topology`], with notes.
pub fn read_noting(source: &SourceText) -> Result<NotedTopology, Diagnostics> {
    if let Some(dump) = ClusterDump::of_json(source.text.as_bytes()) {
        return converted(import::import_dump(dump, source, &IMPORTED)?, source);
    }
    let documents = yaml::parse(source)?;
    if is_cluster_dump(&documents) {
        converted(import::import_nodes(source, &IMPORTED)?, source)
    } else {
        Ok(NotedTopology { topology: read_documents(documents, source)?, ..NotedTopology::default() })
    }
}

/// Returns a topology that was converted without a command.
fn converted(imported: ImportedTopology, source: &SourceText) -> Result<NotedTopology, Diagnostics> {
    let ImportedTopology { topology, notes, .. } = checked(imported, source)?;
    let conversion = Some(format!("jobset-sim topology import {} --out cluster.yaml", source.file));
    Ok(NotedTopology { topology, notes, conversion })
}

/// Import of a topology that has no name.
const IMPORTED: ImportRequest<'static> = ImportRequest { name: "nodes", pods: &[], anonymize: false };

/// Imports a list of Nodes from a file, or from standard input (`-`), and validates the resulting topology.
pub fn imported(file: &str, request: &ImportRequest<'_>) -> Result<ImportedTopology, Diagnostics> {
    let source = SourceText { file: file.to_owned(), text: String::new() };
    let members = |nodes| import::members(nodes, &source);
    if let Some((members, dump)) = import_files::read_json(file, request.pods, members) {
        return checked(import::import_members(members?, dump, &source, request)?, &source);
    }
    let source = read_dump(file)?;
    checked(import::import_nodes(&source, request)?, &source)
}

fn checked(mut imported: ImportedTopology, source: &SourceText) -> Result<ImportedTopology, Diagnostics> {
    let document = written(&imported.topology);
    // A topology file has neither annotations nor pods.
    let acting_annotations = std::mem::take(&mut imported.topology.acting_annotations);
    let running_pods = imported.topology.running_pods;
    let mut text = SourceText { file: source.file.clone(), text: String::new() };
    let topology = match read_documents(vec![YamlNode::from_json(&document)], &text) {
        Ok(topology) => topology,
        Err(_) => {
            //  Errors need positions in the text.
            text.text = print::yaml(&document);
            read_documents(yaml::parse(&text)?, &text)?
        }
    };
    imported.topology = TopologySpec { acting_annotations, running_pods, ..topology };
    Ok(imported)
}

/// Applies overrides of the fields below `topology`. Errors refer to the overrides, whose source has the given name.
pub fn with_overrides(topology: TopologySpec, name: &str, sets: &[PathSetting]) -> Result<TopologySpec, Diagnostics> {
    if sets.is_empty() {
        return Ok(topology);
    }
    let (overrides, none) = (path::overrides_source(name, sets), SourceText::default());
    let text = SourceText { file: topology.name.clone(), text: print::yaml(&written(&topology)) };
    let mut document = yaml::parse(&text)?.pop().unwrap_or_else(YamlNode::empty_map);
    let at = SourcePosition { line: 1, column: 1, len: 1, origin: NodeOrigin::Set, ..SourcePosition::default() };
    set_position(&mut document, at);
    let mut root = YamlNode::new(at, YamlValue::Map(vec![(MappingKey { name: "topology".to_owned(), at }, document)]));
    path::apply_sets(&mut root, &overrides, sets)?;
    let mut report = DiagnosticReport::new(&none, &overrides);
    let path = YamlPath::ROOT.key("topology");
    let Some(document) = root.get("topology") else { return Ok(topology) };
    check(document, &FieldType::Object(&TOPOLOGY), &path, &mut report, &mut UnmodelledFields::new());
    if !report.is_clean() {
        return report.finish().map(|()| topology);
    }
    let mut changed = convert(document, &mut report);
    if changed.name == GENERATED_CLUSTER {
        //  The description lists the pools that were generated.
        changed.description.clear();
    }
    changed.acting_annotations = topology.acting_annotations;
    changed.running_pods = topology.running_pods;
    report.finish().map(|()| changed)
}

/// Moves a tree to one position, because its own positions refer to another text.
pub fn set_position(node: &mut YamlNode, at: SourcePosition) {
    node.at = at;
    match &mut node.value {
        YamlValue::Seq(items) => items.iter_mut().for_each(|item| set_position(item, at)),
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                key.at = at;
                set_position(value, at);
            }
        }
        _ => {}
    }
}

fn read_documents(mut documents: Vec<YamlNode>, source: &SourceText) -> Result<TopologySpec, Diagnostics> {
    if let Some(error) = something_else(&documents, source) {
        return Err(error.into());
    }
    let node = match documents.len() {
        1 => documents.remove(0),
        0 => {
            return Err(Diagnostic::of_file(&source.file, "the file is empty: it contains no Topology").into());
        }
        n => {
            let message = format!("found {n} YAML documents; a topology file must contain exactly one");
            return Err(Diagnostic::of_file(&source.file, message).into());
        }
    };
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(source, &none);
    let shape = FieldType::Object(&TOPOLOGY);
    check(&node, &shape, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    if !report.is_clean() {
        return report.finish().map(|()| TopologySpec::default());
    }
    let topology = convert(&node, &mut report);
    report.finish().map(|()| topology)
}

/// Returns whether the documents contain a Node or a Pod, alone or in a list.
fn is_cluster_dump(documents: &[YamlNode]) -> bool {
    let kind = |node: &YamlNode| node.get("kind").and_then(YamlNode::as_str).map(str::to_owned);
    let is_node = |node: &YamlNode| kind(node).is_some_and(|kind| ["Node", "Pod"].contains(&kind.as_str()));
    documents.iter().any(|document| match kind(document).as_deref() {
        Some("NodeList" | "PodList") => true,
        Some(kind) if kind.ends_with("List") => {
            let items = document.get("items");
            items.is_some_and(|items| items.items().iter().any(is_node))
        }
        _ => is_node(document),
    })
}

/// Returns an error for a file that belongs to another option of the command line.
fn something_else(documents: &[YamlNode], source: &SourceText) -> Option<Diagnostic> {
    let first = documents.first()?;
    let kind = first.get("kind")?;
    let (message, suggestion) = match kind.as_str()? {
        "Scenario" => ("this is a Scenario, not a Topology", "pass it to run as the scenario"),
        "JobSet" | "List" | "JobSetList" => ("this is a manifest, not a Topology", "pass it with -f"),
        _ => return None,
    };
    let mut error = Diagnostic::at(source, kind.at, message.to_owned());
    error.suggest(suggestion);
    Some(error)
}

/// Converts a checked node to a topology.
pub fn convert(node: &YamlNode, report: &mut DiagnosticReport) -> TopologySpec {
    let metadata = |key: &str| {
        let text = node.at_path(&["metadata", key]).and_then(YamlNode::as_str);
        text.unwrap_or("").to_owned()
    };
    let nodes = read::list(node, "pools");
    let mut topology = TopologySpec {
        name: metadata("name"),
        description: metadata("description"),
        pools: nodes.iter().map(pool).collect(),
        dcn_levels: read::list(node, "dcnLevels").iter().map(links::dcn_level).collect(),
        slices: slices::slices(node),
        currency: read::string(node, "currency").unwrap_or_else(|| "USD".to_owned()),
        extended_resource_toleration: read::boolean(node, "extendedResourceToleration").unwrap_or(false),
        acting_annotations: Vec::new(),
        running_pods: RunningPods::default(),
    };
    let at = node.get("pools").map_or(node.at, |p| p.at);
    for (i, (pool, node)) in topology.pools.iter().zip(nodes).enumerate() {
        let name = node.get("name").map_or(node.at, |n| n.at);
        if topology.pools[..i].iter().any(|other| other.name == pool.name) {
            report.error(name, format!("duplicate pool name {:?}", pool.name));
        }
        check_pool(pool, node, report);
        links::check(pool, node, report);
        let place = |resource: &str| node.at_path(&["allocatable", resource]);
        let at = |resource: &str| place(resource).map_or(node.at, |n| n.at);
        too_many_devices(&topology, &pool.allocatable, at, report);
    }
    sizes(&topology, nodes, at, report);
    if report.is_clean() {
        names_twice(&topology, nodes, report);
    }
    for (level, node) in topology.dcn_levels.iter().zip(read::list(node, "dcnLevels")) {
        let known = label_keys(&topology);
        if !known.contains(&level.label) {
            let at = node.get("label").map_or(node.at, |l| l.at);
            let error = report.error(at, format!("no node has the label {:?}", level.label));
            error.legal(known.join(", "));
        }
    }
    slices::apply(&mut topology, node, report);
    topology
}

/// Returns all label keys of the nodes.
pub fn label_keys(topology: &TopologySpec) -> Vec<String> {
    let listed = topology.pools.iter().flat_map(|pool| &pool.nodes).map(|node| &node.labels);
    let all = topology.pools.iter().map(|pool| &pool.labels).chain(listed);
    let keys: BTreeSet<&String> = all.flat_map(|labels| labels.keys()).collect();
    keys.into_iter().cloned().collect()
}

fn pool(node: &YamlNode) -> NodePool {
    let count = |key: &str| read::u32_of(node, key).unwrap_or(1);
    let mut allocatable = read::quantities(node, "allocatable");
    allocatable.entry("pods".to_owned()).or_insert(PODS_PER_NODE_MILLI);
    let labels = read::string_map(node, "labels");
    let billing = node.get("billing").and_then(YamlNode::as_str);
    let billing = MachineBilling::ALL.into_iter().find(|b| Some(b.as_str()) == billing);
    NodePool {
        name: read::string(node, "name").unwrap_or_default(),
        count: count("count"),
        islands: count("islands"),
        nodes_per_island: count("nodesPerIsland"),
        island_kind: match node.get("islandKind").and_then(YamlNode::as_str) {
            Some("Ici") => IslandKind::Ici,
            Some("NvLink") => IslandKind::NvLink,
            _ => IslandKind::None,
        },
        interconnect: node.get("interconnect").and_then(links::interconnect),
        billing: billing.unwrap_or_else(|| MachineBilling::from_labels(&labels)),
        labels,
        taints: read::list(node, "taints").iter().map(taint).collect(),
        allocatable,
        occupied: read::quantities(node, "occupied"),
        accelerator: read::string(node, "accelerator").unwrap_or_default(),
        price: price(node),
        features: read::strings(node, "features"),
        nodes: read::list(node, "nodes").iter().map(|listed| listed_node(listed, node)).collect(),
    }
}

fn listed_node(node: &YamlNode, pool: &YamlNode) -> NamedNode {
    let own = read::list(node, "taints");
    let all = if own.is_empty() { &[] } else { read::list(pool, "taints") };
    NamedNode {
        name: read::string(node, "name").unwrap_or_default(),
        labels: read::string_map(node, "labels"),
        taints: all.iter().chain(own).map(taint).collect(),
        allocatable: read::quantities(node, "allocatable"),
        occupied: read::quantities(node, "occupied"),
        workloads: held_by(node, "workloads"),
        jobsets: held_by(node, "jobSets"),
    }
}

fn held_by(node: &YamlNode, field: &str) -> BTreeMap<String, sim_api::spec::ResourceAmounts> {
    let Some(held) = node.get(field) else { return BTreeMap::new() };
    held.entries().iter().map(|(key, _)| (key.name.clone(), read::quantities(held, &key.name))).collect()
}

fn price(node: &YamlNode) -> AcceleratorPrice {
    let micros = |key: &str| read::number(node, key).map(AcceleratorPrice::micros);
    match micros(PER_ACCELERATOR) {
        Some(micros) => AcceleratorPrice::PerAccelerator(micros),
        None => AcceleratorPrice::PerNode(micros(PER_NODE).unwrap_or(0)),
    }
}

/// Reports nodes with too many accelerators. A resource is an accelerator if some pool names it as such; `at`
/// returns the position of a resource.
pub fn too_many_devices(
    topology: &TopologySpec, allocatable: &BTreeMap<String, i64>, at: impl Fn(&str) -> SourcePosition,
    report: &mut DiagnosticReport,
) {
    let accelerator = |name: &str| topology.pools.iter().any(|p| p.accelerator == name);
    for (name, milli) in allocatable {
        if milli / 1_000 > DEVICES_MAX && accelerator(name) {
            let message = format!("a node has too many accelerators: {} of {name:?}", milli / 1_000);
            let error = report.error(at(name), message);
            error.legal(format!("at most {DEVICES_MAX} accelerators on a node"));
        }
    }
}

fn check_pool(pool: &NodePool, node: &YamlNode, report: &mut DiagnosticReport) {
    let at = |key: &str| node.get(key).map_or(node.at, |n| n.at);
    let mut text = |what: String, text: &str, at: SourcePosition, rule: NameRule| {
        let wrong = match expanded(text) {
            Some(sample) => rule(&sample).into_iter().next(),
            None => Some(format!("supported variables: {}", RUNNING_NUMBERS.join(", "))),
        };
        if let Some(problem) = wrong {
            let rule = names::without_examples(&problem);
            report.error(at, format!("{what} is {text:?}: {rule}"));
        }
    };
    text("the pool name".to_owned(), &pool.name, at("name"), names::dns1123_subdomain);
    for (key, value) in node.get("labels").map_or(&[][..], YamlNode::entries) {
        text("a label key".to_owned(), &key.name, key.at, names::label_key);
        let what = format!("the value of label {:?}", key.name);
        text(what, value.as_str().unwrap_or(""), value.at, names::label_value);
    }
    for (taint, node) in pool.taints.iter().zip(read::list(node, "taints")) {
        let at = |key: &str| node.get(key).map_or(node.at, |n| n.at);
        text("a taint key".to_owned(), &taint.key, at("key"), names::label_key);
        text("a taint value".to_owned(), &taint.value, at("value"), names::label_value);
    }
    for listed in read::list(node, "nodes") {
        let name = listed.get("name");
        let written = name.and_then(YamlNode::as_str).unwrap_or("");
        text("the node name".to_owned(), written, name.map_or(listed.at, |n| n.at), names::dns1123_subdomain);
        for (key, value) in listed.get("labels").map_or(&[][..], YamlNode::entries) {
            text("a label key".to_owned(), &key.name, key.at, names::label_key);
            let what = format!("the value of label {:?}", key.name);
            text(what, value.as_str().unwrap_or(""), value.at, names::label_value);
        }
    }
    check_taints(&pool.taints, read::list(node, "taints"), node.at, report);
    for (named, listed) in pool.nodes.iter().zip(read::list(node, "nodes")) {
        check_taints(&named.taints, read::list(listed, "taints"), listed.at, report);
    }
    check_occupied(pool, node, report);
    if !pool.accelerator.is_empty() && !pool.allocatable.contains_key(&pool.accelerator) {
        let message = format!("the accelerator {:?} is missing from allocatable", pool.accelerator);
        let known: Vec<&str> = pool.allocatable.keys().map(String::as_str).collect();
        report.error(at("accelerator"), message).legal(known.join(", "));
    }
}

/// Reports taints of a node with the key and effect of another one (`ValidateNode`).
fn check_taints(taints: &[TaintSpec], written: &[YamlNode], at: SourcePosition, report: &mut DiagnosticReport) {
    for (i, taint) in taints.iter().enumerate() {
        let is_same = |other: &TaintSpec| (&other.key, other.effect) == (&taint.key, taint.effect);
        if taints[..i].iter().any(is_same) {
            // The taints of a listed node follow those of its pool.
            let own = (i + written.len()).checked_sub(taints.len()).and_then(|own| written.get(own));
            let message = format!("a second taint has key {:?} and this effect", taint.key);
            let error = report.error(own.map_or(at, |own| own.at), message);
            error.legal("taints must be unique by key and effect pair".to_owned());
        }
    }
}

/// Reports occupied resources that a node does not have, and resources of Workloads and JobSets that are not occupied.
fn check_occupied(pool: &NodePool, node: &YamlNode, report: &mut DiagnosticReport) {
    for (node, listed) in read::list(node, "nodes").iter().zip(&pool.nodes) {
        let occupied = pool.occupied_of(Some(listed));
        let parts = [("workloads", "a Workload"), ("jobSets", "a JobSet")].into_iter().flat_map(|(field, owner)| {
            let entries = node.get(field).map_or(&[][..], YamlNode::entries);
            entries.iter().flat_map(|(_, held)| held.entries()).map(move |(key, _)| (key, owner))
        });
        for (key, owner) in parts {
            if !occupied.contains_key(&key.name) {
                let message = format!("the resource {:?} of {owner} is missing from occupied", key.name);
                let known: Vec<&str> = occupied.keys().map(String::as_str).collect();
                report.error(key.at, message).legal(known.join(", "));
            }
        }
    }
    let listed = read::list(node, "nodes").iter().zip(&pool.nodes);
    let all = listed.map(|(node, listed)| (node, pool.allocatable_of(Some(listed))));
    for (node, has) in std::iter::once((node, pool.allocatable.clone())).chain(all) {
        for (key, _) in node.get("occupied").map_or(&[][..], YamlNode::entries) {
            if !has.contains_key(&key.name) {
                let message = format!("the occupied resource {:?} is missing from allocatable", key.name);
                let known: Vec<&str> = has.keys().map(String::as_str).collect();
                report.error(key.at, message).legal(known.join(", "));
            }
        }
    }
}

/// Replaces the variables in a text by large numbers, for validation. `{node:05}` pads with zeros, `{node/2}` divides.
/// Returns `None` for an unknown variable.
fn expanded(text: &str) -> Option<String> {
    let mut sample = String::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{') {
        let (inside, tail) = tail.split_once('}')?;
        let (word, width) = inside.split_once(':').unwrap_or((inside, "0"));
        let (word, divisor) = word.split_once('/').unwrap_or((word, "1"));
        if divisor.parse::<u32>().unwrap_or(0) == 0 {
            return None;
        }
        if !RUNNING_NUMBERS.contains(&format!("{{{word}}}").as_str()) || width.parse::<u8>().is_err() {
            return None;
        }
        sample.push_str(before);
        sample.push_str("999999");
        rest = tail;
    }
    if rest.contains('}') {
        return None;
    }
    sample.push_str(rest);
    Some(sample)
}

/// Reports duplicate node names. Only pools whose fixed name prefixes overlap are compared.
fn names_twice(topology: &TopologySpec, nodes: &[YamlNode], report: &mut DiagnosticReport) {
    let pools = &topology.pools;
    let fixed = |p: &NodePool| p.name.split('{').next().unwrap_or("").to_owned();
    let fixed: Vec<String> = pools.iter().map(fixed).collect();
    let is_similar =
        |i: usize, j: usize| i != j && (fixed[i].starts_with(&fixed[j]) || fixed[j].starts_with(&fixed[i]));
    let has_listed = pools.iter().any(|pool| !pool.nodes.is_empty());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (i, pool) in pools.iter().enumerate() {
        if !has_listed && !(0..pools.len()).any(|j| is_similar(i, j)) {
            continue;
        }
        for name in node_names(std::slice::from_ref(pool)) {
            let Some(other) = seen.insert(name.clone(), i) else {
                continue;
            };
            let at = nodes[i].get("name").map_or(nodes[i].at, |n| n.at);
            if other == i {
                report.error(at, format!("duplicate node name {name:?} in this pool"));
                break;
            }
            let message =
                format!("duplicate node name {name:?}: pool {:?} and this pool both generate it", pools[other].name);
            let error = report.error(at, message);
            error.suggest("give the names of each pool a different prefix");
            break;
        }
    }
}

fn sizes(topology: &TopologySpec, nodes: &[YamlNode], at: SourcePosition, report: &mut DiagnosticReport) {
    let limit = NODES_MAX as u64;
    let size = |p: &NodePool| {
        let islands = u64::from(p.count) * u64::from(p.islands);
        islands.saturating_mul(u64::from(p.nodes_per_island))
    };
    for (pool, node) in topology.pools.iter().zip(nodes) {
        if size(pool) > limit {
            let message = format!("pool {:?} has {} nodes", pool.name, size(pool));
            report.error(node.at, message).legal(format!("at most {limit}"));
            return;
        }
    }
    match topology.pools.iter().map(size).fold(0, u64::saturating_add) {
        0 => {
            report.error(at, "the topology has no nodes: every pool is empty");
        }
        total if total > limit => {
            let message = format!("the topology has {total} nodes");
            report.error(at, message).legal(format!("at most {limit}"));
        }
        _ => {}
    }
}
