//! Metadata: how the API server reads, completes and checks it.
//!
//! Pure. Must never look at the spec.

use super::errors::{FieldError, Kind, quoted};
use super::go;
use super::names;
use super::types::{Kind as TypeKind, Struct, Type, tables};
use serde_json::{Map, Value};

const OBJECT_META: &str = "v1.ObjectMeta";
const ANNOTATIONS_MAX: usize = 256 * 1024;
/// What the server, not the user, decides.
const SYSTEM: [&str; 8] = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "generation",
    "managedFields",
    "resourceVersion",
];
/// Stands for the five random characters that the API server appends to `generateName`.
pub const GENERATED_SUFFIX: &str = "x7k2p";
/// The API server cuts the prefix to leave room for them.
const GENERATED_PREFIX_MAX: usize = 58;

/// The metadata as Go reads and writes it, or Go's error.
pub fn read(metadata: &Value) -> Result<Value, String> {
    go::read(OBJECT_META, metadata)
}

/// Fields that metadata does not have, with their paths.
pub fn unknown(metadata: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Value::Object(fields) = metadata {
        unknown_fields(tables().of(OBJECT_META), fields, "metadata", &mut found);
    }
    found
}

fn unknown_fields(
    table: &Struct,
    fields: &Map<String, Value>,
    path: &str,
    found: &mut Vec<String>,
) {
    for (key, value) in fields {
        let place = format!("{path}.{key}");
        match table.field(key) {
            Some(field) => unknown_in(&field.ty, value, &place, found),
            None => found.push(place),
        }
    }
}

fn unknown_in(ty: &Type, value: &Value, path: &str, found: &mut Vec<String>) {
    match (&ty.kind, value) {
        (TypeKind::Struct(name), Value::Object(fields)) => {
            unknown_fields(tables().of(name), fields, path, found);
        }
        (TypeKind::List(item), Value::Array(items)) => {
            for (i, value) in items.iter().enumerate() {
                unknown_in(item, value, &format!("{path}[{i}]"), found);
            }
        }
        _ => {}
    }
}

/// What a POST may not say is dropped, equal owners are one.
pub fn complete(metadata: &mut Map<String, Value>, namespace: &str) {
    for field in SYSTEM {
        metadata.remove(field);
    }
    dedup_owners(metadata);
    metadata.insert("namespace".to_owned(), namespace.into());
}

/// Equal owners count once.
pub fn dedup_owners(metadata: &mut Map<String, Value>) {
    if let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") {
        let mut kept: Vec<Value> = Vec::new();
        for owner in owners.drain(..) {
            if !kept.contains(&owner) {
                kept.push(owner);
            }
        }
        *owners = kept;
    }
}

/// The name that stands for a generated one.
pub fn generate_name(metadata: &mut Map<String, Value>) {
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or("");
    if text("name").is_empty() && !text("generateName").is_empty() {
        let name = generated(text("generateName"));
        metadata.insert("name".to_owned(), name.into());
    }
}

pub fn generated(prefix: &str) -> String {
    let mut end = prefix.len().min(GENERATED_PREFIX_MAX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{GENERATED_SUFFIX}", &prefix[..end])
}

/// Errors of the metadata of a new object.
pub fn create_errors(metadata: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let prefix = metadata["generateName"].as_str().unwrap_or("");
    if !prefix.is_empty() {
        let masked = mask_trailing_dash(prefix);
        each(
            "metadata.generateName",
            prefix,
            names::dns1123_subdomain(&masked),
            &mut errors,
        );
    }
    match metadata["name"].as_str().unwrap_or("") {
        "" => errors.push(FieldError::new(
            "metadata.name",
            Kind::Required,
            "name or generateName is required",
        )),
        name => each(
            "metadata.name",
            name,
            names::dns1123_subdomain(name),
            &mut errors,
        ),
    }
    if let Some(namespace) = metadata["namespace"].as_str() {
        each(
            "metadata.namespace",
            namespace,
            names::dns1123_label(namespace),
            &mut errors,
        );
    }
    common(metadata, &mut errors);
    finalizers(metadata, &mut errors);
    errors
}

/// Errors of the metadata of a changed object.
pub fn update_errors(old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let empty = |v: &Value| v.as_str().unwrap_or("").is_empty();
    for field in ["name", "namespace", "uid"] {
        if !empty(&old[field]) && old[field] != new[field] {
            let value = quoted(new[field].as_str().unwrap_or(""));
            let path = format!("metadata.{field}");
            errors.push(FieldError::invalid(path, value, "field is immutable"));
        }
    }
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        if old[field] != new[field] {
            let value = go::written_plain(&new[field]);
            let path = format!("metadata.{field}");
            errors.push(FieldError::invalid(path, value, "field is immutable"));
        }
    }
    common(new, &mut errors);
    finalizers(new, &mut errors);
    errors
}

/// A trailing dash is fine where more follows; upstream replaces two characters for it.
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

fn each(path: &str, text: &str, sentences: Vec<String>, errors: &mut Vec<FieldError>) {
    errors.extend(
        sentences
            .into_iter()
            .map(|s| FieldError::invalid(path, quoted(text), s)),
    );
}

