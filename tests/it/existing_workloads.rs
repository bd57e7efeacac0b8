//! Workloads of a cluster dump in a run: they hold quota and topology domains, wait in the queues, end, and are
//! preempted.

use crate::support;
use sim_api::spec::{ScenarioSpec, TopologySpec};
use sim_engine::record::*;
use sim_inputs::{ImportRequest, SourceText, import_nodes};

/// A Workload in the LocalQueue training with pods of four accelerators each.
#[derive(Clone, Copy)]
struct Dumped {
    name: &'static str,
    priority: i32,
    pods: u32,
    /// Creation, and reservation if it has quota, as minutes of the hour.
    created: u32,
    reserved: Option<u32>,
    owner: &'static str,
    /// Node of all pods, under topology-aware scheduling.
    node: Option<&'static str>,
    /// End of the back-off of a Workload that was evicted at 00:30.
    requeue_at: Option<&'static str>,
}

const TUNE: Dumped = Dumped {
    name: "job-tune",
    priority: 10,
    pods: 12,
    created: 0,
    reserved: None,
    owner: "Job",
    node: None,
    requeue_at: None,
};

impl Dumped {
    fn manifest(&self) -> String {
        let Dumped { name, priority, pods, created, owner, .. } = self;
        let job = name.trim_start_matches("job-");
        let metadata = format!(
            "{{name: {name}, namespace: default, uid: uid-{name}, creationTimestamp: \"{}\", ownerReferences: \
             [{{apiVersion: v1, kind: {owner}, name: {job}, uid: of-{name}, controller: true}}]}}",
            time(*created)
        );
        let containers = "[{name: c, image: i, resources: {requests: {example.com/accelerator: 4}}}]";
        let pod_set = format!("{{name: w, count: {pods}, template: {{spec: {{containers: {containers}}}}}}}");
        let status = [self.admission(), self.back_off()].into_iter().flatten().collect::<Vec<String>>().join(", ");
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nmetadata: {metadata}\nspec: {{queueName: training, \
             priority: {priority}, podSets: [{pod_set}]}}\nstatus: {{{status}}}\n"
        )
    }

    fn admission(&self) -> Option<String> {
        let (minute, pods) = (self.reserved?, self.pods);
        let conditions = ["QuotaReserved", "Admitted", "PodsReady"].map(|kind| condition(kind, "True", kind, minute));
        let topology = self.node.map_or(String::new(), |node| {
            let domain = format!("{{values: [{node}], count: {pods}}}");
            format!(", topologyAssignment: {{levels: [kubernetes.io/hostname], domains: [{domain}]}}")
        });
        let used = format!("{{example.com/accelerator: {}}}", 4 * pods);
        Some(format!(
            "conditions: [{}], admission: {{clusterQueue: research, podSetAssignments: [{{name: w, count: {pods}, flavors: \
             {{example.com/accelerator: zone-a}}, resourceUsage: {used}{topology}}}]}}",
            conditions.join(", ")
        ))
    }

    fn back_off(&self) -> Option<String> {
        let at = self.requeue_at?;
        let evicted = condition("Evicted", "True", "PodsReadyTimeout", 30);
        let held = condition("Requeued", "False", "PodsReadyTimeout", 30);
        Some(format!("conditions: [{evicted}, {held}], requeueState: {{count: 1, requeueAt: \"{at}\"}}"))
    }
}

fn time(minute: u32) -> String {
    format!("2026-01-01T00:{minute:02}:00Z")
}

fn condition(kind: &str, status: &str, reason: &str, minute: u32) -> String {
    let at = time(minute);
    format!("{{type: {kind}, status: \"{status}\", reason: {reason}, message: m, lastTransitionTime: \"{at}\"}}")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(support::root().join("scenarios/manifests").join(name)).expect("a file")
}

/// A scenario with a queue of 64 accelerators, Workloads, and a JobSet at the start.
fn scenario(queues: &str, dumped: &[Dumped], jobset: &str, more: &str) -> ScenarioSpec {
    let workloads: String = dumped.iter().map(Dumped::manifest).collect();
    let files = [("queues.yaml", format!("{}{workloads}", read(queues))), ("jobset.yaml", read(jobset))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: existing}}\ntopology: small-16\nobjects: \
         [{{manifest: queues.yaml}}]\njobSets: [{{manifest: jobset.yaml}}]\ncontainers: [{{runFor: 10m}}]\n{more}\nstop: \
         {{at: 5h, when: Time}}\nseed: 1\n"
    );
    support::parse_with(&text, &files).unwrap_or_else(|e| panic!("{e}"))
}

