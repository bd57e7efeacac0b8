//! Objects as the API would show them, as far as the store contains their fields: for a user's GET, and for
//! admission, which checks whether a JobSet is finished.
//!
//! The model itself uses only `pod_object` and `node_json`, for decisions that depend on any field or label.

use super::lookup::LookupResult;
use super::pod_status_json;
use crate::store::{BAD_ATTEMPT, JobCondition, JobEntry, JobSetRow, flag, remove_owner};
use crate::{apiserver, apiserver::job_object, ctx::EngineContext, kubelet::KubeletState, record::JobConditionType};
use serde_json::{Map, Value, json};
use sim_api::objects;
use sim_api::objects::ObjectContext;
use sim_api::spec::ObjectKind;
use sim_api::spec::keys::{FOREGROUND_DELETION, IN_PLACE_RESTART_ATTEMPT, JOB_TRACKING};
use sim_base::{Duration, JobId, JobSetId, NodeId, PodId, SimTime, calendar};
use std::collections::BTreeMap;

fn time_json(at: SimTime) -> Value {
    json!(calendar::format_time(at))
}

/// The values at these paths, as a JSON object from path to value.
pub(super) fn field_values(
    ctx: &EngineContext<'_>, object: &LookupResult, fields: &[String], kubelets: &KubeletState,
) -> String {
    let object = match object {
        LookupResult::JobSet(jobset) => jobset_json(ctx, *jobset),
        LookupResult::Job(job) => stored_job_json(ctx, *job),
        LookupResult::Pod(pod) => pod_json(ctx, *pod, kubelets),
        LookupResult::Node(node) => node_json(ctx, *node),
        LookupResult::Other(kind, namespace, name) => {
            let other = ctx.store.others.get(*kind, namespace, name);
            other.map_or(Value::Null, |o| o.object.clone())
        }
    };
    let value = |path: &str| path.split('.').fold(&object, |v, key| &v[key]).clone();
    let json: Map<String, Value> = fields.iter().map(|f| (f.clone(), value(f))).collect();
    Value::Object(json).to_string()
}

/// All existing objects, in the order of their rows.
pub fn all_objects(ctx: &EngineContext<'_>, kubelets: &KubeletState) -> Vec<Value> {
    let store = &**ctx.store;
    let of_kind = |mut object: Value, kind: ObjectKind| {
        object["kind"] = json!(kind.as_str());
        object
    };
    let mut objects = Vec::new();
    for jobset in (0..store.jobsets.len() as u32).map(JobSetId) {
        if store.jobsets[jobset.ix()].exists() {
            objects.push(of_kind(jobset_json(ctx, jobset), ObjectKind::JobSet));
        }
    }
    for job in (0..store.jobs.len() as u32).map(JobId) {
        if store.jobs[job.ix()].exists {
            objects.push(of_kind(stored_job_json(ctx, job), ObjectKind::Job));
        }
        for pod in store.jobs[job.ix()].pods.iter() {
            objects.push(of_kind(pod_json(ctx, pod, kubelets), ObjectKind::Pod));
        }
    }
    for kind in [ObjectKind::Service, ObjectKind::PersistentVolumeClaim] {
        let others = store.others.objects_of_kind(kind);
        objects.extend(others.map(|(_, _, other)| of_kind(other.object.clone(), kind)));
    }
    objects
}

/// The Job with the defaults that the API server added when it was created.
fn stored_job_json(ctx: &EngineContext<'_>, job: JobId) -> Value {
    let mut stored = job_json(ctx, job);
    objects::add_job_defaults(&mut stored);
    stored
}

