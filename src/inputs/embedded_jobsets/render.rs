//! Renders a TrainJob and its runtime to a JobSet, like the JobSet plug-in of Kubeflow Trainer.
//!
//! Source: kubeflow/trainer @8c0f5059, pkg/runtime/core/trainingruntime.go (newRuntimeInfo, mergeRuntimePatches) and
//! pkg/runtime/framework/plugins/jobset/{builder,jobset}.go. The input is JSON trees that have been checked. Fields
//! missing from the template are reported later by the check of the JobSet. The owner reference is omitted because
//! TrainJobs are not simulated.

use super::patch::{merge, put};
use super::policy;
use serde_json::{Map, Value, json};

pub const ANCESTOR: &str = "trainer.kubeflow.org/trainjob-ancestor-step";
/// Name of the training container, and often of the replicatedJob that contains it.
pub const NODE: &str = "node";
/// Ancestor labels of the initializer Jobs, each with the field of `initializer` that configures the Job.
pub const INITIALIZERS: [(&str, &str); 2] = [("dataset-initializer", "dataset"), ("model-initializer", "model")];

/// A JobSet under construction from a TrainJob and its runtime.
pub struct RenderPlan<'t> {
    pub name: &'t str,
    /// `spec.trainer` of the TrainJob; null if absent.
    pub trainer: &'t Value,
    /// `spec.mlPolicy` of the runtime; null if absent.
    pub policy: &'t Value,
    /// Spec of the JobSet, rendered so far.
    spec: Value,
    /// Number of pods of each replicatedJob.
    counts: Vec<i64>,
}

/// Renders the JobSet for a TrainJob and its runtime.
pub fn jobset(train_job: &Value, runtime: &Value) -> Value {
    let text = |path: &str| train_job.pointer(path).and_then(Value::as_str);
    let name = text("/metadata/name").unwrap_or_default();
    let null = &Value::Null;
    let part = |object: &'static str| -> Value {
        let template = runtime.pointer("/spec/template");
        template.and_then(|t| t.pointer(object)).cloned().unwrap_or_else(|| json!({}))
    };
    let mut metadata = part("/metadata");
    let mut spec = part("/spec");
    patches(train_job, &mut metadata, &mut spec);
    let mut plan = RenderPlan {
        name,
        trainer: train_job.pointer("/spec/trainer").unwrap_or(null),
        policy: runtime.pointer("/spec/mlPolicy").unwrap_or(null),
        counts: Vec::new(),
        spec,
    };
    plan.count_pods();
    plan.resources();
    if !plan.trainer.is_null() && (plan.policy.is_null() || plan.policy.get("jax").is_none()) {
        // The Torch, PlainML and XGBoost plug-ins put the TrainJob's variables before their own; the builder adds
        // them again.
        plan.trainer_env();
    }
    policy::enforce(&mut plan);
    plan.parallelism();
    plan.initializers(train_job);
    plan.train();
    plan.pod_group(runtime);
    let suspend = train_job.pointer("/spec/suspend").and_then(Value::as_bool);
    plan.spec["suspend"] = json!(suspend.unwrap_or(false));
    let mut head = json!({"name": name, "namespace": text("/metadata/namespace").unwrap_or("default")});
    for list in ["labels", "annotations"] {
        if let Some(values) = metadata.get(list).filter(|v| v.as_object().is_some_and(|v| !v.is_empty())) {
            head[list] = values.clone();
        }
    }
    // Kueue manages the TrainJob, whose pods are those of the JobSet, by the keys that it reads from a JobSet.
    for list in ["labels", "annotations"] {
        let own = train_job.pointer(&format!("/metadata/{list}")).and_then(Value::as_object);
        for (key, value) in own.into_iter().flatten().filter(|(key, _)| is_of_kueue(key)) {
            head[list][key] = value.clone();
        }
    }
    json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": head, "spec": plan.spec})
}

/// Returns whether Kueue reads a label or annotation of a job.
fn is_of_kueue(key: &str) -> bool {
    key.starts_with("kueue.x-k8s.io/") || key.starts_with("provreq.kueue.x-k8s.io/")
}

