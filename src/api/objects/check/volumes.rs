//! The API server's validation of the volumes of a pod template.
//!
//! This module must not check whether a claim, a ConfigMap or a Secret exists.

use super::env::{field_ref, resource_ref};
use super::values::{check_no_backsteps, check_subpath};
use crate::admission::names::{dns1123_label, dns1123_subdomain};
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

const CHECK_ORDER: [&str; 11] = [
    "emptyDir", "hostPath", "secret", "nfs", "iscsi", "persistentVolumeClaim", "configMap", "downwardAPI", "projected",
    "csi", "ephemeral",
];

/// Sources that need only these fields (`validateVolumeSource`).
const REQUIRED: [(&str, &[&str]); 11] = [
    ("gcePersistentDisk", &["pdName"]),
    ("awsElasticBlockStore", &["volumeID"]),
    ("secret", &["secretName"]),
    ("nfs", &["server", "path"]),
    ("glusterfs", &["endpoints", "path"]),
    ("persistentVolumeClaim", &["claimName"]),
    ("cinder", &["volumeID"]),
    ("configMap", &["name"]),
    ("azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", &["volumePath"]),
    ("flexVolume", &["driver"]),
];
/// Fields of a pod that a file of the downward API may show.
const FILE_FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
const DUPLICATE_PATHS: &str = "conflicting duplicate paths";
const LONGEST_DRIVER_NAME: usize = 63;
/// Bounds of the validity of a projected token, in seconds.
const SHORTEST_TOKEN_S: i64 = 600;
const LONGEST_TOKEN_S: i64 = 1 << 32;

fn check_source_of_kind(kind: &str, source: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let known = REQUIRED.iter().find(|(known, _)| *known == kind);
    for name in known.map_or(&[] as &[&str], |(_, names)| names) {
        if text(source, name).is_empty() {
            errors.required(&path.child(name), "");
        }
    }
    match kind {
        "nfs" => {
            let place = text(source, "path");
            if !place.starts_with('/') {
                errors.invalid_text(&path.child("path"), place, "must be an absolute path");
            }
        }
        "hostPath" => {
            let place = text(source, "path");
            if place.is_empty() {
                return errors.required(&path.child("path"), "");
            }
            check_no_backsteps(place, &path.child("path"), errors);
            host_path_type(source, path, errors);
        }
        "emptyDir" => size_limit(source, path, errors),
        "iscsi" => iscsi(source, path, errors),
        "secret" | "configMap" => {
            mode(source, "defaultMode", path, errors);
            keys_to_paths(source, path, errors);
        }
        "downwardAPI" => {
            mode(source, "defaultMode", path, errors);
            for file in list(source, "items") {
                downward_file(file, path, errors);
            }
        }
        "projected" => {
            mode(source, "defaultMode", path, errors);
            projected(source, path, errors);
        }
        "csi" => {
            driver_name(text(source, "driver"), &path.child("driver"), errors);
            let secret = &source["nodePublishSecretRef"];
            match text(secret, "name") {
                _ if secret.is_null() => {}
                "" => errors.required(&path.child("nodePublishSecretRef").child("name"), ""),
                name => errors.all_invalid(&path.child("name"), name, dns1123_subdomain(name)),
            }
        }
        "ephemeral" if !has_value(source, "volumeClaimTemplate") => {
            errors.required(&path.child("volumeClaimTemplate"), "");
        }
        _ => {}
    }
}

/// Checks the name of a CSI driver (`ValidateCSIDriverName`).
fn driver_name(name: &str, path: &FieldPath, errors: &mut ErrorList) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    if name.len() > LONGEST_DRIVER_NAME {
        errors.too_long(path, LONGEST_DRIVER_NAME);
    }
    errors.all_invalid(path, name, dns1123_subdomain(&name.to_lowercase()));
}

/// Checks an iSCSI target (`validateISCSIVolumeSource`).
fn iscsi(source: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if text(source, "targetPortal").is_empty() {
        errors.required(&path.child("targetPortal"), "");
    }
    match text(source, "iqn") {
        "" => errors.required(&path.child("iqn"), ""),
        name => qualified_name(name, &path.child("iqn"), errors),
    }
    if int(source, "lun").is_some_and(|lun| !(0..=255).contains(&lun)) {
        errors.invalid(&path.child("lun"), &source["lun"], "must be between 0 and 255, inclusive");
    }
    let authenticates = |name: &str| source[name].as_bool() == Some(true);
    let any = authenticates("chapAuthDiscovery") || authenticates("chapAuthSession");
    if any && !has_value(source, "secretRef") {
        errors.required(&path.child("secretRef"), "");
    }
    if let Some(name) = source["initiatorName"].as_str() {
        qualified_name(name, &path.child("initiatorname"), errors);
    }
}

/// Checks an iSCSI qualified name.
fn qualified_name(name: &str, path: &FieldPath, errors: &mut ErrorList) {
    let is_of = |prefix: &str, length: usize| {
        let rest = name.strip_prefix(prefix).filter(|rest| rest.len() == length + 1);
        rest.is_some_and(|rest| rest.bytes().skip(1).all(|b| b.is_ascii_alphanumeric()))
    };
    let legal = match name.get(..3) {
        Some("iqn") => is_iqn(name),
        Some("eui") => is_of("eui", 16),
        Some("naa") => is_of("naa", 32),
        _ => return errors.invalid_text(path, name, "must be valid format starting with iqn, eui, or naa"),
    };
    if !legal {
        errors.invalid_text(path, name, "must be valid format");
    }
}

