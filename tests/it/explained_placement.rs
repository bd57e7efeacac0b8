//! Explanations of pods without a node: what each plugin rejects per topology domain, and the smallest change that
//! admits the pod. Each change is checked by a run with it.

use crate::support;
use sim_engine::record::{KeepSink, PendingPods};

/// Two racks of two nodes, and a tainted rack of two smaller nodes.
fn run(jobset: &str, taint: &str) -> Vec<PendingPods> {
    let pool = "nodesPerIsland: 2, labels: {rack: \"r{pool}\"}, allocatable: {cpu: 4, memory: 16Gi, pods: 9}";
    let spare = "nodesPerIsland: 2, labels: {rack: spare}, allocatable: {cpu: 3, memory: 16Gi, pods: 9}";
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools: [{{name: node, count: 2, \
         {pool}}}, {{name: spare, {spare}, taints: [{taint}]}}]\njobSets: [{{manifest: jobset.yaml}}]\n\
         stop: {{at: 2m}}\nseed: 1\n"
    );
    let mut scenario = support::parse(&scenario, jobset).unwrap_or_else(|e| panic!("{e}"));
    scenario.admit_unplaceable = true;
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    simulation.set_explains_placement(true);
    simulation.run(1, 0, &mut KeepSink::default()).pending
}

const TAINT: &str = "{key: spare, value: \"true\", effect: NoSchedule}";

/// A JobSet of `jobs` Jobs with two pods each; `metadata` and `pod` are further fields.
fn jobset(jobs: u32, metadata: &str, requests: &str, pod: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js{metadata}}}\nspec:\n  \
         replicatedJobs:\n  - name: w\n    replicas: {jobs}\n    template:\n      spec:\n        parallelism: 2\n        \
         completions: 2\n        template: {{spec: {{containers: [{{name: c, image: \"x:1\", resources: {{requests: \
         {{{requests}}}}}}}]{pod}}}}}\n"
    )
}

/// Returns the steps of the smallest change and the number of nodes on which the pods then fit.
fn change(pending: &[PendingPods]) -> (Vec<&str>, usize) {
    let [group] = pending else { panic!("{pending:?}") };
    let change = group.explanation.change.as_ref().expect("a change");
    (change.steps.iter().map(String::as_str).collect(), change.nodes.len())
}

/// Returns rows of plugin, reason and nodes by domain.
fn rows(pending: &[PendingPods]) -> Vec<String> {
    let row = |row: &sim_engine::record::RejectedNodes| {
        let domains = row.domains.iter().map(|(name, n)| format!("{name}={n}"));
        format!("{}: {} [{}]", row.plugin.name(), row.reason, domains.collect::<Vec<_>>().join(" "))
    };
    pending.iter().flat_map(|group| group.explanation.rejected.iter().map(row)).collect()
}

#[test]
fn a_missing_toleration_is_the_smallest_change_and_admits_the_pods() {
    let pending = run(&jobset(3, "", "cpu: 3", ""), TAINT);
    assert_eq!(
        rows(&pending),
        [
            "TaintToleration: node(s) had untolerated taint(s) [spare=2]",
            "NodeResourcesFit: Insufficient cpu [r0=2 r1=2]",
        ]
    );
    assert_eq!(
        change(&pending),
        (vec!["add the toleration {key: spare, value: true, effect: NoSchedule} to the pod"], 2)
    );
    let toleration = ", tolerations: [{key: spare, value: \"true\", effect: NoSchedule}]";
    assert_eq!(run(&jobset(3, "", "cpu: 3", toleration), TAINT).len(), 0);
}

#[test]
fn a_missing_label_and_a_missing_amount_are_named() {
    let pending = run(&jobset(1, "", "cpu: 3", ", nodeSelector: {rack: r7}"), TAINT);
    assert_eq!(change(&pending), (vec!["label the node rack=r7"], 4));
    let pending = run(&jobset(1, "", "cpu: 6, memory: 20Gi", ""), TAINT);
    let lower = "request at most 4 of cpu instead of 6 and 16Gi of memory instead of 20Gi";
    assert_eq!(change(&pending), (vec![lower], 4));
    assert_eq!(run(&jobset(1, "", "cpu: 4, memory: 16Gi", ""), TAINT).len(), 0);
    // The nodes with the least missing amount count.
    let pending =
        run(&jobset(3, "", "cpu: 3", ""), "{key: spare, effect: NoSchedule}, {key: other, effect: NoExecute}");
    assert_eq!(change(&pending), (vec!["free 2 of cpu on the node"], 4));
}

#[test]
fn a_leader_without_a_free_domain_is_explained_by_the_pods_in_each_domain() {
    let exclusive = ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}";
    let pending = run(&jobset(3, exclusive, "cpu: 4", ""), TAINT);
    assert_eq!(
        rows(&pending),
        [
            "TaintToleration: node(s) had untolerated taint(s) [spare=2]",
            "NodeResourcesFit: Insufficient cpu [r0=2 r1=2 spare=2]",
            "InterPodAffinity: node(s) didn't match pod anti-affinity rules [r0=2 r1=2]",
        ]
    );
    // The pods that have to go free the amounts too.
    let (steps, nodes) = change(&pending);
    assert!(steps.len() == 1 && steps[0].starts_with("remove 2 pods from rack=r"), "{steps:?}");
    assert_eq!(nodes, 2);
}

/// An empty term matches no node, so that no label of a node helps.
#[test]
fn empty_terms_of_a_node_affinity_are_named() {
    let affinity = |terms: &str| {
        format!(
            ", affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: \
             [{terms}]}}}}}}"
        )
    };
    let other = "{}, {matchExpressions: [{key: rack, operator: In, values: [r9]}]}";
    for (terms, step) in [("{}", "an empty term matches no node"), (other, "label the node rack=r9")] {
        let pending = run(&jobset(1, "", "cpu: 1", &affinity(terms)), TAINT);
        let (steps, nodes) = change(&pending);
        assert!(steps.len() == 1 && steps[0].contains(step) && nodes >= 4, "{terms}: {steps:?} {nodes}");
    }
}