/// Applies runtimePatches, or podTemplateOverrides from older versions, to the template.
fn patches(train_job: &Value, metadata: &mut Value, spec: &mut Value) {
    let order: Vec<Value> = names(spec).cloned().collect();
    let items = |path: &str| {
        let items = train_job.pointer(path).and_then(Value::as_array);
        items.into_iter().flatten()
    };
    for (list, path) in [("labels", "/spec/labels"), ("annotations", "/spec/annotations")] {
        if let Some(values) = train_job.pointer(path) {
            let mut patch = Map::new();
            patch.insert(list.to_owned(), values.clone());
            merge(metadata, &Value::Object(patch));
        }
    }
    for patch in items("/spec/runtimePatches") {
        if let Some(values) = patch.pointer("/trainingRuntimeSpec/template/metadata") {
            merge(metadata, values);
        }
        if let Some(values) = patch.pointer("/trainingRuntimeSpec/template/spec") {
            merge(spec, values);
        }
    }
    if let Some(jobs) = spec.get_mut("replicatedJobs").and_then(Value::as_array_mut) {
        jobs.sort_by_key(|job| order.iter().position(|name| job.get("name") == Some(name)));
    }
    for patch in items("/spec/podTemplateOverrides") {
        let targets = patch.get("targetJobs").and_then(Value::as_array);
        let targets: Vec<&Value> = targets.into_iter().flatten().filter_map(|t| t.get("name")).collect();
        let jobs = spec.get_mut("replicatedJobs").and_then(Value::as_array_mut);
        for job in jobs.into_iter().flatten() {
            let meant = job.get("name").is_some_and(|name| targets.contains(&name));
            let Some(pod) = job.pointer_mut("/template/spec/template").filter(|_| meant) else {
                continue;
            };
            let fields = ["metadata", "spec"].map(|key| (key, patch.get(key)));
            let fields = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.clone())));
            merge(pod, &Value::Object(fields.collect()));
        }
    }
}

fn names(spec: &Value) -> impl Iterator<Item = &Value> {
    let jobs = spec.get("replicatedJobs").and_then(Value::as_array);
    jobs.into_iter().flatten().filter_map(|job| job.get("name"))
}

