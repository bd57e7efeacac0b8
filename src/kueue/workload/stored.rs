//! Workloads of a cluster, as they were stored in v1beta1 or v1beta2. A field that is not readable counts as absent.

use super::conditions::{Condition, ConditionType};
use super::object::{PodSet, Workload};
use super::status::{Admission, CheckState, CheckStatus, PodSetAdmission, RequeueState, WorkloadStatus};
use super::topology::{self, annotations};
use crate::amount::Amount;
use crate::requests::Name;
use crate::tas::encoding::{AssignmentSlice, LevelValues, PodCounts, decompress};
use crate::tas::{DomainAssignment, TopologyAssignment, TopologyRequest};
use serde_json::Value;
use sim_api::spec::kueue::{StoredPodSet, StoredWorkload};
use sim_base::SimTime;
use sim_base::calendar::parse_time;
use sim_base::quantity::parse_milli;
use std::collections::BTreeMap;
use std::sync::Arc;

impl From<&StoredWorkload> for Workload {
    fn from(stored: &StoredWorkload) -> Workload {
        Workload {
            namespace: stored.namespace.clone(),
            name: stored.name.clone(),
            uid: stored.uid.clone(),
            job_uid: stored.owner.as_ref().map_or(String::new(), |owner| owner.uid.clone()),
            queue: stored.queue.clone(),
            priority: stored.priority,
            priority_class: stored.priority_class.clone(),
            created: stored.created,
            active: stored.active,
            admission_gates: stored.admission_gates.clone(),
            max_execution_s: stored.max_execution_s,
            pod_sets: stored.pod_sets.iter().map(pod_set).collect(),
            status: status(&stored.status, &stored.pod_sets),
        }
    }
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn time(value: &Value, key: &str) -> Option<SimTime> {
    parse_time(value[key].as_str()?)
}

fn count(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

fn pod_set(stored: &StoredPodSet) -> PodSet {
    let replicas = count(&stored.topology_request["subGroupCount"]).unwrap_or(1);
    let topology =
        topology_request(&stored.topology_request).or_else(|| topology::read(&stored.template.annotations).ok());
    let (name, template) = (stored.name.clone(), stored.template.clone());
    let source = Some(Arc::new(stored.clone()));
    PodSet { name, count: stored.count, replicas, template, topology, stored: source }
}

/// Reads `topologyRequest` as the annotations from which Kueue made it.
fn topology_request(request: &Value) -> Option<TopologyRequest> {
    let fields = [
        (annotations::REQUIRED, "required"),
        (annotations::PREFERRED, "preferred"),
        (annotations::UNCONSTRAINED, "unconstrained"),
        (annotations::SLICE_REQUIRED, "podSetSliceRequiredTopology"),
        (annotations::SLICE_SIZE, "podSetSliceSize"),
        (annotations::SLICE_CONSTRAINTS, "podsetSliceRequiredTopologyConstraints"),
        (annotations::GROUP, "podSetGroupName"),
    ];
    let field = |(key, name): &(&str, &str)| {
        let value = match request.get(name)? {
            Value::String(text) => text.clone(),
            Value::Null => return None,
            other => other.to_string(),
        };
        Some(((*key).to_owned(), value))
    };
    let found: BTreeMap<String, String> = fields.iter().filter_map(field).collect();
    if found.is_empty() { None } else { topology::read(&found).ok() }
}

/// Field of the past execution time in v1beta2, and as v1beta1 spells it.
const PAST_EXECUTION: [&str; 2] = ["accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds"];

fn status(status: &Value, pod_sets: &[StoredPodSet]) -> WorkloadStatus {
    let requeue = status.get("requeueState").filter(|state| state.is_object());
    WorkloadStatus {
        conditions: list(status, "conditions").filter_map(condition).collect(),
        admission: status.get("admission").filter(|a| a.is_object()).map(|a| admission(a, pod_sets)),
        requeue: requeue.map(|state| RequeueState { count: count(&state["count"]), at: time(state, "requeueAt") }),
        reclaimable: list(status, "reclaimablePods")
            .filter_map(|pods| Some((text(pods, "name"), count(&pods["count"])?)))
            .collect(),
        unhealthy_nodes: list(status, "unhealthyNodes").map(|node| text(node, "name")).collect(),
        checks: list(status, "admissionChecks").map(check).collect(),
        past_execution_s: PAST_EXECUTION.iter().find_map(|field| status[*field].as_u64()),
    }
}

fn condition(value: &Value) -> Option<Condition> {
    let kind = ConditionType::ALL.into_iter().find(|kind| value["type"] == kind.as_str())?;
    let since = time(value, "lastTransitionTime").unwrap_or_default();
    let (reason, message) = (text(value, "reason"), text(value, "message"));
    Some(Condition { kind, status: value["status"] == "True", reason, message, since })
}

fn check(value: &Value) -> CheckState {
    let status = match value["state"].as_str() {
        Some("Ready") => CheckStatus::Ready,
        Some("Retry") => CheckStatus::Retry,
        Some("Rejected") => CheckStatus::Rejected,
        _ => CheckStatus::Pending,
    };
    CheckState { name: text(value, "name"), status, message: text(value, "message") }
}

fn admission(value: &Value, pod_sets: &[StoredPodSet]) -> Admission {
    let cluster_queue = Name::from(text(value, "clusterQueue"));
    let assigned = list(value, "podSetAssignments").map(|assigned| pod_set_admission(assigned, pod_sets));
    Admission { cluster_queue, pod_sets: assigned.collect() }
}

fn pod_set_admission(value: &Value, pod_sets: &[StoredPodSet]) -> PodSetAdmission {
    let pairs = |key: &str| value[key].as_object().into_iter().flatten();
    let flavor = |(resource, flavor): (&String, &Value)| Some((Name::from(resource.as_str()), flavor.as_str()?.into()));
    let amount = |(resource, amount): (&String, &Value)| {
        let written = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
        let milli = parse_milli(&written).ok()?;
        Some((Name::from(resource.as_str()), Amount::from_milli(resource, milli)))
    };
    let name = text(value, "name");
    // Without a count, all pods of the pod set are admitted (`totalRequestsFromAdmission`).
    let all = || pod_sets.iter().find(|pod_set| pod_set.name == name).map_or(0, |pod_set| pod_set.count);
    PodSetAdmission {
        count: count(&value["count"]).unwrap_or_else(all),
        name,
        flavors: pairs("flavors").filter_map(flavor).collect(),
        usage: pairs("resourceUsage").filter_map(amount).collect(),
        topology: value.get("topologyAssignment").filter(|t| t.is_object()).map(topology_assignment),
    }
}

fn strings(value: &Value, key: &str) -> Vec<String> {
    list(value, key).filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

/// Reads the slices of v1beta2, or the domains of v1beta1.
fn topology_assignment(value: &Value) -> TopologyAssignment {
    let listed = list(value, "domains").filter_map(|domain| {
        Some(DomainAssignment { values: strings(domain, "values"), count: count(&domain["count"])? })
    });
    let slices: Vec<AssignmentSlice> = list(value, "slices").filter_map(slice).collect();
    TopologyAssignment { levels: strings(value, "levels"), domains: listed.chain(decompress(&slices)).collect() }
}

fn slice(value: &Value) -> Option<AssignmentSlice> {
    let level = |values: &Value| match values["universal"].as_str() {
        Some(universal) => LevelValues::Universal(universal.to_owned()),
        None => LevelValues::Individual {
            prefix: text(&values["individual"], "prefix"),
            suffix: text(&values["individual"], "suffix"),
            roots: strings(&values["individual"], "roots"),
        },
    };
    let counts = &value["podCounts"];
    let pod_counts = match count(&counts["universal"]) {
        Some(universal) => PodCounts::Universal(universal),
        None => PodCounts::Individual(list(counts, "individual").filter_map(count).collect()),
    };
    let values_per_level = list(value, "valuesPerLevel").map(level).collect();
    Some(AssignmentSlice { domain_count: count(&value["domainCount"])? as usize, values_per_level, pod_counts })
}
