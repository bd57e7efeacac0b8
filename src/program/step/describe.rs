//! Descriptions of objects in the format of `kubectl describe`.
//!
//! Jobs, pods and nodes use kubectl's specific layouts (k8s.io/kubectl pkg/describe/describe.go), JobSets and other
//! kinds its generic layout. Fields that the simulation does not model are omitted.

use super::known_state::{KnownState, OfPod, ReportedState};
use serde_json::Value;
use sim_api::spec::NodeObject;
use sim_base::SimTime;
use sim_engine::record::NodeReady;
use std::fmt::Write;

/// Describes an object of any kind except Node.
pub fn object(object: &Value, known: &KnownState, now: SimTime) -> String {
    let mut out = String::new();
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or("").to_owned();
    let kind = text("/kind");
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    let namespace = if namespace.is_empty() { "default".to_owned() } else { namespace };
    let about = format!("{}/{namespace}/{name}", kind.to_ascii_lowercase());
    field(&mut out, "Name", &name);
    field(&mut out, "Namespace", &namespace);
    let of_pod = known.pods.get(&about);
    if kind == "Pod" {
        field(&mut out, "Node", some(&text("/spec/nodeName"), "<none>"));
    }
    map(&mut out, "Labels", &object["metadata"]["labels"]);
    map(&mut out, "Annotations", &object["metadata"]["annotations"]);
    match kind.as_str() {
        "Pod" => pod(&mut out, object, of_pod, now),
        "Job" => job(&mut out, object),
        _ => {
            field(&mut out, "Kind", &kind);
            for part in ["spec", "status"] {
                if object[part].as_object().is_some_and(|o| !o.is_empty()) {
                    let _ = writeln!(out, "{}:", title(part));
                    general(&mut out, &object[part], 2);
                }
            }
        }
    }
    out.push_str(&events(known, Some(&about)));
    out
}

fn some<'t>(text: &'t str, otherwise: &'t str) -> &'t str {
    if text.is_empty() { otherwise } else { text }
}

fn field(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(out, "{:<18}{value}", format!("{name}:"));
}

/// Writes keys and values, one per line.
fn map(out: &mut String, name: &str, values: &Value) {
    let mut lead = format!("{name}:");
    for (key, value) in values.as_object().into_iter().flatten() {
        let between = if name == "Labels" { "=" } else { ": " };
        let _ = writeln!(out, "{lead:<18}{key}{between}{}", plain(value));
        lead.clear();
    }
    if !lead.is_empty() {
        field(out, name, "<none>");
    }
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Converts a field name to kubectl's title: `replicatedJobs` to `Replicated Jobs`, `enableDNSHostnames` to `Enable
/// DNS Hostnames`.
fn title(key: &str) -> String {
    let letters: Vec<char> = key.chars().collect();
    let mut out = String::new();
    for (i, c) in letters.iter().enumerate() {
        let lower = |at: Option<&char>| at.is_some_and(|c| c.is_lowercase());
        let begins =
            c.is_uppercase() && (lower(i.checked_sub(1).and_then(|i| letters.get(i))) || lower(letters.get(i + 1)));
        match i {
            0 => out.extend(c.to_uppercase()),
            _ if begins => out.extend([' ', *c]),
            _ => out.push(*c),
        }
    }
    out
}

/// Writes a tree of fields with indentation.
fn general(out: &mut String, value: &Value, indent: usize) {
    let pad = " ".repeat(indent);
    for (key, value) in value.as_object().into_iter().flatten() {
        // Keys chosen by users, such as labels, are unchanged.
        let key = if key.contains(['.', '/', '-']) { key.clone() } else { title(key) };
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                let _ = writeln!(out, "{pad}{key}:");
                general(out, value, indent + 2);
            }
            Value::Array(items) if !items.is_empty() => {
                let _ = writeln!(out, "{pad}{key}:");
                for item in items {
                    match item {
                        Value::Object(_) => {
                            let from = out.len();
                            general(out, item, indent + 4);
                            // An item without values, such as the toleration `{}`, writes no line.
                            if out.len() > from {
                                out.replace_range(from + indent + 2..from + indent + 3, "-");
                            }
                        }
                        other => {
                            let _ = writeln!(out, "{pad}  {}", plain(other));
                        }
                    }
                }
            }
            Value::Object(_) | Value::Array(_) | Value::Null => {}
            other => {
                let _ = writeln!(out, "{pad}{key}: {}", plain(other));
            }
        }
    }
}

