//! Defects found by new users and by chance: names longer than any table, messages, exit codes, files on a full
//! disk.

use crate::program::{program, run_with_stdin, scratch};
use std::fs;
use std::process::Output;

const SCENARIO: &str = "scenarios/first-steps.yaml";

fn run(arguments: &[&str], code: i32) -> Output {
    let output = program(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let text: String = text.chars().take(2000).collect();
    assert_eq!(output.status.code(), Some(code), "{text}");
    output
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns a name that exceeds 65,535 characters, the maximum width in Rust's formatter.
fn long_name() -> String {
    "A".repeat(70_000)
}

#[test]
fn overlong_name_only_shifts_its_own_row() {
    let variant = format!("{}: timing.plegPeriod=2s", long_name());
    run(&["compare", SCENARIO, "--variant", &variant, "--seeds", "2", "--quiet"], 0);
    let axis = format!("prices.currency=a,{}", long_name());
    for second in [&[][..], &["--grid", "timing.plegPeriod=1s,2s"]] {
        let mut words = vec!["sweep", SCENARIO, "--seeds", "2", "--quiet", "--grid", &axis];
        words.extend(second);
        run(&words, 0);
    }
    let dir = scratch("long-names");
    let text = fs::read_to_string(SCENARIO).unwrap();
    let named = text.replacen("name: first-steps", &format!("name: {}", long_name()), 1);
    assert_ne!(named, text);
    let place = fs::canonicalize("scenarios").unwrap();
    let named = named
        .replace("../topologies", &format!("{}/../topologies", place.display()))
        .replace("manifests/", &format!("{}/manifests/", place.display()));
    let file = dir.join("named.yaml");
    fs::write(&file, named).unwrap();
    run(&["bench", "ttr", file.to_str().unwrap(), "--quiet"], 0);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn nodes_with_more_digits_than_a_pool_can_count_are_imported_by_name() {
    let node = |i: u32| {
        let zeros = "0".repeat(70_000);
        format!(
            "{{\"kind\":\"Node\",\"metadata\":{{\"name\":\"n-{zeros}{i}\"}},\"status\":{{\"allocatable\":{{\"cpu\":\"4\",\
             \"pods\":\"110\"}},\"conditions\":[{{\"type\":\"Ready\",\"status\":\"True\"}}]}}}}"
        )
    };
    let list = format!("{{\"kind\":\"NodeList\",\"items\":[{},{}]}}", node(0), node(1));
    let output = run_with_stdin(&["topology", "import", "-"], &list);
    assert_ne!(output.status.code(), Some(1), "{:.500}", output_text(&output));
}

#[test]
fn what_cannot_be_placed_has_its_exit_code_in_why_as_well() {
    let manifest = "scenarios/manifests/exclusive-workers.yaml";
    let selector = "spec.replicatedJobs[0].template.spec.template.spec.nodeSelector={example.com/none: x}";
    for command in ["why", "run"] {
        let arguments = [command, "-f", manifest, "-t", "small-16", "--set", selector];
        let output = run(&arguments, 4);
        assert!(output_text(&output).contains("no node has the label"), "{}", output_text(&output));
    }
}

#[test]
fn a_scenario_states_how_it_can_be_compared_with_a_run() {
    let output = run(&["diff", SCENARIO, SCENARIO], 2);
    assert!(output_text(&output).contains("--out DIR"), "{}", output_text(&output));
}

#[cfg(unix)]
#[test]
fn a_baseline_without_end_is_rejected() {
    let arguments = ["bench", "ttr", "--case", "drain", "--nodes", "100", "--against", "/dev/zero"];
    let output = run(&arguments, 2);
    assert!(output_text(&output).contains("larger than 64 MiB"), "{}", output_text(&output));
}

#[test]
fn what_a_message_quotes_of_a_file_has_a_limit() {
    let dir = scratch("long-message");
    let file = dir.join("bench.json");
    let text = format!("{{\"schema\": \"jobset-sim/bench-ttr/v1\", \"rows\": \"{}\"}}", long_name());
    fs::write(&file, text).unwrap();
    let page = dir.join("page.html");
    let output = run(&["report", file.to_str().unwrap(), "--html", page.to_str().unwrap()], 2);
    assert!(output.stderr.len() < 2000, "{} bytes", output.stderr.len());
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn unobserved_probability_is_not_reported_as_zero() {
    let fleet = "scenarios/published/bloom-176b.yaml";
    let arguments =
        ["plan", "rare", fleet, "--horizon", "2", "--restarts", "1000", "--runs", "4", "--seeds", "2", "--quiet"];
    let output = run(&arguments, 0);
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("could not be estimated: no branch reached the limit"), "{text}");
    assert!(!text.contains("0 % to 0 %"), "{text}");
}

#[test]
fn a_scheduling_gate_that_was_taken_off_is_not_shown() {
    let dir = scratch("gates");
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec:\n  replicatedJobs:\n  \
                  - name: w\n    template: {spec: {template: {spec: {schedulingGates: [{name: example.com/g}], \
                  containers: [{name: c, image: x}]}}}}\n";
    fs::write(dir.join("a.yaml"), jobset).unwrap();
    let topologies = fs::canonicalize("topologies").unwrap();
    let show = "show: {kind: Pod, name: a-w-0-0, fields: [spec.schedulingGates]}";
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: gates}}\ntopology: {}/small-16.yaml\n\
         jobSets: [{{manifest: a.yaml}}]\nfaults:\n- {{at: 5s, {show}}}\n\
         - {{at: 6s, patch: {{kind: Pod, name: a-w-0-0, merge: {{spec: {{schedulingGates: null}}}}}}}}\n\
         - {{at: 9s, {show}}}\nstop: {{at: 1m}}\n",
        topologies.display()
    );
    let file = dir.join("gates.yaml");
    fs::write(&file, scenario).unwrap();
    let output = run(&["run", file.to_str().unwrap(), "--quiet"], 0);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("{\"spec.schedulingGates\":[{\"name\":\"example.com/g\"}]}"), "{text}");
    assert!(text.contains("{\"spec.schedulingGates\":null}"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

/// Runs JobSets on nodes `n-0`, `n-1` and `m-0` with 8 CPUs each; the last one has the label `k: b`. A JobSet is its
/// name, number of pods, CPUs per pod, and more fields of the pod. Returns the text of the run and the files `pods.csv`
/// and `events.ndjson`.
fn run_pods(name: &str, jobsets: &[(&str, u32, u32, &str)], rest: &str, code: i32) -> [String; 3] {
    let dir = scratch(name);
    for (jobset, pods, cpu, more) in jobsets {
        let manifest = format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {jobset}}}\nspec:\n  \
             failurePolicy: {{maxRestarts: 1}}\n  replicatedJobs:\n  - name: w\n    template:\n      spec:\n        \
             parallelism: {pods}\n        completions: {pods}\n        completionMode: Indexed\n        \
             backoffLimit: 0\n        template:\n          spec: {{restartPolicy: Never, containers: [{{name: c, \
             image: 'x:1', ports: [{{containerPort: 80PORT}}], resources: {{requests: {{cpu: {cpu}}}}}}}], {more}}}\n"
        );
        let (port, manifest) = match more.split_once("# port ") {
            Some((_, port)) => (format!(", hostPort: {port}"), manifest.replace(&format!("# port {port}"), "")),
            None => (String::new(), manifest),
        };
        fs::write(dir.join(format!("{jobset}.yaml")), manifest.replace("PORT", &port)).unwrap();
    }
    let manifests: Vec<String> = jobsets.iter().map(|(jobset, ..)| format!("{{manifest: {jobset}.yaml}}")).collect();
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: pods}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools: [{{name: 'n-{{node}}', \
         nodesPerIsland: 2, allocatable: {{cpu: 8, memory: 64Gi}}, labels: {{k: a}}}}, {{name: 'm-{{node}}', \
         nodesPerIsland: 1, allocatable: {{cpu: 8, memory: 64Gi}}, labels: {{k: b}}}}]\njobSets: [{}]\ncontainers: \
         [{{startAfter: 1s, runFor: 1h}}]\nstop: {{at: 1m}}\n{rest}",
        manifests.join(", ")
    );
    let (file, out) = (dir.join("s.yaml"), dir.join("out"));
    fs::write(&file, scenario).unwrap();
    let output = run(&["run", file.to_str().unwrap(), "--verbose", "--out", out.to_str().unwrap()], code);
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap_or_default();
    let files = [text.split_whitespace().collect::<Vec<_>>().join(" "), read("pods.csv"), read("events.ndjson")];
    fs::remove_dir_all(dir).unwrap();
    files
}

/// `pkg/kubelet/lifecycle/predicate.go` and `AdmissionCheck` of `pkg/scheduler/eventhandlers.go`.
#[test]
fn a_kubelet_refuses_what_the_scheduler_did_not_check() {
    let ports = "NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    let profile = |plugin: &str| {
        format!(
            "objects: [{{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: \
             [{{schedulerName: default-scheduler, plugins: {{multiPoint: {{disabled: [{{name: {plugin}}}]}}}}}}]}}]\n"
        )
    };
    let none = String::new();
    for (case, pods, cpu, pod, rest, refusal) in [
        ("ports", 2, 1, "nodeName: n-0# port 9000", &none, Some(ports)),
        ("host-network", 2, 1, "nodeName: n-0, hostNetwork: true# port 80", &none, Some(ports)),
        ("no-port-filter", 4, 1, "# port 9000", &profile("NodePorts"), Some(ports)),
        ("free-ports", 2, 1, "# port 9000", &none, None),
        ("no-fit-filter", 7, 4, "", &profile("NodeResourcesFit"), Some("resource: cpu, requested: 4000, used: 8000")),
        ("no-affinity-filter", 3, 1, "nodeSelector: {k: b}", &profile("NodeAffinity"), Some("NodeAffinity failed")),
        ("too-large", 1, 9, "nodeName: n-0", &none, Some("requested: 9000, used: 0, capacity: 8000")),
        ("too-many", 30, 1, "nodeName: n-0", &none, Some("requested: 1000, used: 8000, capacity: 8000")),
        ("windows", 1, 1, "os: {name: windows}", &none, Some("the OS field doesn't match node OS")),
        ("linux", 1, 1, "os: {name: linux}", &none, None),
    ] {
        let [text, _, events] = run_pods(case, &[("a", pods, cpu, pod)], rest, 0);
        let message = events
            .lines()
            .find(|l| ["Predicate ", "Node didn't have", "Failed to admit"].iter().any(|w| l.contains(w)));
        match refusal {
            Some(refusal) => assert!(message.is_some_and(|line| line.contains(refusal)), "{case}: {message:?} {text}"),
            None => assert_eq!(message, None, "{case}"),
        }
    }
}

/// Versions of objects are not modelled, so each one that a patch names is stale.
#[test]
fn a_patch_of_another_version_or_uid_is_refused() {
    let conflict = "the object has been modified; please apply your changes to the latest version and try again";
    let uid = "metadata.uid: Invalid value: \\\"x\\\": field is immutable";
    for (case, kind, metadata, expected) in [
        ("stale", "JobSet, name: a", "{resourceVersion: '1'}", Some(conflict)),
        ("stale-job", "Job, name: a-w-0", "{resourceVersion: '1'}", Some(conflict)),
        ("other-uid", "JobSet, name: a", "{uid: x}", Some(uid)),
        ("label", "JobSet, name: a", "{labels: {a: b}}", None),
    ] {
        let rest = format!("faults: [{{at: 20s, patch: {{kind: {kind}, merge: {{metadata: {metadata}}}}}}}]\n");
        let [_, _, events] = run_pods(case, &[("a", 1, 1, "")], &rest, 0);
        let refusal = events.lines().find(|line| line.contains("Operation cannot be") || line.contains("is invalid"));
        match expected {
            Some(text) => assert!(refusal.is_some_and(|line| line.contains(text)), "{case}: {refusal:?}"),
            None => assert_eq!(refusal, None, "{case}"),
        }
    }
}

