//! Prints a run as `kubectl` would: each version of each object with timestamps in whole seconds and a resource
//! version, and Events with nanoseconds in their names.

use serde_json::{Map, Value, json};
use sim_api::spec::ScenarioSpec;
use sim_base::calendar;
use sim_base::{JobId, JobSetId, NodeId, PodId, SimTime};
use sim_engine::record::{Body, ObjectRef, RecordNames, RecordSink, SimulationRecord};
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeMap;

/// Start of the run in nanoseconds since the epoch, not on a full second.
const BEGIN: u64 = 1_772_791_923_000_000_000 + 371_000_000;

#[derive(Clone)]
pub struct Version {
    pub kind: &'static str,
    pub how: &'static str,
    pub object: Value,
}

pub struct Printer {
    jobsets: Vec<Value>,
    namespace: String,
    managed: bool,
    rv: u64,
    live: BTreeMap<String, Value>,
    /// Keys of pods, by pod row and incarnation.
    pods: BTreeMap<(u32, u32), String>,
    now: BTreeMap<u32, u32>,
    reported: BTreeMap<(String, &'static str), u32>,
    templates: BTreeMap<String, Value>,
    pub printed: Vec<Version>,
}

fn at(time: SimTime) -> u64 {
    BEGIN + time.0
}

pub fn rfc3339_seconds(time: SimTime) -> Value {
    json!(calendar::format_time(SimTime(at(time))))
}

fn rfc3339_micros(time: SimTime) -> Value {
    let ns = at(time);
    let text = calendar::format_time(SimTime(ns));
    json!(text.replace('Z', &format!(".{:06}Z", ns % 1_000_000_000 / 1000)))
}

impl Printer {
    pub fn new(scenario: &ScenarioSpec, managed: bool) -> Printer {
        let objects = scenario.jobsets.iter();
        let objects: Vec<Value> = objects.map(|j| j.jobset.object.as_deref().cloned().expect("a manifest")).collect();
        let first = &scenario.jobsets[0].jobset;
        let mut printer = Printer {
            namespace: first.namespace.clone(),
            jobsets: objects,
            managed,
            rv: 4711,
            live: BTreeMap::new(),
            pods: BTreeMap::new(),
            now: BTreeMap::new(),
            reported: BTreeMap::new(),
            templates: BTreeMap::new(),
            printed: Vec::new(),
        };
        printer.nodes(scenario);
        printer
    }

