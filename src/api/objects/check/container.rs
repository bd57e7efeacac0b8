//! The API server's validation of containers and init containers in a pod template.
//!
//! This module must not include checks that apply only when a pod is created.

use super::env::{env, env_from};
use super::probes;
use super::resources;
use super::security;
use super::values::{check_one_of, check_subpath, port_number};
use crate::admission::names::{dns1123_label, port_name};
use crate::objects::value_access::{has_value, int, list, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath};
use serde_json::Value;
use std::collections::BTreeSet;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES: [&str; 2] = ["File", "FallbackToLogsOnError"];
/// Parts of the pod that a container may refer to.
pub struct PodContainers<'a> {
    pub spec: &'a Value,
    pub volumes: BTreeSet<&'a str>,
    pub claims: Vec<&'a str>,
}

/// Checks `containers`: at least one container, with unique names.
pub fn containers(pod: &PodContainers, path: &FieldPath, errors: &mut ErrorList) {
    let result = list(pod.spec, "containers");
    if result.is_empty() {
        errors.required(path, "");
    }
    let mut names = BTreeSet::new();
    for (k, container) in result.iter().enumerate() {
        let (at, name) = (path.index(k), text(container, "name"));
        common(container, pod, &at, errors);
        if !names.insert(name) {
            errors.duplicate(&at.child("name"), &name.into());
        }
        probes::probes(container, pod.spec, &at, errors);
        restart_rules(container, &at, errors);
    }
    host_ports(result, path, errors);
}

/// Checks `initContainers`. Init containers with restartPolicy Always are sidecars and may have probes.
pub fn init_containers(pod: &PodContainers, path: &FieldPath, errors: &mut ErrorList) {
    let mut names: BTreeSet<&str> = list(pod.spec, "containers").iter().map(|c| text(c, "name")).collect();
    for (k, container) in list(pod.spec, "initContainers").iter().enumerate() {
        let (at, name) = (path.index(k), text(container, "name"));
        common(container, pod, &at, errors);
        restart_rules(container, &at, errors);
        if !names.insert(name) {
            errors.duplicate(&at.child("name"), &name.into());
        }
        host_ports(std::slice::from_ref(container), path, errors);
        if text(container, "restartPolicy") == "Always" {
            probes::probes(container, pod.spec, &at, errors);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if has_value(container, field) {
                let detail = "may not be set for init containers without restartPolicy=Always";
                errors.forbidden(&at.child(field), detail);
            }
        }
    }
}

fn common(container: &Value, pod: &PodContainers, path: &FieldPath, errors: &mut ErrorList) {
    let (at, name) = (path.child("name"), text(container, "name"));
    if name.is_empty() {
        errors.required(&at, "");
    } else {
        errors.all_invalid(&at, name, dns1123_label(name));
    }
    if text(container, "image").is_empty() {
        errors.required(&path.child("image"), "");
    }
    check_one_of(container, "terminationMessagePolicy", &MESSAGE_POLICIES, path, errors);
    ports(list(container, "ports"), &path.child("ports"), errors);
    env(list(container, "env"), &path.child("env"), errors);
    env_from(list(container, "envFrom"), &path.child("envFrom"), errors);
    mounts(container, pod, &path.child("volumeMounts"), errors);
    devices(container, pod, &path.child("volumeDevices"), errors);
    check_one_of(container, "imagePullPolicy", &PULL_POLICIES, path, errors);
    let resources = &container["resources"];
    resources::check_container_resources(resources, &pod.claims, &path.child("resources"), errors);
    resize_policies(
        list(container, "resizePolicy"),
        text(pod.spec, "restartPolicy"),
        &path.child("resizePolicy"),
        errors,
    );
    let shares_users = pod.spec["hostUsers"].as_bool() != Some(false);
    let at = path.child("securityContext");
    security::check_container(&container["securityContext"], shares_users, &at, errors);
}

fn ports(ports: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    let mut names = BTreeSet::new();
    for (k, port) in ports.iter().enumerate() {
        let (at, name) = (path.index(k), text(port, "name"));
        let wrong = if name.is_empty() { Vec::new() } else { port_name(name) };
        let twice = !name.is_empty() && !names.insert(name);
        if wrong.is_empty() && twice {
            errors.duplicate(&at.child("name"), &name.into());
        }
        errors.all_invalid(&at.child("name"), name, wrong);
        if int(port, "containerPort").unwrap_or(0) == 0 {
            errors.required(&at.child("containerPort"), "");
        } else {
            port_number(&port["containerPort"], &at.child("containerPort"), errors);
        }
        if int(port, "hostPort").unwrap_or(0) != 0 {
            port_number(&port["hostPort"], &at.child("hostPort"), errors);
        }
        check_one_of(port, "protocol", &PROTOCOLS, &at, errors);
    }
}

/// Checks that no two containers of the pod use the same host port.
fn host_ports(containers: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (k, container) in containers.iter().enumerate() {
        for (p, port) in list(container, "ports").iter().enumerate() {
            let number = int(port, "hostPort").unwrap_or(0);
            if number == 0 {
                continue;
            }
            let ip = text(port, "hostIP");
            let name = format!("{}/{ip}/{number}", text(port, "protocol"));
            if taken.contains(&name) {
                let at = path.index(k).child("ports").index(p).child("hostPort");
                errors.duplicate(&at, &name.as_str().into());
            }
            taken.insert(name);
        }
    }
}

