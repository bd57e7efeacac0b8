//! The table of all traps, grouped by theme.

use super::trap::LintTrap;
use super::{
    failure_policy, fits, in_place, job_template, names, network, placement, startup, surroundings, updates, volumes,
};

/// Themes and their traps, in the order in which they are listed.
pub const THEMES: [(&str, &[LintTrap]); 11] = [
    ("Startup and completion", startup::TRAPS),
    ("In-place restart", in_place::TRAPS),
    ("Failure policy", failure_policy::TRAPS),
    ("Job templates", job_template::TRAPS),
    ("Exclusive placement", placement::TRAPS),
    ("Capacity of the cluster", fits::TRAPS),
    ("Network", network::TRAPS),
    ("Volumes", volumes::TRAPS),
    ("Names", names::TRAPS),
    ("Other objects", surroundings::TRAPS),
    ("Updates", updates::TRAPS),
];

pub fn all() -> impl Iterator<Item = &'static LintTrap> {
    THEMES.iter().flat_map(|(_, traps)| traps.iter())
}

pub fn named(name: &str) -> Option<&'static LintTrap> {
    all().find(|trap| trap.name == name)
}
