//! Published fault rates as data (`faults.yaml`). An entry `{preset: NAME}` expands to one fault process for each
//! cause, in Fleets and in scenarios. Other fields of the entry override those of the preset.

use super::preset_data::document;
use super::{PresetAssumption, render};
use crate::text::node::{MappingKey, SourcePosition, YamlNode, YamlValue};
use crate::{read, schema::definitions::rate::RATES, text::diagnostic::DiagnosticReport};
use std::sync::LazyLock;

static FAULTS: LazyLock<YamlNode> = LazyLock::new(|| document("faults.yaml", include_str!("faults.yaml")));

/// The format that the processes belong to; the fields differ.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum PresetTarget {
    Fleet,
    Scenario,
}

/// Mean numbers of accelerators by which the published rates are scaled; `None` keeps the rate of the preset.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct PresetScale {
    pub per_node: Option<f64>,
    /// For faults of containers in a scenario.
    pub per_pod: Option<f64>,
}

/// Entry fields that control the expansion of a preset. They are not copied to the processes.
const OF_ENTRY: [&str; 3] = ["preset", "causes", "times"];
/// Number of accelerators of the nodes that a published rate is about.
const ACCELERATORS: &str = "acceleratorsPerNode";
/// Fields that only apply to faults of nodes.
const OF_NODES: [&str; 8] = ["on", "takesAlong", "backAfter", "comesBack", "lemons", "notice", "asNew", "deletedAfter"];
/// Fields of node faults that do not apply to maintenance drains, and those that do not apply to lost hosts.
const NOT_DRAINED: [&str; 2] = ["asNew", "deletedAfter"];
const NOT_LOST: [&str; 1] = ["notice"];

/// Replaces every preset in the list by its processes.
pub fn expand(list: &[YamlNode], what: (PresetTarget, PresetScale), report: &mut DiagnosticReport) -> Vec<YamlNode> {
    let mut all = Vec::new();
    for entry in list {
        let Some(name) = entry.get("preset").and_then(YamlNode::as_str) else {
            all.push(entry.clone());
            continue;
        };
        let mut presets = read::list(&FAULTS, "presets").iter();
        let preset = presets.find(|p| read::string(p, "name").as_deref() == Some(name));
        if let Some(preset) = preset {
            one(entry, preset, &FAULTS, what, (&mut all, report));
        }
    }
    all
}

fn one(
    entry: &YamlNode, preset: &YamlNode, root: &YamlNode, what: (PresetTarget, PresetScale),
    (all, report): (&mut Vec<YamlNode>, &mut DiagnosticReport),
) {
    let wanted = entry.get("causes").map(YamlNode::items);
    let causes = read::list(preset, "causes");
    let name = |cause: &YamlNode| read::string(cause, "cause").unwrap_or_default();
    for want in wanted.unwrap_or_default() {
        let text = want.as_str().unwrap_or_default();
        if !causes.iter().any(|cause| name(cause) == text) {
            let known: Vec<String> = causes.iter().map(name).collect();
            let error = report.error(want.at, format!("unknown cause {text:?} in this preset"));
            error.nearest(text, known.iter().map(String::as_str));
            error.legal(known.join(", "));
        }
    }
    for cause in causes {
        let is = |want: &YamlNode| want.as_str() == cause.get("cause").and_then(YamlNode::as_str);
        if wanted.is_none_or(|wanted| wanted.iter().any(is)) {
            all.push(process(entry, preset, cause, root, what));
        }
    }
}

