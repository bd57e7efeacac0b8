//! Strategic merge patches of JobSet templates on JSON trees, with the semantics of the Kubernetes API machinery.
//!
//! Lists with a merge key are merged element by element; all other lists are replaced. Source: the patchMergeKey
//! tags in k8s.io/api core/v1/types.go. This module must not depend on who wrote the patch.

use serde_json::Value;

/// Lists that are merged element by element, each with the key that identifies an element.
const KEYS: [(&str, &str); 9] = [
    ("replicatedJobs", "name"),
    ("containers", "name"),
    ("initContainers", "name"),
    ("env", "name"),
    ("volumes", "name"),
    ("volumeMounts", "mountPath"),
    ("imagePullSecrets", "name"),
    ("schedulingGates", "name"),
    ("claims", "name"),
];

/// Applies the strategic merge patch `patch` to `base`.
pub fn merge(base: &mut Value, patch: &Value) {
    let (Some(base), Some(patch)) = (base.as_object_mut(), patch.as_object()) else {
        *base = patch.clone();
        return;
    };
    for (field, value) in patch {
        if value.is_null() {
            base.remove(field);
            continue;
        }
        let Some(old) = base.get_mut(field) else {
            base.insert(field.clone(), value.clone());
            continue;
        };
        let key = KEYS.iter().find(|(list, _)| list == field);
        match (old, value, key) {
            (Value::Array(old), Value::Array(items), Some((_, key))) => {
                for item in items {
                    upsert(old, item, key, merge);
                }
            }
            (old, value, _) if old.is_object() && value.is_object() => merge(old, value),
            (old, value, _) => *old = value.clone(),
        }
    }
}

/// Combines `item` with the list element that has the same key, or appends `item` if there is none.
fn upsert(list: &mut Vec<Value>, item: &Value, key: &str, over: fn(&mut Value, &Value)) {
    let same = |old: &&mut Value| old.get(key).is_some() && old.get(key) == item.get(key);
    match list.iter_mut().find(same) {
        Some(old) => over(old, item),
        None => list.push(item.clone()),
    }
}

/// Adds `items` to a list of `object`. An item replaces the element with the same key instead of being merged with it.
pub fn put(object: &mut Value, list: &str, key: &str, items: &[Value]) {
    if items.is_empty() {
        return;
    }
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    let entry = fields.entry(list).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(old) = entry {
        for item in items {
            upsert(old, item, key, |old, item| *old = item.clone());
        }
    }
}
