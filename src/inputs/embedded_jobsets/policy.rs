//! Applies the mlPolicy of a training runtime to the pods: their number, and the environment variables for rendezvous.
//!
//! Source: kubeflow/trainer @8c0f5059, pkg/runtime/framework/plugins/{torch,plainml,jax,xgboost,mpi}. This module
//! must never refuse input.

use super::patch::put;
use super::render::{NODE, RenderPlan};
use serde_json::{Value, json};
use sim_base::quantity;

/// Port of the trainer container. Source: pkg/constants/constants.go, ContainerTrainerPort.
const PORT: u32 = 29500;
const RANK: &str = "metadata.annotations['batch.kubernetes.io/job-completion-index']";
/// Environment variables reserved by torchrun; a TrainJob must not set them (TorchRunReservedEnvNames).
pub const TORCH_NAMES: [&str; 5] =
    ["PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"];
/// Environment variables reserved by the XGBoost plug-in (XGBoostReservedEnvNames).
pub const XGBOOST_NAMES: [&str; 4] = ["DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"];
/// Environment variables reserved by the MPI plug-in (MPIReservedEnvNames).
pub const MPI_NAMES: [&str; 4] = [
    "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_plm_rsh_args", "OMPI_MCA_orte_keep_fqdn_hostnames",
    "OMPI_MCA_orte_set_default_slots",
];
/// The torchtune command. For it, the Torch plug-in writes a recipe instead of the address of the first pod.
pub const TORCHTUNE: [&str; 2] = ["tune", "run"];

/// Applies the plug-in of the runtime's mlPolicy to the plan.
pub fn enforce(plan: &mut RenderPlan<'_>) {
    let has = |source: &str| plan.policy.get(source).is_some_and(|s| !s.is_null());
    let (torch, mpi, jax, xgboost) = (has("torch"), has("mpi"), has("jax"), has("xgboost"));
    let nodes = plan.trainer.get("numNodes").and_then(Value::as_i64);
    if let Some(nodes) = nodes {
        if mpi { mpi_nodes(plan, nodes) } else { plan.set_trainer_count(nodes) }
    }
    let count = plan.trainer_count().unwrap_or(1);
    if torch {
        torch_env(plan, count);
    }
    if jax {
        let address = format!("{}:{PORT}", first_pod(plan));
        let env = [
            env("JAX_NUM_PROCESSES", count.to_string()),
            rank("JAX_PROCESS_ID"),
            env("JAX_COORDINATOR_ADDRESS", address),
        ];
        in_trainer(plan, &env, true);
    }
    if xgboost {
        let workers = count * plan.gpus().max(1);
        let env = [
            env("DMLC_TRACKER_URI", first_pod(plan)),
            env("DMLC_TRACKER_PORT", PORT.to_string()),
            rank("DMLC_TASK_ID"),
            env("DMLC_NUM_WORKER", workers.to_string()),
        ];
        in_trainer(plan, &env, true);
    }
    if mpi {
        mpi_files(plan);
    }
}

fn env(name: &str, value: String) -> Value {
    json!({"name": name, "value": value})
}

fn rank(name: &str) -> Value {
    json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": RANK}}})
}

fn first_pod(plan: &RenderPlan<'_>) -> String {
    format!("{0}-{NODE}-0-0.{0}", plan.name)
}

/// Adds environment variables, and optionally the port, to the trainer container. Does nothing if the TrainJob has
/// no `trainer`.
fn in_trainer(plan: &mut RenderPlan<'_>, env: &[Value], port: bool) {
    if plan.trainer.is_null() {
        return;
    }
    if let Some(container) = plan.trainer_container() {
        put(container, "env", "name", env);
        if port {
            let port = [json!({"containerPort": PORT})];
            put(container, "ports", "containerPort", &port);
        }
    }
}

fn torch_env(plan: &mut RenderPlan<'_>, count: i64) {
    let levels = [plan.trainer.get("numProcPerNode"), plan.policy.pointer("/torch/numProcPerNode")];
    let given = levels.into_iter().flatten().find(|value| !value.is_null());
    let each = match given.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)) {
        // Trainer before 2.2 has the values auto, cpu and gpu, in the runtime.
        Some(word) if word == "cpu" => plan.cpus().max(1).to_string(),
        Some(word) if word != "auto" => word,
        _ if plan.gpus() > 0 => "auto".to_owned(),
        _ => plan.cpus().max(1).to_string(),
    };
    let elastic = [env(TORCH_NAMES[0], count.to_string()), env(TORCH_NAMES[1], each), rank(TORCH_NAMES[2])];
    let first = [env(TORCH_NAMES[3], first_pod(plan)), env(TORCH_NAMES[4], PORT.to_string())];
    in_trainer(plan, &elastic, true);
    if !plan.is_torchtune() {
        in_trainer(plan, &first, false);
    }
    let targets = plan.policy.pointer("/torch/envInjection/targets").cloned();
    for target in targets.iter().filter_map(Value::as_array).flatten() {
        let job = target.get("jobName").and_then(Value::as_str).unwrap_or("");
        let names = target.get("containerNames").and_then(Value::as_array);
        for name in names.into_iter().flatten().filter_map(Value::as_str) {
            if let Some(container) = plan.container(job, name) {
                put(container, "env", "name", &elastic);
                put(container, "env", "name", &first);
            }
        }
    }
}