    fn nodes(&mut self, scenario: &ScenarioSpec) {
        let cluster = ClusterBuilder::build(&scenario.topology, &["pods".to_owned()]);
        for node in (0..cluster.len() as u32).map(NodeId) {
            let object = cluster.object(node);
            let quantity = |milli: i64| match milli % 1000 {
                0 => (milli / 1000).to_string(),
                _ => format!("{milli}m"),
            };
            let has = object.allocatable.iter();
            let has: BTreeMap<&str, String> = has.map(|(r, n)| (r.as_str(), quantity(*n))).collect();
            let displayed = json!({"apiVersion": "v1", "kind": "Node", "spec": {}, "metadata": {"name": object.name,
                "labels": object.labels, "uid": format!("node-{}", object.name)},
                "status": {"allocatable": has, "capacity": has, "nodeInfo": {"kubeletVersion": "v1.36.3"},
                    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                        "lastHeartbeatTime": rfc3339_seconds(SimTime::ZERO), "lastTransitionTime": rfc3339_seconds(SimTime::ZERO)}]}});
            self.write("Node", "ADDED", &format!("Node/{}", object.name), SimTime::ZERO, displayed);
        }
    }

    /// Prints a write with the next resource version and the time in whole seconds.
    fn write(&mut self, kind: &'static str, how: &'static str, key: &str, time: SimTime, mut object: Value) {
        // Writes by other clients increase the resource version as well.
        self.rv += 1 + self.rv % 3;
        object["metadata"]["resourceVersion"] = json!(self.rv.to_string());
        if how == "ADDED" {
            object["metadata"]["creationTimestamp"] = rfc3339_seconds(time);
        }
        if self.managed {
            let fields = object["metadata"]["managedFields"].as_array().cloned();
            let mut fields = fields.unwrap_or_default();
            fields.truncate(3);
            fields.insert(0, json!({"manager": "m", "operation": "Update", "time": rfc3339_seconds(time)}));
            object["metadata"]["managedFields"] = json!(fields);
        }
        match how {
            "DELETED" => drop(self.live.remove(key)),
            _ => drop(self.live.insert(key.to_owned(), object.clone())),
        }
        self.printed.push(Version { kind, how, object });
    }

    fn change(&mut self, kind: &'static str, key: &str, time: SimTime, change: impl FnOnce(&mut Value)) {
        let Some(mut object) = self.live.get(key).cloned() else {
            return;
        };
        change(&mut object);
        self.write(kind, "MODIFIED", key, time, object);
    }

    fn print_deletion(&mut self, kind: &'static str, key: &str, time: SimTime) {
        if let Some(mut object) = self.live.get(key).cloned() {
            // The last version has no finalizers.
            object["metadata"]["finalizers"] = Value::Null;
            object["metadata"]["deletionTimestamp"] = rfc3339_seconds(time);
            object["metadata"]["deletionGracePeriodSeconds"] = json!(0);
            self.write(kind, "DELETED", key, time, object);
        }
    }

    fn emit_event(
        &mut self, time: SimTime, by: &str, about: (&str, &str), kind: &str, (reason, message): (&str, String),
    ) {
        let name = format!("{}.{:x}", about.1, at(time));
        let modern = by != "job-controller";
        let mut event = json!({"apiVersion": "v1", "kind": "Event", "type": kind, "reason": reason, "message": message,
            "involvedObject": {"kind": about.0, "name": about.1, "namespace": self.namespace},
            "metadata": {"name": name, "namespace": self.namespace, "uid": format!("event-{}", self.rv)}});
        if modern {
            event["eventTime"] = rfc3339_micros(time);
            event["reportingComponent"] = json!(by);
        } else {
            event["firstTimestamp"] = rfc3339_seconds(time);
            event["lastTimestamp"] = rfc3339_seconds(time);
            event["count"] = json!(1);
            event["source"] = json!({"component": by});
        }
        let key = format!("Event/{name}/{}", self.rv);
        self.write("Event", "ADDED", &key, time, event);
    }

    /// Emits an Event, except after ten similar ones for an object: client-go combines those within ten minutes.
    fn emit_pod_event(&mut self, time: SimTime, job: &str, reason: &'static str, message: String) {
        let n = self.reported.entry((job.to_owned(), reason)).or_default();
        *n += 1;
        if *n <= 10 {
            self.emit_event(time, "job-controller", ("Job", job), "Normal", (reason, message));
        }
    }

    fn jobset(&mut self, id: JobSetId, names: &RecordNames, time: SimTime, change: impl FnOnce(&mut Value)) {
        let key = format!("JobSet/{}", names.jobset(id));
        self.change("JobSet", &key, time, change);
    }

    fn labels(&self, job: JobId, names: &RecordNames) -> Map<String, Value> {
        let own = &names.jobs[job.ix()];
        let key = format!("Job/{}", own.name);
        let attempt =
            self.live.get(&key).map(|j| j["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"].clone());
        let all = json!({"jobset.sigs.k8s.io/jobset-name": names.jobset(own.jobset), "jobset.sigs.k8s.io/job-index":
            own.job_index.to_string(), "jobset.sigs.k8s.io/replicatedjob-name": own.replicated_job,
            "jobset.sigs.k8s.io/restart-attempt": attempt.unwrap_or(json!("0"))});
        all.as_object().cloned().unwrap_or_default()
    }

    fn job_created(&mut self, job: JobId, attempt: u32, names: &RecordNames, time: SimTime) {
        let own = &names.jobs[job.ix()];
        let mut labels = self.labels(job, names);
        labels.insert("jobset.sigs.k8s.io/restart-attempt".to_owned(), json!(attempt.to_string()));
        let all = self.jobsets[own.jobset.ix()]["spec"]["replicatedJobs"].as_array().cloned();
        let of = all.unwrap_or_default().into_iter().find(|rj| rj["name"] == own.replicated_job.as_str());
        let spec = of.map_or(json!({}), |rj| rj["template"]["spec"].clone());
        self.templates.insert(own.name.clone(), spec["template"]["spec"].clone());
        let object = json!({"apiVersion": "batch/v1", "kind": "Job", "spec": spec, "status": {}, "metadata": {
            "name": own.name, "namespace": self.namespace, "uid": format!("job-{}-{}", own.name, at(time)), "labels": labels}});
        let key = format!("Job/{}", own.name);
        self.write("Job", "ADDED", &key, time, object);
    }

    fn pod_created(
        &mut self, (pod, incarnation): (PodId, u32), job: JobId, index: u32, names: &RecordNames, time: SimTime,
    ) {
        let name = names.pod(job, index, pod, incarnation);
        let own = names.job(job).to_owned();
        let mut labels = self.labels(job, names);
        labels.insert("batch.kubernetes.io/job-name".to_owned(), json!(own));
        let mut spec = self.templates.get(&own).cloned().unwrap_or(json!({}));
        spec["nodeName"] = Value::Null;
        let object = json!({"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": {"phase": "Pending"}, "metadata": {
            "name": name, "namespace": self.namespace, "uid": format!("pod-{name}"), "labels": labels,
            "annotations": {"batch.kubernetes.io/job-completion-index": index.to_string()},
            "finalizers": ["batch.kubernetes.io/job-tracking"]}});
        let key = format!("Pod/{name}");
        self.pods.insert((pod.0, incarnation), key.clone());
        self.now.insert(pod.0, incarnation);
        self.write("Pod", "ADDED", &key, time, object);
        let text = time;
        self.emit_pod_event(text, &own, "SuccessfulCreate", format!("Created pod: {name}"));
    }

    fn pod(&mut self, pod: PodId, incarnation: u32, time: SimTime, change: impl FnOnce(&mut Value)) {
        if let Some(key) = self.pods.get(&(pod.0, incarnation)).cloned() {
            self.change("Pod", &key, time, change);
        }
    }

    fn node(&mut self, node: NodeId, names: &RecordNames, time: SimTime, change: impl FnOnce(&mut Value)) {
        let key = format!("Node/{}", names.node(node));
        self.change("Node", &key, time, change);
    }

    /// Returns the objects that exist at the end, and the Events, as a list.
    pub fn final_list(&self) -> Value {
        let mut items: Vec<&Value> =
            self.live.iter().filter(|(k, _)| !k.starts_with("Node/")).map(|(_, o)| o).collect();
        items.sort_by_key(|o| o["kind"].as_str().map(str::to_owned));
        json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items})
    }
}