#[test]
fn a_patch_that_makes_a_stored_object_invalid_is_refused() {
    let object = |kind: &str, version: &str, rest: &str| {
        format!("objects: [{{apiVersion: {version}, kind: {kind}, metadata: {{name: b}}, {rest}}}]\n")
    };
    let budget = object("PodDisruptionBudget", "policy/v1", "spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}");
    let class = object("PriorityClass", "scheduling.k8s.io/v1", "value: 10");
    let spec = "spec: {schedulingPolicy: {gang: {minCount: 2}}}";
    let group = object("PodGroup", "scheduling.k8s.io/v1alpha2", spec);
    let immutable = "spec.schedulingPolicy: Invalid value: {\\\"gang\\\":{\\\"minCount\\\":1}}: field is immutable";
    for (objects, kind, merge, expected) in [
        (&budget, "PodDisruptionBudget", "{spec: {minAvailable: -1}}", Some("must be greater than or equal to 0")),
        (&budget, "PodDisruptionBudget", "{spec: {maxUnavailable: 1}}", Some("cannot be both set")),
        (&budget, "PodDisruptionBudget", "{spec: {minAvailable: 2}}", None),
        (&class, "PriorityClass", "{value: 11}", Some("value: Forbidden: may not be changed in an update.")),
        (&class, "PriorityClass", "{value: 10, description: x}", None),
        (&group, "PodGroup", "{spec: {schedulingPolicy: {gang: {minCount: 1}}}}", Some(immutable)),
        (&group, "PodGroup", "{spec: {schedulingPolicy: {gang: {minCount: 2}}}}", None),
    ] {
        let rest = format!("{objects}faults: [{{at: 20s, patch: {{kind: {kind}, name: b, merge: {merge}}}}}]\n");
        let [_, _, events] = run_pods("patched-object", &[("a", 1, 1, "")], &rest, 0);
        let refusal = events.lines().find(|line| line.contains("is invalid"));
        match expected {
            Some(text) => assert!(refusal.is_some_and(|line| line.contains(text)), "{merge}: {refusal:?}"),
            None => assert_eq!(refusal, None, "{merge}"),
        }
    }
}

/// `kubelet.go` adds the handler of devices before that of the predicates. The amounts are those of the first container
/// that gets no devices (`devicesToAllocate`). Nodes have three devices.
#[test]
fn a_kubelet_allocates_devices_before_it_checks_other_resources() {
    let dir = scratch("devices");
    let devices = |n: u32| format!("resources: {{requests: {{cpu: 1}}, limits: {{example.com/gpu: {n}}}}}");
    let main = |n: u32| format!("containers: [{{name: c, image: 'x:1', {}}}]", devices(n));
    let init = |n: u32| format!("initContainers: [{{name: i, image: 'x:1', {}}}], ", devices(n));
    for (case, pods, pod, expected) in [
        ("one-container", 2, main(2), Some("Requested: 2, Available: 1")),
        ("reused", 2, format!("{}{}", init(1), main(2)), Some("Requested: 1, Available: 0")),
        ("enough", 3, main(1), None),
        (
            "too-little-cpu",
            9,
            "containers: [{name: c, image: 'x:1', resources: {requests: {cpu: 1}}}]".to_owned(),
            None,
        ),
        ("both", 9, main(1), Some("Requested: 1, Available: 0")),
    ] {
        let manifest = format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: a}}\nspec:\n  failurePolicy: \
             {{maxRestarts: 1}}\n  replicatedJobs:\n  - name: w\n    template: {{spec: {{parallelism: {pods}, \
             completions: {pods}, backoffLimit: 0, template: {{spec: {{restartPolicy: Never, nodeName: n-0, {pod}}}}}}}}}\n"
        );
        fs::write(dir.join("a.yaml"), manifest).unwrap();
        let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: s}\ntopology: {apiVersion: \
                        jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: [{name: 'n-{node}', \
                        nodesPerIsland: 1, allocatable: {cpu: 8, memory: 8Gi, example.com/gpu: 3}}]}\njobSets: \
                        [{manifest: a.yaml}]\nstop: {at: 10m, when: Time}\n";
        let (file, out) = (dir.join("s.yaml"), dir.join(case));
        fs::write(&file, scenario).unwrap();
        run(&["run", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()], 0);
        let events = fs::read_to_string(out.join("events.ndjson")).unwrap();
        let reason = events.lines().find(|line| line.contains("UnexpectedAdmissionError"));
        match expected {
            Some(expected) => {
                let message = format!(
                    "\"Allocate failed due to requested number of devices unavailable for example.com/gpu. {expected}, \
                     which is unexpected\""
                );
                assert!(reason.is_some_and(|line| line.contains(&message)), "{case}: {reason:?}");
            }
            None => assert_eq!(reason, None, "{case}"),
        }
        assert_eq!(events.contains("OutOfcpu"), case == "too-little-cpu", "{case}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_refused_pod_has_a_reason_and_no_exit_code() {
    let show = "faults: [{at: 500ms, show: {kind: Pod, name: a-w-0-0, fields: [status.reason, status.message]}}]\n";
    let [text, pods, events] = run_pods("refused", &[("a", 1, 1, "nodeName: n-0, nodeSelector: {k: b}")], show, 0);
    let cause = "cause: pod a-w-0-0 was refused by the kubelet of node n-0 (NodeAffinity)";
    assert!(text.contains(cause), "{text}");
    let message = "\"status.message\":\"Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match";
    assert!(text.contains(message) && text.contains("\"status.reason\":\"NodeAffinity\""), "{text}");
    let mut rows = pods.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let at = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let first = rows.next().unwrap();
    assert_eq!((first[at("phase")], first[at("exit_code")]), ("Failed", ""));
    let finished = events.lines().find(|line| line.contains("PodFinished")).unwrap();
    assert!(!finished.contains("exitCode"), "{finished}");
}

/// ValidatePodUpdate, and what the API server accepts but the simulation does not follow.
#[test]
fn a_patch_of_a_pod_or_label_without_effect_is_answered_with_the_reason() {
    let forbidden =
        "is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`";
    let cases = [
        ("Pod", "merge: {metadata: {labels: {x: why}}}", "metadata.labels of a Pod has no effect"),
        ("Pod", "merge: {metadata: {labels: {'bad key': why}}}", "metadata.labels: Invalid value: \"bad key\""),
        ("Pod", "merge: {metadata: {annotations: {kueue.x-k8s.io/a: why}}}", "annotations[kueue.x-k8s.io/a] of a Pod"),
        ("Pod", "merge: {metadata: {annotations: {example.com/a: why}}}", ""),
        (
            "Pod",
            "merge: {metadata: {name: other}}",
            "the name of the object (other) does not match the name on the URL",
        ),
        ("Pod", "merge: {metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}", "field is immutable"),
        ("Pod", "merge: {spec: {nodeName: n-7}}", forbidden),
        ("Pod", "merge: {spec: {priority: 5}}", forbidden),
        ("Pod", "merge: {spec: {nodeSelector: {k: a}}}", forbidden),
        (
            "Pod",
            "merge: {spec: {schedulingGates: [{name: a.b/c}]}}",
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a.b/c'",
        ),
        ("Pod", "merge: {spec: {schedulingGates: null}}", ""),
        ("Pod", "merge: {spec: {bogus: 1}}", "spec.bogus of a Pod has no effect in the simulation"),
        ("Pod", "merge: {spec: {activeDeadlineSeconds: 1}}", "spec.activeDeadlineSeconds of a Pod has no effect"),
        ("Pod", "merge: {spec: {tolerations: [{operator: Exists}]}}", "spec.tolerations of a Pod has no effect"),
        ("Pod", "merge: {status: {phase: Failed}}", "status of a Pod is not changed this way"),
        ("Pod", "status: true, merge: {status: {phase: Failed}}", "status.phase of a Pod has no effect"),
        ("Pod", "status: true, merge: {spec: {priority: 1}}", "spec of a Pod is not changed this way"),
        (
            "Pod",
            "status: true, merge: {status: {conditions: [{type: Ready, status: 'False'}]}}",
            "condition \"Ready\" of a Pod has no effect",
        ),
        (
            "Job",
            "merge: {metadata: {name: other}}",
            "the name of the object (other) does not match the name on the URL",
        ),
        ("Job", "merge: {metadata: {labels: {'bad key': why}}}", "Job.batch \"a-w-0\" is invalid: metadata.labels"),
        (
            "Node",
            "merge: {metadata: {labels: {'bad key': why}}}",
            "Node \"n-0\" is invalid: metadata.labels: Invalid value: \"bad key\": name part must consist of",
        ),
        ("Node", "merge: {metadata: {labels: {good: why}}}", ""),
    ];
    let fault = |(at, (kind, merge, _)): (usize, &(&str, &str, &str))| {
        let name = match *kind {
            "Pod" => "a-w-0-0",
            "Job" => "a-w-0",
            _ => "n-0",
        };
        format!("- {{at: {}s, patch: {{kind: {kind}, name: {name}, {merge}}}}}\n", at + 10)
    };
    let faults: String = cases.iter().enumerate().map(fault).collect();
    let [_, _, events] = run_pods("patches", &[("a", 1, 1, "")], &format!("faults:\n{faults}"), 0);
    let events: Vec<serde_json::Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (index, (kind, merge, answer)) in cases.iter().enumerate() {
        let own = |event: &&serde_json::Value| event["kind"] == "Answered" && event["fault"] == index;
        let event = events.iter().find(own).unwrap_or_else(|| panic!("{kind} {merge} was not answered"));
        let message = event["message"].as_str().unwrap_or_default();
        let is_right = if answer.is_empty() { message.is_empty() } else { message.contains(answer) };
        assert!(is_right, "{kind} {merge}: {message}");
    }
}

