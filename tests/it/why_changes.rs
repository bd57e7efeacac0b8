//! `why`: changes that are tried end to end, each with the right value: of the explained restart, of the right entry of
//! the file, with faults that still apply, and no larger than necessary.

use sim_analysis::metrics::RestartOutcome;
use sim_analysis::why;
use sim_analysis::why::same_restart::{ExplainedRestart, FoundRestart, RestartOfRun, RestartOrigin};
use sim_analysis::why::{OverrideSetter, WhyExplanation, WhyRequest};
use sim_base::{JobSetId, SimTime};
use sim_inputs::{LoadedScenario, SourceText};

/// Scenario, and the files that it names.
struct Inputs {
    scenario: String,
    files: Vec<(&'static str, String)>,
}

impl Inputs {
    fn load(&self, more: &[OverrideSetter]) -> Result<LoadedScenario, String> {
        let source = SourceText { file: "scenario.yaml".to_owned(), text: self.scenario.clone() };
        let loader = |name: &str| {
            let file = self.files.iter().find(|(file, _)| *file == name);
            Ok(file.unwrap_or_else(|| panic!("{name} is not a file of the test")).1.clone())
        };
        sim_inputs::parse_scenario(&source, more, &loader).map_err(|e| e.to_string())
    }

    fn explain(&self, restart: Option<usize>) -> WhyExplanation {
        let request = WhyRequest { restart, ..WhyRequest::default() };
        why::explain(&|more: &[OverrideSetter]| self.load(more), &request).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// Returns a scenario of JobSets a, b, … with one CPU for each pod and node.
fn inputs(nodes: &str, rest: &str, files: Vec<(&'static str, String)>) -> Inputs {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools: [{{name: 'n-{{island}}-{{node}}', \
         {nodes}, allocatable: {{cpu: 1, memory: 8Gi}}, labels: {{pool: p, rack: 'r-{{island}}'}}, features: \
         [RestartAllContainersOnContainerExits]}}]\n{rest}\n"
    );
    Inputs { scenario, files }
}

fn jobset(name: &str, metadata: &str, (jobs, pods): (u32, u32), policy: &str, annotations: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}{metadata}}}\nspec:\n  failurePolicy: \
         {policy}\n  replicatedJobs:\n  - name: w\n    replicas: {jobs}\n    template: {{spec: {{parallelism: {pods}, \
         completions: {pods}, backoffLimit: 0, template: {{metadata: {{annotations: {{{annotations}}}}}, spec: \
         {{restartPolicy: Never, terminationGracePeriodSeconds: 5, containers: [{{name: c, image: x, resources: \
         {{requests: {{cpu: 1}}}}}}]}}}}}}}}\n"
    )
}

const MANY: &str = "{maxRestarts: 5}";
const IN_QUEUE: &str = ", labels: {kueue.x-k8s.io/queue-name: l}";
const URGENT: &str = ", labels: {kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/priority-class: top}";
const PER_RACK: &str = ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}";
const IN_RACK: &str = "kueue.x-k8s.io/podset-required-topology: rack";

fn queue(cpu: u32, (flavor, more): (&str, &str)) -> String {
    format!(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: f}}\n{flavor}---\napiVersion: \
         kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: cq}}\nspec:\n  namespaceSelector: {{}}\n  \
         preemption: {{withinClusterQueue: LowerPriority}}\n  resourceGroups: [{{coveredResources: [cpu], flavors: [{{name: \
         f, resources: [{{name: cpu, nominalQuota: {cpu}}}]}}]}}]\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: \
         LocalQueue\nmetadata: {{name: l, namespace: default}}\nspec: {{clusterQueue: cq}}\n---\napiVersion: \
         kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {{name: top}}\nvalue: 500\n{more}"
    )
}

/// A flavor with a topology of racks, and its Topology object.
const RACKS: (&str, &str) = (
    "spec: {nodeLabels: {pool: p}, topologyName: t}\n",
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: t}\nspec: {levels: [{nodeLabel: rack}, \
     {nodeLabel: kubernetes.io/hostname}]}\n",
);

