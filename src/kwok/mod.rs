//! A scenario as a folder for KWOK: nodes, stages and objects for real controllers, and the script's faults as lines.
//!
//! Formats: kubernetes-sigs/kwok @172defa5, pkg/apis/v1alpha1/stage_types.go and pkg/apis/config/v1alpha1; nothing is
//! copied. What real controllers decide is theirs; kubelets, images and training are not there, and are said to be
//! missing. Must never run anything but the simulation that times are taken from.

mod faults;
mod measured;
mod stages;

use crate::base::NodeId;
use crate::base::plain::{for_markdown, for_terminal};
use crate::engine::Simulation;
use crate::manifest;
use crate::observe::commands::{self, Subject};
use crate::spec::{BY_SCRIPT, Scenario};
use crate::topology::Cluster;
use serde_json::{Value, json};
use std::fmt::Write;

/// The version of JobSet whose decisions are simulated by default.
const JOBSET: &str = "v0.13.0";

/// Files by name, and what none of them can express.
pub struct Folder {
    pub files: Vec<(String, String)>,
    pub missing: Vec<String>,
}

/// The folder of a scenario; `command` repeats the export.
pub fn folder(simulation: &mut Simulation, seed: u64, command: &str) -> Folder {
    let times = measured::times(simulation, seed);
    let scenario = simulation.scenario();
    let faults = faults::script(scenario);
    let mut files = vec![
        ("kwok.yaml".to_owned(), configuration(scenario, &times)),
        ("nodes.yaml".to_owned(), nodes(scenario)),
    ];
    if !scenario.objects.is_empty() {
        files.push((
            "objects.yaml".to_owned(),
            documents(scenario.objects.iter().cloned()),
        ));
    }
    for (i, submitted) in scenario.jobsets.iter().enumerate() {
        if submitted.submit_at == BY_SCRIPT {
            continue;
        }
        if let Some(object) = &submitted.jobset.object {
            let mut object = Value::clone(object);
            clean(&mut object);
            files.push((
                faults::jobset_file(i, &submitted.jobset.name),
                manifest::print_yaml(&object),
            ));
        }
        let subject = Subject {
            jobset: submitted.jobset.name.clone(),
            namespace: submitted.jobset.namespace.clone(),
        };
        files.push((
            format!("record/{}.sh", submitted.jobset.name),
            commands::shell(&subject),
        ));
    }
    files.extend(faults.files);
    files.push(("faults.sh".to_owned(), faults.text));
    files.push(("run.sh".to_owned(), run(scenario)));
    let mut missing = faults.missing;
    missing.extend(not_expressed(scenario));
    files.push(("README.md".to_owned(), readme(scenario, &missing, command)));
    Folder { files, missing }
}

/// What the server writes, and would refuse in a POST.
fn clean(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
            "managedFields",
            "ownerReferences",
        ] {
            metadata.remove(field);
        }
    }
}

fn documents(objects: impl Iterator<Item = Value>) -> String {
    let texts: Vec<String> = objects
        .map(|object| manifest::print_yaml(&object))
        .collect();
    texts.join("---\n")
}

/// A quantity from thousandths.
fn quantity(milli: i64) -> String {
    match milli % 1000 {
        0 => (milli / 1000).to_string(),
        _ => format!("{milli}m"),
    }
}

pub(crate) fn node_object(node: &crate::spec::NodeObject) -> Value {
    let amounts = node
        .allocatable
        .iter()
        .map(|(name, milli)| (name.clone(), json!(quantity(*milli))));
    let mut amounts: serde_json::Map<String, Value> = amounts.collect();
    amounts.entry("pods").or_insert(json!("110"));
    let taint = |t: &crate::spec::Taint| json!({"key": t.key, "value": t.value, "effect": t.effect.as_str()});
    let taints: Vec<Value> = node.taints.iter().map(taint).collect();
    let mut object = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": node.name, "labels": node.labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "spec": {}, "status": {"allocatable": amounts, "capacity": amounts, "phase": "Running"}});
    if !taints.is_empty() {
        object["spec"]["taints"] = taints.into();
    }
    if node.unschedulable {
        object["spec"]["unschedulable"] = json!(true);
    }
    object
}

fn cluster(scenario: &Scenario) -> Cluster {
    Cluster::build(&scenario.topology, &["pods".to_owned()])
}

fn nodes(scenario: &Scenario) -> String {
    let cluster = cluster(scenario);
    let all = (0..cluster.len() as u32).map(|i| node_object(&cluster.object(NodeId(i))));
    documents(all)
}