/// One text per admission, preemption and end, with its second, and per node of a pod.
fn play(scenario: &ScenarioSpec) -> Vec<String> {
    let mut simulation = support::simulation(scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(scenario);
    simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let main = |kind: WorkloadConditionType| ["Admitted", "Evicted", "Finished"].contains(&kind.as_str());
    let text = |record: &SimulationRecord| {
        let text = match record.body {
            Body::WorkloadCondition { jobset, kind, status: true, .. } if main(kind) => {
                format!("{} {}", names.jobset(jobset), kind.as_str())
            }
            Body::ExistingCondition { workload, kind, status: true, .. } if main(kind) => {
                format!("{} {}", names.text(workload), kind.as_str())
            }
            Body::ExistingPreempted { workload, preemptor } => {
                format!("{} preempted by {}", names.text(workload), names.jobset(preemptor))
            }
            Body::PreemptedByExisting { jobset, preemptor } => {
                format!("{} preempted by {}", names.jobset(jobset), names.text(preemptor))
            }
            Body::PodBound { node, .. } => format!("bound to {}", names.nodes[node.ix()]),
            _ => return None,
        };
        Some(format!("{} {text}", record.at.0 / 1_000_000_000))
    };
    checker.records.iter().filter_map(text).collect()
}

/// Returns the second of an event.
fn second(texts: &[String], event: &str) -> Option<u64> {
    let found = texts.iter().find_map(|text| text.strip_suffix(event)?.strip_suffix(' '));
    found.map(|second| second.parse().expect("a number"))
}

/// Name, Workloads, run times, and events with the seconds between which they occur.
type RunRow = (&'static str, Vec<Dumped>, &'static str, Vec<(&'static str, Option<(u64, u64)>)>);

#[test]
fn existing_workloads_hold_quota_until_they_end_and_wait_in_the_queue() {
    let running = Dumped { reserved: Some(30), ..TUNE };
    let own = Dumped { name: "job-train", owner: "JobSet", pods: 16, created: 5, ..TUNE };
    let table: [RunRow; 8] = [
        ("without a run time, its quota is never free", vec![running], "", vec![("train Admitted", None)]),
        (
            "it ends after the rest of its run time, of which one second is over",
            vec![running],
            "existingWorkloads: [{runTime: 4h}]",
            vec![("default/job-tune Finished", Some((14_399, 14_399))), ("train Admitted", Some((14_400, 14_401)))],
        ),
        (
            "the first rule that fits applies",
            vec![running],
            "existingWorkloads: [{localQueue: training, name: job-tune, runTime: 1h}, {runTime: 4h}]",
            vec![("default/job-tune Finished", Some((3_599, 3_599)))],
        ),
        (
            "with a lower priority, it is preempted, and starts again from the beginning",
            vec![Dumped { priority: 0, ..running }],
            "existingWorkloads: [{runTime: 1h}]",
            vec![
                ("default/job-tune preempted by train", Some((0, 0))),
                ("train Admitted", Some((0, 2))),
                ("default/job-tune Admitted", Some((602, 606))),
                ("default/job-tune Finished", Some((4_202, 4_206))),
            ],
        ),
        (
            "an older one of the same priority comes first",
            vec![TUNE],
            "existingWorkloads: [{runTime: 30m}]",
            vec![("default/job-tune Admitted", Some((0, 0))), ("train Admitted", Some((1_800, 1_802)))],
        ),
        (
            "one of higher priority preempts the JobSet when its back-off has ended",
            vec![Dumped { priority: 500, requeue_at: Some("2026-01-01T00:31:31Z"), ..TUNE }],
            "existingWorkloads: [{runTime: 1h}]",
            vec![
                ("train preempted by default/job-tune", Some((90, 90))),
                ("default/job-tune Finished", Some((3_690, 3_725))),
                ("train Finished", Some((4_290, 4_335))),
            ],
        ),
        (
            "the JobSet of a pending one keeps its place in the queue",
            vec![own, Dumped { created: 10, ..TUNE }],
            "",
            vec![("train Admitted", Some((0, 0))), ("default/job-tune Admitted", Some((602, 606)))],
        ),
        (
            "the JobSet of an admitted one keeps its quota",
            vec![Dumped { reserved: Some(20), ..own }, Dumped { created: 1, ..TUNE }],
            "",
            vec![("train Admitted", Some((0, 0))), ("default/job-tune Admitted", Some((602, 606)))],
        ),
    ];
    for (name, dumped, more, expected) in table {
        let texts = play(&scenario("kueue-queues.yaml", &dumped, "kueue-train.yaml", more));
        for (event, range) in expected {
            let at = second(&texts, event);
            let is_expected = match (at, range) {
                (Some(at), Some((from, to))) => (from..=to).contains(&at),
                (at, range) => at.is_none() && range.is_none(),
            };
            assert!(is_expected, "{name}: {event} at {at:?}, expected {range:?}\n{}", texts.join("\n"));
        }
    }
}

#[test]
fn an_existing_topology_assignment_holds_its_domain() {
    // The JobSet needs three nodes of one pool of four.
    let on = |name: &'static str, node: &'static str| Dumped {
        name,
        pods: 1,
        reserved: Some(30),
        node: Some(node),
        priority: 5_000,
        ..TUNE
    };
    let two = |pool: usize| {
        let nodes = [["node-00", "node-01"], ["node-04", "node-05"], ["node-08", "node-09"], ["node-12", "node-13"]];
        let names = [["job-a", "job-b"], ["job-c", "job-d"], ["job-e", "job-f"], ["job-g", "job-h"]];
        [on(names[pool][0], nodes[pool][0]), on(names[pool][1], nodes[pool][1])]
    };
    let three_pools: Vec<Dumped> = [0, 1, 3].into_iter().flat_map(two).collect();
    let all_pools: Vec<Dumped> = [0, 1, 2, 3].into_iter().flat_map(two).collect();
    let table = [
        ("no Workload", vec![], vec!["node-00", "node-01", "node-02"]),
        ("two nodes of three pools", three_pools, vec!["node-08", "node-09", "node-10"]),
        ("two nodes of all pools", all_pools, vec![]),
    ];
    for (name, dumped, expected) in table {
        let texts = play(&scenario("kueue-topology.yaml", &dumped, "kueue-slice.yaml", ""));
        let mut bound: Vec<&str> = texts.iter().filter_map(|text| text.split_once(" bound to ")).map(|b| b.1).collect();
        bound.sort_unstable();
        assert_eq!(bound, expected, "{name}: {}", texts.join("\n"));
    }
}

/// The nodes of small-16 with the pods of job-tune on the first twelve.
fn dumped_nodes(annotation: &str) -> TopologySpec {
    let node = |n: usize| {
        format!(
            "- {{apiVersion: v1, kind: Node, metadata: {{name: node-{n:02}, labels: {{topology.kubernetes.io/zone: zone-a, \
             cloud.google.com/gke-nodepool: pool-{}}}}}, status: {{allocatable: {{cpu: 8, pods: 110, \
             example.com/accelerator: 4}}, conditions: [{{type: Ready, status: \"True\"}}]}}}}\n",
            n / 4
        )
    };
    let pod = |n: usize| {
        format!(
            "- {{apiVersion: v1, kind: Pod, metadata: {{name: tune-{n}, namespace: default{annotation}}}, spec: {{nodeName: \
             node-{n:02}, containers: [{{name: c, resources: {{requests: {{example.com/accelerator: 4}}}}}}]}}, status: \
             {{phase: Running}}}}\n"
        )
    };
    let items: String = (0..16).map(node).chain((0..12).map(pod)).collect();
    let source =
        SourceText { file: "dump.yaml".to_owned(), text: format!("apiVersion: v1\nkind: List\nitems:\n{items}") };
    import_nodes(&source, &ImportRequest { name: "dump", ..ImportRequest::default() }).expect("a dump").topology
}

#[test]
fn the_pods_of_an_existing_workload_hold_their_nodes_until_its_job_stops() {
    let marked = ", annotations: {kueue.x-k8s.io/workload: job-tune}";
    let running = Dumped { reserved: Some(30), ..TUNE };
    let preempted = Dumped { priority: 0, ..running };
    let ends = "existingWorkloads: [{runTime: 1h}]";
    let table = [
        ("an end frees them", vec![running], marked, ends, 16, 3_600),
        ("a preemption frees them", vec![preempted], marked, "", 16, 0),
        // Without the annotation, these pods could belong to any job.
        ("pods of unknown jobs stay", vec![running], "", ends, 4, 3_600),
        ("no Workload", vec![], marked, "", 4, 0),
    ];
    for (name, dumped, annotation, more, bound, from) in table {
        let mut scenario = scenario("kueue-queues.yaml", &dumped, "kueue-train.yaml", more);
        scenario.topology = dumped_nodes(annotation);
        scenario.admit_unplaceable = true;
        let texts = play(&scenario);
        let first: Vec<u64> = texts
            .iter()
            .filter_map(|text| text.split_once(" bound to ")?.0.parse().ok())
            .filter(|second| (from..from + 60).contains(second))
            .collect();
        assert_eq!(first.len(), bound, "{name}: {}", texts.join("\n"));
    }
}