fn conditions(out: &mut String, list: &Value) {
    let list = list.as_array().filter(|list| !list.is_empty());
    let Some(list) = list else { return };
    let _ = writeln!(out, "Conditions:\n  {:<18}{:<9}{:<22}Message", "Type", "Status", "Reason");
    for c in list {
        let text = |key: &str| c[key].as_str().unwrap_or("").to_owned();
        let (kind, status, reason) = (text("type"), text("status"), text("reason"));
        let line = format!("  {kind:<18}{status:<9}{reason:<22}{}", text("message"));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn job(out: &mut String, job: &Value) {
    let (spec, status) = (&job["spec"], &job["status"]);
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    for (name, key) in [("Parallelism", "parallelism"), ("Completions", "completions")] {
        field(out, name, &plain(&spec[key]));
    }
    for (name, key) in [
        ("Completion Mode", "completionMode"),
        ("Suspend", "suspend"),
        ("Backoff Limit", "backoffLimit"),
        ("Active Deadline Seconds", "activeDeadlineSeconds"),
    ] {
        if !spec[key].is_null() {
            field(out, name, &plain(&spec[key]));
        }
    }
    if let Some(start) = status["startTime"].as_str() {
        field(out, "Start Time", start);
    }
    let active = format!(
        "{} Active ({} Ready) / {} Succeeded / {} Failed",
        number(&status["active"]),
        number(&status["ready"]),
        number(&status["succeeded"]),
        number(&status["failed"])
    );
    field(out, "Pods Statuses", &active);
    let policy = &spec["podFailurePolicy"];
    if policy.is_object() {
        let _ = writeln!(out, "Pod Failure Policy:");
        general(out, policy, 2);
    }
    let _ = writeln!(out, "Pod Template:");
    containers(out, &spec["template"]["spec"], None, "  ");
    conditions(out, &status["conditions"]);
}

fn pod(out: &mut String, pod: &Value, known: Option<&OfPod>, now: SimTime) {
    let phase = pod["status"]["phase"].as_str().unwrap_or("");
    if let Some(known) = known {
        field(out, "Created", &known.created.to_string());
        if let Some(attempt) = known.attempt {
            field(out, "In-Place Attempt", &attempt.to_string());
        }
    }
    let deleting = known.and_then(|k| k.deleting);
    match deleting {
        Some(at) => {
            let lasts = now.since(at);
            field(out, "Status", &format!("Terminating (lasts {lasts})"));
        }
        None => field(out, "Status", phase),
    }
    for owner in pod["metadata"]["ownerReferences"].as_array().into_iter().flatten() {
        let by = format!("{}/{}", plain(&owner["kind"]), plain(&owner["name"]));
        field(out, "Controlled By", &by);
    }
    containers(out, &pod["spec"], known, "");
    conditions(out, &pod["status"]["conditions"]);
    map(out, "Node-Selectors", &pod["spec"]["nodeSelector"]);
    let mut lead = "Tolerations:".to_owned();
    for t in pod["spec"]["tolerations"].as_array().into_iter().flatten() {
        let value = t["value"].as_str().map_or(String::new(), |v| format!("={v}"));
        let effect = t["effect"].as_str().map_or(String::new(), |e| format!(":{e}"));
        let exists = if t["operator"] == "Exists" { " op=Exists" } else { "" };
        let lasts = t["tolerationSeconds"].as_i64().map_or(String::new(), |s| format!(" for {s}s"));
        let _ = writeln!(out, "{lead:<18}{}{value}{effect}{exists}{lasts}", t["key"].as_str().unwrap_or(""));
        lead.clear();
    }
}

fn containers(out: &mut String, spec: &Value, known: Option<&OfPod>, pad: &str) {
    for (list, name) in [("initContainers", "Init Containers"), ("containers", "Containers")] {
        let all = spec[list].as_array().filter(|all| !all.is_empty());
        let Some(all) = all else { continue };
        let _ = writeln!(out, "{pad}{name}:");
        for (i, container) in all.iter().enumerate() {
            let _ = writeln!(out, "{pad}  {}:", plain(&container["name"]));
            let mut line = |name: &str, value: &str| {
                let _ = writeln!(out, "{pad}    {:<15}{value}", format!("{name}:"));
            };
            line("Image", &plain(&container["image"]));
            // The records describe the first container, whose exit ends the pod.
            if let Some(known) = known.filter(|_| list == "containers" && i == 0) {
                match (known.running, known.exit_code) {
                    (_, Some(0)) => line("State", "Terminated (Completed, exit code 0)"),
                    (_, Some(code)) => line("State", &format!("Terminated (Error, exit code {code})")),
                    (Some(since), _) => line("State", &format!("Running (since {since})")),
                    (None, None) => line("State", "Waiting"),
                }
                line("Ready", if known.ready { "True" } else { "False" });
                line("Restart Count", &known.restarts.to_string());
            }
            for part in ["limits", "requests"] {
                let amounts = container["resources"][part].as_object();
                let amounts = amounts.into_iter().flatten().map(|(k, v)| format!("{k}={}", plain(v)));
                let amounts: Vec<String> = amounts.collect();
                if !amounts.is_empty() {
                    line(&title(part), &amounts.join(" "));
                }
            }
        }
    }
}

/// Lists the Events about an object, or all Events.
pub fn events(known: &KnownState, about: Option<&str>) -> String {
    let mine = |e: &&ReportedState| about.is_none_or(|about| e.object == about);
    let mut result = known.events.iter().filter(mine).peekable();
    if result.peek().is_none() {
        return "Events:           <none>\n".to_owned();
    }
    let mut out = format!("Events:\n  {:<8}{:>12}  {:<24}", "Type", "At", "Reason");
    out.push_str(if about.is_none() { "Object: Message\n" } else { "Message\n" });
    for e in result {
        let kind = if e.warning { "Warning" } else { "Normal" };
        let object = if about.is_none() { format!("{}: ", e.object) } else { String::new() };
        let at = e.at.to_string();
        let _ = writeln!(out, "  {kind:<8}{at:>12}  {:<24}{object}{}", e.reason, e.message);
    }
    out
}

pub fn node(node: &NodeObject, objects: &[Value], known: &KnownState) -> String {
    let mut out = String::new();
    field(&mut out, "Name", &node.name);
    map(&mut out, "Labels", &serde_json::json!(node.labels));
    let of = known.nodes.get(&format!("node/{}", node.name)).cloned().unwrap_or_default();
    let written = node.taints.iter().map(|t| {
        if t.value.is_empty() {
            format!("{}:{}", t.key, t.effect.as_str())
        } else {
            format!("{}={}:{}", t.key, t.value, t.effect.as_str())
        }
    });
    let added = of.taints.iter().map(|(key, effect)| format!("{key}:{effect}"));
    let mut lead = "Taints:".to_owned();
    for taint in written.chain(added) {
        let _ = writeln!(out, "{lead:<18}{taint}");
        lead.clear();
    }
    if !lead.is_empty() {
        field(&mut out, "Taints", "<none>");
    }
    let ready = match of.ready {
        _ if of.gone => "the Node object does not exist".to_owned(),
        Some((ready, at)) => format!("{} (since {at})", ready.as_str()),
        None => NodeReady::True.as_str().to_owned(),
    };
    field(&mut out, "Ready", &ready);
    let _ = writeln!(out, "Allocatable:");
    for (resource, milli) in &node.allocatable {
        let _ = writeln!(out, "  {resource}: {}", quantity(*milli));
    }
    let pods: Vec<String> = on_node(objects, &node.name).map(|o| plain(&o["metadata"]["name"])).collect();
    let _ = writeln!(out, "Pods:             ({} in total)", pods.len());
    for pod in pods {
        let _ = writeln!(out, "  {pod}");
    }
    out.push_str(&events(known, Some(&format!("node/{}", node.name))));
    out
}

/// Formats thousandths as a Kubernetes quantity.
pub(super) fn quantity(milli: i64) -> String {
    match milli % 1000 {
        0 => (milli / 1000).to_string(),
        _ => format!("{milli}m"),
    }
}

pub(super) fn on_node<'o>(objects: &'o [Value], name: &'o str) -> impl Iterator<Item = &'o Value> {
    let pods = objects.iter().filter(|o| o["kind"] == "Pod");
    pods.filter(move |o| o["spec"]["nodeName"] == name)
}

#[cfg(test)]
#[path = "../../../tests/inside/program/step/describe.rs"]
mod tests;