#[test]
fn an_action_on_a_node_or_pod_that_changes_nothing_is_reported() {
    let mut faults = String::from("faults:\n");
    let actions = [
        ("drainNode: {node: n-1}", ""),
        ("drainNode: {node: n-1}", "drainNode had no effect, because it was already cordoned and had no pods to evict"),
        ("taintNode: {node: n-1, key: k, effect: NoSchedule}", ""),
        (
            "taintNode: {node: n-1, key: k, effect: NoSchedule}",
            "taintNode had no effect, because it already had the taint",
        ),
        ("deleteNode: {node: n-1}", ""),
        ("deleteNode: {node: n-1}", "deleteNode had no effect, because the Node did not exist"),
        ("uncordonNode: {node: n-1}", "uncordonNode had no effect, because the Node did not exist"),
        ("drainNode: {node: n-1}", "drainNode had no effect, because the Node did not exist"),
    ];
    for (at, (action, _)) in actions.iter().enumerate() {
        faults += &format!("- {{at: {}s, {action}}}\n", at + 10);
    }
    let [text, ..] = run_pods("actions", &[("a", 1, 1, "nodeName: n-0")], &faults, 0);
    for (index, (_, warning)) in actions.iter().enumerate() {
        let printed = text.contains(&format!("- fault {index}: "));
        assert_eq!(printed, !warning.is_empty(), "fault {index}: {text}");
        assert!(text.contains(warning), "fault {index}: {warning}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_leaves_nothing_beside_it() {
    let dir = scratch("no-room");
    let parent = dir.join("gone");
    let out = parent.join("o.svg");
    let output = run(&["plot", "gantt", SCENARIO, "--out", out.to_str().unwrap(), "--quiet"], 2);
    assert!(output_text(&output).contains("cannot write"), "{}", output_text(&output));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    let device = run(&["bench", "ttr", "--case", "drain", "--nodes", "100", "--out", "/dev/full", "--quiet"], 2);
    assert!(output_text(&device).contains("cannot write"), "{}", output_text(&device));
    fs::remove_dir_all(dir).unwrap();
}

/// A limit on the file size simulates a disk that fills up during a write.
#[cfg(target_os = "linux")]
#[test]
fn what_does_not_fit_is_reported_and_nothing_of_it_is_left() {
    let dir = scratch("too-large");
    let nodes: Vec<String> = (0..400)
        .map(|i| {
            format!(
                "{{\"kind\":\"Node\",\"metadata\":{{\"name\":\"n{}-x\",\"labels\":{{\"l\":\"{i}\"}}}},\"status\":\
                 {{\"allocatable\":{{\"cpu\":\"{}\"}},\"conditions\":[{{\"type\":\"Ready\",\"status\":\"True\"}}]}}}}",
                i * 7,
                4 + i % 5
            )
        })
        .collect();
    let list = format!("{{\"kind\":\"NodeList\",\"items\":[{}]}}", nodes.join(","));
    let (inputs, out) = (dir.join("inputs"), dir.join("out"));
    fs::create_dir(&inputs).unwrap();
    fs::create_dir(&out).unwrap();
    fs::write(inputs.join("nodes.json"), list).unwrap();
    let (list, place) = (inputs.join("nodes.json"), out.join("o"));
    let (list, place) = (list.to_str().unwrap(), place.to_str().unwrap());
    let trace = format!("{place}.perfetto-trace");
    let pods = "tests/it/levels/gang.yaml";
    let target = ["--target", "goodput.p10 >= 0.5", "--path", "parameters.spares=1..2"];
    for arguments in [
        &["report", SCENARIO, "--perfetto", &trace][..],
        &["topology", "import", list, "--out", place],
        &["run", pods, "--out", place],
        &[&["plan", "spares", pods, "--out", place][..], &target].concat(),
    ] {
        let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
        let mut command = std::process::Command::new("sh");
        command.args(["-c", limited, env!("CARGO_BIN_EXE_jobset-sim")]);
        command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
        let output = command.output().unwrap();
        let text = output_text(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains("error: cannot write "), "{arguments:?}: {text}");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 0, "{arguments:?}");
    }
    fs::write(out.join("o"), "x").unwrap();
    let again = run(&["topology", "import", list, "--out", place], 2);
    assert!(output_text(&again).contains("already exists"), "{}", output_text(&again));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn variants_without_faults_are_not_ranked_by_end_time() {
    let arguments =
        ["compare", "-f", "scenarios/manifests/workers.yaml", "--strategies", "all", "--seeds", "2", "--quiet"];
    let output = run(&arguments, 0);
    let text = String::from_utf8_lossy(&output.stdout).replace('\n', " ");
    assert!(text.contains("which does not rank them"), "{text}");
    assert!(!text.contains("is best in"), "{text}");
}

#[test]
fn a_budget_that_nothing_uses_says_that_nothing_failed() {
    let output = run(&["plan", "budget", "-f", "scenarios/manifests/workers.yaml", "--seeds", "2", "--quiet"], 0);
    let text = String::from_utf8_lossy(&output.stdout).replace('\n', " ");
    assert!(text.contains("No run restarted: without failures any limit is sufficient"), "{text}");
}

#[test]
fn restarts_written_by_a_user_are_not_attributed_to_a_job() {
    let dir = scratch("restarts-written");
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec:\n  managedBy: \
                  example.com/x\n  replicatedJobs:\n  - name: w\n    template: {spec: {template: {spec: {containers: \
                  [{name: c, image: x}]}}}}\n";
    fs::write(dir.join("a.yaml"), jobset).unwrap();
    let topologies = fs::canonicalize("topologies").unwrap();
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: written}}\ntopology: {}/small-16.yaml\n\
         jobSets: [{{manifest: a.yaml}}]\nfaults:\n- {{at: 5s, patch: {{kind: JobSet, name: a, status: true, merge: \
         {{status: {{restarts: 3}}}}}}}}\nstop: {{at: 1m}}\n",
        topologies.display()
    );
    let file = dir.join("written.yaml");
    fs::write(&file, scenario).unwrap();
    let output = run(&["run", file.to_str().unwrap(), "--quiet"], 0);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("status.restarts set to 3 by another client"), "{text}");
    assert!(!text.contains("Job ?"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_variant_or_a_value_that_begins_like_a_formula_is_none_in_any_table() {
    let variant = "@x\u{202e}: timing.plegPeriod=2s";
    let compared = ["compare", SCENARIO, "--variant", variant, "--seeds", "2", "--quiet", "--format", "csv"];
    let swept = ["sweep", SCENARIO, "--grid", "prices.currency==1+1,-x", "--seeds", "2", "--quiet", "--format", "csv"];
    for (arguments, expected) in [(&compared[..], "'@x\\u202e"), (&swept, "'=1+1")] {
        let output = run(arguments, 0);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(expected), "{text}");
        for cell in text.split([',', '\n']) {
            assert!(!cell.starts_with(['=', '@']), "{cell}: {text}");
        }
    }
}

/// Runs a JobSet of one replicatedJob on 16 nodes, and returns the rows of `restarts.csv`. `job` is inserted into
/// the Job spec.
fn restarts_of(name: &str, job: &str, script: &str) -> serde_json::Value {
    let dir = scratch(name);
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: a}}\nspec:\n  failurePolicy: \
         {{maxRestarts: 3}}\n  replicatedJobs:\n  - name: w\n    template: {{spec: {{{job}, template: {{spec: \
         {{restartPolicy: Never, containers: [{{name: c, image: x}}]}}}}}}}}\n"
    );
    fs::write(dir.join("a.yaml"), jobset).unwrap();
    let topologies = fs::canonicalize("topologies").unwrap();
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology: {}/small-16.yaml\n\
         jobSets: [{{manifest: a.yaml}}]\n{script}\nstop: {{at: 5m}}\n",
        topologies.display()
    );
    let file = dir.join("s.yaml");
    fs::write(&file, scenario).unwrap();
    let out = dir.join("out");
    let words = ["run", file.to_str().unwrap(), "--quiet", "--out"];
    let words = words.into_iter().chain(out.to_str());
    run(&words.collect::<Vec<_>>(), 0);
    let text = fs::read_to_string(out.join("restarts.csv")).unwrap();
    let mut rows = text.lines().filter(|l| !l.starts_with('#'));
    let head: Vec<&str> = rows.next().unwrap().split(',').collect();
    let row = |line: &str| -> serde_json::Value {
        let mut is_quoted = false;
        let cells = line.split(|c: char| {
            is_quoted ^= c == '"';
            c == ',' && !is_quoted
        });
        let cells = cells.map(Into::into);
        head.iter().map(|k| (*k).to_owned()).zip(cells).collect::<serde_json::Map<_, _>>().into()
    };
    let restarts = rows.map(row).collect();
    fs::remove_dir_all(dir).unwrap();
    restarts
}

#[test]
fn the_next_pod_of_a_job_with_more_completions_than_parallelism_is_not_a_restart() {
    for mode in ["Indexed", "NonIndexed"] {
        let job = format!("parallelism: 2, completions: 6, completionMode: {mode}");
        let restarts = restarts_of("waves", &job, "containers: [{runFor: 10s}]");
        assert_eq!(restarts, serde_json::json!([]), "{mode}");
    }
    let script = "containers: [{runFor: 10s, exitCode: 1, podIndex: 3, jobTry: 0}, {runFor: 10s}]";
    let restarts = restarts_of("waves", "parallelism: 2, completions: 6", script);
    assert_eq!(restarts.as_array().unwrap().len(), 1, "{restarts}");
}

#[test]
fn a_restart_that_a_deleted_job_brings_begins_with_the_deletion() {
    let job = "parallelism: 2, completions: 2";
    let script = "faults: [{at: 1m, delete: {kind: Job, name: a-w-0, propagation: Background}}]";
    let restarts = restarts_of("job-gone", job, script);
    let start = restarts[0]["start_time_s"].as_str().unwrap();
    assert!(start.starts_with("60.0") || start == "60", "{restarts}");
    let script = "faults: [{at: 1m, jobCondition: {job: a-w-0, type: FailureTarget, reason: Lost}}]";
    let restarts = restarts_of("job-gone", job, script);
    assert_eq!(restarts[0]["start_time_s"], "60", "{restarts}");
    // A change of the status leaves the generation, so that the Job controller waits for its batch of one second.
    let detect: f64 = restarts[0]["detect_s"].as_str().unwrap().parse().unwrap();
    assert!((1.0..2.0).contains(&detect), "{restarts}");
}

/// Errors that did not say what to write.
#[test]
fn refused_options_say_what_to_write() {
    let dir = scratch("usage");
    let tab = dir.join("tab.yaml");
    std::fs::write(&tab, "# comment\n\tkind: Scenario\n").unwrap();
    let scenario = "scenarios/first-steps.yaml";
    for (arguments, message) in [
        (&["run", scenario, "--seed", "abc"][..], "expected a whole number"),
        (&["run", scenario, "--seeds", "0"], "expected a whole number from 1 to 10,000,000"),
        (&["run", scenario, "--set", "maxRestarts=5"], "did you mean \"spec.failurePolicy.maxRestarts\""),
        (&["run", scenario, "--fail-if", "restartlatency > 2m"], "did you mean \"restartLatency_s."),
        (&["run", tab.to_str().unwrap()], "the line begins with a tab"),
        (&["run", scenario, "--strategy", "Recreate"], "--set spec.failurePolicy.restartStrategy=NAME"),
        (&["report", scenario], "--html FILE, --md FILE, --perfetto FILE or --openmetrics FILE"),
    ] {
        let output = program(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(message), "{arguments:?}: {text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// The wait of a deleted JobSet ends with its deletion, so that the sum of the waits is `wait_s`.
#[test]
fn a_wait_for_quota_ends_when_the_jobset_is_deleted() {
    let dir = scratch("wait-until");
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: first, labels: {kueue.x-k8s.io/queue-name: \
         q}}\nspec:\n  replicatedJobs:\n  - name: w\n    template: {spec: {parallelism: 1, completions: 1, backoffLimit: 0, \
         template: {spec: {restartPolicy: Never, containers: [{name: w, image: x, resources: {limits: {e.com/a: 4}}}]}}}}\n";
    let objects = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n---\napiVersion: \
         kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: c}\nspec:\n  namespaceSelector: {}\n  resourceGroups:\n  \
         - {coveredResources: [e.com/a], flavors: [{name: f, resources: [{name: e.com/a, nominalQuota: 4}]}]}\n---\n\
         apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: q, namespace: default}\nspec: {clusterQueue: c}\n";
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: deleted}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {name: t}\n  pools: [{name: \"n-{node}\", nodesPerIsland: 2, \
         accelerator: e.com/a, allocatable: {cpu: 8, e.com/a: 4}}]\nobjects: [{manifest: objects.yaml}]\njobSets:\n- \
         {manifest: js.yaml}\n- {manifest: js.yaml, submitAt: 10s, set: [metadata.name=deleted]}\n- {manifest: js.yaml, \
         submitAt: 20s, set: [metadata.name=waiting]}\ncontainers: [{runFor: 2h}]\nfaults: [{at: 100s, deleteJobSet: {name: \
         deleted}}]\nstop: {at: 1h, when: Time}\n";
    for (name, text) in [("js.yaml", jobset), ("objects.yaml", objects), ("s.yaml", scenario)] {
        fs::write(dir.join(name), text).unwrap();
    }
    let output = run(&["run", dir.join("s.yaml").to_str().unwrap(), "--quiet", "--format", "json"], 0);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let until = |i: usize| json["jobSets"][i]["admission"]["waits"][0]["until_s"].as_f64();
    assert!(until(1).is_some_and(|end| (100.0..100.1).contains(&end)) && until(2).is_none(), "{json}");
    fs::remove_dir_all(dir).unwrap();
}

/// A JobSet of 4 Jobs with 4 pods, one per node of small-16.
const PLAIN: &str = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: train}\nspec:\n  \
    failurePolicy: {maxRestarts: 1000}\n  replicatedJobs:\n  - name: slices\n    replicas: 4\n    template: {spec: \
    {parallelism: 4, completions: 4, backoffLimit: 0, template: {spec: {restartPolicy: Never, \
    terminationGracePeriodSeconds: 5, containers: [{name: main, image: x, resources: {limits: \
    {example.com/accelerator: 4}}}]}}}}\n";

/// Queues with a topology of node pools and hosts.
const QUEUES: &str = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: pools}\nspec: {levels: \
    [{nodeLabel: cloud.google.com/gke-nodepool}, {nodeLabel: kubernetes.io/hostname}]}\n---\napiVersion: \
    kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\nspec: {nodeLabels: \
    {topology.kubernetes.io/zone: zone-a}, topologyName: pools}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: \
    ClusterQueue\nmetadata: {name: a}\nspec:\n  namespaceSelector: {}\n  cohortName: all\n  preemption: \
    {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}\n  resourceGroups:\n  - coveredResources: \
    [example.com/accelerator]\n    flavors: [{name: f, resources: [{name: example.com/accelerator, nominalQuota: \
    32}]}]\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: b}\nspec:\n  \
    namespaceSelector: {}\n  cohortName: all\n  resourceGroups:\n  - coveredResources: [example.com/accelerator]\n    \
    flavors: [{name: f, resources: [{name: example.com/accelerator, nominalQuota: 32}]}]\n---\napiVersion: \
    kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: qa}\nspec: {clusterQueue: a}\n---\napiVersion: \
    kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: qb}\nspec: {clusterQueue: b}\n";

fn queued(name: &str, queue: &str, [replicas, pods]: [u32; 2], annotations: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}, labels: \
         {{kueue.x-k8s.io/queue-name: {queue}}}, annotations: {{{annotations}}}}}\nspec:\n  replicatedJobs:\n  - name: \
         w\n    replicas: {replicas}\n    template: {{spec: {{parallelism: {pods}, completions: {pods}, backoffLimit: 0, \
         template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{limits: \
         {{example.com/accelerator: 4}}}}}}]}}}}}}}}\n"
    )
}

/// Writes files and returns the standard output of the program in their directory.
fn in_directory(name: &str, files: &[(&str, &str)], arguments: &[&str], code: i32) -> String {
    let dir = scratch(name);
    files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
    let output = program(arguments).current_dir(&dir).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    fs::remove_dir_all(dir).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}\n{error}");
    text
}

fn scenario_of(fields: &str) -> String {
    format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: t}}\ntopology: small-16\njobSets: \
         [{{manifest: plain.yaml}}]\n{fields}"
    )
}

