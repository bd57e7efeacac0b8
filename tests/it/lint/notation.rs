//! The notation of lint cases: an abbreviated JobSet that is completed to a manifest.
//!
//! A case has `trap`, `rules`, `with` and `without`. A JobSet has `name`, `namespace`, `labels`, `annotations`,
//! `spec` (merged), `base: in-place` and `rjs`: each with `name`, `replicas`, `dependsOn`, `job`, `pod`, `container`
//! (merged), `meta` and `podMeta`. `padding` is the size of a further annotation. `more` are further JobSets,
//! `objects` further objects, `old` the JobSet that is
//! replaced by `method`, `topology` a cluster, `gates` and `kubernetes` the target.

use crate::support::{files, root};
use serde_json::{Value, json as value};
use sim_api::admission::merge_patch;
use sim_api::spec::{FeatureGates, KubeVersion, TopologySpec};
use sim_inputs::kube::inspect;
use sim_inputs::kube::inspect::InspectedManifest;
use sim_inputs::text::yaml;
use sim_inputs::{SourceText, read_topology};
use sim_lint::{LintInputs, LintReport, NodeTarget, UpdateMethod};

pub struct Case {
    pub trap: String,
    pub rules: Vec<String>,
    pub with: Value,
    pub without: Value,
}

pub fn target(in_place: bool, restart_job: bool, elastic: bool, minor: u16) -> NodeTarget {
    NodeTarget {
        kubernetes: KubeVersion::new(minor),
        gates: FeatureGates {
            in_place_restart: in_place,
            restart_job,
            elastic_jobset: elastic,
            ..FeatureGates::default()
        },
    }
}

pub fn cases() -> Vec<Case> {
    let mut result = Vec::new();
    for file in files(&root().join("tests/it/lint"), "yaml") {
        let text = std::fs::read_to_string(&file).expect("a case file can be read");
        let source = SourceText { file: file.display().to_string(), text };
        let documents = yaml::parse(&source).unwrap_or_else(|e| panic!("{e}"));
        for case in documents[0].to_json().as_array().expect("a list of cases") {
            let strings = |v: &Value| -> Vec<String> {
                let items = v.as_array().into_iter().flatten();
                items.filter_map(|s| Some(s.as_str()?.to_owned())).collect()
            };
            result.push(Case {
                trap: case["trap"].as_str().expect("a trap").to_owned(),
                rules: strings(&case["rules"]),
                with: case["with"].clone(),
                without: case["without"].clone(),
            });
        }
    }
    result
}

