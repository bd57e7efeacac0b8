//! Reasons of the API server and the webhooks: `run` and `why` print them, as text and as JSON.

use crate::program::{program, scratch};
use serde_json::Value;
use std::path::Path;

const JOBSET: &str = "\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: demo}
spec:
  replicatedJobs:
  - name: w
    replicas: 2
    template: {spec: {parallelism: 2, completions: 2, backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: c, image: \"x:1\"}]}}}}
";
const ACCOUNT: &str = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other, namespace: default}\n---\n";
const EXCLUSIVE: &str = "metadata.annotations={alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}";
const REFUSED: [&str; 2] = [
    "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy=OnFailure",
    "spec.replicatedJobs[0].template.spec.podFailurePolicy={rules: [{action: FailJob, onExitCodes: {operator: In, \
     values: [3]}}]}",
];

/// Prints text without line breaks and indentation.
fn flat(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes a scenario of two minutes with the JobSet and its overrides.
fn write_scenario(dir: &Path, manifest: &str, sets: &[&str], rest: &str) -> String {
    std::fs::write(dir.join("js.yaml"), manifest).expect("a file can be written");
    let sets = serde_json::json!(sets);
    let pools = "[{name: \"n-{node}\", count: 2, nodesPerIsland: 4, allocatable: {cpu: 8}, labels: {example.com/rack: \
                 \"r-{pool}\"}}]";
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: x}}\ntopology: {{apiVersion: \
         jobset-sim/v1alpha1, kind: Topology, metadata: {{name: x}}, pools: {pools}}}\njobSets: [{{manifest: js.yaml, \
         set: {sets}}}]\nstop: {{at: 2m}}\n{rest}\n"
    );
    let path = dir.join("scenario.yaml");
    std::fs::write(&path, text).expect("a file can be written");
    path.display().to_string()
}

/// Returns the output of `run` and of `why`, each as text and as JSON.
fn outputs(scenario: &str) -> [(&'static str, String); 4] {
    let text = |arguments: &[&str]| {
        let output = program(arguments).output().expect("the program runs");
        format!("{} {}", flat(&output.stdout), flat(&output.stderr))
    };
    let json = |arguments: &[&str]| {
        let output = program(arguments).output().expect("the program runs");
        let value: Value = serde_json::from_slice(&output.stdout).expect("the output is JSON");
        // Without escapes of quotation marks.
        value.to_string().replace("\\\"", "\"")
    };
    [
        ("run", text(&["run", scenario])),
        ("run as JSON", json(&["run", scenario, "--format", "json"])),
        ("why", text(&["why", scenario])),
        ("why as JSON", json(&["why", scenario, "--format", "json"])),
    ]
}

#[test]
fn run_and_why_print_why_the_api_server_or_a_webhook_rejects_an_object() {
    let account = format!("{ACCOUNT}{JOBSET}");
    let classes =
        "objects: [{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: small}, value: 1}]";
    let priority = ["spec.replicatedJobs[0].template.spec.template.spec.priorityClassName=missing"];
    let user = ["spec.replicatedJobs[0].template.spec.template.spec.serviceAccountName=missing"];
    let second = "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: late}, spec: {replicatedJobs: \
                  [{name: w, template: {spec: {template: {spec: {containers: [{name: c, image: \"x:1\"}]}}}}}]}}";
    let create = format!(
        "containers: [{{runFor: 1s}}]\nfaults: [{{at: 3s, stopManager: {{for: 1m}}}}, {{at: 5s, create: {{object: {second}}}}}]"
    );
    let unavailable = "Internal error occurred: failed calling webhook \"mjobset.kb.io\"";
    let cases: [(&str, &[&str], &str, &[&str]); 6] = [
        (
            JOBSET,
            &REFUSED,
            "",
            &["spec.template.spec.restartPolicy: Invalid value: \"OnFailure\"", "JobCreationFailed"],
        ),
        (JOBSET, &priority, classes, &["no PriorityClass with name missing was found"]),
        (
            &account,
            &user,
            "",
            &["error looking up service account default/missing: serviceaccount \"missing\" not found"],
        ),
        (JOBSET, &[], "faults: [{at: 0s, stopManager: {for: 10m}}]", &["the JobSet manager is stopped"]),
        (
            JOBSET,
            &[EXCLUSIVE],
            "faults: [{at: 30ms, stopManager: {for: 10m}}]",
            &["failed calling webhook \"mpod.kb.io\"", "the JobSet manager is stopped"],
        ),
        (JOBSET, &[], &create, &[unavailable]),
    ];
    let dir = scratch("refusals");
    for (manifest, sets, rest, parts) in cases {
        let scenario = write_scenario(&dir, manifest, sets, rest);
        for (command, output) in outputs(&scenario) {
            for part in parts {
                assert!(output.contains(part), "{command} of {sets:?} {rest} without {part}: {output}");
            }
        }
    }
    std::fs::remove_dir_all(dir).expect("the directory can be removed");
}

#[test]
fn why_states_that_a_rejected_jobset_was_never_created() {
    let dir = scratch("refused-jobset");
    let scenario = write_scenario(&dir, JOBSET, &[], "faults: [{at: 0s, stopManager: {for: 1m}}]");
    let text = std::fs::read_to_string(&scenario).expect("the scenario can be read");
    let later = text.replace("{manifest: js.yaml, set: []}", "{manifest: js.yaml, submitAt: 1s}");
    std::fs::write(&scenario, later).expect("a file can be written");
    let [_, _, (_, why), _] = outputs(&scenario);
    assert!(why.contains("Start of JobSet demo: it was never created"), "{why}");
    std::fs::remove_dir_all(dir).expect("the directory can be removed");
}

#[test]
fn faults_of_a_trace_before_its_start_are_named_with_their_number() {
    let dir = scratch("trace-start");
    let trace = "node,time\nn-0,2026-11-20T08:00:00Z\nn-1,2026-11-20T08:30:00Z\nn-0,2026-11-20T09:00:30Z\n";
    std::fs::write(dir.join("faults.csv"), trace).expect("a file can be written");
    let process = "faultProcesses: [{cause: crash, on: Node, backAfter: 10s, trace: {file: faults.csv, start: \"2026-11-20T09:00:00Z\"}}]";
    let scenario = write_scenario(&dir, JOBSET, &[], process);
    let [(_, run), (_, json), ..] = outputs(&scenario);
    for output in [run, json] {
        assert!(output.contains("faults of the trace faults.csv before its start (2 times)"), "{output}");
    }
    std::fs::remove_dir_all(dir).expect("the directory can be removed");
}
