//! JobSets that are embedded in other objects: TrainJobs of Kubeflow Trainer, and objects that contain a JobSet.

use crate::program::{program, run_with_stdin, scratch};
use serde_json::{Value, json};
use std::fs;

const TRAINJOB: &str = "scenarios/wrapped/trainjob.yaml";
const RUNTIME: &str = "scenarios/wrapped/training-runtime.yaml";

/// Runs the program. Returns the exit code, the standard output and the standard error.
fn run_program(words: &[&str]) -> (Option<i32>, String, String) {
    let done = program(words).output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// Returns the JobSets of manifests as the API server would store them.
fn effective(text: &str) -> Vec<Value> {
    let words = ["run", "-f", "-", "--show-effective", "--format", "json"];
    let done = run_with_stdin(&words, text);
    let output = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{output}");
    serde_json::from_slice(&done.stdout).expect("JSON")
}

fn rejection_of(text: &str) -> String {
    let done = run_with_stdin(&["run", "-f", "-"], text);
    let output = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{output}");
    output
}

/// Returns a TrainJob with `spec`, and a runtime with `policy` and one replicatedJob.
fn pair(spec: &str, policy: &str) -> String {
    format!(
        "apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: t}}
spec: {{runtimeRef: {{name: r}}, {spec}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: r, labels: {{not: carried}}}}
spec:
  {policy}
  template:
    spec:
      replicatedJobs:
        - name: node
          replicas: 1
          template:
            metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
            spec:
              parallelism: 5
              template:
                spec:
                  restartPolicy: Never
                  containers: [{{name: node, image: 'i:1', resources: {{requests: {{cpu: 3500m}}}}}}]
"
    )
}

fn env(jobset: &Value, job: usize) -> Vec<(String, String)> {
    let path = format!("/spec/replicatedJobs/{job}/template/spec/template/spec/containers/0/env");
    let list = jobset.pointer(&path).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let both = |v: &Value| (text(&v["name"]), v.get("value").map_or("from".to_owned(), text));
    list.iter().map(both).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn a_trainjob_is_simulated_as_the_jobset_that_trainer_makes_of_it() {
    let words = ["run", "-f", TRAINJOB, "-f", RUNTIME, "--show-effective", "--format", "json"];
    let (code, out, err) = run_program(&words);
    assert_eq!(code, Some(0), "{err}");
    let jobsets: Vec<Value> = serde_json::from_str(&out).expect("JSON");
    let [jobset] = jobsets.as_slice() else { panic!("{out}") };
    let metadata = &jobset["metadata"];
    assert_eq!((&metadata["name"], &metadata["namespace"]), (&json!("llm"), &json!("research")));
    // Labels and annotations come from the template and the patch; those of the TrainJob are not copied.
    assert_eq!(metadata["labels"], json!({"team": "research", "queue": "gold"}));
    let at = |path: &str| jobset.pointer(&format!("/spec/replicatedJobs{path}")).cloned().unwrap_or_default();
    assert_eq!(at("/0/replicas"), json!(1));
    assert_eq!(at("/0/template/spec/completions"), json!(1));
    assert_eq!(at("/1/template/spec/parallelism"), json!(4));
    assert_eq!(at("/1/template/spec/completions"), json!(4));
    assert_eq!(at("/1/dependsOn/0/name"), json!("dataset-initializer"));
    let pod = "/1/template/spec/template";
    assert_eq!(at(&format!("{pod}/spec/nodeSelector")), json!({"pool": "h100"}));
    assert_eq!(at(&format!("{pod}/metadata/labels/scheduling.x-k8s.io~1pod-group")), json!("llm"));
    assert_eq!(at(&format!("{pod}/spec/containers/0/image")), json!("example.com/llm:7"));
    let resources = at(&format!("{pod}/spec/containers/0/resources"));
    assert_eq!(resources["requests"]["cpu"], json!("16"));
    assert_eq!(resources["requests"]["memory"], json!("64Gi"));
    assert_eq!(resources["limits"]["nvidia.com/gpu"], json!("4"));
    assert_eq!(env(jobset, 0), pairs(&[("STORAGE_URI", "s3://bucket/dataset")]));
    let expected = [
        ("LR", "0.1"),
        ("PET_NNODES", "4"),
        ("PET_NPROC_PER_NODE", "auto"),
        ("PET_NODE_RANK", "from"),
        ("PET_MASTER_ADDR", "llm-node-0-0.llm"),
        ("PET_MASTER_PORT", "29500"),
    ];
    assert_eq!(env(jobset, 1), pairs(&expected));
    assert_eq!(jobset["spec"]["suspend"], json!(false));
}

#[test]
fn unmodelled_trainjob_fields_are_listed_and_converted_objects_are_not_skipped() {
    let words = ["run", "-f", TRAINJOB, "-f", RUNTIME, "--format", "json", "--set", "stop.at=10m"];
    let (code, out, err) = run_program(&words);
    assert_eq!(code, Some(0), "{err}");
    assert!(!err.contains("not simulated: "), "{err}");
    for field in ["TrainJob.spec.activeDeadlineSeconds", "TrainingRuntime.spec.podGroupPolicy.coscheduling"] {
        assert!(out.contains(field), "{field}: {out}");
    }
}

#[test]
fn every_manifest_command_reads_embedded_jobsets() {
    let dir = scratch("wrapped");
    let out = dir.join("new");
    let out = out.to_string_lossy();
    let (code, _, err) = run_program(&["new", "-f", TRAINJOB, "-f", RUNTIME, "--out", &out]);
    assert_eq!(code, Some(0), "{err}");
    let scenario = format!("{out}/scenario.yaml");
    let text = fs::read_to_string(&scenario).expect("the scenario was written");
    assert!(text.contains("manifest: trainjob.yaml") && text.contains("training-runtime.yaml"), "{text}");
    let (code, output, err) = run_program(&["run", &scenario]);
    assert_eq!(code, Some(0), "{err}");
    assert!(output.contains("llm"), "{output}");
    let (code, out, err) = run_program(&["explain", "children", "-f", TRAINJOB, "-f", RUNTIME]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("llm-node-0-3"), "{out}");
    let (code, out, err) = run_program(&["lint", "-f", TRAINJOB, "-f", RUNTIME]);
    assert!(code == Some(0) && out.contains("1 JobSet"), "{code:?} {out} {err}");
    let words = ["compare", "-f", TRAINJOB, "-f", RUNTIME, "--variant", "patient: spec.failurePolicy.maxRestarts=9"];
    let (code, _, err) = run_program(&words);
    assert_eq!(code, Some(0), "{err}");
    fs::remove_dir_all(dir).expect("the directory can be removed");
}

#[test]
fn annotations_for_code_hosts_name_the_existing_file() {
    let (code, out, err) = run_program(&["lint", "-f", TRAINJOB, "-f", RUNTIME, "--format", "sarif"]);
    assert_eq!(code, Some(0), "{err}");
    let text: Value = serde_json::from_str(&out).expect("JSON");
    let results = text["runs"][0]["results"].as_array().expect("results");
    assert!(!results.is_empty());
    for result in results {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], json!(TRAINJOB), "{result}");
        assert!(place["region"].is_null(), "the line numbers refer to another text: {result}");
    }
}

