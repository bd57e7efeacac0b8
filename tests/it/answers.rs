//! Sentences and columns that users act on: the smallest value of a search, changes that `why` proposes, waits for
//! capacity, points without a rank, work that is done again, and inputs without an effect.

use crate::program::{program, scratch};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A scenario with one pool of nodes with one cpu each, and JobSet `a` with this number of Jobs and pods.
struct Case {
    name: &'static str,
    pool: &'static str,
    policy: &'static str,
    jobs: (u32, u32),
    rest: String,
    /// Further JobSets and files.
    files: Vec<(&'static str, String)>,
}

impl Case {
    fn new(name: &'static str, jobs: (u32, u32), rest: &str) -> Case {
        let pool = "nodesPerIsland: 3, allocatable: {cpu: 1}";
        Case { name, pool, policy: "maxRestarts: 5", jobs, rest: rest.to_owned(), files: Vec::new() }
    }

    fn dir(&self) -> PathBuf {
        // Tests run at the same time, and a case may be used several times.
        static CASES: AtomicU32 = AtomicU32::new(0);
        let dir = scratch(&format!("answers-{}-{}", self.name, CASES.fetch_add(1, Ordering::Relaxed)));
        let scenario = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology:\n  apiVersion: \
             jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n    - {{name: \"n-{{island}}-{{node}}\", \
             {}}}\n{}\n",
            self.pool, self.rest
        );
        fs::write(dir.join("s.yaml"), scenario).unwrap();
        fs::write(dir.join("a.yaml"), jobset("a", self.policy, self.jobs)).unwrap();
        self.files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
        dir
    }

    /// Returns the output of a command in the folder of the case.
    #[track_caller]
    fn output(&self, arguments: &[&str], code: i32) -> String {
        let dir = self.dir();
        let output = program(arguments).current_dir(&dir).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(output.status.code(), Some(code), "{}: {}", self.name, text(&output.stderr));
        fs::remove_dir_all(dir).unwrap();
        text(&output.stdout)
    }

    fn json(&self, arguments: &[&str], code: i32) -> Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--format", "json"]).collect();
        serde_json::from_str(&self.output(&arguments, code)).unwrap()
    }
}

/// Returns the numbers in a column of a table, with zero for an empty cell.
#[track_caller]
fn column(table: &str, name: &str) -> Vec<f64> {
    let mut rows = table.lines().map(|line| line.split(','));
    let column = rows.next().unwrap().position(|cell| cell == name).unwrap();
    rows.map(|mut cells| cells.nth(column).unwrap().parse().unwrap_or(0.0)).collect()
}

fn jobset(name: &str, policy: &str, (jobs, pods): (u32, u32)) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}}}\nspec:\n  failurePolicy: \
         {{{policy}}}\n  replicatedJobs:\n  - name: w\n    replicas: {jobs}\n    template: {{spec: {{parallelism: {pods}, \
         completions: {pods}, backoffLimit: 0, template: {{spec: {{restartPolicy: Never, terminationGracePeriodSeconds: 5, \
         containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}}}\n"
    )
}

const TRAINING: &str = "training: {work: 40h, step: 10s, checkpoint: {every: 30m, blocking: 20s, restore: 1m}}";
const PRICED: &str = "nodesPerIsland: 3, islands: 2, accelerator: a.com/c, pricePerNodeHour: 10, allocatable: {cpu: 1, \
                      a.com/c: 4}";

/// With an upper limit, the smallest value may satisfy a target that the largest one misses.
#[test]
fn a_search_for_an_upper_limit_finds_the_smallest_value() {
    let rest = format!(
        "jobSets: [{{manifest: a.yaml}}]\n{TRAINING}\nfaultProcesses: [{{cause: host, mtbf: 60h, backAfter: 5h}}]\nstop: {{at: 100h}}"
    );
    let case = Case { pool: PRICED, policy: "maxRestarts: 80", ..Case::new("upper-limit", (2, 2), &rest) };
    let search = |target: &str, code: i32| {
        let path = ["--path", "topology.pools[0].nodesPerIsland", "--min", "2", "--max", "6", "--seeds", "80"];
        case.json(&[&["plan", "spares", "s.yaml", "--target", target], &path[..]].concat(), code)
    };
    let found = search("cost.total.p90 <= 3900", 0);
    assert_eq!((&found["found"], &found["value"]), (&"least".into(), &2.into()), "{found}");
    let missed = search("cost.total.p90 <= 100", 3);
    assert_eq!(missed["found"], "nothing");
    let words = missed["conclusion"].to_string();
    assert!(words.contains("more makes it worse"), "{words}");
}

/// A change with which the fault of the restart finds no target, and an action on a node before its loss, save nothing.
#[test]
fn changes_do_not_remove_the_fault_and_act_on_lost_nodes_only() {
    let rest = "jobSets: [{manifest: a.yaml}]\nfaults:\n  - {at: 340s, deletePod: {pod: a-w-0-0}}\n  - {at: 347s, crashNode: \
                {ofPod: a-w-0-0}}\n  - {at: 1000s, returnNode: {node: n-0-0}}\nstop: {at: 1h}";
    let case = Case::new("own-fault", (1, 2), rest);
    let answer = case.json(&["why", "s.yaml"], 0);
    let rows = answer["whatIf"].as_array().unwrap();
    for row in rows {
        let sets: Vec<&str> = row["sets"].as_array().unwrap().iter().map(|set| set.as_str().unwrap()).collect();
        let arguments: Vec<&str> =
            ["run", "s.yaml"].into_iter().chain(sets.iter().flat_map(|set| ["--set", set])).collect();
        let text = case.output(&arguments, 0);
        assert!(!text.contains("no such node at 347"), "{row}");
    }
    let rest = "jobSets: [{manifest: a.yaml}, {manifest: b.yaml, submitAt: 1m}]\ncontainers: [{jobSet: a, runFor: 30m}, {jobSet: \
                b, runFor: 3h}]\nfaults:\n  - {at: 1200s, deleteNode: {ofPod: a-w-0-0}}\n  - {at: 4800s, crashNode: {ofPod: \
                b-w-0-0, alias: x}}\n  - {at: 6000s, returnNode: {alias: x}}\nstop: {at: 24h}";
    let files = vec![("b.yaml", jobset("b", "maxRestarts: 5", (1, 1)))];
    let case = Case { files, ..Case::new("lost-nodes", (1, 2), rest) };
    let text = case.output(&["why", "s.yaml", "--restart", "1"], 0);
    assert!(text.contains("not ready meanwhile: n-0-0"), "{text}");
    assert!(!text.contains("at: 1500s, deleteNode: {node: n-0-2}"), "{text}");
    assert!(text.contains("at: 1500s, newNode: {node: n-0-0}"), "{text}");
}

/// Another failure during a wait for capacity does not move the wait to another phase.
#[test]
fn waits_for_capacity_stay_in_their_phase_when_something_else_fails() {
    let two = "nodesPerIsland: 2, allocatable: {cpu: 1}";
    let start = "jobSets: [{manifest: a.yaml}]\ncontainers: [{runFor: 2h}]\nstop: {at: 6h}\nfaults:\n";
    let drained = "  - {at: 1200s, drainNode: {ofPod: a-w-0-0, alias: x}}\n";
    let fails = format!("{start}{drained}  - {{at: 1840s, containerExit: {{pod: a-w-0-0}}}}\n");
    let single = format!(
        "{start}  - {{at: 1000s, cordonNode: {{node: n-0-2}}}}\n{drained}  - {{at: 1500s, containerExit: {{pod: \
         a-w-1-0}}}}\n  - {{at: 1800s, uncordonNode: {{alias: x}}}}\n"
    );
    let restarts_one = "maxRestarts: 5, rules: [{name: x, action: RestartJob}]";
    for (case, least, most) in [
        (Case { pool: two, policy: "maxRestarts: 1", ..Case::new("fails", (1, 2), &fails) }, 630.0, 640.0),
        (Case { policy: restarts_one, ..Case::new("single", (2, 1), &single) }, 590.0, 600.0),
    ] {
        let table = case.output(&["run", "s.yaml", "--format", "csv"], 0);
        let capacity = column(&table, "capacity_s")[0];
        assert!((least..most).contains(&capacity), "{}: {capacity} s\n{table}", case.name);
    }
}

/// A point that completes fewer replications has no rank if its mean is better.
#[test]
fn a_sweep_does_not_rank_points_that_complete_less() {
    let rest = format!(
        "jobSets: [{{manifest: a.yaml}}]\n{TRAINING}\nfaultProcesses:\n  - {{cause: host, mtbf: 60h, backAfter: 10m}}\n  - {{cause: \
         prog, 'on': Pod, mtbf: 60h}}\nstop: {{at: 60h}}"
    );
    let case = Case { pool: PRICED, ..Case::new("ranks", (2, 2), &rest) };
    let grid = "spec.failurePolicy.maxRestarts=2,20";
    let arguments = ["sweep", "s.yaml", "--seeds", "12", "--grid", grid, "--metric", "restartLatency_s.p50"];
    let text = case.output(&arguments, 0).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("not ranked, because fewer of their replications complete: maxRestarts=2"), "{text}");
    assert!(text.contains("! maxRestarts=2 "), "{text}");
}

/// The work that a restart makes a job do again is counted once.
#[test]
fn work_is_done_again_once() {
    let rest = "jobSets: [{manifest: a.yaml}]\ntraining: {work: 6h, step: 10s, checkpoint: {every: 10m, blocking: 5s}}\n\
                controlPlane: {kubeScheduler: {ties: InOrder}}\nfaults: [{at: 1h, containerExit: {pod: a-w-0-0}}]\n\
                faultProcesses: [{cause: sdc, does: Corrupt, trace: tr.csv, foundAfter: 2h}]\nstop: {at: 20h}";
    let files = vec![("tr.csv", "time,node\n30m,n-0-0\n".to_owned())];
    let case = Case { files, ..Case::new("redo", (1, 2), rest) };
    let redo: f64 = column(&case.output(&["run", "s.yaml", "--format", "csv"], 0), "redo_s").iter().sum();
    let run = case.json(&["run", "s.yaml"], 0);
    let lost = run["jobSets"][0]["training"]["time_s"]["lost"].as_f64().unwrap();
    assert!(lost > 1000.0 && (redo - lost).abs() < 1.0, "{redo} s of {lost} s");
}

#[test]
fn a_jobset_that_nothing_resumes_is_blocked_whatever_ends_the_run() {
    let rest = "jobSets: [{manifest: a.yaml}]\nfaults: [{at: 60s, suspendJobSet: {name: a}}]\n";
    for more in
        ["stop: {at: 2h, when: Time}", "stop: {at: 2h}\nfaultProcesses: [{cause: host, mtbf: 1h, backAfter: 5m}]"]
    {
        let case = Case::new("suspended", (1, 2), &format!("{rest}{more}"));
        case.output(&["run", "s.yaml", "--seeds", "2", "--fail-if", "blocked > 0"], 5);
    }
}

#[test]
fn fields_without_an_effect_are_named() {
    let rest = "jobSets: [{manifest: a.yaml}]\ncontainers: [{podIndex: 0, runFor: 1h, podFails: true}, {jobRestart: 1, runFor: 2h}]\n\
                stop: {at: 2h}";
    let pool = "nodesPerIsland: 3, pricePerNodeHour: 10, allocatable: {cpu: 1}";
    let case = Case { pool, ..Case::new("no-effect", (1, 2), rest) };
    let text = case.output(&["run", "s.yaml"], 0).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "the price of topology.pools[0] has no effect",
        "containers[0].podFails has no effect: no JobSet restarts in place",
        "containers[1] never applies: no rule restarts single Jobs (jobRestart)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// Sizes of pools are chosen, and a range of 10 % needs a number of at least ten.
#[test]
fn sizes_of_pools_are_decisions_and_vary_by_a_tenth() {
    let rest = format!(
        "jobSets: [{{manifest: a.yaml}}]\n{TRAINING}\nfaultProcesses: [{{cause: host, mtbf: 60h, backAfter: 5h}}]\nstop: {{at: 60h}}"
    );
    let case = Case { pool: PRICED, policy: "maxRestarts: 80", ..Case::new("sizes", (2, 2), &rest) };
    let input = "topology.pools[0].nodesPerIsland=3..4";
    let answer = case.json(&["sensitivity", "s.yaml", "--input", input, "--seeds", "2"], 0);
    assert_eq!(answer["bars"][0]["decision"], true, "{answer}");
    let answer = case.json(&["sensitivity", "s.yaml", "--ranges", "--seeds", "2"], 0);
    assert!(!answer["bars"].to_string().contains("topology.pools"), "{answer}");
    let larger = PRICED.replace("nodesPerIsland: 3", "nodesPerIsland: 20");
    let case = Case { pool: Box::leak(larger.into_boxed_str()), ..case };
    let answer = case.json(&["sensitivity", "s.yaml", "--ranges", "--seeds", "2"], 0);
    let text = answer["bars"].to_string();
    assert!(text.contains("topology.pools[0].nodesPerIsland") && text.contains("\"22\""), "{text}");
}

/// A pod that fits nowhere at the start may fit after an action of the script.
#[test]
fn actions_that_change_nodes_make_room_for_pods_that_do_not_fit_at_the_start() {
    let patch = |section: &str| format!("patch: {{kind: Node, name: n-0-1, {section}}}");
    let node = "create: {object: {apiVersion: v1, kind: Node, metadata: {name: new, labels: {zone: z}}, status: \
                {allocatable: {cpu: '1', pods: '110', a.com/c: '4'}, conditions: [{type: Ready, status: 'True'}]}}}";
    let selected = ["nodeSelector: {zone: z}", "requests: {cpu: 1}"];
    let large = ["", "requests: {cpu: 4}"];
    let other = ["", "requests: {cpu: 1}, limits: {a.com/c: 4}"];
    let rows = [
        ("a label", patch("merge: {metadata: {labels: {zone: z}}}"), selected),
        ("capacity", patch("status: true, merge: {status: {allocatable: {cpu: '16'}}}"), large),
        ("another resource", patch("status: true, merge: {status: {allocatable: {a.com/c: '4'}}}"), other),
        ("another node", node.to_owned(), other),
    ];
    for (what, action, [spec, requests]) in rows {
        let rest =
            format!("jobSets: [{{manifest: a.yaml}}]\nfaults: [{{at: 20s, {action}}}]\nstop: {{at: 1m, when: Time}}");
        let manifest = jobset("a", "maxRestarts: 0", (1, 1)).replace("requests: {cpu: 1}", requests);
        let manifest =
            manifest.replace("restartPolicy", &[spec, "restartPolicy"].join(if spec.is_empty() { "" } else { ", " }));
        let case = Case { files: vec![("a.yaml", manifest)], ..Case::new("room", (1, 1), &rest) };
        let text = case.output(&["run", "s.yaml"], 0);
        assert!(text.contains("JobSet a: every pod is ready"), "{what}: {text}");
        let without = case.rest.replace(&action, "cordonNode: n-0-0");
        let without = Case { rest: without, files: case.files.clone(), ..Case::new("no-room", (1, 1), "") };
        without.output(&["run", "s.yaml"], 2);
    }
}

/// No event requeues a pod whose namespaceSelector matches because of a changed label: kube-scheduler tries it again
/// when it has waited for 5 min (`flushUnschedulablePodsLeftover`), every 30 s.
#[test]
fn a_changed_label_of_a_namespace_helps_a_waiting_pod_after_five_minutes() {
    let affinity = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: \
                    kubernetes.io/hostname, labelSelector: {matchLabels: {app: t}}, namespaceSelector: {matchLabels: \
                    {team: red}}}]}}, restartPolicy";
    let space = |name: &str, team: &str| {
        format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, labels: {{team: {team}}}}}}}")
    };
    let rest = format!(
        "jobSets: [{{manifest: a.yaml}}, {{manifest: b.yaml, submitAt: 2s}}]\nobjects: [{}, {}]\nfaults: [{{at: 20s, patch: \
         {{kind: Namespace, name: other, merge: {{metadata: {{labels: {{team: red}}}}}}}}}}]\nstop: {{at: 10m, when: Time}}",
        space("own", "red"),
        space("other", "blue")
    );
    let first = jobset("a", "maxRestarts: 0", (1, 1)).replace("name: a}", "name: a, namespace: other}");
    let first = first.replace("template: {spec: {restart", "template: {metadata: {labels: {app: t}}, spec: {restart");
    let second = jobset("b", "maxRestarts: 0", (1, 1)).replace("name: b}", "name: b, namespace: own}");
    let second = second.replace("restartPolicy", affinity);
    let files = vec![("a.yaml", first), ("b.yaml", second)];
    let pool = "nodesPerIsland: 3, allocatable: {cpu: 8}, labels: {kubernetes.io/hostname: \"n-{island}-{node}\"}";
    let text = Case { pool, files, ..Case::new("namespaces", (1, 1), &rest) }.output(&["run", "s.yaml"], 0);
    // The attempt at 1 s and 5 min is over at the check at 5 min 30 s.
    let ready = text.lines().find(|line| line.contains("JobSet b: every pod is ready")).unwrap_or_default();
    assert!(ready.trim().starts_with("332."), "{text}");
}

