//! Refusals of Kueue's CRDs, of its validation webhooks (`pkg/webhooks`) and of its manager (`pkg/config`), with their
//! messages.

use super::workload_rules::Refusals;
use super::{quotas, workload_rules};
use crate::read;
use crate::schema::definitions::kueue::{CONFIGURATION_V1BETA1, V1BETA1};
use crate::text::locate::locate;
use crate::text::node::{SourcePosition, YamlNode, YamlValue};
use sim_api::admission::error_list::ErrorList;
use sim_api::admission::field::{FieldErrorKind, FieldPath};
use sim_api::admission::{meta_check, names};
use sim_api::objects::check::label_selector;
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::kueue::{KUBE_SYSTEM, NAMESPACE_NAME};
use sim_base::{Duration, quantity};
use std::collections::BTreeSet;

/// Returns the refusals of an object whose fields are valid.
pub fn refusals(node: &YamlNode, kind: &str) -> Refusals {
    let empty = YamlNode::empty_map();
    let spec = node.get("spec").unwrap_or(&empty);
    let mut found = Refusals::new();
    if kind != "Configuration" {
        metadata(node, &mut found);
        references(node, kind, &mut found);
        sizes(node, kind, &mut found);
    }
    let version = node.get("apiVersion").and_then(YamlNode::as_str);
    let (is_cohort, is_old) = (kind == "Cohort", version == Some(V1BETA1));
    if is_cohort || kind == "ClusterQueue" {
        let parents = ["cohortName", "cohort", "parentName"];
        let has_parent = parents.iter().any(|key| read::string(spec, key).is_some_and(|name| !name.is_empty()));
        resource_groups(spec, has_parent, is_cohort, &mut found);
        policies(spec, &mut found);
        admission_checks(spec, is_old, &mut found);
    }
    if is_cohort || kind == "ClusterQueue" {
        fair_weight(spec, &mut found);
    }
    if is_cohort || kind == "LocalQueue" {
        fractions(node, &mut found);
    }
    migration_mode(node, &mut found);
    match kind {
        "ResourceFlavor" => flavor(spec, &mut found),
        "Topology" => levels(spec, &mut found),
        "ClusterQueue" => selector(spec, "namespaceSelector", "spec.namespaceSelector", &mut found),
        "AdmissionCheck" => parameters(spec, &mut found),
        "Configuration" => configuration(node, &mut found),
        "Workload" => found.extend(workload_rules::refusals(node, is_old)),
        _ => {}
    }
    found
}

/// Checks names, labels and annotations as the API server does for every object.
fn metadata(node: &YamlNode, found: &mut Refusals) {
    let Some(metadata) = node.get("metadata") else { return };
    for error in meta_check::create_errors(&metadata.to_json()) {
        // The reader reports an object without a name.
        if error.kind != FieldErrorKind::Required {
            let at = locate(node, error.object_path()).map_or(metadata.at, |place| place.node.at);
            found.push((at, error.to_string()));
        }
    }
}

/// Fields with the name of another object: kind, path and pattern. `*` is every item of a list.
const REFERENCES: [(&str, &[&str]); 10] = [
    ("ClusterQueue", &["spec", "cohortName"]),
    ("ClusterQueue", &["spec", "cohort"]),
    ("ClusterQueue", &["spec", "resourceGroups", "*", "flavors", "*", "name"]),
    ("ClusterQueue", &["spec", "admissionChecksStrategy", "admissionChecks", "*", "onFlavors", "*"]),
    ("Cohort", &["spec", "parentName"]),
    ("Cohort", &["spec", "parent"]),
    ("Cohort", &["spec", "resourceGroups", "*", "flavors", "*", "name"]),
    ("LocalQueue", &["spec", "clusterQueue"]),
    ("ResourceFlavor", &["spec", "topologyName"]),
    ("AdmissionCheck", &["spec", "parameters", "apiGroup"]),
];

/// Returns the refusals of an update by the rules of the CRDs that compare with the old object.
pub fn update_refusals(old: &YamlNode, new: &YamlNode, kind: &str) -> Refusals {
    let text = |node: &YamlNode, key: &str| node.at_path(&["spec", key]).and_then(YamlNode::scalar_text);
    let labels = |node: &YamlNode| -> Vec<String> {
        fields_at(node, &["spec", "levels", "*", "nodeLabel"]).iter().filter_map(|(.., l)| l.scalar_text()).collect()
    };
    let ends_with_hosts = |node: &YamlNode| labels(node).last().is_some_and(|label| label == HOSTNAME);
    let place = |key: &str| new.at_path(&["spec", key]).or_else(|| new.get("spec")).map_or(new.at, |field| field.at);
    let rule = match kind {
        "LocalQueue" => {
            let is_kept = text(old, "clusterQueue") == text(new, "clusterQueue");
            (is_kept, "clusterQueue", "spec.clusterQueue: Invalid value: field is immutable")
        }
        "ResourceFlavor" => {
            let is_kept = text(old, "topologyName").is_none_or(|name| text(new, "topologyName") == Some(name));
            (is_kept, "topologyName", "spec: Invalid value: topologyName is immutable when topologyName is set")
        }
        "Topology" => {
            let is_kept = labels(old) == labels(new) || ends_with_hosts(old) && ends_with_hosts(new);
            let message = "spec.levels: Invalid value: levels are mutable only when kubernetes.io/hostname is the lowest \
                           level both before and after the change";
            (is_kept, "levels", message)
        }
        _ => return Refusals::new(),
    };
    let (is_kept, key, message) = rule;
    if is_kept { Refusals::new() } else { vec![(place(key), message.to_owned())] }
}

