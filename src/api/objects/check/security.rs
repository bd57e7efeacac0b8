//! The API server's validation of security contexts and of the namespaces that a pod shares with its node.
//!
//! This module must not check the texts of Windows options.

use super::values::{check_subpath, user_id};
use crate::objects::value_access::{has_value, list, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath};
use serde_json::{Value, json};

const PROC_MOUNTS: [&str; 2] = ["Default", "Unmasked"];
const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
/// Longest name of a profile on the node, in bytes (`PATH_MAX` - 1).
const LONGEST_PROFILE: usize = 4095;

/// Checks the security context of a pod (`validatePodSpecSecurityContext`).
pub fn check_pod(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let context = &pod["securityContext"];
    for name in ["fsGroup", "runAsUser", "runAsGroup"] {
        user_id(&context[name], &path.child(name), errors);
    }
    for (k, group) in list(context, "supplementalGroups").iter().enumerate() {
        user_id(group, &path.child("supplementalGroups").index(k), errors);
    }
    if is_true(pod, "shareProcessNamespace") && is_true(pod, "hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(&path.child("shareProcessNamespace"), &json!(true), detail);
    }
    let check = |name: &str, legal: [&str; 2], errors: &mut ErrorList| {
        if context[name].as_str().is_some_and(|value| !legal.contains(&value)) {
            errors.unsupported(&path.child(name), &context[name], &legal);
        }
    };
    check("fsGroupChangePolicy", ["Always", "OnRootMismatch"], errors);
    seccomp(&context["seccompProfile"], &path.child("seccompProfile"), errors);
    app_armor(&context["appArmorProfile"], &path.child("appArmorProfile"), errors);
    check("supplementalGroupsPolicy", ["Merge", "Strict"], errors);
}

fn is_true(object: &Value, name: &str) -> bool {
    object[name].as_bool() == Some(true)
}

/// Checks that a pod with users of its own shares no other namespaces with the node (`validateHostUsers`).
pub fn check_host_users(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if pod["hostUsers"].as_bool() != Some(false) {
        return;
    }
    for (field, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if is_true(pod, field) {
            errors.forbidden(&path.child(shown), "when `hostUsers` is false");
        }
    }
    for kind in ["initContainers", "containers"] {
        for (k, container) in list(pod, kind).iter().enumerate() {
            if !list(container, "volumeDevices").is_empty() {
                let at = path.child(kind).index(k).child("volumeDevices");
                errors.forbidden(&at, "when `hostUsers` is false");
            }
        }
    }
}

/// Checks the security context of a container; `shares_users` unless `hostUsers` is false. Whether it may be privileged
/// is a setting of the API server.
pub fn check_container(context: &Value, shares_users: bool, path: &FieldPath, errors: &mut ErrorList) {
    if errors.refuse_privileged && context["privileged"].as_bool() == Some(true) {
        errors.forbidden(&path.child("privileged"), "disallowed by cluster policy");
    }
    for name in ["runAsUser", "runAsGroup"] {
        user_id(&context[name], &path.child(name), errors);
    }
    let at = path.child("procMount");
    let mount = &context["procMount"];
    if mount.as_str().is_some_and(|mount| !PROC_MOUNTS.contains(&mount)) {
        errors.unsupported(&at, mount, &PROC_MOUNTS);
    }
    if mount == "Unmasked" && shares_users {
        errors.invalid(&at, mount, "`hostUsers` must be false to use `Unmasked`");
    }
    seccomp(&context["seccompProfile"], &path.child("seccompProfile"), errors);
    if context["allowPrivilegeEscalation"].as_bool() == Some(false) {
        let mut contradicts = |with: &str| {
            let detail = format!("cannot set `allowPrivilegeEscalation` to false and {with}");
            errors.invalid_raw(path, &go_struct(context, &CONTEXT_FIELDS), &detail);
        };
        if context["privileged"].as_bool() == Some(true) {
            contradicts("`privileged` to true");
        }
        if list(&context["capabilities"], "add").contains(&"CAP_SYS_ADMIN".into()) {
            contradicts("`capabilities.Add` CAP_SYS_ADMIN");
        }
    }
    app_armor(&context["appArmorProfile"], &path.child("appArmorProfile"), errors);
}

/// Fields of a container's security context, in the order of the server's type.
const CONTEXT_FIELDS: [&str; 12] = [
    "capabilities", "privileged", "seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot",
    "readOnlyRootFilesystem", "allowPrivilegeEscalation", "procMount", "seccompProfile", "appArmorProfile",
];

