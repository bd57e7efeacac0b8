//! Replaces names. An import of a cluster keeps only public names: those of resources, machine types, and labels that
//! platforms define. Every other name is replaced or dropped.

use super::import::{ImportMember, MemberTaint};
use super::named_pools::{PoolKey, key, natural};
use super::platforms::{ACCELERATORS, DOMAIN_LABELS, PUBLIC_VALUES};
use sim_api::spec::ResourceAmounts;
use sim_api::spec::keys::{HOSTNAME, RESTART_ALL_CONTAINERS};
use std::collections::{BTreeMap, BTreeSet};

/// Replacement names by category. The same name is always replaced in the same way.
#[derive(Debug, Default)]
pub struct AnonymousNames {
    known: BTreeMap<(String, String), String>,
    counts: BTreeMap<String, usize>,
}

impl AnonymousNames {
    pub fn replacement(&mut self, category: &str, name: &str) -> String {
        let key = (category.to_owned(), name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let n = self.counts.entry(category.to_owned()).or_default();
        let new = match category {
            "node" => format!("n-{n:05}"),
            _ => format!("{category}-{n}"),
        };
        *n += 1;
        self.known.insert(key, new.clone());
        new
    }

    /// Returns the names of a category that were replaced, in alphabetical order.
    pub fn names_of(&self, category: &str) -> impl Iterator<Item = &str> {
        let known = self.known.keys().filter(move |(of, _)| of == category);
        known.map(|(_, name)| name.as_str())
    }

    /// Returns the name of a resource, which is kept if it is public.
    pub fn resource(&mut self, name: &str) -> String {
        let is_public = PUBLIC_RESOURCES.contains(&name) || ACCELERATORS.contains(&name);
        if is_public || name.starts_with("hugepages-") {
            return name.to_owned();
        }
        format!("example.com/{}", self.replacement("resource", name))
    }
}

/// Resource names that are kept, besides those of accelerators.
const PUBLIC_RESOURCES: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pods"];
/// Prefixes of the keys of taints that Kubernetes and the platforms set.
const PUBLIC_TAINTS: [&str; 4] = ["kubernetes.io/", "node.kubernetes.io/", "cloud.google.com/gke-", "karpenter.sh/"];
/// Values of taints that are kept.
const PUBLIC_TAINT_VALUES: [&str; 6] = ["", "present", "true", "spot", "arm64", "amd64"];

/// Replaces the names of nodes and of their labels, taints and resources. Names are numbered in the order of pools,
/// islands and nodes, so that equal nodes can share a pattern.
pub(super) fn anonymize(members: &mut [ImportMember]) {
    let mut sizes: BTreeMap<_, usize> = BTreeMap::new();
    for member in members.iter() {
        *sizes.entry(island(member)).or_default() += 1;
    }
    let pool_of = |m: &ImportMember| {
        let (key, island) = island(m);
        let size = sizes.get(&(key.clone(), island)).copied().unwrap_or(0);
        (key, size)
    };
    members.sort_by_cached_key(|m| (pool_of(m), natural(&island(m).1), natural(&m.name)));
    let groups = grouping_labels(members);
    let mut names = AnonymousNames::default();
    let mut values: BTreeMap<(String, String), String> = BTreeMap::new();
    let (mut pool, mut before) = (0, None);
    for member in members {
        let of = Some(pool_of(member));
        if before.is_some() && before != of {
            pool += 1;
        }
        before = of;
        let mut labels = BTreeMap::new();
        for (key, value) in &member.labels {
            let Some((new, word)) = public_label(key, &groups, &mut names) else { continue };
            let Some(word) = word else {
                labels.insert(new, value.clone());
                continue;
            };
            //  A domain that several pools share keeps the number of the first one.
            let replacement = values
                .entry((key.clone(), value.clone()))
                .or_insert_with(|| names.replacement(&format!("{word}{pool}"), &format!("{key}={value}")));
            labels.insert(new, replacement.clone());
        }
        member.labels = labels;
        // The names of Workloads and JobSets belong to the users of the cluster.
        member.workloads.clear();
        member.jobsets.clear();
        member.name = names.replacement(&format!("node{pool}"), &member.name);
        let kind = &mut member.kind;
        kind.features.retain(|feature| feature == RESTART_ALL_CONTAINERS);
        for amounts in [&mut kind.allocatable, &mut kind.daemons, &mut member.about, &mut member.occupied] {
            *amounts = resources(amounts, &mut names);
        }
        for taint in &mut kind.taints {
            *taint = public_taint(taint, &mut names);
        }
        kind.taints.sort();
    }
}

/// Returns the pool of a node, and the value of the label of its island.
fn island(m: &ImportMember) -> (PoolKey, String) {
    let value = m.kind.island.label.and_then(|label| m.labels.get(label));
    (key(m), value.cloned().unwrap_or_default())
}

/// Returns the keys of unknown labels whose values group nodes: several values, and fewer than nodes.
fn grouping_labels(members: &[ImportMember]) -> BTreeSet<String> {
    let mut values: BTreeMap<&String, (usize, BTreeSet<&String>)> = BTreeMap::new();
    for (key, value) in members.iter().flat_map(|m| &m.labels) {
        let seen = values.entry(key).or_default();
        seen.0 += 1;
        seen.1.insert(value);
    }
    let grouping = values.into_iter().filter(|(_, (nodes, values))| values.len() > 1 && values.len() < *nodes);
    grouping.map(|(key, _)| key.clone()).collect()
}

/// Returns the new key of a label, and the word for its values, which is absent if they are public. Returns `None` for
/// a label that is dropped.
fn public_label(key: &str, groups: &BTreeSet<String>, names: &mut AnonymousNames) -> Option<(String, Option<String>)> {
    if PUBLIC_VALUES.contains(&key) {
        return Some((key.to_owned(), None));
    }
    if key == HOSTNAME {
        return Some((key.to_owned(), Some("hostname".to_owned())));
    }
    if let Some(known) = DOMAIN_LABELS.iter().find(|label| label.key == key) {
        return Some((key.to_owned(), Some(known.name.to_owned())));
    }
    let key = groups.get(key).map(|key| names.replacement("topology", key))?;
    let word = format!("{key}-domain");
    Some((key, Some(word)))
}

fn resources(amounts: &ResourceAmounts, names: &mut AnonymousNames) -> ResourceAmounts {
    amounts.iter().map(|(name, milli)| (names.resource(name), *milli)).collect()
}

fn public_taint((key, value, effect): &MemberTaint, names: &mut AnonymousNames) -> MemberTaint {
    let is_public = ACCELERATORS.contains(&key.as_str()) || PUBLIC_TAINTS.iter().any(|prefix| key.starts_with(prefix));
    let is_kept = PUBLIC_TAINT_VALUES.contains(&value.as_str());
    let value = if is_kept { value.clone() } else { names.replacement("value", value) };
    (if is_public { key.clone() } else { names.replacement("taint", key) }, value, *effect)
}