#[test]
fn a_run_directory_keeps_both_files_and_repeats_the_run() {
    let dir = scratch("wrapped-run");
    let out = dir.join("run");
    let out = out.to_string_lossy();
    let (code, _, err) = run_program(&["run", "-f", TRAINJOB, "-f", RUNTIME, "--set", "stop.at=5m", "--out", &out]);
    assert_eq!(code, Some(0), "{err}");
    let command = fs::read_to_string(format!("{out}/inputs/command.txt")).expect("the command is saved");
    assert!(command.contains("00-trainjob.yaml") && command.contains("01-training-runtime.yaml"), "{command}");
    let (code, _, err) = run_program(&["why", &out]);
    assert_eq!(code, Some(0), "{err}");
    fs::remove_dir_all(dir).expect("the directory can be removed");
}

#[test]
fn the_number_of_nodes_is_the_trainjobs_or_the_policys_or_the_templates() {
    for (spec, policy, pods) in [
        ("trainer: {numNodes: 7}", "mlPolicy: {numNodes: 2, torch: {}}", 7),
        ("suspend: false", "mlPolicy: {numNodes: 2, torch: {}}", 2),
        ("suspend: false", "mlPolicy: {torch: {}}", 1),
        // Without a policy, the template determines the number of nodes, and PlainML still applies the TrainJob's
        // number.
        ("suspend: false", "podGroupPolicy: {}", 5),
        ("trainer: {numNodes: 7}", "podGroupPolicy: {}", 7),
        ("trainer: {numNodes: 7}", "mlPolicy: {mpi: {}}", 7),
        ("trainer: {numNodes: 7}", "mlPolicy: {mpi: {runLauncherAsNode: true}}", 6),
        ("trainer: {numNodes: 1}", "mlPolicy: {mpi: {runLauncherAsNode: true}}", 1),
    ] {
        let jobset = effective(&pair(spec, policy)).remove(0);
        let job = &jobset["spec"]["replicatedJobs"][0];
        let result = &job["template"]["spec"]["parallelism"];
        assert_eq!((result, &job["replicas"]), (&json!(pods), &json!(1)), "{spec} {policy}");
    }
}

