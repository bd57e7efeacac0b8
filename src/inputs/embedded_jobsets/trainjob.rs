//! TrainJobs: resolves the runtime of each, applies the checks of Trainer's webhooks, and renders the JobSet as a text.
//!
//! Source: kubeflow/trainer @8c0f5059, the markers in pkg/apis/trainer/v1alpha1/trainjob_types.go and Validate in
//! pkg/runtime/framework/plugins/{jobset,torch,mpi,xgboost}.

use super::policy::{MPI_NAMES, TORCH_NAMES, TORCHTUNE, XGBOOST_NAMES};
use super::render::{self, INITIALIZERS, NODE, has_container};
use super::{EmbeddedJobSet, EmbeddedObject};
use crate::acting_keys;
use crate::schema::check::{UnmodelledFields, check};
use crate::schema::definitions::trainer::{RUNTIME, TRAIN_JOB};
use crate::text::diagnostic::{DiagnosticReport, SourceText};
use crate::text::print;
use crate::{schema::field_type::FieldType, text::locate::locate, text::node::YamlNode, text::path::YamlPath};
use serde_json::{Value, json};
use sim_api::admission::names::{dns1123_subdomain, http_path};
use sim_api::admission::{error_list::ErrorList, field::FieldPath};

pub const GROUP: &str = "trainer.kubeflow.org/";
pub const RUNTIMES: [&str; 2] = ["ClusterTrainingRuntime", "TrainingRuntime"];
const CONTROLLER: &str = "trainer.kubeflow.org/trainjob-controller";

/// Renders the JobSet of a TrainJob into `result`, or records the errors.
pub fn render(object: &EmbeddedObject<'_>, all: &[EmbeddedObject<'_>], result: &mut EmbeddedJobSet) {
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(object.source, &none);
    let mut unmodelled = UnmodelledFields::new();
    let root = YamlPath::ROOT.key("TrainJob");
    check(&object.node, &FieldType::Object(&TRAIN_JOB), &root, &mut report, &mut unmodelled);
    let runtime = if report.is_clean() { runtime(object, all, &mut report) } else { None };
    if let Some(runtime) = runtime {
        let mut of_runtime = DiagnosticReport::new(runtime.source, &none);
        let root = YamlPath::ROOT.key("TrainingRuntime");
        let shape = FieldType::Object(&RUNTIME);
        check(&runtime.node, &shape, &root, &mut of_runtime, &mut unmodelled);
        let clean = of_runtime.is_clean();
        report.found.extend(of_runtime.found);
        if clean {
            refuse(object, runtime, &mut report);
        }
        if report.is_clean() {
            let jobset = render::jobset(&object.node.to_json(), &runtime.node.to_json());
            let text = print::yaml(&jobset);
            let file = object.part("");
            result.texts.push((object.text, SourceText { file, text }));
            result.used.extend([object.called(), runtime.called()]);
            for kind in ["coscheduling", "volcano"] {
                // Also an empty policy makes the pods of the TrainJob a gang.
                if runtime.node.at_path(&["spec", "podGroupPolicy", kind]).is_some_and(|policy| !policy.is_null()) {
                    unmodelled.insert(format!("TrainingRuntime.spec.podGroupPolicy.{kind}"), 1);
                }
            }
            // Keys of Kueue are copied to the JobSet, which lists them.
            let acting =
                object.node.get("metadata").map(|metadata| acting_keys::of_owner(&metadata.to_json(), "TrainJob"));
            for key in acting.into_iter().flatten().filter(|key| !key.contains("kueue.x-k8s.io/")) {
                unmodelled.insert(key, 1);
            }
            if is_torchtune(object, runtime) {
                let field =
                    "TrainJob.spec.trainer.command (torchtune: recipe, configuration and rendezvous are not added)";
                unmodelled.insert(field.to_owned(), 1);
            }
        }
    }
    let line = object.node.at.line;
    result.errors.extend(report.found.into_iter().map(|error| (object.text, line, error)));
    let fields = unmodelled.into_keys().map(|field| (object.text, field));
    result.unmodelled.extend(fields);
}

