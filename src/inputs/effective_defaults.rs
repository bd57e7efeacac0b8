//! Determines which preset defaults are effective in a scenario and which are overridden by its inputs, and scales
//! values for sensitivity analysis.
//!
//! This module must not contain values; they are in `src/inputs/presets/`.

use super::dist;
use super::presets::faults;
use super::presets::preset_data::preset_names;
use super::presets::{self, PresetAssumption, render};
use super::scenario::LoadedScenario;
use super::schema::definitions::timing::OF_REAL_KUBELETS;
use super::settings::InputSettings;
use super::text::node::{YamlNode, YamlValue};
use super::text::yaml;
use sim_api::spec::KubeVersion;
use sim_api::spec::timing::KubeletTiming;
use sim_base::Duration;

/// A default of the model, or the value that overrides it.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveDefault {
    /// Path of the scenario field that sets the value, or the id of the preset value.
    pub id: String,
    pub value: String,
    /// Default value, if the inputs override it.
    pub instead_of: Option<String>,
    pub source: String,
    pub confidence: String,
    /// Path and value of the field that is scaled in a sensitivity analysis.
    knob: Option<(String, String)>,
}

/// A scaled value as an override.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedValue {
    pub set: (String, String),
    /// Relative change of the value. It can differ from the requested change because integers are rounded.
    pub share: f64,
}

/// Returns every default that affects the scenario, in the order of the presets.
pub fn effective_defaults_of(loaded: &LoadedScenario) -> Vec<EffectiveDefault> {
    let scenario = &loaded.scenario;
    let cp = &scenario.control_plane;
    let scripted = matches!(scenario.timing.kubelet, KubeletTiming::Scripted { .. });
    let mut all = Vec::new();
    for a in presets::assumptions() {
        let Some(id) = field(&a.id, &cp.preset, cp.kubernetes) else {
            continue;
        };
        let of_kubelet = id.strip_prefix("timing.");
        let of_kubelet = of_kubelet.is_some_and(|id| OF_REAL_KUBELETS.contains(&id));
        if scripted && of_kubelet {
            continue;
        }
        all.push(one(a, id, &loaded.settings));
    }
    of_fault_presets(&loaded.settings.faults, "faultProcesses", &mut all);
    all
}

/// Adds the numbers of the fault presets. Each preset is given by its index in `list`, name and rate multiplier.
pub(super) fn of_fault_presets(presets: &[(usize, String, f64)], list: &str, all: &mut Vec<EffectiveDefault>) {
    for (at, name, times) in presets {
        let prefix = format!("faults.{name}.");
        let common = |a: &PresetAssumption| a.id.matches('.').count() == 1;
        let own = faults::assumptions().into_iter();
        let own = own.filter(|a| a.id.starts_with(&prefix) || common(a));
        for a in own.filter(|a| !all.iter().any(|u| u.id == a.id)).collect::<Vec<_>>() {
            let rate = a.id.ends_with(".per1000NodeDays");
            // A multiplier is not a whole number: 1.0 can be changed by a few percent.
            let knob = (format!("{list}[{at}].times"), format!("{times:?}"));
            all.push(EffectiveDefault {
                knob: rate.then_some(knob),
                id: a.id,
                value: a.value,
                instead_of: None,
                source: a.source,
                confidence: a.confidence,
            });
        }
    }
}

/// Returns the scenario field whose default is the assumption; `None` if it belongs to another preset or version.
fn field(id: &str, preset: &str, kubernetes: KubeVersion) -> Option<String> {
    let Some(rest) = id.strip_prefix("controlPlane.") else {
        return Some(id.to_owned());
    };
    let names = preset_names();
    if let Some(rest) = rest.strip_prefix(preset).and_then(|r| r.strip_prefix('.')) {
        return Some(format!("controlPlane.{rest}"));
    }
    let of_other = |name: &String| rest.starts_with(&format!("{name}."));
    if names.iter().any(of_other) {
        return None;
    }
    let old = kubernetes < KubeVersion::new(32);
    match (rest.strip_suffix(".before1.32"), old) {
        (Some(rest), true) => Some(format!("controlPlane.{rest}")),
        (Some(_), false) => None,
        (None, true) if rest == "nodeMonitorGracePeriodSeconds" => None,
        (None, _) => Some(id.to_owned()),
    }
}

