//! The API server's validation of a pod spec, also in a template, with errors in the server's order.
//!
//! This module must not check single containers or volumes.

use super::container;
use super::container::PodContainers;
use super::values::{check_one_of, check_subpath};
use super::{affinity, env, security, volumes};
use crate::admission::names::{
    dns1123_label, dns1123_subdomain, dns1123_subdomain_with_underscore, label_key, label_value,
};
use crate::objects::pod_resources;
use crate::objects::value_access::{has_value, int, list, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath, admission::meta_check::labels};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::IpAddr;

pub use super::affinity::label_selector;

/// Limits of a resolver's configuration (`pkg/apis/core/validation`).
const MAX_NAMESERVERS: usize = 3;
const MAX_SEARCH_PATHS: usize = 32;
const MAX_SEARCH_CHARACTERS: usize = 2048;
/// Longest host name, in characters (`HOST_NAME_MAX` of Linux).
const LONGEST_HOSTNAME: usize = 64;
const POD_DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const MIRROR_POD: &str = "kubernetes.io/config.mirror";
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APPARMOR_CONTAINER: &str = "container.apparmor.security.beta.kubernetes.io/";
/// Beginning of the names of profiles on the node.
const LOCAL_PROFILE: &str = "localhost/";

/// Checks the spec of a template and fields that a template must not have.
pub fn template(template: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let at = path.child("spec");
    spec(&template["spec"], &at, errors);
    if !list(&template["spec"], "ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(&at.child("ephemeralContainers"), detail);
    }
}

