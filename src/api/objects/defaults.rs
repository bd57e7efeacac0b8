//! Defaults that the API server sets in missing fields of Jobs and pod specs (`batch/v1`, `core/v1`).
//!
//! This module must not overwrite existing values.

use super::job::uid;
use super::tree::{as_object, default, default_text, has, items, object, pairs, text};
use crate::spec::keys;
use serde_json::{Value, json};

/// Sets the defaults of a Job, including the selector and the labels that its pods match.
pub fn job(job: &mut Value) {
    spec(&mut job["spec"]);
    generate_selector(job);
}

/// Sets the default size. Completions default to 1 only if parallelism is also missing.
pub fn size(spec: &mut Value) {
    if !has(spec, "completions") && !has(spec, "parallelism") {
        default(spec, "completions", 1);
    }
    default(spec, "parallelism", 1);
}

fn spec(spec: &mut Value) {
    size(spec);
    let backoff = if has(spec, "backoffLimitPerIndex") {
        i32::MAX
    } else {
        6
    };
    default(spec, "backoffLimit", backoff);
    default(spec, "completionMode", "NonIndexed");
    default(spec, "suspend", false);
    default(spec, "manualSelector", false);
    let policy = if has(spec, "podFailurePolicy") {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    default(spec, "podReplacementPolicy", policy);
    if has(spec, "podFailurePolicy") {
        for rule in items(&mut spec["podFailurePolicy"], "rules") {
            for pattern in items(rule, "onPodConditions") {
                default_text(pattern, "status", "True");
            }
        }
    }
    let template = &mut spec["template"];
    pod_spec(&mut template["spec"]);
}

fn generate_selector(job: &mut Value) {
    if job["spec"]["manualSelector"].as_bool() == Some(true) {
        return;
    }
    let uid = uid(job).to_owned();
    let name = text(&job["metadata"], "name").to_owned();
    let labels = object(&mut job["spec"]["template"]["metadata"], "labels");
    for key in [keys::LEGACY_JOB_NAME, keys::BATCH_JOB_NAME] {
        labels.entry(key).or_insert_with(|| json!(name));
    }
    for key in [keys::LEGACY_CONTROLLER_UID, keys::BATCH_CONTROLLER_UID] {
        labels.entry(key).or_insert_with(|| json!(uid));
    }
    let selector = object(&mut job["spec"], "selector");
    let labels = as_object(selector.entry("matchLabels").or_insert(Value::Null));
    labels
        .entry(keys::BATCH_CONTROLLER_UID)
        .or_insert_with(|| json!(uid));
}

/// Sets the defaults of a pod spec, in a template or in a pod.
pub fn pod_spec(pod: &mut Value) {
    let host_network = pod["hostNetwork"].as_bool() == Some(true);
    default_text(pod, "dnsPolicy", "ClusterFirst");
    default_text(pod, "restartPolicy", "Always");
    default_text(pod, "schedulerName", "default-scheduler");
    default(pod, "securityContext", json!({}));
    default(pod, "terminationGracePeriodSeconds", 30);
    let account = text(pod, "serviceAccountName").to_owned();
    if !account.is_empty() {
        default_text(pod, "serviceAccount", &account);
    }
    for volume in items(pod, "volumes") {
        volume_source(volume);
    }
    for kind in ["containers", "initContainers"] {
        for item in items(pod, kind) {
            container(item, host_network);
        }
    }
    // The feature gate GenericWorkload is disabled, so the API server drops the field without a message.
    as_object(pod).remove("schedulingGroup");
}

/// Sets the defaults of a pod: those of its spec, and requests from limits.
pub fn pod(pod: &mut Value) {
    pod_spec(pod);
    default(pod, "enableServiceLinks", true);
    for kind in ["containers", "initContainers"] {
        for container in items(pod, kind) {
            let limits = container["resources"]["limits"].clone();
            for (name, limit) in pairs(&limits) {
                let requests = object(&mut container["resources"], "requests");
                requests
                    .entry(name.clone())
                    .or_insert_with(|| limit.clone());
            }
        }
    }
}

fn container(container: &mut Value, host_network: bool) {
    let image = text(container, "image");
    let pull = if latest(image) {
        "Always"
    } else {
        "IfNotPresent"
    };
    default_text(container, "imagePullPolicy", pull);
    default_text(container, "terminationMessagePath", "/dev/termination-log");
    default_text(container, "terminationMessagePolicy", "File");
    default(container, "resources", json!({}));
    for port in items(container, "ports") {
        default_text(port, "protocol", "TCP");
        let number = port["containerPort"].clone();
        if host_network && port["hostPort"].as_i64().unwrap_or(0) == 0 {
            as_object(port).insert("hostPort".to_owned(), number);
        }
    }
    for var in items(container, "env") {
        if has(&var["valueFrom"], "fieldRef") {
            default_text(&mut var["valueFrom"]["fieldRef"], "apiVersion", "v1");
        }
        if has(&var["valueFrom"], "resourceFieldRef") {
            default(&mut var["valueFrom"]["resourceFieldRef"], "divisor", "0");
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if has(container, name) {
            probe(&mut container[name]);
        }
    }
    for name in ["postStart", "preStop"] {
        if has(&container["lifecycle"], name) {
            handler(&mut container["lifecycle"][name]);
        }
    }
}

/// Returns whether the image has no tag or the tag `latest`, so that it is always pulled.
fn latest(image: &str) -> bool {
    let (name, digest) = image
        .split_once('@')
        .map_or((image, ""), |(name, digest)| (name, digest));
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => digest.is_empty(),
    }
}

fn probe(probe: &mut Value) {
    let zero = |probe: &Value, name: &str| probe[name].as_i64().unwrap_or(0) == 0;
    for (name, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        if zero(probe, name) {
            as_object(probe).insert(name.to_owned(), value.into());
        }
    }
    handler(probe);
}

fn handler(handler: &mut Value) {
    if has(handler, "httpGet") {
        default_text(&mut handler["httpGet"], "path", "/");
        default_text(&mut handler["httpGet"], "scheme", "HTTP");
    }
    if has(handler, "grpc") {
        default(&mut handler["grpc"], "service", "");
    }
}

fn volume_source(volume: &mut Value) {
    let sources = as_object(volume);
    if sources
        .iter()
        .all(|(name, value)| name == "name" || value.is_null())
    {
        sources.insert("emptyDir".to_owned(), json!({}));
    }
    for kind in ["secret", "configMap", "downwardAPI", "projected"] {
        if has(volume, kind) {
            default(&mut volume[kind], "defaultMode", 0o644);
            for item in items(&mut volume[kind], "items") {
                if has(item, "fieldRef") {
                    default_text(&mut item["fieldRef"], "apiVersion", "v1");
                }
            }
        }
    }
    if has(volume, "hostPath") {
        default(&mut volume["hostPath"], "type", "");
    }
    if has(volume, "ephemeral") {
        let template = &mut volume["ephemeral"]["volumeClaimTemplate"];
        default(&mut template["spec"], "volumeMode", "Filesystem");
    }
    if has(volume, "projected") {
        for source in items(&mut volume["projected"], "sources") {
            if has(source, "serviceAccountToken") {
                default(
                    &mut source["serviceAccountToken"],
                    "expirationSeconds",
                    3600,
                );
            }
        }
    }
}