#[test]
fn a_queued_trainjob_starts_at_once_without_kueue() {
    let queued = "{name: t, labels: {kueue.x-k8s.io/queue-name: q, other: x}}";
    let text = pair("suspend: true", "").replacen("{name: t}", queued, 1);
    let jobset = &effective(&text)[0];
    assert_eq!(jobset["metadata"]["labels"], json!({"kueue.x-k8s.io/queue-name": "q"}));
    let done = run_with_stdin(&["run", "-f", "-"], &text);
    let output = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(output.contains("every pod is ready"), "{output}");
    assert!(output.contains("(queue q): JobSet t starts immediately"), "{output}");
}

#[test]
fn each_policy_writes_its_environment() {
    let trainer = "trainer: {numNodes: 2}";
    let result = |policy: &str| env(&effective(&pair(trainer, policy))[0], 0);
    let torch = [
        ("PET_NNODES", "2"),
        ("PET_NPROC_PER_NODE", "4"),
        ("PET_NODE_RANK", "from"),
        ("PET_MASTER_ADDR", "t-node-0-0.t"),
        ("PET_MASTER_PORT", "29500"),
    ];
    assert_eq!(result("mlPolicy: {torch: {}}"), pairs(&torch));
    let jax =
        [("JAX_NUM_PROCESSES", "2"), ("JAX_PROCESS_ID", "from"), ("JAX_COORDINATOR_ADDRESS", "t-node-0-0.t:29500")];
    assert_eq!(result("mlPolicy: {jax: {}}"), pairs(&jax));
    let xgboost = [
        ("DMLC_TRACKER_URI", "t-node-0-0.t"),
        ("DMLC_TRACKER_PORT", "29500"),
        ("DMLC_TASK_ID", "from"),
        ("DMLC_NUM_WORKER", "2"),
    ];
    assert_eq!(result("mlPolicy: {xgboost: {}}"), pairs(&xgboost));
    // A TrainJob without `trainer` gets no environment variables.
    assert_eq!(env(&effective(&pair("suspend: true", "mlPolicy: {torch: {}}"))[0], 0), []);
}

#[test]
fn overrides_of_older_versions_are_laid_over_their_jobs() {
    let spec = "podTemplateOverrides: [{targetJobs: [{name: node}], metadata: {labels: {a: b}}, \
                spec: {tolerations: [{key: k, operator: Exists}], containers: [{name: node, volumeMounts: []}]}}]";
    let jobset = effective(&pair(spec, "mlPolicy: {torch: {}}")).remove(0);
    let pod = &jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"];
    assert_eq!(pod["metadata"]["labels"], json!({"a": "b"}));
    assert_eq!(pod["spec"]["tolerations"][0]["key"], json!("k"));
    assert_eq!(pod["spec"]["containers"][0]["image"], json!("i:1"));
}