/// JobSet b preempts JobSet a; c does so three hours later. In between, a node of a is lost.
fn preempted(preemptors: &str, last: &str) -> Inputs {
    let rest = format!(
        "jobSets: [{{manifest: a.yaml}}, {preemptors}]\nobjects: [{{manifest: q.yaml}}]\nstop: {{at: 8h, when: \
         Time}}\n{last}"
    );
    let files = vec![
        ("a.yaml", jobset("a", IN_QUEUE, (1, 4), MANY, "")),
        ("b.yaml", jobset("b", URGENT, (1, 4), MANY, "")),
        ("q.yaml", queue(6, ("", ""))),
    ];
    inputs("nodesPerIsland: 8", &rest, files)
}

fn changes_of_queue(why: &WhyExplanation) -> Vec<String> {
    let admission = why.admission.as_ref().map(|past| &past.pending);
    let admission = admission.or(why.blocked.as_ref().and_then(|blocked| blocked.admission.as_ref()));
    admission.into_iter().flat_map(|admission| &admission.smallest_changes).map(|row| row.sentence()).collect()
}

const LOSS: &str = "faults: [{at: 90m, crashNode: {ofPod: a-w-0-1, alias: x}}, {at: 200m, newNode: {alias: x}}]\n";

/// Without the preemption, the loss of the node is the first restart. It takes longer than the preemption.
#[test]
fn a_change_that_removes_the_explained_restart_saves_it_whatever_restart_follows() {
    let b = "{manifest: b.yaml, submitAt: 60s}";
    let b_twice = format!("{b}, {{manifest: b.yaml, submitAt: 3h, set: [metadata.name=c]}}");
    let end = "containers: [{jobSet: b, runFor: 20m}]\n";
    let ends = "containers: [{jobSet: b, runFor: 20m}, {jobSet: c, runFor: 20m}]\n";
    for (preemptors, last, restart) in [
        (b, end.to_owned(), 1),
        (b, format!("{end}{LOSS}"), 1),
        (&*b_twice, ends.to_owned(), 1),
        (&*b_twice, ends.to_owned(), 2),
    ] {
        let why = preempted(preemptors, &last).explain(Some(restart));
        assert!(why.subject.cause.contains("Preempted"), "{:?}", why.subject);
        let changes = changes_of_queue(&why);
        for change in [
            "lower parallelism and completions of replicatedJob w from 4 to 2",
            "raise nominalQuota of cpu in flavor f of ClusterQueue cq by 2",
        ] {
            assert!(changes.iter().any(|known| known == change), "{preemptors}, {last}: {changes:?}");
        }
        // A fault names pod a-w-0-1.
        let smaller = |change: &String| change.ends_with("from 4 to 1");
        assert!(!changes.iter().any(smaller), "{preemptors}, {last}: {changes:?}");
    }
}

/// A class above that of b keeps b waiting, without a preemption.
#[test]
fn a_change_names_the_jobset_that_it_keeps_waiting_and_no_preemption_that_does_not_happen() {
    let why = preempted("{manifest: b.yaml, submitAt: 60s}", "containers: [{jobSet: b, runFor: 20m}]\n").explain(None);
    let changes = changes_of_queue(&why);
    let class = changes.iter().find(|change| change.contains("value 501")).unwrap_or_else(|| panic!("{changes:?}"));
    assert!(!class.contains("preempts"), "{class}");
    assert!(class.ends_with("; JobSet b then waits for quota until the end of the run"), "{class}");
    assert_eq!(changes.iter().filter(|change| change.contains("then waits")).count(), 1, "{changes:?}");
}

/// With an earlier detection, the restart because of wrong results comes before that of the exit.
#[test]
fn a_restart_is_found_by_its_fault_when_it_comes_before_another_one() {
    let rest = "jobSets: [{manifest: a.yaml}]\nstop: {at: 4h, when: Time}\nfaults: [{at: 40m, containerExit: {pod: \
                a-w-0-1}}]\ntraining: [{jobSet: a, work: 3h, step: 10s, checkpoint: {every: 10m}}]\nfaultProcesses: \
                [{cause: sdc, does: Corrupt, trace: {file: tr.csv}, foundAfter: 60m}]\n";
    let files = vec![
        ("a.yaml", jobset("a", "", (1, 4), MANY, "")),
        ("tr.csv", "node,time,duration\nn-0-0,10m,5m\n".to_owned()),
    ];
    let why = inputs("nodesPerIsland: 4", rest, files).explain(Some(2));
    assert!(why.subject.cause.contains("wrong results"), "{:?}", why.subject);
    let found = |w: &&why::WhatIf| w.setting.sets[0].1 == "6m";
    let tenth = why.what_if.iter().find(found).unwrap_or_else(|| panic!("{:?}", why.what_if));
    assert!((360.0..380.0).contains(&tenth.takes.seconds()), "{tenth:?}");
}