/// With backoffLimitPerIndex, the decision log prints the back-off of each index.
#[test]
fn the_decision_log_creates_no_pod_whose_index_is_in_its_back_off() {
    let rest = "jobSets: [{manifest: a.yaml}]\ncontainers: [{podIndex: 1, runFor: 10s, exitCode: 3}, {runFor: 100s}]\nstop: \
                {at: 5m}";
    let manifest = jobset("a", "maxRestarts: 0", (1, 3));
    let manifest = manifest.replace("backoffLimit: 0", "backoffLimitPerIndex: 1, completionMode: Indexed");
    let case = Case { files: vec![("a.yaml", manifest)], ..Case::new("index-back-off", (1, 3), rest) };
    let text = case.output(&["run", "s.yaml", "--trace", "decisions"], 0);
    assert_eq!(text.matches("before pods are created again (back-off)").count(), 1, "{text}");
    assert_eq!(text.matches("creates    1 pod").count(), 1, "{text}");
}

/// The pools that do not serve the JobSet come first, as in a list of nodes by name.
#[test]
fn spare_nodes_are_tried_in_the_pools_that_serve_the_jobset() {
    let rest = "jobSets: [{manifest: a.yaml}]\ncontainers: [{runFor: 8h}]\nfaults: [{at: 1h, crashNode: {node: d-1}}]\nstop: {at: 4h}";
    let pool = |name: &str| {
        format!("name: \"{name}-{{node}}\", labels: {{pool: {name}}}, nodesPerIsland: 2, allocatable: {{cpu: 1}}")
    };
    let pools = ["a", "b", "c", "d"].map(pool).join("}\n    - {");
    let pools: &'static str = Box::leak(pools.into_boxed_str());
    let manifest =
        jobset("a", "maxRestarts: 5", (1, 2)).replace("restartPolicy", "nodeSelector: {pool: d}, restartPolicy");
    let mut case = Case { files: vec![("a.yaml", manifest)], ..Case::new("pools", (1, 2), rest) };
    case.pool = pools;
    let dir = case.dir();
    let scenario = fs::read_to_string(dir.join("s.yaml")).unwrap().replace("{name: \"n-{island}-{node}\", ", "{");
    case.files.push(("s.yaml", scenario));
    let text = case.output(&["why", "s.yaml"], 0);
    assert!(
        text.contains("topology.pools[3].count=2") || text.contains("topology.pools[3].nodesPerIsland=3"),
        "{text}"
    );
}

