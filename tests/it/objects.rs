//! Child objects compared with recordings of a real control plane: created objects, rejections and their messages.

use crate::program::{program, scratch};
use crate::support;
use serde_json::{Value, json};
use sim_api::admission::{AdmissionRejection, GENERATED_SUFFIX};
use sim_api::objects;
use sim_api::objects::{JobSlot, NO_UID};
use sim_recordings::validate::admission::{children, children_documents};
use std::path::PathBuf;

/// Returns the path of an admission recording and its cases without the header.
fn recording(kind: &str) -> (PathBuf, Vec<Value>) {
    let wanted = format!("{kind}.json");
    let files = support::recordings("admission");
    let mut of_kind = files.into_iter().filter(|p| p.ends_with(&wanted));
    let path = of_kind.next().expect("there is a recording of each kind");
    let text = std::fs::read_to_string(&path).expect("a recording can be read");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("a recording is JSON");
    (path, cases.into_iter().skip(1).collect())
}

#[test]
fn every_recorded_jobset_gets_the_recorded_children() {
    let (path, cases) = recording("children");
    let mut wrong = Vec::new();
    for case in &cases {
        let documents = children_documents::documents(&path.display().to_string(), case);
        let result = children::compare(case, &documents.expect("documents can be read"));
        for difference in result.iter().take(4) {
            wrong.push(format!(
                "{}\n  recorded  {}\n  simulated {}",
                difference.path, difference.recorded, difference.simulated
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differences in {} cases\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// The watched cases of `create.json` also contain child objects, many of them of invalid templates.
#[test]
fn every_watched_jobset_gets_the_recorded_children() {
    let mut wrong = Vec::new();
    let (_, cases) = recording("create");
    let watched: Vec<&Value> = cases.iter().filter(|c| c["off"]["observed"].is_object()).collect();
    for case in &watched {
        let observed = &case["off"]["observed"];
        let children = json!({
            "id": case["id"],
            "gates": "off",
            "namespace": observed["jobsets"][0]["metadata"]["namespace"],
            "created": [{"kind": "JobSet", "code": 201}],
            "observed": observed,
        });
        let body = case["request"]["body"].clone();
        for difference in children::compare(&children, &[body]).iter().take(4) {
            wrong.push(format!(
                "{}\n  recorded  {}\n  simulated {}",
                difference.path, difference.recorded, difference.simulated
            ));
        }
    }
    let (result, all) = (wrong.len(), watched.len());
    assert!(wrong.is_empty(), "{result} differences in {all} cases\n{}", wrong.join("\n"));
}

/// Returns the watched cases of `create.json`: id, stored JobSet, observed objects.
fn observed() -> Vec<(String, Value, Value)> {
    let (_, cases) = recording("create");
    let watched = cases.into_iter().filter(|c| c["off"]["observed"].is_object());
    let parts = watched.map(|case| {
        let id = case["id"].as_str().unwrap_or("").to_owned();
        let observed = case["off"]["observed"].clone();
        let mut jobset = case["off"]["object"].clone();
        jobset["metadata"]["namespace"] = observed["jobsets"][0]["metadata"]["namespace"].clone();
        (id, jobset, observed)
    });
    parts.collect()
}

/// Returns the error for every rejected Job of a stored JobSet, in the wording of the JobSet controller.
fn refusals(jobset: &Value) -> Vec<String> {
    let rjs = jobset["spec"]["replicatedJobs"].as_array().cloned().unwrap_or_default();
    let mut result = Vec::new();
    for (replicated_job, rj) in rjs.iter().enumerate() {
        for index in 0..rj["replicas"].as_u64().unwrap_or(0) as u32 {
            let slot = JobSlot { jobset, replicated_job, index, restarts: 0, job_restarts: None, global_indexes: None };
            if let Err(refused) = objects::admit_job(&objects::job_of_slot(&slot)) {
                let text = format!("job \"{}\" creation failed with error: {}", slot.name(), refused.message);
                result.push(text.replace(NO_UID, "<uid>"));
            }
        }
    }
    result
}

#[test]
fn the_api_server_rejects_bad_job_templates_in_the_recorded_words() {
    let mut compared = 0;
    for (id, jobset, observed) in observed() {
        let errors = observed["reconcile_errors"].as_array().into_iter().flatten();
        let texts = errors.filter_map(|e| e["error"].as_str());
        let recorded: Vec<&str> = texts.filter(|t| t.contains("creation failed with error")).collect();
        let own = refusals(&jobset);
        let jobs = observed["jobs"].as_array().map_or(0, Vec::len);
        if recorded.is_empty() {
            assert!(jobs == 0 || own.is_empty(), "{id}: {own:#?}");
            continue;
        }
        compared += 1;
        assert_eq!(own.first().map(String::as_str), recorded.first().copied(), "{id}");
    }
    assert!(compared >= 15, "only {compared} refusals");
}

#[test]
fn services_claims_and_pods_are_rejected_in_the_recorded_words() {
    let mut compared = 0;
    for (id, jobset, observed) in observed() {
        let jobset = &jobset;
        let mut own: Vec<String> = Vec::new();
        let mut keep = |answer: Result<Value, AdmissionRejection>| {
            own.extend(answer.err().map(|refused| refused.message));
        };
        objects::service(jobset).map(|s| objects::admit_service(&s)).into_iter().for_each(&mut keep);
        objects::claims(jobset).iter().map(objects::admit_claim).for_each(&mut keep);
        let around = objects::ObjectContext::default();
        let rjs = jobset["spec"]["replicatedJobs"].as_array().map_or(0, Vec::len);
        for replicated_job in 0..rjs {
            let slot =
                JobSlot { jobset, replicated_job, index: 0, restarts: 0, job_restarts: None, global_indexes: None };
            if let Ok(job) = objects::admit_job(&objects::job_of_slot(&slot)) {
                let pod = objects::pod_of_index(&job, Some(0));
                keep(objects::admit_pod(&pod, GENERATED_SUFFIX, &around));
            }
        }
        let events = observed["events"].as_array().into_iter().flatten();
        let wanted = ["FailedCreate", "HeadlessServiceCreationFailed", "PVCCreationFailed"];
        for event in events.filter(|e| wanted.iter().any(|w| e["reason"] == *w)) {
            let note = event["note"].as_str().unwrap_or("");
            let note = note.strip_prefix("Error creating: ").unwrap_or(note);
            let note = note.replace("<rand>", GENERATED_SUFFIX);
            assert!(own.contains(&note), "{id}\n{note}\n{own:#?}");
            compared += 1;
        }
    }
    assert!(compared >= 5, "only {compared} refusals");
}

#[test]
fn objects_that_admission_applies_to_pods_are_listed_as_not_modelled() {
    let dir = scratch("kueue-limits");
    let file = dir.join("limits.yaml");
    std::fs::write(
        &file,
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\nspec: {limits: [{type: Container, max: {cpu: 1}}]}\n---\n\
         apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: team}\nspec: {hard: {cpu: 1}}\n---\n\
         apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: plain}\nhandler: runc\n---\n\
         apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: gvisor}\nhandler: runsc\noverhead: {podFixed: \
         {cpu: 1}}\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let output = program(&["run", "--format", "json", "-f", file, "-f", "scenarios/manifests/workers.yaml"]).output();
    let summary: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let listed: Vec<&str> = summary["notModelled"].as_array().unwrap().iter().filter_map(|n| n.as_str()).collect();
    let is_listed = |object: &str| listed.iter().any(|note| note.starts_with(object));
    for (object, expected) in [
        ("LimitRange small: ", true),
        ("ResourceQuota team: ", true),
        ("RuntimeClass gvisor: ", true),
        ("RuntimeClass plain: ", false),
    ] {
        assert_eq!(is_listed(object), expected, "{object}: {listed:?}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// The kubelet kills a container whose startup probe fails `failureThreshold` times in a row.
#[test]
fn a_startup_probe_that_fails_before_its_container_is_ready_is_listed_as_not_modelled() {
    let dir = scratch("startup-probe");
    let file = dir.join("probe.yaml");
    for (probe, ready_after, expected) in [
        ("{exec: {command: [a]}, periodSeconds: 10, failureThreshold: 3}", "10m", Some("after 30s")),
        ("{exec: {command: [a]}}", "31s", Some("after 30s")),
        ("{exec: {command: [a]}, initialDelaySeconds: 20, failureThreshold: 1}", "31s", Some("after 30s")),
        ("{exec: {command: [a]}, periodSeconds: 1, failureThreshold: 600}", "10m", None),
    ] {
        let text = format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: j}}\nspec: {{replicatedJobs: [{{name: \
             w, template: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: 'x:1', \
             startupProbe: {probe}}}]}}}}}}}}}}]}}\n"
        );
        std::fs::write(&file, text).unwrap();
        let set = format!("containers=[{{runFor: 1h, readyAfter: {ready_after}}}]");
        let output = program(&["run", "--format", "json", "-f", file.to_str().unwrap(), "--set", &set]).output();
        let summary: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        let notes: Vec<&str> = summary["notModelled"].as_array().unwrap().iter().filter_map(|n| n.as_str()).collect();
        let note = notes.iter().find(|note| note.starts_with("failure of the startupProbe of container c"));
        match expected {
            Some(text) => assert!(note.is_some_and(|note| note.contains(text)), "{probe}: {notes:?}"),
            None => assert_eq!(note, None, "{probe}"),
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_second_configuration_of_kube_scheduler_is_an_error_wherever_it_is() {
    let dir = scratch("two-schedulers");
    let one = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\nspec: {replicatedJobs: [{name: w, \
                  template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'x:1'}]}}}}}]}\n";
    let topologies = std::fs::canonicalize("topologies").unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (plain, first, second) = (write("j.yaml", jobset), write("a.yaml", one), write("b.yaml", one));
    let both = write("both.yaml", &format!("{one}---\n{one}"));
    let with_jobset = write("with.yaml", &format!("{jobset}\n---\n{one}"));
    let scenario = |objects: &str| {
        format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology: \
             {}/small-16.yaml\njobSets: [{{manifest: with.yaml}}]\nobjects: {objects}\nstop: {{at: 1m}}\n",
            topologies.display()
        )
    };
    let inline = "[{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}]";
    let (once, twice) = (write("once.yaml", &scenario("[]")), write("twice.yaml", &scenario(inline)));
    for (args, is_error) in [
        (vec!["-f", &plain, "-f", &first], false),
        (vec!["-f", &plain, "-f", &first, "-f", &second], true),
        (vec!["-f", &plain, "-f", &both], true),
        (vec!["-f", &with_jobset, "-f", &first], true),
        (vec![once.as_str()], false),
        (vec![twice.as_str()], true),
    ] {
        let output = program(&[&["run", "--set", "stop.at=1m"], &args[..]].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(if is_error { 2 } else { 0 }), "{args:?}: {text}");
        assert_eq!(text.contains("KubeSchedulerConfiguration is defined twice"), is_error, "{args:?}: {text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn labels_and_annotations_of_other_components_are_listed_as_not_modelled() {
    let dir = scratch("acting-keys");
    let file = dir.join("job.yaml");
    let manifest = |metadata: &str, pod: &str| {
        format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: j, {metadata}}}\nspec: {{replicatedJobs: \
             [{{name: w, template: {{spec: {{template: {{metadata: {{{pod}}}, spec: {{restartPolicy: Never, containers: \
             [{{name: c, image: \"x:1\"}}]}}}}}}}}}}]}}\n"
        )
    };
    for (metadata, pod, expected) in [
        ("labels: {runai/queue: team}", "", Some("label runai/queue (JobSet): queue of the Run:ai scheduler")),
        ("", "labels: {kai.scheduler/queue: team}", Some("label kai.scheduler/queue (pod of replicatedJob w): ")),
        ("", "annotations: {k8s.v1.cni.cncf.io/networks: rdma0}", Some("annotation k8s.v1.cni.cncf.io/networks (pod ")),
        ("", "annotations: {sidecar.istio.io/inject: 'true'}", Some("annotation sidecar.istio.io/inject (pod ")),
        ("", "annotations: {sidecar.istio.io/inject: 'false'}", None),
        ("", "annotations: {example.com/team: a}", None),
    ] {
        std::fs::write(&file, manifest(metadata, pod)).unwrap();
        let output = program(&["run", "--format", "json", "-f", file.to_str().unwrap()]).output().unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let listed: Vec<&str> = summary["notModelled"].as_array().unwrap().iter().filter_map(|n| n.as_str()).collect();
        let found = listed.iter().find(|note| note.contains("label ") || note.contains("annotation "));
        assert_eq!(found.is_some(), expected.is_some(), "{metadata} {pod}: {listed:?}");
        assert!(expected.is_none_or(|expected| found.is_some_and(|note| note.starts_with(expected))), "{listed:?}");
    }
    std::fs::remove_dir_all(dir).unwrap();
    let entries = sim_inputs::acting_keys::ACTING_KEYS;
    for entry in entries {
        assert!(!entry.effect.is_empty() && entry.source.contains('.'), "{} has no source", entry.key);
        let equal = entries.iter().filter(|other| other.place == entry.place && other.key == entry.key);
        assert_eq!(equal.count(), 1, "{} is listed twice", entry.key);
        for key in SIMULATED_KEYS {
            let is_named = entry.key.strip_suffix('*').map_or(key == entry.key, |prefix| key.starts_with(prefix));
            assert!(!is_named, "{key} is simulated, and {} names it", entry.key);
        }
    }
}

#[test]
fn every_command_that_simulates_or_checks_a_manifest_names_what_is_not_modelled() {
    let dir = scratch("not-modelled");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (manifest, scenario, chart, page) =
        (at("job.yaml"), at("scenario.yaml"), at("chart.svg"), at("report") + ".md");
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\nspec: {failurePolicy: \
                  {maxRestarts: 1}, replicatedJobs: [{name: w, template: {spec: {template: {metadata: {annotations: \
                  {sidecar.istio.io/inject: 'true'}}, spec: {restartPolicy: Never, containers: [{name: c, image: \
                  \"x:1\"}]}}}}}]}\n";
    std::fs::write(&manifest, jobset).unwrap();
    let text = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: s}\njobSets: [{manifest: job.yaml}]\n\
                topology: CLUSTER\nfaults: [{at: 1m, containerExit: {pod: j-w-0-0, exitCode: 1}}]\nstop: \
                {at: 1h}\n";
    std::fs::write(&scenario, text.replace("CLUSTER", SMALL_CLUSTER)).unwrap();
    let strategy = "A:strategy=BlockingRecreate";
    let commands: [&[&str]; 10] = [
        &["run", &scenario],
        &["step", &scenario],
        &["lint", "-f", &manifest],
        &["topology", "fit", "flat-5000", "--max", "2", "-f", &manifest],
        &["topology", "show", "flat-5000", "--format", "json", "--place", &manifest],
        &["why", &scenario],
        &["report", &scenario, "--md", &page],
        &["plot", "gantt", &scenario, "--out", &chart],
        &["compare", &scenario, "--seeds", "2", "--variant", strategy],
        &["sensitivity", &scenario, "--seeds", "2"],
    ];
    for command in commands {
        let output = program(command).stdin(std::process::Stdio::null()).output().unwrap();
        let mut text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success(), "{command:?}: {text}");
        if command[0] == "report" {
            text += &std::fs::read_to_string(&page).unwrap();
        }
        assert!(text.contains("sidecar.istio.io/inject"), "{command:?} does not name it: {text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

const SMALL_CLUSTER: &str = "{apiVersion: jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: \
                             [{name: \"n-{node}\", count: 1, nodesPerIsland: 8, allocatable: {cpu: 8, memory: 64Gi}}]}";

/// Keys that the simulation follows.
const SIMULATED_KEYS: [&str; 20] = [
    "alpha.jobset.sigs.k8s.io/exclusive-topology", "alpha.jobset.sigs.k8s.io/node-selector",
    "batch.kubernetes.io/job-completion-index", "jobset.sigs.k8s.io/disable-in-place-restart",
    "jobset.sigs.k8s.io/jobset-name", "kueue.x-k8s.io/admission-gated-by", "kueue.x-k8s.io/max-exec-time-seconds",
    "kueue.x-k8s.io/podset-group-name", "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-slice-required-topology",
    "kueue.x-k8s.io/podset-slice-size", "kueue.x-k8s.io/podset-unconstrained-topology",
    "kueue.x-k8s.io/prebuilt-workload-name", "kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/queue-name",
    "node.kubernetes.io/not-ready", "node.kubernetes.io/out-of-service", "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
];

/// Keys of nodes, of Workloads and of TrainJobs, and fields of Kueue's configuration, in JSON and in the text.
#[test]
fn keys_of_nodes_workloads_and_trainjobs_are_listed_as_not_modelled() {
    let dir = scratch("acting-keys-of-nodes");
    let node = |name: &str, metadata: &str, spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}{metadata}}}, spec: {{{spec}}}, status: {{allocatable: \
             {{cpu: 8, memory: 8Gi, pods: 110}}, conditions: [{{type: Ready, status: 'True'}}]}}}}"
        )
    };
    let dump = dir.join("nodes.yaml");
    let nodes = [
        node("a", ", annotations: {cluster-autoscaler.kubernetes.io/scale-down-disabled: 'true'}", ""),
        node("b", ", labels: {cloud.google.com/gke-provisioning: spot}", ""),
        node("c", ", labels: {karpenter.sh/capacity-type: on-demand}", ""),
        node("d", "", "taints: [{key: node.cilium.io/agent-not-ready, effect: NoSchedule}]"),
        node("e", "", "taints: [{key: node.kubernetes.io/out-of-service, effect: NoExecute}]"),
    ];
    std::fs::write(&dump, format!("apiVersion: v1\nkind: List\nitems: [{}]\n", nodes.join(", "))).unwrap();
    let runtime = dir.join("train.yaml");
    std::fs::write(
        &runtime,
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: r}\nspec: {mlPolicy: \
         {numNodes: 1}, template: {spec: {replicatedJobs: [{name: node, template: {metadata: {labels: \
         {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {containers: [{name: node, image: \
         'x:1'}]}}}}}]}}}\n---\napiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t, labels: \
         {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high, runai/queue: team}, annotations: \
         {provreq.kueue.x-k8s.io/class: a}}\nspec: {runtimeRef: {name: r}}\n",
    )
    .unwrap();
    let kueue = dir.join("kueue.yaml");
    std::fs::write(
        &kueue,
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\ntls: {minVersion: VersionTLS12}\nintegrations: \
         {frameworks: [batch/job, trainer.kubeflow.org/trainjob]}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: \
         Workload\nmetadata: {name: w, namespace: default, annotations: {kueue.x-k8s.io/priority-boost: '5'}}\nspec: \
         {queueName: q, podSets: [{name: m, count: 1, template: {spec: {containers: [{name: c, image: 'x:1'}]}}}]}\n",
    )
    .unwrap();
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let (dump, runtime, kueue) = (text(&dump), text(&runtime), text(&kueue));
    let run = |more: &[&str]| {
        let output = program(&[&["run", "-t", &dump, "-f", &runtime, "-f", &kueue, "--quiet"], more].concat()).output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() || output.status.code() == Some(4), "{output:?}");
        text
    };
    let summary: serde_json::Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
    let listed: Vec<&str> = summary["notModelled"].as_array().unwrap().iter().filter_map(|n| n.as_str()).collect();
    let text = run(&["--verbose"]).split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "annotation cluster-autoscaler.kubernetes.io/scale-down-disabled=true of nodes: ",
        "label cloud.google.com/gke-provisioning=spot of nodes: ",
        "taint node.cilium.io/agent-not-ready of nodes: ",
        "label runai/queue (TrainJob): ",
        "annotation provreq.kueue.x-k8s.io/class (JobSet): ",
        "Workload.metadata.annotations[kueue.x-k8s.io/priority-boost]",
        "Configuration.integrations.frameworks: batch/job without JobSet",
    ] {
        assert!(listed.iter().any(|note| note.starts_with(expected)), "{expected}: {listed:#?}");
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for absent in ["capacity-type", "out-of-service", "tls"] {
        assert!(!listed.iter().any(|note| note.contains(absent)), "{absent}: {listed:#?}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}