#[test]
fn what_trainer_would_refuse_and_what_is_not_rendered_is_rejected_by_name() {
    let torch = "mlPolicy: {torch: {}}";
    for (spec, policy, words) in [
        ("trainer: {env: [{name: PET_NNODES, value: '1'}]}", torch, "must not have reserved envs"),
        ("managedBy: kueue.x-k8s.io/multikueue", torch, "Trainer in this cluster does not create a JobSet for it"),
        ("initializer: {model: {storageUri: 's3://x'}}", torch, "must have model-initializer job"),
        ("suspend: false", "mlPolicy: {flux: {}}", "mlPolicy.flux, which is not supported"),
        ("suspend: false", "mlPolicy: {torch: {}, jax: {}}", "Only one of the policy can be configured"),
        ("trainer: {nodes: 3}", torch, "nodes"),
        (
            "runtimePatches: [{trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: other}]}}}}]",
            torch,
            "must not have replicated job that doesn't exist",
        ),
        (
            "podTemplateOverrides: [{targetJobs: [{name: node}], spec: {containers: [{name: node, env: [{name: A}]}]}}]",
            torch,
            "must not have envs for the",
        ),
        ("podSpecOverrides: []", torch, "podSpecOverrides"),
        (
            "suspend: false",
            "mlPolicy: {torch: {envInjection: {targets: [{jobName: node, containerNames: [x]}]}}}",
            "not found in runtime template",
        ),
        (
            "runtimePatches: [{manager: foo, trainingRuntimeSpec: {}}]",
            torch,
            "spec.runtimePatches[0].manager: Invalid value: \"foo\": must be a domain-prefixed path (such as \"acme.io/foo\")",
        ),
        ("runtimePatches: [{trainingRuntimeSpec: {}}]", torch, "spec.runtimePatches[0].manager: Required value"),
        (
            "runtimePatches: [{manager: a.io/b, trainingRuntimeSpec: {}}, {manager: a.io/b, trainingRuntimeSpec: {}}]",
            torch,
            "spec.runtimePatches[1]: Duplicate value: {\"manager\":\"a.io/b\"}",
        ),
    ] {
        let text = rejection_of(&pair(spec, policy));
        assert!(text.contains(words), "{words}: {text}");
    }
    // The webhook of the runtime.
    let runtime = pair("suspend: false", torch);
    let containers = "must contain the required container for the ancestor: trainer";
    for (good, wrong, words) in [
        (
            "replicas: 1",
            "replicas: 2",
            "spec.template.spec.replicatedJobs[0].replicas: Invalid value: 2: always must be 1",
        ),
        ("containers: [{name: node,", "containers: [{name: main,", containers),
    ] {
        let text = rejection_of(&runtime.replace(good, wrong));
        assert!(text.contains(words), "{words}: {text}");
    }
    let (code, _, err) = run_program(&["run", "-f", TRAINJOB]);
    assert_eq!(code, Some(2));
    assert!(err.contains("trainjob.yaml:10:") && err.contains("kubectl get clustertrainingruntime"), "{err}");
    let (code, out, _) = run_program(&["lint", "-f", TRAINJOB]);
    assert_eq!(code, Some(2), "{out}");
    assert!(out.contains("is missing from the manifests"), "{out}");
}

#[test]
fn an_error_in_what_was_rendered_is_shown_in_the_rendered_text() {
    let text = pair("trainer: {numNodes: 2}", "mlPolicy: {torch: {}}")
        .replace("restartPolicy: Never", "restartPolicy: Perhaps");
    let output = rejection_of(&text);
    assert!(output.contains("<stdin>#TrainJob/t:"), "{output}");
    assert!(output.contains("restartPolicy: Perhaps"), "{output}");
}

#[test]
fn an_argo_workflow_is_listed_as_an_unknown_kind() {
    let workflow = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {{name: nightly}}\nspec:\n  templates:\n  - name: train\n    \
         resource:\n      action: create\n      manifest: |\n        {}\n",
        crate::program::JOBSET.replace('\n', "\n        ")
    );
    let text = rejection_of(&workflow);
    assert!(text.contains("no JobSet to run"), "{text}");
    let done = run_with_stdin(&["run", "-f", "-"], &format!("{workflow}---\n{}", crate::program::JOBSET));
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{text}");
    assert!(text.contains("Workflow/nightly"), "{text}");
}

#[test]
fn a_jobset_inside_of_another_object_is_found_at_its_place() {
    let inner = crate::program::JOBSET.replace('\n', "\n      ");
    let text = format!(
        "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {{name: w}}\nspec:\n  workload:\n    \
         manifests:\n    - {inner}"
    );
    let jobsets = effective(&text);
    assert_eq!(jobsets[0]["metadata"]["name"], json!("a"));
    let output = rejection_of(&text.replace("name: w\n", "name: W\n"));
    assert!(output.contains("<stdin>:1"), "{output}");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n    - {inner}");
    assert_eq!(effective(&list).len(), 1);
    // References to a JobSet, such as owners and the objects of Events, are not JobSets.
    let owned = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\n  ownerReferences:\n    - {apiVersion: \
                 jobset.x-k8s.io/v1alpha2, kind: JobSet, name: a}\n";
    let text = format!("{owned}---\n{}", crate::program::JOBSET);
    assert_eq!(effective(&text).len(), 1);
}