/// Whether a text has the form `iqn.YYYY-MM.reversed-domain:name`.
fn is_iqn(name: &str) -> bool {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    let (Some((head, own)), Some(rest)) = (name.split_once(':'), name.strip_prefix("iqn.")) else {
        return false;
    };
    let (Some((year, rest)), true) = (rest.split_once('-'), head.len() > "iqn.".len()) else {
        return false;
    };
    let Some((month, domain)) = rest.split_once(':').and_then(|(date, _)| date.split_once('.')) else {
        return false;
    };
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let forbidden = |c: char| ",;*&$|".contains(c) || c.is_ascii_whitespace();
    let has_domain = !domain.is_empty() && domain.chars().all(inner);
    digits(year, 4) && digits(month, 2) && has_domain && !own.is_empty() && !own.contains(forbidden)
}

/// Checks the sources of a projected volume and that no two of them have the same path (`validateProjectionSources`).
fn projected(source: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let mut paths = BTreeSet::new();
    for (k, part) in list(source, "sources").iter().enumerate() {
        let at = path.child("sources").index(k);
        for kind in ["secret", "configMap"].into_iter().filter(|kind| has_value(part, kind)) {
            let (object, at, name) = (&part[kind], at.child(kind), text(&part[kind], "name"));
            if name.is_empty() {
                errors.required(&at.child("name"), "");
            }
            keys_to_paths(object, &at, errors);
            let places = list(object, "items").iter().map(|item| text(item, "path"));
            for _ in places.filter(|place| !place.is_empty() && !paths.insert(*place)) {
                errors.invalid_text(path, name, DUPLICATE_PATHS);
            }
        }
        for file in list(&part["downwardAPI"], "items") {
            downward_file(file, &at.child("downwardAPI"), errors);
            let place = text(file, "path");
            if !place.is_empty() && !paths.insert(place) {
                errors.invalid_text(path, place, DUPLICATE_PATHS);
            }
        }
        if has_value(part, "serviceAccountToken") {
            token(&part["serviceAccountToken"], path, &at.child("serviceAccountToken"), errors);
        }
        let kinds =
            ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];
        if kinds.iter().filter(|kind| has_value(part, kind)).count() > 1 {
            errors.forbidden(&at, "may not specify more than 1 volume type per source");
        }
    }
}

/// Checks a token of a service account. The server reports its path at the volume.
fn token(token: &Value, volume: &FieldPath, path: &FieldPath, errors: &mut ErrorList) {
    let (lasts, at) = (int(token, "expirationSeconds"), path.child("expirationSeconds"));
    if lasts.is_some_and(|lasts| lasts < SHORTEST_TOKEN_S) {
        errors.invalid(&at, &token["expirationSeconds"], "may not specify a duration less than 10 minutes");
    }
    if lasts.is_some_and(|lasts| lasts > LONGEST_TOKEN_S) {
        errors.invalid(&at, &token["expirationSeconds"], "may not specify a duration larger than 2^32 seconds");
    }
    match text(token, "path") {
        "" => errors.required(&volume.child("path"), ""),
        place => local_path(place, &volume.child("path"), errors),
    }
}

/// Checks a file of the downward API (`validateDownwardAPIVolumeFile`); the server gives no index.
fn downward_file(file: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let place = text(file, "path");
    if place.is_empty() {
        errors.required(&path.child("path"), "");
    }
    local_path(place, &path.child("path"), errors);
    if has_value(file, "fieldRef") {
        field_ref(&file["fieldRef"], &FILE_FIELDS, &path.child("fieldRef"), errors);
        if has_value(file, "resourceFieldRef") {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.invalid_text(path, "resource", detail);
        }
    } else if has_value(file, "resourceFieldRef") {
        let (reference, at) = (&file["resourceFieldRef"], path.child("resourceFieldRef"));
        if text(reference, "containerName").is_empty() {
            errors.required(&at.child("containerName"), "");
        }
        resource_ref(reference, &at, errors);
    } else {
        errors.required(path, "one of fieldRef and resourceFieldRef is required");
    }
    mode(file, "mode", path, errors);
}

/// Checks a path inside a volume whose names beginning with `..` are those of the kubelet
/// (`ValidateLocalNonReservedPath`).
fn local_path(place: &str, path: &FieldPath, errors: &mut ErrorList) {
    check_subpath(place, path, errors);
    if place.starts_with("..") && !place.starts_with("../") {
        errors.invalid_text(path, place, "must not start with '..'");
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

fn mode(object: &Value, name: &str, path: &FieldPath, errors: &mut ErrorList) {
    if int(object, name).is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        errors.invalid(&path.child(name), &object[name], detail);
    }
}

/// Checks which keys of a Secret or ConfigMap become files (`validateKeyToPath`).
fn keys_to_paths(source: &Value, path: &FieldPath, errors: &mut ErrorList) {
    for (k, item) in list(source, "items").iter().enumerate() {
        let at = path.child("items").index(k);
        for name in ["key", "path"] {
            if text(item, name).is_empty() {
                errors.required(&at.child(name), "");
            }
        }
        local_path(text(item, "path"), &at.child("path"), errors);
        mode(item, "mode", &at, errors);
    }
}
