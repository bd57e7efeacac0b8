//! JobSets embedded in other objects: those that Kubeflow Trainer renders from a TrainJob and the PathwaysJob
//! controller from a PathwaysJob, and JobSets written inside an object of another kind.
//!
//! Each rendered JobSet is a separate text, named after its source object, and is read like a file. This module does
//! not convert JobSets to `spec` types.

pub mod patch;
mod pathways;
pub use pathways::MACHINES;
mod policy;
mod render;
mod trainjob;

use super::object_list::unlisted;
use super::schema::definitions::jobset::GROUP;
use super::text::diagnostic::{Diagnostic, SourceText};
use super::text::node::YamlNode;
use super::text::yaml;
use std::collections::BTreeSet;

/// JobSets rendered from a set of texts, with the errors found.
#[derive(Debug, Default)]
pub struct EmbeddedJobSet {
    /// Rendered JobSets, each with the index of the text that it comes from.
    pub texts: Vec<(usize, SourceText)>,
    /// `kind/name` of each object that was rendered to a JobSet or used as its runtime.
    pub used: BTreeSet<String>,
    /// Known fields that are present but not modelled, each with the index of its text.
    pub unmodelled: Vec<(usize, String)>,
    /// Errors, each with the index of the text and the line of the object.
    pub errors: Vec<(usize, u32, Diagnostic)>,
}

/// A Kubernetes object parsed from one of the texts.
struct EmbeddedObject<'s> {
    text: usize,
    source: &'s SourceText,
    kind: String,
    version: String,
    node: YamlNode,
}

impl EmbeddedObject<'_> {
    fn name(&self) -> &str {
        let name = self.node.at_path(&["metadata", "name"]);
        name.or(self.node.at_path(&["metadata", "generateName"])).and_then(YamlNode::as_str).unwrap_or("")
    }

    fn called(&self) -> String {
        format!("{}/{}", self.kind, self.name())
    }

    /// Returns the file name of a text rendered from this object, followed by the suffix `of`.
    fn part(&self, of: &str) -> String {
        format!("{}#{}{of}", self.source.file, self.called())
    }
}

/// Renders the TrainJobs and PathwaysJobs in `texts` to JobSets. The objects in `beside` are only used to resolve
/// references.
pub fn find(texts: &[SourceText], beside: &[SourceText]) -> EmbeddedJobSet {
    let mut result = EmbeddedJobSet::default();
    let all = texts.iter().chain(beside).enumerate();
    let groups = [trainjob::GROUP, pathways::GROUP];
    let suspects = all.filter(|(_, source)| groups.iter().any(|group| source.text.contains(group)));
    let mut objects = Vec::new();
    for (text, source) in suspects {
        // Invalid YAML is reported later by the reader of the text.
        let documents = unlisted(yaml::parse(source).unwrap_or_default());
        objects.extend(documents.into_iter().map(|node| {
            let word = |key: &str| node.get(key).and_then(YamlNode::as_str).unwrap_or("").to_owned();
            let (kind, version) = (word("kind"), word("apiVersion"));
            EmbeddedObject { text, source, kind, version, node }
        }));
    }
    for object in objects.iter().filter(|o| o.text < texts.len()) {
        if object.version.starts_with(trainjob::GROUP) && object.kind == "TrainJob" {
            trainjob::render(object, &objects, &mut result);
        }
        if object.version.starts_with(pathways::GROUP) && object.kind == "PathwaysJob" {
            pathways::render(object, &mut result);
        }
    }
    result
}

/// Returns the JobSets that are written inside an object of another kind.
pub fn nested(node: &YamlNode) -> Vec<YamlNode> {
    let mut result = Vec::new();
    for (_, value) in node.entries() {
        within(value, &mut result);
    }
    result
}

fn within(node: &YamlNode, result: &mut Vec<YamlNode>) {
    let word = |key: &str| node.get(key).and_then(YamlNode::as_str).unwrap_or("");
    // A mere reference to a JobSet also has `kind` and `apiVersion`, but no `spec`.
    let complete = node.get("spec").is_some() && node.get("metadata").is_some();
    if complete && word("kind") == "JobSet" && word("apiVersion").starts_with(GROUP) {
        result.push(node.clone());
        return;
    }
    for (_, value) in node.entries() {
        within(value, result);
    }
    for item in node.items() {
        within(item, result);
    }
}

/// Returns whether an object of this kind can be the runtime of TrainJobs in other texts.
pub fn is_runtime(kind: &str, version: &str) -> bool {
    version.starts_with(trainjob::GROUP) && trainjob::RUNTIMES.contains(&kind)
}
