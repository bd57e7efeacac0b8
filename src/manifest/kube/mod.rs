//! Kubernetes manifests to `spec::JobSet`, with the defaults of the API server and of the webhooks.
//!
//! Accepts what a cluster would accept, and refuses what it would refuse with the reason.

mod depends;
pub mod inspect;
mod job;
mod jobset;
mod pod;
mod stored;

pub use pod::taint_effect;
pub use stored::{stored_job, stored_node, stored_pod};

use super::check::{Unmodelled, check};
use super::diagnostic::{Diagnostic, Diagnostics, Report, Source};
use super::node::Node;
use super::path::{self, Path};
use super::scenario::objects;
use super::shape::Shape;
use super::shapes::jobset::JOBSET;
use super::shapes::objects::CREATED;
use super::{files, server, yaml};
use crate::spec::{self, ObjectKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How overrides are called in messages.
pub const SETS: &str = "--set";
const GROUP: &str = "jobset.x-k8s.io/";
const API_VERSION: &str = "jobset.x-k8s.io/v1alpha2";
/// Beyond this a run would not fit into memory.
const PODS_MAX: u64 = 10_000_000;

/// What a file, directory or stream of manifests holds.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// JobSets and where each was read, `file:line`.
    pub jobsets: Vec<(spec::JobSet, String)>,
    /// `Service/name` of each object that is not simulated.
    pub skipped: Vec<String>,
    /// PriorityClasses; with -f they are there before the JobSets.
    pub classes: Vec<serde_json::Value>,
    /// Files of a directory whose names are not those of manifests.
    pub not_tried: Vec<String>,
    /// Known fields that are present and not modelled, and how often.
    pub unmodelled: Vec<(String, usize)>,
}

/// A JobSet as the API server stores it. What the API accepts is not checked again.
pub fn stored_jobset(object: &serde_json::Value) -> Result<spec::JobSet, String> {
    let mut jobset = jobset::stored(&Node::from_json(object));
    let pods = pods_of(&jobset);
    if pods > PODS_MAX {
        return Err(format!("{pods} pods in total would not fit into memory"));
    }
    jobset.object = Some(Arc::new(object.clone()));
    Ok(jobset)
}

/// Reads every document of one text.
pub fn read_manifests(source: &Source) -> Result<Manifests, Diagnostics> {
    read_with_sets(source, "", &[])
}

/// Reads one text after `path=value` overrides of each of its JobSets; `sets_name` names them in messages.
pub fn read_with_sets(
    source: &Source,
    sets_name: &str,
    sets: &[(String, String)],
) -> Result<Manifests, Diagnostics> {
    let documents = yaml::parse(source)?;
    if documents.is_empty() {
        let message = "the file is empty: no object in it";
        return Err(Diagnostic::of_file(&source.file, message).into());
    }
    let overrides = path::overrides_source(sets_name, sets);
    let mut reader = Reader {
        report: Report::new(source, &overrides),
        sets,
        found: Manifests::default(),
        unmodelled: Unmodelled::new(),
    };
    for document in documents {
        reader.object(document);
    }
    let Reader {
        mut report,
        mut found,
        unmodelled,
        ..
    } = reader;
    check_together(&found, &mut report);
    report.finish()?;
    found.unmodelled = unmodelled.into_iter().collect();
    Ok(found)
}

/// A file, a directory (`*.yaml`, `*.yml`, `*.json` at any depth, sorted) or `-` for standard input.
/// Each file is read once: what was read comes with it, in the reader's order.
pub fn read_manifest_path(path: &str) -> Result<(Manifests, Vec<Source>), Diagnostics> {
    read_path_with_sets(path, &[])
}

