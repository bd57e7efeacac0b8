//! The scenarios of the budget, inside the program.

use crate::manifest::{self, LoadedScenario, Source};

/// Path and text of what is played, and of what that names.
pub struct Files;

const SCENARIOS: [(&str, &str); 4] = [
    (
        "restart-5000-recreate.yaml",
        include_str!("../../../scenarios/restart-5000-recreate.yaml"),
    ),
    (
        "restart-5000-in-place.yaml",
        include_str!("../../../scenarios/restart-5000-in-place.yaml"),
    ),
    (
        "regime-event-bound.yaml",
        include_str!("../../../scenarios/regime-event-bound.yaml"),
    ),
    (
        "llama3-54-days.yaml",
        include_str!("../../../benches/llama3-54-days.yaml"),
    ),
];
const NAMED: [(&str, &str); 5] = [
    (
        "train-5000.yaml",
        include_str!("../../../scenarios/manifests/train-5000.yaml"),
    ),
    (
        "exclusive-workers.yaml",
        include_str!("../../../scenarios/manifests/exclusive-workers.yaml"),
    ),
    (
        "llama3-jobset.yaml",
        include_str!("../../../benches/llama3-jobset.yaml"),
    ),
    (
        "tpu-5000.yaml",
        include_str!("../../../topologies/tpu-5000.yaml"),
    ),
    (
        "tpu-65k.yaml",
        include_str!("../../../topologies/tpu-65k.yaml"),
    ),
];
const FLEET: &str = include_str!("../../../scenarios/published/airesim.yaml");

fn text(of: &[(&str, &str)], file: &str) -> Option<String> {
    let found = of.iter().find(|(name, _)| file.ends_with(name));
    found.map(|(_, text)| (*text).to_owned())
}

impl Files {
    /// The Fleet of the budget.
    pub fn fleet() -> Result<crate::spec::Fleet, String> {
        let source = Source {
            file: "airesim.yaml".to_owned(),
            text: FLEET.to_owned(),
        };
        let loaded = manifest::parse_fleet(&source, &[]).map_err(|e| e.to_string())?;
        Ok(loaded.fleet)
    }
}

/// A scenario of the budget with overrides.
pub fn load(file: &str, sets: &[(&str, &str)]) -> Result<LoadedScenario, String> {
    let missing = || format!("{file} is not inside the program");
    let source = Source {
        file: file.to_owned(),
        text: text(&SCENARIOS, file).ok_or_else(missing)?,
    };
    let named = |name: &str| text(&NAMED, name).ok_or(format!("{name} is not inside the program"));
    let owned = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let sets: Vec<(String, String)> = sets.iter().map(owned).collect();
    manifest::parse_scenario(&source, &sets, &named).map_err(|e| e.to_string())
}
