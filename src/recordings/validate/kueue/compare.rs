//! Compares the state after a step.

use super::super::scheduling::Differences;
use super::story::Story;
use regex::Regex;
use serde_json::{Map, Value, json};
use sim_api::objects::value_access::{int, list, pairs, text};
use sim_kueue::tas::TopologyAssignment;
use sim_kueue::tas::encoding::{AssignmentSlice, LevelValues, PodCounts, decompress};
use sim_kueue::workload::{PodSetAdmission, Workload, WorkloadKey};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

static UIDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"UID: ([-0-9a-z]+), JobUID: ([-0-9a-z]+)").expect("a constant pattern"));

#[derive(Default)]
pub struct Comparison {
    /// Workload of each recorded UID. The UIDs themselves are random.
    owners: BTreeMap<String, String>,
}

impl Comparison {
    /// Compares all Workloads and ClusterQueues. A Workload for which Kueue goes on alternating between several states
    /// may be in any of them.
    pub fn compare(
        &mut self, story: &Story, result: &Value, step: usize, alternatives: &[BTreeMap<WorkloadKey, Arc<Workload>>],
        found: &mut Differences,
    ) {
        for (name, recorded) in pairs(&result["workloads"]) {
            let path = format!("{step}.{name}");
            let key = story.jobs.iter().rposition(|job| job.name == *name);
            let Some((key, now)) = key.and_then(|key| Some((key, story.manager.workload(key)?))) else {
                found.compare(&path, json!("exists"), json!("missing"));
                continue;
            };
            let job = &story.jobs[key].view;
            let suspend = if job.is_deleted { Value::Null } else { json!(job.is_suspended) };
            found.compare(&format!("{path}.suspend"), recorded["suspend"].clone(), suspend);
            let others = alternatives.iter().filter_map(|state| state.get(&key));
            let is_equal = |w: &&Arc<Workload>| {
                let mut differences = Differences::default();
                Comparison { owners: self.owners.clone() }.compare_workload(&path, recorded, w, &mut differences);
                differences.0.is_empty()
            };
            let same = others.into_iter().find(is_equal).unwrap_or(now).clone();
            self.compare_workload(&path, recorded, &same, found);
        }
        let recorded_count = pairs(&result["workloads"]).count();
        let own = (0..story.jobs.len()).filter(|key| story.manager.workload(*key).is_some()).count();
        found.compare(&format!("{step}.workloads"), json!(recorded_count), json!(own));
        compare_queues(story, &result["clusterQueues"], step, found);
    }

    fn compare_workload(&mut self, path: &str, recorded: &Value, workload: &Workload, found: &mut Differences) {
        let conditions = list(recorded, "conditions").iter().map(|c| (text(c, "type").to_owned(), c));
        let conditions: BTreeMap<String, &Value> = conditions.collect();
        let own = workload.status.conditions.iter();
        let own: BTreeMap<&str, _> = own.map(|c| (c.kind.as_str(), c)).collect();
        let mut kinds: Vec<&str> = conditions.keys().map(String::as_str).chain(own.keys().copied()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let left = conditions.get(kind).map_or(Value::Null, |c| json!([c["status"], c["reason"], c["message"]]));
            let right = own
                .get(kind)
                .map_or(Value::Null, |c| json!([if c.status { "True" } else { "False" }, c.reason, c.message]));
            let (left, right) = self.without_uids(left, right);
            found.compare(&format!("{path}.{kind}"), left, right);
        }
        let requeue = workload.status.requeue.map_or(Value::Null, |requeue| json!({"count": requeue.count}));
        let recorded_requeue = match &recorded["requeueState"] {
            Value::Null => Value::Null,
            state => json!({"count": state["count"]}),
        };
        found.compare(&format!("{path}.requeueState"), recorded_requeue, requeue);
        compare_admission(path, &recorded["admission"], workload, found);
    }

    /// Replaces the UIDs in both messages by the UIDs of this replay. A recorded UID must always stand for the same
    /// Workload.
    fn without_uids(&mut self, mut recorded: Value, own: Value) -> (Value, Value) {
        let (Some(left), Some(right)) = (recorded[2].as_str(), own[2].as_str()) else {
            return (recorded, own);
        };
        if let (Some(left_uids), Some(right_uids)) = (UIDS.captures(left), UIDS.captures(right)) {
            let owner = self.owners.entry(left_uids[1].to_owned()).or_insert_with(|| right_uids[1].to_owned());
            if **owner == right_uids[1] {
                recorded[2] = json!(left.replace(&left_uids[0], &right_uids[0]));
            }
        }
        (recorded, own)
    }
}

