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
    assert!(class.ends_with("; JobSet b then waits until the end of the run"), "{class}");
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

const TRAINING: &str = "training: {work: 1h, step: 10s, checkpoint: {every: 10m}}\n";

/// What blocks a JobSet or makes it fail: nodes, fields of the scenario and of the pods, the lever, and the path and
/// the value of its override.
type BlockerRow = (&'static str, String, &'static str, &'static str, (&'static str, &'static str));

/// The recommended change is also the first row of the table, and the JobSet neither fails nor is blocked with it.
#[test]
fn each_blocker_has_a_lever_and_the_sentence_names_the_first_change_of_the_table() {
    let hang = "faultProcesses: [{cause: stall, does: Hang, trace: {file: tr.csv}}]\n";
    let failing = "faults: [{at: 5m, failImagePulls: {image: x}}, {at: 10m, containerExit: {pod: a-w-0-0}}]\n";
    let tainted = "faults: [{at: 5m, taintNode: {label: pool=p, key: k, value: v, effect: NoSchedule}}, {at: 10m, \
                   containerExit: {pod: a-w-0-0}}]\n";
    let spec = "spec.replicatedJobs[0].template.spec";
    let deadline = format!("{spec}.activeDeadlineSeconds");
    let toleration = format!("{spec}.template.spec.tolerations[0]");
    let tolerated = r#"{"effect":"NoSchedule","key":"k","operator":"Equal","value":"v"}"#;
    let [deadline, toleration] = [deadline, toleration].map(|path| &*path.leak());
    let ends = |minutes: u32| format!("containers: [{{runFor: {minutes}m}}]\n");
    let taint = "nodesPerIsland: 4, taints: [{key: k, value: v, effect: NoSchedule}]";
    let table: [BlockerRow; 6] = [
        (
            "nodesPerIsland: 4",
            format!("{TRAINING}{hang}"),
            "",
            "detection of hangs",
            ("faultProcesses[0].detectedAfter", "1m"),
        ),
        (
            "nodesPerIsland: 4",
            ends(20),
            "activeDeadlineSeconds: 600, ",
            "activeDeadlineSeconds of Jobs",
            (deadline, "1260"),
        ),
        (
            "nodesPerIsland: 4",
            format!("{failing}{}", ends(30)),
            "",
            "earlier end of failing image pulls",
            ("faults.0.failImagePulls.for", "1m"),
        ),
        ("nodesPerIsland: 4", format!("{tainted}{}", ends(30)), "", "toleration of taints", (toleration, tolerated)),
        (taint, ends(30), "", "toleration of taints", (toleration, tolerated)),
        (
            "nodesPerIsland: 4",
            format!("{TRAINING}faults: [{{at: 10m, suspendJobSet: {{name: a}}}}]\n"),
            "",
            "resumption after the last suspension",
            ("faults.1", "{at: 11m, resumeJobSet: {name: a}}"),
        ),
    ];
    for (nodes, rest, fields, lever, (path, value)) in table {
        let rest = format!("jobSets: [{{manifest: a.yaml}}]\nstop: {{at: 6h, when: Settled}}\n{rest}");
        let jobset =
            jobset("a", "", (1, 4), "{maxRestarts: 1}", "").replace("parallelism", &format!("{fields}parallelism"));
        let files = vec![("a.yaml", jobset), ("tr.csv", "node,time\nn-0-1,20m\n".to_owned())];
        let inputs = inputs(nodes, &rest, files);
        let why = inputs.explain(None);
        let blocked = why.blocked.as_ref().unwrap_or_else(|| panic!("{lever}: {:?}", why.subject));
        let (setting, _) = blocked.change.as_ref().unwrap_or_else(|| panic!("{lever}: {:?}", why.no_help));
        assert_eq!(setting.lever, lever);
        assert_eq!(setting.sets, [(path.to_owned(), value.to_owned())], "{lever}");
        let first = why.what_if.first().map(|w| &w.setting);
        assert!(why.subject.ended || first == Some(setting), "{lever}: {first:?}");
        assert_ne!(ending(&inputs, &setting.sets), None, "{lever}");
    }
}

/// Returns the digest of a run in which JobSet a neither fails nor is blocked.
fn ending(inputs: &Inputs, sets: &[OverrideSetter]) -> Option<u64> {
    let loaded = inputs.load(sets).unwrap_or_else(|e| panic!("{e}"));
    let scenario = sim_reliability::faults::draw_faults(&loaded.scenario, loaded.scenario.seed, 0);
    let outcome = crate::support::simulation(&scenario).run(scenario.seed, 0, &mut sim_engine::record::DiscardSink);
    let is_lost = outcome.jobsets[0].terminal_state == "Failed" || outcome.blocked_reason("a").is_some();
    (!is_lost).then_some(outcome.digest)
}

#[test]
fn time_limit_of_kueue_is_raised_until_the_jobset_completes() {
    let labels = "kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/max-exec-time-seconds: '600'";
    for (minutes, expected) in [(20, Some("1260")), (600, None)] {
        let rest = format!(
            "jobSets: [{{manifest: a.yaml}}]\nobjects: [{{manifest: q.yaml}}]\ncontainers: [{{runFor: \
             {minutes}m}}]\nstop: {{at: 4h, when: Settled}}\n"
        );
        let metadata = format!(", labels: {{{labels}}}");
        let files = vec![("a.yaml", jobset("a", &metadata, (1, 4), MANY, "")), ("q.yaml", queue(6, ("", "")))];
        let why = inputs("nodesPerIsland: 4", &rest, files).explain(None);
        let change = why.blocked.expect("it is deactivated").change;
        let value = change.map(|(setting, _)| serde_json::from_str::<serde_json::Value>(&setting.sets[0].1).unwrap());
        let value = value.map(|labels| labels["kueue.x-k8s.io/max-exec-time-seconds"].as_str().unwrap().to_owned());
        assert_eq!(value.as_deref(), expected, "{minutes}");
    }
}

/// The JobSet fails with other strategies, or the node that is lost later is not used.
#[test]
fn changes_that_lose_the_jobset_or_avoid_a_later_fault_are_no_savings() {
    let ignored = "{maxRestarts: 0, rules: [{name: r, action: RestartJobSetAndIgnoreMaxRestarts}]}";
    let once = "{maxRestarts: 1}";
    let exit = "{at: 10m, containerExit: {pod: a-w-0-1}}";
    let twice = format!("{exit}, {{at: 20m, crashNode: {{ofPod: a-w-0-2}}}}");
    let meanwhile = "{at: 604s, crashNode: {ofPod: a-w-0-2, alias: x}}, {at: 660s, deleteNode: {alias: x}}";
    for (policy, faults, lever, most_s) in [
        (ignored, exit.to_owned(), "restart strategy InPlaceRestart", 0.0),
        (once, twice, "repair of the lost node", 0.0),
        (MANY, format!("{exit}, {meanwhile}"), "batch period of the Job controller", 5.0),
    ] {
        let rest = format!("jobSets: [{{manifest: a.yaml}}]\nstop: {{at: 3h, when: Settled}}\nfaults: [{faults}]\n");
        let files = vec![("a.yaml", jobset("a", "", (1, 4), policy, ""))];
        let inputs = inputs("nodesPerIsland: 6", &rest, files);
        let why = inputs.explain(None);
        let mut all = why.what_if.iter();
        let saved = all.find(|w| w.setting.lever == lever).map_or(0.0, |w| w.saves.seconds());
        assert!(saved <= most_s, "{lever}: {saved}");
        let tried = why.no_help.iter().any(|(setting, _)| setting.lever == lever);
        assert!(saved > 0.0 || tried, "{lever}: {:?}", why.no_help);
    }
}

#[test]
fn why_begins_with_a_jobset_that_failed_although_other_restarts_are_longer() {
    let jobset_of = |name: &str, policy: &str| jobset(name, "", (1, 2), policy, "");
    let exits = |name: &str| format!("{{at: 20m, containerExit: {{pod: {name}-w-0-0}}}}");
    let crash = "{at: 5m, crashNode: {ofPod: a-w-0-1, alias: x}}, {at: 15m, returnNode: {alias: x}}";
    for (second, policy, faults, reason) in [
        ("b", MANY, format!("{crash}, {}", exits("b")), None),
        ("b", "null", format!("{crash}, {}", exits("b")), Some("FailedJobs")),
        ("b", "{maxRestarts: 0}", format!("{crash}, {}", exits("b")), Some("ReachedMaxRestarts")),
        ("a", "{maxRestarts: 1}", format!("{crash}, {}", exits("a")), Some("ReachedMaxRestarts")),
    ] {
        let a = if second == "a" { policy } else { MANY };
        let rest = format!(
            "jobSets: [{{manifest: a.yaml}}, {{manifest: b.yaml}}]\nstop: {{at: 3h, when: Settled}}\nfaults: \
             [{faults}]\n"
        );
        let files = vec![("a.yaml", jobset_of("a", a)), ("b.yaml", jobset_of("b", policy))];
        let inputs = inputs("nodesPerIsland: 4", &rest, files);
        let why = inputs.explain(None);
        let condition = why.blocked.as_ref().map_or("", |blocked| &blocked.condition);
        assert_eq!(!condition.is_empty(), reason.is_some(), "{policy}: {condition}");
        assert!(condition.contains(reason.unwrap_or_default()), "{policy}: {condition}");
        assert_eq!(why.subject.jobset, if reason.is_none() { "a" } else { second }, "{policy}");
        assert!(why.others_lost.is_empty(), "{:?}", why.others_lost);
        // The explained restart is another one.
        let lost = inputs.explain(Some(1)).others_lost;
        assert_eq!(lost.len(), usize::from(reason.is_some() && second == "b"), "{policy}: {lost:?}");
        assert!(lost.iter().all(|sentence| sentence.contains(reason.unwrap_or_default())), "{lost:?}");
    }
}

const BUDGET: &str = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: p, namespace: default}\nspec: \
                      {maxUnavailable: 0, selector: {matchLabels: {jobset.sigs.k8s.io/jobset-name: a}}}\n";

