//! Terms of a pod about other pods: affinity, anti-affinity and topology spread constraints.

use crate::labels::{LabelSelector, Labels};
use serde_json::Value;
use sim_api::objects::value_access::{has_value, int, list, text};
use sim_api::spec::keys::{HOSTNAME, ZONE};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Topology keys and `maxSkew` of the constraints of a pod that has none but that a Service selects
/// (`systemDefaultConstraints` in `podtopologyspread/plugin.go`).
pub const DEFAULT_SPREAD: [(&str, i64); 2] = [(HOSTNAME, 3), (ZONE, 5)];

/// A term of `podAffinity` or `podAntiAffinity`. The API server has merged its `matchLabelKeys` and
/// `mismatchLabelKeys` into the label selector.
#[derive(Clone, Debug, PartialEq)]
pub struct PodTerm {
    pub topology_key: String,
    selector: LabelSelector,
    namespaces: Vec<String>,
    namespace_selector: LabelSelector,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodTerms {
    pub required: Vec<PodTerm>,
    pub preferred: Vec<(i64, PodTerm)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SpreadConstraint {
    pub topology_key: String,
    pub max_skew: i64,
    pub min_domains: i64,
    /// Whether the constraint filters nodes (DoNotSchedule) rather than scoring them (ScheduleAnyway).
    pub is_required: bool,
    pub selector: LabelSelector,
    pub honors_affinity: bool,
    pub honors_taints: bool,
}

impl PodTerm {
    fn read(term: &Value, own_namespace: &str) -> PodTerm {
        let listed = list(term, "namespaces").iter().filter_map(Value::as_str).map(str::to_owned);
        let mut namespaces: Vec<String> = listed.collect();
        if namespaces.is_empty() && !has_value(term, "namespaceSelector") {
            namespaces.push(own_namespace.to_owned());
        }
        PodTerm {
            topology_key: text(term, "topologyKey").to_owned(),
            selector: LabelSelector::read(term, "labelSelector"),
            namespaces,
            namespace_selector: LabelSelector::read(term, "namespaceSelector"),
        }
    }

    /// Returns whether the term selects a pod with these labels in a namespace with these labels.
    pub fn selects(&self, namespace: &str, namespace_labels: &Labels, labels: &Labels) -> bool {
        let in_scope =
            self.namespaces.iter().any(|n| n == namespace) || self.namespace_selector.matches(namespace_labels);
        in_scope && self.selector.matches(labels)
    }

    /// Returns whether the term may select a pod with these labels, whatever labels its namespace has.
    pub fn may_select(&self, namespace: &str, labels: &Labels) -> bool {
        let in_scope = self.namespaces.iter().any(|n| n == namespace) || !self.namespace_selector.is_nil();
        in_scope && self.selector.matches(labels)
    }

    /// Returns whether the term selects pods by this label.
    pub fn names_label(&self, key: &str) -> bool {
        self.selector.names_label(key)
    }
}

impl PodTerms {
    /// Reads `podAffinity` or `podAntiAffinity` of a stored pod.
    pub fn read(affinity: &Value, namespace: &str) -> PodTerms {
        let weighted = |t: &Value| (int(t, "weight").unwrap_or(0), PodTerm::read(&t["podAffinityTerm"], namespace));
        PodTerms {
            required: list(affinity, REQUIRED).iter().map(|t| PodTerm::read(t, namespace)).collect(),
            preferred: list(affinity, PREFERRED).iter().map(weighted).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.preferred.is_empty()
    }
}

impl SpreadConstraint {
    /// Reads the constraints of a pod spec.
    pub fn read_all(spec: &Value, labels: &Labels) -> Vec<SpreadConstraint> {
        list(spec, "topologySpreadConstraints").iter().map(|c| SpreadConstraint::read(c, labels)).collect()
    }

    /// Returns the constraints of [`DEFAULT_SPREAD`] without a selector.
    pub fn system_defaults() -> Vec<SpreadConstraint> {
        let constraint = |(key, max_skew): (&str, i64)| SpreadConstraint {
            topology_key: key.to_owned(),
            max_skew,
            min_domains: 1,
            is_required: false,
            selector: LabelSelector::default(),
            honors_affinity: true,
            honors_taints: false,
        };
        DEFAULT_SPREAD.into_iter().map(constraint).collect()
    }

    /// Reads a constraint of a pod with these labels; `matchLabelKeys` become requirements.
    pub fn read(constraint: &Value, labels: &Labels) -> SpreadConstraint {
        let mut selector = LabelSelector::read(constraint, "labelSelector");
        for key in list(constraint, "matchLabelKeys").iter().filter_map(Value::as_str) {
            if let Some(value) = labels.get(key) {
                selector.require(key, value);
            }
        }
        SpreadConstraint {
            topology_key: text(constraint, "topologyKey").to_owned(),
            max_skew: int(constraint, "maxSkew").unwrap_or(1),
            min_domains: int(constraint, "minDomains").unwrap_or(1),
            is_required: text(constraint, "whenUnsatisfiable") == "DoNotSchedule",
            selector,
            honors_affinity: text(constraint, "nodeAffinityPolicy") != "Ignore",
            honors_taints: text(constraint, "nodeTaintsPolicy") == "Honor",
        }
    }
}