/// A repair after the end of the run would have brought the node back: the JobSet is unfinished.
#[test]
fn a_jobset_that_waits_for_a_pending_repair_is_not_blocked() {
    let rest = |fault: &str| {
        format!("jobSets: [{{manifest: a.yaml}}]\ncontainers: [{{runFor: 8h}}]\n{fault}\nstop: {{at: 2h}}")
    };
    let repaired = "faultProcesses: [{cause: host, mtbf: 2h, backAfter: 9h, from: 30m}]";
    let lost = "faults: [{at: 1h, crashNode: {node: n-0-0}}]";
    for (fault, blocked) in [(repaired, false), (lost, true)] {
        let policy =
            "podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, backoffLimit";
        let manifest = jobset("a", "maxRestarts: 5", (1, 3)).replace("backoffLimit", policy);
        let case = Case { files: vec![("a.yaml", manifest)], ..Case::new("pending-repair", (1, 3), &rest(fault)) };
        let text = case.output(&["run", "s.yaml"], 0);
        assert!(text.contains("which does not answer"), "{text}");
        assert_eq!(text.contains("JobSet a blocked"), blocked, "{fault}: {text}");
    }
}

/// A replication that is cut off before its work is done has less cost and accelerator time than a whole one.
#[test]
fn costs_and_accelerator_time_are_those_of_replications_that_complete() {
    let rest = format!(
        "jobSets: [{{manifest: a.yaml}}]\n{TRAINING}\nfaultProcesses: [{{cause: host, mtbf: 60h, backAfter: 5h}}]\nstop: {{at: 52h}}"
    );
    let case = Case { pool: PRICED, policy: "maxRestarts: 80", ..Case::new("cut-costs", (2, 2), &rest) };
    let all = case.json(&["run", "s.yaml", "--seeds", "20"], 0);
    let metric = &all["metrics"]["cost.total"]["n"];
    assert_eq!(&all["cost"]["total"]["n"], metric, "{all}");
    assert_eq!(&all["ledger"]["productive"]["n"], metric, "{all}");
    assert!((1..20).contains(&metric.as_u64().unwrap()), "{all}");
}

