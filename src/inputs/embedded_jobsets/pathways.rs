//! PathwaysJobs: renders the JobSet that the PathwaysJob controller creates.
//!
//! Source: google/pathways-job @c0cc759, api/v1/pathwaysjob_types.go and
//! internal/controller/pathwaysjob_controller.go.

use super::{EmbeddedJobSet, EmbeddedObject};
use crate::schema::check::{UnmodelledFields, check};
use crate::text::diagnostic::{DiagnosticReport, SourceText};
use crate::text::print;
use crate::{schema::definitions::trainer::PATHWAYS_JOB, schema::field_type::FieldType, text::path::YamlPath};
use serde_json::{Value, json};
use sim_api::spec::keys::{COORDINATOR, EXCLUSIVE_TOPOLOGY, HOSTNAME, JOBSET_NAME};

pub const GROUP: &str = "pathways-job.pathways.domain/";
const HEAD: &str = "pathways-head";
const IMAGES: &str = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways";
/// Machine types with the version of their TPU, the GKE accelerator type and the chips per machine.
pub const MACHINES: [(&str, &str, &str, u64); 7] = [
    ("tpu7x-standard-4t", "tpu7x", "tpu7x", 4),
    ("ct6e-standard-4t", "tpuv6e", "tpu-v6e-slice", 4),
    ("ct6e-standard-8t", "tpuv6e1t", "tpu-v6e-slice", 8),
    ("ct5p-hightpu-4t", "tpuv5", "tpu-v5p-slice", 4),
    ("ct5lp-hightpu-4t", "tpuv5e", "tpu-v5-lite-podslice", 4),
    ("ct5lp-hightpu-8t", "tpuv5e1t", "tpu-v5-lite-podslice", 8),
    ("ct4p-hightpu-4t", "tpuv4", "tpu-v4-podslice", 4),
];

/// Largest number of `workers` and of `customComponents` (the CRD's `maxItems`).
const MOST: [(&str, usize); 2] = [("workers", 1), ("customComponents", 4)];

/// The topologies that the controller accepts for a machine type.
fn topologies(machine: &str) -> impl Iterator<Item = &'static str> {
    let text = include_str!("pathways_topologies.txt");
    let lines = text.lines().skip_while(move |line| line.split_once(':').is_none_or(|(name, _)| name != machine));
    let own = lines.enumerate().take_while(|(k, line)| *k == 0 || line.starts_with(' '));
    own.flat_map(|(_, line)| line.split(':').next_back().unwrap_or("").split_whitespace())
}

/// Renders the JobSet of a PathwaysJob into `result`, or records the errors.
pub fn render(object: &EmbeddedObject<'_>, result: &mut EmbeddedJobSet) {
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(object.source, &none);
    let (root, shape) = (YamlPath::ROOT.key("PathwaysJob"), FieldType::Object(&PATHWAYS_JOB));
    let mut unmodelled = UnmodelledFields::new();
    check(&object.node, &shape, &root, &mut report, &mut unmodelled);
    let job = object.node.to_json();
    for (name, most) in MOST {
        let found = job["spec"][name].as_array().map_or(0, Vec::len);
        if found > most {
            let at = object.node.at_path(&["spec", name]).map_or(object.node.at, |list| list.at);
            report.error(at, format!("spec.{name}: Too many: {found}: must have at most {most} items"));
        }
    }
    let worker = &job["spec"]["workers"][0];
    let (machine, topology) = (text(&worker["type"]), text(&worker["topology"]));
    let legal: Vec<&str> = topologies(machine).collect();
    let sizes: Result<Vec<u64>, _> = topology.split('x').map(str::parse).collect();
    let chips = sizes.ok().and_then(|all| all.into_iter().try_fold(1u64, u64::checked_mul));
    let chips = chips.filter(|_| legal.contains(&topology));
    match chips.filter(|_| report.is_clean()) {
        Some(chips) => {
            let text = print::yaml(&jobset(&job, chips));
            result.texts.push((object.text, SourceText { file: object.part(""), text }));
            result.used.insert(object.called());
        }
        None if report.is_clean() => {
            let at = object.node.at_path(&["spec", "workers"]).map_or(object.node.at, |w| w.at);
            let error = report.error(at, format!("invalid TPU topology for worker type: {topology:?}"));
            error.legal(legal.join(", "));
        }
        None => {}
    }
    let errors = report.found.into_iter();
    result.errors.extend(errors.map(|error| (object.text, object.node.at.line, error)));
    result.unmodelled.extend(unmodelled.into_keys().map(|field| (object.text, field)));
}

