//! The scheduling queue, the Events of failed attempts, and the profiles of kube-scheduler.

use crate::support;
use sim_api::spec::ScenarioSpec;
use sim_engine::record::*;

/// Returns a scenario of a JobSet on two blue and two red nodes with eight CPUs each.
fn scenario(replicated_jobs: &[String], more: &str) -> Result<ScenarioSpec, String> {
    let pool = |color: &str| {
        format!(
            "  - {{name: '{color}-{{node}}', nodesPerIsland: 2, allocatable: {{cpu: 8}}, labels: {{color: {color}}}}}\n"
        )
    };
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools:\n{}{}\
         jobSets: [{{manifest: jobset.yaml}}]\n{more}\nseed: 1\n",
        pool("blue"),
        pool("red"),
    );
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js}}\nspec:\n  replicatedJobs:\n{}",
        replicated_jobs.concat()
    );
    support::parse(&text, &jobset)
}

/// A replicatedJob whose pods request CPUs, with more fields of the pod spec.
fn job(name: &str, pods: u32, cpu: u32, spec: &str) -> String {
    format!(
        "  - name: {name}\n    template:\n      spec:\n        parallelism: {pods}\n        completions: {pods}\n        \
         template:\n          spec:\n            {spec}\n            \
         containers: [{{name: c, image: 'i:1', resources: {{requests: {{cpu: {cpu}}}}}}}]\n"
    )
}

struct Played {
    /// Number of pods by node.
    nodes: Vec<(String, usize)>,
    /// Time in whole seconds, pod and message of each FailedScheduling Event.
    failures: Vec<(u64, String, String)>,
    blocked: Vec<String>,
}

fn play(scenario: &ScenarioSpec) -> Played {
    let mut simulation = support::simulation(scenario);
    simulation.set_paranoid(true);
    let mut keep = KeepSink::default();
    let outcome = simulation.run(1, 0, &mut keep);
    let names = simulation.names();
    let mut played = Played { nodes: Vec::new(), failures: Vec::new(), blocked: outcome.blocked };
    let mut pods = std::collections::BTreeMap::new();
    for record in &keep.0 {
        match record.body {
            Body::PodCreated { pod, job, index, .. } => drop(pods.insert(pod, names.pod_base_name(job, index))),
            Body::PodBound { node, .. } => {
                let name = names.node(node).to_owned();
                match played.nodes.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, count)) => *count += 1,
                    None => played.nodes.push((name, 1)),
                }
            }
            Body::PodUnschedulable { pod, reason } => {
                let at = record.at.seconds() as u64;
                played.failures.push((at, pods[&pod].clone(), names.text(reason).to_owned()));
            }
            _ => {}
        }
    }
    played
}

/// The pods that finish on blue nodes do not help a pod that only cordoned red nodes could run.
#[test]
fn a_pod_is_retried_only_after_an_event_that_may_help() {
    let jobs = [job("a", 2, 1, "nodeSelector: {color: blue}"), job("b", 1, 1, "nodeSelector: {color: red}")];
    let more = "containers: [{replicatedJob: a, runFor: 20s}]\nfaults:\n  - {at: 0s, cordonNode: {node: red-0}}\n  \
                - {at: 0s, cordonNode: {node: red-1}}\n  - {at: 60s, uncordonNode: {node: red-1}}\nstop: {at: 3m}";
    let played = play(&scenario(&jobs, more).unwrap_or_else(|e| panic!("{e}")));
    let reason = "0/4 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, 2 node(s) were \
                  unschedulable. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is \
                  not helpful for scheduling.";
    let first = played.failures.first().map(|(_, pod, message)| (pod.as_str(), message.as_str()));
    assert_eq!(first, Some(("js-b-0-0", reason)));
    let before: Vec<&(u64, String, String)> = played.failures.iter().filter(|(at, ..)| *at < 60).collect();
    assert_eq!(before.len(), 1, "{:?}", played.failures);
    assert!(played.nodes.contains(&("red-1".to_owned(), 1)), "{:?}", played.nodes);
}

/// Receives the Events that are stored.
#[derive(Default)]
struct StoredEvents(Vec<String>);

impl RecordSink for StoredEvents {
    fn record(&mut self, _: &SimulationRecord, _: &RecordNames) {}

    fn receives_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: &StoredEvent) {
        self.0.push(format!("{} {}: {}", event.object, event.reason, event.message));
    }
}