/// Pattern of the names of objects in Kueue's CRDs.
const NAME_PATTERN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
/// Pattern of the node label of a topology level.
const LEVEL_PATTERN: &str =
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
const NAME_MAX: usize = 253;

/// Checks names of other objects by the patterns of the CRDs, which an empty name does not match.
fn references(node: &YamlNode, kind: &str, found: &mut Refusals) {
    for (_, path) in REFERENCES.iter().filter(|(of, _)| *of == kind) {
        for (at, path, field) in fields_at(node, path) {
            let name = field.as_str().unwrap_or("");
            if name.len() > NAME_MAX {
                found.push((at, format!("{path}: Too long: may not be more than {NAME_MAX} bytes")));
            } else if !names::dns1123_subdomain(name).is_empty() {
                found.push((at, mismatch(&path, name, NAME_PATTERN)));
            }
        }
    }
}

fn mismatch(path: &str, value: &str, pattern: &str) -> String {
    format!("{path}: Invalid value: {value:?}: {path} in body should match '{pattern}'")
}

/// Returns the fields at a path with their written paths.
fn fields_at<'n>(node: &'n YamlNode, path: &[&str]) -> Vec<(SourcePosition, String, &'n YamlNode)> {
    let mut found = vec![(String::new(), node)];
    for step in path {
        let next = |(path, node): (String, &'n YamlNode)| -> Vec<(String, &'n YamlNode)> {
            match *step {
                "*" => node.items().iter().enumerate().map(|(i, item)| (format!("{path}[{i}]"), item)).collect(),
                key => {
                    let dot = if path.is_empty() { "" } else { "." };
                    node.get(key).map(|value| (format!("{path}{dot}{key}"), value)).into_iter().collect()
                }
            }
        };
        found = found.into_iter().flat_map(next).collect();
    }
    found.into_iter().map(|(path, node)| (node.at, path, node)).collect()
}

/// Largest numbers of items, properties or characters: kind, path, number. An empty kind is ClusterQueue or Cohort.
const SIZES: [(&str, &[&str], usize); 15] = [
    ("", &["spec", "resourceGroups"], 16),
    ("", &["spec", "resourceGroups", "*", "coveredResources"], 64),
    ("", &["spec", "resourceGroups", "*", "flavors"], 64),
    ("", &["spec", "resourceGroups", "*", "flavors", "*", "resources"], 64),
    ("ClusterQueue", &["spec", "admissionChecksStrategy", "admissionChecks"], 64),
    ("ClusterQueue", &["spec", "admissionChecksStrategy", "admissionChecks", "*", "onFlavors"], 64),
    ("ClusterQueue", &["spec", "admissionChecksStrategy", "admissionChecks", "*", "name"], 316),
    ("ResourceFlavor", &["spec", "nodeLabels"], 8),
    ("ResourceFlavor", &["spec", "nodeTaints"], 8),
    ("ResourceFlavor", &["spec", "tolerations"], 8),
    ("Topology", &["spec", "levels"], 16),
    ("Topology", &["spec", "levels", "*", "nodeLabel"], 316),
    ("AdmissionCheck", &["spec", "controllerName"], 253),
    ("AdmissionCheck", &["spec", "parameters", "name"], 63),
    ("WorkloadPriorityClass", &["description"], 2048),
];

/// Largest numbers of flavors and of covered resources in all groups, and of pairs of both in one group
/// (`validateTotalFlavors`, `validateTotalCoveredResources`, `validateFlavorResourceCombinations`).
const TOTAL_MAX: usize = 256;
const PAIRS_MAX: usize = 512;

fn sizes(node: &YamlNode, kind: &str, found: &mut Refusals) {
    let has_groups = kind == "Cohort" || kind == "ClusterQueue";
    for (_, path, most) in SIZES.iter().filter(|(of, ..)| *of == kind || of.is_empty() && has_groups) {
        for (at, path, field) in fields_at(node, path) {
            match field.as_str() {
                Some(text) if text.len() > *most => {
                    found.push((at, format!("{path}: Too long: may not be more than {most} bytes")));
                }
                Some(_) => {}
                None => {
                    let count = field.items().len().max(field.entries().len());
                    if count > *most {
                        found.push((at, format!("{path}: Too many: {count}: must have at most {most} items")));
                    }
                }
            }
        }
    }
    if kind != "ClusterQueue" {
        return;
    }
    for (key, what) in [("flavors", "flavors"), ("coveredResources", "covered resources")] {
        let lists = fields_at(node, &["spec", "resourceGroups", "*", key]);
        let total: usize = lists.iter().map(|(_, _, list)| list.items().len()).sum();
        if let Some((at, ..)) = lists.first().filter(|_| total > TOTAL_MAX) {
            let message =
                format!("total number of {what} across all resourceGroups must be ≤ {TOTAL_MAX}, got {total}");
            found.push((*at, format!("spec.resourceGroups: Invalid value: {total}: {message}")));
        }
    }
    for (at, path, group) in fields_at(node, &["spec", "resourceGroups", "*"]) {
        let pairs: usize =
            read::list(group, "flavors").iter().map(|flavor| read::list(flavor, "resources").len()).sum();
        if pairs > PAIRS_MAX {
            let message = "number of flavor-resource combinations in a resourceGroup must be";
            found.push((at, format!("{path}: Invalid value: {pairs}: {message} ≤ {PAIRS_MAX}, got {pairs}")));
        }
    }
}