/// The same after `path=value` overrides of each JobSet.
pub fn read_path_with_sets(
    path: &str,
    sets: &[(String, String)],
) -> Result<(Manifests, Vec<Source>), Diagnostics> {
    let (mut all, mut sources, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let found = files::read_path(path)?;
    for source in found.texts {
        let read = source.and_then(|source| Ok((read_with_sets(&source, SETS, sets)?, source)));
        match read {
            Ok((manifests, source)) => {
                all.push(manifests);
                sources.push(source);
            }
            Err(Diagnostics(found)) => errors.extend(found),
        }
    }
    if errors.is_empty() {
        let mut manifests = Manifests::merge(all);
        manifests.not_tried = not_tried(&found.left_out).collect();
        Ok((manifests, sources))
    } else {
        Err(Diagnostics(errors))
    }
}

/// Files of a directory that are no manifests by their names.
pub fn not_tried(files: &[String]) -> impl Iterator<Item = String> {
    let told = |file: &String| format!("{file} (neither *.yaml, *.yml nor *.json)");
    files.iter().map(told)
}

impl Manifests {
    /// Several manifests as one; counts of equal paths are added.
    pub fn merge(all: Vec<Manifests>) -> Manifests {
        let mut merged = Manifests::default();
        let mut unmodelled: BTreeMap<String, usize> = BTreeMap::new();
        for manifests in all {
            merged.jobsets.extend(manifests.jobsets);
            merged.not_tried.extend(manifests.not_tried);
            merged.classes.extend(manifests.classes);
            for name in manifests.skipped {
                if !merged.skipped.contains(&name) {
                    merged.skipped.push(name);
                }
            }
            for (path, count) in manifests.unmodelled {
                *unmodelled.entry(path).or_default() += count;
            }
        }
        merged.unmodelled = unmodelled.into_iter().collect();
        merged
    }
}

struct Reader<'a> {
    report: Report<'a>,
    sets: &'a [(String, String)],
    found: Manifests,
    unmodelled: Unmodelled,
}

impl Reader<'_> {
    fn object(&mut self, mut node: Node) {
        let kind = node.get("kind").and_then(Node::as_str).map(str::to_owned);
        let version = node.get("apiVersion").and_then(Node::as_str);
        let version = version.unwrap_or("").to_owned();
        let Some(kind) = kind else {
            let message = "this is not a Kubernetes object: it has no kind";
            self.report
                .error(node.at, message)
                .suggest(format!("apiVersion: {API_VERSION}, kind: JobSet"));
            return;
        };
        match kind.as_str() {
            "Scenario" | "Topology" if version.starts_with("jobset-sim/") => {
                let message = format!("a {kind} is not a manifest");
                self.report
                    .error(node.at, message)
                    .suggest(match kind.as_str() {
                        "Scenario" => "give it as the scenario of run, without -f",
                        _ => "give it with -t",
                    });
            }
            "JobSet" if version.starts_with(GROUP) => self.jobset(node, &version),
            "JobSet" => {
                let message = format!("apiVersion of a JobSet must be {API_VERSION}");
                let at = node.get("apiVersion").map_or(node.at, |v| v.at);
                self.report.error(at, message);
            }
            list if list.ends_with("List") => {
                if let Some(items) = node.get("items") {
                    let kind = list.trim_end_matches("List").to_owned();
                    let items = items.items().to_vec();
                    for mut item in items {
                        adopt(&mut item, &version, &kind, &mut node);
                        self.object(item);
                    }
                }
            }
            "PriorityClass" if version == "scheduling.k8s.io/v1" => self.class(&node),
            _ => self.skip(&kind, &node),
        }
    }

    fn class(&mut self, node: &Node) {
        let before = self.report.found.len();
        let shape = Shape::Kinds(&CREATED);
        let unmodelled = &mut self.unmodelled;
        check(node, &shape, &Path::ROOT, &mut self.report, unmodelled);
        if self.report.found.len() == before {
            let stored = objects::stored(node, ObjectKind::PriorityClass, &mut self.report);
            self.found.classes.extend(stored);
        }
    }

    fn skip(&mut self, kind: &str, node: &Node) {
        let name = ["name", "generateName"]
            .iter()
            .find_map(|key| node.at_path(&["metadata", key]).and_then(Node::as_str));
        let name = format!("{kind}/{}", name.unwrap_or(""));
        if !self.found.skipped.contains(&name) {
            self.found.skipped.push(name);
        }
    }

    fn jobset(&mut self, mut node: Node, version: &str) {
        if version != API_VERSION {
            let at = node.get("apiVersion").map_or(node.at, |v| v.at);
            let message = format!("apiVersion {version:?} of a JobSet is not simulated");
            self.report.error(at, message).legal(API_VERSION);
            return;
        }
        if let Err(errors) = path::apply_sets(&mut node, self.report.overrides, self.sets) {
            self.report.found.extend(errors.0);
            return;
        }
        let before = self.report.found.len();
        let shape = Shape::Object(&JOBSET);
        check(
            &node,
            &shape,
            &Path::ROOT,
            &mut self.report,
            &mut self.unmodelled,
        );
        let object = node.to_json();
        server::refuse(&node, &object, before, &mut self.report);
        let mut jobset = jobset::convert(&node);
        if self.report.found.len() > before {
            let errors = &mut self.report.found[before..];
            return depends::name_circle(&jobset, &node, errors);
        }
        jobset.object = server::stored(&object).ok().map(Arc::new);
        let place = format!("{}:{}", self.report.source.file, node.at.line);
        self.found.jobsets.push((jobset, place));
    }
}

