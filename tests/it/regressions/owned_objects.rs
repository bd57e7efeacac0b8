//! Services and PersistentVolumeClaims of a JobSet: their deletion marks, their finalizers, and their deletion with
//! the JobSet.

use super::finalizers::at_seconds;
use super::wrong_results::responses;
use super::{POD, count, play, workers};
use sim_base::SimTime;
use sim_engine::record::*;

const CLAIMS: &str = "  volumeClaimPolicies:\n  - templates: [{metadata: {name: kept}, spec: {accessModes: \
     [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n    retentionPolicy: {whenDeleted: Retain}\n  \
     - templates: [{metadata: {name: own}, spec: {accessModes: [ReadWriteOnce], resources: {requests: \
     {storage: 1Gi}}}}]\n    retentionPolicy: {whenDeleted: Delete}\n";

pub fn claim_jobset() -> String {
    let mounts = POD
        .replace("resources:", "volumeMounts: [{name: own, mountPath: /a}, {name: kept, mountPath: /b}], resources:");
    let jobs = workers(1, 1, "", &format!("containers: [{mounts}]"));
    format!("spec:\n{CLAIMS}  replicatedJobs:\n{jobs}")
}

fn show(at: &str, kind: &str, name: &str) -> String {
    format!("  - {{at: {at}, show: {{kind: {kind}, name: {name}, fields: [metadata.deletionTimestamp]}}}}\n")
}

#[test]
fn a_claim_that_a_finalizer_keeps_is_marked_and_goes_when_it_is_off() {
    let name = "kept-a";
    let kind = "PersistentVolumeClaim";
    let patch = |at: &str, finalizers: &str| {
        format!(
            "  - {{at: {at}, patch: {{kind: {kind}, name: {name}, \
             merge: {{metadata: {{finalizers: {finalizers}}}}}}}}}\n"
        )
    };
    let script = [
        patch("20s", "[example.com/hold]"),
        format!("  - {{at: 30s, delete: {{kind: {kind}, name: {name}}}}}\n"),
        show("40s", kind, name),
        patch("50s", "null"),
        show("60s", kind, name),
    ];
    let rest = format!("faults:\n{}stop: {{at: 2m, when: Time}}", script.concat());
    let output = responses(1, &rest, &claim_jobset());
    let printed: Vec<&str> = output.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(printed[2], "{\"metadata.deletionTimestamp\":\"1970-01-01T00:00:30Z\"}");
    assert_eq!(printed[4], "persistentvolumeclaims \"kept-a\" not found");
}

/// The finalizer kubernetes.io/pvc-protection: a bound pod keeps its claims, and no other pod can use a claim that
/// is being deleted.
#[test]
fn a_claim_that_a_pod_mounts_is_marked_and_goes_with_the_pod() {
    let claim = "PersistentVolumeClaim";
    let script = [
        format!("  - {{at: 30s, delete: {{kind: {claim}, name: kept-a}}}}\n"),
        show("40s", claim, "kept-a"),
        "  - {at: 50s, suspendJobSet: {name: a}}\n".to_owned(),
        show("60s", claim, "kept-a"),
    ];
    let rest = format!("faults:\n{}stop: {{at: 2m, when: Time}}", script.concat());
    let output = responses(1, &rest, &claim_jobset());
    let printed: Vec<&str> = output.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(printed[1], "{\"metadata.deletionTimestamp\":\"1970-01-01T00:00:30Z\"}");
    assert_eq!(printed[2], "persistentvolumeclaims \"kept-a\" not found");
    let script = format!(
        "  - {{at: 30s, delete: {{kind: {claim}, name: own-a}}}}\n  \
         - {{at: 40s, delete: {{kind: Pod, name: a-w-0-0}}}}\n"
    );
    let slow = "containers: [{stopAfter: 20s}]\n";
    let rest = format!("{slow}faults:\n{script}stop: {{at: 2m, when: Time}}");
    let (_, records) = play(2, &rest, &claim_jobset());
    let unschedulable = count(&records, |b| matches!(b, Body::PodUnschedulable { .. }));
    assert!(unschedulable > 0, "the new pod was bound although its claim is being deleted");
}