/// Checks labels, taints and tolerations of a ResourceFlavor (`ValidateResourceFlavor` and the rules of the CRD).
fn flavor(spec: &YamlNode, found: &mut Refusals) {
    if spec.get("topologyName").is_some() && read::string_map(spec, "nodeLabels").is_empty() {
        found.push((spec.at, "spec: at least one nodeLabel is required when topology is set".to_owned()));
    }
    let mut errors = ErrorList::default();
    let path = FieldPath::new("spec");
    if let Some(labels) = spec.get("nodeLabels") {
        meta_check::labels(&labels.to_json(), &path.child("nodeLabels"), &mut errors);
        found.extend(errors.errors.drain(..).map(|error| (labels.at, error.to_string())));
    }
    let mut taints = BTreeSet::new();
    for (i, taint) in read::list(spec, "nodeTaints").iter().enumerate() {
        let path = path.child("nodeTaints").index(i);
        let text = |key: &str| read::string(taint, key).unwrap_or_default();
        errors.check_name(&path.child("key"), &text("key"), names::label_key);
        errors.check_name(&path.child("value"), &text("value"), names::label_value);
        found.extend(errors.errors.drain(..).map(|error| (taint.at, error.to_string())));
        if !taints.insert((text("key"), text("effect"))) {
            let path = path.as_str();
            found.push((taint.at, format!("{path}: Duplicate value: taints must be unique by key and effect pair")));
        }
    }
    for (i, toleration) in read::list(spec, "tolerations").iter().enumerate() {
        let path = path.child("tolerations").index(i);
        if let Some(key) = read::string(toleration, "key").filter(|key| !key.is_empty()) {
            errors.check_name(&path.child("key"), &key, names::label_key);
            found.extend(errors.errors.drain(..).map(|error| (toleration.at, error.to_string())));
        }
        for message in toleration_rules(toleration) {
            found.push((toleration.at, format!("spec.tolerations: Invalid value: {message}")));
        }
    }
}

/// Returns the messages of the CRD's rules that a toleration breaks.
fn toleration_rules(toleration: &YamlNode) -> Vec<&'static str> {
    let word = |key: &str| toleration.get(key).and_then(YamlNode::as_str);
    let (has_key, operator) = (toleration.get("key").is_some(), word("operator"));
    let rules = [
        (
            has_key || operator == Some("Exists"),
            "operator must be Exists when 'key' is empty, which means 'match all values and all keys'",
        ),
        (
            toleration.get("tolerationSeconds").is_none() || word("effect") == Some("NoExecute"),
            "effect must be 'NoExecute' when 'tolerationSeconds' is set",
        ),
        (
            operator.is_none_or(|operator| ["Equal", "Exists"].contains(&operator)),
            "supported toleration values: 'Equal'(default), 'Exists'",
        ),
        (
            operator != Some("Exists") || toleration.get("value").is_none(),
            "a value must be empty when 'operator' is 'Exists'",
        ),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, message)| message).collect()
}

fn resource_groups(spec: &YamlNode, has_parent: bool, is_cohort: bool, found: &mut Refusals) {
    let (mut resources, mut flavors) = (BTreeSet::new(), BTreeSet::new());
    for (i, group) in read::list(spec, "resourceGroups").iter().enumerate() {
        let path = format!("spec.resourceGroups[{i}]");
        for (j, resource) in read::list(group, "coveredResources").iter().enumerate() {
            let name = resource.as_str().unwrap_or("");
            for message in names::label_key(name) {
                let path = format!("{path}.coveredResources[{j}]");
                found.push((resource.at, format!("{path}: Invalid value: {name:?}: {message}")));
            }
            if !resources.insert(name) {
                let path = format!("{path}.coveredResources[{j}]");
                found.push((resource.at, format!("{path}: Duplicate value: {name:?}")));
            }
        }
        let covered = read::strings(group, "coveredResources");
        for (j, flavor) in read::list(group, "flavors").iter().enumerate() {
            let path = format!("{path}.flavors[{j}]");
            quotas(flavor, &covered, has_parent, is_cohort, &path, found);
            let name = flavor.get("name").and_then(YamlNode::as_str).unwrap_or("");
            if !flavors.insert(name) {
                found.push((flavor.at, format!("{path}.name: Duplicate value: {name:?}")));
            }
        }
    }
}

