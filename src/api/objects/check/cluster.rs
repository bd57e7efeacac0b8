//! The API server's validation of Nodes and PersistentVolumes.
//!
//! This module must not check whether a volume's driver or an address exists.

use crate::admission::names::{label_key, label_value};
use crate::objects::value_access::{has_value, list, pairs, quantity, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/// Fields of a PersistentVolume's spec that are no source of the volume.
const NO_SOURCE: [&str; 9] = [
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
];

/// Checks the taints of a Node (`validateNodeTaints`).
pub fn node_taints(taints: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    let mut known = BTreeSet::new();
    for (k, taint) in taints.iter().enumerate() {
        let (at, key) = (path.index(k), text(taint, "key"));
        let (value, effect) = (text(taint, "value"), text(taint, "effect"));
        errors.all_invalid(&at.child("key"), key, label_key(key));
        let wrong = label_value(value);
        if !wrong.is_empty() {
            errors.invalid_text(&at.child("value"), value, &wrong.join(";"));
        }
        match effect {
            "" => errors.required(&at.child("effect"), ""),
            effect if !EFFECTS.contains(&effect) => errors.unsupported(&at.child("effect"), &effect.into(), &EFFECTS),
            _ => {}
        }
        if !known.insert((key, effect)) {
            let shown = format!(
                "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":{}}}",
                json!(key),
                json!(value),
                json!(effect),
                taint["timeAdded"]
            );
            errors.duplicate_raw(&at, &shown, "taints must be unique by key and effect pair");
        }
    }
}

/// Checks a PersistentVolume (`ValidatePersistentVolumeSpec`).
pub fn persistent_volume(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let (modes, at) = (list(spec, "accessModes"), path.child("accessModes"));
    if modes.is_empty() {
        errors.required(&at, "");
    }
    let is_legal = |mode: &&Value| ACCESS_MODES.iter().any(|legal| **mode == *legal);
    for mode in modes.iter().filter(|mode| !is_legal(mode)) {
        errors.unsupported(&at, mode, &ACCESS_MODES);
    }
    let is_single = |mode: &Value| mode == "ReadWriteOncePod";
    if modes.iter().any(is_single) && modes.iter().filter(is_legal).any(|mode| !is_single(mode)) {
        errors.forbidden(&at, "may not use ReadWriteOncePod with other access modes");
    }
    let (capacity, at) = (&spec["capacity"], path.child("capacity"));
    let amounts = pairs(capacity).count();
    if amounts == 0 {
        errors.required(&at, "");
    }
    if !has_value(capacity, "storage") || amounts > 1 {
        errors.unsupported(&at, capacity, &["storage"]);
    }
    for (name, amount) in pairs(capacity) {
        if quantity(amount).is_some_and(|amount| amount.is_zero() || amount.is_negative()) {
            errors.invalid(&at.key(name), amount, "must be greater than zero");
        }
    }
    let sources = pairs(spec).filter(|(name, value)| !value.is_null() && !NO_SOURCE.contains(&name.as_str()));
    let sources: Vec<&String> = sources.map(|(name, _)| name).collect();
    if sources.is_empty() {
        errors.required(path, "must specify a volume type");
    }
    for name in sources.iter().skip(1) {
        errors.forbidden(&path.child(name), "may not specify more than 1 volume type");
    }
}
