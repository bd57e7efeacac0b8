//! Pod groups in a run: a gang is scheduled as a whole or not at all, in one domain of its topology key, and preempts
//! for all its pods (kubernetes.md 2.6).

use crate::support;
use sim_engine::record::*;
use std::collections::BTreeMap;

const GATES: &str = "GenericWorkload: true, GangScheduling: true, WorkloadAwarePreemption: true";
const TOPOLOGY_GATES: &str = "GenericWorkload: true, GangScheduling: true, WorkloadAwarePreemption: true, \
                              TopologyAwareWorkloadScheduling: true";

/// The outcome of a run: texts of conditions and preemptions in order, nodes by pod, and the blocked JobSets.
struct GangRun {
    texts: Vec<String>,
    nodes: BTreeMap<String, String>,
    blocked: Vec<String>,
}

/// Runs JobSets on two racks of two nodes with 4 CPUs each. The second manifest is submitted after 10 s.
fn play(gates: &str, first: &str, second: &str) -> GangRun {
    play_with(gates, &[("jobset.yaml", first), ("other.yaml", second)], "", 1)
}

/// Runs up to three manifests, submitted after 0 s, 10 s and 20 s. `more` is added to the scenario.
fn play_with(gates: &str, files: &[(&str, &str)], more: &str, seed: u64) -> GangRun {
    let later = files.iter().enumerate().skip(1).filter(|(_, (_, text))| !text.is_empty());
    let later = later.map(|(k, (file, _))| format!(", {{manifest: {file}, submitAt: {}s}}", 10 * k));
    let later: String = later.collect();
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools: [{{name: node, count: 2, \
         nodesPerIsland: 2, allocatable: {{cpu: 4, pods: 20}}, labels: {{rack: \"r{{pool}}\"}}}}]\n\
         controlPlane: {{featureGates: {{{gates}}}}}\n\
         jobSets: [{{manifest: jobset.yaml}}{later}]\n{more}stop: {{at: 2m}}\nseed: 1\n"
    );
    let scenario = support::parse_with(&scenario, files).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    let outcome = simulation.run(seed, 0, &mut checker);
    let names = simulation.names();
    let mut pods: Vec<String> = Vec::new();
    let mut run = GangRun { texts: Vec::new(), nodes: BTreeMap::new(), blocked: outcome.blocked };
    for record in &checker.records {
        match record.body {
            Body::PodCreated { pod, job, index, .. } => {
                pods.resize(pods.len().max(pod.ix() + 1), String::new());
                pods[pod.ix()] = names.pod_base_name(job, index);
            }
            Body::PodBound { pod, node, .. } => {
                run.nodes.insert(pods[pod.ix()].clone(), names.node(node).to_owned());
            }
            Body::PodUnschedulable { pod, reason } => {
                run.texts.push(format!("{} waits: {}", pods[pod.ix()], names.text(reason)));
            }
            Body::PodDeleting { pod, by: DeletionActor::Preemption, .. } => {
                run.texts.push(format!("{} goes", pods[pod.ix()]));
            }
            Body::PodGroupCondition { group, scheduled, message, .. } => {
                run.texts.push(format!("{} {scheduled} {}", names.text(group), names.text(message)));
            }
            _ => {}
        }
    }
    run
}

/// A PodGroup and a JobSet with one Job of `pods` pods that need a node each.
fn gang(name: &str, pods: u32, min_count: u32, more: &str) -> String {
    format!(
        "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {{name: {name}}}\nspec: \
         {{schedulingPolicy: {{gang: {{minCount: {min_count}}}}}, {more}}}\n---\n{}",
        jobset(name, pods, &format!("schedulingGroup: {{podGroupName: {name}}}"))
    )
}

fn jobset(name: &str, pods: u32, more: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}}}\nspec:\n  replicatedJobs:\n  \
         - name: w\n    template:\n      spec:\n        parallelism: {pods}\n        completions: {pods}\n        \
         backoffLimit: 9\n        template:\n          spec: {{restartPolicy: Never, terminationGracePeriodSeconds: \
         1, containers: [{{name: c, image: \"x:1\", resources: {{requests: {{cpu: 3}}}}}}], {more}}}\n---\n"
    )
}

#[test]
fn a_gang_that_does_not_fit_binds_no_pod() {
    let run = play(GATES, &jobset("single", 1, ""), &gang("big", 4, 4, ""));
    assert_eq!(run.nodes.len(), 1, "{:?}", run.nodes);
    let message = "big false pod group is unschedulable, No preemption victims found for incoming preemptor";
    assert!(run.texts.iter().any(|text| text == message), "{:?}", run.texts);
    let fits = "waits: pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more \
                plugins asked to wait and no plugin rejected pod";
    assert_eq!(run.texts.iter().filter(|text| text.ends_with(fits)).count(), 3, "{:?}", run.texts);
    let rest = "waits: 0/4 nodes are available: 4 Insufficient cpu. no new claims to deallocate, preemption: not \
                eligible due to workload aware preemption enabled";
    assert_eq!(run.texts.iter().filter(|text| text.ends_with(rest)).count(), 1, "{:?}", run.texts);
}

#[test]
fn pods_of_a_gang_wait_for_the_others_to_be_created() {
    let run = play(GATES, &gang("small", 3, 4, ""), "");
    assert!(run.nodes.is_empty() && run.texts.is_empty(), "{:?} {:?}", run.nodes, run.texts);
    let why = "is Pending: waiting for minCount pods from a gang to appear in scheduling queue";
    assert!(run.blocked.iter().any(|blocked| blocked.contains(why)), "{:?}", run.blocked);
}

#[test]
fn a_pod_without_its_pod_group_stays_pending() {
    let run = play(GATES, &jobset("alone", 1, "schedulingGroup: {podGroupName: missing}"), "");
    assert!(run.nodes.is_empty(), "{:?}", run.nodes);
    let why = "is Pending: waiting for pods's pod group \"missing\" to appear in scheduling queue";
    assert!(run.blocked.iter().any(|blocked| blocked.contains(why)), "{:?}", run.blocked);
}

#[test]
fn a_gang_starts_with_min_count_pods_and_the_rest_follow_when_they_fit() {
    let run = play(GATES, &jobset("single", 1, ""), &gang("part", 4, 3, ""));
    assert_eq!(run.nodes.len(), 4, "{:?}", run.nodes);
    assert_eq!(run.texts[0], "part true ");
}

#[test]
fn without_the_feature_gates_the_pods_are_scheduled_one_by_one() {
    let run = play("", &jobset("single", 1, ""), &gang("big", 4, 4, ""));
    assert_eq!(run.nodes.len(), 4, "{:?}", run.nodes);
}

#[test]
fn a_gang_with_a_topology_key_stays_in_one_domain() {
    let constraint = "schedulingConstraints: {topology: [{key: rack}]}";
    let run = play(TOPOLOGY_GATES, &jobset("single", 1, ""), &gang("pair", 2, 2, constraint));
    let rack = |name: &str| run.nodes[name].trim_start_matches("node-").parse::<u32>().unwrap_or(99) / 2;
    assert_eq!(rack("pair-w-0-0"), rack("pair-w-0-1"), "{:?}", run.nodes);
    assert_ne!(rack("pair-w-0-0"), rack("single-w-0-0"), "{:?}", run.nodes);
    let three = play(TOPOLOGY_GATES, &gang("three", 3, 3, constraint), "");
    assert!(three.nodes.is_empty(), "{:?}", three.nodes);
    let message = "three false 0/2 placements are available, first placement status: pod group is unschedulable, \
                   workload aware preemption is not supported for pod groups with scheduling constraints";
    assert_eq!(three.texts[0], message);
}

#[test]
fn a_gang_preempts_whole_groups_of_lower_priority() {
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n---\n";
    let low = gang("low", 4, 4, "disruptionMode: PodGroup");
    let high = gang("high", 2, 2, "priorityClassName: high")
        .replace("restartPolicy", "priorityClassName: high, restartPolicy");
    let run = play(GATES, &format!("{class}{low}"), &high);
    assert_eq!(run.texts.iter().filter(|text| text.starts_with("low-w-0-") && text.ends_with("goes")).count(), 4);
    assert!(run.nodes.contains_key("high-w-0-0") && run.nodes.contains_key("high-w-0-1"), "{:?}", run.texts);
    assert!(run.texts.contains(&"high true ".to_owned()), "{:?}", run.texts);
}

#[test]
fn pods_of_a_group_that_waits_for_its_victims_keep_their_nodes_from_later_pods() {
    let high = gang("high", 2, 2, "priorityClassName: high")
        .replace("restartPolicy", "priorityClassName: high, restartPolicy");
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n---\n";
    // One of four nodes is free. The victim of the group needs 30 s to stop, and a single pod arrives meanwhile.
    let low = jobset("low", 3, "").replace("terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds: 40");
    let files = [("jobset.yaml", format!("{class}{low}")), ("other.yaml", high), ("late.yaml", jobset("late", 1, ""))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let run = play_with(GATES, &files, "containers: [{jobSet: low, stopAfter: 30s}]\n", 1);
    let gone = |text: &&String| text.ends_with(" goes");
    assert_eq!(run.texts.iter().filter(gone).count(), 1, "{:?}", run.texts);
    assert!(run.nodes.contains_key("high-w-0-0") && run.nodes.contains_key("high-w-0-1"), "{:?}", run.nodes);
    assert!(!run.nodes.contains_key("late-w-0-0"), "{:?}", run.nodes);
    assert!(run.texts.iter().any(|text| text.ends_with("waits: pod group is unschedulable")), "{:?}", run.texts);
}

#[test]
fn equal_nodes_and_the_order_of_equal_pods_differ_between_seeds() {
    let nodes = |seed: u64| {
        let run = play_with(GATES, &[("jobset.yaml", &gang("pair", 2, 2, ""))], "", seed);
        (run.nodes["pair-w-0-0"].clone(), run.nodes["pair-w-0-1"].clone())
    };
    let seen: std::collections::BTreeSet<(String, String)> = (1..=12).map(nodes).collect();
    assert!(seen.len() >= 5, "{seen:?}");
}
