//! The API server's validation of the volumes of a pod template.
//!
//! This module must not check whether a claim, a ConfigMap or a Secret exists.

use super::values::check_subpath;
use crate::admission::names::dns1123_label;
use crate::objects::value_access::{has_value, int, list, pairs, quantity, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath};
use serde_json::Value;
use std::collections::BTreeSet;

/// Checks the names of all volumes first, then the source of each volume.
pub fn check(volumes: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    let mut names = BTreeSet::new();
    for (k, volume) in volumes.iter().enumerate() {
        let (at, name) = (path.index(k), text(volume, "name"));
        let mut wrong = ErrorList::default();
        source(volume, &at, &mut wrong);
        if name.is_empty() {
            wrong.required(&at.child("name"), "");
        } else {
            wrong.all_invalid(&at.child("name"), name, dns1123_label(name));
        }
        if !names.insert(name) {
            wrong.duplicate(&at.child("name"), &name.into());
        }
        errors.append(wrong);
    }
}

/// Returns the names that a volumeMount can refer to: the volumes without errors.
pub fn mountable_names(volumes: &[Value]) -> BTreeSet<&str> {
    let path = FieldPath::new("volumes");
    let mut names = BTreeSet::new();
    for volume in volumes {
        let name = text(volume, "name");
        let mut wrong = ErrorList::default();
        source(volume, &path, &mut wrong);
        if wrong.is_empty() && dns1123_label(name).is_empty() {
            names.insert(name);
        }
    }
    names
}

fn source(volume: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let mut kinds: Vec<&String> = pairs(volume).filter(|(_, v)| !v.is_null()).map(|(k, _)| k).collect();
    kinds.retain(|kind| *kind != "name");
    // The server checks the volume sources in the field order of its Go type.
    kinds.sort_by_key(|kind| CHECK_ORDER.iter().position(|known| known == kind));
    for (k, kind) in kinds.iter().enumerate() {
        let at = path.child(kind);
        if k > 0 {
            errors.forbidden(&at, "may not specify more than 1 volume type");
            continue;
        }
        check_source_of_kind(kind, &volume[kind.as_str()], &at, errors);
    }
    if kinds.is_empty() {
        errors.required(path, "must specify a volume type");
    }
}

const CHECK_ORDER: [&str; 9] =
    ["emptyDir", "hostPath", "secret", "nfs", "persistentVolumeClaim", "configMap", "downwardAPI", "projected", "csi"];

fn check_source_of_kind(kind: &str, source: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let mut required = |name: &str| {
        if text(source, name).is_empty() {
            errors.required(&path.child(name), "");
        }
    };
    match kind {
        "persistentVolumeClaim" => required("claimName"),
        "secret" => required("secretName"),
        "configMap" => required("name"),
        "csi" => required("driver"),
        "nfs" => {
            required("server");
            required("path");
            let place = text(source, "path");
            if !place.is_empty() && !place.starts_with('/') {
                errors.invalid_text(&path.child("path"), place, "must be an absolute path");
            }
        }
        "hostPath" => {
            required("path");
            let place = text(source, "path");
            if place.split('/').any(|part| part == "..") {
                errors.invalid_text(&path.child("path"), place, "must not contain '..'");
            }
            host_path_type(source, path, errors);
        }
        "emptyDir" => size_limit(source, path, errors),
        _ => {}
    }
    if matches!(kind, "secret" | "configMap" | "projected" | "downwardAPI") {
        modes(source, path, errors);
    }
}

fn host_path_type(source: &Value, path: &FieldPath, errors: &mut ErrorList) {
    const LEGAL: [&str; 8] =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    if !LEGAL.contains(&text(source, "type")) {
        errors.unsupported(&path.child("type"), &source["type"], &LEGAL);
    }
}

fn size_limit(source: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if quantity(&source["sizeLimit"]).is_some_and(|bytes| bytes.is_negative()) {
        let detail = "SizeLimit field must be a valid resource quantity";
        errors.forbidden(&path.child("sizeLimit"), detail);
    }
}

fn modes(source: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let detail = "must be a number between 0 and 0777 (octal), both inclusive";
    let legal = |mode: i64| (0..=0o777).contains(&mode);
    if int(source, "defaultMode").is_some_and(|mode| !legal(mode)) {
        errors.invalid(&path.child("defaultMode"), &source["defaultMode"], detail);
    }
    for (k, item) in list(source, "items").iter().enumerate() {
        let at = path.child("items").index(k);
        let is_key = !has_value(item, "fieldRef") && !has_value(item, "resourceFieldRef");
        if is_key && text(item, "key").is_empty() {
            errors.required(&at.child("key"), "");
        }
        let place = text(item, "path");
        if place.is_empty() {
            errors.required(&at.child("path"), "");
        }
        check_subpath(place, &at.child("path"), errors);
        if int(item, "mode").is_some_and(|mode| !legal(mode)) {
            errors.invalid(&at.child("mode"), &item["mode"], detail);
        }
    }
}