impl RenderPlan<'_> {
    fn jobs(&self) -> &[Value] {
        let jobs = self.spec.get("replicatedJobs").and_then(Value::as_array);
        jobs.map_or(&[], Vec::as_slice)
    }

    fn jobs_mut(&mut self) -> &mut [Value] {
        let jobs = self.spec.get_mut("replicatedJobs").and_then(Value::as_array_mut);
        jobs.map_or(&mut [], Vec::as_mut_slice)
    }

    fn trainer_at(&self) -> Option<usize> {
        self.jobs().iter().position(|job| ancestor(job) == "trainer")
    }

    /// Counts the pods of each replicatedJob. The trainer's count comes from the mlPolicy, all others from the
    /// template.
    fn count_pods(&mut self) {
        let counts = self.jobs().iter().map(|job| {
            let written = job.pointer("/template/spec/parallelism").and_then(Value::as_i64);
            let nodes = self.policy.get("numNodes").and_then(Value::as_i64);
            let of_policy = ancestor(job) == "trainer" && !self.policy.is_null();
            if of_policy { nodes.unwrap_or(1) } else { written.unwrap_or(1) }.max(1)
        });
        self.counts = counts.collect();
    }

    pub fn trainer_count(&self) -> Option<i64> {
        self.trainer_at().map(|at| self.counts[at])
    }

    pub fn set_trainer_count(&mut self, count: i64) {
        if let Some(at) = self.trainer_at() {
            self.counts[at] = count;
        }
    }

    pub fn set_count(&mut self, job: &str, count: i64) {
        if let Some(at) = names(&self.spec).position(|name| name == job) {
            self.counts[at] = count;
        }
    }

    pub fn launcher_is_node(&self) -> bool {
        let runs = self.policy.pointer("/mpi/runLauncherAsNode");
        runs.and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn is_torchtune(&self) -> bool {
        let command = self.trainer.get("command").and_then(Value::as_array);
        command.is_some_and(|words| words.iter().eq(policy::TORCHTUNE.iter()))
    }

    /// Returns the pod spec of a replicatedJob.
    pub fn pod(&mut self, job: &str) -> Option<&mut Value> {
        let mut jobs = self.jobs_mut().iter_mut();
        let job = jobs.find(|j| j.get("name").is_some_and(|name| name == job))?;
        job.pointer_mut("/template/spec/template/spec")
    }

    /// Returns a container of a replicatedJob by name. Regular containers take precedence over init containers.
    pub fn container(&mut self, job: &str, name: &str) -> Option<&mut Value> {
        let pod = self.pod(job)?;
        let mut lists = ["containers", "initContainers"].into_iter();
        let list = lists.find(|list| has_container(pod, list, name))?;
        named(pod, list, name)
    }

    pub fn trainer_container(&mut self) -> Option<&mut Value> {
        let at = self.trainer_at()?;
        let pod = self.jobs_mut()[at].pointer_mut("/template/spec/template/spec")?;
        named(pod, "containers", NODE)
    }

    /// Returns the resources of one training node: those of the TrainJob if set, otherwise those of the runtime.
    fn resources_asked(&self) -> Value {
        if let Some(requested) = self.trainer.get("resourcesPerNode") {
            return requested.clone();
        }
        let trains = |job: &&Value| job.get("name").is_some_and(|n| n == NODE) || ancestor(job) == "trainer";
        let pods = self.jobs().iter().filter(trains);
        let lists = pods.filter_map(|job| job.pointer("/template/spec/template/spec/containers"));
        let mut all = lists.filter_map(Value::as_array).flatten();
        let node = all.find(|c| c.get("name").is_some_and(|n| n == NODE) && c.get("resources").is_some());
        node.map_or(Value::Null, |c| c["resources"].clone())
    }

    pub fn gpus(&self) -> i64 {
        policy::gpus(&self.resources_asked())
    }

    pub fn cpus(&self) -> i64 {
        policy::cpus(&self.resources_asked())
    }

    /// Merges resourcesPerNode into the resources of the training containers. Does nothing without an mlPolicy.
    fn resources(&mut self) {
        let Some(requested) = self.trainer.get("resourcesPerNode").cloned() else {
            return;
        };
        if self.policy.is_null() {
            return;
        }
        let launcher = self.launcher_is_node();
        for job in self.jobs_mut() {
            let is_node = job.get("name").is_some_and(|name| name == NODE);
            if ancestor(job) != "trainer" && !(launcher && is_node) {
                continue;
            }
            let pod = job.pointer_mut("/template/spec/template/spec");
            if let Some(container) = pod.and_then(|pod| named(pod, "containers", NODE)) {
                let mut patch = Map::new();
                patch.insert("resources".to_owned(), requested.clone());
                merge(container, &Value::Object(patch));
            }
        }
    }

    fn trainer_env(&mut self) {
        let env = items(self.trainer, "env");
        if let Some(container) = self.trainer_container() {
            put(container, "env", "name", &env);
        }
    }

    /// Sets parallelism and completions of every replicatedJob, replacing the values of its template
    /// (syncParallelCount).
    fn parallelism(&mut self) {
        let counts = self.counts.clone();
        for (job, count) in self.jobs_mut().iter_mut().zip(counts) {
            if let Some(spec) = job.pointer_mut("/template/spec").filter(|spec| spec.is_object()) {
                spec["parallelism"] = json!(count);
                spec["completions"] = json!(count);
            }
        }
    }

    fn initializers(&mut self, train_job: &Value) {
        for (step, member) in INITIALIZERS {
            let requested = train_job.pointer(&format!("/spec/initializer/{member}"));
            for job in self.jobs_mut().iter_mut().filter(|job| ancestor(job) == step) {
                job["replicas"] = json!(1);
                let pod = job.pointer_mut("/template/spec/template/spec");
                let container = pod.and_then(|pod| named(pod, "containers", step));
                let (Some(container), Some(requested)) = (container, requested) else {
                    continue;
                };
                if let Some(uri) = requested.get("storageUri") {
                    put(container, "env", "name", &[json!({"name": "STORAGE_URI", "value": uri})]);
                }
                put(container, "env", "name", &items(requested, "env"));
                if let Some(secret) = requested.pointer("/secretRef/name") {
                    let from = json!({"secretRef": {"name": secret}});
                    put(container, "envFrom", "", &[from]);
                }
            }
        }
    }

    fn train(&mut self) {
        let trainer = self.trainer;
        let launcher = self.launcher_is_node();
        let env = items(trainer, "env");
        for job in self.jobs_mut() {
            let trains = ancestor(job) == "trainer";
            let is_node = job.get("name").is_some_and(|name| name == NODE);
            if trains {
                job["replicas"] = json!(1);
            }
            let pod = job.pointer_mut("/template/spec/template/spec");
            let Some(container) = pod.and_then(|pod| named(pod, "containers", NODE)) else {
                continue;
            };
            for field in ["image", "command", "args"].into_iter().filter(|_| trains) {
                if let Some(value) = trainer.get(field) {
                    container[field] = value.clone();
                }
            }
            if trains || launcher && is_node {
                put(container, "env", "name", &env);
            }
        }
    }

    /// Adds the labels and annotations that assign the pods to their PodGroup.
    fn pod_group(&mut self, runtime: &Value) {
        let kinds = [
            ("coscheduling", "labels", "scheduling.x-k8s.io/pod-group"),
            ("volcano", "annotations", "scheduling.k8s.io/group-name"),
        ];
        let name = self.name;
        for (kind, list, key) in kinds {
            let requested = runtime.pointer(&format!("/spec/podGroupPolicy/{kind}"));
            if requested.is_none_or(Value::is_null) {
                continue;
            }
            for job in self.jobs_mut() {
                if let Some(pod) = job.pointer_mut("/template/spec/template") {
                    merge(pod, &json!({"metadata": {list: {key: name}}}));
                }
            }
        }
    }
}

/// Returns the training step that a replicatedJob implements.
pub fn ancestor(job: &Value) -> &str {
    let labels = job.pointer("/template/metadata/labels");
    let step = labels.and_then(|labels| labels.get(ANCESTOR));
    step.and_then(Value::as_str).unwrap_or("")
}

fn items(object: &Value, list: &str) -> Vec<Value> {
    let items = object.get(list).and_then(Value::as_array);
    items.cloned().unwrap_or_default()
}

pub fn has_container(pod: &Value, list: &str, name: &str) -> bool {
    let all = pod.get(list).and_then(Value::as_array);
    all.is_some_and(|all| all.iter().any(|c| c.get("name").is_some_and(|n| n == name)))
}

fn named<'p>(pod: &'p mut Value, list: &str, name: &str) -> Option<&'p mut Value> {
    let all = pod.get_mut(list).and_then(Value::as_array_mut)?;
    all.iter_mut().find(|c| c.get("name").is_some_and(|n| n == name))
}