/// Sets a condition, with a new transition time if its status changes.
fn condition(status: &mut Value, kind: &str, to: &str, (reason, message): (&str, &str), time: SimTime) {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(all) = status["conditions"].as_array_mut() else {
        return;
    };
    let new = json!({"type": kind, "status": to, "reason": reason, "message": message, "lastTransitionTime": rfc3339_seconds(time)});
    match all.iter_mut().find(|c| c["type"] == kind) {
        Some(old) if old["status"] == to => {}
        Some(old) => *old = new,
        None => all.push(new),
    }
}

fn container(status: &mut Value, state: Value) {
    let before = status["containerStatuses"][0].clone();
    let count = before["restartCount"].as_u64().unwrap_or(0);
    status["containerStatuses"] =
        json!([{"name": "c", "restartCount": count, "state": state, "lastState": before["lastState"]}]);
}

impl RecordSink for Printer {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        let time = record.at;
        let yes = |is: bool| if is { "True" } else { "False" };
        match record.body {
            Body::JobSetCreated { jobset } => {
                let mut object = self.jobsets[jobset.ix()].clone();
                object["kind"] = json!("JobSet");
                object["apiVersion"] = json!("jobset.x-k8s.io/v1alpha2");
                object["metadata"]["uid"] = json!(format!("jobset-{}", names.jobset(jobset)));
                object["metadata"]["namespace"] = json!(self.namespace);
                object["status"] = json!({});
                let key = format!("JobSet/{}", names.jobset(jobset));
                self.write("JobSet", "ADDED", &key, time, object);
            }
            Body::RestartCounted { jobset, restarts, counted, .. } => self.jobset(jobset, names, time, |o| {
                o["status"]["restarts"] = json!(restarts);
                o["status"]["restartsCountTowardsMax"] = json!(counted);
            }),
            Body::PreviousAttempt { jobset, attempt } => self.jobset(jobset, names, time, |o| {
                o["status"]["previousInPlaceRestartAttempt"] = json!(attempt);
            }),
            Body::CurrentAttempt { jobset, attempt } => self.jobset(jobset, names, time, |o| {
                o["status"]["currentInPlaceRestartAttempt"] = json!(attempt);
            }),
            Body::JobSetCondition { jobset, kind, status, reason, message } => {
                let printed = (names.text(reason).to_owned(), names.text(message).to_owned());
                self.jobset(jobset, names, time, |o| {
                    condition(&mut o["status"], kind.as_str(), yes(status), (&printed.0, &printed.1), time);
                });
            }
            Body::ReplicatedJobsStatus { jobset, ready, succeeded, failed, active, suspended } => {
                self.jobset(jobset, names, time, |o| {
                    o["status"]["replicatedJobsStatus"] = json!([{"name": "w", "ready": ready, "succeeded": succeeded,
                        "failed": failed, "active": active, "suspended": suspended}]);
                });
            }
            Body::JobCreated { job, attempt } => self.job_created(job, attempt, names, time),
            Body::JobCondition { job, kind, status, reason, message } => {
                let key = format!("Job/{}", names.job(job));
                let printed = (names.text(reason).to_owned(), names.text(message).to_owned());
                self.change("Job", &key, time, |o| {
                    condition(&mut o["status"], kind.as_str(), yes(status), (&printed.0, &printed.1), time);
                });
            }
            Body::JobDeleting { job } => {
                let key = format!("Job/{}", names.job(job));
                self.change("Job", &key, time, |o| {
                    o["metadata"]["deletionTimestamp"] = rfc3339_seconds(time);
                    o["metadata"]["deletionGracePeriodSeconds"] = json!(0);
                    o["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
                });
            }
            Body::JobGone { job } => self.print_deletion("Job", &format!("Job/{}", names.job(job)), time),
            Body::PodCreated { pod, incarnation, job, index, .. } => {
                self.pod_created((pod, incarnation), job, index, names, time);
            }
            Body::PodBound { pod, incarnation, node } => {
                let node = names.node(node).to_owned();
                self.pod(pod, incarnation, time, |o| {
                    o["spec"]["nodeName"] = json!(node);
                    condition(&mut o["status"], "PodScheduled", "True", ("", ""), time);
                });
            }
            Body::PodRunning { pod, incarnation } => self.pod(pod, incarnation, time, |o| {
                o["status"]["phase"] = json!("Running");
                container(&mut o["status"], json!({"running": {"startedAt": rfc3339_seconds(time)}}));
            }),
            Body::PodReady { pod, incarnation } | Body::PodNotReady { pod, incarnation } => {
                let ready = matches!(record.body, Body::PodReady { .. });
                self.pod(pod, incarnation, time, |o| {
                    condition(&mut o["status"], "Ready", yes(ready), ("", ""), time);
                });
            }
            Body::ContainersRestarting { pod, incarnation, restarts } => self.pod(pod, incarnation, time, |o| {
                let ended = json!({"terminated": {"exitCode": 1, "finishedAt": rfc3339_seconds(time)}});
                o["status"]["containerStatuses"] = json!([{"name": "c", "restartCount": restarts, "lastState": ended,
                    "state": {"running": {"startedAt": rfc3339_seconds(time)}}}]);
            }),
            Body::AttemptWritten { pod, incarnation, attempt } => self.pod(pod, incarnation, time, |o| {
                o["metadata"]["annotations"]["jobset.sigs.k8s.io/in-place-restart-attempt"] = json!(attempt.to_string());
            }),
            Body::PodFinished { pod, incarnation, succeeded, exit_code } => {
                self.pod(pod, incarnation, time, |o| {
                    o["status"]["phase"] = json!(if succeeded { "Succeeded" } else { "Failed" });
                    condition(&mut o["status"], "Ready", "False", ("", ""), time);
                    container(&mut o["status"], json!({"terminated": {"exitCode": exit_code.unwrap_or(0), "finishedAt": rfc3339_seconds(time)}}));
                });
                // The Job controller counts the pod and removes its finalizer.
                self.pod(pod, incarnation, time, |o| o["metadata"]["finalizers"] = Value::Null);
            }
            Body::PodDeleting { pod, incarnation, by } => {
                let key = self.pods.get(&(pod.0, incarnation)).cloned().unwrap_or_default();
                let owner = self.live.get(&key).map(|o| o["metadata"]["labels"]["batch.kubernetes.io/job-name"].clone());
                self.pod(pod, incarnation, time, |o| {
                    let grace = o["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap_or(30);
                    o["metadata"]["deletionTimestamp"] = rfc3339_seconds(SimTime(time.0 + grace * 1_000_000_000));
                    o["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
                    let why = match by.as_str() {
                        "taint-eviction-controller" => Some("DeletionByTaintManager"),
                        "pod-garbage-collector" => Some("DeletionByPodGC"),
                        "eviction" => Some("EvictionByEvictionAPI"),
                        _ => None,
                    };
                    if let Some(why) = why {
                        condition(&mut o["status"], "DisruptionTarget", "True", (why, ""), time);
                    }
                });
                let name = key.trim_start_matches("Pod/").to_owned();
                if let (Some(Value::String(job)), sim_engine::record::DeletionActor::JobController) = (owner, by) {
                    self.emit_pod_event(time, &job, "SuccessfulDelete", format!("Deleted pod: {name}"));
                }
            }
            Body::PodGone { pod, incarnation } => {
                if let Some(key) = self.pods.remove(&(pod.0, incarnation)) {
                    self.print_deletion("Pod", &key, time);
                }
            }
            Body::NodeState { node, ready } => self.node(node, names, time, |o| {
                o["status"]["conditions"] = json!([{"type": "Ready", "status": ready.as_str(), "lastTransitionTime": rfc3339_seconds(time),
                    "lastHeartbeatTime": rfc3339_seconds(SimTime::ZERO)}]);
            }),
            Body::NodeTaint { node, key, effect, added } => {
                let key = names.text(key).to_owned();
                let effect = ["NoSchedule", "PreferNoSchedule", "NoExecute"][usize::from(effect)];
                self.node(node, names, time, |o| {
                    let all = o["spec"]["taints"].as_array().cloned().unwrap_or_default();
                    let other = |t: &Value| t["key"] != key.as_str() || t["effect"] != effect;
                    let mut all: Vec<Value> = all.into_iter().filter(other).collect();
                    if added {
                        all.push(json!({"key": key, "effect": effect, "timeAdded": rfc3339_seconds(time)}));
                    }
                    o["spec"]["taints"] = json!(all);
                    if key == "node.kubernetes.io/unschedulable" {
                        o["spec"]["unschedulable"] = json!(added);
                    }
                });
            }
            Body::NodeGone { node } => self.print_deletion("Node", &format!("Node/{}", names.node(node)), time),
            Body::KubeEvent { warning, object, reason, message } => {
                let kind = if warning { "Warning" } else { "Normal" };
                let printed = (names.text(reason).to_owned(), names.text(message).to_owned());
                let output = time;
                match object {
                    ObjectRef::JobSet(id) => {
                        self.emit_event(output, "jobset", ("JobSet", names.jobset(id)), kind, (&printed.0, printed.1));
                    }
                    ObjectRef::Job(id) => {
                        self.emit_event(output, "job-controller", ("Job", names.job(id)), kind, (&printed.0, printed.1));
                    }
                    ObjectRef::Pod(_) => {}
                }
            }
            _ => {}
        }
    }
}