#[test]
fn topology_assignment_that_exclusive_placement_rejects_does_not_fit() {
    let exclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool";
    let admit = |pods: u32, annotations: &str, code: i32| {
        let jobset = queued("ex", "qa", [2, pods], annotations);
        let files = [("q.yaml", QUEUES), ("j.yaml", &*jobset)];
        in_directory("exclusive", &files, &["admit", "-f", "q.yaml", "-f", "j.yaml", "-t", "small-16"], code)
    };
    // Kueue fills the nodes in order: three pods of Job ex-w-1 get nodes of two pools.
    let split = admit(3, exclusive, 4);
    assert!(split.contains("Job ex-w-1 to several domains of cloud.google.com/gke-nodepool"), "{split}");
    admit(3, "", 0);
    admit(4, exclusive, 0);
}

#[test]
fn admit_finds_a_change_for_a_jobset_that_is_admitted_and_then_preempted() {
    let (mid, low) = (queued("mid", "qb", [1, 12], ""), queued("lo", "qa", [1, 8], ""));
    let files = [("q.yaml", QUEUES), ("mid.yaml", &*mid), ("lo.yaml", &*low)];
    let arguments = ["admit", "-f", "q.yaml", "-f", "mid.yaml", "-f", "lo.yaml", "-t", "small-16"];
    let text = in_directory("preempted", &files, &arguments, 4);
    assert!(text.contains("is admitted in ClusterQueue b (LocalQueue qb) and then preempted"), "{text}");
    assert!(text.contains("from 12 to 8"), "{text}");
}

#[test]
fn jobset_that_nothing_resumes_is_blocked() {
    let run = |fields: &str, set: &[&str], code: i32| {
        let scenario = scenario_of(fields);
        let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
        let arguments = [&["run", "s.yaml", "--seeds", "2", "--fail-if", "blocked > 0", "--quiet"], set].concat();
        in_directory("suspended", &files, &arguments, code)
    };
    let suspended = "containers: [{runFor: 2h}]\nfaults:\n  - {at: 10m, suspendJobSet: {name: train}}\n";
    let resumed = format!("{suspended}  - {{at: 20m, resumeJobSet: {{name: train}}}}\n");
    let text = run(suspended, &[], 5);
    assert!(text.contains("2 blocked") && !text.contains("no run time set"), "{text}");
    run(&resumed, &[], 0);
    run("", &["--set", "spec.suspend=true"], 5);
    let endless = run("", &[], 0);
    assert!(endless.contains("2 running (no run time set)"), "{endless}");
}

#[test]
fn why_resolves_a_suspension_only_by_a_later_resumption() {
    let why = |faults: &str| {
        let scenario = scenario_of(&format!("containers: [{{runFor: 2h}}]\nfaults:\n{faults}stop: {{at: 3h}}\n"));
        in_directory("resumed", &[("s.yaml", &*scenario), ("plain.yaml", PLAIN)], &["why", "s.yaml"], 0)
    };
    let change = "Smallest tested change that resolves it: resumption after the last suspension";
    let first = why("  - {at: 10m, suspendJobSet: {name: train}}\n");
    assert!(first.contains(change) && first.contains("faults.1={at: 11m"), "{first}");
    let twice =
        why("  - {at: 10m, suspendJobSet: {name: train}}\n  - {at: 30m, resumeJobSet: {name: train}}\n  - {at: \
                     50m, suspendJobSet: {name: train}}\n");
    assert!(twice.contains(change) && twice.contains("faults.3={at: 51m"), "{twice}");
}

#[test]
fn why_replaces_only_nodes_that_are_lost() {
    let scenario = scenario_of(
        "training: {work: 3h, step: 10s, checkpoint: {every: 5m}}\nfaults:\n  - {at: 10m, crashNode: {ofPod: \
         train-slices-0-1, alias: lost}}\n  - {at: 10m40s, containerExit: {pod: train-slices-2-2}}\n  - {at: 15m, \
         deleteNode: {alias: lost}}\n  - {at: 30m, newNode: {alias: lost}}\nstop: {at: 10h}\n",
    );
    let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
    let text = in_directory("lost", &files, &["why", "s.yaml", "--format", "json"], 0);
    assert!(text.contains("faults.4") && !text.contains("faults.5"), "{text}");
}

#[test]
fn one_quantile_counts_unfinished_replications_of_a_fleet_as_the_worst() {
    let fleet = "apiVersion: jobset-sim/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nnodes: 22\njob: {nodes: 20, recovery: \
                 16m}\ntraining: {work: 10d, checkpoint: {every: 15m}}\nfaults:\n  - {cause: tray, per1000NodeDays: 48, \
                 ages: Always}\nrepair: {stages: [{name: swap, takes: {exponential: {mean: 30h}}}]}\nstop: {at: \
                 11d}\nseed: 3\n";
    let of = |arguments: &[&str], code: i32| in_directory("quantile", &[("f.yaml", fleet)], arguments, code);
    let text = of(&["run", "f.yaml", "--seeds", "40", "--format", "json"], 0);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let time = &json["outputs"]["training_time_h"];
    let n = time["n"].as_u64().unwrap();
    assert!(0 < n && n < 36 && time["p90"].is_null(), "{time}");
    // Its limit comes before the work is done in every replication.
    let plan = ["plan", "spares", "f.yaml", "--path", "nodes", "--min", "22", "--max", "24"];
    let target = ["--target", "effective_training_ratio.p50 >= 0.5", "--seeds", "10"];
    for (stop, code, sentence) in [
        (
            "stop.at=9d",
            3,
            "The reason in 10 replications: the time limit stop.at 216h comes before the end of the work.",
        ),
        ("stop.at=60d", 0, "nodes = 22 is the smallest value that satisfies"),
    ] {
        let text = of(&[&plan[..], &["--set", stop], &target].concat(), code);
        assert!(text.contains(sentence), "{stop}: {text}");
    }
}

/// Targets of inputs without an amount of work are about the time up to the limit.
#[test]
fn work_that_the_time_limit_cuts_misses_every_target() {
    let plan = |fields: &str, target: &str, code: i32| {
        let scenario = scenario_of(fields);
        let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
        let plan = ["plan", "spares", "s.yaml", "--path", "controlPlane.jobsetManager.burst", "--min", "500", "--max"];
        let target = ["501", "--seeds", "10", "--target", target];
        in_directory("cut", &files, &[&plan[..], &target].concat(), code)
    };
    let half = "goodput.p50 >= 0.5";
    let cut = plan("training: {work: 3h, step: 10s, checkpoint: {every: 5m}}\nstop: {at: 2h, when: Time}\n", half, 3);
    assert!(cut.contains("10 of 10 replications do not complete their work"), "{cut}");
    plan("training: {work: 1h, step: 10s, checkpoint: {every: 5m}}\nstop: {at: 2h}\n", half, 0);
    plan("training: {step: 10s, checkpoint: {every: 5m}}\nstop: {at: 2h, when: Time}\n", half, 0);
    plan("containers: [{runFor: 3h}]\nstop: {at: 2h}\n", "restarts.p50 <= 5", 3);
    plan("containers: [{runFor: 1h}]\nstop: {at: 2h}\n", "restarts.p50 <= 5", 0);
}

#[test]
fn work_that_cannot_end_before_the_time_limit_is_a_contradiction() {
    let warned = |file: &str, text: &str| {
        let dir = scratch("limit-of-work");
        [(file, text), ("plain.yaml", PLAIN)].iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
        let output = program(&["run", file, "--seeds", "2"]).current_dir(&dir).output().unwrap();
        fs::remove_dir_all(dir).unwrap();
        let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
        assert_eq!(output.status.code(), Some(0), "{text}");
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains("comes before the work can be done")
    };
    let training = |checkpoint: &str, stop: &str| {
        scenario_of(&format!("training: {{work: 1h, step: 10s{checkpoint}}}\nstop: {{at: {stop}}}\n"))
    };
    // Three checkpoints come before the end of the work, and block the job for 3 min.
    let (none, checkpoint) = (", checkpoint: {every: 15m}", ", checkpoint: {every: 15m, blocking: 1m}");
    for (checkpoint, stop, expected) in [
        (none, "59m", true),
        (none, "60m", true),
        (none, "61m", false),
        (checkpoint, "62m", true),
        (checkpoint, "63m", true),
        (checkpoint, "64m", false),
    ] {
        assert_eq!(warned("s.yaml", &training(checkpoint, stop)), expected, "pods: {checkpoint} {stop}");
    }
    let fleet = |checkpoint: &str, stop: &str| {
        format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Fleet\nmetadata: {{name: f}}\nnodes: 4\njob: {{nodes: 4, recovery: \
             1m}}\ntraining: {{work: 1h{checkpoint}}}\nfaults: [{{cause: x, mtbf: 9000d, ages: Always}}]\nrepair: {{stages: \
             [{{name: r, takes: 1h}}]}}\nstop: {{at: {stop}}}\n"
        )
    };
    // The job of a Fleet starts at once.
    for (checkpoint, stop, expected) in
        [("", "59m", true), ("", "60m", false), (checkpoint, "62m", true), (checkpoint, "63m", false)]
    {
        assert_eq!(warned("f.yaml", &fleet(checkpoint, stop)), expected, "fleet: {checkpoint} {stop}");
    }
}

#[test]
fn a_failed_baseline_of_a_sensitivity_is_named_and_one_number_has_no_interval() {
    let scenario = scenario_of(
        "training: {work: 40h, step: 10s, checkpoint: {every: 5m}}\nfaultProcesses: [{cause: sw, on: Pod, mtbf: 40d, \
         exitCode: 1}]\nstop: {at: 3d}\n",
    );
    let of = |arguments: &[&str], max: u32| {
        let set = format!("spec.failurePolicy.maxRestarts={max}");
        let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
        in_directory("baseline", &files, &[arguments, &["--seeds", "3", "--set", &set]].concat(), 0)
    };
    let count = |text: &str, outcome: &str| -> usize {
        let before = text.split(&format!(" {outcome}")).next().unwrap_or_default();
        before.rsplit([' ', '(']).next().and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    let mut seen = Vec::new();
    for max in [0, 1, 2, 3, 4, 5, 6, 100] {
        let run = of(&["run", "s.yaml"], max);
        let completed = count(&run, "completed");
        let ranges = of(&["sensitivity", "s.yaml", "--metric", "goodput", "--input", "training.step=5s..20s"], max);
        let excluded = format!("With unchanged inputs, {} of 3 replications have no completed work", 3 - completed);
        assert_eq!(ranges.contains(&excluded), completed < 3, "maxRestarts {max}: {run} {ranges}");
        assert_eq!(ranges.contains("in one replication, no interval)"), completed == 1, "maxRestarts {max}: {ranges}");
        assert_eq!(ranges.contains("95 % interval 0."), completed > 1, "maxRestarts {max}: {ranges}");
        seen.push(completed);
    }
    assert!([1, 2, 3].iter().all(|n| seen.contains(n)), "{seen:?}");
}

/// A leader waits for capacity to the end of the run: its name is a sentence of kube-scheduler with a period.
#[test]
fn a_message_of_kube_scheduler_is_written_into_sentences_without_its_period() {
    let scenario = scenario_of(
        "faults: [{at: 10m, crashNode: {ofPod: train-slices-0-1, alias: x}}, {at: 15m, deleteNode: {alias: x}}]\nstop: {at: 2h, when: Time}\n",
    );
    let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
    for (arguments, expected) in [
        (&["run", "s.yaml"][..], "Longest part: pod train-slices-"),
        (&["why", "s.yaml"], "Longest wait: pod train-slices-"),
        (&["report", "s.yaml", "--md", "r.md"], ""),
    ] {
        let text = in_directory("period", &files, arguments, 0);
        assert!(text.contains(expected) && !text.contains(".,"), "{arguments:?}: {text}");
    }
    let dir = scratch("period-report");
    files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
    assert!(program(&["report", "s.yaml", "--md", "r.md"]).current_dir(&dir).output().unwrap().status.success());
    let page = fs::read_to_string(dir.join("r.md")).unwrap();
    fs::remove_dir_all(dir).unwrap();
    let label = page.lines().find(|line| line.contains("share of it")).unwrap();
    assert!(
        label.contains("share of it in which pod train-slices-") && label.contains("cannot be scheduled |"),
        "{label}"
    );
}

#[test]
fn fields_without_effect_in_a_variant_are_refused_by_name() {
    let scenario = scenario_of("parameters: {s: 1}\nseed: ${s}\nstop: {at: 1h}\n");
    let refused = |arguments: &[&str], expected: &str| {
        let dir = scratch("no-effect");
        for (file, text) in [("s.yaml", &*scenario), ("plain.yaml", PLAIN)] {
            fs::write(dir.join(file), text).unwrap();
        }
        let output = program(arguments).current_dir(&dir).output().unwrap();
        fs::remove_dir_all(dir).unwrap();
        let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected) && !text.contains("note: containers"), "{arguments:?}: {text}");
    };
    let (none, seeds) = ("has no effect: all variants", ["--seeds", "2"]);
    for (command, expected) in [
        (&["compare", "s.yaml", "--variant", "a: seed=3"][..], "seed=3 has no effect: all variants"),
        (&["compare", "s.yaml", "--variant", "a: parameters.s=3"], "parameters.s=3 changes the seed: all variants"),
        (
            &["compare", "s.yaml", "--variant", "a: experiment.replications=3"],
            "experiment.replications=3 has no effect",
        ),
        (&["compare", "s.yaml", "--variant", "a: metadata.name=x"], "metadata.name=x has no effect"),
        (&["compare", "-f", "plain.yaml", "--variant", "a: seed=3"], none),
        (&["sweep", "s.yaml", "--grid", "seed=1,2"], none),
        (&["plan", "spares", "s.yaml", "--path", "seed", "--target", "goodput.p10 >= 0.5"], none),
        (&["sensitivity", "s.yaml", "--input", "seed=1..2"], none),
    ] {
        refused(&[command, &seeds].concat(), expected);
    }
}

