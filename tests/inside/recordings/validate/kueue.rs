//! Unit tests of `sim_recordings::validate::kueue`.

use super::*;
use crate::validate::result::ValidationVerdict;
use serde_json::json;
use std::path::Path;

/// A story with preemptions and a stopped queue.
fn story() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings/kueue/k2-0047.json");
    let text = std::fs::read_to_string(path).expect("a recording of the repository");
    serde_json::from_str(&text).expect("a recording is JSON")
}

fn validated(recording: &Value) -> FileResult {
    validate("story.json", &read(&recording.to_string()).expect("a story"))
}

fn paths(result: &FileResult) -> Vec<&str> {
    result.differences.iter().flatten().map(|d| d.path.as_str()).collect()
}

#[test]
fn a_recorded_story_is_equal_and_a_changed_message_is_a_difference() {
    let mut recording = story();
    assert_eq!(validated(&recording).verdict(), Some(ValidationVerdict::Equal));
    recording["results"][0]["workloads"]["js0"]["conditions"][0]["message"] = json!("Quota reserved elsewhere");
    let result = validated(&recording);
    assert_eq!(result.verdict(), Some(ValidationVerdict::Different));
    assert!(paths(&result).iter().all(|path| path.starts_with("0.js0.")), "{:?}", paths(&result));
}

#[test]
fn counts_of_a_queue_that_it_never_had_are_a_difference() {
    let mut recording = story();
    let queue = recording["clusterQueues"][0]["metadata"]["name"].as_str().expect("a name").to_owned();
    recording["results"][0]["clusterQueues"][&queue]["pending"] = json!(7);
    assert_eq!(paths(&validated(&recording)), [format!("0.{queue}.pending")]);
}

#[test]
fn a_uid_that_stands_for_two_workloads_is_a_difference() {
    let mut recording = story();
    let text = recording.to_string();
    let first = text.split("(UID: ").nth(1).and_then(|rest| rest.split(',').next()).expect("a preemption").to_owned();
    // The first recorded UID is replaced in the messages of the last step only.
    let last = recording["results"].as_array_mut().and_then(|results| results.last_mut()).expect("a step");
    let changed = last.to_string().replace("(UID: ", "(UID: x").replace(&format!("x{first}"), &first);
    *last = serde_json::from_str(&changed).expect("still JSON");
    // A new UID alone is no difference, because UIDs are random.
    assert_eq!(validated(&recording).verdict(), Some(ValidationVerdict::Equal));
}

#[test]
fn an_unknown_field_or_step_is_named_and_not_simulated() {
    let mut recording = story();
    recording["clusterQueues"][0]["spec"]["concurrentAdmissionPolicy"] = json!({"migration": {}});
    recording["steps"][0]["explode"] = json!("js0");
    assert_eq!(
        validated(&recording).not_simulated,
        ["field ClusterQueue.spec.concurrentAdmissionPolicy", "step explode"]
    );
}

/// A ClusterQueue with 8 TPUs per flavor and a queueing strategy.
fn small_story(strategy: &str, flavors: &[&str]) -> Value {
    let flavor = |name: &&str| json!({"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": name}});
    let quota = |name: &&str| json!({"name": name, "resources": [{"name": TPU, "nominalQuota": "8"}]});
    let quotas: Vec<Value> = flavors.iter().map(quota).collect();
    json!({
        "schema": SCHEMA, "kind": "kueue", "name": "small",
        "flavors": flavors.iter().map(flavor).collect::<Vec<Value>>(),
        "clusterQueues": [{"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": "cq"}, "spec": {
            "namespaceSelector": {}, "queueingStrategy": strategy,
            "resourceGroups": [{"coveredResources": [TPU], "flavors": quotas}],
        }}],
        "steps": [], "results": [],
    })
}

const API: &str = "kueue.x-k8s.io/v1beta2";
const TPU: &str = "google.com/tpu";