fn quotas(flavor: &YamlNode, covered: &[String], has_parent: bool, is_cohort: bool, path: &str, found: &mut Refusals) {
    let resources = read::list(flavor, "resources");
    if resources.len() != covered.len() {
        let message = "flavors must have the same number of resources as the coveredResources";
        found.push((flavor.at, format!("{path}: {message}")));
    }
    for (k, (quota, covered)) in resources.iter().zip(covered).enumerate() {
        let path = format!("{path}.resources[{k}]");
        let name = quota.get("name").and_then(YamlNode::as_str).unwrap_or("");
        if name != covered {
            let message = "must match the name in coveredResources";
            found.push((quota.at, format!("{path}.name: Invalid value: {name:?}: {message}")));
        }
        let amount = |key: &str| Some((quota.get(key)?.at, quantity::parse(&quota.get(key)?.scalar_text()?).ok()?));
        for key in ["borrowingLimit", "lendingLimit"] {
            if let (Some((at, _)), false) = (amount(key), has_parent) {
                let parent = if is_cohort { "parent" } else { "cohort" };
                found.push((at, format!("{path}.{key}: must be nil when {parent} is empty")));
            }
        }
        if let (Some((at, lent)), Some((_, nominal)), false) =
            (amount("lendingLimit"), amount("nominalQuota"), is_cohort)
            && lent.compare(&nominal).is_gt()
        {
            let message = "must be less than or equal to the nominalQuota";
            found.push((at, format!("{path}.lendingLimit: {message}")));
        }
    }
}

fn policies(spec: &YamlNode, found: &mut Refusals) {
    let word = |path: &[&str]| spec.at_path(path).and_then(YamlNode::as_str);
    let borrows = word(&["preemption", "borrowWithinCohort", "policy"]).is_some_and(|policy| policy != "Never");
    if borrows && word(&["preemption", "reclaimWithinCohort"]).unwrap_or("Never") == "Never" {
        let at = spec.get("preemption").map_or(spec.at, |node| node.at);
        found.push((at, "spec.preemption: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never".to_owned()));
    }
    let policy = |key: &str, default| word(&["flavorFungibility", key]).unwrap_or(default);
    let policies = [policy("whenCanBorrow", "MayStopSearch"), policy("whenCanPreempt", "TryNextFlavor")];
    if let Some(preference) = spec.at_path(&["flavorFungibility", "preference"])
        && policies != ["TryNextFlavor", "TryNextFlavor"]
    {
        let message = "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor";
        found.push((preference.at, format!("spec.flavorFungibility: {message}")));
    }
}

/// Amounts that the API server accepts as whole numbers or texts only. The webhook of a ClusterQueue writes them as
/// texts before.
fn fractions(node: &YamlNode, found: &mut Refusals) {
    const AMOUNTS: [&str; 3] = ["nominalQuota", "borrowingLimit", "lendingLimit"];
    let quotas = fields_at(node, &["spec", "resourceGroups", "*", "flavors", "*", "resources", "*"]);
    let amounts = quotas.iter().flat_map(|(_, path, quota)| {
        AMOUNTS.iter().filter_map(move |key| Some((quota.get(key)?, format!("{path}.{key}"))))
    });
    let weight = node.at_path(&["spec", "fairSharing", "weight"]).map(|w| (w, "spec.fairSharing.weight".to_owned()));
    for (amount, path) in amounts.chain(weight) {
        if matches!(amount.value, YamlValue::Float(_)) {
            let message = "in body must be of type integer,string: \"number\"";
            found.push((amount.at, format!("{path}: Invalid value: \"number\": {path} {message}")));
        }
    }
}

/// Checks how Workloads may change flavors while they run (an enum of the CRD).
fn migration_mode(node: &YamlNode, found: &mut Refusals) {
    const MODES: [&str; 2] = ["TryPreferredFlavors", "RetainFirstAdmission"];
    for (at, path, mode) in fields_at(node, &["spec", "concurrentAdmissionPolicy", "migration", "mode"]) {
        let mode = mode.scalar_text().unwrap_or_default();
        if !MODES.contains(&mode.as_str()) {
            let known = MODES.map(|mode| format!("{mode:?}")).join(", ");
            found.push((at, format!("{path}: Unsupported value: {mode:?}: supported values: {known}")));
        }
    }
}

/// A weight is zero or larger than 10⁻⁹.
fn fair_weight(spec: &YamlNode, found: &mut Refusals) {
    let Some(weight) = spec.at_path(&["fairSharing", "weight"]) else { return };
    let text = weight.scalar_text().unwrap_or_default();
    let Ok(quantity) = quantity::parse(&text) else { return };
    let message = if quantity.is_negative() {
        "must be greater than or equal to 0"
    } else if !quantity.is_zero() && quantity.scaled(9).is_some_and(|nano| nano <= 1) {
        "When not 0, weight must be > 10e-9"
    } else {
        return;
    };
    found.push((weight.at, format!("spec.fairSharing: Invalid value: {text:?}: {message}")));
}

