//! The compressed form of an assignment in `status.admission` (`pkg/util/tas/tas_assignment.go`, with
//! `TASAssignmentsEncodingByHostnamePrefix`).

use super::assignment::{DomainAssignment, TopologyAssignment};
use sim_api::spec::keys::HOSTNAME;
use std::collections::BTreeMap;

/// Largest number of slices of an assignment.
const SLICES_MAX: usize = 1000;

/// Consecutive domains of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentSlice {
    pub domain_count: usize,
    pub values_per_level: Vec<LevelValues>,
    pub pod_counts: PodCounts,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelValues {
    Universal(String),
    /// Each value is `prefix`, its root and `suffix`.
    Individual {
        prefix: String,
        suffix: String,
        roots: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodCounts {
    Universal(u32),
    Individual(Vec<u32>),
}

/// Splits an assignment by prefixes of host names if this makes it shorter, else into one slice.
pub fn compress(assignment: &TopologyAssignment) -> Vec<AssignmentSlice> {
    let domains = &assignment.domains;
    if domains.is_empty() {
        return Vec::new();
    }
    let single = vec![AssignmentSlice::new(domains)];
    let is_by_host = assignment.levels.last().is_some_and(|key| key == HOSTNAME);
    let Some(keys) = prefix_keys(domains).filter(|_| is_by_host) else { return single };
    let mut split = Vec::new();
    let mut start = 0;
    for end in 1..=domains.len() {
        if end == domains.len() || keys[end] != keys[start] {
            split.push(AssignmentSlice::new(&domains[start..end]));
            start = end;
        }
    }
    let length = |slices: &[AssignmentSlice]| slices.iter().map(|slice| slice.json().len() + 1).sum::<usize>();
    if split.len() > 1 && length(&single) < length(&split) { single } else { split }
}

/// Restores the domains of an assignment.
pub fn decompress(slices: &[AssignmentSlice]) -> Vec<DomainAssignment> {
    slices.iter().flat_map(|slice| (0..slice.domain_count).filter_map(|at| slice.domain(at))).collect()
}

impl AssignmentSlice {
    fn new(domains: &[DomainAssignment]) -> AssignmentSlice {
        let values =
            |level: usize| domains.iter().map(move |domain| domain.values.get(level).map_or("", String::as_str));
        let levels = domains.first().map_or(0, |domain| domain.values.len());
        let first = domains.first().map_or(0, |domain| domain.count);
        AssignmentSlice {
            domain_count: domains.len(),
            values_per_level: (0..levels).map(|level| LevelValues::new(&values(level).collect::<Vec<_>>())).collect(),
            pod_counts: if domains.iter().all(|domain| domain.count == first) {
                PodCounts::Universal(first)
            } else {
                PodCounts::Individual(domains.iter().map(|domain| domain.count).collect())
            },
        }
    }

    fn domain(&self, at: usize) -> Option<DomainAssignment> {
        let values: Option<Vec<String>> = self.values_per_level.iter().map(|values| values.get(at)).collect();
        let count = match &self.pod_counts {
            PodCounts::Universal(count) => *count,
            PodCounts::Individual(counts) => *counts.get(at)?,
        };
        Some(DomainAssignment { values: values?, count })
    }

    /// Returns the slice as the API server stores it.
    pub fn json(&self) -> String {
        let values: Vec<String> = self.values_per_level.iter().map(LevelValues::json).collect();
        let counts = match &self.pod_counts {
            PodCounts::Universal(count) => format!("\"universal\":{count}"),
            PodCounts::Individual(counts) => {
                let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
                format!("\"individual\":[{}]", counts.join(","))
            }
        };
        let (count, values) = (self.domain_count, values.join(","));
        format!("{{\"domainCount\":{count},\"valuesPerLevel\":[{values}],\"podCounts\":{{{counts}}}}}")
    }
}

impl LevelValues {
    fn new(values: &[&str]) -> LevelValues {
        let first = values.first().copied().unwrap_or_default();
        if values.iter().all(|value| *value == first) {
            return LevelValues::Universal(first.to_owned());
        }
        let prefix = values.iter().fold(first, |prefix, value| &prefix[..common_prefix(prefix, value)]);
        let suffix = values.iter().fold(first, |suffix, value| &suffix[suffix.len() - common_suffix(suffix, value)..]);
        let shortest = values.iter().map(|value| value.len()).min().unwrap_or(0);
        let prefix = &prefix[..prefix.len().min(shortest - suffix.len())];
        let root = |value: &&str| value[prefix.len()..value.len() - suffix.len()].to_owned();
        LevelValues::Individual {
            roots: values.iter().map(root).collect(),
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
        }
    }

    fn get(&self, at: usize) -> Option<String> {
        match self {
            LevelValues::Universal(value) => Some(value.clone()),
            LevelValues::Individual { prefix, suffix, roots } => Some(format!("{prefix}{}{suffix}", roots.get(at)?)),
        }
    }

    fn json(&self) -> String {
        match self {
            LevelValues::Universal(value) => format!("{{\"universal\":{value:?}}}"),
            LevelValues::Individual { prefix, suffix, roots } => {
                let affix = |name: &str, value: &str| match value {
                    "" => String::new(),
                    value => format!("\"{name}\":{value:?},"),
                };
                let (prefix, suffix) = (affix("prefix", prefix), affix("suffix", suffix));
                let roots: Vec<String> = roots.iter().map(|root| format!("{root:?}")).collect();
                format!("{{\"individual\":{{{prefix}{suffix}\"roots\":[{}]}}}}", roots.join(","))
            }
        }
    }
}

/// Returns the length of the common prefix. Values of labels are ASCII.
fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

fn common_suffix(a: &str, b: &str) -> usize {
    a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// Returns the longest prefix up to a hyphen that each host name shares with another one, or an empty prefix. Prefixes
/// are shortened until there are few enough slices.
fn prefix_keys(domains: &[DomainAssignment]) -> Option<Vec<&str>> {
    let host = |domain: &'_ DomainAssignment| -> usize { domain.values.len().saturating_sub(1) };
    let hosts: Vec<&str> =
        domains.iter().filter_map(|domain| Some(domain.values.get(host(domain))?.as_str())).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for host in &hosts {
        prefixes(host).for_each(|prefix| *counts.entry(prefix).or_default() += 1);
    }
    let depth = hosts.iter().map(|host| prefixes(host).count()).max().unwrap_or(0);
    let mut depths = (1..=depth).rev().map(|depth| {
        let shared = |host: &&'_ str| -> usize {
            let candidates: Vec<&str> = prefixes(host).take(depth).collect();
            candidates.into_iter().rev().find(|prefix| counts[prefix] > 1).map_or(0, str::len)
        };
        hosts.iter().map(|host| &host[..shared(host)]).collect::<Vec<&str>>()
    });
    depths.find(|keys| keys.windows(2).filter(|pair| pair[0] != pair[1]).count() < SLICES_MAX)
}

fn prefixes(host: &str) -> impl Iterator<Item = &str> {
    let inner = host.char_indices().filter(|(at, c)| *c == '-' && at + 1 < host.len());
    inner.map(|(at, _)| &host[..=at])
}