/// Returns the setting and the duration of a lever that helps.
fn helping<'w>(why: &'w WhyExplanation, lever: &str) -> (&'w [OverrideSetter], f64) {
    let matching = why.what_if.iter().find(|w| w.setting.lever == lever);
    let w = matching.unwrap_or_else(|| panic!("{lever}: {:?}, {:?}", why.what_if, why.no_help));
    (&w.setting.sets, w.takes.seconds())
}

/// Faults, JobSet annotations, lever, path of its first override, and the duration in seconds.
type EntryRow = (&'static str, &'static str, &'static str, &'static str, (f64, f64));

#[test]
fn levers_use_the_entries_of_the_file_if_a_label_selects_several_nodes() {
    let rack = "faults: [{at: 5m, crashNode: {label: rack=r-0}}, {at: 90m, returnNode: {label: rack=r-0}}]\n";
    let cordon = "faults: [{at: 1m, cordonNode: {label: rack=r-0}}, {at: 60m, uncordonNode: {label: rack=r-0}}]\n";
    let table: [EntryRow; 5] = [
        (rack, "", "repair of the lost node", "faults.2", (300.0, 310.0)),
        (rack, "", "replacement of the lost node", "faults.2", (300.0, 310.0)),
        (rack, "", "earlier scripted action", "faults.1.at", (500.0, 530.0)),
        (cordon, PER_RACK, "earlier scripted action", "faults.1.at", (300.0, 400.0)),
        (cordon, PER_RACK, "uncordoning of nodes", "faults.2", (60.0, 70.0)),
    ];
    for (faults, metadata, lever, path, (least, most)) in table {
        let rest = format!(
            "jobSets: [{{manifest: a.yaml{}}}]\nstop: {{at: 3h, when: Time}}\n{faults}",
            if metadata.is_empty() { "" } else { ", submitAt: 5m" }
        );
        let files = vec![("a.yaml", jobset("a", metadata, (1, 4), MANY, ""))];
        let why = inputs("nodesPerIsland: 4", &rest, files).explain(None);
        let (sets, _) = helping(&why, lever);
        assert_eq!(sets[0].0, path, "{lever}: {sets:?}");
        let of_lever = why.what_if.iter().filter(|w| w.setting.lever == lever).map(|w| w.takes.seconds());
        let times: Vec<f64> = of_lever.collect();
        assert!(times.iter().any(|time| (least..most).contains(time)), "{lever}: {times:?}");
        let invalid: Vec<_> = why.not_tried.iter().filter(|(_, reason)| reason.contains("index")).collect();
        assert!(invalid.is_empty(), "{lever}: {invalid:?}");
    }
}

#[test]
fn messages_and_fault_processes_have_the_number_of_their_entry() {
    let rest = "jobSets: [{manifest: a.yaml}]\nstop: {at: 20m, when: Time}\ntraining: {step: 10s, checkpoint: \
                {every: 10m}}\nfaults: [{at: 5m, returnNode: {label: rack=r-0}}, {at: 6m, uncordonNode: {node: \
                n-0-0}}]\nfaultProcesses: [{preset: llama3-405b}, {cause: stall, on: Pod, mtbf: 10000d, does: Hang, \
                detectedAfter: 7m}]\n";
    let files = vec![("a.yaml", jobset("a", "", (1, 4), MANY, ""))];
    let loaded = inputs("nodesPerIsland: 5", rest, files).load(&[]).unwrap_or_else(|e| panic!("{e}"));
    let scenario = &loaded.scenario;
    assert_eq!((scenario.faults.len(), scenario.fault_entries()), (6, 2));
    assert_eq!((0..6).map(|at| scenario.fault_number(at)).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1]);
    assert!(scenario.fault_processes.len() > 2, "the preset has several causes");
    let stall = scenario.fault_processes.iter().position(|process| process.cause == "stall");
    assert_eq!(stall.map(|at| scenario.process_entries[at]), Some(1));
    let mut simulation = crate::support::simulation(scenario);
    let outcome = simulation.run(1, 0, &mut sim_engine::record::DiscardSink);
    let of = |fault: &str| outcome.warnings.iter().filter(|text| text.starts_with(fault)).count();
    assert_eq!((of("fault 0: "), of("fault 1: "), of("fault ")), (5, 1, 6), "{:?}", outcome.warnings);
}

