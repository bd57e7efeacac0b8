//! Defaults that the API server sets in missing fields of Jobs and pod specs (`batch/v1`, `core/v1`).
//!
//! This module must not overwrite existing values.

use super::job::uid;
use super::pod_resources;
use super::value_access::{as_object, has_value, items_mut, object_mut, pairs, set_default, set_default_text, text};
use crate::spec::keys;
use serde_json::{Value, json};

/// Sets the defaults of a Job, including the selector and the labels that its pods match.
pub fn job(job: &mut Value) {
    spec(&mut job["spec"]);
    generate_selector(job);
}

/// Sets the default size. Completions default to 1 only if parallelism is also missing.
fn size(spec: &mut Value) {
    if !has_value(spec, "completions") && !has_value(spec, "parallelism") {
        set_default(spec, "completions", 1);
    }
    set_default(spec, "parallelism", 1);
}

fn spec(spec: &mut Value) {
    size(spec);
    let backoff = if has_value(spec, "backoffLimitPerIndex") { i32::MAX } else { 6 };
    set_default(spec, "backoffLimit", backoff);
    set_default(spec, "completionMode", "NonIndexed");
    set_default(spec, "suspend", false);
    set_default(spec, "manualSelector", false);
    let policy = if has_value(spec, "podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    set_default(spec, "podReplacementPolicy", policy);
    if has_value(spec, "podFailurePolicy") {
        for rule in items_mut(&mut spec["podFailurePolicy"], "rules") {
            for pattern in items_mut(rule, "onPodConditions") {
                set_default_text(pattern, "status", "True");
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
    let labels = object_mut(&mut job["spec"]["template"]["metadata"], "labels");
    for key in [keys::LEGACY_JOB_NAME, keys::BATCH_JOB_NAME] {
        labels.entry(key).or_insert_with(|| json!(name));
    }
    for key in [keys::LEGACY_CONTROLLER_UID, keys::BATCH_CONTROLLER_UID] {
        labels.entry(key).or_insert_with(|| json!(uid));
    }
    let selector = object_mut(&mut job["spec"], "selector");
    let labels = as_object(selector.entry("matchLabels").or_insert(Value::Null));
    labels.entry(keys::BATCH_CONTROLLER_UID).or_insert_with(|| json!(uid));
}

/// Sets the defaults of a pod spec, in a template or in a pod.
pub fn pod_spec(pod: &mut Value) {
    let host_network = pod["hostNetwork"].as_bool() == Some(true);
    set_default_text(pod, "dnsPolicy", "ClusterFirst");
    set_default_text(pod, "restartPolicy", "Always");
    set_default_text(pod, "schedulerName", "default-scheduler");
    set_default(pod, "securityContext", json!({}));
    set_default(pod, "terminationGracePeriodSeconds", 30);
    let account = text(pod, "serviceAccountName").to_owned();
    if !account.is_empty() {
        set_default_text(pod, "serviceAccount", &account);
    }
    for volume in items_mut(pod, "volumes") {
        volume_source(volume);
    }
    for kind in ["containers", "initContainers"] {
        for item in items_mut(pod, kind) {
            container(item, host_network);
        }
    }
    // The feature gate GenericWorkload is disabled, so the API server drops the field without a message.
    as_object(pod).remove("schedulingGroup");
}

/// Sets the defaults of a pod: those of its spec, and requests from limits.
pub fn pod(pod: &mut Value) {
    pod_spec(pod);
    set_default(pod, "enableServiceLinks", true);
    for kind in ["containers", "initContainers"] {
        for container in items_mut(pod, kind) {
            let limits = container["resources"]["limits"].clone();
            for (name, limit) in pairs(&limits) {
                let requests = object_mut(&mut container["resources"], "requests");
                requests.entry(name.clone()).or_insert_with(|| limit.clone());
            }
        }
    }
    pod_resources::set_defaults(pod);
}

fn container(container: &mut Value, host_network: bool) {
    let image = text(container, "image");
    let pull = if has_latest_tag(image) { "Always" } else { "IfNotPresent" };
    set_default_text(container, "imagePullPolicy", pull);
    set_default_text(container, "terminationMessagePath", "/dev/termination-log");
    set_default_text(container, "terminationMessagePolicy", "File");
    set_default(container, "resources", json!({}));
    for port in items_mut(container, "ports") {
        set_default_text(port, "protocol", "TCP");
        let number = port["containerPort"].clone();
        if host_network && port["hostPort"].as_i64().unwrap_or(0) == 0 {
            as_object(port).insert("hostPort".to_owned(), number);
        }
    }
    for var in items_mut(container, "env") {
        if has_value(&var["valueFrom"], "fieldRef") {
            set_default_text(&mut var["valueFrom"]["fieldRef"], "apiVersion", "v1");
        }
        if has_value(&var["valueFrom"], "resourceFieldRef") {
            set_default(&mut var["valueFrom"]["resourceFieldRef"], "divisor", "0");
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if has_value(container, name) {
            probe(&mut container[name]);
        }
    }
    for name in ["postStart", "preStop"] {
        if has_value(&container["lifecycle"], name) {
            handler(&mut container["lifecycle"][name]);
        }
    }
}

/// Returns whether the image has no tag or the tag `latest`, so that it is always pulled.
fn has_latest_tag(image: &str) -> bool {
    let (name, digest) = image.split_once('@').map_or((image, ""), |(name, digest)| (name, digest));
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => digest.is_empty(),
    }
}

fn probe(probe: &mut Value) {
    let zero = |probe: &Value, name: &str| probe[name].as_i64().unwrap_or(0) == 0;
    for (name, value) in
        [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
    {
        if zero(probe, name) {
            as_object(probe).insert(name.to_owned(), value.into());
        }
    }
    handler(probe);
}

fn handler(handler: &mut Value) {
    if has_value(handler, "httpGet") {
        set_default_text(&mut handler["httpGet"], "path", "/");
        set_default_text(&mut handler["httpGet"], "scheme", "HTTP");
    }
    if has_value(handler, "grpc") {
        set_default(&mut handler["grpc"], "service", "");
    }
}

fn volume_source(volume: &mut Value) {
    let sources = as_object(volume);
    if sources.iter().all(|(name, value)| name == "name" || value.is_null()) {
        sources.insert("emptyDir".to_owned(), json!({}));
    }
    for kind in ["secret", "configMap", "downwardAPI", "projected"] {
        if has_value(volume, kind) {
            set_default(&mut volume[kind], "defaultMode", 0o644);
            for item in items_mut(&mut volume[kind], "items") {
                if has_value(item, "fieldRef") {
                    set_default_text(&mut item["fieldRef"], "apiVersion", "v1");
                }
            }
        }
    }
    if has_value(volume, "hostPath") {
        set_default(&mut volume["hostPath"], "type", "");
    }
    if has_value(&volume["ephemeral"], "volumeClaimTemplate") {
        let template = &mut volume["ephemeral"]["volumeClaimTemplate"];
        set_default(&mut template["spec"], "volumeMode", "Filesystem");
    }
    if has_value(volume, "projected") {
        for source in items_mut(&mut volume["projected"], "sources") {
            if has_value(source, "serviceAccountToken") {
                set_default(&mut source["serviceAccountToken"], "expirationSeconds", 3600);
            }
        }
    }
}
