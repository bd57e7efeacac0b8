//! Anonymizes a recording. Only an explicit list of fields and values is kept; everything else is replaced or dropped.

use serde_json::{Map, Value, json};
use sim_api::spec::keys;
use sim_inputs::topology::anonymize::AnonymousNames;

/// Replacement for the name of the JobSet.
const JOBSET_NAME: &str = "x";

/// Returns the replacement of a name in a value; null for other values.
fn replace_value(names: &mut AnonymousNames, category: &str, value: &Value) -> Value {
    value.as_str().map_or(Value::Null, |name| json!(names.replacement(category, name)))
}

/// Public label keys, which are kept.
const PUBLIC_LABELS: [&str; 4] =
    [keys::HOSTNAME, keys::ZONE, "topology.kubernetes.io/region", "cloud.google.com/gke-nodepool"];
/// Space-separated names of fields of a JobSet and of its Job and pod templates that contain a number, an enum value or
/// nested fields, but no name.
const KEPT_FIELDS: &str = "\
    replicas parallelism completions completionMode backoffLimit backoffLimitPerIndex maxFailedIndexes \
    activeDeadlineSeconds podReplacementPolicy suspend ttlSecondsAfterFinished maxRestarts restartStrategy action \
    operator startupPolicyOrder enableDNSHostnames publishNotReadyAddresses restartPolicy \
    terminationGracePeriodSeconds status onExitCodes exitCodes values rules failurePolicy successPolicy \
    startupPolicy network spec template podFailurePolicy onPodConditions replicatedJobs containers initContainers \
    restartPolicyRules resources requests limits";
/// Space-separated Kubernetes enum values that are kept in these fields. Any other text is dropped.
const KEPT_ENUM_VALUES: &str = "\
    Indexed NonIndexed Failed TerminatingOrFailed Recreate BlockingRecreate InPlaceRestart FailJobSet RestartJobSet \
    RestartJobSetAndIgnoreMaxRestarts RestartJob RestartJobAndIgnoreMaxRestarts All Any AnyOrder InOrder Always \
    OnFailure Never FailJob FailIndex Ignore Count In NotIn True False Unknown DisruptionTarget RestartAllContainers \
    Ready Complete BackoffLimitExceeded PodFailurePolicy DeadlineExceeded FailedIndexes MaxFailedIndexesExceeded \
    ConfigIssue FailureTarget Suspended Restart RestartContainer";

/// Returns the recording without identifying names and texts.
pub fn anonymize(recording: &Value) -> Value {
    let mut names = AnonymousNames::default();
    let r = recording;
    let namespace = "ns";
    let jobset = r["jobSet"]["metadata"]["name"].as_str().unwrap_or("").to_owned();
    let mut out = Map::new();
    for key in ["schema", "kind", "playedForMs", "deleted", "podColumns", "scored", "scoredUpTo"] {
        if !r[key].is_null() {
            out.insert(key.to_owned(), r[key].clone());
        }
    }
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("name", json!(namespace));
    put("about", json!("imported and anonymized"));
    put("controlPlane", r["controlPlane"].clone());
    let job_set = manifest(&r["jobSet"], &mut names);
    put("jobSet", job_set);
    let nodes = r["objects"].as_array().into_iter().flatten();
    let nodes: Vec<Value> = nodes.map(|node| self::node(node, r, &mut names)).collect();
    put("objects", json!(nodes));
    put("script", script(&r["script"], (&jobset, &mut names)));
    let mut milestones = r["milestones"].clone();
    milestones["name"] = json!(JOBSET_NAME);
    put("milestones", milestones);
    put("imported", without_notes(&r["imported"]));
    put("status", status(&r["status"], &mut names));
    put("jobs", map_rows(&r["jobs"], |j| job(j, (&jobset, &mut names))));
    put("events", json!([]));
    put("log", map_rows(&r["log"], |row| log(row, (&jobset, &mut names))));
    put("pods", map_rows(&r["pods"], |row| pod(row, &mut names)));
    out.into()
}

fn map_rows(value: &Value, one: impl FnMut(&Value) -> Value) -> Value {
    let all = value.as_array().into_iter().flatten();
    all.map(one).collect::<Vec<_>>().into()
}

/// Drops the notes, which may contain names. The assumptions are texts of this program and are kept.
fn without_notes(own: &Value) -> Value {
    let mut own = own.clone();
    own["notes"] = json!([]);
    own
}