#[test]
fn a_suspended_jobset_that_kueue_does_not_manage_does_not_start() {
    let manifest = jobset("a", "maxRestarts: 0", (1, 1)).replace("spec:\n", "spec:\n  suspend: true\n");
    let case = Case { files: vec![("a.yaml", manifest)], ..Case::new("suspended", (1, 1), "") };
    let text = case.output(&["admit", "-f", "a.yaml", "-t", "small-16"], 4);
    assert!(text.contains("it is suspended until spec.suspend is set to false"), "{text}");
}

/// Each gated pod needs an action of its own.
#[test]
fn all_pods_with_scheduling_gates_are_counted() {
    let rest = "jobSets: [{manifest: a.yaml}]\nstop: {at: 1h}";
    let manifest = jobset("a", "maxRestarts: 0", (1, 3));
    let manifest = manifest.replace("restartPolicy", "schedulingGates: [{name: e.com/g}], restartPolicy");
    let case = Case { files: vec![("a.yaml", manifest)], ..Case::new("gates", (1, 3), rest) };
    let text = case.output(&["run", "s.yaml"], 0).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("pod a-w-0-0 and 2 others have scheduling gates"), "{text}");
    assert!(text.contains("a scenario can remove them with one action per pod"), "{text}");
}

/// An import lists the nodes with their own labels.
#[test]
fn labels_that_only_listed_nodes_have_are_levels_and_failure_domains() {
    let rest = "jobSets: [{manifest: a.yaml}]\nfaultProcesses: [{cause: rack, on: {label: rack}, mtbf: 1h, backAfter: 1m}]\nstop: \
                {at: 10h, when: Time}\nseed: 1";
    let case = Case {
        pool: "nodesPerIsland: 2, allocatable: {cpu: 1}, nodes: [{name: x1, labels: {rack: a}}, {name: x2, labels: {rack: b}}]}\n  dcnLevels:\n    - {name: rack, label: rack, gbitsPerSecond: 100",
        ..Case::new("listed", (1, 2), rest)
    };
    let text = case.output(&["run", "s.yaml"], 0);
    assert!(text.contains("(rack)"), "{text}");
}

