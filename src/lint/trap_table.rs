//! The table of all traps, grouped by theme: `traps.yaml` describes them, and each has a check in the code.

use super::cluster::{domains, pending};
use super::trap::{LintTrap, TrapCheck, TrapDescription};
use super::{
    failure_policy, in_place, job_template, kueue, names, network, placement, startup, surroundings, updates, volumes,
};
use serde::Deserialize;
use sim_inputs::SourceText;
use std::sync::LazyLock;

const CHECKS: [&[(&str, TrapCheck)]; 13] = [
    startup::CHECKS,
    in_place::CHECKS,
    failure_policy::CHECKS,
    job_template::CHECKS,
    placement::CHECKS,
    domains::CHECKS,
    pending::CHECKS,
    network::CHECKS,
    volumes::CHECKS,
    names::CHECKS,
    surroundings::CHECKS,
    kueue::CHECKS,
    updates::CHECKS,
];

/// Themes and their traps, in the order in which they are listed.
static THEMES: LazyLock<Vec<(String, Vec<LintTrap>)>> = LazyLock::new(read);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrapTheme {
    theme: String,
    traps: Vec<TrapDescription>,
}

/// Reads the table. Panics if the compiled-in file is invalid or a trap has no check.
fn read() -> Vec<(String, Vec<LintTrap>)> {
    let source = SourceText { file: "traps.yaml".to_owned(), text: include_str!("traps.yaml").to_owned() };
    let documents = sim_inputs::documents(&source).unwrap_or_else(|e| panic!("{e}"));
    let document = documents.into_iter().next().expect("a document");
    let themes: Vec<TrapTheme> = serde_json::from_value(document).unwrap_or_else(|e| panic!("traps.yaml: {e}"));
    let with_check = |description: TrapDescription| {
        let check = CHECKS.iter().copied().flatten().find(|(name, _)| *name == description.name);
        LintTrap { check: check.unwrap_or_else(|| panic!("{} has no check", description.name)).1, description }
    };
    themes.into_iter().map(|t| (t.theme, t.traps.into_iter().map(with_check).collect())).collect()
}

pub fn themes() -> &'static [(String, Vec<LintTrap>)] {
    &THEMES
}

pub fn all() -> impl Iterator<Item = &'static LintTrap> {
    themes().iter().flat_map(|(_, traps)| traps.iter())
}

pub fn named(name: &str) -> Option<&'static LintTrap> {
    all().find(|trap| trap.name == name)
}