/// Checks the rules of AdmissionChecks. In v1beta1, the CRD has no rules about sizes and duplicates.
fn admission_checks(spec: &YamlNode, is_old: bool, found: &mut Refusals) {
    let groups = read::list(spec, "resourceGroups").iter().flat_map(|group| read::list(group, "flavors"));
    let flavors: Vec<&str> = groups.filter_map(|flavor| flavor.get("name")?.as_str()).collect();
    let Some(strategy) = spec.get("admissionChecksStrategy") else { return };
    let path = "spec.admissionChecksStrategy.admissionChecks";
    let rules = read::list(strategy, "admissionChecks");
    if !is_old && strategy.get("admissionChecks").is_none() {
        found.push((strategy.at, format!("{path}: Required value")));
    } else if !is_old && rules.is_empty() {
        let message = format!("{path} in body should have at least 1 items");
        found.push((strategy.at, format!("{path}: Invalid value: 0: {message}")));
    }
    let mut names = BTreeSet::new();
    for (i, rule) in rules.iter().enumerate() {
        let name = read::string(rule, "name").unwrap_or_default();
        if name.is_empty() && !is_old {
            let message = format!("{path}[{i}].name in body should be at least 1 chars long");
            found.push((rule.at, format!("{path}[{i}].name: Invalid value: \"\": {message}")));
        }
        if !names.insert(name.clone()) && !is_old {
            found.push((rule.at, format!("{path}[{i}]: Duplicate value: {{\"name\":{name:?}}}")));
        }
        let mut listed = BTreeSet::new();
        for (j, flavor) in read::list(rule, "onFlavors").iter().enumerate() {
            let name = flavor.as_str().unwrap_or("");
            if !listed.insert(name) && !is_old {
                found.push((flavor.at, format!("{path}[{i}].onFlavors[{j}]: Duplicate value: {name:?}")));
            }
        }
        for (j, flavor) in read::list(rule, "onFlavors").iter().enumerate() {
            let name = flavor.as_str().unwrap_or("");
            if !flavors.contains(&name) {
                let path = format!("spec.admissionChecksStrategy.admissionChecks[{i}].onFlavors[{j}]");
                let supported: Vec<String> = flavors.iter().map(|flavor| format!("{flavor:?}")).collect();
                let supported = supported.join(", ");
                found.push((flavor.at, format!("{path}: Unsupported value: {name:?}: supported values: {supported}")));
            }
        }
    }
}

/// Checks a label selector (`ValidateLabelSelector`).
fn selector(parent: &YamlNode, key: &str, path: &str, found: &mut Refusals) {
    let Some(node) = parent.get(key) else { return };
    let mut errors = ErrorList::default();
    label_selector(&node.to_json(), &FieldPath::new(path), &mut errors);
    found.extend(errors.errors.into_iter().map(|error| (node.at, error.to_string())));
}

/// Pattern of the kind and of the name of an object with parameters.
const KIND_PATTERN: &str = "^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$";
const PARAMETERS_NAME_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const KIND_MAX: usize = 63;

/// Checks the reference to the parameters of an AdmissionCheck by the rules of its CRD.
fn parameters(spec: &YamlNode, found: &mut Refusals) {
    let Some(parameters) = spec.get("parameters") else { return };
    for key in ["apiGroup", "kind", "name"] {
        let path = format!("spec.parameters.{key}");
        let value = read::string(parameters, key);
        match value.as_deref() {
            None => found.push((parameters.at, format!("{path}: Required value"))),
            Some("") => {
                let message = format!("{path} in body should be at least 1 chars long");
                found.push((parameters.at, format!("{path}: Invalid value: \"\": {message}")));
            }
            Some(_) => {}
        }
    }
    let is_word = |text: &str| text.chars().all(|c| c == '-' || c.is_ascii_alphanumeric()) && !text.ends_with('-');
    let kind = read::string(parameters, "kind").unwrap_or_default();
    if kind.len() > KIND_MAX {
        found.push((parameters.at, format!("spec.parameters.kind: Too long: may not be more than {KIND_MAX} bytes")));
    } else if !(kind.is_empty() || kind.starts_with(|c: char| c.is_ascii_alphabetic()) && is_word(&kind)) {
        found.push((parameters.at, mismatch("spec.parameters.kind", &kind, KIND_PATTERN)));
    }
    let name = read::string(parameters, "name").unwrap_or_default();
    let is_lower = !name.chars().any(|c| c.is_ascii_uppercase()) && !name.starts_with('-');
    if !(name.is_empty() || is_lower && is_word(&name)) {
        found.push((parameters.at, mismatch("spec.parameters.name", &name, PARAMETERS_NAME_PATTERN)));
    }
}

/// Names of the frameworks, in the order of Kueue's messages (`GetIntegrationsList`).
const FRAMEWORKS: [&str; 18] = [
    "batch/job", "deployment", "jobset.x-k8s.io/jobset", "kubeflow.org/jaxjob", "kubeflow.org/mpijob",
    "kubeflow.org/paddlejob", "kubeflow.org/pytorchjob", "kubeflow.org/tfjob", "kubeflow.org/xgboostjob",
    "leaderworkerset.x-k8s.io/leaderworkerset", "pod", "ray.io/raycluster", "ray.io/rayjob", "ray.io/rayservice",
    "sparkoperator.k8s.io/sparkapplication", "statefulset", "trainer.kubeflow.org/trainjob",
    "workload.codeflare.dev/appwrapper",
];

/// Combinations of strategies of preemption under fair sharing (`validStrategySets`).
const STRATEGIES: [&str; 3] =
    ["LessThanOrEqualToFinalShare", "LessThanInitialShare", "LessThanOrEqualToFinalShare,LessThanInitialShare"];