/// With stages and crews, the repair of a node takes less time with another crew or faster stages.
#[test]
fn crews_and_stages_of_repairs_are_levers() {
    let rest = "jobSets: [{manifest: a.yaml}]\ncontainers: [{runFor: 20d}]\nfaultProcesses: [{cause: host, mtbf: 4d}]\nnodeRepair: \
                {stages: [{name: swap, takes: 12h}], crews: 1}\nstop: {at: 10d}";
    let text = Case { policy: "maxRestarts: 500", ..Case::new("crews", (1, 3), rest) }
        .output(&["why", "s.yaml", "--restart", "1"], 0);
    assert!(text.contains("nodeRepair.stages[0].takes="), "{text}");
    assert!(text.contains("repair time of random faults") && text.contains("repair crews"), "{text}");
}

/// The head of a StrictFIFO queue keeps those behind it from being tried: only then do they lack quota.
#[test]
fn a_wait_behind_the_head_of_a_queue_is_not_one_for_quota() {
    let queue = |kind: &str, name: &str, spec: &str| {
        format!("{{apiVersion: kueue.x-k8s.io/v1beta2, kind: {kind}, metadata: {{name: {name}}}, spec: {spec}}}")
    };
    let quota = "{namespaceSelector: {}, queueingStrategy: StrictFIFO, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, \
                 resources: [{name: cpu, nominalQuota: 3}]}]}]}";
    let objects = [
        queue("ResourceFlavor", "f", "{}"),
        queue("ClusterQueue", "cq", quota),
        queue("LocalQueue", "q", "{clusterQueue: cq}"),
    ];
    let rest = format!(
        "objects: [{}]\njobSets: [{{manifest: a.yaml}}, {{manifest: b.yaml, submitAt: 1m}}, {{manifest: c.yaml, submitAt: 2m}}]\n\
         containers: [{{runFor: 1h}}]\nstop: {{at: 6h}}",
        objects.join(", ")
    );
    let queued = |name: &str, pods: u32| {
        let labels = format!("{{name: {name}, labels: {{kueue.x-k8s.io/queue-name: q}}}}");
        jobset(name, "maxRestarts: 0", (1, pods)).replace(&format!("{{name: {name}}}"), &labels)
    };
    let files = vec![("a.yaml", queued("a", 2)), ("b.yaml", queued("b", 3)), ("c.yaml", queued("c", 1))];
    let text = Case { files, ..Case::new("behind", (1, 1), &rest) }.output(&["run", "s.yaml", "--verbose"], 0);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "of JobSet b, the head of a StrictFIFO ClusterQueue, 3485 s; then WaitingForQuota";
    assert!(text.contains(expected), "{text}");
}