fn mounts(container: &Value, pod: &PodContainers, path: &FieldPath, errors: &mut ErrorList) {
    let mounts = list(container, "volumeMounts");
    let devices = list(container, "volumeDevices");
    for (k, mount) in mounts.iter().enumerate() {
        let (at, name) = (path.index(k), text(mount, "name"));
        if name.is_empty() {
            errors.required(&at.child("name"), "");
        }
        if !pod.volumes.contains(&name) {
            errors.not_found(&at.child("name"), name);
        }
        let point = text(mount, "mountPath");
        if point.is_empty() {
            errors.required(&at.child("mountPath"), "");
        }
        if mounts[..k].iter().any(|m| text(m, "mountPath") == point) {
            errors.invalid_text(&at.child("mountPath"), point, "must be unique");
        }
        if devices.iter().any(|d| text(d, "name") == name) {
            let detail = "must not already exist in volumeDevices";
            errors.invalid_text(&at.child("name"), name, detail);
        }
        if devices.iter().any(|d| text(d, "devicePath") == point) {
            let detail = "must not already exist as a path in volumeDevices";
            errors.invalid_text(&at.child("mountPath"), point, detail);
        }
        let (sub, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
        check_subpath(sub, &path.child("subPath"), errors);
        if !sub.is_empty() && !expression.is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            errors.invalid_text(&at.child("subPathExpr"), expression, detail);
        }
        check_subpath(expression, &path.child("subPathExpr"), errors);
        propagation(mount, container, path, errors);
    }
}

/// Checks how mounts of the node appear in the container, and whether they are read only (`validateMountPropagation`,
/// `validateMountRecursiveReadOnly`).
fn propagation(mount: &Value, container: &Value, path: &FieldPath, errors: &mut ErrorList) {
    const MODES: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];
    let at = path.child("mountPropagation");
    let mode = mount["mountPropagation"].as_str();
    if mode.is_some_and(|mode| !MODES.contains(&mode)) {
        errors.unsupported(&at, &mount["mountPropagation"], &MODES);
    }
    if mode == Some("Bidirectional") && container["securityContext"]["privileged"].as_bool() != Some(true) {
        errors.forbidden(&at, "Bidirectional mount propagation is available only to privileged containers");
    }
    let at = path.child("recursiveReadOnly");
    match mount["recursiveReadOnly"].as_str() {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if mount["readOnly"].as_bool() != Some(true) {
                errors.forbidden(&at, "may only be specified when readOnly is true");
            }
            if mode.is_some_and(|mode| mode != "None") {
                errors.forbidden(&at, "may only be specified when mountPropagation is None or not specified");
            }
        }
        Some(_) => errors.unsupported(&at, &mount["recursiveReadOnly"], &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// Checks what a change of resources does to the container (`validateResizePolicy`).
fn resize_policies(policies: &[Value], pod_restarts: &str, path: &FieldPath, errors: &mut ErrorList) {
    const NO_RESTART: &str = "NotRequired";
    let mut known = BTreeSet::new();
    for (k, policy) in policies.iter().enumerate() {
        let (resource, restart) = (text(policy, "resourceName"), text(policy, "restartPolicy"));
        if !known.insert(resource) {
            errors.duplicate(&path.index(k), &resource.into());
        }
        match resource {
            "cpu" | "memory" => {}
            "" => errors.required(path, ""),
            _ => errors.unsupported(path, &resource.into(), &["cpu", "memory"]),
        }
        match restart {
            NO_RESTART | "RestartContainer" => {}
            "" => errors.required(path, ""),
            _ => errors.unsupported(path, &restart.into(), &[NO_RESTART, "RestartContainer"]),
        }
        if pod_restarts == "Never" && restart != NO_RESTART {
            errors.invalid_text(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
        }
    }
}

fn devices(container: &Value, pod: &PodContainers, path: &FieldPath, errors: &mut ErrorList) {
    for (k, device) in list(container, "volumeDevices").iter().enumerate() {
        let (at, name) = (path.index(k), text(device, "name"));
        if name.is_empty() {
            errors.required(&at.child("name"), "");
        }
        let volume = list(pod.spec, "volumes").iter().find(|v| text(v, "name") == name);
        match volume {
            None => errors.not_found(&at.child("name"), name),
            Some(v) if !has_value(v, "persistentVolumeClaim") && !has_value(v, "ephemeral") => {
                let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.invalid_text(&at.child("name"), name, detail);
            }
            Some(_) => {}
        }
        if text(device, "devicePath").is_empty() {
            errors.required(&at.child("devicePath"), "");
        }
    }
}

/// Checks the restart policy and restart rules of one container (beta since Kubernetes 1.35).
fn restart_rules(container: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let policy = &container["restartPolicy"];
    let rules = list(container, "restartPolicyRules");
    if policy.is_null() {
        if !rules.is_empty() {
            let detail = "must specify restartPolicy when restart rules are used";
            errors.required(&path.child("restartPolicy"), detail);
        }
        return;
    }
    let legal = ["Always", "Never", "OnFailure"];
    if !legal.iter().any(|name| policy == name) {
        errors.unsupported(&path.child("restartPolicy"), policy, &legal);
    }
    let at = path.child("restartPolicyRules");
    for (k, rule) in rules.iter().enumerate() {
        restart_rule(rule, &at.index(k), errors);
    }
}

fn restart_rule(rule: &Value, path: &FieldPath, errors: &mut ErrorList) {
    match text(rule, "action") {
        "" => errors.required(&path.child("action"), ""),
        "Restart" | "RestartAllContainers" => {}
        _ => {
            let legal = ["Restart", "RestartAllContainers"];
            errors.unsupported(&path.child("action"), &rule["action"], &legal);
        }
    }
    let codes = &rule["exitCodes"];
    if codes.is_null() {
        errors.required(&path.child("exitCodes"), "must be specified");
        return;
    }
    check_one_of(codes, "operator", &["In", "NotIn"], &path.child("exitCodes"), errors);
}
