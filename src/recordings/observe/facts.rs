//! Extracts the fields of an object that describe the life of a JobSet.

use super::timestamp::{ClockTime, parse_nanoseconds, time_in_event_name};
use serde_json::{Map, Value, json};
use sim_api::spec::keys;

#[derive(Clone, Debug, PartialEq)]
pub struct ObservedCondition {
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
    pub last_transition: Option<String>,
}

impl ObservedCondition {
    pub fn matches(&self, kind: &str, status: &str) -> bool {
        self.kind == kind && self.status == status
    }
}

#[derive(Clone, Debug)]
pub enum ObservedFacts {
    JobSet {
        /// The manifest, without the fields that the server set.
        manifest: Value,
        status: Value,
        conditions: Vec<ObservedCondition>,
    },
    Job {
        jobset: String,
        attempt: String,
        suspended: bool,
        /// Whether the status has not been written yet.
        is_new: bool,
        /// Counts of active, ready, succeeded, failed and terminating pods.
        counts: [Option<u32>; 5],
        conditions: Vec<ObservedCondition>,
    },
    Pod(Box<ObservedPod>),
    Node(Box<ObservedNode>),
    Event {
        /// Involved object as `ObservedKind/name`.
        object: String,
        kind: String,
        reason: String,
        message: String,
        /// When its first occurrence was emitted.
        first_emitted: Option<ClockTime>,
        component: String,
        /// Whether the Event was repeated (a count above 1 or a series), so that the observed write is not the first.
        is_repeated: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedTaint {
    pub key: String,
    pub value: String,
    pub effect: String,
}

#[derive(Clone, Debug, Default)]
pub struct ObservedNode {
    /// The Node as it could be created again, with the fields that affect the placement of pods.
    pub object: Value,
    /// Status of the condition `Ready`, and the time of its last transition.
    pub ready: String,
    pub ready_since: Option<String>,
    pub taints: Vec<ObservedTaint>,
    pub cordoned: bool,
}

#[derive(Clone, Debug, Default)]
pub struct ObservedPod {
    pub jobset: String,
    pub job: String,
    pub replicated_job: String,
    pub job_index: Option<u32>,
    pub index: Option<u32>,
    pub attempt: Option<u32>,
    pub node: String,
    pub phase: String,
    pub conditions: Vec<ObservedCondition>,
    pub exit_code: Option<i32>,
    pub started: Option<u64>,
    pub finished: Option<u64>,
    /// End of the previous run and start of the current run of a restarted container, in nanoseconds.
    pub container_restart: Option<(u64, u64)>,
    pub restarts: u32,
    /// Whether the pod still has the Job tracking finalizer, because the Job controller has not counted it yet.
    pub has_tracking_finalizer: bool,
    pub in_place: Option<u32>,
    /// Resource requests of the pod and its node selector.
    pub requests: Map<String, Value>,
    pub selector: Map<String, Value>,
}

impl ObservedFacts {
    /// Returns the newest time, in nanoseconds, that the object's writers recorded in its status.
    pub fn newest_status_time(&self) -> Option<u64> {
        let newest = |conditions: &[ObservedCondition]| {
            let all = conditions.iter().filter_map(|c| parse_nanoseconds(c.last_transition.as_deref()?));
            all.max()
        };
        match self {
            ObservedFacts::JobSet { conditions, .. } | ObservedFacts::Job { conditions, .. } => newest(conditions),
            ObservedFacts::Pod(pod) => newest(&pod.conditions).max(pod.started).max(pod.finished),
            ObservedFacts::Node(node) => node.ready_since.as_deref().and_then(parse_nanoseconds),
            ObservedFacts::Event { .. } => None,
        }
    }
}

pub fn from_object(kind: ObservedKind, object: &Value) -> ObservedFacts {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let labels = &object["metadata"]["labels"];
    let status = &object["status"];
    match kind {
        ObservedKind::JobSet => {
            ObservedFacts::JobSet { manifest: manifest(object), status: status.clone(), conditions: conditions(status) }
        }
        ObservedKind::Job => ObservedFacts::Job {
            jobset: text(&labels[keys::JOBSET_NAME]),
            attempt: text(&labels[keys::RESTART_ATTEMPT]),
            suspended: object["spec"]["suspend"] == true,
            is_new: status.as_object().is_none_or(Map::is_empty),
            counts: ["active", "ready", "succeeded", "failed", "terminating"].map(|key| parse_u32(&status[key])),
            conditions: conditions(status),
        },
        ObservedKind::Pod => ObservedFacts::Pod(Box::new(pod(object))),
        ObservedKind::Node => ObservedFacts::Node(Box::new(node(object))),
        ObservedKind::Event => event(object),
    }
}

fn parse_u32(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}

fn conditions(status: &Value) -> Vec<ObservedCondition> {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let all = status["conditions"].as_array().into_iter().flatten();
    let one = |c: &Value| ObservedCondition {
        kind: text(&c["type"]),
        status: text(&c["status"]),
        reason: text(&c["reason"]),
        message: text(&c["message"]),
        last_transition: c["lastTransitionTime"].as_str().map(str::to_owned),
    };
    all.map(one).collect()
}

/// Annotation written by `kubectl apply`. JobSet does not use it.
const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns the JobSet without the fields that the server set.
fn manifest(object: &Value) -> Value {
    let meta = &object["metadata"];
    let mut own = Map::new();
    own.insert("name".to_owned(), meta["name"].clone());
    for key in ["labels", "annotations"] {
        if let Some(map) = meta[key].as_object() {
            let mut map = map.clone();
            map.remove(LAST_APPLIED_ANNOTATION);
            if !map.is_empty() {
                own.insert(key.to_owned(), map.into());
            }
        }
    }
    json!({"apiVersion": object["apiVersion"], "kind": "JobSet", "metadata": own, "spec": object["spec"]})
}

fn node(object: &Value) -> ObservedNode {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let conditions = conditions(&object["status"]);
    let ready = conditions.into_iter().find(|c| c.kind == "Ready");
    let taints = object["spec"]["taints"].as_array().into_iter().flatten();
    let taint =
        |t: &Value| ObservedTaint { key: text(&t["key"]), value: text(&t["value"]), effect: text(&t["effect"]) };
    ObservedNode {
        object: recreatable_node(object),
        ready_since: ready.as_ref().and_then(|c| c.last_transition.clone()),
        ready: ready.map_or(String::new(), |c| c.status),
        taints: taints.map(taint).collect(),
        cordoned: object["spec"]["unschedulable"] == true,
    }
}

fn recreatable_node(object: &Value) -> Value {
    let (meta, status) = (&object["metadata"], &object["status"]);
    let mut out = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": meta["name"]}, "status": {}});
    if meta["labels"].is_object() {
        out["metadata"]["labels"] = meta["labels"].clone();
    }
    for key in ["allocatable", "capacity", "declaredFeatures"] {
        if !status[key].is_null() {
            out["status"][key] = status[key].clone();
        }
    }
    for key in ["taints", "unschedulable"] {
        if !object["spec"][key].is_null() {
            out["spec"][key] = object["spec"][key].clone();
        }
    }
    let version = &status["nodeInfo"]["kubeletVersion"];
    if version.is_string() {
        out["status"]["nodeInfo"] = json!({"kubeletVersion": version});
    }
    out
}

fn pod(object: &Value) -> ObservedPod {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let number = |value: &Value| value.as_str().and_then(|n| n.parse::<u32>().ok());
    let (meta, spec, status) = (&object["metadata"], &object["spec"], &object["status"]);
    let (labels, annotations) = (&meta["labels"], &meta["annotations"]);
    let containers = || status["containerStatuses"].as_array().into_iter().flatten();
    let ended = || containers().map(|c| &c["state"]["terminated"]);
    let time = |value: &Value| value.as_str().and_then(parse_nanoseconds);
    // A container with a nonzero exit code takes precedence.
    let bad = ended().find(|t| t["exitCode"].as_i64().is_some_and(|code| code != 0));
    let end = bad.or_else(|| ended().find(|t| t.is_object()));
    let again = |c: &Value| {
        let before = time(&c["lastState"]["terminated"]["finishedAt"])?;
        Some((before, time(&c["state"]["running"]["startedAt"])?))
    };
    let finalizers = meta["finalizers"].as_array().into_iter().flatten();
    ObservedPod {
        jobset: text(&labels[keys::JOBSET_NAME]),
        job: match text(&labels[keys::BATCH_JOB_NAME]) {
            job if job.is_empty() => text(&labels[keys::LEGACY_JOB_NAME]),
            job => job,
        },
        replicated_job: text(&labels[keys::REPLICATED_JOB_NAME]),
        job_index: number(&labels[keys::JOB_INDEX]),
        index: number(&annotations[keys::JOB_COMPLETION_INDEX]).or_else(|| number(&labels[keys::JOB_COMPLETION_INDEX])),
        attempt: number(&labels[keys::RESTART_ATTEMPT]),
        node: text(&spec["nodeName"]),
        phase: text(&status["phase"]),
        conditions: conditions(status),
        exit_code: end.and_then(|t| t["exitCode"].as_i64()).and_then(|code| i32::try_from(code).ok()),
        started: containers().filter_map(|c| time(&c["state"]["running"]["startedAt"])).max(),
        finished: end.and_then(|t| time(&t["finishedAt"])),
        container_restart: containers().filter_map(again).max(),
        restarts: containers().filter_map(|c| parse_u32(&c["restartCount"])).max().unwrap_or(0),
        has_tracking_finalizer: finalizers.into_iter().any(|f| f == keys::JOB_TRACKING),
        in_place: number(&annotations[keys::IN_PLACE_RESTART_ATTEMPT]),
        requests: requests(spec),
        selector: spec["nodeSelector"].as_object().cloned().unwrap_or_default(),
    }
}

/// Returns the sum of the requests over all containers, as milli-quantities.
fn requests(spec: &Value) -> Map<String, Value> {
    let mut sums: std::collections::BTreeMap<String, i64> = Default::default();
    for container in spec["containers"].as_array().into_iter().flatten() {
        let resources = &container["resources"];
        for part in ["limits", "requests"] {
            for (name, quantity) in resources[part].as_object().into_iter().flatten() {
                let written = quantity.as_str().map_or(quantity.to_string(), str::to_owned);
                let Ok(milli) = sim_base::quantity::parse_milli(&written) else {
                    continue;
                };
                // Limits apply only where no request is specified.
                if part == "limits" && !resources["requests"][name].is_null() {
                    continue;
                }
                let sum = sums.entry(name.clone()).or_default();
                *sum = sum.saturating_add(milli);
            }
        }
    }
    let text = |(name, milli): (String, i64)| (name, Value::from(format!("{milli}m")));
    sums.into_iter().map(text).collect()
}

fn event(object: &Value) -> ObservedFacts {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let involved = match object.get("involvedObject") {
        Some(involved) => involved,
        None => &object["regarding"],
    };
    let time = |key: &str| object[key].as_str().filter(|t| !t.is_empty());
    let timestamp = time("eventTime").or(time("firstTimestamp"));
    let timestamp = timestamp.or(time("deprecatedFirstTimestamp"));
    let name = object["metadata"]["name"].as_str().unwrap_or("");
    let exact = time_in_event_name(name, timestamp.and_then(parse_nanoseconds)).map(ClockTime::exact);
    let count = object["count"].as_u64().unwrap_or(1);
    ObservedFacts::Event {
        object: format!("{}/{}", text(&involved["kind"]), text(&involved["name"])),
        kind: text(&object["type"]),
        reason: text(&object["reason"]),
        message: match object.get("message") {
            Some(message) => text(message),
            None => text(&object["note"]),
        },
        first_emitted: exact.or_else(|| ClockTime::parse(timestamp?)),
        component: match text(&object["source"]["component"]) {
            by if by.is_empty() => text(&object["reportingComponent"]),
            by => by,
        },
        is_repeated: count > 1 || object["series"].is_object(),
    }
}

/// Kinds of objects that are read. Objects of other kinds are only counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObservedKind {
    JobSet,
    Job,
    Pod,
    Node,
    Event,
}