#[test]
fn sums_over_time_do_not_rank_variants_with_different_time_limits() {
    let scenario = scenario_of(
        "training: {step: 10s, checkpoint: {every: 5m}}\nfaultProcesses: [{cause: sw, on: Pod, mtbf: 2d, exitCode: \
         1}]\nstop: {at: 2d, when: Time}\n",
    );
    let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
    let arguments = ["compare", "s.yaml", "--seeds", "3", "--variant", "short: stop.at=1d", "--metric"];
    let text = in_directory("limits", &files, &[&arguments[..], &["restarts,goodput"]].concat(), 0);
    assert!(text.contains("No variant is ranked in restarts: it is a sum over the time of a run"), "{text}");
    assert!(text.contains("goodput (") && text.contains("short − baseline"), "{text}");
}

#[test]
fn ranges_name_scripted_times_and_overrides_of_manifests() {
    let scenario = scenario_of(
        "training: {step: 10s, checkpoint: {every: 5m}}\nfaults: [{at: 2h, containerExit: {pod: \
                                train-slices-0-1}}]\nstop: {at: 3h, when: Time}\n",
    );
    let scenario = scenario.replace("plain.yaml}", "plain.yaml, set: [spec.failurePolicy.maxRestarts=9]}");
    let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
    let text = in_directory("ranges", &files, &["sensitivity", "s.yaml", "--ranges", "--seeds", "2"], 0);
    for path in ["faults[0].at", "spec.failurePolicy.maxRestarts"] {
        assert!(text.contains(path), "{path}: {text}");
    }
}

#[test]
fn pod_that_names_its_node_gets_room_there_and_not_a_new_hostname() {
    let one = "parallelism: 1, completions: 1";
    let pinned = PLAIN.replace("replicas: 4", "replicas: 1").replace("parallelism: 4, completions: 4", one);
    let pinned = pinned.replace("restartPolicy", "nodeSelector: {kubernetes.io/hostname: node-02}, restartPolicy");
    let other = pinned.replace("name: train", "name: other");
    let files = [("j.yaml", &*pinned), ("other.yaml", &*other)];
    let arguments = ["run", "-f", "j.yaml", "-f", "other.yaml", "-t", "small-16", "--explain-placement"];
    let text = in_directory("hostname", &files, &arguments, 4);
    assert!(text.contains("Smallest change: ") && !text.contains("label the node"), "{text}");
}

#[test]
fn why_tries_the_report_of_an_admission_check_without_controller() {
    let check = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: prov}\nspec: \
                 {controllerName: kueue.x-k8s.io/provisioning-request}\n";
    let strategy = "cohortName: all\n  admissionChecksStrategy: {admissionChecks: [{name: prov}]}";
    let queues = format!("{}{check}", QUEUES.replacen("cohortName: all", strategy, 1));
    let scenario = scenario_of("objects: [{manifest: q.yaml}]\ncontainers: [{runFor: 1h}]\nstop: {at: 3h}\n");
    let jobset = queued("mine", "qa", [1, 4], "");
    let files = [("s.yaml", &*scenario), ("q.yaml", &*queues), ("plain.yaml", &*jobset)];
    let text = in_directory("check", &files, &["why", "s.yaml"], 0);
    assert!(text.contains("report of the AdmissionCheck's controller; the duration is then"), "{text}");
}

/// node-04 of a free domain is replaced before the restart; only node-01 is missing then.
#[test]
fn taints_of_a_removed_node_object_do_not_make_its_domain_incomplete() {
    let topology = fs::read_to_string("topologies/small-16.yaml").unwrap().replacen("count: 4", "count: 5", 1);
    let exclusive = "name: train, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: \
                     cloud.google.com/gke-nodepool}";
    let jobset = PLAIN.replace("name: train", exclusive);
    let mut scenario = scenario_of("containers: [{runFor: 50h}]\nfaults:\n").replace("small-16", "small-20.yaml");
    let faults = [
        "{at: 10m, crashNode: {node: node-04, alias: s}}", "{at: 15m, deleteNode: {alias: s}}",
        "{at: 20m, newNode: {alias: s}}", "{at: 1h, crashNode: {ofPod: train-slices-1-2, alias: l}}",
        "{at: 1h5m, deleteNode: {alias: l}}", "{at: 20h, newNode: {alias: l}}",
    ];
    faults.iter().for_each(|fault| scenario.push_str(&format!("  - {fault}\n")));
    scenario.push_str("stop: {at: 90h}\n");
    let files = [("s.yaml", &*scenario), ("plain.yaml", &*jobset), ("small-20.yaml", &*topology)];
    let text = in_directory("taints", &files, &["why", "s.yaml", "--restart", "1", "--format", "json"], 0);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["idleDomains"]["incomplete"], serde_json::json!(["pool-0"]), "{text}");
}

