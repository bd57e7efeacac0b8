//! The status of a pod as `show` prints it.

use crate::support;
use serde_json::{Value, json};
use sim_engine::record::*;

/// Runs one Job of two pods on four nodes. Returns the pod statuses printed by `show`, in order.
fn shown_statuses(strategy: &str, pod: &str, script: &str) -> Vec<Value> {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools:\n    \
         - name: node-{{node}}\n      nodesPerIsland: 4\n      allocatable: {{cpu: 8}}\n      \
         features: [RestartAllContainersOnContainerExits]\n\
         controlPlane: {{featureGates: {{InPlaceRestart: true}}}}\n\
         jobSets: [{{manifest: jobset.yaml}}]\n{script}\nstop: {{at: 3m}}\nseed: 1\n"
    );
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js}}\nspec:\n  failurePolicy: {{{strategy}}}\n  \
         replicatedJobs:\n  - name: w\n    template:\n      spec:\n        parallelism: 2\n        completions: 2\n        \
         backoffLimit: 2147483647\n        podReplacementPolicy: Failed\n        template:\n          spec: {pod}\n"
    );
    let scenario = support::parse(&scenario, &jobset).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut keep = KeepSink::default();
    simulation.run(1, 0, &mut keep);
    let answered = |r: &SimulationRecord| match r.body {
        Body::Answered { answer, .. } => {
            let text = simulation.names().text(answer);
            (!text.is_empty()).then(|| serde_json::from_str(text).unwrap_or(json!(text)))
        }
        _ => None,
    };
    let answers = keep.0.iter().filter_map(answered);
    answers.map(|a: Value| a["status"].clone()).collect()
}

fn show(at: &str, index: u32) -> String {
    format!("  - {{at: {at}, show: {{kind: Pod, name: js-w-0-{index}, fields: [status]}}}}\n")
}

/// Returns the conditions as `Type=status`, with reason and message if present.
fn conditions(status: &Value) -> Vec<String> {
    let all = status["conditions"].as_array().into_iter().flatten();
    let text = |c: &Value, key: &str| c[key].as_str().unwrap_or("").to_owned();
    all.map(|c| {
        let (reason, message) = (text(c, "reason"), text(c, "message"));
        let line = format!("{}={} {reason} {message}", text(c, "type"), text(c, "status"));
        line.trim_end().to_owned()
    })
    .collect()
}

/// Returns `name state ready started restartCount` for each container.
fn containers(status: &Value, list: &str) -> Vec<String> {
    let all = status[list].as_array().into_iter().flatten();
    all.map(|c| {
        let state = &c["state"];
        let state = if state["running"].is_object() {
            "running".to_owned()
        } else if state["waiting"].is_object() {
            state["waiting"]["reason"].to_string()
        } else {
            let ended = &state["terminated"];
            format!("{} {}", ended["reason"], ended["exitCode"])
        };
        format!("{} {state} {} {} {}", c["name"], c["ready"], c["started"], c["restartCount"]).replace('"', "")
    })
    .collect()
}

const PLAIN: &str = "{restartPolicy: Never, initContainers: [{name: prepare, image: 'p:1'}, {name: log, image: 'l:1', \
                     restartPolicy: Always}], containers: [{name: c, image: 'c:1'}, {name: d, image: 'd:1'}]}";