fn compare_admission(path: &str, recorded: &Value, workload: &Workload, found: &mut Differences) {
    let own = workload.status.admission.as_ref();
    let queue = own.map_or(Value::Null, |a| json!(*a.cluster_queue));
    let recorded_queue = recorded["clusterQueue"].clone();
    found.compare(&format!("{path}.clusterQueue"), recorded_queue, queue);
    let recorded_sets = list(recorded, "podSets");
    let own_sets: &[PodSetAdmission] = own.map_or(&[], |a| &a.pod_sets);
    found.compare(&format!("{path}.podSets"), json!(recorded_sets.len()), json!(own_sets.len()));
    for (left, right) in recorded_sets.iter().zip(own_sets) {
        let path = format!("{path}.{}", right.name);
        let flavors: Map<String, Value> =
            right.flavors.iter().map(|(resource, flavor)| (resource.to_string(), json!(**flavor))).collect();
        let right_value = json!({"name": right.name, "count": right.count, "flavors": flavors});
        let left_value = json!({"name": left["name"], "count": left["count"], "flavors": left["flavors"]});
        found.compare(&path, left_value, right_value);
        let placement = right.topology.as_ref().map_or(Value::Null, placement_json);
        found.compare(&format!("{path}.topology"), read_placement(&left["topologyAssignment"]), placement);
    }
}

fn placement_json(placement: &TopologyAssignment) -> Value {
    let domains: Map<String, Value> =
        placement.domains.iter().map(|domain| (domain.values.join(","), json!(domain.count))).collect();
    json!({"levels": placement.levels, "domains": domains})
}

/// Reads a compressed placement. Returns null if there is none.
fn read_placement(recorded: &Value) -> Value {
    if !recorded.is_object() {
        return Value::Null;
    }
    let texts = |values: &Value, key: &str| -> Vec<String> {
        list(values, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let values = |values: &Value| match values["universal"].as_str() {
        Some(value) => LevelValues::Universal(value.to_owned()),
        None => LevelValues::Individual {
            prefix: text(&values["individual"], "prefix").to_owned(),
            suffix: text(&values["individual"], "suffix").to_owned(),
            roots: texts(&values["individual"], "roots"),
        },
    };
    let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let slice = |slice: &Value| AssignmentSlice {
        domain_count: int(slice, "domainCount").and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
        values_per_level: list(slice, "valuesPerLevel").iter().map(values).collect(),
        pod_counts: match &slice["podCounts"]["universal"] {
            Value::Null => PodCounts::Individual(list(&slice["podCounts"], "individual").iter().map(number).collect()),
            count => PodCounts::Universal(number(count)),
        },
    };
    let slices: Vec<AssignmentSlice> = list(recorded, "slices").iter().map(slice).collect();
    placement_json(&TopologyAssignment { levels: texts(recorded, "levels"), domains: decompress(&slices) })
}

fn compare_queues(story: &Story, recorded: &Value, step: usize, found: &mut Differences) {
    let queues = story.manager.cache.state.queues.iter().enumerate();
    for (index, queue) in queues {
        let usage = story.manager.cache.usage(index);
        let resource = |(resource, total, borrowed): &(
            Arc<str>,
            sim_kueue::amount::Amount,
            sim_kueue::amount::Amount,
        )| {
            json!({"name": **resource, "total": total.text(resource), "borrowed": borrowed.text(resource)})
        };
        let flavor = |(flavor, resources): &(Arc<str>, Vec<_>)| json!({"name": **flavor, "resources": resources.iter().map(resource).collect::<Vec<Value>>()});
        let own = json!({
            "pending": story.manager.pending[index].len(),
            "reserving": usage.reserving,
            "admitted": usage.admitted,
            "usage": usage.flavors.iter().map(flavor).collect::<Vec<Value>>(),
        });
        for key in ["pending", "reserving", "admitted", "usage"] {
            let path = format!("{step}.{}.{key}", queue.spec.name);
            found.compare(&path, recorded[&queue.spec.name][key].clone(), own[key].clone());
        }
    }
}