#[test]
fn hang_that_no_pending_event_ends_blocks_its_jobset() {
    let run = |set: &[&str], arguments: &[&str], code: i32| {
        let scenario = scenario_of(
            "training: {work: 1h, step: 10s, checkpoint: {every: 10m}}\nfaultProcesses: [{cause: stall, does: Hang, \
             trace: {file: h.csv}}]\nstop: {at: 2h, when: Settled}\n",
        );
        let files = [
            ("s.yaml", &*scenario),
            ("plain.yaml", PLAIN),
            ("h.csv", "node,time\nnode-03,20m\n"),
            ("b.csv", "node,time\nnode-15,30m\n"),
        ];
        let sets: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        in_directory("hang", &files, &[&["run", "s.yaml", "--quiet"], arguments, &sets[..]].concat(), code)
    };
    let pool =
        "spec.replicatedJobs[0].template.spec.template.spec.nodeSelector={cloud.google.com/gke-nodepool: pool-0}";
    let sentence = "training of JobSet train hangs since 1200.000s";
    for (set, is_blocked) in [
        (&[][..], true),
        (&["stop.when=Time"], true),
        (&["stop.when=AllJobSetsFinished"], true),
        // Not the pod that hangs.
        (&["faults=[{at: 30m, cordonNode: {node: node-03}}]"], true),
        // A repair after the end of the run does not end the hang.
        (
            &[
                "faultProcesses.1={cause: b, trace: {file: b.csv}, backAfter: 9h}",
                "spec.replicatedJobs[0].replicas=1",
                pool,
            ],
            true,
        ),
        (&["faultProcesses[0].detectedAfter=10m"], false),
        // The detection comes after the end of the run.
        (&["faultProcesses[0].detectedAfter=3h"], false),
        (&["faults=[{at: 30m, crashNode: {node: node-03, alias: x}}, {at: 40m, returnNode: {alias: x}}]"], false),
        (&["spec.replicatedJobs[0].template.spec.activeDeadlineSeconds=3000"], false),
    ] {
        let text = run(set, &[], 0);
        assert_eq!(text.contains(sentence), is_blocked, "{set:?}: {text}");
        assert_eq!(text.contains("JobSet train blocked"), is_blocked, "{set:?}: {text}");
        let goodput = "goodput 16.6";
        assert!(!is_blocked || text.contains(goodput), "{set:?}: {text}");
        run(set, &["--seeds", "2", "--fail-if", "blocked > 0"], if is_blocked { 5 } else { 0 });
    }
    let dir = scratch("hang-report");
    let page = dir.join("README.md");
    let report = |set: &[&str]| {
        let scenario = scenario_of(
            "training: {work: 1h, step: 10s, checkpoint: {every: 10m}}\nfaultProcesses: [{cause: stall, does: Hang, \
             trace: {file: h.csv}}]\nstop: {at: 2h, when: Settled}\n",
        );
        let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN), ("h.csv", "node,time\nnode-03,20m\n")];
        let sets: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        in_directory("hang", &files, &[&["report", "s.yaml", "--md", page.to_str().unwrap()], &sets[..]].concat(), 0);
        fs::read_to_string(&page).unwrap()
    };
    let text = report(&[]);
    let (lead, _) = text.split_once("\n## ").unwrap();
    assert!(text.contains("# JobSet train blocked") && lead.contains(sentence), "{lead}");
    assert!(!lead.contains("no restart"), "{lead}");
    let text = report(&["stop.when=Time", "faultProcesses=[]"]);
    assert!(text.contains(": no restart") && text.contains("no restart occurred"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn time_to_recover_excludes_failed_jobsets_and_time_between_faults() {
    let exit = |minute: u32| format!("{{at: {minute}m, containerExit: {{pod: train-slices-0-0, exitCode: 1}}}}");
    for (faults, set, expected, code) in [
        (vec![exit(5), exit(90)], "spec.failurePolicy.maxRestarts=2", "Recreate 8.16 s", 0),
        (vec![exit(5), exit(90)], "spec.failurePolicy.maxRestarts=1", "ReachedMaxRestarts", 5),
        (vec![exit(5)], "spec.failurePolicy.maxRestarts=0", "failed after", 5),
        // The crash is not visible when the first restart ends: one recovery.
        (
            vec![
                exit(5),
                "{at: 301s, crashNode: {ofPod: train-slices-1-0, alias: x}}".to_owned(),
                "{at: 20m, returnNode: {alias: x}}".to_owned(),
            ],
            "spec.failurePolicy.maxRestarts=9",
            "Recreate 9",
            0,
        ),
    ] {
        let scenario =
            scenario_of(&format!("containers: [{{runFor: 3h}}]\nfaults: [{}]\nstop: {{at: 4h}}\n", faults.join(", ")));
        let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
        let arguments = ["bench", "ttr", "s.yaml", "--quiet", "--fail-if", "rows.stuck > 0", "--set", set];
        let text = in_directory("recovery", &files, &arguments, code);
        assert!(text.contains(expected), "{faults:?}: {text}");
    }
}

#[test]
fn user_requests_are_the_causes_of_the_restarts_that_they_bring() {
    let patch = |kind: &str, name: &str, merge: &str| {
        format!("{{at: 10m, patch: {{kind: {kind}, name: {name}, merge: {merge}}}}}")
    };
    let condition = |kind: &str| {
        format!("{{at: 10m, jobCondition: {{job: train-slices-0, type: {kind}, reason: Lost, message: m}}}}")
    };
    let suspend = "{at: 10m, suspendJobSet: {name: train}}".to_owned();
    let resumed = |at: &str| format!("{suspend}, {{at: {at}, resumeJobSet: {{name: train}}}}");
    let by_user = "cause: suspended by a user, at 600.000s";
    let queue = "objects: [{manifest: q.yaml}]\n";
    for (faults, rest, cause) in [
        (suspend.clone(), queue, by_user),
        (resumed("600010ms"), "", by_user),
        (resumed("600100ms"), "", by_user),
        (resumed("20m"), "", by_user),
        (
            format!(
                "{}, {{at: 600010ms, patch: {{kind: JobSet, name: train, merge: {{spec: {{suspend: false}}}}}}}}",
                patch("JobSet", "train", "{spec: {suspend: true}}")
            ),
            "",
            by_user,
        ),
        (condition("FailureTarget"), "", "cause: Job train-slices-0 is patched with"),
        (condition("Failed"), "", "cause: Job train-slices-0 is patched with"),
        (patch("Job", "train-slices-0", "{spec: {suspend: true}}"), "", "cause: Job train-slices-0 is patched with"),
    ] {
        let scenario = scenario_of(&format!("{rest}faults: [{faults}]\nstop: {{at: 1h, when: Time}}\n"));
        let queued = queued("train", "qa", [1, 4], "");
        let jobset = if rest.is_empty() { PLAIN } else { &queued };
        let jobset = jobset.replace("name: w\n", "name: slices\n");
        let files = [("s.yaml", &*scenario), ("plain.yaml", &*jobset), ("q.yaml", QUEUES)];
        let text = in_directory("causes", &files, &["run", "s.yaml", "--quiet"], 0);
        assert!(text.contains(cause) && text.contains("1 restart ("), "{faults}: {text}");
    }
}

#[test]
fn failing_image_pulls_are_waits_of_their_own() {
    let exit = "{at: 5m, containerExit: {pod: train-slices-0-0, exitCode: 1}}";
    for (failure, text) in [
        ("{cached: false, for: 30m}", "image x cannot be pulled (ErrImagePull, ImagePullBackOff), 19"),
        (
            "{cached: false}",
            "pod train-slices-0-0 cannot start: its image x cannot be pulled (ErrImagePull, ImagePullBackOff), 2 h",
        ),
        (
            "{image: x}",
            "pod train-slices-0-0 cannot start: its image x cannot be pulled (ErrImagePull, ImagePullBackOff), 2 h",
        ),
        ("{image: z}", "slowest of 16 container starts"),
    ] {
        let scenario =
            scenario_of(&format!("faults: [{{at: 4m, failImagePulls: {failure}}}, {exit}]\nstop: {{at: 3h}}\n"));
        let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
        let run = in_directory("images", &files, &["run", "s.yaml", "--quiet"], 0);
        assert!(run.contains(&format!("Longest part: {text}")), "{failure}: {run}");
        // A pull that never succeeds blocks.
        assert_eq!(run.contains("JobSet train blocked"), text.ends_with(", 2 h"), "{failure}: {run}");
        let run = in_directory("images", &files, &["run", "s.yaml", "--quiet", "--verbose"], 0);
        assert!(run.contains(text.split(", 2 h").next().unwrap().trim_end_matches(", 19")), "{failure}: {run}");
    }
}

#[test]
fn inputs_that_contradict_each_other_are_named() {
    let training = "training: {work: 30m, step: 10s, checkpoint: {every: 10m}}\n";
    let tiers = "training.checkpoint.tiers=[{every: 1m, commitDelay: 2m, survives: Host}]";
    let early = "exit with code 0 after";
    let rules = |second: &str| {
        format!(
            "spec.failurePolicy.rules=[{{name: one, action: RestartJobSet}}, {{name: two, action: FailJobSet{second}}}]"
        )
    };
    for (set, message, is_contradiction) in [
        ("containers=[{runFor: 5m}]", early, true),
        ("containers=[{runFor: 30m}]", early, true),
        ("containers=[{podIndex: 0, runFor: 5m}, {replicatedJob: slices, runFor: 10m}]", "after 10m (runFor)", true),
        ("containers=[{runFor: 31m}]", early, false),
        ("containers=[{runFor: 5m, exitCode: 1}]", early, false),
        ("containers=[{restartAttempt: 0, runFor: 5m, exitCode: 1}]", early, false),
        ("training.checkpoint.commitDelay=11m", "commitDelay 11m is longer than training.checkpoint.every 10m", true),
        ("training.checkpoint.commitDelay=10m", "commitDelay", false),
        (tiers, "training.checkpoint.tiers[0].commitDelay 2m is longer than", true),
        ("containers=[{runFor: 1h}, {podIndex: 1, runFor: 2h}]", "containers[1] never applies: containers[0]", true),
        ("containers=[{podIndex: 1, runFor: 2h}, {runFor: 1h}]", "never applies", false),
        ("containers=[{podIndex: 1, runFor: 2h}, {jobIndex: 1, runFor: 1h}]", "never applies", false),
        (&rules(""), "rule \"two\" of the failurePolicy of JobSet train never applies: rule \"one\"", true),
        (&rules(", targetReplicatedJobs: [slices]"), "never applies", true),
        (
            "spec.failurePolicy.rules=[{name: one, action: FailJobSet, onJobFailureReasons: [DeadlineExceeded]}, \
          {name: two, action: RestartJobSet}]",
            "never applies",
            false,
        ),
        (
            "faultProcesses=[{cause: late, mtbf: 1h, from: 3h}]",
            "fault process with cause \"late\" begins: from is 3h", true,
        ),
        ("faultProcesses=[{cause: late, mtbf: 1h, from: 1h}]", "begins", false),
        ("spec.replicatedJobs[0].template.spec.activeDeadlineSeconds=600", "activeDeadlineSeconds", false),
        ("training.elastic={minSlices: 2}", "training.elastic.minSlices 2 has no effect", true),
        ("training.elastic={minSlices: 4}", "has no effect", false),
    ] {
        let scenario = scenario_of(&format!("{training}stop: {{at: 2h}}\n"));
        let files = [("s.yaml", &*scenario), ("plain.yaml", PLAIN)];
        let text = in_directory("contradictions", &files, &["run", "s.yaml", "--quiet", "--set", set], 0);
        let (_, named) = text.split_once("Contradictions of the inputs").unwrap_or_default();
        assert_eq!(named.contains(message), is_contradiction, "{set}: {text}");
    }
}

#[test]
fn waits_and_causes_of_lost_nodes_have_their_own_times() {
    let crash = "{at: 10m, crashNode: {ofPod: train-slices-0-1, alias: x}}";
    for (faults, command, expected) in [
        // Deleted before the toleration of its pods is over.
        (
            format!("{crash}, {{at: 11m, deleteNode: {{alias: x}}}}"),
            &["why", "s.yaml", "--path-only", "--restart", "1"][..],
            "is unresponsive ← an unresponsive node, until it is repaired or deleted",
        ),
        (
            "{at: 10m, containerExit: {pod: train-slices-1-1, exitCode: 1}}, {at: 601s, crashNode: {ofPod: \
             train-slices-0-0, alias: x}}, {at: 20m, returnNode: {alias: x}}"
                .to_owned(),
            &["run", "s.yaml", "--quiet"],
            "crashes, at 601.000s",
        ),
        (
            "{at: 10m, deleteNode: {node: node-03}}, {at: 11m, returnNode: {node: node-03}}".to_owned(),
            &["run", "s.yaml", "--quiet"],
            "returnNode had no effect, because its Node was deleted",
        ),
    ] {
        let rack = "metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: cloud.google.com/gke-nodepool}}";
        let queued = queued("train", "qa", [1, 4], "").replace("name: w\n", "name: slices\n");
        let queued = queued.replace("spec:\n", "spec:\n  failurePolicy: {maxRestarts: 9}\n");
        let queued = queued.replace("template: {spec: {restart", &format!("template: {{{rack}, spec: {{restart"));
        let plain = PLAIN.replace(
            "failurePolicy: {maxRestarts: 1000}",
            "failurePolicy: {maxRestarts: 9, rules: [{name: \
            r, action: RestartJob}]}",
        );
        let (rest, jobset) =
            if command[0] == "why" { ("objects: [{manifest: q.yaml}]\n", queued) } else { ("", plain) };
        let scenario = scenario_of(&format!("{rest}faults: [{faults}]\nstop: {{at: 2h}}\n"));
        let files = [("s.yaml", &*scenario), ("plain.yaml", &*jobset), ("q.yaml", QUEUES)];
        let text = in_directory("lost", &files, command, 0);
        assert!(text.contains(expected), "{faults}: {text}");
        assert!(!text.contains("waiting for the next scheduled fault"), "{faults}: {text}");
    }
}

/// A node that provides no GPU runs pods that request zero GPUs, and a generated cluster has none.
#[test]
fn a_request_of_zero_needs_no_node_with_the_resource() {
    let zero = PLAIN.replace("example.com/accelerator: 4", "cpu: 1, nvidia.com/gpu: 0");
    assert_ne!(zero, PLAIN);
    let topology = "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {name: t}\npools: [{name: 'n-{node}', \
                    nodesPerIsland: 20, allocatable: {cpu: 8, memory: 64Gi}}]\n";
    let files = [("plain.yaml", &*zero), ("t.yaml", topology)];
    for arguments in [&["run", "-f", "plain.yaml", "-t", "t.yaml"][..], &["run", "-f", "plain.yaml"]] {
        let text = in_directory("zero", &files, arguments, 0);
        assert!(text.contains("every pod is ready") && !text.contains("with 0 nvidia.com/gpu"), "{text}");
    }
}

/// Two racks of two nodes, with pods of the inputs.
fn with_pods(pods: &str, annotations: &str) -> Vec<(&'static str, String)> {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: t}}\ntopology: {{apiVersion: \
         jobset-sim/v1alpha1, kind: Topology, metadata: {{name: t}}, pools: [{{name: 'n-{{node}}', count: 2, \
         nodesPerIsland: 2, labels: {{rack: 'r-{{pool}}'}}, allocatable: {{cpu: 8, memory: 64Gi}}}}]}}\njobSets: \
         [{{manifest: j.yaml}}]\nobjects:\n{pods}\nstop: {{at: 2m}}\n"
    );
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: j, annotations: {{{annotations}}}}}\nspec: \
         {{replicatedJobs: [{{name: w, template: {{spec: {{parallelism: 1, completions: 1, template: {{spec: \
         {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{requests: {{cpu: 6}}}}}}]}}}}}}}}}}]}}\n"
    );
    vec![("s.yaml", scenario), ("j.yaml", jobset)]
}

fn pod_of_inputs(name: &str, labels: &str, spec: &str, status: &str) -> String {
    format!(
        "- {{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{{labels}}}}}, spec: {{{spec}, containers: \
         [{{name: c, image: x, resources: {{requests: {{cpu: 1500m}}}}}}]}}{status}}}\n"
    )
}

#[test]
fn pods_of_the_inputs_share_a_node_have_priorities_and_hold_nothing_when_they_have_finished() {
    let bound = |name: &str, node: u32, more: &str, status: &str| {
        pod_of_inputs(name, "", &format!("nodeName: n-{node}{more}"), status)
    };
    let class = "- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 50}\n";
    let named = ", priorityClassName: high";
    let two =
        [0, 1, 2, 3].map(|node| bound(&format!("a{node}"), node, "", "") + &bound(&format!("b{node}"), node, "", ""));
    let finished = two.concat().replace("}]}}\n", "}]}, status: {phase: Succeeded}}\n");
    for (pods, code, expected) in [
        // A node keeps 5 of 8 CPUs.
        (two.concat(), 4, "Insufficient cpu"),
        (two[..3].concat(), 0, "every pod is ready"),
        (finished, 0, "every pod is ready"),
        (format!("{}{class}", bound("a", 0, named, "")), 0, "every pod is ready"),
        (format!("{class}{}", bound("a", 0, &format!("{named}, priority: 50"), "")), 0, "every pod is ready"),
        (bound("a", 0, &format!("{named}, priority: 50"), ""), 0, "every pod is ready"),
    ] {
        let files = with_pods(&pods, "");
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let text = in_directory("pods", &files, &["run", "s.yaml", "--paranoid"], code);
        assert!(text.contains(expected), "{pods}: {text}");
        let is_named = text.contains("Pods that have finished: they hold nothing and are omitted");
        assert_eq!(is_named, pods.contains("Succeeded"), "{text}");
    }
    for (pods, refusal) in [
        (
            format!("{class}{}", bound("a", 0, ", priorityClassName: low", "")),
            "no PriorityClass with name low was found",
        ),
        (
            format!("{class}{}", bound("a", 0, &format!("{named}, priority: 7"), "")),
            "the integer value of priority (7)",
        ),
    ] {
        let dir = scratch("refused-pods");
        for (name, text) in with_pods(&pods, "") {
            fs::write(dir.join(name), text).unwrap();
        }
        let output = run(&["run", dir.join("s.yaml").to_str().unwrap()], 2);
        assert!(output_text(&output).contains(refusal), "{}", output_text(&output));
        fs::remove_dir_all(dir).unwrap();
    }
}

/// The terms of a leader select all pods with a job-key, also those that belong to no JobSet of the inputs.
#[test]
fn eviction_by_the_kubelet_for_critical_pods_is_not_modelled() {
    let pod = |more: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{{more}nodeName: n-0-0, containers: [{{name: c, \
             image: x}}]}}\n"
        )
    };
    let a = cpu_jobset("a", [1, 1], "", [""; 3]);
    for (more, is_noted) in [("priorityClassName: system-node-critical, ", true), ("", false)] {
        let pod = pod(more);
        let scenario = cpu_scenario(2, "", "objects: [{manifest: p.yaml}]\nstop: {at: 10m}");
        let files = [("s.yaml", &*scenario), ("a.yaml", &*a), ("b.yaml", &*a), ("p.yaml", &*pod)];
        let dir = scratch("critical");
        files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
        for command in [
            "run s.yaml",
            "run s.yaml --format json",
            "run s.yaml --format csv",
            "run s.yaml --format md",
            "run s.yaml --seeds 2",
            "run s.yaml --seeds 2 --format csv",
            "why s.yaml --pod a-w-0-0",
            "compare s.yaml --strategies all --seeds 2",
            "plan budget s.yaml --seeds 2",
            "sensitivity s.yaml --seeds 2",
            "sweep s.yaml --grid spec.failurePolicy.maxRestarts=1,2 --seeds 2",
            "plot map s.yaml --out m.svg",
        ] {
            let output = program(&command.split(' ').collect::<Vec<_>>()).current_dir(&dir).output().unwrap();
            let text = [&*output.stdout, &*output.stderr].concat();
            let text = String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ");
            let note = "ot modelled: eviction of pods by the kubelet for critical pods with nodeName";
            let in_json = "\"notModelled\": [ \"eviction of pods by the kubelet for critical pods with nodeName";
            assert_eq!(text.contains(note) || text.contains(in_json), is_noted, "{command}: {text}");
        }
        fs::remove_dir_all(dir).unwrap();
    }
}

