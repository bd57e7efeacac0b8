//! What counts for a training job: pods that were replaced on lost nodes, causes of interruptions, the end of a run,
//! and costs.

use crate::program::{program, scratch};
use serde_json::Value;
use std::fs;

/// Files, and what the scenario has beyond its cluster, JobSet and training.
struct Case {
    name: &'static str,
    nodes: u32,
    pool: &'static str,
    backoff_limit: u32,
    max_restarts: u32,
    training: &'static str,
    rest: String,
    files: &'static [(&'static str, &'static str)],
}

impl Case {
    /// Four pods of two Jobs on six nodes, which train for five hours.
    fn new(name: &'static str, rest: &str) -> Case {
        Case {
            name,
            nodes: 6,
            pool: "pricePerNodeHour: 4",
            backoff_limit: 6,
            max_restarts: 100,
            training: "{work: 5h, step: 6s, checkpoint: {every: 1h, restore: 1m}}",
            rest: rest.to_owned(),
            files: &[],
        }
    }

    #[track_caller]
    fn run(&self, arguments: &[&str], code: i32) -> String {
        let dir = scratch(&format!("accounts-{}", self.name));
        let scenario = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: b}}\ntopology:\n  apiVersion: \
             jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n    - {{name: \"n-{{node}}\", \
             nodesPerIsland: {}, {}, accelerator: a.com/c, allocatable: {{cpu: 8, a.com/c: 4}}}}\njobSets: [{{manifest: \
             js.yaml}}]\ntraining: {}\nseed: 1\n{}\n",
            self.nodes, self.pool, self.training, self.rest
        );
        let jobset = format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: a}}\nspec:\n  failurePolicy: \
             {{maxRestarts: {}}}\n  replicatedJobs:\n  - name: w\n    replicas: 2\n    template: {{spec: {{parallelism: 2, \
             completions: 2, backoffLimit: {}, template: {{spec: {{restartPolicy: Never, terminationGracePeriodSeconds: 5, \
             containers: [{{name: main, image: x, resources: {{limits: {{a.com/c: 4}}}}}}]}}}}}}}}\n",
            self.max_restarts, self.backoff_limit
        );
        let own = [("b.yaml", scenario.as_str()), ("js.yaml", jobset.as_str())];
        own.iter().chain(self.files).for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
        let output = program(arguments).current_dir(&dir).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(output.status.code(), Some(code), "{}: {}", self.name, text(&output.stderr));
        fs::remove_dir_all(dir).unwrap();
        text(&output.stdout)
    }

    #[track_caller]
    fn summary(&self, arguments: &[&str]) -> Value {
        let all = [&["run", "b.yaml", "--format", "json", "--quiet"][..], arguments].concat();
        serde_json::from_str(&self.run(&all, 0)).unwrap()
    }

    /// The restarts: strategy, cause and start.
    #[track_caller]
    fn restarts(&self) -> Vec<[String; 3]> {
        let csv = self.run(&["run", "b.yaml", "--format", "csv", "--quiet"], 0);
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        csv.lines().skip(1).map(cells).map(|row| [2, 3, 4].map(|column| row[column].clone())).collect()
    }
}

const FINISHED: &str = "stop: {at: 1d, when: AllJobSetsFinished}";

/// The node of a pod is lost at 6,000 s, and its Job replaces the pod on a free node. Later events on the lost
/// node do not concern the training.
#[test]
fn pods_that_were_replaced_on_a_lost_node_neither_stop_nor_slow_nor_corrupt_a_training() {
    const NODE: &str = "node,time\nn-1,8000s\n";
    let away = "faults: [{at: 6000s, partitionNode: {node: n-1}}, {at: 12000s, returnNode: {node: n-1}}]\n";
    for (name, rest) in [
        ("new machine", "faults: [{at: 6000s, crashNode: {node: n-1}}, {at: 7800s, newNode: {node: n-1}}]".to_owned()),
        (
            "crash of a lost node",
            "faults: [{at: 6000s, partitionNode: {node: n-1}}, {at: 8000s, crashNode: {node: n-1}}, {at: 9000s, \
             returnNode: {node: n-1}}]"
                .to_owned(),
        ),
        ("slow", away.to_owned() + "faultProcesses: [{cause: s, trace: n.csv, does: Slow, factor: 2, backAfter: 1h}]"),
        ("corrupt", away.to_owned() + "faultProcesses: [{cause: s, trace: n.csv, does: Corrupt, foundAfter: 1h}]"),
        ("hang", away.to_owned() + "faultProcesses: [{cause: s, trace: n.csv, does: Hang, detectedAfter: 1h}]"),
    ] {
        let case = Case { files: &[("n.csv", NODE)], ..Case::new("ghosts", &format!("{rest}\n{FINISHED}")) };
        let training = &case.summary(&[])["jobSets"][0]["training"];
        let goodput = training["goodput"].as_f64().unwrap();
        assert!((goodput - 0.8649).abs() < 0.001, "{name}: goodput {goodput}");
        assert_eq!(training["interruptions"], 1, "{name}");
    }
}