fn manifest(jobset: &Value, names: &mut AnonymousNames) -> Value {
    let mut meta = json!({"name": JOBSET_NAME});
    let annotations = jobset["metadata"]["annotations"].as_object().into_iter().flatten();
    for (key, value) in annotations {
        match key.as_str() {
            keys::EXCLUSIVE_TOPOLOGY => {
                let topology = value.as_str().map(|key| label(key, names));
                meta["annotations"][key] = json!(topology);
            }
            keys::NODE_SELECTOR_STRATEGY => meta["annotations"][key] = value.clone(),
            _ => {}
        }
    }
    let spec = copy_known_fields(&jobset["spec"], names);
    json!({"apiVersion": jobset["apiVersion"], "kind": "JobSet", "metadata": meta, "spec": spec})
}

fn label(key: &str, names: &mut AnonymousNames) -> String {
    if PUBLIC_LABELS.contains(&key) { key.to_owned() } else { names.replacement("topology", key) }
}

/// Copies known fields with their numbers and enum values. Names are replaced.
fn copy_known_fields(value: &Value, names: &mut AnonymousNames) -> Value {
    let Value::Object(map) = value else {
        return match value {
            Value::Array(items) => items.iter().map(|item| copy_known_fields(item, names)).collect(),
            Value::String(text) if !KEPT_ENUM_VALUES.split(' ').any(|kept| kept == text) => Value::Null,
            other => other.clone(),
        };
    };
    let mut out = Map::new();
    for (key, value) in map {
        let new = match key.as_str() {
            "name" => replace_name(map, value, names),
            "type" => copy_known_fields(value, names),
            "image" => replace_value(names, "image", value),
            "groupName" => replace_value(names, "group", value),
            "containerName" => replace_value(names, "container", value),
            "requests" | "limits" => quantities(value, names),
            "targetReplicatedJobs" | "dependsOn" => references(value, names),
            "onJobFailureReasons" => copy_known_fields(value, names),
            "metadata" => placement_metadata(value, names),
            key if KEPT_FIELDS.split(' ').any(|kept| kept == key) => copy_known_fields(value, names),
            _ => continue,
        };
        if !new.is_null() {
            out.insert(key.clone(), new);
        }
    }
    out.into()
}

/// Replaces a `name` field. The sibling fields show whether it names a replicated job, a container or a rule; other
/// names are dropped.
fn replace_name(map: &Map<String, Value>, name: &Value, names: &mut AnonymousNames) -> Value {
    let what = match () {
        () if map.contains_key("template") => "r",
        () if map.contains_key("image") => "container",
        () if map.contains_key("action") => "rule",
        () => return Value::Null,
    };
    replace_value(names, what, name)
}

fn quantities(value: &Value, names: &mut AnonymousNames) -> Value {
    let entries = value.as_object().into_iter().flatten();
    let one = |(name, quantity): (&String, &Value)| (names.resource(name), quantity.clone());
    entries.map(one).collect::<Map<_, _>>().into()
}

fn references(value: &Value, names: &mut AnonymousNames) -> Value {
    let one = |item: &Value| match item {
        Value::String(name) => json!(names.replacement("r", name)),
        other => {
            json!({"name": replace_value(names, "r", &other["name"]), "status": copy_known_fields(&other["status"], names)})
        }
    };
    let all = value.as_array().into_iter().flatten();
    all.map(one).collect::<Vec<_>>().into()
}

/// Copies from the metadata of a template only the exclusive topology, which determines the placement of pods.
fn placement_metadata(meta: &Value, names: &mut AnonymousNames) -> Value {
    let mut out = Map::new();
    let of = &meta["annotations"];
    if let Some(key) = of[keys::EXCLUSIVE_TOPOLOGY].as_str() {
        let topology = label(key, names);
        out.insert(keys::EXCLUSIVE_TOPOLOGY.to_owned(), json!(topology));
    }
    if out.is_empty() { json!({}) } else { json!({"annotations": out}) }
}

/// Returns a node with its name, its size and the labels that affect the placement of pods.
fn node(node: &Value, recording: &Value, names: &mut AnonymousNames) -> Value {
    let name = replace_value(names, "node", &node["metadata"]["name"]);
    let wanted = recording["jobSet"].to_string();
    let mut labels = Map::new();
    for (key, value) in node["metadata"]["labels"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or("");
        if key == keys::HOSTNAME {
            labels.insert(key.clone(), name.clone());
        } else if wanted.contains(&format!("\"{key}\"")) {
            labels.insert(label(key, names), json!(names.replacement("domain", value)));
        }
    }
    let size = quantities(&node["status"]["allocatable"], names);
    let mut out = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": size.clone(), "capacity": size}});
    let features = &node["status"]["declaredFeatures"];
    let known = features.as_array().into_iter().flatten();
    if known.into_iter().any(|f| f == keys::RESTART_ALL_CONTAINERS) {
        out["status"]["declaredFeatures"] = json!([keys::RESTART_ALL_CONTAINERS]);
    }
    out
}