/// Inputs that are simulated, although one of them can have no effect.
#[test]
fn fields_that_never_act_are_named() {
    let of = |fields: &str| format!("jobSets: [{{manifest: a.yaml}}]\n{fields}\nstop: {{at: 50h}}");
    for (name, fields, expected) in [
        (
            "back",
            "faultProcesses: [{cause: h, mtbf: 5d, backAfter: 10m, deletedAfter: 1h}]",
            "its nodes are back after 10m",
        ),
        (
            "grace", "containers: [{runFor: 1h, stopAfter: 5m}]",
            "stopAfter 5m is longer than the grace period of its pods",
        ),
        (
            "steps",
            "training: {work: 40h, step: 45m, checkpoint: {every: 30m}}",
            "training.checkpoint.every 30m is shorter than training.step 45m",
        ),
    ] {
        let text = Case::new(name, (1, 1), &of(fields)).output(&["run", "s.yaml"], 0);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(expected), "{name}: {text}");
    }
}

/// Taints that replace the one that was to evict a pod, and that it tolerates without limit, cancel the eviction. A
/// condition that no failed pod has is named.
#[test]
fn taints_that_are_tolerated_without_limit_cancel_an_eviction() {
    let tolerant = |rules: &str| {
        jobset("a", "maxRestarts: 5", (1, 1)).replace("backoffLimit: 0", &format!("backoffLimit: 0{rules}")).replace(
            "restartPolicy: Never",
            "restartPolicy: Never, tolerations: [{key: maint, operator: Exists, effect: NoExecute, tolerationSeconds: \
             600}, {key: keep, operator: Exists, effect: NoExecute}]",
        )
    };
    let patch =
        "- {at: 12m, patch: {kind: Node, name: n-0-0, merge: {spec: {taints: [{key: keep, effect: NoExecute}]}}}}";
    let odd = ", podFailurePolicy: {rules: [{action: FailJob, onPodConditions: [{type: example.com/Odd}]}]}";
    for (name, patch, rules, expected) in
        [("maint", "", "", "2 restarts"), ("keep", patch, odd, "no failed pod has the condition example.com/Odd")]
    {
        let rest = format!(
            "jobSets: [{{manifest: a.yaml}}]\nfaults:\n- {{at: 10m, taintNode: {{ofPod: a-w-0-0, key: maint, effect: \
             NoExecute}}}}\n{patch}\nstop: {{at: 60m, when: Time}}"
        );
        let mut case = Case::new(name, (1, 1), &rest);
        case.files.push(("a.yaml", tolerant(rules)));
        let text = case.output(&["run", "s.yaml"], 0);
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.contains("no restart"), !patch.is_empty(), "{text}");
    }
}