#[test]
fn random_faults_do_not_prolong_a_run_after_its_last_jobset() {
    let faults = "faultProcesses: [{cause: host, mtbf: 2d, backAfter: 1h, deletedAfter: 10m}, {cause: sw, on: Pod, mtbf: \
                  1d}]\nstop: {at: 5d}";
    let case = Case { backoff_limit: 0, ..Case::new("settled", faults) };
    let of = |summary: &Value, key: &str| summary["metrics"][key]["mean"].as_f64().unwrap_or(f64::NAN);
    let settled = case.summary(&["--seeds", "6"]);
    let finished = case.summary(&["--seeds", "6", "--set", "stop.when=AllJobSetsFinished"]);
    let costs = [&settled, &finished].map(|summary| of(summary, "cost.toComplete"));
    assert!((costs[0] - costs[1]).abs() < 1.0, "{costs:?}");
    let end = case.summary(&[]);
    let conditions = end["jobSets"][0]["conditions"].as_array().unwrap();
    let completed = conditions.iter().find(|c| c["type"] == "Completed").unwrap();
    let completed = completed["lastTransitionTime_s"].as_f64().unwrap();
    let ended = end["end"]["t_s"].as_f64().unwrap();
    assert!(ended - completed < 600.0, "completed at {completed}, ended at {ended}");
    // Scripted actions are still carried out.
    let later = Case::new("later", "faults: [{at: 20h, deleteJobSet: {name: a}}]\nstop: {at: 5d}");
    assert!(later.summary(&[])["end"]["t_s"].as_f64().unwrap() >= 72_000.0);
}

/// A hang is a cause if its detector ends the process, also after other restarts, and no cause otherwise.
#[test]
fn hangs_are_causes_exactly_if_their_detectors_end_the_processes() {
    const HANG: &str = "pod,time\na-w-0-0,6000s\n";
    let hang = "{cause: hang, on: Pod, trace: h.csv, does: Hang, detectedAfter: 2h}";
    let between = Case {
        files: &[("h.csv", HANG)],
        ..Case::new(
            "between",
            &format!("faultProcesses: [{hang}]\nfaults: [{{at: 9000s, deletePod: {{pod: a-w-1-1}}}}]\n{FINISHED}"),
        )
    };
    let [deleted, detected] = &between.restarts()[..] else { panic!("two restarts") };
    assert_eq!((deleted[1].as_str(), deleted[2].as_str()), ("pod a-w-1-1 is deleted", "9000"));
    assert_eq!(detected[1], "the workload on pod a-w-0-0 hangs (hang)");
    for (pod, files) in [
        ("a-w-0-0", &[("h.csv", HANG), ("e.csv", "pod,time\na-w-0-0,9000s\n")] as &'static [(&str, &str)]),
        ("a-w-0-1", &[("h.csv", HANG), ("e.csv", "pod,time\na-w-0-1,9000s\n")]),
    ] {
        let faults = format!("faultProcesses: [{hang}, {{cause: sw, on: Pod, trace: e.csv, does: Exit}}]\n{FINISHED}");
        let case = Case { backoff_limit: 0, files, ..Case::new("exits", &faults) };
        let restarts = case.restarts();
        assert_eq!(restarts.len(), 1, "{pod}");
        assert_eq!(restarts[0][1], format!("the container of pod {pod} exits with code 1 (sw)"));
        assert_eq!(restarts[0][2], "9000");
    }
}

/// Lost work is divided among causes without a rest, also if the last one ends the JobSet.
#[test]
fn the_fault_that_fails_a_jobset_is_the_cause_of_its_last_losses() {
    let parts = |case: &Case| {
        let summary = case.summary(&["--seeds", "1"]);
        let estimates = summary["metrics"].as_object().unwrap().clone();
        let mean = |value: &Value| value["mean"].as_f64().unwrap();
        let lost = mean(&estimates["lost_s"]);
        let of: Vec<(String, f64)> = estimates
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix("lost_s.")?.to_owned(), mean(value))))
            .collect();
        let sum: f64 = of.iter().map(|(_, lost)| lost).sum();
        assert!((sum - lost).abs() < 1e-6, "{}: {of:?} of {lost}", case.name);
        of.into_iter().map(|(cause, _)| cause).collect::<Vec<_>>()
    };
    let random = Case {
        backoff_limit: 0,
        max_restarts: 1,
        ..Case::new("fatal", &format!("faultProcesses: [{{cause: sw, on: Pod, mtbf: 4h}}]\n{FINISHED}"))
    };
    assert_eq!(parts(&random), ["sw"]);
    let scripted = [
        "{at: 6000s, containerExit: {pod: a-w-0-0}}",
        "{at: 6000s, deletePod: {pod: a-w-0-0}}",
        "{at: 6000s, evictPod: {pod: a-w-0-0}}",
        "{at: 6000s, drainNode: {ofPod: a-w-0-0}}",
        "{at: 6000s, jobCondition: {job: a-w-0, type: Failed, reason: Test}}",
    ];
    for action in scripted {
        let rest = format!("faults: [{action}]\n{FINISHED}");
        let case = Case { backoff_limit: 0, max_restarts: 0, ..Case::new("fatal action", &rest) };
        assert_eq!(parts(&case), ["script"], "{action}");
    }
    let elastic = "{work: 5h, step: 6s, checkpoint: {every: 1h, restore: 1m}, elastic: {minSlices: 1}}";
    let rest = format!(
        "faults: [{{at: 6000s, partitionNode: {{ofPod: a-w-1-1, alias: x}}}}, {{at: 9000s, returnNode: {{alias: \
         x}}}}]\n{FINISHED}"
    );
    let case =
        Case { nodes: 4, backoff_limit: 0, max_restarts: 0, training: elastic, ..Case::new("fatal slice", &rest) };
    assert_eq!(parts(&case), ["script"]);
}