#[test]
fn a_shown_pod_has_the_conditions_and_containers_that_its_kubelet_writes() {
    let rules = "containers: [{podIndex: 1, container: d, runFor: 30s, exitCode: 7, jobTry: 0}]\nfaults:\n";
    let script = format!(
        "{rules}{}{}{}{}  - {{at: 50s, evictPod: {{pod: js-w-0-0}}}}\n{}",
        show("100ms", 0),
        show("10s", 0),
        show("34s", 1),
        show("35s", 1),
        show("50100ms", 0)
    );
    let all = shown_statuses("maxRestarts: 3", PLAIN, &script);
    let phases: Vec<&Value> = all.iter().map(|s| &s["phase"]).collect();
    assert_eq!(phases, ["Pending", "Running", "Running", "Failed", "Running"]);
    let init = |at: usize| containers(&all[at], "initContainerStatuses");
    let mains = |at: usize| containers(&all[at], "containerStatuses");
    let unready = "containers with unready status: [log c d]";
    assert_eq!(
        conditions(&all[0]),
        [
            "PodReadyToStartContainers=False",
            "Initialized=False ContainersNotInitialized containers with incomplete status: [prepare log]",
            &format!("Ready=False ContainersNotReady {unready}"),
            &format!("ContainersReady=False ContainersNotReady {unready}"),
            "PodScheduled=True",
        ]
    );
    assert_eq!(init(0), ["prepare PodInitializing false false 0", "log PodInitializing false false 0"]);
    assert_eq!(
        conditions(&all[1]),
        [
            "PodReadyToStartContainers=True", "Initialized=True", "Ready=True", "ContainersReady=True",
            "PodScheduled=True"
        ]
    );
    assert_eq!(init(1), ["prepare Completed 0 true false 0", "log running true true 0"]);
    assert_eq!(mains(1), ["c running true true 0", "d running true true 0"]);
    let ended = ["c Completed 0 false false 0", "d Error 7 false false 0"];
    // The sidecar terminates first; then the phase of the pod is updated.
    assert_eq!((mains(2), init(2)), (ended.map(str::to_owned).to_vec(), init(1)));
    assert_eq!(conditions(&all[2])[2], "Ready=False ContainersNotReady containers with unready status: [c d]");
    assert_eq!(mains(3), ended);
    assert_eq!(
        conditions(&all[3]),
        [
            "PodReadyToStartContainers=False", "Initialized=True", "Ready=False PodFailed",
            "ContainersReady=False PodFailed", "PodScheduled=True",
        ]
    );
    assert_eq!(conditions(&all[4])[0], "DisruptionTarget=True EvictionByEvictionAPI Eviction API: evicting");
}

const IN_PLACE: &str = "{restartPolicy: Never, initContainers: [{name: agent, image: 'a:1', restartPolicy: Always, \
    restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: NotIn, values: [0]}}], \
    env: [{name: JOBSET_NAME, value: js}, {name: POD_NAME, value: pod}], \
    startupProbe: {httpGet: {path: /barrier-is-down, port: 8081}, periodSeconds: 1}}], \
    containers: [{name: c, image: 'c:1', restartPolicy: Never, \
    restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: NotIn, values: [0]}}]}]}";

#[test]
fn a_shown_pod_waits_at_its_barrier_and_its_containers_are_removed_by_a_restart_in_place() {
    let rules = "containers: [{podIndex: 1, startAfter: 20s, runFor: 30s, exitCode: 3, containerRun: 0}]\nfaults:\n";
    let script = format!("{rules}{}{}{}", show("10s", 0), show("52200ms", 1), show("2m", 1));
    let all = shown_statuses("maxRestarts: 3, restartStrategy: InPlaceRestart", IN_PLACE, &script);
    assert_eq!(containers(&all[0], "initContainerStatuses"), ["agent running false false 0"]);
    assert_eq!(containers(&all[0], "containerStatuses"), ["c PodInitializing false false 0"]);
    assert_eq!(
        conditions(&all[0])[1],
        "Initialized=False ContainersNotInitialized containers with incomplete status: [agent]"
    );
    assert_eq!(containers(&all[1], "containerStatuses"), ["c RestartingAllContainers false false 1"]);
    assert_eq!(all[1]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"], 137);
    assert_eq!(containers(&all[2], "containerStatuses"), ["c running true true 1"]);
}

#[test]
fn a_pod_without_a_node_has_the_condition_and_message_of_its_reason() {
    let pending = |more: &str| {
        let pod = format!("{{containers: [{{name: c, image: 'c:1', resources: {{requests: {{cpu: 6}}}}}}]{more}}}");
        let script = format!("faults:\n{}", show("20s", 1));
        conditions(&shown_statuses("maxRestarts: 1", &pod, &script)[0])
    };
    let gated = "PodScheduled=False SchedulingGated Scheduling is blocked due to non-empty scheduling gates";
    assert_eq!(pending(", schedulingGates: [{name: g}]"), [gated]);
    // The first pod occupies the only node that matches.
    let waits = pending(", nodeSelector: {kubernetes.io/hostname: node-3}");
    let message = "PodScheduled=False Unschedulable 0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't match \
                   Pod's node affinity/selector. no new claims to deallocate, preemption: 0/4 nodes are available: 1 No \
                   preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.";
    assert_eq!(waits, [message]);
}