/// Sets the number of MPI worker pods. If the launcher counts as a node, one fewer worker is needed.
fn mpi_nodes(plan: &mut RenderPlan<'_>, nodes: i64) {
    let count = if plan.launcher_is_node() { (nodes - 1).max(1) } else { nodes };
    plan.set_count(NODE, count);
}

/// Mounts the SSH keys and the host file, which the plug-in writes into a Secret and a ConfigMap.
fn mpi_files(plan: &mut RenderPlan<'_>) {
    const LAUNCHER: &str = "launcher";
    // `/root/.ssh` is the default of Trainer's API (MPIMLPolicySource.sshAuthMountPath).
    let path = plan.policy.pointer("/mpi/sshAuthMountPath");
    let path = path.and_then(Value::as_str).unwrap_or("/root/.ssh").to_owned();
    let given = plan.trainer.get("numProcPerNode").and_then(Value::as_i64);
    let default = plan.policy.pointer("/mpi/numProcPerNode");
    let each = match (given, default.and_then(Value::as_i64).unwrap_or(1)) {
        (Some(n), _) => n,
        (None, 1) => plan.gpus().max(1),
        (None, n) => n,
    };
    let item = |key: &str, path: &str, mode: u32| json!({"key": key, "path": path, "mode": mode});
    let keys = json!({"name": "mpi-ssh-auth", "secret": {
        "secretName": format!("{}-mpi-ssh-auth", plan.name), "defaultMode": 0o400, "items": [
            item("ssh-privatekey", "id_rsa", 0o640), item("ssh-publickey", "id_rsa.pub", 0o644),
            item("ssh-publickey", "authorized_keys", 0o644)]}});
    let hosts = json!({"name": "mpi-hostfile", "configMap": {
        "name": format!("{}-mpi-hostfile", plan.name), "items": [item("hostfile", "hostfile", 0o444)]}});
    let env = [
        env(MPI_NAMES[0], "/etc/mpi/hostfile".to_owned()),
        env(MPI_NAMES[2], "true".to_owned()),
        env(MPI_NAMES[3], each.to_string()),
        env(MPI_NAMES[1], "-o ConnectionAttempts=10".to_owned()),
    ];
    for job in [NODE, LAUNCHER] {
        let Some(pod) = plan.pod(job) else { continue };
        put(pod, "volumes", "name", std::slice::from_ref(&keys));
        if job == LAUNCHER {
            put(pod, "volumes", "name", std::slice::from_ref(&hosts));
        }
        let Some(container) = plan.container(job, NODE) else {
            continue;
        };
        let mount = json!({"name": "mpi-ssh-auth", "mountPath": path});
        put(container, "volumeMounts", "mountPath", &[mount]);
        if job == LAUNCHER {
            let mount = json!({"name": "mpi-hostfile", "mountPath": "/etc/mpi"});
            put(container, "volumeMounts", "mountPath", &[mount]);
            put(container, "env", "name", &env);
        }
    }
}

/// Returns the number of accelerators in a container's resources: the requests, or the limits if there are no
/// requests (GetNumGPUPerNode).
pub fn gpus(resources: &Value) -> i64 {
    let of = |list: &str| {
        let list = resources.get(list).and_then(Value::as_object);
        let mut all = list.into_iter().flatten();
        let matching = all.find(|(name, _)| name.to_ascii_lowercase().contains("gpu"));
        matching.map_or(0, |(_, amount)| integer_amount(amount))
    };
    match of("requests") {
        0 => of("limits"),
        n => n,
    }
}

/// Returns the number of CPUs in a container's resources: the requests, or the limits if there are no requests
/// (getNumCPUPerNode).
pub fn cpus(resources: &Value) -> i64 {
    let of = |list: &str| {
        let amount = resources.get(list).and_then(|list| list.get("cpu"));
        amount.map_or(0, integer_amount)
    };
    match of("requests") {
        0 => of("limits"),
        n => n,
    }
}

/// Converts a quantity to a whole number, rounded up as in Kubernetes.
fn integer_amount(amount: &Value) -> i64 {
    let text = match amount {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let milli = quantity::parse_milli(&text).unwrap_or(0);
    milli.div_euclid(1000) + i64::from(milli.rem_euclid(1000) > 0)
}
