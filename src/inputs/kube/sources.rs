//! Reads several manifest texts together, because an object in one text may refer to an object in another.
//!
//! This module must never interpret an object; each text is interpreted separately.

use super::reader::{ManifestSet, SETS, read_text};
use crate::text::diagnostic::{Diagnostics, SourceText};
use crate::text::{path, yaml};
use crate::{embedded_jobsets, files};
use crate::{object_list::unlisted, text::node::YamlNode};
use std::collections::BTreeMap;

pub fn read_manifests(source: &SourceText) -> Result<ManifestSet, Diagnostics> {
    read_with_sets(source, "", &[])
}

/// Reads one text after applying `path=value` overrides to each of its JobSets; `sets_name` names the overrides in
/// messages.
pub fn read_with_sets(
    source: &SourceText, sets_name: &str, sets: &[(String, String)],
) -> Result<ManifestSet, Diagnostics> {
    read_among((source, &[]), sets_name, sets)
}

/// Reads `source` like [`read_with_sets`]. Its objects may refer to objects in the texts `beside`.
pub fn read_among(
    (source, beside): (&SourceText, &[SourceText]), sets_name: &str, sets: &[(String, String)],
) -> Result<ManifestSet, Diagnostics> {
    read_all((std::slice::from_ref(source), beside), sets_name, sets)
}

/// Reads all texts after applying `path=value` overrides to each JobSet.
pub fn read_sources(sources: &[SourceText], sets: &[(String, String)]) -> Result<ManifestSet, Diagnostics> {
    let manifests = read_all((sources, &[]), SETS, sets)?;
    let unknown = path::unknown_jobsets(SETS, sets, manifests.addressed.iter().map(String::as_str));
    if unknown.is_empty() { Ok(manifests) } else { Err(Diagnostics(unknown)) }
}

/// Loads the texts of a file, a directory or standard input, without parsing them. Also returns the files that were
/// skipped.
pub fn manifest_sources(path: &str) -> Result<(Vec<SourceText>, Vec<String>), Diagnostics> {
    let result = files::read_path(path)?;
    let (mut sources, mut errors) = (Vec::new(), Vec::new());
    for source in result.texts {
        match source {
            Ok(source) => sources.push(source),
            Err(Diagnostics(result)) => errors.extend(result),
        }
    }
    if errors.is_empty() { Ok((sources, not_tried(&result.left_out).collect())) } else { Err(Diagnostics(errors)) }
}

/// Reads a file, a directory (`*.yaml`, `*.yml`, `*.json` at any depth, sorted) or standard input (`-`).
///
/// Each file is read once. The texts are returned with the manifests, in the order in which they were read.
pub fn read_manifest_path(path: &str) -> Result<(ManifestSet, Vec<SourceText>), Diagnostics> {
    let (sources, not_tried) = manifest_sources(path)?;
    let mut manifests = read_sources(&sources, &[])?;
    manifests.not_tried = not_tried;
    Ok((manifests, sources))
}

fn read_all(
    (sources, beside): (&[SourceText], &[SourceText]), sets_name: &str, sets: &[(String, String)],
) -> Result<ManifestSet, Diagnostics> {
    let result = embedded_jobsets::find(sources, beside);
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for (i, source) in sources.iter().enumerate() {
        let inside = result.texts.iter().filter(|(text, _)| *text == i);
        for source in std::iter::once(source).chain(inside.map(|(_, source)| source)) {
            match read_text(source, &result.used, sets_name, sets) {
                Ok(manifests) => all.push(manifests),
                Err(Diagnostics(result)) => errors.extend(result),
            }
        }
        let wrong = result.errors.iter().filter(|(text, ..)| *text == i);
        errors.extend(wrong.map(|(.., error)| error.clone()));
    }
    if !errors.is_empty() {
        return Err(Diagnostics(errors));
    }
    let mut fields = BTreeMap::new();
    for (_, field) in result.unmodelled {
        *fields.entry(field).or_default() += 1;
    }
    all.push(ManifestSet { unmodelled: fields.into_iter().collect(), ..ManifestSet::default() });
    let merged = ManifestSet::merge(all);
    match merged.further_schedulers(0) {
        errors if errors.is_empty() => Ok(merged),
        errors => Err(Diagnostics(errors)),
    }
}

/// Returns for each text whether it contains a JobSet or an object that a JobSet was rendered from.
pub fn of_jobsets(sources: &[SourceText]) -> Vec<bool> {
    let result = embedded_jobsets::find(sources, &[]);
    let word = |node: &YamlNode, key: &str| node.get(key).and_then(YamlNode::as_str).unwrap_or("").to_owned();
    let counts = |node: &YamlNode| {
        let name = node.at_path(&["metadata", "name"]).and_then(YamlNode::as_str);
        let called = format!("{}/{}", word(node, "kind"), name.unwrap_or(""));
        word(node, "kind") == "JobSet" || result.used.contains(&called) || !embedded_jobsets::nested(node).is_empty()
    };
    let documents = |source| unlisted(yaml::parse(source).unwrap_or_default());
    let of = sources.iter().map(|source| documents(source).iter().any(counts));
    of.collect()
}

/// Returns the JobSets embedded in objects of other kinds as API JSON, without validation.
pub fn wrapped_documents(sources: &[SourceText]) -> Vec<serde_json::Value> {
    let mut all = Vec::new();
    let texts = embedded_jobsets::find(sources, &[]).texts;
    for source in texts.iter().map(|(_, source)| source) {
        all.extend(yaml::parse(source).unwrap_or_default());
    }
    for source in sources {
        let objects = unlisted(yaml::parse(source).unwrap_or_default());
        all.extend(objects.iter().flat_map(embedded_jobsets::nested));
    }
    all.iter().map(YamlNode::to_json).collect()
}

/// Returns whether a text contains a runtime that TrainJobs in other texts may refer to.
pub fn has_runtime(source: &SourceText) -> bool {
    let objects = unlisted(yaml::parse(source).unwrap_or_default());
    let word = |node: &YamlNode, key: &str| node.get(key).and_then(YamlNode::as_str).unwrap_or("").to_owned();
    objects.iter().any(|o| embedded_jobsets::is_runtime(&word(o, "kind"), &word(o, "apiVersion")))
}

/// Describes the files of a directory that do not have the extension of a manifest.
fn not_tried(files: &[String]) -> impl Iterator<Item = String> {
    let describe = |file: &String| format!("{file} (neither *.yaml, *.yml nor *.json)");
    files.iter().map(describe)
}