impl Case {
    pub fn report(&self, side: &Value) -> LintReport {
        let mut objects = vec![jobset(side)];
        objects.extend(side["more"].as_array().into_iter().flatten().map(jobset));
        objects.extend(side["objects"].as_array().into_iter().flatten().cloned());
        let files = [read("new.json", &objects)];
        let old = (!side["old"].is_null()).then(|| [read("old.json", &[jobset(&side["old"])])]);
        let how = match side["method"].as_str() {
            Some("replace") => UpdateMethod::Replace,
            _ => UpdateMethod::Apply,
        };
        let gates: Vec<&str> = side["gates"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let on = |name: &str| side["gates"].is_null() || gates.contains(&name);
        let minor = side["kubernetes"].as_u64().unwrap_or(36) as u16;
        let topology = (!side["topology"].is_null()).then(|| topology(&side["topology"]));
        sim_lint::lint(&LintInputs {
            files: &files,
            sources: &sources(&files),
            topology: topology.as_ref(),
            update: old.as_ref().map(|f| (f.as_slice(), how)),
            target: target(on("InPlaceRestart"), on("RestartJob"), on("ElasticJobSet"), minor),
        })
    }
}

/// Lints the default JobSet with a merge patch.
pub fn patched(patch: &str) -> LintReport {
    let mut object = jobset(&Value::Null);
    merge_patch(&mut object, &serde_json::from_str(patch).expect("JSON"));
    let files = [read("new.json", &[object])];
    let target = target(false, false, false, 36);
    sim_lint::lint(&LintInputs { files: &files, sources: &[], topology: None, update: None, target })
}

/// Lints an object on a cluster with these pools.
pub fn on_topology(object: &Value, pools: &Value) -> LintReport {
    objects_on_topology(std::slice::from_ref(object), pools).0
}

/// Lints objects on a cluster with these pools. Also returns the texts and the cluster.
pub fn objects_on_topology(objects: &[Value], pools: &Value) -> (LintReport, Vec<SourceText>, TopologySpec) {
    let (sources, topology) = (sources(&[read("new.json", objects)]), topology(pools));
    (objects_on(objects, &topology), sources, topology)
}

/// Lints objects on a cluster, with all feature gates.
pub fn objects_on(objects: &[Value], topology: &TopologySpec) -> LintReport {
    let files = [read("new.json", objects)];
    sim_lint::lint(&LintInputs {
        files: &files,
        sources: &sources(&files),
        topology: Some(topology),
        update: None,
        target: target(true, true, true, 36),
    })
}

/// Lints an update of the default JobSet, with a merge patch for each side.
pub fn updated(old: &str, new: &str, how: UpdateMethod) -> LintReport {
    let object = |patch: &str| {
        let mut object = jobset(&Value::Null);
        let job = &mut object["spec"]["replicatedJobs"][0]["template"]["spec"];
        job.as_object_mut().expect("a Job").remove("completionMode");
        merge_patch(&mut object, &serde_json::from_str(patch).expect("JSON"));
        object
    };
    let (old, new) = ([read("old.json", &[object(old)])], [read("new.json", &[object(new)])]);
    sim_lint::lint(&LintInputs {
        files: &new,
        sources: &[],
        topology: None,
        update: Some((&old, how)),
        target: target(false, false, false, 36),
    })
}

fn sources(files: &[InspectedManifest]) -> Vec<SourceText> {
    files.iter().map(|file| file.source.clone()).collect()
}

pub fn inspect_path(path: &str) -> Vec<InspectedManifest> {
    let (sources, _) = sim_inputs::manifest_sources(path).unwrap_or_else(|e| panic!("{e}"));
    inspect::inspect_all(&sources).unwrap_or_else(|e| panic!("{e}"))
}

/// Reads objects as separate documents with one key per line, so that positions in findings are meaningful.
fn read(file: &str, objects: &[Value]) -> InspectedManifest {
    let pretty = |o: &Value| serde_json::to_string_pretty(o).expect("JSON");
    let text = objects.iter().map(pretty).collect::<Vec<_>>().join("\n---\n");
    let source = SourceText { file: file.to_owned(), text };
    inspect::inspect(source).unwrap_or_else(|e| panic!("{e}"))
}

fn topology(pools: &Value) -> TopologySpec {
    let text = value!({
        "apiVersion": "jobset-sim/v1alpha1", "kind": "Topology", "metadata": {"name": "t"}, "pools": pools,
    });
    let source = SourceText { file: "topology.json".to_owned(), text: text.to_string() };
    read_topology(&source).unwrap_or_else(|e| panic!("{e}"))
}

fn merged(mut base: Value, patch: &Value) -> Value {
    if !patch.is_null() {
        merge_patch(&mut base, patch);
    }
    base
}

pub fn jobset(side: &Value) -> Value {
    let in_place = side["base"] == "in-place";
    let one = value!([{"name": "w"}]);
    let rjs = if side["rjs"].is_null() { &one } else { &side["rjs"] };
    let rjs: Vec<Value> = rjs.as_array().expect("a list").iter().map(|rj| replicated_job(rj, in_place)).collect();
    let mut spec = value!({ "replicatedJobs": rjs });
    if in_place {
        spec["failurePolicy"] = value!({"maxRestarts": 3, "restartStrategy": "InPlaceRestart"});
    }
    let mut metadata = value!({"name": side["name"].as_str().unwrap_or("js")});
    for key in ["namespace", "labels", "annotations"] {
        if !side[key].is_null() {
            metadata[key] = side[key].clone();
        }
    }
    if let Some(size) = side["padding"].as_u64() {
        metadata["annotations"]["example.com/padding"] = "x".repeat(size as usize).into();
    }
    value!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": merged(spec, &side["spec"]),
    })
}

fn replicated_job(rj: &Value, in_place: bool) -> Value {
    let rules = value!([{"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [0]}}]);
    let mut container = value!({"name": "main", "image": "train:1"});
    let mut pod = value!({"restartPolicy": "OnFailure"});
    let mut job = value!({"parallelism": 2, "completions": 2, "completionMode": "Indexed", "backoffLimit": 0});
    if in_place {
        container["restartPolicy"] = "Never".into();
        container["restartPolicyRules"] = rules;
        let field = |path: &str| value!({"fieldRef": {"fieldPath": path}});
        let agent = value!({
            "name": "agent", "image": "agent:1", "restartPolicy": "Always",
            "startupProbe": {"httpGet": {"path": "/barrier-is-down", "port": 8081}, "failureThreshold": 600, "periodSeconds": 1},
            "env": [
                {"name": "JOBSET_NAME", "valueFrom": field("metadata.annotations['jobset.sigs.k8s.io/jobset-name']")},
                {"name": "POD_NAME", "valueFrom": field("metadata.name")},
            ],
        });
        pod["initContainers"] = value!([merged(agent, &rj["agent"])]);
        job["backoffLimit"] = i32::MAX.into();
        job["podReplacementPolicy"] = "Failed".into();
    }
    pod["containers"] = value!([merged(container, &rj["container"])]);
    job["template"] = value!({"spec": merged(pod, &rj["pod"])});
    if !rj["podMeta"].is_null() {
        job["template"]["metadata"] = rj["podMeta"].clone();
    }
    let mut template = value!({"spec": merged(job, &rj["job"])});
    if !rj["meta"].is_null() {
        template["metadata"] = rj["meta"].clone();
    }
    let mut out = value!({"template": template});
    for key in ["name", "replicas", "dependsOn"] {
        if !rj[key].is_null() {
            out[key] = rj[key].clone();
        }
    }
    out
}