fn is_torchtune(object: &EmbeddedObject<'_>, runtime: &EmbeddedObject<'_>) -> bool {
    let command = object.node.at_path(&["spec", "trainer", "command"]);
    let words = command.map_or(&[][..], YamlNode::items).iter().filter_map(YamlNode::as_str);
    let torch = runtime.node.at_path(&["spec", "mlPolicy", "torch"]);
    torch.is_some() && words.eq(TORCHTUNE)
}

/// Returns the runtime that the TrainJob refers to, or reports that it is missing.
fn runtime<'o>(
    object: &EmbeddedObject<'_>, all: &'o [EmbeddedObject<'o>], report: &mut DiagnosticReport,
) -> Option<&'o EmbeddedObject<'o>> {
    let reference = object.node.at_path(&["spec", "runtimeRef"])?;
    let word = |key: &str, default: &'static str| -> String {
        reference.get(key).and_then(YamlNode::as_str).unwrap_or(default).to_owned()
    };
    let kind = word("kind", RUNTIMES[0]);
    let group = word("apiGroup", "trainer.kubeflow.org");
    if !RUNTIMES.contains(&kind.as_str()) || group != "trainer.kubeflow.org" {
        let at = reference.get("kind").or(reference.get("apiGroup")).map_or(reference.at, |v| v.at);
        let message = format!("Kubeflow Trainer cannot create a JobSet from a {kind} of {group}");
        report.error(at, message).legal(RUNTIMES.join(", "));
        return None;
    }
    let name = word("name", "");
    let home = |node: &YamlNode| -> String {
        let namespace = node.at_path(&["metadata", "namespace"]).and_then(YamlNode::as_str);
        namespace.unwrap_or("default").to_owned()
    };
    let here = home(&object.node);
    let of_kind = || all.iter().filter(|o| o.version.starts_with(GROUP) && o.kind == kind);
    let reached = |o: &&EmbeddedObject<'_>| kind == RUNTIMES[0] || home(&o.node) == here;
    let matching = of_kind().filter(reached).find(|o| o.name() == name);
    if matching.is_none() {
        let at = reference.get("name").map_or(reference.at, |v| v.at);
        let error = report.error(at, format!("{kind} {name:?} is missing from the manifests"));
        error.nearest(&name, of_kind().filter(reached).map(|o| o.name()));
        let resource = kind.to_ascii_lowercase();
        let of = if kind == RUNTIMES[0] { String::new() } else { format!(" -n {here}") };
        error.legal(format!("add it with another -f; to export it, run kubectl get {resource}{of} {name} -o yaml"));
    }
    matching
}

/// Reports what Trainer's webhooks would refuse, and features that are not rendered.
fn refuse(object: &EmbeddedObject<'_>, runtime: &EmbeddedObject<'_>, report: &mut DiagnosticReport) {
    let (job, template) = (object.node.to_json(), runtime.node.to_json());
    let mut at = |path: &str, message: String| {
        let place = locate(&object.node, path).map_or(object.node.at, |result| result.key);
        report.error(place, message);
    };
    if let Some(by) = job.pointer("/spec/managedBy").and_then(Value::as_str).filter(|by| *by != CONTROLLER) {
        at("spec.managedBy", format!("managed by {by}: Trainer in this cluster does not create a JobSet for it"));
    }
    let name = object.name();
    let mut letters = name.chars();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let label = letters.next().is_some_and(|c| c.is_ascii_lowercase()) && letters.all(plain);
    if !label || name.ends_with('-') || name.len() > 63 {
        at("metadata.name", "metadata.name must match RFC 1035 DNS label format, of at most 63 characters".to_owned());
    }
    let policy = &template["spec"]["mlPolicy"];
    if policy.get("flux").is_some_and(|flux| !flux.is_null()) {
        at("spec.runtimeRef.name", format!("{} has mlPolicy.flux, which is not supported", runtime.called()));
    }
    let sources = ["torch", "mpi", "jax", "xgboost", "flux"];
    if sources.iter().filter(|s| policy.get(**s).is_some()).count() > 1 {
        at("spec.runtimeRef.name", "Only one of the policy can be configured".to_owned());
    }
    for wrong in runtime_jobs(&template) {
        at("spec.runtimeRef.name", format!("{} is invalid: {wrong}", runtime.called()));
    }
    managers(&job, &mut at);
    injections(policy, &template, &mut at);
    initializers(&job, &template, &mut at);
    reserved(&job, policy, &mut at);
    targets(&job, &template, &mut at);
}