/// KwokctlConfiguration with the rates of the scenario, and the stages.
fn configuration(scenario: &Scenario, times: &measured::Times) -> String {
    let plane = &scenario.control_plane;
    let arg = |key: &str, value: String| json!({"key": key, "value": value});
    let manager = [
        arg(
            "kube-api-qps",
            plane.kube_controller_manager.qps.to_string(),
        ),
        arg(
            "kube-api-burst",
            plane.kube_controller_manager.burst.to_string(),
        ),
        arg(
            "concurrent-job-syncs",
            plane.concurrent_job_syncs.to_string(),
        ),
        arg("concurrent-gc-syncs", plane.concurrent_gc_syncs.to_string()),
    ];
    let scheduler = [
        arg("kube-api-qps", plane.kube_scheduler.qps.to_string()),
        arg("kube-api-burst", plane.kube_scheduler.burst.to_string()),
    ];
    let kubernetes = format!("v{}.{}.0", plane.kubernetes.major, plane.kubernetes.minor);
    let head = json!({"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokctlConfiguration",
        "options": {"kubeVersion": kubernetes,
            "kubeControllerManagerNodeMonitorGracePeriodMilliseconds": plane.node_monitor_grace_period_s * 1000},
        "componentsPatches": [
            {"name": "kube-controller-manager", "extraArgs": manager},
            {"name": "kube-scheduler", "extraArgs": scheduler}]});
    let all = std::iter::once(head).chain(stages::all(scenario, times));
    documents(all)
}

fn run(scenario: &Scenario) -> String {
    let mut out = format!(
        "#!/bin/sh
# Makes the cluster, plays the scenario on it, and keeps what `jobset-sim import` reads in recorded/.
set -eu
cd \"$(dirname \"$0\")\"
name=${{1:-jobset-sim}}
# With kind the control plane is a node of its own, on which JobSet's manager can run. Without leases a node is alive as
# long as its stage writes heartbeats.
kwokctl create cluster --name \"$name\" --runtime kind --config kwok.yaml --node-lease-duration-seconds 0
export KUBECONFIG=\"$PWD/kubeconfig\"
kwokctl get kubeconfig --name \"$name\" > kubeconfig
kubectl apply --server-side -f https://github.com/kubernetes-sigs/jobset/releases/download/{JOBSET}/manifests.yaml
kubectl -n jobset-system patch deployment jobset-controller-manager --type merge -p \\
    '{{\"spec\":{{\"template\":{{\"spec\":{{\"nodeSelector\":{{\"node-role.kubernetes.io/control-plane\":\"\"}},\"tolerations\":[{{\"operator\":\"Exists\"}}]}}}}}}}}'
kubectl -n jobset-system rollout status deployment jobset-controller-manager --timeout 5m
kubectl create -f nodes.yaml
"
    );
    if !scenario.objects.is_empty() {
        out.push_str("kubectl apply -f objects.yaml\n");
    }
    let submitted = || scenario.jobsets.iter().filter(|s| s.submit_at != BY_SCRIPT);
    for s in submitted().filter(|s| s.jobset.namespace != "default") {
        let _ = writeln!(
            out,
            "kubectl create namespace {0} || true",
            s.jobset.namespace
        );
    }
    for s in submitted() {
        let _ = writeln!(out, "sh record/{0}.sh recorded/{0} &", s.jobset.name);
    }
    out.push_str("sleep 2\nsh faults.sh\n# What watches is ended here: give the last restart its time first.\nsleep \"${LAST:-60}\"\nkill $(jobs -p) 2>/dev/null || true\n");
    out
}

fn not_expressed(scenario: &Scenario) -> Vec<String> {
    let mut missing = vec![
        "latencies of the API server and of the nodes' clients: those of the machine that KWOK runs on".to_owned(),
        "how long containers take to start and to stop: one time for all, the median of the simulated run".to_owned(),
    ];
    if !scenario.training.is_empty() {
        missing.push("training: containers do nothing".to_owned());
    }
    if scenario
        .jobsets
        .iter()
        .any(|s| s.jobset.restarts_in_place())
    {
        missing
            .push("InPlaceRestart: its agent runs in the containers, and KWOK has none".to_owned());
    }
    if !scenario.claims_bind {
        missing.push("a provisioner that binds no claim".to_owned());
    }
    missing
}

fn readme(scenario: &Scenario, missing: &[String], command: &str) -> String {
    let mut out = format!(
        "# {} on KWOK

Written by `{command}`: the cluster, the JobSets and the faults of this scenario for
[KWOK](https://kwok.sigs.k8s.io), so that the decisions of the real controllers can be held against the simulated
ones. It needs `kwokctl`, `kind`, `kubectl` and a shell.

| file | what |
|---|---|
| `kwok.yaml` | versions, client rates, and the stages that stand for kubelets |
| `nodes.yaml` | {} Nodes with their labels, taints and resources |
| `jobsets/` | the JobSets as they were read |
| `faults.sh`, `functions.sh` | submissions and faults at their times |
| `record/` | what watches; `jobset-sim import` reads what it writes |
| `run.sh` | all of it |

    sh run.sh
    kwokctl delete cluster --name jobset-sim
",
        for_markdown(&scenario.name),
        scenario.topology.nodes()
    );
    for s in scenario.jobsets.iter().filter(|s| s.submit_at != BY_SCRIPT) {
        let name = &s.jobset.name;
        let _ = write!(
            out,
            "    jobset-sim import recorded/{name}/*.json --out {name}.json\n    jobset-sim diff RUN {name}.json\n"
        );
    }
    out.push_str("\n`RUN` is a directory that `jobset-sim run ... --out RUN` wrote of the same scenario.\n\nNot expressed here:\n\n");
    for line in missing {
        let _ = writeln!(out, "- {line}");
    }
    for_terminal(&out, false).into_owned()
}