/// The taint out-of-service counts with any effect (`pkg/controller/podgc`).
#[test]
fn a_node_is_out_of_service_whatever_the_effect_of_the_taint() {
    let rest = "jobSets: [{manifest: a.yaml}]\nfaults:\n- {at: 10m, crashNode: {ofPod: a-w-0-0, alias: lost}}\n- {at: \
                12m, taintNode: {alias: lost, key: node.kubernetes.io/out-of-service, effect: NoSchedule}}\nstop: {at: \
                60m, when: Time}";
    let text = Case::new("out-of-service", (1, 1), rest).output(&["run", "s.yaml"], 0);
    assert!(text.contains("1 restart") && !text.contains("never ready again"), "{text}");
}

/// Options that another option or the kind of input makes meaningless are errors.
#[test]
fn options_without_an_effect_are_rejected() {
    let of = |fields: &str| format!("jobSets: [{{manifest: a.yaml}}]\n{fields}\nstop: {{at: 50h}}");
    let case = |name| Case::new(name, (1, 1), &of(TRAINING));
    for (name, arguments) in [
        ("seeds", "plot gantt s.yaml --seeds 3 --out x.svg"),
        ("case", "plot cdf s.yaml --case a --out x.svg"),
        ("restart", "plot map s.yaml --restart 1 --at 1h --out x.svg"),
        ("scrape", "report s.yaml --scrape 5s --html x.html"),
        ("step", "sensitivity s.yaml --ranges --step 5"),
        ("horizon", "admit -f a.yaml --horizon 3d"),
        ("effective", "run s.yaml --show-effective --out x"),
        ("trace", "run s.yaml --check-level --trace none"),
        ("range", "plan spares s.yaml --path topology.pools[0].islands=1..3 --max 3 --target goodput.p50>=0.5"),
        (
            "price",
            "plan spares s.yaml --path topology.pools[0].islands --price-per-node-hour 3 --target goodput.p50>=0.5",
        ),
        ("interval", "plan interval s.yaml --path training.checkpoint.blocking"),
        (
            "over",
            "plan breakeven s.yaml --b x:training.step=20s --over training.step=10s..30s --metric goodput --seeds 3",
        ),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        case(name).output(&words, 2);
    }
}