fn process(
    entry: &YamlNode, preset: &YamlNode, cause: &YamlNode, root: &YamlNode, (what, scale): (PresetTarget, PresetScale),
) -> YamlNode {
    let at = entry.at;
    let number = |node: &YamlNode, key: &str, otherwise: f64| read::number(node, key).unwrap_or(otherwise);
    let hits = read::string(cause, "hits").unwrap_or_default();
    let text = |text: &str| YamlValue::Str(text.to_owned());
    let common = |id: &str| {
        let mut entries = read::list(root, "common").iter();
        let matching = entries.find(|e| read::string(e, "id").as_deref() == Some(id));
        matching.and_then(|e| e.get("value")).map(|v| v.value.clone())
    };
    let mut times = number(cause, "share", 1.0) * number(entry, "times", 1.0);
    let mut fields = vec![("cause", text(&read::string(cause, "cause").unwrap_or_default()))];
    if !RATES.iter().any(|rate| entry.get(rate).is_some()) {
        let rate = preset.at_path(&["per1000NodeDays", "value"]);
        fields.push(("per1000NodeDays", YamlValue::Float(rate.and_then(YamlNode::as_f64).unwrap_or(0.0))));
        let of_pods = what == PresetTarget::Scenario && hits == "Program";
        let accelerators = if of_pods { scale.per_pod } else { scale.per_node };
        let published = number(preset, ACCELERATORS, 1.0);
        times *= accelerators.unwrap_or(published) / published;
    }
    fields.push(("times", YamlValue::Float(times)));
    let mut not: &[&str] = &[];
    match (what, hits.as_str()) {
        (PresetTarget::Fleet, "Program") => fields.push(("needsRepair", YamlValue::Bool(false))),
        (PresetTarget::Fleet, _) => {}
        (PresetTarget::Scenario, "Program") => {
            fields.extend([("on", text("Pod")), ("does", text("Exit"))]);
            not = &OF_NODES;
        }
        (PresetTarget::Scenario, hits) => {
            let drained = hits == "Maintenance";
            fields.push(("does", text(if drained { "Drain" } else { "Crash" })));
            let back = common(if drained { "maintenance" } else { "repair" });
            fields.extend(back.map(|back| ("backAfter", back)));
            not = if drained { &NOT_DRAINED } else { &NOT_LOST };
        }
    }
    let of_entry = entry.entries().iter().filter(|(key, value)| {
        let key = key.name.as_str();
        !value.is_null() && !OF_ENTRY.contains(&key) && !not.contains(&key)
    });
    let of_entry: Vec<(MappingKey, YamlNode)> = of_entry.cloned().collect();
    let said = |key: &str| of_entry.iter().any(|(k, _)| k.name == key);
    let made = fields.into_iter().filter(|(key, _)| !said(key));
    let mut entries: Vec<(MappingKey, YamlNode)> = made.map(|(key, value)| made_at(at, key, value)).collect();
    entries.extend(of_entry);
    YamlNode::new(at, YamlValue::Map(entries))
}

fn made_at(at: SourcePosition, key: &str, value: YamlValue) -> (MappingKey, YamlNode) {
    let name = key.to_owned();
    (MappingKey { name, at }, YamlNode::new(at, value))
}

/// Returns every number of the presets with its source. The ids are `faults.NAME.per1000NodeDays`,
/// `faults.NAME.CAUSE` and `faults.ID`.
pub fn assumptions() -> Vec<PresetAssumption> {
    let mut all = Vec::new();
    let mut add = |id: String, (value, scope): (Option<&YamlNode>, &str), entry: &YamlNode| {
        let text = |key: &str| read::string(entry, key).unwrap_or_default();
        all.push(PresetAssumption {
            id,
            value: value.map(render).unwrap_or_default(),
            source: text("source") + scope,
            confidence: text("confidence"),
        });
    };
    for entry in read::list(&FAULTS, "common") {
        let id = read::string(entry, "id").unwrap_or_default();
        add(format!("faults.{id}"), (entry.get("value"), ""), entry);
    }
    for preset in read::list(&FAULTS, "presets") {
        let name = read::string(preset, "name").unwrap_or_default();
        if let Some(rate) = preset.get("per1000NodeDays") {
            let accelerators = preset.get(ACCELERATORS).map(render).unwrap_or_default();
            let scaled = format!("; per node of {accelerators} accelerators, scaled to those of the nodes");
            add(format!("faults.{name}.per1000NodeDays"), (rate.get("value"), &scaled), rate);
        }
        for cause in read::list(preset, "causes") {
            let of = read::string(cause, "cause").unwrap_or_default();
            add(format!("faults.{name}.{of}"), (cause.get("share"), ""), cause);
        }
    }
    all
}

#[cfg(test)]
#[path = "../../../tests/inside/inputs/presets/faults.rs"]
mod tests;
