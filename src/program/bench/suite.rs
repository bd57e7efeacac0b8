//! The table of the suite: faults, cluster sizes, restart strategies and control planes.

use serde_json::{Map, Value};
use sim_api::spec::RestartStrategy;
use sim_inputs::SourceText;

const TEXT: &str = include_str!("suite.yaml");

pub struct BenchSuite {
    pub cases: Vec<BenchCase>,
    pub nodes: Vec<u32>,
    pub strategies: Vec<RestartStrategy>,
    pub control_planes: Vec<ControlPlaneAxis>,
    /// Cases that are not run, with reasons.
    pub not_run: Vec<String>,
}

#[derive(Clone)]
pub struct BenchCase {
    pub name: String,
    pub about: String,
    /// Whether each Job has a rack exclusively.
    pub exclusive: bool,
    /// Scripted faults, as in a scenario.
    pub faults: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ControlPlaneAxis {
    pub preset: String,
    pub kubernetes: String,
}

/// A row to simulate.
#[derive(Clone)]
pub struct BenchCombination {
    pub case: BenchCase,
    pub nodes: u32,
    pub strategy: RestartStrategy,
    pub plane: ControlPlaneAxis,
}

/// Selection of rows; an empty list selects all.
#[derive(Clone, Debug, Default)]
pub struct RowFilter {
    pub cases: Vec<String>,
    pub nodes: Vec<u32>,
    pub strategies: Vec<String>,
    pub presets: Vec<String>,
}

impl BenchSuite {
    pub fn shipped() -> BenchSuite {
        let source = SourceText { file: "suite.yaml".to_owned(), text: TEXT.to_owned() };
        let documents = sim_inputs::documents(&source).unwrap_or_default();
        let root = documents.into_iter().next().unwrap_or_default();
        let list = |key: &str| root[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let strategy = |value: &Value| {
            let mut all = RestartStrategy::ALL.into_iter();
            all.find(|s| Some(s.as_str()) == value.as_str())
        };
        BenchSuite {
            cases: list("cases")
                .iter()
                .map(|case| BenchCase {
                    name: text(&case["name"]),
                    about: text(&case["about"]),
                    exclusive: case["exclusive"] == true,
                    faults: case["faults"].as_array().into_iter().flatten().flat_map(script).collect(),
                })
                .collect(),
            nodes: list("nodes").iter().filter_map(|n| u32::try_from(n.as_u64()?).ok()).collect(),
            strategies: list("strategies").iter().filter_map(strategy).collect(),
            control_planes: list("controlPlanes")
                .iter()
                .map(|plane| ControlPlaneAxis {
                    preset: text(&plane["preset"]),
                    kubernetes: text(&plane["kubernetes"]),
                })
                .collect(),
            not_run: list("notRun").iter().map(text).collect(),
        }
    }

    /// Returns the selected rows in the order of the table. The error lists the known names.
    pub fn combinations(&self, only: &RowFilter) -> Result<Vec<BenchCombination>, String> {
        let names: Vec<&str> = self.cases.iter().map(|c| c.name.as_str()).collect();
        known("--case", &only.cases, &names)?;
        let strategies: Vec<&str> = self.strategies.iter().map(|s| s.as_str()).collect();
        known("--strategy", &only.strategies, &strategies)?;
        let mut presets: Vec<&str> = self.control_planes.iter().map(|p| p.preset.as_str()).collect();
        presets.sort();
        presets.dedup();
        known("--preset", &only.presets, &presets)?;
        let wanted = |list: &[String], name: &str| list.is_empty() || list.iter().any(|w| w == name);
        let nodes = if only.nodes.is_empty() { &self.nodes } else { &only.nodes };
        let mut all = Vec::new();
        for plane in self.control_planes.iter().filter(|p| wanted(&only.presets, &p.preset)) {
            for case in self.cases.iter().filter(|c| wanted(&only.cases, &c.name)) {
                for strategy in self.strategies.iter().filter(|s| wanted(&only.strategies, s.as_str())) {
                    all.extend(nodes.iter().map(|nodes| BenchCombination {
                        case: case.clone(),
                        nodes: *nodes,
                        strategy: *strategy,
                        plane: plane.clone(),
                    }));
                }
            }
        }
        Ok(all)
    }
}

fn known(option: &str, wanted: &[String], there: &[&str]) -> Result<(), String> {
    match wanted.iter().find(|w| !there.contains(&w.as_str())) {
        None => Ok(()),
        Some(other) => {
            let mut text = format!("{option}: unknown value {other}; legal: {}", there.join(", "));
            if let Some(near) = sim_inputs::nearest(other, there.iter().copied()) {
                text.push_str(&format!("\n  did you mean {near}?"));
            }
            Err(text)
        }
    }
}

/// Converts an action of the table to actions of a scenario: `each: 25` creates 25 actions.
fn script(action: &Value) -> Vec<Value> {
    let mut one: Map<String, Value> = action.as_object().cloned().unwrap_or_default();
    match one.remove("each").and_then(|n| n.as_u64()) {
        None => vec![Value::Object(one)],
        Some(n) => (0..n).map(|i| numbered(&Value::Object(one.clone()), i)).collect(),
    }
}

/// Replaces `{i}` with a number in all strings.
fn numbered(value: &Value, i: u64) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("{i}", &i.to_string())),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), numbered(v, i))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/program/bench/suite.rs"]
mod tests;
