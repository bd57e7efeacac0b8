//! Reads `jobSets`: manifests by path, with their overrides.

use crate::kube::{ManifestSet, WrittenManifest};
use crate::text::diagnostic::{Diagnostic, DiagnosticReport, SourceText};
use crate::text::path::{self, PathSetting};
use crate::{files::FileLoader, kube, read, text::node::YamlNode};
use sim_api::spec::SubmittedJobSet;
use sim_base::Duration;
use std::collections::BTreeMap;

const STRATEGY_PATH: &str = "spec.failurePolicy.restartStrategy";

#[derive(Default)]
pub struct LoadedJobSets {
    pub jobsets: Vec<SubmittedJobSet>,
    pub skipped: Vec<String>,
    pub companions: Vec<serde_json::Value>,
    pub service_accounts: Vec<(String, String)>,
    /// Texts with objects of Kueue.
    /// Position of each configuration of kube-scheduler.
    pub schedulers: Vec<Diagnostic>,
    pub kueue: Vec<SourceText>,
    pub unmodelled: Vec<(String, usize)>,
    pub written: WrittenAt,
}

/// The original documents of the JobSets, by place.
pub type WrittenAt = BTreeMap<String, WrittenManifest>;

pub fn load(
    (node, of_all): (&YamlNode, &[PathSetting]), loader: &FileLoader, inputs: &mut Vec<(String, String)>,
    report: &mut DiagnosticReport,
) -> LoadedJobSets {
    let entries = read::list(node, "jobSets");
    let mut loaded = LoadedJobSets::default();
    let mut rest = Vec::new();
    let texts = texts(entries, loader, inputs, report);
    let all: Vec<SourceText> = texts.iter().flatten().cloned().collect();
    for (i, (entry, text)) in entries.iter().zip(&texts).enumerate() {
        let Some(text) = text else { continue };
        let Some(manifests) = manifests((i, entry, of_all), (text, &all), report) else {
            continue;
        };
        let submit_at = read::duration(entry, "submitAt").unwrap_or(Duration::ZERO);
        for (jobset, source) in &manifests.jobsets {
            loaded.jobsets.push(SubmittedJobSet { jobset: jobset.clone(), submit_at, source: source.clone() });
        }
        rest.push(manifests);
    }
    let merged = ManifestSet::merge(rest);
    report.found.extend(merged.further_schedulers(0));
    loaded.skipped = merged.skipped;
    loaded.companions = merged.companions;
    loaded.schedulers = merged.schedulers;
    loaded.service_accounts = merged.service_accounts;
    loaded.kueue = merged.kueue;
    loaded.unmodelled = merged.unmodelled;
    loaded.written = merged.written;
    check_together(&loaded.jobsets, &loaded.written, report);
    if report.is_readable() {
        let names = merged.addressed.iter().map(String::as_str);
        report.found.extend(path::unknown_jobsets(kube::SETS, of_all, names));
    }
    loaded
}

/// Loads the text of each entry. An object in one text may refer to an object in another.
fn texts(
    entries: &[YamlNode], loader: &FileLoader, inputs: &mut Vec<(String, String)>, report: &mut DiagnosticReport,
) -> Vec<Option<SourceText>> {
    let text = |entry: &YamlNode| {
        let manifest = entry.get("manifest")?;
        let file = manifest.as_str()?.to_owned();
        let text = match loader(&file) {
            Ok(text) => text,
            Err(problem) => {
                report.error(manifest.at, format!("manifest {file:?} {problem}"));
                return None;
            }
        };
        if !inputs.iter().any(|(name, _)| *name == file) {
            inputs.push((file.clone(), text.clone()));
        }
        Some(SourceText { file, text })
    };
    entries.iter().map(text).collect()
}

fn manifests(
    (index, entry, of_all): (usize, &YamlNode, &[PathSetting]), (source, all): (&SourceText, &[SourceText]),
    report: &mut DiagnosticReport,
) -> Option<ManifestSet> {
    let manifest = entry.get("manifest")?;
    let mut sets = sets(entry)?;
    let own = sets.len();
    sets.extend_from_slice(of_all);
    let name = match own {
        0 => kube::SETS.to_owned(),
        _ => format!("{} jobSets[{index}].set", report.source.file),
    };
    match kube::read_among((source, all), &name, &sets) {
        Ok(manifests) if manifests.jobsets.is_empty() && !kube::has_runtime(source) => {
            let message = format!("no JobSet in {:?}", source.file);
            report.error(manifest.at, message);
            None
        }
        Ok(manifests) => Some(manifests),
        Err(errors) => {
            report.found.extend(errors.0);
            None
        }
    }
}

/// Returns the overrides of an entry: the `set` list and `restartStrategy`.
fn sets(entry: &YamlNode) -> Option<Vec<(String, String)>> {
    let mut sets = Vec::new();
    for item in read::list(entry, "set") {
        let (path, value) = item.as_str()?.split_once('=')?;
        sets.push((path.to_owned(), value.to_owned()));
    }
    if let Some(strategy) = read::string(entry, "restartStrategy") {
        sets.push((STRATEGY_PATH.to_owned(), strategy));
    }
    Some(sets)
}

/// Checks that JobSet names are unique over all manifests, and that the total size is within the limits.
pub fn check_together(jobsets: &[SubmittedJobSet], written: &WrittenAt, report: &mut DiagnosticReport) {
    let jobsets = jobsets.iter().map(|s| (&s.jobset, s.source.as_str()));
    let errors = kube::together(jobsets, written).into_iter();
    report.found.extend(errors.map(|(error, _)| error));
}