/// Reports an error: takes the field path in the TrainJob and the message.
type NoticeSink<'t> = dyn FnMut(&str, String) + 't;

fn jobs(template: &Value) -> impl Iterator<Item = &Value> {
    let jobs = template.pointer("/spec/template/spec/replicatedJobs");
    jobs.and_then(Value::as_array).into_iter().flatten()
}

fn job_named<'t>(template: &'t Value, name: &str) -> Option<&'t Value> {
    jobs(template).find(|job| job.get("name").is_some_and(|n| n == name))
}

/// The errors of the runtime's webhook: a Job with a step of the training has one replica and the step's container
/// (`validateReplicatedJobs`).
fn runtime_jobs(template: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    for (k, job) in jobs(template).enumerate() {
        let step = job["template"]["metadata"]["labels"][render::ANCESTOR].as_str().unwrap_or("");
        let expected = match step {
            "trainer" => NODE,
            step if INITIALIZERS.iter().any(|(known, _)| *known == step) => step,
            _ => continue,
        };
        let path = format!("spec.template.spec.replicatedJobs[{k}]");
        let replicas = job["replicas"].as_i64().unwrap_or(1);
        if replicas != 1 {
            errors.push(format!("{path}.replicas: Invalid value: {replicas}: always must be 1"));
        }
        let pod = &job["template"]["spec"]["template"]["spec"];
        if !has_container(pod, "containers", expected) {
            let containers = pod.get("containers").unwrap_or(&Value::Null);
            let detail = format!("must contain the required container for the ancestor: {step}");
            errors
                .push(format!("{path}.template.spec.template.spec.containers: Invalid value: {containers}: {detail}"));
        }
    }
    errors
}