#[test]
fn elastic_training_has_factors_below_one_and_no_false_contradiction() {
    let training = |slices: u32| match slices {
        1 => "{work: 5h, step: 6s, checkpoint: {every: 1h, restore: 1m}, elastic: {minSlices: 1}}",
        _ => "{work: 5h, step: 6s, checkpoint: {every: 1h, restore: 1m}, elastic: {minSlices: 2}}",
    };
    let case = |slices: u32, fault: &str| Case {
        nodes: 4,
        backoff_limit: 0,
        training: training(slices),
        ..Case::new("elastic", &format!("faults: [{fault}]\n{FINISHED}"))
    };
    let lost = "{at: 6000s, partitionNode: {ofPod: a-w-1-1, alias: x}}, {at: 9000s, returnNode: {alias: x}}";
    let exit = "{at: 6000s, containerExit: {pod: a-w-1-1}}";
    for (slices, fault, contradiction) in [
        (1, lost, None),
        (1, exit, Some("minSlices 1 has no effect")),
        (2, lost, Some("minSlices 2 is the number of slices")),
    ] {
        let summary = case(slices, fault).summary(&[]);
        let warnings = summary["warnings"].to_string();
        assert_eq!(warnings.contains("minSlices"), contradiction.is_some(), "{slices} {fault}: {warnings}");
        assert!(contradiction.is_none_or(|text| warnings.contains(text)), "{warnings}");
        let factors = &summary["jobSets"][0]["training"]["mlProductivity"];
        for factor in ["scheduling", "runtime", "program"] {
            let share = factors[factor].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&share), "{slices} {fault}: {factor} {share}");
        }
    }
}

#[test]
fn checkpoints_that_are_lost_after_the_interruption_are_reported_at_the_next_start() {
    let case = Case {
        training: "{work: 5h, step: 6s, checkpoint: {every: 1h, restore: 1m, tiers: [{every: 5m, survives: Process, restore: \
                   10s}]}}",
        ..Case::new(
            "tiers",
            &format!(
                "faults: [{{at: 6000s, containerExit: {{pod: a-w-0-0}}}}, {{at: 6001s, crashNode: {{ofPod: a-w-1-1, alias: \
                 x}}}}, {{at: 6300s, deleteNode: {{alias: x}}}}]\n{FINISHED}"
            ),
        )
    };
    let text = case.run(&["run", "b.yaml", "--verbose", "--quiet"], 0);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "training resumed from step 600; another 2100 s of work until step 950 lost, whose checkpoints did not \
                survive";
    assert!(text.contains(line), "{text}");
}