/// A pod keeps its object until the Job controller removes the finalizer; the scheduler meets it in its queue
/// (`skipPodSchedule`).
#[test]
fn a_queued_pod_that_is_being_deleted_is_skipped_with_an_event() {
    let more = "timing: {schedulerFixed: 1s}\nfaults:\n  - {at: 1500ms, deletePod: {pod: js-a-0-2}}\n\
                stop: {at: 20s}";
    let scenario = scenario(&[job("a", 3, 1, "priority: 0")], more).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    let mut stored = StoredEvents::default();
    simulation.run(1, 0, &mut stored);
    let skipped = stored.0.iter().filter(|event| event.contains("FailedScheduling"));
    let skipped: Vec<&str> = skipped.filter_map(|event| event.split_once(": ")).map(|(_, message)| message).collect();
    assert_eq!(skipped.len(), 1, "{:?}", stored.0);
    assert!(skipped[0].starts_with("skip schedule deleting pod: default/js-a-0-2-"), "{skipped:?}");
}

/// Each pod that finishes may help the waiting pod, which needs a whole node: every failed attempt has its Event.
#[test]
fn every_failed_attempt_of_a_pod_has_an_event() {
    let in_order = "  startupPolicy: {startupPolicyOrder: InOrder}\n".to_owned();
    let on_blue = |name: &str, pods: u32, cpu: u32| job(name, pods, cpu, "nodeSelector: {color: blue}");
    let jobs = [on_blue("a", 4, 2), on_blue("b", 1, 8), in_order];
    let runs = (0..4).map(|n| format!("  - {{replicatedJob: a, podIndex: {n}, runFor: {}s}}\n", 20 * (n + 1)));
    let more = format!("containers:\n{}stop: {{at: 3m}}", runs.collect::<String>());
    let played = play(&scenario(&jobs, &more).unwrap_or_else(|e| panic!("{e}")));
    let of_b: Vec<&str> = played.failures.iter().map(|(_, pod, _)| pod.as_str()).collect();
    assert!(of_b.len() > 1 && of_b.iter().all(|pod| *pod == "js-b-0-0"), "{:?}", played.failures);
    assert!(played.failures.windows(2).any(|pair| pair[0].2 == pair[1].2), "equal messages: {:?}", played.failures);
}

/// The deletion of a node helps no pod, but the message of the next attempt, after 5 minutes, counts one node less.
#[test]
fn a_waiting_pod_is_retried_after_five_minutes() {
    let jobs = [job("b", 1, 1, "nodeSelector: {color: red}")];
    let more = "faults:\n  - {at: 0s, cordonNode: {node: red-0}}\n  - {at: 0s, cordonNode: {node: red-1}}\n  \
                - {at: 100s, deleteNode: {node: blue-0}}\nstop: {at: 30m}";
    let played = play(&scenario(&jobs, more).unwrap_or_else(|e| panic!("{e}")));
    let times: Vec<(u64, &str)> = played.failures.iter().map(|(at, _, message)| (*at, &message[..3])).collect();
    assert_eq!(times.len(), 2, "{times:?}");
    assert!(times[0].0 < 5 && times[0].1 == "0/4", "{times:?}");
    assert!((330..335).contains(&times[1].0) && times[1].1 == "0/3", "{times:?}");
    assert!(played.blocked[0].contains("js-b-0-0"), "{:?}", played.blocked);
}

const CONFIGURATION: &str = "objects:\n  - apiVersion: kubescheduler.config.k8s.io/v1\n    \
                             kind: KubeSchedulerConfiguration\n    profiles:\n";