/// Checks that each patch names its manager, a path with a domain, once (`IsDomainPrefixedPath`).
fn managers(job: &Value, tell: &mut NoticeSink<'_>) {
    let patches = job.pointer("/spec/runtimePatches").and_then(Value::as_array);
    let managers: Vec<&str> =
        patches.into_iter().flatten().map(|patch| patch["manager"].as_str().unwrap_or("")).collect();
    let mut errors = ErrorList::default();
    for (k, manager) in managers.iter().enumerate() {
        let path = FieldPath::new("spec.runtimePatches").index(k);
        let at = path.child("manager");
        match manager.split_once('/') {
            _ if manager.is_empty() => errors.required(&at, ""),
            Some((host, rest)) if !host.is_empty() && !rest.is_empty() => {
                errors.all_invalid(&at, host, dns1123_subdomain(host));
                errors.all_invalid(&at, rest, http_path(rest));
            }
            _ => errors.invalid_text(&at, manager, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
        }
        if managers[..k].contains(manager) {
            errors.duplicate(&path, &json!({"manager": manager}));
        }
    }
    if let Err(refusal) = errors.into_rejection("TrainJob", job["metadata"]["name"].as_str().unwrap_or("")) {
        tell("spec.runtimePatches", refusal.message);
    }
}

/// Checks that each configured dataset or model has an initializer Job and container in the runtime.
fn initializers(job: &Value, template: &Value, tell: &mut NoticeSink<'_>) {
    for (step, member) in INITIALIZERS {
        if job.pointer(&format!("/spec/initializer/{member}")).is_none() {
            continue;
        }
        let path = format!("spec.initializer.{member}");
        let Some(found) = job_named(template, step) else {
            tell(&path, format!("must have {step} job when trainJob is configured with input {member}Config"));
            continue;
        };
        let pod = found.pointer("/template/spec/template/spec").unwrap_or(&Value::Null);
        if !has_container(pod, "containers", step) && !has_container(pod, "initContainers", step) {
            tell(&path, format!("must have container with name - {step} in the {step} job"));
            continue;
        }
        let containers = pod.get("containers").and_then(Value::as_array);
        let container = containers.into_iter().flatten().find(|c| c["name"] == step);
        let mounts = container.and_then(|c| c.get("volumeMounts")).and_then(Value::as_array);
        if !mounts.into_iter().flatten().any(|mount| mount["name"] == "initializer") {
            tell(&path, format!("must have volumeMount with name - initializer in container {step} of the {step} job"));
        }
    }
}

/// Reports environment variables that are reserved by a plug-in.
fn reserved(job: &Value, policy: &Value, tell: &mut NoticeSink<'_>) {
    let names: &[&str] = match policy {
        p if p.get("torch").is_some() => &TORCH_NAMES,
        p if p.get("mpi").is_some() => &MPI_NAMES,
        p if p.get("xgboost").is_some() => &XGBOOST_NAMES,
        _ => &[],
    };
    let env = job.pointer("/spec/trainer/env").and_then(Value::as_array);
    for (i, var) in env.into_iter().flatten().enumerate() {
        let name = var.get("name").and_then(Value::as_str).unwrap_or("");
        if names.contains(&name) {
            let path = format!("spec.trainer.env[{i}].name");
            tell(&path, format!("must not have reserved envs, invalid envs configured: [{name}]"));
        }
    }
}

/// Checks that the containers targeted by envInjection exist in the runtime.
fn injections(policy: &Value, template: &Value, tell: &mut NoticeSink<'_>) {
    let targets = policy.pointer("/torch/envInjection/targets").and_then(Value::as_array);
    for target in targets.into_iter().flatten() {
        let job = target["jobName"].as_str().unwrap_or("");
        let pod = job_named(template, job).and_then(|job| job.pointer("/template/spec/template/spec"));
        let names = target["containerNames"].as_array();
        for name in names.into_iter().flatten().filter_map(Value::as_str) {
            let has = |list: &&str| pod.is_some_and(|pod| has_container(pod, list, name));
            if !["containers", "initContainers"].iter().any(has) {
                let message =
                    format!("envInjection target podSet {job:?} container {name:?} not found in runtime template");
                tell("spec.runtimeRef.name", message);
            }
        }
    }
}

/// Checks that patches only name Jobs and containers of the runtime, and do not set variables of containers that
/// Trainer configures itself.
fn targets(job: &Value, template: &Value, tell: &mut NoticeSink<'_>) {
    const WRITTEN: [&str; 3] = ["dataset-initializer", "model-initializer", NODE];
    let list = |path: &str| job.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut pods = Vec::new();
    for (i, patch) in list("/spec/runtimePatches").iter().enumerate() {
        let path = format!("spec.runtimePatches[{i}]");
        let of = patch.pointer("/trainingRuntimeSpec/template/spec/replicatedJobs");
        for rj in of.and_then(Value::as_array).into_iter().flatten() {
            let pod = rj.pointer("/template/spec/template/spec").cloned();
            pods.push((path.clone(), rj["name"].clone(), pod));
        }
    }
    for (i, patch) in list("/spec/podTemplateOverrides").iter().enumerate() {
        let path = format!("spec.podTemplateOverrides[{i}]");
        let of = patch.get("targetJobs").and_then(Value::as_array);
        for target in of.into_iter().flatten() {
            pods.push((path.clone(), target["name"].clone(), patch.get("spec").cloned()));
        }
    }
    for (path, name, pod) in pods {
        let name = name.as_str().unwrap_or("");
        let Some(found) = job_named(template, name) else {
            tell(
                &path,
                format!("must not have replicated job that doesn't exist in the runtime job template: {name:?}"),
            );
            continue;
        };
        let (pod, null) = (pod.unwrap_or_default(), Value::Null);
        let known = found.pointer("/template/spec/template/spec").unwrap_or(&null);
        for (kind, word) in [("initContainers", "initContainer"), ("containers", "container")] {
            for container in pod.get(kind).and_then(Value::as_array).into_iter().flatten() {
                let called = container["name"].as_str().unwrap_or("");
                let both = ["containers", "initContainers"];
                if !both.iter().any(|list| has_container(known, list, called)) {
                    tell(
                        &path,
                        format!("must not have {word} that doesn't exist in the runtime job {name}: {called:?}"),
                    );
                } else if kind == "containers" && WRITTEN.contains(&called) && container.get("env").is_some() {
                    tell(&path, format!("must not have envs for the {} containers", WRITTEN.join(", ")));
                }
            }
        }
    }
}