/// Returns the JobSet for a PathwaysJob whose slices have this many chips.
fn jobset(job: &Value, chips: u64) -> Value {
    let (metadata, spec) = (&job["metadata"], &job["spec"]);
    let (controller, worker) = (&spec["controller"], &spec["workers"][0]);
    let machine = MACHINES.iter().find(|(name, ..)| worker["type"] == *name);
    let (_, version, accelerator, per_machine) = *machine.unwrap_or(&MACHINES[0]);
    let machines = (chips / per_machine).max(1);
    let topology = worker["topology"].as_str().unwrap_or("");
    let mut selector = worker["nodeSelector"].clone();
    if !selector.is_object() {
        selector = json!({});
    }
    selector["cloud.google.com/gke-tpu-accelerator"] = json!(accelerator);
    selector["cloud.google.com/gke-tpu-topology"] = json!(topology);
    let colocated = controller["deploymentMode"] == "colocate_head_with_workers";
    let mut annotations = metadata["annotations"].clone();
    if !annotations.is_object() {
        annotations = json!({});
    }
    if !colocated {
        annotations[EXCLUSIVE_TOPOLOGY] = json!(HOSTNAME);
    }
    let mut head = head_pod(spec, &format!("{version}:{topology}"));
    if colocated {
        head["nodeSelector"] = selector.clone();
    }
    let mut pod = worker_pod(spec, per_machine, selector);
    if colocated {
        pod["affinity"] = affinity(&metadata["name"]);
    }
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let restarts = number(&worker["maxSliceRestarts"]);
    let elastic = number(&controller["elasticSlices"]) > 0 && worker["maxSliceRestarts"] != json!(0);
    let each = if elastic { restarts.max(1) } else { 4 };
    let mut jobset = json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"].as_str().unwrap_or("default")},
        "spec": {
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "failurePolicy": {"maxRestarts": number(&spec["maxRestarts"])},
            "coordinator": {"replicatedJob": HEAD, "jobIndex": 0, "podIndex": 0},
            "replicatedJobs": [
                {"name": HEAD, "replicas": 1, "template": {"metadata": {"annotations": annotations}, "spec": {
                    "backoffLimit": 0, "completions": 1, "parallelism": 1,
                    "template": {"metadata": {"annotations": annotations}, "spec": head}}}},
                {"name": "worker", "replicas": worker["numSlices"], "template": {"spec": {
                    "backoffLimit": machines * each, "completions": machines, "parallelism": machines,
                    "template": {"metadata": {"annotations": {
                        (EXCLUSIVE_TOPOLOGY): "cloud.google.com/gke-nodepool"}}, "spec": pod}}}},
            ],
        },
    });
    for kind in ["labels", "annotations"] {
        if metadata[kind].is_object() {
            jobset["metadata"][kind] = metadata[kind].clone();
        }
    }
    if controller["template"].is_object() {
        jobset["spec"]["successPolicy"] = json!({"operator": "All", "targetReplicatedJobs": [HEAD]});
    }
    jobset
}

/// The head pod: the user's containers with the resource manager and the proxy as sidecars. Without a user pod, these
/// two are the main containers.
fn head_pod(spec: &Value, instance: &str) -> Value {
    let (controller, gcs) = (&spec["controller"], format!("--gcs_scratch_location={}", text(&spec["pathwaysDir"])));
    let slices = spec["workers"][0]["numSlices"].as_u64().unwrap_or(0);
    let manager = [
        "--server_port=29001".to_owned(),
        gcs.clone(),
        "--node_type=resource_manager".to_owned(),
        format!("--instance_count={slices}"),
        format!("--instance_type={instance}"),
    ];
    let mut proxy = vec!["--server_port=29000".to_owned(), RM_ADDRESS.to_owned(), gcs];
    let elastic = controller["elasticSlices"].as_u64().filter(|n| *n > 0);
    proxy.extend(elastic.map(|n| format!("--num_elastic_slices={n}")));
    let mut services = [
        component(spec, ("pathways-rm", "pathways_server", "server"), &manager, (8, "32G"), &[29001, 29002]),
        component(spec, ("pathways-proxy", "proxy_server", "proxy_server"), &proxy, (16, "100G"), &[29000]),
    ];
    let mut pod = controller["template"]["spec"].clone();
    if pod.is_object() {
        for service in &mut services {
            service["restartPolicy"] = json!("Always");
        }
        let mut inits = pod["initContainers"].as_array().cloned().unwrap_or_default();
        inits.extend(services);
        pod["initContainers"] = inits.into();
        let main = controller["mainContainerName"].as_str().unwrap_or("main");
        for container in pod["containers"].as_array_mut().into_iter().flatten().filter(|c| c["name"] == main) {
            let mut env = container["env"].as_array().cloned().unwrap_or_default();
            env.extend([
                head_variable(),
                json!({"name": "JAX_PLATFORMS", "value": "proxy"}),
                json!({"name": "XCLOUD_ENVIRONMENT", "value": "GCP"}),
                json!({"name": "JAX_BACKEND_TARGET", "value": "grpc://$(PATHWAYS_HEAD):29000"}),
            ]);
            container["env"] = env.into();
        }
    } else {
        pod = json!({"containers": services});
    }
    pod["hostNetwork"] = json!(true);
    pod["dnsPolicy"] = json!("ClusterFirstWithHostNet");
    pod
}

