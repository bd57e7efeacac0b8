//! The JobSet manager's pod reconciler (EXC-12 to EXC-16): its deletions, its rejected requests, and the requests
//! that it does not send.

use crate::regressions::{POD, count, play, workers};
use sim_engine::record::*;

const STRATEGY_A: &str = "  annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}";

/// Runs a JobSet whose leader's nodes change their rack label at 20 s; the leader is patched at 30 s.
fn relabelled(plane: &str) -> (RunOutcome, Vec<SimulationRecord>) {
    relabelled_to("other", plane)
}

fn relabelled_to(rack: &str, plane: &str) -> (RunOutcome, Vec<SimulationRecord>) {
    let pod = format!("containers: [{POD}]");
    let jobs = workers(1, 3, "backoffLimit: 6", &pod);
    let renamed = |node: u32| {
        format!(
            "  - {{at: 20s, patch: {{kind: Node, name: node-00{node}, merge: {{metadata: {{labels: \
             {{example.com/rack: {rack}}}}}}}}}}}\n"
        )
    };
    let nodes: String = (0..3).map(renamed).collect();
    play(
        3,
        &format!(
            "controlPlane: {plane}\nfaults:\n{nodes}  - {{at: 30s, patch: {{kind: Pod, name: a-w-0-0, merge: \
             {{metadata: {{annotations: {{example.com/poke: \"1\"}}}}}}}}}}\nstop: {{at: 1h}}"
        ),
        &format!("{STRATEGY_A}\nspec:\n  replicatedJobs:\n{jobs}"),
    )
}

fn deletion_count(records: &[SimulationRecord]) -> usize {
    count(records, |b| {
        let by = DeletionActor::JobSetManager;
        matches!(b, Body::PodDeleting { by: who, .. } if *who == by)
    })
}

/// Returns the responses to the manager's requests for pods: verb, resource, code, count.
fn pod_request_responses(outcome: &RunOutcome) -> Vec<(&str, &str, &str, u64)> {
    let requests = outcome.requests.iter();
    let pods = requests.filter(|r| r.client == "jobset" && r.resource.starts_with("pods"));
    pods.map(|r| (r.verb, r.resource, r.code, r.count)).collect()
}

#[test]
fn with_the_role_every_follower_of_a_leader_elsewhere_is_deleted_once_and_replaced() {
    let (outcome, records) = relabelled("{jobsetManager: {mayWritePodStatus: true}}");
    assert_eq!(deletion_count(&records), 2, "both followers and not the leader must be deleted");
    let request = pod_request_responses(&outcome);
    assert_eq!(request, [("update", "pods/status", "", 2), ("delete", "pods", "", 2)]);
    let created = count(&records, |b| matches!(b, Body::PodCreated { .. }));
    assert_eq!(created, 5, "{:?}", outcome.blocked);
    assert_eq!(outcome.end_reason, EndReason::Settled);
}

/// EXC-13: the pass ends with an error, and no pod is deleted.
#[test]
fn a_leaders_node_without_the_label_has_no_follower_deleted() {
    let (_, records) = relabelled_to("null", "{jobsetManager: {mayWritePodStatus: true}}");
    assert_eq!(deletion_count(&records), 0);
}

/// EXC-16b: `config/components/rbac/role.yaml` does not grant `pods/status`, so the reconciler keeps retrying.
#[test]
fn with_upstreams_role_the_condition_is_rejected_and_nothing_is_deleted() {
    let (outcome, records) = relabelled("{}");
    assert_eq!(deletion_count(&records), 0);
    let request = pod_request_responses(&outcome);
    assert!(matches!(request[..], [("update", "pods/status", "403", 2..)]), "{request:?}");
    assert_eq!(outcome.end_reason, EndReason::Settled);
    let end_s = outcome.end.since(Default::default()).seconds();
    assert!(end_s < 60.0, "rejected retries must not prolong the run: {end_s} s");
}

/// EXC-16a, jobset PR 1269: the check returns an error before any request.
#[test]
fn jobset_0_12_errs_before_it_asks_for_anything() {
    let (outcome, records) = relabelled("{jobset: \"0.12\"}");
    assert_eq!(deletion_count(&records), 0);
    assert_eq!(pod_request_responses(&outcome), []);
}

/// EXC-16c, `c-rbac-exc16c-node-selector`: followers that use the label of the node selector strategy count as
/// violations.
#[test]
fn with_the_role_followers_of_the_node_selector_strategy_go_at_the_leaders_first_event() {
    let pod = format!("containers: [{POD}]");
    let jobs = workers(1, 3, "backoffLimit: 6", &pod);
    let annotations = STRATEGY_A.replace('}', ", alpha.jobset.sigs.k8s.io/node-selector: \"true\"}");
    let node = |n: u32| {
        format!(
            "  - {{apiVersion: v1, kind: Node, metadata: {{name: ours-{n}, labels: {{example.com/rack: ours, \
             alpha.jobset.sigs.k8s.io/namespaced-job: default_a-w-0}}}}, status: {{allocatable: \
             {{pods: 10, example.com/accelerator: 4}}}}}}\n"
        )
    };
    let nodes: String = (0..3).map(node).collect();
    let (_, records) = play(
        3,
        &format!("controlPlane: {{jobsetManager: {{mayWritePodStatus: true}}}}\nobjects:\n{nodes}stop: {{at: 1h}}"),
        &format!("{annotations}\nspec:\n  replicatedJobs:\n{jobs}"),
    );
    assert_eq!(deletion_count(&records), 2);
}