/// Formats an object like the server's internal type, which has no names for JSON.
fn go_struct(object: &Value, fields: &[&str]) -> String {
    let all = fields.iter().map(|name| {
        let value = &object[*name];
        let inner = match *name {
            "capabilities" => Some(&["add", "drop"] as &[&str]),
            "seLinuxOptions" => Some(&["user", "role", "type", "level"] as &[&str]),
            "windowsOptions" => {
                Some(&["gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName", "hostProcess"] as &[&str])
            }
            "seccompProfile" | "appArmorProfile" => Some(&["type", "localhostProfile"] as &[&str]),
            _ => None,
        };
        let shown = match inner.filter(|_| value.is_object()) {
            Some(inner) => go_struct(value, inner),
            None => value.to_string(),
        };
        format!("\"{}\":{shown}", go_name(name))
    });
    format!("{{{}}}", all.collect::<Vec<_>>().join(","))
}

/// The name of a field in the server's type.
fn go_name(name: &str) -> String {
    for (prefix, initials) in [("gmsa", "GMSA"), ("se", "SE")] {
        if let Some(rest) = name.strip_prefix(prefix).filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        {
            return format!("{initials}{rest}");
        }
    }
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// Refuses options of Windows in a pod for Linux (`validateLinux`).
pub fn refuse_windows_options(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let own = (&pod["securityContext"], path.child("securityContext"));
    for (context, at) in std::iter::once(own).chain(container_contexts(pod, path)) {
        if has_value(context, "windowsOptions") {
            errors.forbidden(&at.child("windowsOptions"), "windows options cannot be set for a linux pod");
        }
    }
}

/// Refuses fields of Linux in a pod for Windows (`validateWindows`).
pub fn refuse_linux_fields(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    const DETAIL: &str = "cannot be set for a windows pod";
    const OF_POD: [&str; 15] = [
        "appArmorProfile", "seLinuxOptions", "hostUsers", "hostPID", "hostIPC", "seccompProfile", "fsGroup",
        "fsGroupChangePolicy", "sysctls", "shareProcessNamespace", "runAsUser", "runAsGroup", "supplementalGroups",
        "supplementalGroupsPolicy", "seLinuxChangePolicy",
    ];
    const OF_CONTAINER: [&str; 10] = [
        "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
        "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
    ];
    let (context, at) = (&pod["securityContext"], path.child("securityContext"));
    for name in OF_POD {
        let (is_set, at) = match name {
            "hostPID" | "hostIPC" => (is_true(pod, name), path),
            "hostUsers" | "shareProcessNamespace" => (has_value(pod, name), path),
            "sysctls" => (!list(context, name).is_empty(), &at),
            _ => (has_value(context, name), &at),
        };
        if is_set {
            errors.forbidden(&at.child(name), DETAIL);
        }
    }
    for (context, at) in container_contexts(pod, path) {
        for name in OF_CONTAINER.into_iter().filter(|name| has_value(context, name)) {
            errors.forbidden(&at.child(name), DETAIL);
        }
    }
}

/// The security contexts of the containers, with their paths.
fn container_contexts<'a>(pod: &'a Value, path: &'a FieldPath) -> impl Iterator<Item = (&'a Value, FieldPath)> {
    ["initContainers", "containers"].into_iter().flat_map(move |kind| {
        let all = list(pod, kind).iter().enumerate();
        all.map(move |(k, c)| (&c["securityContext"], path.child(kind).index(k).child("securityContext")))
    })
}

/// Checks which system calls a container may use (`validateSeccompProfileField`).
fn seccomp(profile: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if profile.is_null() {
        return;
    }
    let (kind, at) = (text(profile, "type"), path.child("type"));
    if kind.is_empty() {
        errors.required(&at, "type is required when seccompProfile is set");
    } else if !PROFILES.contains(&kind) {
        errors.unsupported(&at, &kind.into(), &PROFILES);
    }
    let (local, at) = (&profile["localhostProfile"], path.child("localhostProfile"));
    match local.as_str() {
        Some(local) if kind == "Localhost" => check_subpath(local, &at, errors),
        None if kind == "Localhost" => errors.required(&at, "must be set when seccomp type is Localhost"),
        Some(_) => {
            let displayed = format!("{{\"Type\":{},\"LocalhostProfile\":{local}}}", json!(kind));
            errors.invalid_raw(&at, &displayed, "can only be set when seccomp type is Localhost");
        }
        None => {}
    }
}

/// Checks the AppArmor profile of a container or pod (`ValidateAppArmorProfileField`).
fn app_armor(profile: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if profile.is_null() {
        return;
    }
    let at = path.child("localhostProfile");
    match text(profile, "type") {
        "Localhost" => {
            let local = text(profile, "localhostProfile");
            if local.trim() != local {
                errors.invalid_text(&at, local, "must not be padded with whitespace");
            } else if local.is_empty() {
                errors.required(&at, "must be set when AppArmor type is Localhost");
            }
            if local.len() > LONGEST_PROFILE {
                errors.too_long(&at, LONGEST_PROFILE);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if has_value(profile, "localhostProfile") {
                errors.invalid(&at, &profile["localhostProfile"], "can only be set when AppArmor type is Localhost");
            }
        }
        "" => errors.required(&path.child("type"), "type is required when appArmorProfile is set"),
        kind => errors.unsupported(&path.child("type"), &kind.into(), &PROFILES),
    }
}
