//! Preset files: `controlPlane` and `timing` of a scenario in a separate file, named by `controlPlane.preset`.
//!
//! The scenario's own values take precedence over the preset file. The preset file takes precedence over the preset
//! it is based on.

use super::{control_plane, timing};
use crate::schema::check::{UnmodelledFields, check};
use crate::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use crate::text::node::{MappingKey, YamlNode, YamlValue};
use crate::{files::FileLoader, schema::definitions::preset::PRESET, schema::field_type::FieldType};
use crate::{text::path::YamlPath, text::yaml};
use sim_api::spec::{ControlPlane, TimingSpec};

/// Returns whether a preset name refers to a file.
pub fn is_file(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Merges the preset file that a scenario names into the scenario.
pub fn merge(
    scenario: &mut YamlNode, loader: &FileLoader, inputs: &mut Vec<(String, String)>, report: &mut DiagnosticReport,
) {
    let named = scenario.at_path(&["controlPlane", "preset"]);
    let Some((at, file)) = named.and_then(|n| Some((n.at, n.as_str()?.to_owned()))) else {
        return;
    };
    if !is_file(&file) {
        return;
    }
    let text = match loader(&file) {
        Ok(text) => text,
        Err(problem) => {
            report.error(at, format!("preset {file:?} {problem}"));
            return;
        }
    };
    let source = SourceText { file, text };
    match checked(&source) {
        Ok(preset) => {
            for part in ["controlPlane", "timing"] {
                if let Some(own) = preset.get(part) {
                    under(scenario, part, own);
                }
            }
            // The base preset is that of the file, or the default preset.
            replace_preset(scenario, preset.at_path(&["controlPlane", "preset"]));
        }
        Err(errors) => report.found.extend(errors.0),
    }
    inputs.push((source.file, source.text));
}

/// Reads a preset file without a scenario.
pub fn read(source: &SourceText) -> Result<(ControlPlane, TimingSpec), Diagnostics> {
    let preset = checked(source)?;
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(source, &none);
    let plane = control_plane::read(&preset, &[], &mut report);
    let timing = timing::read(&preset, &mut report);
    report.finish()?;
    Ok((plane, timing))
}

fn checked(source: &SourceText) -> Result<YamlNode, Diagnostics> {
    let mut documents = yaml::parse(source)?;
    if documents.len() != 1 {
        let message = format!("found {} YAML documents; a preset file must contain exactly one", documents.len());
        return Err(Diagnostic::of_file(&source.file, message).into());
    }
    let node = documents.remove(0);
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(source, &none);
    let shape = FieldType::Object(&PRESET);
    check(&node, &shape, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    let base = node.at_path(&["controlPlane", "preset"]);
    if let Some(base) = base.filter(|b| b.as_str().is_some_and(is_file)) {
        report.error(base.at, "the preset of a preset file must be a built-in preset, not another file");
    }
    // Errors in the values are reported here because their positions refer to the preset file.
    if report.is_readable() {
        timing::read(&node, &mut report);
    }
    report.finish()?;
    Ok(node)
}

/// Adds the entries of `own` that are missing, recursively. Distributions are not merged.
fn under(node: &mut YamlNode, key: &str, own: &YamlNode) {
    let YamlValue::Map(entries) = &mut node.value else {
        return;
    };
    match entries.iter_mut().find(|(k, _)| k.name == key) {
        None => entries.push((MappingKey { name: key.to_owned(), at: own.at }, own.clone())),
        Some((_, there)) if there.is_null() => *there = own.clone(),
        Some((_, there)) => {
            let client = ["kubeControllerManager", "kubeScheduler", "jobsetManager"];
            if ["controlPlane", "timing", "featureGates"].contains(&key) || client.contains(&key) {
                for (key, value) in own.entries() {
                    under(there, &key.name, value);
                }
            }
        }
    }
}

fn replace_preset(scenario: &mut YamlNode, base: Option<&YamlNode>) {
    let YamlValue::Map(entries) = &mut scenario.value else {
        return;
    };
    let plane = entries.iter_mut().find(|(k, _)| k.name == "controlPlane");
    let Some(YamlValue::Map(fields)) = plane.map(|(_, node)| &mut node.value) else {
        return;
    };
    fields.retain(|(key, _)| key.name != "preset");
    if let Some(base) = base {
        let at = base.at;
        let name = "preset".to_owned();
        fields.push((MappingKey { name, at }, base.clone()));
    }
}