/// A PathwaysJob after the project's sample, with `mode` and further fields of the controller.
fn pathways(mode: &str, controller: &str) -> String {
    format!(
        "apiVersion: pathways-job.pathways.domain/v1
kind: PathwaysJob
metadata: {{name: trial, labels: {{kueue.x-k8s.io/queue-name: q}}}}
spec:
  maxRestarts: 10
  pathwaysDir: gs://bucket/tmp
  workers: [{{type: ct5p-hightpu-4t, topology: 2x2x4, numSlices: 2, nodeSelector: {{a: b}}}}]
  controller: {{deploymentMode: {mode}, mainContainerName: user{controller}}}
"
    )
}

#[test]
fn a_pathways_job_is_rendered_like_its_controller_does() {
    let user = ", template: {spec: {restartPolicy: Never, containers: [{name: user, image: 'i:1'}]}}";
    let jobset = effective(&pathways("default", user)).remove(0);
    let spec = &jobset["spec"];
    assert_eq!(jobset["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "q");
    assert_eq!(spec["successPolicy"]["targetReplicatedJobs"], json!(["pathways-head"]));
    let jobs = spec["replicatedJobs"].as_array().unwrap();
    let head = &jobs[0]["template"]["spec"];
    let key = "alpha.jobset.sigs.k8s.io/exclusive-topology";
    assert_eq!(head["template"]["metadata"]["annotations"][key], "kubernetes.io/hostname");
    let pod = &head["template"]["spec"];
    assert_eq!(pod["initContainers"][1]["restartPolicy"], "Always");
    assert_eq!(pod["containers"][0]["env"][1], json!({"name": "JAX_PLATFORMS", "value": "proxy"}));
    let worker = &jobs[1]["template"]["spec"];
    // 16 chips on machines of 4; four retries per machine.
    assert_eq!((&worker["parallelism"], &worker["backoffLimit"]), (&json!(4), &json!(16)));
    assert!(jobs[1]["template"]["metadata"]["annotations"][key].is_null());
    let pod = &worker["template"];
    assert_eq!(pod["metadata"]["annotations"][key], "cloud.google.com/gke-nodepool");
    let selector = json!({"a": "b", "cloud.google.com/gke-tpu-accelerator": "tpu-v5p-slice",
        "cloud.google.com/gke-tpu-topology": "2x2x4"});
    assert_eq!(pod["spec"]["nodeSelector"], selector);
    assert_eq!(pod["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"], "4");
    // Without a user pod, the resource manager and the proxy are the main containers.
    let headless = effective(&pathways("default", "")).remove(0);
    let head = &headless["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"];
    assert_eq!(head["containers"][0]["name"], "pathways-rm");
    // Its pods have the node's network: the ports are also those of the node.
    let ports = json!([{"containerPort": 29001, "protocol": "TCP"},
        {"containerPort": 29002, "protocol": "TCP"}]);
    assert_eq!(head["containers"][0]["ports"], ports);
    for (topology, wrong) in [("2x2x4", "2xbig"), ("2x2x4", "4x4")] {
        let wrong = pathways("default", "").replace(topology, wrong);
        assert!(rejection_of(&wrong).contains("invalid TPU topology for worker type"), "{wrong}");
    }
    let two = pathways("default", "")
        .replace("workers: [", "workers: [{type: ct6e-standard-4t, topology: 4x4, numSlices: 1}, ");
    assert!(rejection_of(&two).contains("spec.workers: Too many: 2: must have at most 1 items"));
}

#[test]
fn runtimes_of_older_trainers_with_num_proc_per_node_are_rendered() {
    let processes = |given: &str, resources: &str| {
        let policy = format!("mlPolicy: {{numNodes: 1, torch: {{numProcPerNode: {given}}}}}");
        let trainer = format!("trainer: {{numNodes: 2, resourcesPerNode: {{limits: {{{resources}}}}}}}");
        let jobset = effective(&pair(&trainer, &policy)).remove(0);
        let pod = &jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"];
        let env = pod["containers"][0]["env"].as_array().unwrap();
        let matching = env.iter().find(|e| e["name"] == "PET_NPROC_PER_NODE").unwrap();
        matching["value"].as_str().unwrap().to_owned()
    };
    assert_eq!(processes("auto", "nvidia.com/gpu: 8"), "auto");
    assert_eq!(processes("auto", "cpu: 6"), "6");
    assert_eq!(processes("cpu", "nvidia.com/gpu: 8, cpu: 5"), "5");
    assert_eq!(processes("2", "nvidia.com/gpu: 8"), "2");
}
