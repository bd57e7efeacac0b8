//! Describes the domains that the labels of imported nodes define, and what is missing.

use super::import::{ImportMember, some};
use super::platforms::{ACCELERATORS, DOMAIN_LABELS, DomainLabel, KUBERNETES, NODE_POOL, accelerator_of, slice_chips};
use sim_api::spec::IslandKind;
use std::collections::{BTreeMap, BTreeSet};

/// Returns a line for each kind of island, and one for each level, from coarse to fine. A single region or zone is
/// omitted.
pub(super) fn domains(members: &[ImportMember]) -> Vec<String> {
    let mut islands = Vec::new();
    let mut levels = Vec::new();
    for (label, with) in DOMAIN_LABELS.iter().zip(nodes_by_label(members)) {
        let (own, others): (Vec<&ImportMember>, Vec<&ImportMember>) =
            with.into_iter().partition(|m| m.kind.island.label == Some(label.key));
        if let Some(first) = own.first() {
            let kind = kind_name(first.kind.island.kind);
            islands.push(format!("islands: {}; each is one {kind}", line(label, &own, members.len())));
        }
        let values: BTreeSet<&String> = others.iter().filter_map(|m| m.labels.get(label.key)).collect();
        let is_trivial = label.key == NODE_POOL || (label.origin == KUBERNETES && values.len() == 1);
        if !others.is_empty() && !is_trivial {
            levels.push(format!("level {}: {}", label.name, line(label, &others, members.len())));
        }
    }
    let alone = |kind| members.iter().filter(|m| m.kind.island.is_node() && m.kind.island.kind == kind).count();
    let (slices, nodes) = (alone(IslandKind::Ici), alone(IslandKind::NvLink));
    if slices > 0 {
        islands.push(format!("islands: {slices} single-host TPU slices, from the shape in the labels of GKE"));
    }
    if nodes > 0 {
        islands.push(format!("islands: {nodes} nodes; each is one NVLink domain, from its machine or accelerator"));
    }
    islands.into_iter().chain(levels).collect()
}

/// Returns the nodes with each of the `DOMAIN_LABELS`.
fn nodes_by_label(members: &[ImportMember]) -> Vec<Vec<&ImportMember>> {
    let mut nodes: Vec<Vec<&ImportMember>> = vec![Vec::new(); DOMAIN_LABELS.len()];
    let mut order: Vec<(&str, usize)> = DOMAIN_LABELS.iter().enumerate().map(|(i, label)| (label.key, i)).collect();
    order.sort_unstable();
    for member in members {
        //  Both are sorted.
        let mut known = order.iter().peekable();
        for key in member.labels.keys() {
            while known.next_if(|(label, _)| *label < key.as_str()).is_some() {}
            if let Some((_, i)) = known.next_if(|(label, _)| label == key) {
                nodes[*i].push(member);
            }
        }
    }
    nodes
}

fn kind_name(kind: IslandKind) -> &'static str {
    match kind {
        IslandKind::Ici => "ICI domain",
        IslandKind::NvLink => "NVLink domain",
        IslandKind::None => "domain",
    }
}

fn line(label: &DomainLabel, with: &[&ImportMember], all: usize) -> String {
    let values: BTreeSet<&String> = with.iter().filter_map(|m| m.labels.get(label.key)).collect();
    let s = if values.len() == 1 { "" } else { "s" };
    let nodes = if with.len() == all { "all nodes".to_owned() } else { format!("{} of {all} nodes", with.len()) };
    format!("{} ({}), {} value{s} on {nodes}", label.key, label.origin, values.len())
}

/// Returns notes on labels and resources that a cluster with accelerators normally has.
pub(super) fn gaps(members: &[ImportMember]) -> Vec<String> {
    let mut notes = Vec::new();
    let resource = |m: &ImportMember| accelerator_of(&m.kind.allocatable);
    if members.iter().all(|m| resource(m).is_empty()) {
        let known = ACCELERATORS.join(", ");
        notes.push(format!("no node has accelerators: none has one of the resources {known}"));
    }
    let is_tpu_without_island =
        |m: &&ImportMember| resource(m) == ACCELERATORS[0] && m.kind.island.kind == IslandKind::None;
    let without: Vec<String> = members.iter().filter(is_tpu_without_island).map(|m| m.name.clone()).collect();
    if !without.is_empty() {
        let names = some(&without);
        notes.push(format!(
            "the slices of these TPU nodes are unknown, because they have no label of GKE for them: {names}"
        ));
    }
    notes.extend(incomplete_slices(members));
    notes
}

/// Returns a note on static TPU slices with fewer nodes than their shape requires.
fn incomplete_slices(members: &[ImportMember]) -> Option<String> {
    let mut chips: BTreeMap<&String, (i64, i64)> = BTreeMap::new();
    for m in members.iter().filter(|m| m.kind.island.label == Some(NODE_POOL)) {
        let has = m.kind.allocatable.get(accelerator_of(&m.kind.allocatable)).map_or(0, |milli| milli / 1_000);
        let Some((name, wanted)) = m.labels.get(NODE_POOL).zip(slice_chips(&m.labels)) else { continue };
        let slice = chips.entry(name).or_insert((0, wanted));
        slice.0 += has;
    }
    let short = chips.into_iter().filter(|(_, (has, wanted))| has < wanted);
    let short: Vec<String> = short.map(|(name, (has, wanted))| format!("{name} ({has} of {wanted} chips)")).collect();
    (!short.is_empty()).then(|| format!("incomplete TPU slices: {}", some(&short)))
}