#[test]
fn training_does_not_continue_without_a_process_that_succeeded() {
    let exit = format!("faults: [{{at: 100s, containerExit: {{pod: a-w-0-0, exitCode: 0}}}}]\n{FINISHED}");
    let case = Case::new("missing", &exit);
    let summary = case.summary(&[]);
    assert_eq!(summary["end"]["reason"], "Stuck");
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("cannot continue without pod a-w-0-0, which succeeded before"), "{warnings}");
    // Pods that succeed before the training begins are not missed.
    let done = Case::new("done", FINISHED).summary(&[]);
    assert_eq!(done["end"]["reason"], "AllJobSetsFinished");
}

#[test]
fn a_machine_on_demand_costs_nothing_after_its_node_was_deleted() {
    let case = Case {
        pool: "pricePerNodeHour: 4, billing: onDemand",
        ..Case::new("billing", &format!("faults: [{{at: 3600s, deleteNode: {{node: n-5}}}}]\n{FINISHED}"))
    };
    let summary = case.summary(&[]);
    let end = summary["end"]["t_s"].as_f64().unwrap();
    let expected = (5.0 * end + 3600.0) / 3600.0 * 4.0;
    let total = summary["cost"]["total"].as_f64().unwrap();
    assert!((total - expected).abs() < 0.01, "{total}, not {expected}");
}

/// Kueue evicts a JobSet again and again because a lost node comes back no more.
#[test]
fn a_jobset_that_kueue_evicts_and_resumes_is_not_recreated() {
    let objects = "objects:\n- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: \
        {}}\n- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, \
        resourceGroups: [{coveredResources: [a.com/c], flavors: [{name: f, resources: [{name: a.com/c, nominalQuota: \
        16}]}]}]}}\n- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q}, spec: {clusterQueue: cq}}\n";
    let rest = format!("{objects}faults: [{{at: 5000s, crashNode: {{ofPod: a-w-0-0}}}}]\n{FINISHED}");
    let case = Case { nodes: 8, backoff_limit: 0, ..Case::new("evicted", &rest) };
    let label = "jobSets[0].set=[\"metadata.labels={kueue.x-k8s.io/queue-name: q}\"]";
    let csv = case.run(&["run", "b.yaml", "--format", "csv", "--quiet", "--set", label], 0);
    let row = csv.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("a,0,Resume,"), "{csv}");
}

/// With `--paranoid`, the second run examines the plugins for each pod. What they see of a follower is the stored pod.
#[test]
fn followers_whose_leader_is_lost_keep_the_domain_of_their_selector() {
    let dir = scratch("accounts-followers");
    let pool = "{name: \"n-{pool}-{node}\", count: 2, nodesPerIsland: 4, accelerator: a.com/c, allocatable: {cpu: 8, a.com/c: \
                4}, labels: {cloud.google.com/gke-nodepool: \"p{pool}\"}}";
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: b}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools: [{pool}]\njobSets: [{{manifest: \
         js.yaml}}]\nfaults: [{{at: 8346s, crashNode: {{node: n-1-6}}}}, {{at: 9942s, crashNode: {{node: n-1-4}}}}, {{at: \
         15546s, returnNode: {{node: n-1-6}}}}, {{at: 17142s, returnNode: {{node: n-1-4}}}}]\nstop: {{at: 5h, when: Settled}}\n"
    );
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a, annotations: \
        {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool}}\nspec:\n  failurePolicy: {maxRestarts: \
        1000}\n  replicatedJobs:\n  - {name: w, replicas: 2, template: {spec: {parallelism: 4, completions: 4, backoffLimit: \
        100, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, resources: {limits: {a.com/c: \
        4}}}]}}}}}\n";
    fs::write(dir.join("b.yaml"), scenario).unwrap();
    fs::write(dir.join("js.yaml"), jobset).unwrap();
    for seed in 1..=8 {
        let seed = seed.to_string();
        let output =
            program(&["run", "b.yaml", "--paranoid", "--quiet", "--seed", &seed]).current_dir(&dir).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "seed {seed}: {}", String::from_utf8_lossy(&output.stderr));
    }
    fs::remove_dir_all(dir).unwrap();
}