/// Checks what a template may have and a new pod may not (the end of `ValidatePodCreate`).
pub fn creation(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if !list(pod, "ephemeralContainers").is_empty() {
        errors.forbidden(&path.child("ephemeralContainers"), "cannot be set on create");
    }
    if !text(pod, "nodeName").is_empty() && !list(pod, "schedulingGates").is_empty() {
        errors.forbidden(&path.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
}

/// Checks that apply to pods and to templates.
pub fn spec(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let volumes = list(pod, "volumes");
    volumes::check(volumes, &path.child("volumes"), errors);
    let claims = list(pod, "resourceClaims");
    resource_claims(claims, &path.child("resourceClaims"), errors);
    let view = PodContainers {
        spec: pod,
        volumes: volumes::mountable_names(volumes),
        claims: claims.iter().map(|c| text(c, "name")).filter(|n| !n.is_empty()).collect(),
    };
    container::containers(&view, &path.child("containers"), errors);
    container::init_containers(&view, &path.child("initContainers"), errors);
    pod_resources::check(pod, path, errors);
    host_network(pod, path, errors);
    let legal = ["Always", "OnFailure", "Never"];
    check_one_of(pod, "restartPolicy", &legal, path, errors);
    let legal = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    check_one_of(pod, "dnsPolicy", &legal, path, errors);
    labels(&pod["nodeSelector"], &path.child("nodeSelector"), errors);
    security::check_pod(pod, &path.child("securityContext"), errors);
    affinity::affinity(&pod["affinity"], &path.child("affinity"), errors);
    dns_config(pod, &path.child("dnsConfig"), errors);
    gates(pod, path, errors);
    let spread = list(pod, "topologySpreadConstraints");
    affinity::check_topology_spread(spread, &path.child("topologySpreadConstraints"), errors);
    security::check_host_users(pod, path, errors);
    hostname_override(pod, &path.child("hostnameOverride"), errors);
    identity(pod, path, errors);
    operating_system(pod, path, errors);
    env::file_volumes(pod, path, errors);
}

/// Checks annotations that act on a pod (`ValidatePodSpecificAnnotations`). `pod` has `metadata` and `spec`.
pub fn specific_annotations(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let (annotations, spec) = (&pod["metadata"]["annotations"], &pod["spec"]);
    if let Some(mirror) = annotations[MIRROR_POD].as_str().filter(|_| text(spec, "nodeName").is_empty()) {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.invalid_text(&path.key(MIRROR_POD), mirror, detail);
    }
    if let Some(cost) = annotations[POD_DELETION_COST].as_str() {
        let canonical = cost == "0" || cost.starts_with(|c: char| c == '-' || ('1'..='9').contains(&c));
        if !canonical || cost.parse::<i32>().is_err() {
            errors.invalid_text(&path.key(POD_DELETION_COST), cost, "must be a 32bit integer");
        }
    }
    let all = || annotations.as_object().into_iter().flatten().filter_map(|(key, value)| Some((key, value.as_str()?)));
    for (key, profile) in all().filter(|(key, _)| *key == SECCOMP_POD || key.starts_with(SECCOMP_CONTAINER)) {
        seccomp_profile(profile, &path.child(key), errors);
    }
    for (key, profile) in all() {
        let Some(container) = key.strip_prefix(APPARMOR_CONTAINER) else { continue };
        let mut containers = ["initContainers", "containers"].into_iter().flat_map(|kind| list(spec, kind));
        if !containers.any(|own| own["name"] == *container) {
            errors.invalid_text(&path.key(key), container, "container not found");
        }
        if !["", "runtime/default", "unconfined"].contains(&profile) && !profile.starts_with(LOCAL_PROFILE) {
            let detail = format!("invalid AppArmor profile name: {profile:?}");
            errors.invalid_text(&path.key(key), profile, &detail);
        }
    }
}

/// Checks a profile of seccomp in an annotation (`ValidateSeccompProfile`).
fn seccomp_profile(profile: &str, path: &FieldPath, errors: &mut ErrorList) {
    match profile.strip_prefix(LOCAL_PROFILE) {
        Some(local) => check_subpath(local, path, errors),
        None if ["runtime/default", "docker/default", "unconfined"].contains(&profile) => {}
        None => errors.invalid_text(path, profile, "must be a valid seccomp profile"),
    }
}

/// Checks the name that the kubelet gives to the pod's host (`validatePodHostName`).
fn hostname_override(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let Some(name) = pod["hostnameOverride"].as_str() else { return };
    for other in ["setHostnameAsFQDN", "hostNetwork"] {
        if pod[other].as_bool() == Some(true) {
            errors.forbidden(path, &format!("may not be specified when {other} is true"));
        }
    }
    if name.len() > LONGEST_HOSTNAME {
        errors.too_long(path, LONGEST_HOSTNAME);
    }
    errors.all_invalid(path, name, dns1123_subdomain(name));
}

/// Checks the operating system, and that fields of the other one are not set (`validateOS`, `validateLinux`,
/// `validateWindows`).
fn operating_system(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let (os, at) = (&pod["os"], path.child("os"));
    match text(os, "name") {
        _ if !os.is_object() => {}
        "" => errors.required(&at.child("name"), ""),
        "linux" => security::refuse_windows_options(pod, path, errors),
        "windows" => security::refuse_linux_fields(pod, path, errors),
        name => errors.unsupported(&at, &json!(name), &["linux", "windows"]),
    }
}

/// Checks names, deadlines, tolerations and classes, which are the rest of the spec.
fn identity(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let mut subdomain = |name: &str| {
        let value = text(pod, name);
        if !value.is_empty() {
            errors.all_invalid(&path.child(name), value, dns1123_subdomain(value));
        }
    };
    subdomain("serviceAccountName");
    subdomain("nodeName");
    if let Some(seconds) = int(pod, "activeDeadlineSeconds")
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let (at, detail) = (path.child("activeDeadlineSeconds"), "must be between 1 and 2147483647, inclusive");
        errors.invalid(&at, &pod["activeDeadlineSeconds"], detail);
    }
    for name in ["hostname", "subdomain"] {
        let value = text(pod, name);
        if !value.is_empty() {
            errors.all_invalid(&path.child(name), value, dns1123_label(value));
        }
    }
    tolerations(list(pod, "tolerations"), &path.child("tolerations"), errors);
    host_aliases(list(pod, "hostAliases"), &path.child("hostAliases"), errors);
    for name in ["priorityClassName", "runtimeClassName"] {
        let value = text(pod, name);
        if !value.is_empty() {
            errors.all_invalid(&path.child(name), value, dns1123_subdomain(value));
        }
    }
    let policy = text(pod, "preemptionPolicy");
    if !matches!(policy, "" | "PreemptLowerPriority" | "Never") {
        let legal = ["PreemptLowerPriority", "Never"];
        errors.unsupported(&path.child("preemptionPolicy"), &pod["preemptionPolicy"], &legal);
    }
}

fn resource_claims(claims: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    let mut names = BTreeSet::new();
    for (k, claim) in claims.iter().enumerate() {
        let (at, name) = (path.index(k), text(claim, "name"));
        let first = names.insert(name);
        if name.is_empty() {
            errors.required(&at.child("name"), "");
        } else if !first {
            errors.duplicate(&at.child("name"), &name.into());
        } else {
            errors.all_invalid(&at.child("name"), name, dns1123_label(name));
        }
        let sources = ["resourceClaimName", "resourceClaimTemplateName"];
        let given = sources.iter().filter(|source| has_value(claim, source)).count();
        if given != 1 {
            let detail = match given {
                0 => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
                _ => "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            };
            let displayed = format!(
                "{{\"Name\":{},\"ResourceClaimName\":{},\"ResourceClaimTemplateName\":{}}}",
                json!(name),
                claim["resourceClaimName"],
                claim["resourceClaimTemplateName"]
            );
            errors.invalid_raw(&at, &displayed, detail);
        }
        for source in sources {
            if let Some(value) = claim[source].as_str() {
                errors.all_invalid(&at.child(source), value, dns1123_subdomain(value));
            }
        }
    }
}

/// Checks the ports of a pod with hostNetwork, whose container ports are ports of the node; those of init containers
/// are not checked (`validatePodHostNetworkDeps`).
fn host_network(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if pod["hostNetwork"].as_bool() != Some(true) {
        return;
    }
    for (c, container) in list(pod, "containers").iter().enumerate() {
        for (p, port) in list(container, "ports").iter().enumerate() {
            let host = int(port, "hostPort").unwrap_or(0);
            if host != int(port, "containerPort").unwrap_or(0) {
                let at = path.child("containers").index(c).child("ports").index(p).child("hostPort");
                errors.invalid(&at, &host.into(), "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

fn dns_config(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let config = &pod["dnsConfig"];
    let (servers, at) = (list(config, "nameservers"), path.child("nameservers"));
    if text(pod, "dnsPolicy") == "None" {
        if !has_value(pod, "dnsConfig") {
            return errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if servers.is_empty() {
            return errors.required(&at, "must provide at least one DNS nameserver when `dnsPolicy` is None");
        }
    }
    if servers.len() > MAX_NAMESERVERS {
        let detail = format!("must not have more than {MAX_NAMESERVERS} nameservers");
        errors.invalid(&at, &config["nameservers"], &detail);
    }
    for (k, server) in servers.iter().enumerate() {
        if !server.as_str().is_some_and(is_ip) {
            errors.invalid(&at.index(k), server, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
    }
    let (searches, at) = (list(config, "searches"), path.child("searches"));
    if searches.len() > MAX_SEARCH_PATHS {
        let detail = format!("must not have more than {MAX_SEARCH_PATHS} search paths");
        errors.invalid(&at, &config["searches"], &detail);
    }
    let characters: usize = searches.iter().filter_map(Value::as_str).map(|search| search.len() + 1).sum();
    if characters > MAX_SEARCH_CHARACTERS + 1 {
        let detail =
            format!("must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list");
        errors.invalid(&at, &config["searches"], &detail);
    }
    for (k, search) in searches.iter().filter_map(Value::as_str).enumerate().filter(|(_, search)| *search != ".") {
        let name = search.strip_suffix('.').unwrap_or(search);
        errors.all_invalid(&at.index(k), name, dns1123_subdomain_with_underscore(name));
    }
    for (k, option) in list(config, "options").iter().enumerate() {
        if text(option, "name").is_empty() {
            errors.required(&path.child("options").index(k), "must not be empty");
        }
    }
}

/// Whether a text is an address; leading zeros of IPv4 are accepted (`ParseIPSloppy`).
fn is_ip(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let is_byte = |part: &&str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && part.parse::<u64>().is_ok_and(|n| n <= 255)
    };
    text.parse::<IpAddr>().is_ok() || parts.len() == 4 && parts.iter().all(is_byte)
}

fn gates(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    for (k, gate) in list(pod, "readinessGates").iter().enumerate() {
        let kind = text(gate, "conditionType");
        let at = path.child("readinessGates").index(k).child("conditionType");
        errors.all_invalid(&at, kind, label_key(kind));
    }
    let gates = list(pod, "schedulingGates");
    let mut names = BTreeSet::new();
    for (k, gate) in gates.iter().enumerate() {
        let (at, name) = (path.child("schedulingGates").index(k), text(gate, "name"));
        errors.all_invalid(&at, name, label_key(name));
        if !names.insert(name) {
            errors.duplicate(&at, &name.into());
        }
    }
}

fn tolerations(tolerations: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    for (k, toleration) in tolerations.iter().enumerate() {
        let at = path.index(k);
        let get = |name| text(toleration, name);
        let (key, operator, value, effect) = (get("key"), get("operator"), get("value"), get("effect"));
        if !key.is_empty() {
            errors.all_invalid(&at.child("key"), key, label_key(key));
        } else if operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid_text(&at.child("operator"), operator, detail);
        }
        if has_value(toleration, "tolerationSeconds") && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid_text(&at.child("effect"), effect, detail);
        }
        let at_operator = at.child("operator");
        match operator {
            "Equal" | "" => {
                let wrong = label_value(value);
                if !wrong.is_empty() {
                    errors.invalid_text(&at_operator, value, &wrong.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.invalid_text(&at_operator, value, detail);
            }
            "Exists" => {}
            "Lt" | "Gt" => errors.unsupported(&at_operator, &operator.into(), &["Equal", "Exists", "Lt", "Gt"]),
            _ => errors.unsupported(&at_operator, &operator.into(), &["Equal", "Exists"]),
        }
        let legal = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        if !effect.is_empty() && !legal.contains(&effect) {
            errors.unsupported(&at.child("effect"), &effect.into(), &legal);
        }
    }
}

fn host_aliases(aliases: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    for (k, alias) in aliases.iter().enumerate() {
        let (at, ip) = (path.index(k), text(alias, "ip"));
        if ip.parse::<std::net::IpAddr>().is_err() {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            errors.invalid_text(&at.child("ip"), ip, detail);
        }
        for (k, name) in list(alias, "hostnames").iter().enumerate() {
            let name = name.as_str().unwrap_or("");
            errors.all_invalid(&at.child("hostnames").index(k), name, dns1123_subdomain(name));
        }
    }
}