pub fn jobset_status_json(ctx: &EngineContext<'_>, jobset: JobSetId) -> Value {
    let js = &ctx.store.jobsets[jobset.ix()];
    let s = &js.status;
    let mut out = Map::new();
    if js.resource_version <= 1 && s.replicated_jobs.is_empty() {
        return Value::Null;
    }
    if !s.conditions.is_empty() {
        let conditions = s.conditions.iter().map(|c| {
            json!({"type": c.kind.as_str(), "status": if c.status { "True" } else { "False" },
                "reason": c.full_reason(), "message": c.message,
                "lastTransitionTime": time_json(c.last_transition)})
        });
        out.insert("conditions".into(), conditions.collect());
    }
    let rjs = js.sorted_status().into_iter().map(|r| {
        let mut object = json!({"name": r.name, "ready": r.ready, "succeeded": r.succeeded,
            "failed": r.failed, "active": r.active, "suspended": r.suspended});
        if !r.job_restarts.is_empty() {
            object["jobRestarts"] = json!(r.job_restarts);
        }
        if !r.job_restarts_count_towards_max.is_empty() {
            object["jobRestartsCountTowardsMax"] = json!(r.job_restarts_count_towards_max);
        }
        object
    });
    out.insert("replicatedJobsStatus".into(), rjs.collect());
    out.insert("restarts".into(), json!(s.restarts));
    if s.restarts_count_towards_max > 0 {
        let counted = json!(s.restarts_count_towards_max);
        out.insert("restartsCountTowardsMax".into(), counted);
    }
    let (current, previous) = (s.current_in_place_restart_attempt, s.previous_in_place_restart_attempt);
    for (key, value) in [("currentInPlaceRestartAttempt", current), ("previousInPlaceRestartAttempt", previous)] {
        if let Some(attempt) = value {
            out.insert(key.into(), json!(attempt));
        }
    }
    if let Some(terminal) = s.terminal_state {
        out.insert("terminalState".into(), json!(format!("{terminal:?}")));
    }
    Value::Object(out)
}

fn jobset_json(ctx: &EngineContext<'_>, jobset: JobSetId) -> Value {
    let js = &ctx.store.jobsets[jobset.ix()];
    let mut object = js.spec.object.as_deref().cloned().unwrap_or(json!({}));
    object["status"] = jobset_status_json(ctx, jobset);
    add_deletion_metadata(&mut object, finalizers_of_jobset(js), js.deletion, 0);
    object
}

/// Finalizers and, for an object that is being deleted, the end of its grace period (`k8s.io/apiserver`,
/// rest.BeforeDelete).
fn add_deletion_metadata(object: &mut Value, finalizers: Vec<String>, deletion: Option<SimTime>, grace_s: u64) {
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    metadata.remove("finalizers");
    if !finalizers.is_empty() {
        metadata.insert("finalizers".into(), json!(finalizers));
    }
    if let Some(at) = deletion {
        let ends = time_json(at + Duration::from_secs(grace_s));
        metadata.insert("deletionTimestamp".into(), ends);
        metadata.insert("deletionGracePeriodSeconds".into(), json!(grace_s));
    }
}

pub(super) fn finalizers_of_jobset(js: &JobSetRow) -> Vec<String> {
    let waits = js.is_deleting() && js.foreground;
    with_finalizer(&js.spec.finalizers, waits, FOREGROUND_DELETION)
}

pub(super) fn finalizers_of_job(job: &JobEntry) -> Vec<String> {
    let waits = job.is_deleting() && !job.dependents_deleted;
    with_finalizer(&job.finalizers, waits, FOREGROUND_DELETION)
}

pub(super) fn finalizers_of_pod(ctx: &EngineContext<'_>, pod: PodId) -> Vec<String> {
    let pods = &ctx.store.pods;
    let of_template = &ctx.store.template(pod).pod.finalizers;
    let own = pods.finalizers.get(&pod).unwrap_or(of_template);
    with_finalizer(own, pods.has(pod, flag::FINALIZER), JOB_TRACKING)
}

fn with_finalizer(own: &[String], one_more: bool, name: &str) -> Vec<String> {
    let more = one_more.then(|| name.to_owned());
    own.iter().cloned().chain(more).collect()
}