/// Objects of documents, those of lists one by one.
pub fn unlisted(documents: Vec<Node>) -> Vec<Node> {
    let mut objects = Vec::new();
    for mut document in documents {
        let text = |key: &str| document.get(key).and_then(Node::as_str).unwrap_or("");
        let (kind, version) = (text("kind").to_owned(), text("apiVersion").to_owned());
        let Some(kind) = kind.strip_suffix("List") else {
            objects.push(document);
            continue;
        };
        let mut items = document
            .get("items")
            .map_or(Vec::new(), |i| i.items().to_vec());
        for item in &mut items {
            adopt(item, &version, kind, &mut document);
        }
        objects.extend(unlisted(items));
    }
    objects
}

/// Items of a typed list (`JobSetList`) may leave out what the list says.
fn adopt(item: &mut Node, version: &str, kind: &str, list: &mut Node) {
    if kind.is_empty() || item.get("kind").is_some() {
        return;
    }
    for (key, value) in [("apiVersion", version), ("kind", kind)] {
        let value = super::node::Value::Str(value.to_owned());
        let value = Node::new(item.at, value);
        if path::set_path(item, key, value, list.at).is_err() {
            return;
        }
    }
}

/// What can only be seen with all JobSets at hand: equal names, and the size of it all.
fn check_together(found: &Manifests, report: &mut Report) {
    let file = report.source.file.clone();
    let mut seen: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut pods = 0u64;
    for (jobset, place) in &found.jobsets {
        pods = pods.saturating_add(pods_of(jobset));
        if let Some(first) = seen.insert((&jobset.namespace, &jobset.name), place) {
            let name = format!("{}/{}", jobset.namespace, jobset.name);
            let message = format!("JobSet {name} is defined twice, at {first} and {place}");
            report.found.push(Diagnostic::of_file(&file, message));
        }
    }
    // Other errors say more about a typing error.
    if report.is_clean()
        && let Some(error) = too_many_pods(&file, pods)
    {
        report.found.push(error);
    }
}

/// The error for a workload that would not fit into memory.
pub fn too_many_pods(file: &str, pods: u64) -> Option<Diagnostic> {
    (pods > PODS_MAX).then(|| {
        let message = format!(
            "{pods} pods in total would not fit into memory; at most {PODS_MAX} are simulated"
        );
        Diagnostic::of_file(file, message)
    })
}

/// Pods that exist at once when everything runs.
pub fn pods_of(jobset: &spec::JobSet) -> u64 {
    let jobs = &jobset.spec.replicated_jobs;
    jobs.iter()
        .map(|rj| u64::from(rj.replicas) * u64::from(rj.template.pods()).max(1))
        .fold(0, u64::saturating_add)
}
