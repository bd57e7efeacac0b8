//! Claims, volumes and StorageClasses in runs: when claims are bound, and the nodes of the pods that use them.

use crate::support;
use sim_engine::record::*;

/// Two nodes in each of the zones a and b, and a JobSet with a claim of the class `disk`.
fn scenario(objects: &str, rest: &str) -> String {
    format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: zones}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: zones}}\n  pools:\n{}{}jobSets: [{{manifest: \
         jobset.yaml}}]\nobjects:\n{objects}{rest}\nseed: 1\n",
        pool("a"),
        pool("b"),
    )
}

fn pool(zone: &str) -> String {
    format!(
        "  - {{name: '{zone}-{{node}}', nodesPerIsland: 2, allocatable: {{cpu: 4, pods: 20}}, labels: \
         {{topology.kubernetes.io/zone: {zone}}}}}\n"
    )
}

const JOBSET: &str = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: js}\nspec:\n  failurePolicy: \
    {maxRestarts: 3}\n  volumeClaimPolicies: [{templates: [{metadata: {name: data}, spec: {accessModes: \
    [ReadWriteOnce], storageClassName: disk, resources: {requests: {storage: 5Gi}}}}]}]\n  replicatedJobs:\n  \
    - name: w\n    template:\n      spec:\n        backoffLimit: 0\n        template:\n          spec: {containers: \
    [{name: c, image: \"x:1\", resources: {requests: {cpu: 3}}, volumeMounts: [{name: data, mountPath: /d}]}]}\n";

fn class(provisioner: &str, more: &str) -> String {
    format!(
        "- {{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: disk}}, provisioner: \
         {provisioner}, {more}}}\n"
    )
}

const LATE: &str = "volumeBindingMode: WaitForFirstConsumer";
const ZONES: &str =
    "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a, b]}]}]";

/// Returns the events of a run, each with its time in tenths of a second: messages of failed attempts, nodes of bound
/// pods, and responses to the script.
fn play(scenario: &str) -> Vec<(u64, String)> {
    let scenario = support::parse_with(scenario, &[("jobset.yaml", JOBSET)]).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let texts = checker.records.iter().filter_map(|record| {
        let text = match record.body {
            Body::PodUnschedulable { reason, .. } => names.text(reason).to_owned(),
            Body::PodBound { node, .. } => format!("on {}", names.node(node)),
            Body::Answered { answer, .. } => names.text(answer).to_owned(),
            _ => return None,
        };
        Some(((record.at.seconds() * 10.0) as u64, text))
    });
    texts.collect()
}

fn texts(events: &[(u64, String)]) -> Vec<&str> {
    events.iter().map(|(_, text)| text.as_str()).collect()
}

fn show(at: &str, kind: &str, name: &str, fields: &str) -> String {
    format!("  - {{at: {at}, show: {{kind: {kind}, name: {name}, fields: [{fields}]}}}}\n")
}

/// The volume is created in the zone of the first pod. After a failure of both nodes of the zone, no other node is
/// possible.
#[test]
fn a_provisioned_volume_keeps_later_pods_in_its_zone() {
    let script = format!(
        "faults:\n{}{}  - {{at: 30s, cordonNode: {{node: a-0}}}}\n  - {{at: 30s, cordonNode: {{node: a-1}}}}\n  - \
         {{at: 40s, containerExit: {{pod: js-w-0-0, exitCode: 1}}}}\n  - {{at: 90s, uncordonNode: {{node: a-1}}}}\nstop: {{at: 3m}}",
        show("20s", "PersistentVolumeClaim", "data-js", "spec.volumeName, status.phase"),
        show("20s", "PersistentVolume", "pvc-default-data-js", "spec.claimRef.name, status.phase"),
    );
    let cordoned = "  - {at: 0s, cordonNode: {node: b-0}}\n  - {at: 0s, cordonNode: {node: b-1}}\n  - {at: 25s, \
                    uncordonNode: {node: b-0}}\n";
    let script = script.replacen("faults:\n", &format!("faults:\n{cordoned}"), 1);
    let events = play(&scenario(&class("csi.example.com", &format!("{LATE}, {ZONES}")), &script));
    let (at, first) = &events[0];
    assert!(first.starts_with("on a-"), "{events:?}");
    assert!(*at >= 10, "the scheduler checks the volumes after one second: {events:?}");
    assert!(texts(&events)[1].contains("\"status.phase\":\"Bound\""), "{events:?}");
    assert_eq!(texts(&events)[2], "{\"spec.claimRef.name\":\"data-js\",\"status.phase\":\"Bound\"}");
    let waits = "0/4 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 3 node(s) were \
                 unschedulable. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not \
                 helpful for scheduling.";
    assert_eq!(texts(&events)[3], waits);
    assert_eq!(texts(&events).last(), Some(&"on a-1"));
}

#[test]
fn a_pod_waits_for_a_volume_of_its_claim() {
    let volume = |name: &str, size: &str| {
        format!(
            "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}}}, spec: {{capacity: {{storage: {size}}}, \
             accessModes: [ReadWriteOnce], storageClassName: disk, hostPath: {{path: /d}}}}}}"
        )
    };
    let script = |fields: &str| {
        format!(
            "faults:\n  - {{at: 30s, create: {{object: {}}}}}\n  - {{at: 60s, create: {{object: {}}}}}\n{}stop: {{at: 2m}}",
            volume("small", "1Gi"),
            volume("large", "9Gi"),
            show("90s", "PersistentVolumeClaim", "data-js", fields),
        )
    };
    let manual = "kubernetes.io/no-provisioner";
    let unbound = "0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found";
    let events = play(&scenario(&class(manual, "volumeBindingMode: Immediate"), &script("spec.volumeName")));
    assert_eq!(texts(&events)[0], unbound);
    assert!(texts(&events).contains(&"{\"spec.volumeName\":\"large\"}"), "{events:?}");
    let bound = events.iter().find(|(_, text)| text.starts_with("on ")).map(|(at, _)| *at);
    assert!(bound.is_some_and(|at| (600..610).contains(&at)), "{events:?}");
    let late = play(&scenario(&class(manual, LATE), &script("status.phase")));
    assert!(texts(&late)[0].contains("4 node(s) didn't find available persistent volumes to bind."), "{late:?}");
    let bound = late.iter().find(|(_, text)| text.starts_with("on ")).map(|(at, _)| *at);
    assert!(bound.is_some_and(|at| (610..630).contains(&at)), "{late:?}");
}

#[test]
fn a_volume_is_deleted_or_released_with_its_claim() {
    for (policy, expected) in
        [("Delete", "persistentvolumes \"pvc-default-other\" not found"), ("Retain", "{\"status.phase\":\"Released\"}")]
    {
        let claim = "- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: other}, spec: {accessModes: \
                     [ReadWriteOnce], storageClassName: disk, resources: {requests: {storage: 1Gi}}}}\n";
        let name = "pvc-default-other";
        let script = format!(
            "faults:\n{}  - {{at: 20s, delete: {{kind: PersistentVolumeClaim, name: other}}}}\n{}stop: {{at: 60s}}",
            show("10s", "PersistentVolume", name, "status.phase"),
            show("30s", "PersistentVolume", name, "status.phase"),
        );
        let class = class("csi.example.com", &format!("reclaimPolicy: {policy}"));
        let events = play(&scenario(&(class + claim), &script));
        let answers: Vec<&str> = texts(&events).into_iter().filter(|text| !text.starts_with("on ")).collect();
        assert_eq!(answers, ["{\"status.phase\":\"Bound\"}", "", expected]);
    }
}

#[test]
fn a_bound_volume_is_removed_only_with_its_claim() {
    let (claim, volume) = ("data-js", "pvc-default-data-js");
    let script = format!(
        "faults:\n  - {{at: 20s, delete: {{kind: PersistentVolume, name: {volume}}}}}\n{}{}  - {{at: 40s, \
         suspendJobSet: {{name: js}}}}\n  - {{at: 100s, delete: {{kind: PersistentVolumeClaim, name: {claim}}}}}\n{}stop: \
         {{at: 3m, when: Time}}",
        show("30s", "PersistentVolume", volume, "metadata.deletionTimestamp, status.phase"),
        show("30s", "PersistentVolumeClaim", claim, "status.phase"),
        show("110s", "PersistentVolume", volume, "status.phase"),
    );
    let events = play(&scenario(&class("csi.example.com", "reclaimPolicy: Retain"), &script));
    let answers: Vec<&str> = texts(&events).into_iter().filter(|text| text.starts_with(['{', 'p'])).collect();
    let marked = "{\"metadata.deletionTimestamp\":\"1970-01-01T00:00:20Z\",\"status.phase\":\"Bound\"}";
    let gone = "persistentvolumes \"pvc-default-data-js\" not found";
    assert_eq!(answers, [marked, "{\"status.phase\":\"Bound\"}", gone], "{events:?}");
}

/// Without StorageClasses and volumes among the inputs, claims are assumed to be bound, and other claims to exist.
#[test]
fn claims_are_assumed_to_be_bound_unless_classes_or_volumes_are_listed() {
    let namespace = "- {apiVersion: v1, kind: Namespace, metadata: {name: other}}\n";
    let events = play(&scenario(namespace, "stop: {at: 60s}"));
    assert!(events[0].1.starts_with("on "), "{events:?}");
    let other = class("csi.example.com", "volumeBindingMode: Immediate").replace("name: disk", "name: other");
    let events = play(&scenario(&other, "stop: {at: 60s}"));
    assert!(events[0].1.contains("pod has unbound immediate PersistentVolumeClaims"), "{events:?}");
}