/// Faults, containers, fields of the pod and of its container; cause, shortest and longest duration of the restart, and
/// the lever that acts on it.
#[test]
fn causes_and_waits_are_those_of_the_failure_itself() {
    let lost = "{at: 30m, crashNode: {alias: x}}, {at: 31m, deleteNode: {alias: x}}";
    let drained = format!("{{at: 10m, drainNode: {{ofPod: a-w-0-1, alias: x}}}}, {lost}");
    // The pods of the next attempt also tolerate the taint.
    let tainted = "{at: 10m, cordonNode: {ofPod: a-w-0-1}}, {at: 10m, taintNode: {ofPod: a-w-0-1, key: m, effect: \
                   NoExecute}}";
    let exit = "{at: 30m, containerExit: {pod: a-w-0-1}}";
    let evicted = format!("{{at: 10m, evictPod: {{pod: a-w-0-1}}}}, {exit}");
    let stays = "tolerations: [{key: m, operator: Exists, effect: NoExecute, tolerationSeconds: 300}], ";
    let tolerant = "tolerations: [{key: m, operator: Exists, effect: NoExecute}], ";
    let probe = "readinessProbe: {exec: {command: [a]}}";
    let slow = "containers: [{readyAfter: 100s}]";
    for (faults, rest, (pod, container), cause, (least, most), lever) in [
        (&*drained, "", ("", ""), "crashes", (100.0, 150.0), "earlier scripted action"),
        (&format!("{tainted}, {exit}"), "", (tolerant, ""), "exits with code 1", (4.0, 10.0), ""),
        (&evicted, "", ("", ""), "exits with code 1", (4.0, 10.0), ""),
        (tainted, "", (stays, ""), "tainted", (300.0, 310.0), "tolerationSeconds of a taint"),
        ("", "", ("", ""), "exceeded its activeDeadlineSeconds", (4.0, 10.0), "activeDeadlineSeconds of Jobs"),
        (exit, slow, ("", probe), "exits with code 1", (105.0, 125.0), ""),
    ] {
        let rest = format!(
            "jobSets: [{{manifest: a.yaml}}]\nobjects: [{{manifest: p.yaml}}]\nstop: {{at: 40m, when: Time}}\nfaults: \
             [{faults}]\n{rest}\n"
        );
        let mut a = jobset("a", "", (1, 4), MANY, "").replace("containers: [{", &format!("{pod}containers: [{{"));
        if !container.is_empty() {
            a = a.replace("image: x,", &format!("image: x, {container},"));
        }
        if faults.is_empty() {
            a = a.replace("parallelism", "activeDeadlineSeconds: 1500, parallelism");
        }
        let files = vec![("a.yaml", a), ("p.yaml", BUDGET.to_owned())];
        let why = inputs("nodesPerIsland: 6", &rest, files).explain(None);
        assert!(why.subject.cause.contains(cause), "{faults}: {:?}", why.subject);
        let time = why.subject.total().seconds();
        assert!((least..most).contains(&time), "{faults}: {:?}", why.subject);
        let best = why.what_if.iter().find(|w| w.parts_save.is_none()).map_or("", |w| &w.setting.lever);
        assert!(lever.is_empty() || best == lever, "{faults}: {best}");
        let waits = why.spans.iter().any(|span| span.waited_for.contains("readiness of the containers"));
        assert_eq!(waits, !container.is_empty(), "{faults}");
        assert!(!why.spans.iter().any(|span| span.waited_for.contains("barrier")), "{faults}");
    }
}

