//! Why nothing fitted, in kube-scheduler's wording.

use std::collections::BTreeMap;

/// One node's reason for refusing a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reasons {
    Selector,
    Feature,
    Taint(String, String),
    Insufficient(String),
    TooManyPods,
    Affinity,
    AntiAffinity,
    UnboundClaims,
}

impl Reasons {
    pub fn insufficient(resource: &str) -> Reasons {
        if resource == "pods" {
            Reasons::TooManyPods
        } else {
            Reasons::Insufficient(resource.to_owned())
        }
    }

    fn text(&self) -> String {
        match self {
            Reasons::Selector => "node(s) didn't match Pod's node affinity/selector".to_owned(),
            Reasons::Feature => "node(s) didn't match Pod's required features".to_owned(),
            Reasons::Taint(key, value) if value.is_empty() => {
                format!("node(s) had untolerated taint(s) {{{key}: }}")
            }
            Reasons::Taint(key, value) => {
                format!("node(s) had untolerated taint(s) {{{key}: {value}}}")
            }
            Reasons::Insufficient(resource) => format!("Insufficient {resource}"),
            Reasons::TooManyPods => "Too many pods".to_owned(),
            Reasons::Affinity => "node(s) didn't match pod affinity rules".to_owned(),
            Reasons::AntiAffinity => "node(s) didn't match pod anti-affinity rules".to_owned(),
            Reasons::UnboundClaims => "pod has unbound immediate PersistentVolumeClaims".to_owned(),
        }
    }
}

/// `0/16 nodes are available: 12 Insufficient cpu, 4 node(s) didn't match …` with counts, reasons sorted by text.
pub fn explain(nodes: usize, reasons: impl Iterator<Item = Reasons>) -> String {
    let mut counts: BTreeMap<Reasons, u32> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let mut parts: Vec<String> = counts
        .iter()
        .map(|(r, n)| match r {
            // Found before any node is looked at.
            Reasons::UnboundClaims => r.text(),
            _ => format!("{n} {}", r.text()),
        })
        .collect();
    parts.sort();
    format!("0/{nodes} nodes are available: {}.", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_sorted_as_the_scheduler_does() {
        let reasons = [
            Reasons::insufficient("cpu"),
            Reasons::Selector,
            Reasons::insufficient("cpu"),
        ];
        assert_eq!(
            explain(3, reasons.into_iter()),
            "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient cpu."
        );
    }
}