/// The stored Job: the posted object with all later changes.
fn job_json(ctx: &EngineContext<'_>, job: JobId) -> Value {
    let j = &ctx.store.jobs[job.ix()];
    let mut object = job_object(ctx, job);
    for (key, value) in &j.changed_labels {
        if let Some(labels) = object["metadata"]["labels"].as_object_mut() {
            match value {
                Some(text) => drop(labels.insert(key.clone(), json!(text))),
                None => drop(labels.remove(key)),
            }
        }
    }
    object["spec"]["suspend"] = json!(j.suspended);
    let spec = ctx.store.job_spec(job);
    if !spec.template.spec.node_selector.is_empty() {
        object["spec"]["template"]["spec"]["nodeSelector"] = json!(spec.template.spec.node_selector);
    }
    object["spec"]["parallelism"] = json!(spec.parallelism());
    if let Some(completions) = spec.completions() {
        object["spec"]["completions"] = json!(completions);
    }
    object["status"] = job_status_json(j);
    if j.orphaned {
        remove_owner(&mut object, "JobSet");
    }
    add_deletion_metadata(&mut object, finalizers_of_job(j), j.deletion, 0);
    object
}

fn pod_json(ctx: &EngineContext<'_>, pod: PodId, kubelets: &KubeletState) -> Value {
    let mut object = pod_object(ctx, pod);
    object["metadata"]["uid"] = json!(ctx.store.pod_uid(pod));
    object["status"] = pod_status_json::pod_status_json(ctx, pod, kubelets);
    object
}

/// The stored pod without its status: as posted by the Job controller and changed by the pod webhooks (EXC-4…EXC-8).
pub fn pod_object(ctx: &EngineContext<'_>, pod: PodId) -> Value {
    let (store, i) = (&**ctx.store, pod.ix());
    let job = store.pods.job[i];
    let owner = stored_job_json(ctx, job);
    let index = store.is_indexed(job).then_some(store.pods.index[i]);
    let posted = match &store.jobs[job.ix()].object {
        Some(pod) if store.names.is_standalone_pod(job) => (**pod).clone(),
        _ => objects::pod_of_index(&owner, index),
    };
    let leader = leader_json(ctx, job, pod, &owner);
    let node = store.pods.node[i];
    let nodes = leader_node(ctx, job, pod).or(node.is_some().then_some(node));
    let (priority_classes, runtime_classes) = apiserver::known_classes(ctx, &posted["spec"]);
    let priority_classes = classes_at_creation(&posted["spec"], priority_classes, store.facts(pod).priority);
    let around = ObjectContext {
        priority_classes: &priority_classes,
        runtime_classes: &runtime_classes,
        service_accounts: &[],
        pods: leader.as_slice(),
        nodes: &nodes.map(|n| vec![node_json(ctx, n)]).unwrap_or_default(),
    };
    let incarnation = store.pods.incarnation[i];
    let name = store.names.pod(job, store.pods.index[i], pod, incarnation);
    let suffix = name.rsplit('-').next().unwrap_or("").to_owned();
    let mut object = objects::stored_pod(&posted, &suffix, &around).unwrap_or(posted);
    if !store.pods.has(pod, flag::GATED) {
        // Removed if present.
        if let Some(spec) = object["spec"].as_object_mut() {
            spec.remove("schedulingGates");
        }
    }
    // Kueue's topology ungater adds the labels of a domain to the selector of the template.
    for (key, value) in &store.pod_spec(pod).node_selector {
        object["spec"]["nodeSelector"][key] = json!(value);
    }
    let attempt = store.pods.attempt[i];
    if attempt < BAD_ATTEMPT {
        object["metadata"]["annotations"][IN_PLACE_RESTART_ATTEMPT] = json!(attempt.to_string());
    }
    if node.is_some() {
        object["spec"]["nodeName"] = json!(store.names.node(node));
    }
    let deleting = store.pods.has(pod, flag::DELETING);
    let grace_s =
        if store.pods.has(pod, flag::CONFIRMED) { 0 } else { ctx.store.pod_spec(pod).termination_grace_period_s };
    let since = Duration::from_secs(store.pods.deletion_s[i].into());
    let deletion = deleting.then_some(SimTime::ZERO + since);
    if store.jobs[job.ix()].pods_orphaned {
        remove_owner(&mut object, "Job");
    }
    add_deletion_metadata(&mut object, finalizers_of_pod(ctx, pod), deletion, grace_s.into());
    object
}

