//! Tests of `sim_inputs::scenario::objects`.

use serde_json::json;
use sim_api::spec::*;
use sim_inputs::SourceText;
use sim_inputs::scenario::{LoadedScenario, parse_scenario};
const HEAD: &str = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: x}\n\
    topology: {apiVersion: jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, \
    pools: [{name: node, nodesPerIsland: 1}]}\njobSets: [{manifest: js.yaml}]\n";
const JOBSET: &str = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: js}\nspec:\n  \
    replicatedJobs:\n  - name: w\n    template: {spec: {template: {spec: {nodeSelector: {rack: r}, \
    containers: [{name: c, image: 'i:1'}]}}}}\n";
const FILE: &str = "apiVersion: v1\nkind: List\nitems:\n\
    - {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}\n\
    - {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-js}, \
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n";

fn load(rest: &str) -> LoadedScenario {
    let source = SourceText { file: "x.yaml".into(), text: format!("{HEAD}{rest}") };
    let loader = |name: &str| match name {
        "js.yaml" => Ok(JOBSET.to_owned()),
        "more.yaml" => Ok(FILE.to_owned()),
        _ => Err(sim_inputs::FileTextError::NotProvided),
    };
    parse_scenario(&source, &[], &loader).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn objects_are_read_in_their_order_as_the_api_server_stores_them() {
    let loaded = load(
        "objects:\n\
         - {apiVersion: v1, kind: Node, metadata: {name: extra, labels: {rack: r}}}\n\
         - {manifest: more.yaml}\n\
         - {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: extra, readinessGates: [{conditionType: x}], \
         containers: [{name: c, image: 'i:1'}]}}\n",
    );
    let objects = &loaded.scenario.objects;
    let kinds: Vec<&str> = objects.iter().filter_map(|o| o["kind"].as_str()).collect();
    assert_eq!(kinds, ["Node", "PriorityClass", "PersistentVolumeClaim", "Pod"]);
    assert_eq!(objects[1]["preemptionPolicy"], "PreemptLowerPriority");
    assert_eq!(objects[2]["spec"]["volumeMode"], "Filesystem");
    assert_eq!(objects[3]["metadata"]["namespace"], "default");
    let pod = (loaded.scenario.decoders.pod)(&objects[3]).unwrap();
    assert_eq!(pod.template.spec.node_name.as_deref(), Some("extra"));
    assert_eq!(loaded.inputs.last().unwrap().0, "more.yaml");
    assert_eq!(loaded.unmodelled, [("Pod.spec.readinessGates".to_owned(), 1)]);
}

#[test]
fn an_action_creates_any_object_and_later_ones_may_name_it() {
    let loaded = load(
        "faults:\n\
         - {at: 9s, crashNode: {node: spare}}\n\
         - {at: 1s, create: {object: {apiVersion: v1, kind: Node, metadata: {name: spare, labels: {rack: r}}}}}\n\
         - {at: 2s, create: {object: {apiVersion: batch/v1, kind: Job, metadata: {name: own}, spec: {template: \
         {spec: {restartPolicy: Never, containers: [{name: c, image: 'i:1'}]}}}}}}\n\
         - {at: 3s, deletePod: {pod: own}}\n\
         - {at: 4s, create: {object: {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: b}, \
         spec: {replicatedJobs: []}}}}\n\
         - {at: 5s, suspendJobSet: {name: b}}\n",
    );
    let created: Vec<(ObjectName, &serde_json::Value, Option<u32>)> = loaded
        .scenario
        .faults
        .iter()
        .filter_map(|f| match &f.action {
            FaultAction::Request(UserRequest { object: name, verb: RequestVerb::Create { object, jobset } }) => {
                Some((name.clone(), object, *jobset))
            }
            _ => None,
        })
        .collect();
    let name = |kind, name: &str| ObjectName { kind, name: name.to_owned() };
    assert_eq!(created[0].0, name(ObjectKind::Node, "spare"));
    assert_eq!(created[0].1["metadata"], json!({"name": "spare", "labels": {"rack": "r"}}));
    assert_eq!(created[1].0, name(ObjectKind::Job, "own"));
    assert_eq!(created[1].1["metadata"]["namespace"], "default");
    assert_eq!((&created[2].0, created[2].2), (&name(ObjectKind::JobSet, "b"), Some(1)));
    assert_eq!(loaded.scenario.jobsets[1].submit_at, BY_SCRIPT);
    assert!(loaded.scenario.objects.is_empty());
}
