//! The API server's validation of object metadata.
//!
//! This module is pure. It must not read the spec or change the object.

use super::error_list::ErrorList;
use super::field::{FieldError, FieldPath, go_quote};
use super::go;
use super::names::{self, NameRule};
use super::types::{FieldKind as TypeKind, SchemaType};
use serde_json::Value;

const ANNOTATIONS_MAX: usize = 256 * 1024;
const MANAGED_BY_MAX: usize = 63;

/// Returns the errors in the metadata of a new object.
pub fn create_errors(metadata: &Value) -> Vec<FieldError> {
    let mut errors = ErrorList::default();
    let prefix = metadata["generateName"].as_str().unwrap_or("");
    if !prefix.is_empty() {
        let wrong = names::dns1123_subdomain(&mask_trailing_dash(prefix));
        errors.all_invalid(&FieldPath::new("metadata.generateName"), prefix, wrong);
    }
    match metadata["name"].as_str().unwrap_or("") {
        "" => {
            let path = FieldPath::new("metadata.name");
            errors.required(&path, "name or generateName is required");
        }
        name => check_rule("metadata.name", name, names::dns1123_subdomain, &mut errors),
    }
    if let Some(namespace) = metadata["namespace"].as_str() {
        let path = "metadata.namespace";
        check_rule(path, namespace, names::dns1123_label, &mut errors);
    }
    common(metadata, &mut errors);
    finalizers(metadata, &mut errors);
    errors.errors
}

/// Returns the errors in the metadata of a changed object.
pub fn update_errors(old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = ErrorList::default();
    let empty = |v: &Value| v.as_str().unwrap_or("").is_empty();
    for field in ["name", "namespace", "uid"] {
        if !empty(&old[field]) && old[field] != new[field] {
            let value = go_quote(new[field].as_str().unwrap_or(""));
            let path = format!("metadata.{field}");
            errors.invalid_raw(&FieldPath::new(&path), &value, "field is immutable");
        }
    }
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        if old[field] != new[field] {
            let value = go::go_json_untyped(&new[field]);
            let path = format!("metadata.{field}");
            errors.invalid_raw(&FieldPath::new(&path), &value, "field is immutable");
        }
    }
    common(new, &mut errors);
    finalizers(new, &mut errors);
    errors.errors
}

/// Replaces a trailing dash, which is valid in a prefix. Like upstream, it replaces the last two characters.
fn mask_trailing_dash(prefix: &str) -> String {
    let kept = prefix.strip_suffix('-').map(|start| {
        let mut start = start.chars();
        start.next_back();
        start.as_str()
    });
    match kept {
        Some(kept) if prefix.len() > 1 => format!("{kept}a"),
        _ => prefix.to_owned(),
    }
}

fn check_rule(path: &str, text: &str, rule: NameRule, errors: &mut ErrorList) {
    errors.check_name(&FieldPath::new(path), text, rule);
}

/// Checks the metadata of a new object whose name must follow `rule`. Owners and finalizers are not checked.
pub fn object_meta(metadata: &Value, rule: NameRule, errors: &mut ErrorList) {
    match metadata["name"].as_str().unwrap_or("") {
        "" => {
            let path = FieldPath::new("metadata.name");
            errors.required(&path, "name or generateName is required");
        }
        name => check_rule("metadata.name", name, rule, errors),
    }
    labels(&metadata["labels"], &FieldPath::new("metadata.labels"), errors);
    let path = FieldPath::new("metadata.annotations");
    annotations(&metadata["annotations"], &path, errors);
}

fn common(metadata: &Value, errors: &mut ErrorList) {
    labels(&metadata["labels"], &FieldPath::new("metadata.labels"), errors);
    let path = FieldPath::new("metadata.annotations");
    annotations(&metadata["annotations"], &path, errors);
    owners(metadata, errors);
}

/// Checks `managedBy` of a JobSet or Job (VAL-4): a domain-prefixed path.
pub fn managed_by(manager: &str, path: &FieldPath, errors: &mut ErrorList) {
    match manager.split_once('/') {
        _ if manager.is_empty() => errors.required(path, ""),
        Some((host, rest)) if !host.is_empty() && !rest.is_empty() => {
            errors.check_name(path, host, names::dns1123_subdomain);
            errors.check_name(path, rest, names::http_path);
        }
        _ => {
            let words = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            errors.invalid_text(path, manager, words);
        }
    }
    if manager.len() > MANAGED_BY_MAX {
        errors.too_long(path, MANAGED_BY_MAX);
    }
}

