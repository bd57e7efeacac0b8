//! Placement answers that were wrong in earlier versions: tolerations of devices, and restarts that a second fault
//! overtakes while their pods wait for a node.

use super::{POD, play, workers};
use crate::checker::Checker;
use crate::support;
use sim_analysis::metrics::RestartFold;
use sim_analysis::metrics::restarts::phases::Phase;
use sim_engine::SimulationInput;
use sim_engine::record::*;

/// The admission plugin ExtendedResourceToleration serves pods with host ports too, which another part of the scheduler
/// places.
#[test]
fn pods_with_host_ports_tolerate_the_taint_of_their_device() {
    let ports = "hostNetwork: true\n              ";
    let pod = POD.replace("image:", "ports: [{containerPort: 8471}], image:");
    let jobs = workers(2, 2, "backoffLimit: 0", &format!("{ports}containers: [{pod}]"));
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: a\nspec:\n  replicatedJobs:\n{jobs}"
    );
    let scenario = |plugin: bool| {
        format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology:\n  \
             apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  \
             extendedResourceToleration: {plugin}\n  pools:\n    - name: n-{{node}}\n      nodesPerIsland: 4\n      \
             accelerator: example.com/accelerator\n      allocatable: {{cpu: 8, example.com/accelerator: 4}}\n      \
             taints: [{{key: example.com/accelerator, value: present, effect: NoSchedule}}]\n\
             jobSets: [{{manifest: jobset.yaml}}]\nstop: {{at: 1h}}\n"
        )
    };
    let bound = |plugin: bool| {
        let scenario = support::parse(&scenario(plugin), &jobset).unwrap_or_else(|e| panic!("{e}"));
        let mut checker = Checker::new(&scenario);
        SimulationInput::new(&scenario).ok().map(|mut simulation| {
            simulation.run(1, 0, &mut checker);
            super::count(&checker.records, |b| matches!(b, Body::PodBound { .. }))
        })
    };
    assert_eq!((bound(true), bound(false)), (Some(4), None));
}

/// A node is lost and its pods wait for a repair; a second loss restarts the waiting JobSet. The first wait is for
/// capacity, in the phases and on the critical path.
#[test]
fn a_restart_that_a_second_fault_overtakes_waits_for_capacity_before_it() {
    let jobs = workers(2, 2, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let faults = "faults:\n  - {at: 600s, crashNode: {node: node-000, alias: one}}\n  \
                  - {at: 900s, deleteNode: {alias: one}}\n  - {at: 2h, crashNode: {node: node-003, alias: two}}\n  \
                  - {at: 7500s, deleteNode: {alias: two}}\n  - {at: 4h, newNode: {node: node-000}}\n  \
                  - {at: 4h, newNode: {node: node-003}}\nstop: {at: 8h}";
    let jobset = format!("spec:\n  failurePolicy: {{maxRestarts: 5}}\n  replicatedJobs:\n{jobs}");
    let (outcome, _) = play(4, faults, &jobset);
    assert_eq!(outcome.jobsets[0].restarts, 2);
    let scenario = super::scenario(4, "0s", faults, &jobset);
    let mut simulation = support::simulation(&scenario);
    let mut fold = RestartFold::new(&scenario);
    let outcome = simulation.run(1, 0, &mut fold);
    let restarts = fold.finish(&outcome, simulation.names());
    assert_eq!(restarts.len(), 1);
    let r = &restarts[0];
    let capacity = r.phases()[Phase::Capacity as usize].seconds();
    // All but two detections of 400 s each and the restarts.
    assert!(r.total().seconds() - capacity < 1000.0, "{capacity} of {}", r.total().seconds());
    let waited = |wait: TicketWait| {
        let steps = r.path.steps.iter().filter(|step| step.waited == wait);
        steps.map(|step| step.duration().seconds()).sum::<f64>()
    };
    assert!(waited(TicketWait::Unschedulable) > 12_000.0, "{}", waited(TicketWait::Unschedulable));
    assert!(waited(TicketWait::Script) < 1.0, "{}", waited(TicketWait::Script));
}

/// Objects of Kueue with a topology of hosts, and a JobSet whose Jobs each exclude other Jobs from their host.
const HOSTS: &str = "\
objects:
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Topology
  metadata: {name: hosts}
  spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ResourceFlavor
  metadata: {name: f}
  spec: {nodeLabels: {example.com/rack: rack}, topologyName: hosts}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata: {name: c}
  spec:
    namespaceSelector: {}
    resourceGroups:
    - coveredResources: [example.com/accelerator]
      flavors: [{name: f, resources: [{name: example.com/accelerator, nominalQuota: 12}]}]
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: l}, spec: {clusterQueue: c}}
";

/// The API server allows only additions to the node selector of a gated pod, and the pod webhook has already added the
/// host of the leader. The third pod, for which the assignment has another host, keeps its gate.
#[test]
fn a_topology_assignment_does_not_replace_the_node_selector_of_exclusive_placement() {
    let pod = format!("containers: [{}]", POD.replace("accelerator: 4", "accelerator: 2"));
    let jobs = workers(1, 3, "backoffLimit: 0", &pod);
    let exclusive = "  labels: {kueue.x-k8s.io/queue-name: l}\n  annotations: \
                     {alpha.jobset.sigs.k8s.io/exclusive-topology: kubernetes.io/hostname}\n";
    let jobset = format!("{exclusive}spec:\n  replicatedJobs:\n{jobs}");
    let (outcome, records) = play(3, &format!("{HOSTS}stop: {{at: 1m}}"), &jobset);
    assert_eq!(super::count(&records, |b| matches!(b, Body::PodBound { .. })), 2);
    assert_eq!(super::count(&records, |b| matches!(b, Body::PodUnschedulable { .. })), 0);
    let reason = "exclusive placement has set its node selector to kubernetes.io/hostname=node-000";
    assert!(outcome.blocked.iter().any(|why| why.contains(reason)), "{:?}", outcome.blocked);
}