/// The best of the simulated intervals wins if the curve is no parabola: a checkpoint that commits long after the next
/// one has begun loses all work until the interval is as long as the delay.
#[test]
fn a_simulated_interval_that_is_better_than_the_vertex_is_the_best_one() {
    let training = TRAINING.replace("blocking: 20s", "blocking: 20s, commitDelay: 30m");
    let rest = format!(
        "jobSets: [{{manifest: a.yaml}}]\n{training}\nfaultProcesses: [{{cause: h, on: Pod, mtbf: 4h, exitCode: 1}}]\n\
         stop: {{at: 50h}}"
    );
    let mut case = Case::new("interval", (1, 1), &rest);
    case.policy = "maxRestarts: 1000";
    let json = case.json(&["plan", "interval", "s.yaml", "--seeds", "40"], 0);
    let points = json["points"].as_array().unwrap();
    let mean = |point: &Value| point["metric"]["mean"].as_f64().unwrap();
    let best = points.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap();
    assert_eq!(json["every_s"], best["every_s"], "{json}");
    assert_eq!(json["every_ci95_s"], Value::Null);
}

/// `new` warns if its cluster does not hold the JobSets.
#[test]
fn a_new_scenario_that_cannot_run_is_announced() {
    let dir = scratch("answers-new");
    fs::write(dir.join("a.yaml"), jobset("a", "maxRestarts: 5", (4, 400))).unwrap();
    for (topology, is_warned) in [("small-16", true), ("flat-5000", false)] {
        let output = program(&["new", "-f", "a.yaml", "-t", topology]).current_dir(&dir).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(text.contains("warning:"), is_warned, "{topology}: {text}");
        assert!(output.status.success());
    }
    fs::remove_dir_all(dir).unwrap();
}