#[test]
fn a_table_of_spares_has_no_costs_without_prices() {
    let a = cpu_jobset("a", [1, 2], "", [""; 3]);
    let command = "plan spares s.yaml --target timeToComplete_s.p50<=30m --path topology.pools[0].nodesPerIsland --min \
                   2 --max 4 --seeds 8 --verbose";
    let scenario = cpu_scenario(3, "", "containers: [{runFor: 20m}]\nstop: {at: 1h}");
    let files = [("s.yaml", &*scenario), ("a.yaml", &*a), ("b.yaml", &*a)];
    let text = in_directory("costs", &files, &command.split(' ').collect::<Vec<_>>(), 0);
    assert!(text.contains("change of the mean runs target") && !text.contains("per run"), "{text}");
}

#[test]
fn pods_of_other_jobsets_keep_exclusive_leaders_out_of_their_domains() {
    let labels = |key: &str| format!("jobset.sigs.k8s.io/{key}: abc, jobset.sigs.k8s.io/priority: '0'");
    let exclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology: rack";
    for (key, nodes, annotations, code) in [
        ("job-key", &[0, 2][..], exclusive, 4),
        ("job-key", &[0], exclusive, 0),
        ("job-key", &[0, 2], "", 0),
        ("other-key", &[0, 2], exclusive, 0),
    ] {
        let pods = nodes
            .iter()
            .map(|node| pod_of_inputs(&format!("p{node}"), &labels(key), &format!("nodeName: n-{node}"), ""));
        let files = with_pods(&pods.collect::<String>(), annotations);
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let text = in_directory("foreign", &files, &["run", "s.yaml", "--paranoid"], code);
        let expected = if code == 0 { "every pod is ready" } else { "didn't match pod anti-affinity rules" };
        assert!(text.contains(expected), "{key} {nodes:?} {annotations}: {text}");
    }
}

/// Kueue finds no reason if each flavor that it tries fits, and the API server refuses the condition.
#[test]
fn admit_and_why_name_a_resource_that_the_cluster_queue_does_not_cover() {
    let jobset = queued("train", "qa", [1, 2], "").replace("accelerator: 4", "accelerator: 4, memory: 1Gi");
    let files = [("j.yaml", &*jobset), ("q.yaml", QUEUES)];
    let message = "couldn't assign flavors to pod set w: resource memory unavailable in ClusterQueue";
    for (command, words, code) in [
        ("admit", "is not admitted in ClusterQueue a (LocalQueue qa): flavor", 4),
        ("run", "its Workload waits for admission in LocalQueue qa: couldn't assign flavors", 0),
        ("why", "No flavor fits.", 0),
    ] {
        let arguments = [command, "-f", "j.yaml", "-f", "q.yaml", "-t", "small-16"];
        let text = in_directory("undeclared", &files, &arguments, code);
        assert!(text.contains(message) && text.contains(words), "{command}: {text}");
    }
}

/// `rejectPodAdmissionBasedOnOSField` of the kubelet. A node without the label runs Linux, which is stated.
#[test]
fn pods_for_windows_run_on_nodes_with_its_label_only() {
    let jobset = PLAIN.replace("restartPolicy: Never", "os: {name: windows}, restartPolicy: Never");
    let jobset = jobset.replace("example.com/accelerator: 4", "cpu: 1");
    for (label, runs, is_named) in [("windows", true, false), ("linux", false, false), ("", false, true)] {
        let label = if label.is_empty() { String::new() } else { format!("kubernetes.io/os: {label}") };
        let topology = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {{name: t}}\npools: [{{name: 'n-{{node}}', \
             nodesPerIsland: 20, labels: {{{label}}}, allocatable: {{cpu: 8, memory: 64Gi}}}}]\n"
        );
        let files = [("plain.yaml", &*jobset), ("t.yaml", &*topology)];
        let arguments = ["run", "-f", "plain.yaml", "-t", "t.yaml", "--set", "stop.at=1m", "--format", "json"];
        let text = in_directory("windows-label", &files, &arguments, 0);
        assert_eq!(text.contains("\"running\"") || text.contains("\"ready\": 4"), runs, "{label}: {text}");
        assert_eq!(text.contains("nodes without the label kubernetes.io/os: they run Linux"), is_named, "{text}");
    }
}

/// A JobSet whose pods need one CPU each. `policy`, `job` and `pod` are further fields of the failure policy, of the
/// Job and of the pod.
fn cpu_jobset(name: &str, [replicas, pods]: [u32; 2], metadata: &str, [policy, job, pod]: [&str; 3]) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}{metadata}}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 5{policy}}}\n  replicatedJobs:\n  - name: w\n    replicas: {replicas}\n    \
         template: {{spec: {{parallelism: {pods}, completions: {pods}, backoffLimit: 0{job}, template: {{spec: \
         {{restartPolicy: Never, terminationGracePeriodSeconds: 5{pod}, containers: [{{name: c, image: x, \
         resources: {{requests: {{cpu: 1}}}}}}]}}}}}}}}\n"
    )
}

/// A scenario of JobSets a and b on nodes with one CPU each.
fn cpu_scenario(nodes: u32, second: &str, fields: &str) -> String {
    let second = if second.is_empty() { String::new() } else { format!(", {{manifest: b.yaml{second}}}") };
    format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: t}}\ntopology: {{apiVersion: \
         jobset-sim/v1alpha1, kind: Topology, metadata: {{name: t}}, pools: [{{name: \"n-{{node}}\", islands: 1, \
         nodesPerIsland: {nodes}, allocatable: {{cpu: 1, memory: 8Gi}}, features: \
         [RestartAllContainersOnContainerExits]}}]}}\njobSets: [{{manifest: a.yaml}}{second}]\n{fields}\n"
    )
}

/// A queue with this many CPUs.
fn cpu_queue(quota: u32) -> String {
    format!(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: f}}\n---\napiVersion: \
         kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: cq}}\nspec:\n  namespaceSelector: {{}}\n  \
         preemption: {{withinClusterQueue: LowerPriority}}\n  resourceGroups: [{{coveredResources: [cpu], flavors: \
         [{{name: f, resources: [{{name: cpu, nominalQuota: {quota}}}]}}]}}]\n---\napiVersion: \
         kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {{name: l}}\nspec: {{clusterQueue: cq}}\n---\napiVersion: \
         kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {{name: top}}\nvalue: 500\n"
    )
}

const IN_QUEUE: &str = ", labels: {kueue.x-k8s.io/queue-name: l}";

#[test]
fn admit_finds_changes_with_which_later_jobsets_start_as_well() {
    // Sizes of two JobSets, their order, the changes that are printed, and the smallest sufficient quota.
    for (first, second, changes, least) in [
        ([2, 3], [2, 1], &["by 4", "lower parallelism and completions of replicatedJob w from 3 to 1"][..], 8),
        ([1, 5], [1, 1], &["by 2", "lower parallelism and completions of replicatedJob w from 5 to 3"], 6),
        ([3, 2], [1, 4], &["by 6"], 10),
    ] {
        let (a, b) = (cpu_jobset("a", first, IN_QUEUE, [""; 3]), cpu_jobset("b", second, IN_QUEUE, [""; 3]));
        let admit = |quota: u32, code: i32| {
            let queue = cpu_queue(quota);
            let files = [("q.yaml", &*queue), ("a.yaml", &*a), ("b.yaml", &*b)];
            in_directory("later", &files, &["admit", "-f", "q.yaml", "-f", "a.yaml", "-f", "b.yaml"], code)
        };
        let text = admit(4, 4);
        let (own, _) = text.split_once("JobSet b").unwrap_or((&text, ""));
        for change in changes {
            assert!(own.contains(change), "{change}: {text}");
        }
        admit(least, 0);
        admit(least - 1, 4);
    }
}

#[test]
fn waits_have_the_levers_that_act_on_them() {
    let plain = |name: &str, pods: u32| cpu_jobset(name, [1, pods], "", [""; 3]);
    let queued = |name: &str, pods: u32, more: &str| {
        let metadata = format!(", labels: {{kueue.x-k8s.io/queue-name: l{more}}}");
        cpu_jobset(name, [1, pods], &metadata, ["", "", ", terminationGracePeriodSeconds: 200"]).replace(
            "terminationGracePeriodSeconds: 5, terminationGracePeriodSeconds: 200",
            "terminationGracePeriodSeconds: 200",
        )
    };
    let tolerations = ", tolerations: [{key: m, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]";
    let per_index = ", backoffLimitPerIndex: 1, maxFailedIndexes: 1, completionMode: Indexed";
    let exit = |at: &str, pod: u32| format!("{{at: {at}, containerExit: {{pod: a-w-0-{pod}}}}}");
    let exits = [exit("600s", 0), exit("700s", 1), exit("800s", 0), exit("900s", 1), exit("1000s", 0)].join(", ");
    let script = "{at: 600s, containerExit: {pod: a-w-0-1}}";
    let script_cause = "next scheduled fault";
    for (nodes, second, fields, [a, b], command, expected, absent) in [
        (
            5,
            "",
            "faults: [{at: 10m, taintNode: {ofPod: a-w-0-1, key: m, effect: NoExecute}}]\nstop: {at: 2h, when: Time}"
                .to_owned(),
            [cpu_jobset("a", [1, 4], "", ["", "", tolerations]), String::new()],
            "why",
            &[
                "the pods' toleration of the taint (kubernetes.md 4.1), 300 s of 306 s; most effective change: \
               tolerationSeconds of a taint, saves 295 s",
            ][..],
            "toleration of a lost node",
        ),
        (
            4,
            "",
            "containers: [{runFor: 20m}]\nobjects: [{manifest: q.yaml}]\nstop: {at: 3h}".to_owned(),
            [queued("a", 4, ", kueue.x-k8s.io/max-exec-time-seconds: \"600\""), String::new()],
            "why",
            &["Smallest tested change that resolves it: maximum execution time", "max-exec-time-seconds\":\"1260\""],
            "No single change that was tried",
        ),
        (
            8,
            "",
            format!("faults: [{exits}]\ncontainers: [{{runFor: 40m}}]\nstop: {{at: 1h}}"),
            [cpu_jobset("a", [1, 4], "", ["", per_index, ""]).replace("backoffLimit: 0, ", ""), String::new()],
            "why",
            &[
                "more failed indexes than maxFailedIndexes (an index has used up its backoffLimitPerIndex), 98.0 s",
                "maxFailedIndexes=0", "backoffLimitPerIndex=2",
            ],
            script_cause,
        ),
        (
            8,
            ", submitAt: 620s",
            format!(
                "faults: [{script}]\nobjects: [{{manifest: q.yaml}}]\ncontainers: [{{jobSet: b, runFor: 10m}}, \
                 {{jobSet: a, stopAfter: 100s}}]\nstop: {{at: 2h, when: Time}}"
            ),
            [queued("a", 4, ""), queued("b", 6, ", kueue.x-k8s.io/priority-class: top")],
            "why --path-only",
            &["18.4 s terminate containers of pod a-w-0-0 stop"],
            script_cause,
        ),
        // Half of the pods of b wait for the nodes of the others.
        (
            6,
            ", submitAt: 10s",
            "containers: [{jobSet: b, runFor: 1h}]\nstop: {at: 8h}".to_owned(),
            [plain("a", 4), plain("b", 4)],
            "why",
            &[
                "no node fits; until pods of JobSet b release their nodes",
                "most effective change: spare node in each domain", "nodesPerIsland=8",
            ],
            "a container that runs until it exits",
        ),
        (
            6,
            ", submitAt: 10s",
            "containers: [{jobSet: a, runFor: 3h}, {jobSet: b, runFor: 1h}]\nobjects: [{manifest: q.yaml}]\nstop: {at: 8h}"
                .to_owned(),
            [queued("a", 4, ""), queued("b", 4, "")],
            "why",
            &["no node fits some pods", "most effective change: spare node in each domain", "nodesPerIsland=8"],
            "No single change that was tried",
        ),
    ] {
        let scenario = cpu_scenario(nodes, second, &format!("seed: 1\n{fields}"));
        let queue = cpu_queue(8);
        let files = [("s.yaml", &*scenario), ("a.yaml", &*a), ("b.yaml", &*b), ("q.yaml", &*queue)];
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.insert(1, "s.yaml");
        let text = in_directory("levers", &files, &arguments, 0);
        for part in expected {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains(absent), "{absent}: {text}");
    }
}