#[test]
fn a_profile_decides_whether_pods_are_packed_or_spread() {
    let configured = |args: &str, scores: &str| {
        format!(
            "{CONFIGURATION}      - schedulerName: packing\n        plugins: {{score: {scores}}}\n        pluginConfig: \
             [{{name: NodeResourcesFit, args: {{scoringStrategy: {args}}}}}]\n      \
             - schedulerName: default-scheduler\nstop: {{at: 2m}}"
        )
    };
    let no_spread = "{disabled: [{name: PodTopologySpread}]}";
    let packed = "{type: MostAllocated, resources: [{name: cpu, weight: 1}]}";
    let ratio = "{type: RequestedToCapacityRatio, resources: [{name: cpu}], requestedToCapacityRatio: {shape: \
                 [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}";
    for (args, scores, name, nodes) in [
        (packed, no_spread, "packing", 1),
        (ratio, no_spread, "packing", 1),
        // The headless Service selects the pods, so that the default spread constraints outweigh the strategy.
        (packed, "{}", "packing", 4),
        (packed, no_spread, "default-scheduler", 4),
    ] {
        let jobs = [job("a", 4, 2, &format!("schedulerName: {name}"))];
        let played = play(&scenario(&jobs, &configured(args, scores)).unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(played.nodes.len(), nodes, "{name} {args} {scores}: {:?}", played.nodes);
    }
}

/// Four pods on four nodes, each with room for all: the pods are packed, unless a default constraint separates them.
#[test]
fn default_constraints_of_a_profile_replace_those_of_the_system() {
    let constraint = |key: &str, mode: &str| format!("{{maxSkew: 1, topologyKey: {key}, whenUnsatisfiable: {mode}}}");
    let (hosts, colors) = ("kubernetes.io/hostname", "color");
    for (constraints, nodes) in [
        (String::new(), 1),
        (constraint(hosts, "DoNotSchedule"), 4),
        (constraint(colors, "DoNotSchedule"), 2),
        (constraint(colors, "ScheduleAnyway"), 2),
    ] {
        let more = format!(
            "{CONFIGURATION}      - pluginConfig:\n        - {{name: NodeResourcesFit, args: {{scoringStrategy: {{type: \
             MostAllocated}}}}}}\n        - {{name: PodTopologySpread, args: {{defaultingType: List, \
             defaultConstraints: [{constraints}]}}}}\nstop: {{at: 2m}}"
        );
        let scenario = scenario(&[job("a", 4, 2, "restartPolicy: Never")], &more).unwrap_or_else(|e| panic!("{e}"));
        let played = play(&scenario);
        assert_eq!(played.nodes.len(), nodes, "{constraints}: {:?}", played.nodes);
    }
}

#[test]
fn a_profile_can_disable_plugins_and_add_node_affinity() {
    let run = |spec: &str, profile: &str, more: &str| {
        let more = format!("{CONFIGURATION}      - {profile}\n{more}stop: {{at: 2m}}");
        play(&scenario(&[job("a", 1, 2, spec)], &more).unwrap_or_else(|e| panic!("{e}")))
    };
    let term = "{matchExpressions: [{key: color, operator: In, values: [red]}]}";
    let added = format!(
        "{{pluginConfig: [{{name: NodeAffinity, args: {{addedAffinity: \
         {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}}}}}]}}"
    );
    assert!(run("restartPolicy: Never", &added, "").nodes[0].0.starts_with("red"));
    let cordoned: Vec<String> =
        ["blue-0", "blue-1", "red-0", "red-1"].map(|n| format!("  - {{at: 0s, cordonNode: {{node: {n}}}}}\n")).into();
    let cordoned = format!("faults:\n{}", cordoned.concat());
    let names = ["NodeUnschedulable", "TaintToleration"].map(|name| format!("{{name: {name}}}")).join(", ");
    let disabled = format!("{{plugins: {{filter: {{disabled: [{names}]}}}}}}");
    assert_eq!(run("restartPolicy: Never", &disabled, &cordoned).nodes.len(), 1);
    let played =
        run("restartPolicy: Never", "{plugins: {multiPoint: {disabled: [{name: DefaultPreemption}]}}}", &cordoned);
    assert_eq!(
        played.failures[0].2,
        "0/4 nodes are available: 4 node(s) were unschedulable. no new claims to deallocate"
    );
}

#[test]
fn a_pod_without_a_profile_stays_pending() {
    let jobs = [job("a", 1, 1, "schedulerName: volcano")];
    let played = play(&scenario(&jobs, "stop: {at: 2m}").unwrap_or_else(|e| panic!("{e}")));
    assert_eq!((played.nodes.len(), played.failures.len()), (0, 0));
    let why = &played.blocked[0];
    assert!(why.contains("no profile of kube-scheduler has its schedulerName \"volcano\""), "{why}");
}

#[test]
fn an_invalid_configuration_is_rejected() {
    for (profiles, message) in [
        ("{plugins: {score: {enabled: [{name: Coscheduling}]}}}", "profiles[0].plugins.score.enabled[0].name"),
        ("{schedulerName: a}\n      - {schedulerName: a}", "several profiles have the schedulerName \"a\""),
        (
            "{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, \
             requestedToCapacityRatio: {shape: [{utilization: 9, score: 1}, {utilization: 9, score: 2}]}}}}]}",
            "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 9: values must be sorted",
        ),
        ("{pluginConfig: [{name: NodeResourcesFit, args: {scoring: x}}]}", "scoring"),
    ] {
        let more = format!("{CONFIGURATION}      - {profiles}\nstop: {{at: 2m}}");
        let error = scenario(&[job("a", 1, 1, "restartPolicy: Never")], &more).expect_err("an error");
        assert!(error.contains(message), "{profiles}: {error}");
    }
}

#[test]
fn the_client_rate_of_the_configuration_is_used_unless_the_scenario_sets_it() {
    for (control_plane, qps, burst) in [("", 7.0, 9), ("controlPlane: {kubeScheduler: {qps: 3, burst: 4}}\n", 3.0, 4)] {
        let connection = "    clientConnection: {qps: 7, burst: 9}\n    profiles:\n";
        let configuration = CONFIGURATION.replace("    profiles:\n", connection);
        let more =
            format!("{control_plane}{configuration}      - {{schedulerName: default-scheduler}}\nstop: {{at: 2m}}");
        let scenario = scenario(&[job("a", 1, 1, "restartPolicy: Never")], &more).unwrap_or_else(|e| panic!("{e}"));
        let rate = scenario.control_plane.kube_scheduler;
        assert_eq!((rate.qps, rate.burst), (qps, burst));
    }
}
