//! Situations of upstream's tests of the pod webhooks, with upstream's pods and expectations
//! (`pkg/webhooks/pod_webhook_test.go`).
//!
//! Upstream calls the functions of the webhooks directly. The API server calls the webhooks only for pods with the
//! label and the annotation of a JobSet, so every pod here has both.

use serde_json::{Value, json};
use sim_api::objects::{ObjectContext, mutate_pod, validate_pod};

const JOBSET: &str = "jobset.sigs.k8s.io/jobset-name";
const PRIORITY: &str = "jobset.sigs.k8s.io/priority";
const JOB_KEY: &str = "jobset.sigs.k8s.io/job-key";
const EXCLUSIVE: &str = "alpha.jobset.sigs.k8s.io/exclusive-topology";
const NODE_SELECTOR: &str = "alpha.jobset.sigs.k8s.io/node-selector";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Webhook that a situation is about.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Webhook {
    Mutating,
    Validating,
}

struct Situation {
    name: &'static str,
    webhook: Webhook,
    pod: Value,
    pods: Vec<Value>,
    nodes: Vec<Value>,
    /// The resulting pod, or a part of the error.
    expected: Result<Value, &'static str>,
}

/// Returns a pod of upstream's JobSet `js`.
fn pod(name: &str, index: &str, owner: &str) -> Value {
    json!({
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {
                JOBSET: "js",
                "jobset.sigs.k8s.io/replicatedjob-name": "rjob",
                "jobset.sigs.k8s.io/job-index": "0"
            },
            "annotations": {JOBSET: "js", EXCLUSIVE: ZONE, INDEX: index},
            "ownerReferences": if owner.is_empty() { json!([]) } else { json!([{"uid": owner, "kind": "Job", "controller": true}]) }
        },
        "spec": {"priority": 100}
    })
}

fn with(mut pod: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let key = key.replace("~1", "/");
    pod.pointer_mut(parent).expect("the parent exists")[key] = value;
    pod
}

fn follower() -> Value {
    pod("js-rjob-0-1-follower", "1", "job-uid-1")
}

fn leader(owner: &str) -> Value {
    pod("js-rjob-0-0-leader", "0", owner)
}

fn on_node(pod: Value) -> Value {
    with(pod, "/spec/nodeName", json!("node-a"))
}

fn with_priority(pod: Value) -> Value {
    with(pod, "/metadata/labels/jobset.sigs.k8s.io~1priority", json!("100"))
}

/// Returns a follower whose node selector is set, so that the validating webhook looks for its leader.
fn selecting(pod: Value) -> Value {
    with(pod, "/spec/nodeSelector", json!({ZONE: "zone-a"}))
}

fn node() -> Value {
    json!({"metadata": {"name": "node-a", "labels": {ZONE: "zone-a"}}})
}

fn situation(name: &'static str, pod: Value, expected: Result<Value, &'static str>) -> Situation {
    Situation { name, webhook: Webhook::Mutating, pod, pods: Vec::new(), nodes: Vec::new(), expected }
}

/// Returns a situation in which the webhook looks for the leader among `pods`.
fn lookup(name: &'static str, follower: Value, pods: Vec<Value>, error: &'static str) -> Situation {
    let pod = selecting(follower);
    let expected = if error.is_empty() { Ok(pod.clone()) } else { Err(error) };
    Situation {
        webhook: Webhook::Validating,
        pods: pods.into_iter().map(on_node).collect(),
        ..situation(name, pod, expected)
    }
}

fn defaulting() -> Vec<Situation> {
    let plain = json!({"metadata": {"name": "p", "labels": {JOBSET: "js"}, "annotations": {JOBSET: "js"}}, "spec": {}});
    let selector =
        with(plain.clone(), &format!("/metadata/annotations/{}", NODE_SELECTOR.replace('/', "~1")), json!("x"));
    let prioritized = with(plain.clone(), "/spec/priority", json!(100));
    let leads = with(leader("job-uid-1"), "/metadata/labels/jobset.sigs.k8s.io~1job-key", json!("js-rjob-0"));
    let term = |expressions: Value| {
        json!({"requiredDuringSchedulingIgnoredDuringExecution": [{
            "labelSelector": {"matchExpressions": expressions}, "topologyKey": ZONE, "namespaceSelector": {}}]})
    };
    let affinity = json!({
        "podAffinity": term(json!([{"key": JOB_KEY, "operator": "In", "values": ["js-rjob-0"]}])),
        "podAntiAffinity": term(json!([
            {"key": JOB_KEY, "operator": "Exists"},
            {"key": JOB_KEY, "operator": "NotIn", "values": ["js-rjob-0"]},
            {"key": PRIORITY, "operator": "In", "values": ["100"]}])),
    });
    let mut all = vec![
        situation("TestDefault/using node selector strategy", selector.clone(), Ok(selector)),
        situation("TestDefault/jobset pod, no exclusive placement, no priority", plain.clone(), Ok(plain)),
        situation(
            "TestDefault/jobset pod, no exclusive placement, with priority",
            prioritized.clone(),
            Ok(with_priority(prioritized)),
        ),
        situation(
            "TestDefault/leader pod with exclusive placement",
            leads.clone(),
            Ok(with(with_priority(leads), "/spec/affinity", affinity)),
        ),
    ];
    for (name, leader, nodes, expected) in [
        ("TestDefault/follower pod, leader not scheduled", leader("job-uid-1"), vec![], Ok(with_priority(follower()))),
        (
            "TestDefault/follower pod, leader scheduled",
            on_node(leader("job-uid-1")),
            vec![node()],
            Ok(selecting(with_priority(follower()))),
        ),
        (
            "TestDefault/follower pod, leader scheduled on missing node",
            on_node(leader("job-uid-1")),
            vec![],
            Err("\"node-a\" not found"),
        ),
    ] {
        all.push(Situation { pods: vec![leader], nodes, ..situation(name, follower(), expected) });
    }
    all
}