/// Four pods lose two of five nodes, or have four nodes of which others use two.
#[test]
fn the_fewest_nodes_that_shorten_a_wait_are_found() {
    let crash = |pod: u32| format!("{{at: 10m, crashNode: {{ofPod: a-w-0-{pod}, alias: x{pod}}}}}");
    let gone =
        |pod: u32| format!("{{at: 11m, deleteNode: {{alias: x{pod}}}}}, {{at: 50m, newNode: {{alias: x{pod}}}}}");
    let lost = [crash(0), crash(1), crash(2), gone(0), gone(1), gone(2)].join(", ");
    let first = "containers: [{jobSet: a, runFor: 40m}]\n";
    for (nodes, jobsets, rest, faults, value) in [
        (5, "{manifest: a.yaml}", "", &*lost, "7"),
        (6, "{manifest: a.yaml}, {manifest: b.yaml, submitAt: 1m}", first, "", "8"),
    ] {
        let rest = format!("jobSets: [{jobsets}]\nstop: {{at: 3h, when: Settled}}\nfaults: [{faults}]\n{rest}");
        let of = |name: &str| jobset(name, "", (1, 4), MANY, "");
        let files = vec![("a.yaml", of("a")), ("b.yaml", of("b"))];
        let why = inputs(&format!("nodesPerIsland: {nodes}"), &rest, files).explain(None);
        let (sets, _) = helping(&why, "spare node in each domain");
        assert_eq!(sets, [("topology.pools[0].nodesPerIsland".to_owned(), value.to_owned())], "{faults}");
    }
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
        let explained = ExplainedRestart {
            jobset: JobSetId(0),
            all: restarts(all),
            at: *at,
            later_faults: Vec::new(),
            is_lost_later: false,
        };
        let changed = restarts(changed);
        let seconds = |restart: &RestartOfRun| restart.start.0 / 1_000_000_000;
        let found = match explained.find(&changed) {
            FoundRestart::Same(restart) => Ok(seconds(restart)),
            FoundRestart::Instead(others) => Err(others.into_iter().map(seconds).collect::<Vec<_>>()),
        };
        assert_eq!(found, expected.map_err(<[u64]>::to_vec), "{all:?}, {at}, {changed:?}");
    }
}