/// Step that creates a JobSet with one pod per replicatedJob, each with a number of TPUs.
fn create(name: &str, class: &str, tpus: &[u32]) -> Value {
    let job = |(index, tpus): (usize, &u32)| {
        let amount = tpus.to_string();
        let resources = json!({"requests": {TPU: amount}, "limits": {TPU: amount}});
        let container = json!({"name": "main", "image": "i", "resources": resources});
        let pod = json!({"spec": {"restartPolicy": "Never", "containers": [container]}});
        json!({"name": format!("r{index}"), "replicas": 1, "template": {"spec": {
            "parallelism": 1, "completions": 1, "template": pod,
        }}})
    };
    let jobs: Vec<Value> = tpus.iter().enumerate().map(job).collect();
    let labels = json!({"kueue.x-k8s.io/queue-name": "lq0", "kueue.x-k8s.io/priority-class": class});
    json!({"create": {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": name, "labels": labels}, "spec": {"suspend": true, "replicatedJobs": jobs}}})
}

/// Adds a step, after which only the condition QuotaReserved of one JobSet is compared.
fn add_step(recording: &mut Value, step: Value, name: &str, reserved: (&str, &str, String)) {
    let (status, reason, message) = reserved;
    let condition = json!({"type": "QuotaReserved", "status": status, "reason": reason, "message": message});
    let workloads = json!({name: {"conditions": [condition]}});
    recording["steps"].as_array_mut().expect("a list").push(step);
    recording["results"].as_array_mut().expect("a list").push(json!({"workloads": workloads}));
}

/// Returns the differences of the condition QuotaReserved.
fn reservation_paths(recording: &Value) -> Vec<String> {
    let result = validated(recording);
    assert_eq!(result.not_simulated, Vec::<String>::new());
    paths(&result).into_iter().filter(|path| path.ends_with(".QuotaReserved")).map(str::to_owned).collect()
}

/// Adds a step after which all JobSets wait. Each has the reason and the message of QuotaReserved, or was never tried.
fn add_waiting(recording: &mut Value, step: Value, jobsets: &[(&str, Option<String>)]) {
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "False", "reason": reason, "message": message});
    let mut workloads = json!({});
    for (name, message) in jobsets {
        let mut conditions = vec![condition("PodsReady", "WaitForStart", "Not all pods are ready or succeeded")];
        if let Some(message) = message {
            conditions.push(condition("QuotaReserved", "ExceedsMaxQuota", message));
            conditions.push(condition("Admitted", "NoReservation", "The workload has no reservation"));
        }
        workloads[*name] = json!({"suspend": true, "conditions": conditions});
    }
    let unused = |flavor: &str| json!({"name": flavor, "resources": [{"name": TPU, "total": "0", "borrowed": "0"}]});
    let usage = [unused("f0"), unused("f1")];
    let status = json!({"pending": jobsets.len(), "reserving": 0, "admitted": 0, "usage": usage});
    recording["steps"].as_array_mut().expect("a list").push(step);
    let result = json!({"workloads": workloads, "clusterQueues": {"cq": status}});
    recording["results"].as_array_mut().expect("a list").push(result);
}

#[test]
fn a_message_that_alternates_may_stay_at_any_state_but_then_stays() {
    let message = |pod_set: &str, amount: u32, considered: [u32; 2]| {
        let part = |index: usize| {
            format!(
                "insufficient quota for {TPU} in flavor f{index}, previously considered podsets requests ({}) + \
                 current podset request ({amount}) > maximum capacity (8)",
                considered[index]
            )
        };
        Some(format!("couldn't assign flavors to pod set {pod_set}: {}, {}", part(0), part(1)))
    };
    // The queue tries the flavors of the first pod set in turn until another JobSet is its head.
    let waiting = |is_first: bool| message("r1", 36, if is_first { [2, 0] } else { [0, 2] });
    let head = || message("r0", 12, [0, 0]);
    let recording = |states: [bool; 3]| {
        let mut recording = small_story("StrictFIFO", &["f0", "f1"]);
        add_waiting(&mut recording, create("a", "low", &[2, 36]), &[("a", waiting(states[0]))]);
        add_waiting(&mut recording, create("b", "high", &[12]), &[("a", waiting(states[1])), ("b", head())]);
        let all = [("a", waiting(states[2])), ("b", head()), ("c", None)];
        add_waiting(&mut recording, create("c", "low", &[1]), &all);
        validated(&recording)
    };
    for first in [true, false] {
        for second in [true, false] {
            assert_eq!(paths(&recording([first, second, second])), Vec::<&str>::new());
        }
        assert_eq!(paths(&recording([true, first, !first])), ["2.a.QuotaReserved"]);
    }
}

#[test]
fn each_waiting_workload_is_tried_after_quota_becomes_free() {
    let mut recording = small_story("BestEffortFIFO", &["f0"]);
    let reserved = || ("True", "QuotaReserved", "Quota reserved in ClusterQueue cq".to_owned());
    let waiting = || {
        let message =
            format!("couldn't assign flavors to pod set r0: insufficient unused quota for {TPU} in flavor f0, ");
        ("False", "WaitingForQuota", message + "2 more needed")
    };
    add_step(&mut recording, create("first", "mid", &[6]), "first", reserved());
    add_step(&mut recording, create("last", "low", &[4]), "last", waiting());
    // Each has requests of its own, so no equivalent Workload is put aside with another.
    for k in 0..12 {
        add_step(&mut recording, create(&format!("large{k}"), "high", &[9 + k]), "last", waiting());
    }
    add_step(&mut recording, json!({"finish": "first"}), "last", reserved());
    assert_eq!(reservation_paths(&recording), Vec::<String>::new());
}

#[test]
fn the_workloads_of_a_held_queue_are_not_reclaimed_for_others() {
    let recording = |policy: &str, b: (&str, &str, String)| {
        let mut recording = small_story("BestEffortFIFO", &["f0"]);
        let mut other = recording["clusterQueues"][0].clone();
        other["metadata"]["name"] = json!("other");
        other["spec"]["preemption"] = json!({"reclaimWithinCohort": "Any"});
        let queues = recording["clusterQueues"].as_array_mut().expect("a list");
        queues.push(other);
        queues.iter_mut().for_each(|queue| queue["spec"]["cohortName"] = json!("all"));
        let admitted = ("True", "QuotaReserved", "Quota reserved in ClusterQueue cq".to_owned());
        let stop = json!({"stopPolicy": {"clusterQueue": "cq", "policy": policy}});
        let mut reclaiming = create("b", "high", &[8]);
        reclaiming["create"]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = json!("lq1");
        add_step(&mut recording, create("a", "low", &[16]), "a", admitted.clone());
        add_step(&mut recording, stop, "a", admitted);
        add_step(&mut recording, reclaiming, "b", b);
        recording
    };
    let message = format!("couldn't assign flavors to pod set r0: insufficient unused quota for {TPU} in flavor f0, ");
    let waiting = ("False", "WaitingForQuota", message + "8 more needed");
    assert_eq!(reservation_paths(&recording("Hold", waiting)), Vec::<String>::new());
    let admitted = ("True", "QuotaReserved", "Quota reserved in ClusterQueue other".to_owned());
    assert_eq!(reservation_paths(&recording("None", admitted)), Vec::<String>::new());
}