/// Levers on nodes and the durations of the restart, or of the start, that they lead to.
type NodeRow = (&'static str, Inputs, &'static [(&'static str, (f64, f64))]);

#[test]
fn a_jobset_that_waits_in_kueue_because_of_a_lost_node_has_levers_on_nodes() {
    let of_a = |topology: &'static str| ("a.yaml", jobset("a", IN_QUEUE, (1, 4), MANY, topology));
    let lost = "faults: [{at: 10m, crashNode: {ofPod: a-w-0-1, alias: x}}, {at: 11m, deleteNode: {alias: x}}]\n";
    let alone = "jobSets: [{manifest: a.yaml}]\nobjects: [{manifest: q.yaml}]\n";
    let shared = "jobSets: [{manifest: a.yaml}, {manifest: b.yaml}]\nobjects: [{manifest: q.yaml}]\ncontainers: [{jobSet: \
                  b, runFor: 40m}]\n";
    let late = alone.replace("a.yaml}", "a.yaml, submitAt: 5m}");
    let config = "---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nwaitForPodsReady: {timeout: 5m, \
                  recoveryTimeout: 3m, requeuingStrategy: {backoffLimitCount: 2, backoffBaseSeconds: 10}}\n";
    let b = ("b.yaml", jobset("b", IN_QUEUE, (1, 3), MANY, IN_RACK));
    let racks = ("q.yaml", queue(12, RACKS));
    let table: [NodeRow; 4] = [
        (
            "a topology assignment",
            inputs(
                "islands: 2, nodesPerIsland: 4",
                &format!("{shared}stop: {{at: 3h, when: Time}}\n{lost}"),
                vec![of_a(IN_RACK), b, racks.clone()],
            ),
            &[("spare node in each domain", (115.0, 130.0)), ("replacement of the lost node", (300.0, 310.0))],
        ),
        (
            "no topology assignment until the end",
            inputs(
                "nodesPerIsland: 4",
                &format!("{alone}stop: {{at: 3h, when: Settled}}\n{lost}"),
                vec![of_a(IN_RACK), racks.clone()],
            ),
            &[("spare node in each domain", (115.0, 130.0)), ("replacement of the lost node", (300.0, 310.0))],
        ),
        (
            "no start",
            inputs(
                "nodesPerIsland: 4",
                &format!("{late}stop: {{at: 2h, when: Time}}\nfaults: [{{at: 1m, crashNode: {{node: n-0-2}}}}]\n"),
                vec![of_a(IN_RACK), racks],
            ),
            &[("spare node in each domain", (3.0, 5.0)), ("repair of the lost node", (300.0, 310.0))],
        ),
        (
            "deactivation",
            inputs(
                "nodesPerIsland: 4",
                &format!(
                    "{alone}stop: {{at: 3h, when: Time}}\nfaults: [{{at: 10m, crashNode: {{ofPod: a-w-0-1, alias: \
                     x}}}}]\n"
                ),
                vec![of_a(""), ("q.yaml", queue(8, ("", config)))],
            ),
            &[
                ("spare node in each domain", (230.0, 250.0)),
                ("replacement of the lost node", (300.0, 310.0)),
                ("repair of the lost node", (300.0, 310.0)),
            ],
        ),
    ];
    for (name, inputs, expected) in table {
        let why = inputs.explain(None);
        for (lever, (least, most)) in expected {
            let (sets, time) = helping(&why, lever);
            assert!((*least..*most).contains(&time), "{name}: {lever} {sets:?}: {time}");
        }
        let change = why.blocked.as_ref().map(|blocked| blocked.change.is_some());
        assert!(change != Some(false), "{name}: {:?}", why.blocked);
    }
}

/// With one pod, the fault names a pod that does not exist: `run` refuses it.
#[test]
fn a_change_that_removes_the_pod_of_a_fault_is_no_proof() {
    let rest = "jobSets: [{manifest: a.yaml}, {manifest: b.yaml}]\nobjects: [{manifest: q.yaml}]\ncontainers: [{jobSet: b, \
                runFor: 40m}]\nstop: {at: 3h, when: Time}\nfaults: [{at: 10m, crashNode: {ofPod: a-w-0-1}}]\n";
    let files = vec![
        ("a.yaml", jobset("a", IN_QUEUE, (1, 4), MANY, IN_RACK)),
        ("b.yaml", jobset("b", IN_QUEUE, (1, 3), MANY, IN_RACK)),
        ("q.yaml", queue(12, RACKS)),
    ];
    let inputs = inputs("islands: 2, nodesPerIsland: 4", rest, files);
    let pods = |field: &str| (format!("jobSet.a.spec.replicatedJobs[0].template.spec.{field}"), "1".to_owned());
    let refused = inputs.load(&[pods("parallelism"), pods("completions")]).err().unwrap_or_default();
    assert!(refused.contains("a-w-0-1") && refused.contains("does not exist"), "{refused}");
    let changes = changes_of_queue(&inputs.explain(None));
    assert!(changes.iter().all(|change| !change.contains("lower parallelism")), "{changes:?}");
}

#[test]
fn idle_racks_are_found_if_the_restart_never_ends() {
    for (policy, strategy) in
        [(MANY, "(Recreate"), ("{maxRestarts: 5, restartStrategy: BlockingRecreate}", "(BlockingRecreate")]
    {
        let rest = "jobSets: [{manifest: a.yaml}]\nstop: {at: 3h, when: Time}\nseed: 3\nfaults: [{at: 10m, crashNode: \
                    {ofPod: a-w-0-1, alias: lost}}, {at: 11m, deleteNode: {alias: lost}}]\n";
        let files = vec![("a.yaml", jobset("a", PER_RACK, (2, 4), policy, ""))];
        let why = inputs("islands: 4, nodesPerIsland: 4", rest, files).explain(None);
        assert!(!why.subject.ended && why.subject.title.contains(strategy), "{:?}", why.subject);
        let idle = why.idle_domains.as_ref().unwrap_or_else(|| panic!("{policy}: two racks are free"));
        assert_eq!((idle.free, idle.missing), (2, 1), "{policy}: {idle:?}");
        let (sets, time) = helping(&why, "cordon of incomplete domains");
        assert!((110.0..130.0).contains(&time), "{policy}: {sets:?}: {time}");
    }
}

/// The smallest change that lets the JobSet survive: faults, nodes, pods, policy and the override.
#[test]
fn the_smallest_sufficient_value_is_found() {
    let exit = |minute: u32| format!("{{at: {minute}m, containerExit: {{pod: a-w-0-0}}}}");
    let exits = |n: u32| (1..=n).map(|i| exit(5 * i)).collect::<Vec<_>>().join(", ");
    let restarts = "spec.failurePolicy.maxRestarts";
    for (faults, (nodes, pods), policy, (path, value)) in [
        (exits(2), (4, 2), "{maxRestarts: 1}", (restarts, "2")),
        (exits(3), (4, 2), "{maxRestarts: 1}", (restarts, "3")),
        (exits(8), (4, 2), "{maxRestarts: 1}", (restarts, "8")),
        (exits(6), (4, 2), "null", ("spec.failurePolicy", "{maxRestarts: 6}")),
        (String::new(), (4, 9), MANY, ("topology.pools[0].nodesPerIsland", "9")),
    ] {
        // Pods that end would make room for others.
        let run = if faults.is_empty() { "" } else { "{runFor: 1h}" };
        let rest = format!(
            "jobSets: [{{manifest: a.yaml}}]\nstop: {{at: 4h, when: Settled}}\ncontainers: [{run}]\nfaults: [{faults}]\n"
        );
        let files = vec![("a.yaml", jobset("a", "", (1, pods), policy, ""))];
        let why = inputs(&format!("nodesPerIsland: {nodes}"), &rest, files).explain(None);
        let blocked = why.blocked.unwrap_or_else(|| panic!("{policy}: {:?}", why.subject));
        let (setting, _) = blocked.change.unwrap_or_else(|| panic!("{policy}: {:?}, {:?}", why.what_if, why.no_help));
        assert_eq!(setting.sets, [(path.to_owned(), value.to_owned())], "{policy}, {faults}");
    }
}

#[test]
fn cordoned_nodes_are_uncordoned() {
    let rest = "jobSets: [{manifest: a.yaml}]\nstop: {at: 6h, when: Settled}\ncontainers: [{runFor: 1h}]\nfaults: [{at: \
                4m, cordonNode: {label: pool=p}}, {at: 5m, containerExit: {pod: a-w-0-0}}]\n";
    let files = vec![("a.yaml", jobset("a", "", (1, 3), MANY, ""))];
    let why = inputs("nodesPerIsland: 3", rest, files).explain(None);
    let (setting, takes) = why.blocked.expect("it is blocked").change.expect("a change");
    assert_eq!((setting.lever.as_str(), setting.sets.len()), ("uncordoning of nodes", 3), "{setting:?}");
    assert!((60.0..70.0).contains(&takes.seconds()), "{takes:?}");
}

/// Restarts as letters of their origins, with their starts in seconds; each takes 10 s.
fn restarts(all: &[(char, u64)]) -> Vec<RestartOfRun> {
    let restart = |(origin, start): &(char, u64)| RestartOfRun {
        origin: RestartOrigin::Event { what: origin.to_string() },
        start: SimTime(start * 1_000_000_000),
        end: SimTime((start + 10) * 1_000_000_000),
        ending: RestartOutcome::Ready,
    };
    all.iter().map(restart).collect()
}

/// Restarts of the unchanged run, the explained one, those of the changed run, and the start of the same one there, or
/// the starts of those in its place.
type SameRow<'a> = (&'a [(char, u64)], usize, &'a [(char, u64)], Result<u64, &'a [u64]>);

#[test]
fn the_same_restart_has_the_same_origin_and_the_nearest_time() {
    let table: &[SameRow<'_>] = &[
        (&[('a', 60), ('b', 90)], 0, &[('b', 90)], Err(&[])),
        (&[('a', 60), ('b', 90)], 1, &[('b', 90)], Ok(90)),
        // A change can reverse the order.
        (&[('a', 60), ('b', 90)], 1, &[('b', 30), ('a', 60)], Ok(30)),
        // Of two equal ones, the first does not occur.
        (&[('a', 60), ('a', 900)], 0, &[('a', 890)], Err(&[])),
        (&[('a', 60), ('a', 900)], 1, &[('a', 890)], Ok(890)),
        (&[('a', 60)], 0, &[('a', 30), ('a', 61), ('a', 900)], Ok(61)),
        // All occur later.
        (&[('a', 60), ('a', 900)], 0, &[('a', 500), ('a', 1400)], Ok(500)),
        // Another one takes its place.
        (&[('a', 60), ('b', 900)], 0, &[('c', 65), ('b', 900)], Err(&[65])),
        // An earlier one is still open when its fault occurs.
        (&[('b', 40), ('a', 60)], 1, &[('b', 55)], Err(&[55])),
    ];
    for (all, at, changed, expected) in table {
        let explained = ExplainedRestart { jobset: JobSetId(0), all: restarts(all), at: *at };
        let changed = restarts(changed);
        let seconds = |restart: &RestartOfRun| restart.start.0 / 1_000_000_000;
        let found = match explained.find(&changed) {
            FoundRestart::Same(restart) => Ok(seconds(restart)),
            FoundRestart::Instead(others) => Err(others.into_iter().map(seconds).collect::<Vec<_>>()),
        };
        assert_eq!(found, expected.map_err(<[u64]>::to_vec), "{all:?}, {at}, {changed:?}");
    }
}