/// Replaces a child name such as `js-w-0-3`, which consists of the JobSet, the replicated job and numbers.
fn replace_child_name(name: &str, jobset: &str, names: &mut AnonymousNames) -> String {
    let rest = name.strip_prefix(jobset).and_then(|rest| rest.strip_prefix('-'));
    let Some(rest) = rest else {
        return JOBSET_NAME.to_owned();
    };
    let of = names.names_of("r").filter(|w| rest.strip_prefix(w).is_some_and(|r| r.starts_with('-')));
    match of.max_by_key(|w| w.len()).map(str::to_owned) {
        Some(w) => format!("{JOBSET_NAME}-{}{}", names.replacement("r", &w), &rest[w.len()..]),
        None => JOBSET_NAME.to_owned(),
    }
}

fn script(script: &Value, (jobset, names): (&str, &mut AnonymousNames)) -> Value {
    let mut script = script.clone();
    for rule in script["pods"].as_array_mut().into_iter().flatten() {
        if rule["replicatedJob"].is_string() {
            rule["replicatedJob"] = replace_value(names, "r", &rule["replicatedJob"]);
        }
    }
    for action in script["actions"].as_array_mut().into_iter().flatten() {
        if let Some(pod) = action["pod"].as_str() {
            action["pod"] = json!(replace_child_name(pod, jobset, names));
        }
        let body = action["body"].as_str();
        if let Some(taint) = body.and_then(|b| serde_json::from_str::<Value>(b).ok()) {
            let key = match taint["key"].as_str() {
                Some(key) if key.starts_with("node.kubernetes.io/") => json!(key),
                _ => replace_value(names, "taint", &taint["key"]),
            };
            let new =
                json!({"key": key, "value": replace_value(names, "value", &taint["value"]), "effect": taint["effect"]});
            action["body"] = json!(new.to_string());
        }
    }
    script
}

fn status(status: &Value, names: &mut AnonymousNames) -> Value {
    let mut out = Map::new();
    for (key, value) in status.as_object().into_iter().flatten() {
        let new = match (key.as_str(), value) {
            ("conditions", value) => map_rows(
                value,
                |c| json!({"type": c["type"], "status": c["status"], "reason": c["reason"], "message": ""}),
            ),
            ("replicatedJobsStatus", value) => map_rows(value, |s| {
                // Rows that are not part of the API are dropped.
                let mut s = s.as_object().cloned().unwrap_or_default();
                s.insert("name".to_owned(), replace_value(names, "r", &Value::from(s.get("name").cloned())));
                s.into()
            }),
            (_, Value::Number(_)) => value.clone(),
            ("terminalState", value) => value.clone(),
            _ => continue,
        };
        out.insert(key.clone(), new);
    }
    out.into()
}

/// Removes the message from `Type=Status Reason: message`.
fn without_message(text: &Value) -> Value {
    let text = text.as_str().unwrap_or("");
    json!(text.split_once(": ").map_or(text, |(head, _)| head).to_owned() + ": ")
}

fn job(job: &Value, (jobset, names): (&str, &mut AnonymousNames)) -> Value {
    let mut out = job.clone();
    out["name"] = json!(replace_child_name(job["name"].as_str().unwrap_or(""), jobset, names));
    out["conditions"] = map_rows(&job["conditions"], without_message);
    out["restartAttempt"] = json!(
        job["restartAttempt"].as_str().and_then(|a| a.parse::<u32>().ok()).map_or(String::new(), |a| a.to_string())
    );
    out
}

fn log(row: &Value, (jobset, names): (&str, &mut AnonymousNames)) -> Value {
    let (kind, what) = (row[1].as_str().unwrap_or(""), row[3].as_str().unwrap_or(""));
    let name = match kind {
        "JobSet" => JOBSET_NAME.to_owned(),
        "Event" => String::new(),
        _ => replace_child_name(row[2].as_str().unwrap_or(""), jobset, names),
    };
    let detail = match (kind, what) {
        ("JobSet", "status") => status(&row[4], names),
        ("Job", "condition") => without_message(&row[4]),
        ("Job", "created") => row[4].clone(),
        _ => return json!([row[0], kind, name, what]),
    };
    json!([row[0], kind, name, what, detail])
}

fn pod(row: &Value, names: &mut AnonymousNames) -> Value {
    let mut row = row.clone();
    row[0] = replace_value(names, "r", &row[0]);
    row[4] = match row[4].as_str() {
        Some("") | None => json!(""),
        Some(node) => json!(names.replacement("node", node)),
    };
    row
}
