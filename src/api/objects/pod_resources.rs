//! Resources of a pod as a whole: defaults and validation (`defaultPodRequests` in `pkg/apis/core/v1/defaults.go`,
//! `validatePodResourceConsistency` in `pkg/apis/core/validation`).
//!
//! The server visits the resources in random order; here they are sorted by name.

use super::check::resources::{check_pod_resources, is_huge_page, is_supported};
use super::value_access::{has_value, list, object_mut, pairs, quantity, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath};
use serde_json::Value;
use sim_base::quantity::Quantity;
use std::cmp::Ordering;
use std::collections::BTreeMap;

type Quantities = BTreeMap<String, Quantity>;

/// Sets the requests of a pod with limits, from the requests of its containers or from the limits, and its limits of
/// huge pages from those of its containers.
pub fn set_defaults(spec: &mut Value) {
    let is_set = |name| pairs(&spec["resources"][name]).next().is_some();
    if !is_set("limits") && !is_set("requests") {
        return;
    }
    let huge = aggregate(spec, "limits").into_iter().filter(|(name, _)| is_huge_page(name));
    set_missing(spec, "limits", huge.collect());
    if pairs(&spec["resources"]["limits"]).next().is_none() {
        return;
    }
    let requests =
        aggregate(spec, "requests").into_iter().filter(|(name, _)| matches!(name.as_str(), "cpu" | "memory"));
    set_missing(spec, "requests", requests.collect());
    for (name, limit) in spec["resources"]["limits"].as_object().cloned().into_iter().flatten() {
        if is_supported(&name) {
            object_mut(&mut spec["resources"], "requests").entry(name).or_insert(limit);
        }
    }
}

fn set_missing(spec: &mut Value, kind: &str, defaults: Quantities) {
    for (name, amount) in defaults {
        let amounts = object_mut(&mut spec["resources"], kind);
        amounts.entry(name).or_insert_with(|| amount.canonical_text().into());
    }
}

/// Returns the sum over the containers and sidecars, or the largest need while the pod is initialized.
fn aggregate(spec: &Value, kind: &str) -> Quantities {
    let (mut total, mut sidecars, mut peak) = (Quantities::new(), Quantities::new(), Quantities::new());
    list(spec, "containers").iter().for_each(|container| add(&mut total, container, kind));
    for container in list(spec, "initContainers") {
        let mut here = sidecars.clone();
        add(&mut here, container, kind);
        if text(container, "restartPolicy") == "Always" {
            add(&mut total, container, kind);
            sidecars.clone_from(&here);
        }
        raise(&mut peak, here);
    }
    raise(&mut total, peak);
    total
}

fn add(total: &mut Quantities, container: &Value, kind: &str) {
    for (name, value) in pairs(&container["resources"][kind]) {
        if let Some(amount) = quantity(value).map(|amount| amount.rounded_to_milli()) {
            let sum = total.get(name).map_or(amount, |sum| sum.plus(&amount));
            total.insert(name.clone(), sum);
        }
    }
}

fn raise(most: &mut Quantities, amounts: Quantities) {
    for (name, amount) in amounts {
        let is_most = most.get(&name).is_none_or(|known| known.compare(&amount) == Ordering::Less);
        if is_most {
            most.insert(name, amount);
        }
    }
}

/// Checks the resources of a pod as a whole.
pub fn check(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if !has_value(spec, "resources") {
        return;
    }
    let (resources, at) = (&spec["resources"], path.child("resources"));
    if has_value(resources, "claims") {
        errors.forbidden(&at.child("claims"), "claims may not be set for Resources at pod-level");
    }
    check_pod_resources(resources, &at, errors);
    let mut compare = |kind: &str, sums: Quantities| {
        for (name, sum) in sums {
            let value = &resources[kind][name.as_str()];
            if let Some(own) = quantity(value).filter(|own| sum.compare(own) == Ordering::Greater) {
                let sum = sum.canonical_text();
                let detail = format!("must be greater than or equal to aggregate container {kind} of {sum}");
                errors.invalid_text(&at.child(kind).key(&name), &own.canonical_text(), &detail);
            }
        }
    };
    compare("requests", aggregate(spec, "requests"));
    compare("limits", aggregate(spec, "limits").into_iter().filter(|(name, _)| is_huge_page(name)).collect());
    for (k, container) in list(spec, "containers").iter().enumerate() {
        for (name, limit) in pairs(&container["resources"]["limits"]) {
            let (Some(own), Some(most)) = (quantity(limit), quantity(&resources["limits"][name.as_str()])) else {
                continue;
            };
            if own.compare(&most) == Ordering::Greater {
                let at = at.child("containers").index(k).key(name).child("limits");
                let detail = format!("must be less than or equal to pod limits of {}", most.canonical_text());
                errors.invalid_text(&at, &own.canonical_text(), &detail);
            }
        }
    }
}