const RM_ADDRESS: &str = "--resource_manager_address=$(PATHWAYS_HEAD):29001";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn head_variable() -> Value {
    let path = format!("metadata.labels['{COORDINATOR}']");
    json!({"name": "PATHWAYS_HEAD", "valueFrom": {"fieldRef": {"fieldPath": path}}})
}

/// A container of Pathways with its customizations: its name, the type of the component and the default image.
fn component(
    spec: &Value, names: (&str, &str, &str), args: &[String], (cpu, memory): (u32, &str), ports: &[u16],
) -> Value {
    let custom = spec["customComponents"].as_array().into_iter().flatten();
    let custom = custom.clone().find(|c| c["componentType"] == names.1).unwrap_or(&Value::Null);
    let tag = spec["pathwaysVersion"].as_str().unwrap_or("latest");
    let mut args: Vec<Value> = args.iter().map(|arg| json!(arg)).collect();
    if spec["controller"]["enableMetricsCollection"] == true {
        args.push(json!("--enable_metrics_collection=true"));
    }
    args.extend(custom["customFlags"].as_array().cloned().unwrap_or_default());
    let mut env = vec![head_variable()];
    env.extend(custom["customEnv"].as_array().cloned().unwrap_or_default());
    let image = custom["image"].as_str().map_or(format!("{IMAGES}/{}:{tag}", names.2), str::to_owned);
    let mut container = json!({"name": names.0, "image": image, "imagePullPolicy": "Always", "args": args, "env": env,
        "ports": ports.iter().map(|port| json!({"containerPort": port})).collect::<Vec<_>>()});
    if cpu > 0 {
        container["resources"] = json!({"limits": {"cpu": cpu, "memory": memory}});
    }
    container
}

fn worker_pod(spec: &Value, chips: u64, selector: Value) -> Value {
    let worker = &spec["workers"][0];
    let gcs = format!("--gcs_scratch_location={}", text(&spec["pathwaysDir"]));
    let args = ["--server_port=29005".to_owned(), RM_ADDRESS.to_owned(), gcs];
    let mut container =
        component(spec, ("pathways-worker", "worker", "server"), &args, (0, ""), &[29005, 29006, 8471, 8080]);
    container["resources"] = json!({"limits": {"google.com/tpu": chips}});
    let mut pod = json!({
        "containers": [container], "nodeSelector": selector, "hostNetwork": true,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "volumes": [{"name": "shared-tmp", "hostPath": {"path": "/tmp", "type": "DirectoryOrCreate"}}],
    });
    for key in ["terminationGracePeriodSeconds", "priorityClassName"] {
        if !worker[key].is_null() {
            pod[key] = worker[key].clone();
        }
    }
    let custom = spec["customComponents"].as_array().into_iter().flatten();
    let python = custom.clone().find(|c| c["componentType"] == "colocated_python_sidecar");
    if let Some(image) = python.and_then(|c| c["image"].as_str()) {
        pod["initContainers"] = json!([{"name": "colocated-python-sidecar", "image": image, "restartPolicy": "Always",
            "imagePullPolicy": "Always", "ports": [{"containerPort": 50051}]}]);
    }
    pod
}

/// The head shares a node pool with a worker of its own job, and no pods of other jobs.
fn affinity(name: &Value) -> Value {
    let term = |expressions: Value| {
        json!({"requiredDuringSchedulingIgnoredDuringExecution": [{
            "labelSelector": {"matchExpressions": expressions}, "topologyKey": "cloud.google.com/gke-nodepool"}]})
    };
    let of = |operator| json!({"key": JOBSET_NAME, "operator": operator, "values": [name]});
    json!({
        "podAffinity": term(json!([of("In")])),
        "podAntiAffinity": term(json!([of("NotIn"), {"key": "job-name", "operator": "Exists"}])),
    })
}