/// Returns the PriorityClasses without a default class that is newer than the pod, or with the former one.
fn classes_at_creation(spec: &Value, mut classes: Vec<Value>, priority: i32) -> Vec<Value> {
    let now = objects::priority_of(spec, &classes).map(|(_, value)| value);
    if spec["priorityClassName"].is_string() || now == Some(priority.into()) {
        return classes;
    }
    classes.retain(|class| class["globalDefault"] != true);
    if priority != 0 {
        classes.push(json!({"value": priority, "globalDefault": true}));
    }
    classes
}

/// The node of the leader when the webhook mutated a follower: the leader may have moved since. Any node of its domain
/// gives the same selector.
fn leader_node(ctx: &EngineContext<'_>, job: JobId, pod: PodId) -> Option<NodeId> {
    if let Some(domain) = ctx.store.follower_domain(pod) {
        return domain.first().copied();
    }
    let leader = ctx.store.pod_of(job, 0)?;
    let node = ctx.store.pods.node[leader.ix()];
    (leader != pod && node.is_some()).then_some(node)
}

/// The leader in the webhook's cache, for a follower.
fn leader_json(ctx: &EngineContext<'_>, job: JobId, pod: PodId, owner: &Value) -> Option<Value> {
    let node = leader_node(ctx, job, pod)?;
    let mut leader = objects::pod_of_index(owner, Some(0));
    leader["metadata"]["name"] = json!(format!("{}-0-leader", ctx.store.names.job(job)));
    leader["spec"]["nodeName"] = json!(ctx.store.names.node(node));
    Some(leader)
}

pub fn node_json(ctx: &EngineContext<'_>, node: NodeId) -> Value {
    let nodes = &ctx.store.nodes;
    let object = nodes.cluster.object(node);
    let taint = |t: &sim_api::spec::TaintSpec| json!({"key": t.key, "value": t.value, "effect": t.effect.as_str()});
    let taints: Vec<Value> = nodes.taints_of(node).map(taint).collect();
    let ready = if nodes.rows[node.ix()].unknown { "Unknown" } else { "True" };
    let quantity = |milli: i64| match milli % 1000 {
        0 => (milli / 1000).to_string(),
        _ => format!("{milli}m"),
    };
    let allocatable = object.allocatable.iter();
    let allocatable: BTreeMap<&str, String> =
        allocatable.map(|(resource, milli)| (resource.as_str(), quantity(*milli))).collect();
    let mut displayed = json!({"metadata": {"name": object.name, "labels": object.labels}, "spec": {},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": ready}]}});
    if !taints.is_empty() {
        displayed["spec"]["taints"] = taints.into();
    }
    if nodes.rows[node.ix()].cordoned {
        displayed["spec"]["unschedulable"] = true.into();
    }
    displayed
}

fn job_status_json(j: &JobEntry) -> Value {
    let mut status = json!({"active": j.status.active, "ready": j.status.ready,
        "succeeded": j.status.succeeded, "failed": j.status.failed,
        "terminating": j.status.terminating});
    if let Some(start) = j.status.start_time {
        status["startTime"] = time_json(start);
    }
    if !j.status.conditions.is_empty() {
        status["conditions"] = j.status.conditions.iter().map(condition_json).collect();
    }
    status
}

fn condition_json(c: &JobCondition) -> Value {
    json!({"type": JobConditionType::as_str(c.kind), "status": if c.status { "True" } else { "False" },
        "reason": c.reason, "message": c.message,
        "lastProbeTime": time_json(c.at), "lastTransitionTime": time_json(c.at)})
}
