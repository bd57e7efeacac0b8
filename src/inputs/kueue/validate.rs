//! Refusals of Kueue's CRDs and validation webhooks, with their messages (`pkg/webhooks`).

use crate::read;
use crate::text::node::{SourcePosition, YamlNode};
use sim_api::spec::keys::HOSTNAME;
use sim_base::quantity;
use std::collections::BTreeSet;

type Refusals = Vec<(SourcePosition, String)>;

/// Returns the refusals of an object whose fields are valid.
pub fn refusals(node: &YamlNode, kind: &str) -> Refusals {
    let empty = YamlNode::empty_map();
    let spec = node.get("spec").unwrap_or(&empty);
    let mut found = Refusals::new();
    let is_cohort = kind == "Cohort";
    if is_cohort || kind == "ClusterQueue" {
        let parents = ["cohortName", "cohort", "parentName"];
        let has_parent = parents.iter().any(|key| read::string(spec, key).is_some_and(|name| !name.is_empty()));
        resource_groups(spec, has_parent, is_cohort, &mut found);
        policies(spec, &mut found);
        admission_checks(spec, &mut found);
    }
    if is_cohort || kind == "ClusterQueue" || kind == "LocalQueue" {
        fair_weight(spec, &mut found);
    }
    match kind {
        "ResourceFlavor" if spec.get("topologyName").is_some() && read::string_map(spec, "nodeLabels").is_empty() => {
            found.push((spec.at, "spec: at least one nodeLabel is required when topology is set".to_owned()));
        }
        "Topology" => levels(spec, &mut found),
        _ => {}
    }
    found
}

fn resource_groups(spec: &YamlNode, has_parent: bool, is_cohort: bool, found: &mut Refusals) {
    let (mut resources, mut flavors) = (BTreeSet::new(), BTreeSet::new());
    for (i, group) in read::list(spec, "resourceGroups").iter().enumerate() {
        let path = format!("spec.resourceGroups[{i}]");
        for (j, resource) in read::list(group, "coveredResources").iter().enumerate() {
            let name = resource.as_str().unwrap_or("");
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

fn admission_checks(spec: &YamlNode, found: &mut Refusals) {
    let groups = read::list(spec, "resourceGroups").iter().flat_map(|group| read::list(group, "flavors"));
    let flavors: Vec<&str> = groups.filter_map(|flavor| flavor.get("name")?.as_str()).collect();
    let rules = spec.at_path(&["admissionChecksStrategy", "admissionChecks"]).map_or(&[][..], YamlNode::items);
    for (i, rule) in rules.iter().enumerate() {
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

fn levels(spec: &YamlNode, found: &mut Refusals) {
    let levels: Vec<&str> = read::list(spec, "levels").iter().filter_map(|l| l.get("nodeLabel")?.as_str()).collect();
    let at = spec.get("levels").map_or(spec.at, |levels| levels.at);
    if levels.iter().collect::<BTreeSet<_>>().len() < levels.len() {
        found.push((at, "spec.levels: must be unique".to_owned()));
    }
    if levels.iter().rev().skip(1).any(|level| *level == HOSTNAME) {
        let message = "the kubernetes.io/hostname label can only be used at the lowest level of topology";
        found.push((at, format!("spec.levels: {message}")));
    }
}