/// Checks the configuration of the manager (`pkg/config/validation.go`). The manager does not start with an error.
fn configuration(node: &YamlNode, found: &mut Refusals) {
    let quoted = |names: &[&str]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let mut seen = BTreeSet::new();
    for (at, path, framework) in fields_at(node, &["integrations", "frameworks", "*"]) {
        let name = framework.as_str().unwrap_or("");
        if !FRAMEWORKS.contains(&name) {
            let supported = quoted(&FRAMEWORKS);
            found.push((at, format!("{path}: Unsupported value: {name:?}: supported values: {supported}")));
        } else if !seen.insert(name) {
            found.push((at, format!("{path}: Duplicate value: {name:?}")));
        }
    }
    for (at, path, framework) in fields_at(node, &["integrations", "externalFrameworks", "*"]) {
        let name = framework.as_str().unwrap_or("");
        if name.split('.').count() < 3 {
            found.push((at, format!("{path}: Invalid value: {name:?}: must be format, 'Kind.version.group.com'")));
        } else if !seen.insert(name) {
            found.push((at, format!("{path}: Duplicate value: {name:?}")));
        }
    }
    // In v1beta1, `enable: false` discards the rest.
    let sharing = node.get("fairSharing").filter(|sharing| read::boolean(sharing, "enable") != Some(false));
    for (at, path, list) in sharing.map_or(Vec::new(), |_| fields_at(node, &["fairSharing", "preemptionStrategies"])) {
        let given: Vec<&str> = list.items().iter().filter_map(YamlNode::as_str).collect();
        if !given.is_empty() && !STRATEGIES.contains(&given.join(",").as_str()) {
            let (value, supported) = (list.to_json(), quoted(&STRATEGIES));
            found.push((at, format!("{path}: Unsupported value: {value}: supported values: {supported}")));
        }
    }
    let mut inputs = BTreeSet::new();
    for (at, path, input) in fields_at(node, &["resources", "transformations", "*", "input"]) {
        let name = input.as_str().unwrap_or("");
        if !inputs.insert(name) {
            found.push((at, format!("{path}: Duplicate value: {name:?}")));
        }
    }
    let strategy = node.at_path(&["resources", "quotaCheckStrategy"]).filter(|s| s.as_str() == Some(IGNORE));
    let excluded = node.at_path(&["resources", "excludeResourcePrefixes"]).is_some_and(|list| !list.items().is_empty());
    if let Some(strategy) = strategy.filter(|_| excluded) {
        let message = "excludeResourcePrefixes is not allowed when quotaCheckStrategy is IgnoreUndeclared";
        let value = format!("resources.quotaCheckStrategy: Invalid value: {IGNORE:?}");
        found.push((strategy.at, format!("{value}: {message}")));
    }
    readiness(node, found);
    durations(node, found);
    fields_of_version(node, found);
    feature_gates(node, found);
    managed_namespaces(node, found);
}

/// Checks the time for readiness (`validateWaitForPodsReady`). Only v1beta2 replaces zero by the default.
fn readiness(node: &YamlNode, found: &mut Refusals) {
    let is_old = node.get("apiVersion").and_then(YamlNode::as_str) == Some(CONFIGURATION_V1BETA1);
    let wait = node.get("waitForPodsReady").filter(|wait| is_old && read::boolean(wait, "enable") == Some(true));
    let Some(wait) = wait else { return };
    if read::duration(wait, "timeout") == Some(Duration::ZERO) {
        let at = wait.get("timeout").map_or(wait.at, |timeout| timeout.at);
        found.push((at, "waitForPodsReady.timeout: Required value: must be specified".to_owned()));
    }
}

/// Units of Go's durations.
const GO_UNITS: [&str; 8] = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];

/// Checks durations, which Go parses. Those of `validateObjectRetentionPolicies` must not be negative.
fn durations(node: &YamlNode, found: &mut Refusals) {
    const PLACES: [&[&str]; 6] = [
        &["waitForPodsReady", "timeout"],
        &["waitForPodsReady", "recoveryTimeout"],
        &["admissionFairSharing", "usageHalfLifeTime"],
        &["admissionFairSharing", "usageSamplingInterval"],
        &["objectRetentionPolicies", "workloads", "afterFinished"],
        &["objectRetentionPolicies", "workloads", "afterDeactivatedByKueue"],
    ];
    for keys in PLACES {
        for (at, path, value) in fields_at(node, keys) {
            let text = value.scalar_text().unwrap_or_default();
            let is_number = |c: char| c.is_ascii_digit() || ".+-".contains(c);
            let unknown = text.split(is_number).find(|unit| !unit.is_empty() && !GO_UNITS.contains(unit));
            if let Some(unknown) = unknown {
                found.push((at, format!("{path}: time: unknown unit {unknown:?} in duration {text:?}")));
            } else if text.starts_with('-') && keys.len() == 3 {
                found.push((at, format!("{path}: Invalid value: {text:?}: must be greater than or equal to 0")));
            }
        }
    }
}

/// Refuses fields of the other version, because the manager decodes its configuration strictly.
fn fields_of_version(node: &YamlNode, found: &mut Refusals) {
    let is_old = node.get("apiVersion").and_then(YamlNode::as_str) == Some(CONFIGURATION_V1BETA1);
    let foreign: &[&str] = if is_old { &["resources", "quotaCheckStrategy"] } else { &["integrations", "podOptions"] };
    for (at, path, _) in fields_at(node, foreign) {
        found.push((at, format!("strict decoding error: unknown field {path:?}")));
    }
}