fn lookups() -> Vec<Situation> {
    let one = || vec![leader("job-uid-1")];
    let unlabelled = |mut pod: Value| {
        let labels = pod["metadata"]["labels"].as_object_mut().expect("labels");
        labels.remove("jobset.sigs.k8s.io/job-index");
        pod
    };
    let missing = "pod missing label: jobset.sigs.k8s.io/job-index";
    let none = "expected 1 leader pod (js-rjob-0-0), but got 0";
    let different = "follower pod owner UID (job-uid-2) != leader pod owner UID (job-uid-1)";
    let reversed = "follower pod owner UID (job-uid-1) != leader pod owner UID (job-uid-2)";
    let orphan = "leader pod \"js-rjob-0-0-leader\" has no owner reference";
    let owned = |owner: &str| pod("js-rjob-0-1-follower", "1", owner);
    let terminating = with(leader("job-uid-1"), "/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"));
    let second = pod("js-rjob-0-0-uvw", "0", "job-uid-1");
    vec![
        lookup("TestLeaderPodName/valid pod", follower(), one(), ""),
        lookup("TestLeaderPodName/pod missing labels", unlabelled(follower()), one(), missing),
        lookup("TestPodsOwnedBySameJob/pods owned by the same job", follower(), one(), ""),
        lookup("TestPodsOwnedBySameJob/pods owned by different jobs", owned("job-uid-2"), one(), different),
        lookup(
            "TestPodsOwnedBySameJob/follower pod with no owner",
            owned(""),
            one(),
            "follower pod has no owner reference",
        ),
        lookup("TestPodsOwnedBySameJob/leader pod with no owner", owned("job-uid-2"), vec![leader("")], orphan),
        lookup("TestLeaderPodForFollower/valid leader pod exists", follower(), one(), ""),
        lookup("TestLeaderPodForFollower/follower pod missing labels", unlabelled(follower()), one(), missing),
        lookup("TestLeaderPodForFollower/no leader pod found", follower(), vec![], none),
        lookup(
            "TestLeaderPodForFollower/multiple leader pods found",
            follower(),
            vec![leader("job-uid-1"), second],
            "expected 1 leader pod (js-rjob-0-0), but got 2",
        ),
        lookup("TestLeaderPodForFollower/leader pod is terminating", follower(), vec![terminating], none),
        lookup(
            "TestLeaderPodForFollower/leader and follower owned by different jobs",
            follower(),
            vec![leader("job-uid-2")],
            reversed,
        ),
    ]
}

fn all_situations() -> Vec<Situation> {
    defaulting().into_iter().chain(lookups()).collect()
}

/// Returns the names of all situations that are tested here.
pub fn tested_rows() -> Vec<String> {
    all_situations().iter().map(|s| s.name.to_owned()).collect()
}

#[test]
fn the_pod_webhooks_answer_as_upstreams_tests_say() {
    for situation in all_situations() {
        let context = ObjectContext { pods: &situation.pods, nodes: &situation.nodes, ..ObjectContext::default() };
        let mut pod = situation.pod.clone();
        let answer = match situation.webhook {
            Webhook::Mutating => mutate_pod(&mut pod, &context),
            Webhook::Validating => validate_pod(&pod, &context),
        };
        let name = situation.name;
        match (answer, situation.expected) {
            (Ok(()), Ok(expected)) => assert_eq!(pod, expected, "{name}"),
            (Err(rejection), Err(part)) => assert!(rejection.message.contains(part), "{name}: {}", rejection.message),
            (answer, expected) => panic!("{name}: {answer:?} instead of {expected:?}"),
        }
    }
}