#[test]
fn spares_for_a_restart_that_ended_are_as_few_as_suffice() {
    let (a, b) =
        (cpu_jobset("a", [1, 4], "", [""; 3]), cpu_jobset("b", [1, 3], "", ["", "", ", priorityClassName: hi"]));
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: hi}\nvalue: 1000\n";
    let fields =
        "seed: 1\nobjects: [{manifest: p.yaml}]\ncontainers: [{jobSet: b, runFor: 20m}]\nstop: {at: 2h, when: Time}";
    let scenario = cpu_scenario(5, ", submitAt: 10m", fields);
    let files = [("s.yaml", &*scenario), ("a.yaml", &*a), ("b.yaml", &*b), ("p.yaml", class)];
    let text = in_directory("few", &files, &["why", "s.yaml"], 0);
    assert!(text.contains("'topology.pools[0].nodesPerIsland=7'"), "{text}");
    assert!(!text.contains("topology.pools[0].count"), "{text}");
    let run = |set: &str| in_directory("few", &files, &["run", "s.yaml", "--quiet", "--set", set], 0);
    assert!(run("topology.pools[0].nodesPerIsland=7").contains("no restart"));
    assert!(run("topology.pools[0].nodesPerIsland=6").contains("1 restart ("));
    // With the class of the preempting pods, the pods are not preempted.
    let class = "jobSet.a.spec.replicatedJobs[0].template.spec.template.spec.priorityClassName=hi";
    assert!(text.contains(&format!("1206 s none PriorityClass of the pods --set '{class}'")), "{text}");
    assert!(run(class).contains("no restart"));
}

#[test]
fn phases_and_waits_are_those_of_the_pods_that_the_jobset_lacks() {
    let partition = "{at: 10m, partitionNode: {ofPod: a-w-0-1, alias: x}}, {at: 800s, returnNode: {alias: x}}";
    let crashes = "{at: 10m, crashNode: {ofPod: a-w-1-1, alias: x}}, {at: 15m, crashNode: {ofPod: a-w-2-1}}, {at: \
                   40m, returnNode: {alias: x}}";
    let elastic = "training: {work: 2h, step: 10s, checkpoint: {every: 10m}, elastic: {minSlices: 2}}";
    let rule = ", rules: [{name: r, action: RestartJob}]";
    let lost = "{at: 10m, crashNode: {ofPod: a-w-0-0, alias: x}}, {at: 10m, crashNode: {ofPod: a-w-0-1, alias: z}}, \
                {at: 2000s, deleteNode: {alias: x}}, {at: 2000s, deleteNode: {alias: z}}";
    for (nodes, fields, a, command, expected) in [
        // Pods that were unreachable for a while did not restart.
        (
            5,
            format!("faults: [{partition}]\ncontainers: [{{runFor: 1h}}]\nstop: {{at: 4h}}"),
            cpu_jobset("a", [1, 4], "", [""; 3]),
            "run --quiet",
            "no restart",
        ),
        // Other slices run on, but the JobSet waits for a pod that cannot be removed.
        (
            6,
            format!("faults: [{crashes}]\n{elastic}\nstop: {{at: 10h}}"),
            cpu_jobset("a", [3, 2], "", [rule, "", ""]),
            "why --path-only",
            "terminate no further event for JobSet a",
        ),
        (
            3,
            format!("faults: [{lost}]\ncontainers: [{{runFor: 1h}}]\nstop: {{at: 8h}}"),
            cpu_jobset("a", [1, 2], "", [""; 3]),
            "why --path-only",
            "capacity pod a-w-0-1 is unschedulable ← no node fits",
        ),
        (
            8,
            "faults: [{at: 10m, containerExit: {pod: a-w-0-1}}]\ncontainers: [{readyAfter: 100s}]\nstop: {at: 1h, when: \
             Time}"
                .to_owned(),
            cpu_jobset("a", [1, 2], "", [""; 3]).replace("name: c,", "name: c, readinessProbe: {exec: {command: [a]}},"),
            "run --quiet",
            "Longest part: readiness of the containers (startup and readiness probes)",
        ),
    ] {
        let scenario = cpu_scenario(nodes, "", &format!("seed: 1\n{fields}"));
        let files = [("s.yaml", &*scenario), ("a.yaml", &*a)];
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.insert(1, "s.yaml");
        let text = in_directory("lacking", &files, &arguments, 0);
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn image_is_pulled_at_every_start_of_a_container() {
    let exit = "{at: 10m, containerExit: {pod: a-w-0-1}}";
    let never = cpu_jobset("a", [1, 2], "", [""; 3]);
    let always = never.replace("restartPolicy: Never", "restartPolicy: OnFailure").replace("Limit: 0", "Limit: 9");
    let policy = "spec.replicatedJobs[0].template.spec.template.spec.containers[0].imagePullPolicy=IfNotPresent";
    for (a, lasts, arguments, expected) in [
        (&always, ", for: 30m", &["run"][..], "image x cannot be pulled (ErrImagePull, ImagePullBackOff), 1"),
        (&always, ", for: 30m", &["run", "--set", policy], "containers stop and start again in place"),
        // A restart in place has to pull the image of the worker as well.
        (&never, "", &["why"], "Smallest tested change that resolves it: earlier end of failing image pulls"),
    ] {
        let fields = format!(
            "seed: 1\nfaults: [{{at: 5m, failImagePulls: {{image: x{lasts}}}}}, {exit}]\nstop: {{at: 2h, when: Time}}"
        );
        let scenario = cpu_scenario(4, "", &fields);
        let files = [("s.yaml", &*scenario), ("a.yaml", &**a)];
        let mut arguments = arguments.to_vec();
        arguments.insert(1, "s.yaml");
        let text = in_directory("always", &files, &arguments, 0);
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn limits_that_end_every_attempt_are_named() {
    let deadline = ", activeDeadlineSeconds: 600";
    let limited = ", labels: {kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/max-exec-time-seconds: \"600\"}";
    let work = |checkpoint: &str| format!("training: {{work: 1h, step: 10s, checkpoint: {checkpoint}}}");
    let deadline_of_work = "comes before the work can be done: training.work is 1h, without checkpoints";
    for (fields, metadata, job, message) in [
        (
            "containers: [{runFor: 20m}]".to_owned(),
            "",
            deadline,
            "comes before its containers can complete: runFor is 20m",
        ),
        ("containers: [{runFor: 9m}]".to_owned(), "", deadline, ""),
        ("containers: [{restartAttempt: 0, runFor: 20m}, {runFor: 9m}]".to_owned(), "", deadline, ""),
        (work("Never"), "", deadline, deadline_of_work),
        (work("{every: 5m}"), "", deadline, ""),
        (
            "containers: [{runFor: 20m}]\nobjects: [{manifest: q.yaml}]".to_owned(),
            limited,
            "",
            "the label kueue.x-k8s.io/max-exec-time-seconds: 600 of JobSet a comes before its containers can complete",
        ),
        ("containers: [{runFor: 20m}]".to_owned(), limited, "", ""),
    ] {
        let scenario = cpu_scenario(4, "", &format!("seed: 1\n{fields}\nstop: {{at: 6h}}"));
        let (a, queue) = (cpu_jobset("a", [1, 2], metadata, ["", job, ""]), cpu_queue(8));
        let files = [("s.yaml", &*scenario), ("a.yaml", &*a), ("q.yaml", &*queue)];
        let text = in_directory("limits", &files, &["run", "s.yaml", "--quiet"], 0);
        let named = text.split_once("Contradictions of the inputs").map_or("", |(_, named)| named);
        assert_eq!(named.contains("comes before"), !message.is_empty(), "{fields}: {text}");
        assert!(named.contains(message), "{fields}: {text}");
    }
}

/// A pod that was evicted from a lost node and replaced ends when its node is deleted. Nothing restarts then: the next
/// restart began at that time, 49 minutes before its cause, and was blamed on the lost node.
#[test]
fn the_end_of_a_pod_that_was_replaced_begins_no_restart() {
    let dir = scratch("replaced-pod");
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {failurePolicy: \
                  {maxRestarts: 3}, replicatedJobs: [{name: w, template: {spec: {parallelism: 4, completions: 4, \
                  backoffLimit: 5, template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'x:1', \
                  resources: {requests: {cpu: 5}}}]}}}}}]}\n";
    fs::write(dir.join("a.yaml"), jobset).unwrap();
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: s}\ntopology: {apiVersion: \
                    jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: [{name: 'n-{node}', nodesPerIsland: \
                    6, allocatable: {cpu: 8, memory: 64Gi}}]}\njobSets: [{manifest: a.yaml}]\nfaults: [{at: 1h, \
                    crashNode: {ofPod: a-w-0-2, alias: lost}}, {at: 70m, deleteNode: {alias: lost}}, {at: 2h, \
                    containerExit: {pod: a-w-0-1, exitCode: 1}}]\nstop: {at: 3h, when: Time}\n";
    let file = dir.join("s.yaml");
    fs::write(&file, scenario).unwrap();
    let out = dir.join("out");
    let run = program(&["run", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()]).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    let table = fs::read_to_string(out.join("restarts.csv")).unwrap();
    let mut rows = table.lines().map(|line| line.trim_end().split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let column = |name: &str| head.iter().position(|title| *title == name).unwrap();
    let starts: Vec<f64> = rows.map(|row| row[column("start_time_s")].parse().unwrap()).collect();
    assert_eq!(starts, [3_600.0, 7_200.0], "{table}");
    fs::remove_dir_all(dir).unwrap();
}

/// What identifies a JobSet is its namespace and its name.
#[test]
fn jobsets_of_the_same_name_in_two_namespaces_run_beside_each_other() {
    let [a, b] = ["x", "z"].map(|namespace| cpu_jobset("a", [1, 2], &format!(", namespace: {namespace}"), [""; 3]));
    let scenario = cpu_scenario(4, ", submitAt: 5s", "containers: [{runFor: 5m}]\nstop: {at: 1h}");
    let files = [("s.yaml", &*scenario), ("a.yaml", &*a), ("b.yaml", &*b)];
    let text = in_directory("namespaces", &files, &["run", "s.yaml", "--quiet"], 0);
    assert_eq!(text.matches("JobSet a completed").count(), 2, "{text}");
    let again = a.replace("namespace: x", "namespace: z");
    let files = [("s.yaml", &*scenario), ("a.yaml", &*again), ("b.yaml", &*b)];
    let text = in_directory("namespaces", &files, &["run", "s.yaml", "--quiet"], 2);
    assert!(!text.contains("completed"), "{text}");
}

/// The eviction at 90 s, for the first taint, stays when a second taint is tolerated for 5 s from 50 s on.
#[test]
fn a_second_taint_that_is_tolerated_does_not_change_a_pending_eviction() {
    let tolerations = ", tolerations: [{key: m, operator: Exists, effect: NoExecute, tolerationSeconds: 60}, {key: k, \
                       operator: Exists, effect: NoExecute, tolerationSeconds: 5}]";
    for (key, second, expected) in [("k", "50s", "60.0 s"), ("other", "50s", "20.0 s")] {
        let fields = format!(
            "containers: [{{runFor: 15m}}]\nfaults: [{{at: 30s, taintNode: {{ofPod: a-w-0-0, alias: its-node, key: m, effect: \
             NoExecute}}}}, {{at: {second}, taintNode: {{alias: its-node, key: {key}, effect: NoExecute}}}}]\nstop: {{at: 10m}}"
        );
        let scenario = cpu_scenario(3, "", &fields);
        let a = cpu_jobset("a", [1, 1], "", ["", "", tolerations]);
        let files = [("s.yaml", &*scenario), ("a.yaml", &*a)];
        let text = in_directory("second-taint", &files, &["run", "s.yaml", "--quiet"], 0);
        assert!(text.contains(&format!("detect {expected}")), "{key}: {text}");
    }
}

/// A secret without a name, ports of init containers, and any key of a ConfigMap, as the API server accepts them.
#[test]
fn what_the_api_server_accepts_in_pod_templates_is_accepted() {
    for more in [
        ", imagePullSecrets: [{name: ''}]",
        ", hostNetwork: true, initContainers: [{name: i, image: x, ports: [{containerPort: 80, hostPort: 81}]}]",
        ", volumes: [{name: t, configMap: {name: x, items: [{key: a b, path: p}]}}]",
    ] {
        let scenario = cpu_scenario(4, "", "containers: [{runFor: 5m}]\nstop: {at: 1h}");
        let a = cpu_jobset("a", [1, 2], "", ["", "", more]);
        let files = [("s.yaml", &*scenario), ("a.yaml", &*a)];
        let text = in_directory("accepted", &files, &["run", "s.yaml", "--quiet"], 0);
        assert!(!text.contains("is invalid"), "{more}: {text}");
        assert!(text.contains("a: 1 Job with 2 pods"), "{more}: {text}");
    }
}
