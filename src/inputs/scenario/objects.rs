//! Reads `objects` and the objects that actions create, that is, all objects other than those in `jobSets`.
//!
//! This module must never accept an object that has no effect in the simulation or that the API server would refuse.

use super::pod_names;
use crate::kube::{kind_of, stored};
use crate::kueue::is_of_kueue;
use crate::schema::check::{UnmodelledFields, check};
use crate::text::diagnostic::{DiagnosticReport, Diagnostics, SourceText};
use crate::{files::FileLoader, object_list::unlisted, schema::definitions::control_plane::SCHEDULER_CONFIGURATION};
use crate::{kube, read, server};
use crate::{schema::definitions::objects::IN_FILE, schema::field_type::FieldType, text::node::YamlNode};
use crate::{text::path::YamlPath, text::yaml};
use serde_json::Value;
use sim_api::objects::{ObjectContext, admit_priority};
use sim_api::spec::{BY_SCRIPT, JobObject, NodeObject, ObjectKind, SubmittedJobSet};
use sim_base::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// The objects of a scenario other than its `jobSets`, and the names they define.
#[derive(Clone, Debug, Default)]
pub struct ScenarioObjects {
    /// Objects that exist at the start, as stored by the API server.
    pub objects: Vec<Value>,
    pub unmodelled: BTreeMap<String, usize>,
    /// The configuration of kube-scheduler, or null.
    pub scheduler: Value,
    /// Manifest files with objects of Kueue.
    pub kueue: Vec<SourceText>,
    /// Inline objects of Kueue.
    pub kueue_inline: Vec<YamlNode>,
    /// The JobSets among these objects, including those that actions create.
    pub jobsets: Vec<SubmittedJobSet>,
    jobs: Vec<JobObject>,
    pods: Vec<String>,
    pub nodes: Vec<NodeObject>,
    /// Kind, namespace and name of each entry in `objects`.
    names: BTreeSet<(&'static str, String, String)>,
}

impl ScenarioObjects {
    /// Returns the JobSets that exist when the run starts.
    pub fn at_start(&self) -> impl Iterator<Item = &SubmittedJobSet> {
        self.jobsets.iter().filter(|s| s.submit_at != BY_SCRIPT)
    }

    /// Returns the full name of a pod, without its random suffix, if the pod can exist.
    pub fn pod(&self, name: &str) -> Option<String> {
        let of_job = |job: &JobObject| {
            let rest = name.strip_prefix(job.name.as_str())?;
            let pod = pod_names::of_job(&job.spec, rest)?;
            Some(format!("{}-{pod}", job.name))
        };
        let own = self.pods.iter().find(|pod| *pod == name).cloned();
        own.or_else(|| self.jobs.iter().find_map(of_job)).or_else(|| pod_names::complete_name(&self.jobsets, name))
    }

    /// Returns whether there are Jobs or pods that do not belong to a JobSet.
    pub fn has_pods(&self) -> bool {
        !self.jobs.is_empty() || !self.pods.is_empty()
    }

    /// Returns the names of the Nodes that exist at the start.
    pub fn nodes_at_start(&self) -> impl Iterator<Item = &str> {
        let nodes = self.names.iter().filter(|(kind, ..)| *kind == "Node");
        nodes.map(|(_, _, name)| name.as_str())
    }

    /// Returns short patterns for the names of all pods.
    pub fn describe_pods(&self) -> Vec<String> {
        let jobs = self.jobs.iter().map(|job| {
            let pods = pod_names::places(&job.spec);
            format!("{}-{}", job.name, pod_names::range(pods))
        });
        let mut names = vec![pod_names::describe(&self.jobsets)];
        names.extend(jobs.chain(self.pods.iter().cloned()));
        names.retain(|name| !name.is_empty());
        names
    }