/// Checks the labels of an object, a selector, or a node selector.
pub fn labels(labels: &Value, path: &FieldPath, errors: &mut ErrorList) {
    for (key, value) in entries(labels) {
        let place = path.key(key);
        errors.check_name_at(path, &place, key, names::label_key);
        errors.check_name_at(path, &place, value, names::label_value);
    }
}

/// Checks annotations. Keys may contain capital letters in their prefix. The total size of keys and values is limited.
pub fn annotations(annotations: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let mut size = 0;
    for (key, value) in entries(annotations) {
        let wrong = names::label_key(&key.to_lowercase());
        errors.all_invalid_at(path, &path.key(key), key, wrong);
        size += key.len() + value.len();
    }
    if size > ANNOTATIONS_MAX {
        errors.too_long(path, ANNOTATIONS_MAX);
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &str)> {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(k, v)| (k.as_str(), v.as_str().unwrap_or("")))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn owners(metadata: &Value, errors: &mut ErrorList) {
    const PATH: &str = "metadata.ownerReferences";
    let all = &metadata["ownerReferences"];
    let mut controller: Option<String> = None;
    for owner in items(all) {
        let text = |key: &str| owner[key].as_str().unwrap_or("");
        let version = text("apiVersion");
        let no_version = version.rsplit('/').next().unwrap_or("").is_empty() || version.matches('/').count() > 1;
        let mut empty = |field: &str, is: bool, words: &str| {
            if is {
                let path = format!("{PATH}.{field}");
                errors.invalid_text(&FieldPath::new(&path), text(field), words);
            }
        };
        empty("apiVersion", no_version, "version must not be empty");
        for field in ["kind", "name", "uid"] {
            empty(field, text(field).is_empty(), "must not be empty");
        }
        let written = |ty: &'static str, value: &Value| {
            let kind = TypeKind::Struct(ty);
            let one = SchemaType { name: ty, kind };
            match value {
                Value::Array(_) => go::go_json(&SchemaType { name: ty, kind: TypeKind::List(Box::new(one)) }, value),
                _ => go::go_json(&one, value),
            }
        };
        if version == "v1" && text("kind") == "Event" {
            let words = "/v1, Kind=Event is disallowed from being an owner";
            let value = written("v1.OwnerReference", owner);
            errors.invalid_raw(&FieldPath::new(PATH), &value, words);
        }
        if owner["controller"] == true {
            let name = format!("{}/{}", text("kind"), text("name"));
            if let Some(first) = &controller {
                let words = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                let value = written("v1.OwnerReference", all);
                errors.invalid_raw(&FieldPath::new(PATH), &value, &words);
            }
            controller.get_or_insert(name);
        }
    }
}

fn finalizers(metadata: &Value, errors: &mut ErrorList) {
    const PATH: &str = "metadata.finalizers";
    let all: Vec<&str> = items(&metadata["finalizers"]).iter().filter_map(Value::as_str).collect();
    for name in &all {
        check_rule(PATH, name, names::label_key, errors);
    }
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        let words = "finalizer orphan and foregroundDeletion cannot be both set";
        let value = go::go_json_untyped(&metadata["finalizers"]);
        errors.invalid_raw(&FieldPath::new(PATH), &value, words);
    }
}

/// Returns the server's warnings about accepted finalizers.
pub fn finalizer_warnings(metadata: &Value, old: &Value) -> Vec<String> {
    let before = items(&old["finalizers"]);
    let mut added: Vec<&str> =
        items(&metadata["finalizers"]).iter().filter(|f| !before.contains(f)).filter_map(Value::as_str).collect();
    added.sort_unstable();
    added.dedup();
    let standard = ["orphan", "foregroundDeletion", "kubernetes"];
    let mut warnings = Vec::new();
    for name in added.into_iter().filter(|n| !n.contains('/') && !standard.contains(n)) {
        let path = if name.contains('.') { " including a path (/)" } else { "" };
        warnings.push(format!(
            "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers",
            go_quote(name)
        ));
    }
    warnings
}