fn common(metadata: &Value, errors: &mut Vec<FieldError>) {
    for (key, value) in entries(&metadata["labels"]) {
        each("metadata.labels", key, names::label_key(key), errors);
        each("metadata.labels", value, names::label_value(value), errors);
    }
    let mut size = 0;
    for (key, value) in entries(&metadata["annotations"]) {
        let lower = key.to_lowercase();
        each(
            "metadata.annotations",
            key,
            names::label_key(&lower),
            errors,
        );
        size += key.len() + value.len();
    }
    if size > ANNOTATIONS_MAX {
        let words = format!("may not be more than {ANNOTATIONS_MAX} bytes");
        errors.push(FieldError::new(
            "metadata.annotations",
            Kind::TooLong,
            words,
        ));
    }
    owners(metadata, errors);
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &str)> {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(k, v)| (k.as_str(), v.as_str().unwrap_or("")))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn owners(metadata: &Value, errors: &mut Vec<FieldError>) {
    const PATH: &str = "metadata.ownerReferences";
    let all = &metadata["ownerReferences"];
    let mut controller: Option<String> = None;
    for owner in items(all) {
        let text = |key: &str| owner[key].as_str().unwrap_or("");
        let version = text("apiVersion");
        let no_version =
            version.rsplit('/').next().unwrap_or("").is_empty() || version.matches('/').count() > 1;
        let mut empty = |field: &str, is: bool, words: &str| {
            if is {
                let path = format!("{PATH}.{field}");
                errors.push(FieldError::invalid(path, quoted(text(field)), words));
            }
        };
        empty("apiVersion", no_version, "version must not be empty");
        for field in ["kind", "name", "uid"] {
            empty(field, text(field).is_empty(), "must not be empty");
        }
        let written = |ty: &'static str, value: &Value| {
            let kind = TypeKind::Struct(ty);
            let one = Type { name: ty, kind };
            match value {
                Value::Array(_) => go::written(
                    &Type {
                        name: ty,
                        kind: TypeKind::List(Box::new(one)),
                    },
                    value,
                ),
                _ => go::written(&one, value),
            }
        };
        if version == "v1" && text("kind") == "Event" {
            let words = "/v1, Kind=Event is disallowed from being an owner";
            let value = written("v1.OwnerReference", owner);
            errors.push(FieldError::invalid(PATH, value, words));
        }
        if owner["controller"] == true {
            let name = format!("{}/{}", text("kind"), text("name"));
            if let Some(first) = &controller {
                let words = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                let value = written("v1.OwnerReference", all);
                errors.push(FieldError::invalid(PATH, value, words));
            }
            controller.get_or_insert(name);
        }
    }
}

fn finalizers(metadata: &Value, errors: &mut Vec<FieldError>) {
    const PATH: &str = "metadata.finalizers";
    let all: Vec<&str> = items(&metadata["finalizers"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for name in &all {
        each(PATH, name, names::label_key(name), errors);
    }
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        let words = "finalizer orphan and foregroundDeletion cannot be both set";
        let value = go::written_plain(&metadata["finalizers"]);
        errors.push(FieldError::invalid(PATH, value, words));
    }
}

/// What the server says of finalizers that it accepts.
pub fn finalizer_warnings(metadata: &Value, old: &Value) -> Vec<String> {
    let before = items(&old["finalizers"]);
    let mut added: Vec<&str> = items(&metadata["finalizers"])
        .iter()
        .filter(|f| !before.contains(f))
        .filter_map(Value::as_str)
        .collect();
    added.sort_unstable();
    added.dedup();
    let standard = ["orphan", "foregroundDeletion", "kubernetes"];
    let mut warnings = Vec::new();
    for name in added
        .into_iter()
        .filter(|n| !n.contains('/') && !standard.contains(n))
    {
        let path = if name.contains('.') {
            " including a path (/)"
        } else {
            ""
        };
        warnings.push(format!(
            "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers",
            quoted(name)
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metadata_is_judged_in_the_servers_words() {
        for (metadata, expected) in [
            (json!({"name": "a.b"}), vec![]),
            (
                json!({}),
                vec!["metadata.name: Required value: name or generateName is required"],
            ),
            (
                json!({"name": "A"}),
                vec!["metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain"],
            ),
            (json!({"name": "gen-x", "generateName": "gen-"}), vec![]),
            (
                json!({"name": "a", "labels": {"a b": "c d"}}),
                vec![
                    "metadata.labels: Invalid value: \"a b\": name part",
                    "metadata.labels: Invalid value: \"c d\": a valid",
                ],
            ),
            (
                json!({"name": "a", "annotations": {"a": "x".repeat(262_144)}}),
                vec!["metadata.annotations: Too long: may not be more than 262144 bytes"],
            ),
            (
                json!({"name": "a", "ownerReferences": [{"name": "x", "kind": "y", "uid": "", "apiVersion": ""}]}),
                vec![
                    "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty",
                    "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
                ],
            ),
            (
                json!({"name": "a", "finalizers": ["a b"]}),
                vec!["metadata.finalizers: Invalid value: \"a b\": name part must consist"],
            ),
        ] {
            let found: Vec<String> = create_errors(&metadata)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(
                found.iter().zip(&expected).all(|(f, e)| f.starts_with(e)),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_generated_name_leaves_room_for_its_suffix() {
        assert_eq!(generated("gen-"), "gen-x7k2p");
        assert_eq!(generated(&"g".repeat(80)).len(), 63);
    }
}
