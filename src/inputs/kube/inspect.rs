//! Parses manifests for static checks: the tree with positions, the typed JobSet, and the reader's errors for each
//! object.
//!
//! An error in one object must never hide the other objects.

use super::jobset;
use super::written::{JOBSETS_MAX, is_typo, no_kind_of_ours, too_large, too_many_jobsets};
use crate::kueue;
use crate::schema::check::{UnmodelledFields, check};
use crate::schema::definitions::jobset::{API_VERSION, GROUP, JOBSET};
use crate::schema::definitions::kueue::has_kind;
use crate::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use crate::{embedded_jobsets, object_list::unlisted, schema::field_type::FieldType, text::node::YamlNode};
use crate::{text::path::YamlPath, text::yaml};
use sim_api::spec::JobSet;

/// One text and the objects in it.
#[derive(Clone, Debug, Default)]
pub struct InspectedManifest {
    pub source: SourceText,
    pub objects: Vec<InspectedObject>,
}

/// A Kubernetes object with its position in the text.
#[derive(Clone, Debug)]
pub struct InspectedObject {
    pub kind: String,
    pub node: YamlNode,
    /// The typed JobSet, if the object is one. Fields with a wrong type are treated as absent.
    pub jobset: Option<JobSet>,
    /// Errors that the reader found in this object.
    pub errors: Vec<Diagnostic>,
}

/// Parses all objects of one text. Returns an error if the text is not valid YAML.
pub fn inspect(source: SourceText) -> Result<InspectedManifest, Diagnostics> {
    let documents = yaml::parse(&source)?;
    if documents.is_empty() {
        let message = "the file is empty: it contains no objects";
        return Err(Diagnostic::of_file(&source.file, message).into());
    }
    let mut objects = Vec::new();
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(&source, &none);
    let mut jobsets = 0;
    let documents = unlisted(documents);
    let nested: Vec<YamlNode> = documents.iter().flat_map(embedded_jobsets::nested).collect();
    for node in documents.into_iter().chain(nested) {
        if jobsets == JOBSETS_MAX {
            too_many_jobsets(&node, &mut report);
            return Err(Diagnostics(report.found));
        }
        let object = object(node, &source);
        jobsets += usize::from(object.jobset.is_some());
        objects.push(object);
    }
    Ok(InspectedManifest { source, objects })
}

/// Parses all texts, including JobSets embedded in objects of other kinds.
pub fn inspect_all(sources: &[SourceText]) -> Result<Vec<InspectedManifest>, Diagnostics> {
    let result = embedded_jobsets::find(sources, &[]);
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for (i, source) in sources.iter().enumerate() {
        let inside = result.texts.iter().filter(|(text, _)| *text == i);
        let wrong = || result.errors.iter().filter(|(text, ..)| *text == i);
        match inspect(source.clone()) {
            Ok(mut inspected) => {
                for object in &mut inspected.objects {
                    let own = wrong().filter(|(_, line, _)| *line == object.node.at.line);
                    object.errors.extend(own.map(|(.., error)| error.clone()));
                }
                all.push(inspected);
            }
            Err(Diagnostics(result)) => errors.extend(result),
        }
        for (_, source) in inside {
            match inspect(source.clone()) {
                Ok(inspected) => all.push(inspected),
                Err(Diagnostics(result)) => errors.extend(result),
            }
        }
    }
    if errors.is_empty() { Ok(all) } else { Err(Diagnostics(errors)) }
}

fn object(node: YamlNode, source: &SourceText) -> InspectedObject {
    let text = |key: &str| node.get(key).and_then(YamlNode::as_str).unwrap_or("");
    let (kind, version) = (text("kind").to_owned(), text("apiVersion").to_owned());
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(source, &none);
    let mut result = None;
    if kind.is_empty() {
        report.error(node.at, "this is not a Kubernetes object: it has no kind");
    } else if is_typo(&kind, &version) {
        no_kind_of_ours(&node, &mut report);
    } else if too_large(&node, &mut report) {
        // An object that is too large is not checked further.
    } else if kind == "JobSet" && version == API_VERSION {
        let shape = FieldType::Object(&JOBSET);
        check(&node, &shape, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
        result = Some(jobset::convert(&node));
    } else if kind == "JobSet" {
        let at = node.get("apiVersion").map_or(node.at, |v| v.at);
        let message = if version.starts_with(GROUP) {
            format!("apiVersion {version:?} of JobSet is no longer served")
        } else {
            format!("apiVersion {version:?} is not valid for a JobSet")
        };
        report.error(at, message).legal(API_VERSION);
    } else if has_kind(&version, &kind) {
        kueue::check_object(&node, &mut report);
    }
    let mut errors = report.found;
    errors.sort_by_key(|d| (d.line, d.column));
    InspectedObject { kind, node, jobset: result, errors }
}