/// Feature gates of Kueue's manager (`pkg/features/kube_features.go`) and those of every component.
const FEATURE_GATES: [&str; 82] = [
    "AllAlpha", "AllBeta", "AdmissionFairSharing", "AdmissionGatedBy", "AssignQueueLabelsForPods",
    "CleanupProvisioningRequestsOnEviction", "ConcurrentAdmission", "CustomMetricLabels",
    "DeferRayServiceFinalizationForRedisCleanup", "DisableWaitForPodsReady", "ElasticJobsViaWorkloadSlices",
    "ElasticJobsViaWorkloadSlicesWithTAS", "FailureRecoveryPolicy", "FairSharingPreemptWithinNominal",
    "FairSharingPrioritizeNonBorrowing", "FastQuotaReleaseInPodIntegration", "FinishOrphanedWorkloads",
    "FlavorFungibility", "FlavorFungibilityPreserveScanProgress", "KueueDRAIntegration",
    "KueueDRAIntegrationConsumableCapacity", "KueueDRAIntegrationExtendedResource",
    "KueueDRAIntegrationPartitionableDevices", "KueueDRARejectWorkloadsWhenDRADisabled", "LWSImmutableGroupSize",
    "LocalQueueMetrics", "ManagedJobsNamespaceSelectorAlwaysRespected", "MetricForWorkloadCreationLatency",
    "MetricsForCohorts", "MultiKueue", "MultiKueueAdaptersForCustomJobs", "MultiKueueClusterProfile",
    "MultiKueueIncrementalDispatcherConfig", "MultiKueueIncrementalDispatcherRespectConfigOrder",
    "MultiKueueKubeConfigPathValidation", "MultiKueueManagerQuotaAutomation", "MultiKueueOrchestratedPreemption",
    "MultiKueueRemoteSpecSync", "PartialAdmission", "PodIntegrationValidateGroupOwner", "PrioritizePreemptorWorkloads",
    "PriorityBoost", "PrioritySortingWithinCohort", "QuotaCheckStrategy", "ReclaimablePods",
    "RecomputeAssignmentUponPreemptionTargetsOverlap", "RejectUpdatesToCQWithInvalidOnFlavors",
    "RemoveFinalizersWithStrictPatch", "SchedulerLibraryIntegration", "SchedulingEquivalenceHashing",
    "ShortWorkloadNames", "SkipAncestorCheckForDeletedWorkloads", "SkipReassignmentForPodOwnedWorkloads",
    "SparkApplicationIntegration", "TASAssignmentsEncodingByHostnamePrefix", "TASBalancedPlacement",
    "TASCacheNodeMatchResults", "TASCacheTopologyTree", "TASCachingRemainingResources", "TASFailedNodeReplacement",
    "TASFailedNodeReplacementFailFast", "TASHandleOverlappingFlavors", "TASMultiLayerTopology", "TASProfileMixed",
    "TASRecomputeAssignmentWithinSchedulingCycle", "TASReplaceNodeDueToNotReadyOverFixedTime",
    "TASReplaceNodeOnNodeTaints", "TASReplaceNodeOnPodTermination", "TASRespectNodeAffinityPreferred",
    "TASValidateWorkloadSliceSize", "TLSOptions", "TopologyAwareScheduling", "UnadmittedWorkloadsExplicitStatus",
    "UnadmittedWorkloadsObservability", "ValidateRayAndSparkJobUpdates", "VectorizedResourceRequests",
    "VisibilityOnDemand", "WorkloadIdentifierAnnotations", "WorkloadPriorityClassDefaulting",
    "WorkloadRequestUseMergePatch", "WorkloadValidateResourcesAreNonNegative", "WorkloadValidationForPodSetMetadata",
];

/// Gates that cannot be disabled any more.
const LOCKED_GATES: [&str; 2] = ["ManagedJobsNamespaceSelectorAlwaysRespected", "TLSOptions"];

/// Checks names and values of feature gates (`LoadAndValidateFeatureGates`).
fn feature_gates(node: &YamlNode, found: &mut Refusals) {
    let Some(gates) = node.get("featureGates") else { return };
    let is_set = |name: &str| read::boolean(gates, name);
    let value = gates.to_json();
    let mut refuse = |value: &str, message: String| {
        found.push((gates.at, format!("featureGates: Invalid value: {value}: {message}")));
    };
    for (key, _) in gates.entries() {
        let name = key.name.as_str();
        if !FEATURE_GATES.contains(&name) {
            return refuse(&value.to_string(), format!("unrecognized feature gate: {name}"));
        }
        if LOCKED_GATES.contains(&name) && is_set(name) == Some(false) {
            let message = format!("cannot set feature gate {name} to false, feature is locked to true");
            return refuse(&value.to_string(), message);
        }
    }
    let is_enabled = |name: &str| {
        let (stage, default) = GATES_WITH_DEPENDENCIES
            .iter()
            .find(|(known, ..)| *known == name)
            .map_or((GateStage::Beta, true), |(_, stage, default, _)| (*stage, *default));
        let of_stage = match stage {
            GateStage::Alpha => is_set("AllAlpha"),
            GateStage::Beta => is_set("AllBeta"),
            GateStage::Deprecated => None,
        };
        is_set(name).or(of_stage).unwrap_or(default)
    };
    let unmet =
        GATES_WITH_DEPENDENCIES.iter().filter(|(name, ..)| is_enabled(name)).filter_map(|(name, _, _, needed)| {
            let disabled: Vec<&str> = needed.iter().copied().filter(|needed| !is_enabled(needed)).collect();
            let disabled = Some(disabled).filter(|disabled| !disabled.is_empty())?.join(" ");
            Some(format!("{name} is enabled, but depends on features that are disabled: [{disabled}]"))
        });
    match unmet.collect::<Vec<_>>().as_slice() {
        [] => {}
        [one] => refuse(&value.to_string(), one.clone()),
        several => refuse(&value.to_string(), format!("[{}]", several.join(", "))),
    }
}

