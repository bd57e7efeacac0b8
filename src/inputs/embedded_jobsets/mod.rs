//! JobSets embedded in other objects: the JobSet that Kubeflow Trainer renders from a TrainJob, and JobSets written out
//! in an object of another kind.
//!
//! Rendered JobSets are texts of their own, named after their object, and are read like files. This module does not
//! read JobSets.

pub mod patch;
mod policy;
mod render;
mod trainjob;

use super::object_list::unlisted;
use super::schema::shapes::jobset::GROUP;
use super::text::diagnostic::{Diagnostic, Source};
use super::text::node::Node;
use super::text::yaml;
use std::collections::BTreeSet;

/// What was found in some texts.
#[derive(Debug, Default)]
pub struct Found {
    /// JobSets as texts, each with the number of the text that it is of.
    pub texts: Vec<(usize, Source)>,
    /// `TrainJob/name` of each object that has become one, or is part of one.
    pub used: BTreeSet<String>,
    /// Known fields that are present and not modelled, with the number of their text.
    pub unmodelled: Vec<(usize, String)>,
    /// What is wrong, with the number of the text and the line of the object.
    pub errors: Vec<(usize, u32, Diagnostic)>,
}

/// An object of a text.
struct Object<'s> {
    text: usize,
    source: &'s Source,
    kind: String,
    version: String,
    node: Node,
}

impl Object<'_> {
    fn name(&self) -> &str {
        let name = self.node.at_path(&["metadata", "name"]);
        name.or(self.node.at_path(&["metadata", "generateName"]))
            .and_then(Node::as_str)
            .unwrap_or("")
    }

    fn called(&self) -> String {
        format!("{}/{}", self.kind, self.name())
    }

    /// What a text that is made of it is called.
    fn part(&self, of: &str) -> String {
        format!("{}#{}{of}", self.source.file, self.called())
    }
}

/// The JobSets in `texts`; what they refer to may also be in `beside`.
pub fn find(texts: &[Source], beside: &[Source]) -> Found {
    let mut found = Found::default();
    let all = texts.iter().chain(beside).enumerate();
    let suspects = all.filter(|(_, source)| source.text.contains("trainer.kubeflow.org"));
    let mut objects = Vec::new();
    for (text, source) in suspects {
        // What is no YAML is refused by whoever reads the text.
        let documents = unlisted(yaml::parse(source).unwrap_or_default());
        objects.extend(documents.into_iter().map(|node| {
            let word = |key: &str| {
                node.get(key)
                    .and_then(Node::as_str)
                    .unwrap_or("")
                    .to_owned()
            };
            let (kind, version) = (word("kind"), word("apiVersion"));
            Object {
                text,
                source,
                kind,
                version,
                node,
            }
        }));
    }
    for object in objects.iter().filter(|o| o.text < texts.len()) {
        if object.version.starts_with(trainjob::GROUP) && object.kind == "TrainJob" {
            trainjob::render(object, &objects, &mut found);
        }
    }
    found
}

/// JobSets that are written out inside of another object, of whatever kind.
pub fn nested(node: &Node) -> Vec<Node> {
    let mut found = Vec::new();
    for (_, value) in node.entries() {
        within(value, &mut found);
    }
    found
}

fn within(node: &Node, found: &mut Vec<Node>) {
    let word = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or("");
    // References to one have kind and apiVersion, too.
    let whole = node.get("spec").is_some() && node.get("metadata").is_some();
    if whole && word("kind") == "JobSet" && word("apiVersion").starts_with(GROUP) {
        found.push(node.clone());
        return;
    }
    for (_, value) in node.entries() {
        within(value, found);
    }
    for item in node.items() {
        within(item, found);
    }
}

/// Whether an object of this kind is there for the TrainJobs of other texts.
pub fn is_runtime(kind: &str, version: &str) -> bool {
    version.starts_with(trainjob::GROUP) && trainjob::RUNTIMES.contains(&kind)
}