/// Every object that a JobSet owns blocks its foreground deletion, not only Jobs.
#[test]
fn a_jobset_that_is_deleted_in_the_foreground_waits_for_its_service_as_well() {
    let hold = |at: &str, finalizers: &str| {
        format!(
            "  - {{at: {at}, patch: {{kind: Service, name: a, merge: {{metadata: {{finalizers: {finalizers}}}}}}}}}\n"
        )
    };
    let delete = "  - {at: 60s, delete: {kind: JobSet, name: a, propagation: Foreground}}\n";
    let held = format!("faults:\n{}{delete}stop: {{at: 10m}}", hold("30s", "[example.com/hold]"));
    let (outcome, _) = play(1, &held, &claim_jobset());
    assert_eq!(
        outcome.blocked,
        ["JobSet a is not ready: Service a is being deleted, but no modelled controller removes its finalizers"]
    );
    let freed = held.replace("stop:", &format!("{}stop:", hold("2m", "null")));
    let (outcome, records) = play(1, &freed, &claim_jobset());
    assert_eq!(outcome.blocked, Vec::<String>::new());
    let gone = at_seconds(&records, |b| matches!(b, Body::JobSetDeleted { .. }));
    assert_eq!(gone, [120]);
}

/// A request in flight still creates its object. Its owner is deleting or deleted, so the garbage collector deletes
/// the object.
#[test]
fn nothing_owned_outlives_a_jobset_that_is_deleted_while_it_is_being_created() {
    for propagation in ["Foreground", "Background"] {
        for at in 0..24 {
            let script = [
                format!("  - {{at: {at}s, delete: {{kind: JobSet, name: a, propagation: {propagation}}}}}\n"),
                show("5m", "JobSet", "a"),
                show("5m", "Service", "a"),
                show("5m", "PersistentVolumeClaim", "own-a"),
                show("5m", "Job", "a-w-0"),
            ];
            let slow = "timing: {apiWrite: 3s}\n";
            let rest = format!("{slow}faults:\n{}stop: {{at: 10m, when: Time}}", script.concat());
            let text = responses(1, &rest, &claim_jobset());
            let left = text[1..].iter().filter(|(_, s)| !s.ends_with("not found"));
            assert_eq!(left.collect::<Vec<_>>(), Vec::<&(SimTime, String)>::new(), "{propagation}, {at} s");
        }
    }
}

/// SVC-1, PVC-1: objects that the JobSet owns are deleted with it; retained claims have no owner.
#[test]
fn service_and_claims_of_a_jobset_go_with_it_and_retained_claims_stay() {
    let claim = "PersistentVolumeClaim";
    let shows = |at: &str| [show(at, "Service", "a"), show(at, claim, "own-a"), show(at, claim, "kept-a")].concat();
    let there = "{\"metadata.deletionTimestamp\":null}";
    for (how, left) in [
        ("Background", ["services \"a\" not found", "persistentvolumeclaims \"own-a\" not found", there]),
        ("Foreground", ["services \"a\" not found", "persistentvolumeclaims \"own-a\" not found", there]),
        ("Orphan", [there, there, there]),
    ] {
        let delete = format!("  - {{at: 60s, delete: {{kind: JobSet, name: a, propagation: {how}}}}}\n");
        let rest = format!("faults:\n{}{delete}{}stop: {{at: 2m, when: Time}}", shows("30s"), shows("90s"));
        let output = responses(1, &rest, &claim_jobset());
        let printed: Vec<&str> = output.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(printed[..3], [there, there, there], "{how}");
        assert_eq!(printed[4..], left, "{how}");
    }
}

/// A deletion with propagation Orphan removes the references of what remains.
#[test]
fn what_an_orphaning_deletion_leaves_has_no_owner_reference() {
    let show = |at: u32, kind: &str, name: &str| {
        format!("  - {{at: {at}s, show: {{kind: {kind}, name: {name}, fields: [metadata.ownerReferences]}}}}\n")
    };
    let delete = |at: u32, kind: &str, name: &str| {
        format!("  - {{at: {at}s, delete: {{kind: {kind}, name: {name}, propagation: Orphan}}}}\n")
    };
    let script = [
        show(30, "Job", "a-w-0"),
        delete(40, "JobSet", "a"),
        show(50, "Job", "a-w-0"),
        show(50, "Service", "a"),
        show(50, "Pod", "a-w-0-0"),
        delete(60, "Job", "a-w-0"),
        show(70, "Pod", "a-w-0-0"),
    ];
    let rest = format!("faults:\n{}stop: {{at: 2m, when: Time}}", script.concat());
    let output = responses(1, &rest, &claim_jobset());
    let shown: Vec<&str> = output.iter().map(|(_, text)| text.as_str()).filter(|text| text.starts_with('{')).collect();
    let none = "{\"metadata.ownerReferences\":null}";
    assert!(shown[0].contains("\"kind\":\"JobSet\""), "{shown:?}");
    assert_eq!(shown[1..3], [none, none]);
    assert!(shown[3].contains("\"kind\":\"Job\""), "{shown:?}");
    assert_eq!(shown[4..], [none]);
}