fn one(a: PresetAssumption, id: String, settings: &InputSettings) -> EffectiveDefault {
    let given = settings.get(&id).map(render);
    let value = given.clone().unwrap_or_else(|| a.value.clone());
    EffectiveDefault {
        knob: Some((id.clone(), value.clone())),
        id,
        value,
        source: match given {
            Some(_) => "the inputs".to_owned(),
            None => a.source,
        },
        confidence: match given {
            Some(_) => "given".to_owned(),
            None => a.confidence,
        },
        instead_of: given.map(|_| a.value),
    }
}

impl EffectiveDefault {
    /// Creates an entry for a value set by the inputs.
    pub(super) fn given(path: &str, value: String) -> EffectiveDefault {
        EffectiveDefault {
            knob: Some((path.to_owned(), value.clone())),
            id: path.to_owned(),
            value,
            instead_of: None,
            source: "the inputs".to_owned(),
            confidence: "given".to_owned(),
        }
    }

    /// Creates an entry for a default of the file format.
    pub(super) fn by_default(path: &str, value: &str) -> EffectiveDefault {
        EffectiveDefault {
            source: "docs/reference/fleet.md".to_owned(),
            confidence: "assumed".to_owned(),
            ..EffectiveDefault::given(path, value.to_owned())
        }
    }

    /// Creates an entry for a preset value without reference to a run.
    pub fn listed(a: PresetAssumption) -> EffectiveDefault {
        EffectiveDefault {
            id: a.id,
            value: a.value,
            instead_of: None,
            source: a.source,
            confidence: a.confidence,
            knob: None,
        }
    }

    /// Returns the unit of the value. Durations without a unit are in seconds.
    pub fn unit(&self) -> &'static str {
        let last = self.id.rsplit('.').next().unwrap_or("");
        match last {
            "qps" | "nodeRequestsPerSecond" => "requests/s",
            "burst" | "apiServerConcurrency" => "requests",
            "concurrentJobSyncs" | "concurrentGcSyncs" => "workers",
            "per1000NodeDays" => "faults per 1,000 node-days",
            _ if self.id.starts_with("faults.") => "share of the faults",
            _ if self.id.starts_with("controlPlane.") || self.id.starts_with("timing.") => "s",
            // Durations of a Fleet contain their unit.
            _ => "",
        }
    }

    /// Returns the value multiplied by `factor`. Returns `None` if no field sets the value or if it cannot be scaled.
    pub fn times(&self, factor: f64) -> Option<TriedValue> {
        let (path, value) = self.knob.as_ref()?;
        if let Ok(integer) = value.parse::<i64>() {
            let scaled = (integer as f64 * factor).round() as i64;
            let scaled = if factor > 1.0 { scaled.max(integer + 1) } else { scaled.min(integer - 1) };
            let share = scaled as f64 / integer as f64 - 1.0;
            let set = (path.clone(), scaled.to_string());
            return (scaled > 0).then_some(TriedValue { set, share });
        }
        let source = super::SourceText { file: String::new(), text: value.clone() };
        let node = yaml::parse(&source).ok()?.into_iter().next()?;
        Some(TriedValue { set: (path.clone(), scaled(&node, factor)?), share: factor - 1.0 })
    }
}

/// Scales a number, a duration or a distribution by a factor.
fn scaled(node: &YamlNode, factor: f64) -> Option<String> {
    match &node.value {
        YamlValue::Str(text) => {
            let duration: Duration = text.parse().ok()?;
            let scaled = (duration.0 as f64 * factor).round() as u64;
            Some(Duration(scaled).to_string())
        }
        YamlValue::Int(_) | YamlValue::Float(_) => Some((node.as_f64()? * factor).to_string()),
        YamlValue::Seq(items) => {
            let items: Option<Vec<String>> = items.iter().map(|i| scaled(i, factor)).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        YamlValue::Map(entries) => {
            let entry = |(key, value): &(super::text::node::MappingKey, YamlNode)| {
                let value =
                    if dist::SHAPES.contains(&key.name.as_str()) { render(value) } else { scaled(value, factor)? };
                Some(format!("{}: {value}", key.name))
            };
            let entries: Option<Vec<String>> = entries.iter().map(entry).collect();
            Some(format!("{{{}}}", entries?.join(", ")))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "../../tests/inside/inputs/effective_defaults.rs"]
mod tests;