#[derive(Copy, Clone)]
enum GateStage {
    Alpha,
    Beta,
    Deprecated,
}

/// Gates that need others (`defaultFeatureGateDependencies`), in alphabetical order: stage, default, and the gates that
/// must be enabled, which are in beta and enabled by default.
const GATES_WITH_DEPENDENCIES: [(&str, GateStage, bool, &[&str]); 17] = {
    use GateStage::{Alpha, Beta, Deprecated};
    const TOPOLOGY: &str = "TopologyAwareScheduling";
    const REPLACEMENT: &str = "TASFailedNodeReplacement";
    const DEVICES: &str = "KueueDRAIntegration";
    [
        ("ElasticJobsViaWorkloadSlicesWithTAS", Alpha, false, &["ElasticJobsViaWorkloadSlices", TOPOLOGY]),
        ("FlavorFungibilityPreserveScanProgress", Beta, true, &["FlavorFungibility"]),
        ("KueueDRAIntegrationConsumableCapacity", Alpha, false, &[DEVICES]),
        ("KueueDRAIntegrationExtendedResource", Beta, true, &[DEVICES]),
        ("KueueDRAIntegrationPartitionableDevices", Beta, true, &[DEVICES]),
        ("TASBalancedPlacement", Alpha, false, &[TOPOLOGY]),
        (REPLACEMENT, Beta, true, &[TOPOLOGY]),
        ("TASFailedNodeReplacementFailFast", Beta, true, &[TOPOLOGY, REPLACEMENT]),
        ("TASHandleOverlappingFlavors", Beta, true, &[TOPOLOGY]),
        ("TASMultiLayerTopology", Beta, true, &[TOPOLOGY]),
        ("TASProfileMixed", Beta, true, &[TOPOLOGY]),
        ("TASRecomputeAssignmentWithinSchedulingCycle", Beta, true, &[TOPOLOGY]),
        ("TASReplaceNodeDueToNotReadyOverFixedTime", Deprecated, false, &[TOPOLOGY, REPLACEMENT]),
        ("TASReplaceNodeOnNodeTaints", Beta, true, &[TOPOLOGY]),
        ("TASReplaceNodeOnPodTermination", Beta, true, &[TOPOLOGY, REPLACEMENT]),
        ("TASRespectNodeAffinityPreferred", Alpha, false, &[TOPOLOGY]),
        ("UnadmittedWorkloadsExplicitStatus", Beta, false, &["UnadmittedWorkloadsObservability"]),
    ]
};

/// Value of `quotaCheckStrategy` with which resources that a ClusterQueue does not cover do not count.
const IGNORE: &str = "IgnoreUndeclared";

/// Checks `managedJobsNamespaceSelector`, which must not select `kube-system` and the namespace of Kueue.
fn managed_namespaces(node: &YamlNode, found: &mut Refusals) {
    const KEY: &str = "managedJobsNamespaceSelector";
    let Some(written) = node.get(KEY) else { return };
    let before = found.len();
    selector(node, KEY, KEY, found);
    let own = read::string(node, "namespace").filter(|name| !name.is_empty());
    if found.len() > before {
        return;
    }
    for name in std::iter::once(KUBE_SYSTEM.to_owned()).chain(own) {
        let labels = [(NAMESPACE_NAME.to_owned(), name.clone())].into();
        if quotas::selector(written).matches(&labels) {
            let (value, message) = (written.to_json(), format!("should not match the {name:?} namespace"));
            found.push((written.at, format!("{KEY}: Invalid value: {value}: {message}")));
        }
    }
}

fn levels(spec: &YamlNode, found: &mut Refusals) {
    let levels: Vec<&str> = read::list(spec, "levels").iter().filter_map(|l| l.get("nodeLabel")?.as_str()).collect();
    let at = spec.get("levels").map_or(spec.at, |levels| levels.at);
    for (i, level) in read::list(spec, "levels").iter().enumerate() {
        let label = read::string(level, "nodeLabel").unwrap_or_default();
        if !names::label_key(&label).is_empty() {
            found.push((level.at, mismatch(&format!("spec.levels[{i}].nodeLabel"), &label, LEVEL_PATTERN)));
        }
    }
    if levels.iter().collect::<BTreeSet<_>>().len() < levels.len() {
        found.push((at, "spec.levels: must be unique".to_owned()));
    }
    if levels.iter().rev().skip(1).any(|level| *level == HOSTNAME) {
        let message = "the kubernetes.io/hostname label can only be used at the lowest level of topology";
        found.push((at, format!("spec.levels: {message}")));
    }
}