    /// Records the names that the object defines. Invalid objects are ignored here and reported elsewhere.
    fn know(&mut self, object: &Value, source: &str) {
        match kind_of(object) {
            ObjectKind::JobSet => {
                let stored = server::stored(object).ok();
                let jobset = stored.and_then(|o| kube::stored_jobset(&o).ok());
                self.jobsets.extend(jobset.map(|jobset| SubmittedJobSet {
                    jobset,
                    submit_at: Duration::ZERO,
                    source: source.to_owned(),
                }));
            }
            ObjectKind::Job => self.jobs.extend(kube::stored_job(object)),
            ObjectKind::Pod => self.pods.extend(kube::stored_pod(object).ok().map(|p| p.name)),
            ObjectKind::Node => self.nodes.extend(kube::stored_node(object)),
            _ => {}
        }
    }
}

/// Reads `objects`, and records the names of objects that actions create. The tree must have passed the schema check.
pub fn load(
    scenario: &YamlNode, loader: &FileLoader, inputs: &mut Vec<(String, String)>, report: &mut DiagnosticReport,
) -> ScenarioObjects {
    let mut others = ScenarioObjects::default();
    for entry in read::list(scenario, "objects") {
        match entry.get("manifest") {
            Some(file) if entry.get("kind").is_none() => {
                manifest(file, loader, inputs, &mut others, report);
            }
            _ if is_of_kueue(entry) => others.kueue_inline.push(entry.clone()),
            _ => {
                let source = format!("{}:{}", report.source.file, entry.at.line);
                add(entry, source, &mut others, report);
            }
        }
    }
    for fault in read::list(scenario, "faults") {
        let Some(create) = fault.get("create") else {
            continue;
        };
        for key in ["object", "jobSet"] {
            if let Some(object) = create.get(key) {
                let source = format!("line {}", object.at.line);
                others.know(&object.to_json(), &source);
                if let Some(jobset) = others.jobsets.last_mut()
                    && jobset.source == source
                {
                    jobset.submit_at = BY_SCRIPT;
                }
            }
        }
    }
    check_priorities(scenario, &others, report);
    others
}

/// Reports pods that the admission plugin Priority refuses. If no PriorityClass is declared, each one exists.
fn check_priorities(scenario: &YamlNode, others: &ScenarioObjects, report: &mut DiagnosticReport) {
    let of_kind = |kind: &'static str| others.objects.iter().filter(move |object| object["kind"] == kind);
    let classes: Vec<Value> = of_kind("PriorityClass").cloned().collect();
    if classes.is_empty() {
        return;
    }
    let around = ObjectContext { priority_classes: &classes, ..ObjectContext::default() };
    let at = scenario.get("objects").map_or(scenario.at, |objects| objects.at);
    for pod in of_kind("Pod") {
        let name = pod["metadata"]["name"].as_str().unwrap_or("");
        if let Err(rejection) = admit_priority(&mut pod["spec"].clone(), name, &around) {
            report.error(at, format!("the Pod is refused: {}", rejection.message));
        }
    }
}

/// Reads all objects of a manifest file.
fn manifest(
    entry: &YamlNode, loader: &FileLoader, inputs: &mut Vec<(String, String)>, others: &mut ScenarioObjects,
    report: &mut DiagnosticReport,
) {
    let file = entry.as_str().unwrap_or("").to_owned();
    let text = match loader(&file) {
        Ok(text) => text,
        Err(problem) => {
            report.error(entry.at, format!("manifest {file:?} {problem}"));
            return;
        }
    };
    if !inputs.iter().any(|(name, _)| *name == file) {
        inputs.push((file.clone(), text.clone()));
    }
    let source = SourceText { file, text };
    if let Err(Diagnostics(errors)) = documents(&source, others) {
        report.found.extend(errors);
    }
}

fn documents(source: &SourceText, others: &mut ScenarioObjects) -> Result<(), Diagnostics> {
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(source, &none);
    for document in unlisted(yaml::parse(source)?) {
        if is_of_kueue(&document) {
            if !others.kueue.contains(source) {
                others.kueue.push(source.clone());
            }
            continue;
        }
        let before = report.found.len();
        let shape = FieldType::Kinds(&IN_FILE);
        check(&document, &shape, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
        if report.found.len() == before {
            let place = format!("{}:{}", source.file, document.at.line);
            add(&document, place, others, &mut report);
        }
    }
    report.finish()
}

/// Adds an object that exists at the start, or the configuration of kube-scheduler.
fn add(node: &YamlNode, source: String, others: &mut ScenarioObjects, report: &mut DiagnosticReport) {
    for (path, count) in unmodelled(node) {
        *others.unmodelled.entry(path).or_default() += count;
    }
    if node.get("kind").and_then(YamlNode::as_str) == Some(SCHEDULER_CONFIGURATION.kind) {
        if !others.scheduler.is_null() {
            report.error(node.at, format!("{} is defined twice", SCHEDULER_CONFIGURATION.kind));
        }
        others.scheduler = kube::scheduler_configuration(node, report);
        return;
    }
    let kind = kind_of(&node.to_json());
    let Some(mut object) = stored(node, kind, report) else {
        return;
    };
    // kube-scheduler and the kubelets ignore finished pods.
    let phase = object["status"]["phase"].as_str().unwrap_or("");
    if kind == ObjectKind::Pod && ["Succeeded", "Failed"].contains(&phase) {
        *others
            .unmodelled
            .entry("Pods that have finished: they hold nothing and are omitted".to_owned())
            .or_default() += 1;
        return;
    }
    // Owner references use it.
    if let Some(uid) = node.at_path(&["metadata", "uid"]) {
        object["metadata"]["uid"] = uid.to_json();
    }
    let metadata = |key: &str| object["metadata"][key].as_str().unwrap_or("").to_owned();
    let name = metadata("name");
    let key = (kind.as_str(), metadata("namespace"), name.clone());
    if !others.names.insert(key) {
        let message = format!("{} {name:?} is defined twice", kind.as_str());
        report.error(node.at, message);
        return;
    }
    others.know(&object, &source);
    others.objects.push(object);
}

/// Returns the known fields of a checked object that are not modelled. The paths begin with the kind.
fn unmodelled(node: &YamlNode) -> UnmodelledFields {
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(&none, &none);
    let mut result = UnmodelledFields::new();
    let kind = node.get("kind").and_then(YamlNode::as_str).unwrap_or("");
    let path = YamlPath::ROOT.key(kind);
    let shape = FieldType::Kinds(&IN_FILE);
    check(node, &shape, &path, &mut report, &mut result);
    result
}
