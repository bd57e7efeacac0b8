//! The API server's validation of a container's probes and lifecycle handlers.
//!
//! This module must not execute probes.

use super::values::{not_negative, port_number};
use crate::objects::value_access::{has_value, int, list, text};
use crate::{
    admission::error_list::ErrorList,
    admission::field::FieldPath,
    admission::names::{http_header, port_name},
};
use serde_json::Value;

/// Checks the lifecycle handlers and probes in the server's order.
pub fn probes(container: &Value, pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let (lifecycle, at) = (&container["lifecycle"], path.child("lifecycle"));
    for name in ["postStart", "preStop"] {
        if has_value(lifecycle, name) {
            let grace = int(pod, "terminationGracePeriodSeconds");
            handler(&lifecycle[name], &HOOKS, grace, &at.child(name), errors);
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if has_value(container, name) {
            probe(name, &container[name], &path.child(name), errors);
        }
    }
}

const HOOKS: [&str; 4] = ["exec", "httpGet", "tcpSocket", "sleep"];
const PROBES: [&str; 4] = ["exec", "httpGet", "tcpSocket", "grpc"];

fn probe(name: &str, probe: &Value, path: &FieldPath, errors: &mut ErrorList) {
    handler(probe, &PROBES, None, path, errors);
    for field in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        not_negative(&probe[field], &path.child(field), errors);
    }
    let (grace, at) = (&probe["terminationGracePeriodSeconds"], path.child("terminationGracePeriodSeconds"));
    if grace.as_i64().is_some_and(|seconds| seconds <= 0) {
        errors.invalid(&at, grace, "must be greater than 0");
    }
    let threshold = &probe["successThreshold"];
    if name == "readinessProbe" {
        if !grace.is_null() {
            errors.invalid(&at, grace, "must not be set for readinessProbes");
        }
    } else if threshold.as_i64() != Some(1) {
        errors.invalid(&path.child("successThreshold"), threshold, "must be 1");
    }
}

/// Checks that exactly one kind of handler is set and that it is valid.
fn handler(handler: &Value, kinds: &[&str], grace: Option<i64>, path: &FieldPath, errors: &mut ErrorList) {
    let mut result = 0;
    for kind in kinds.iter().filter(|kind| has_value(handler, kind)) {
        let at = path.child(kind);
        if result > 0 {
            errors.forbidden(&at, "may not specify more than 1 handler type");
            continue;
        }
        result += 1;
        let action = &handler[*kind];
        match *kind {
            "exec" if list(action, "command").is_empty() => errors.required(&at.child("command"), ""),
            "httpGet" => http_get(action, &at, errors),
            "tcpSocket" => port(&action["port"], &at.child("port"), errors),
            "grpc" => port_number(&action["port"], &at.child("port"), errors),
            "sleep" => sleep(&action["seconds"], grace, &at, errors),
            _ => {}
        }
    }
    if result == 0 {
        errors.required(path, "must specify a handler type");
    }
}

fn http_get(action: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if text(action, "path").is_empty() {
        errors.required(&path.child("path"), "");
    }
    port(&action["port"], &path.child("port"), errors);
    if !matches!(text(action, "scheme"), "HTTP" | "HTTPS") {
        errors.unsupported(&path.child("scheme"), &action["scheme"], &["HTTP", "HTTPS"]);
    }
    for header in list(action, "httpHeaders") {
        let name = text(header, "name");
        errors.all_invalid(&path.child("httpHeaders"), name, http_header(name));
    }
}

/// Checks a port number or port name.
fn port(port: &Value, path: &FieldPath, errors: &mut ErrorList) {
    match port.as_str() {
        Some(name) => errors.all_invalid(path, name, port_name(name)),
        None if port.is_null() => port_number(&0.into(), path, errors),
        None => port_number(port, path, errors),
    }
}

fn sleep(seconds: &Value, grace: Option<i64>, path: &FieldPath, errors: &mut ErrorList) {
    let Some(grace) = grace else { return };
    if !seconds.as_i64().is_some_and(|s| (0..=grace).contains(&s)) {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.invalid(path, seconds, &detail);
    }
}
