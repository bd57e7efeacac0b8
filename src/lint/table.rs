//! The one table of all traps, by theme.

use super::trap::Trap;
use super::{
    failure_policy, fits, in_place, job_template, names, network, placement, startup, surroundings,
    updates, volumes,
};

/// Theme and its traps, in the order in which they are listed.
pub const THEMES: [(&str, &[Trap]); 11] = [
    ("Start and end", startup::TRAPS),
    ("In-place restart", in_place::TRAPS),
    ("Failure policy", failure_policy::TRAPS),
    ("Job templates", job_template::TRAPS),
    ("Exclusive placement", placement::TRAPS),
    ("Room in the cluster", fits::TRAPS),
    ("Network", network::TRAPS),
    ("Volumes", volumes::TRAPS),
    ("Names", names::TRAPS),
    ("Other objects", surroundings::TRAPS),
    ("Updates", updates::TRAPS),
];

pub fn all() -> impl Iterator<Item = &'static Trap> {
    THEMES.iter().flat_map(|(_, traps)| traps.iter())
}

pub fn named(name: &str) -> Option<&'static Trap> {
    all().find(|trap| trap.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_in_kebab_case_and_every_trap_is_explained() {
        let mut seen = BTreeSet::new();
        for trap in all() {
            assert!(seen.insert(trap.name), "{} twice", trap.name);
            let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(trap.name.chars().all(kebab), "{}", trap.name);
            assert!(!trap.rules.is_empty(), "{}", trap.name);
            for text in [trap.consequence, trap.fix] {
                assert!(text.ends_with('.') && text.len() > 10, "{}", trap.name);
            }
            assert!(!trap.title.ends_with('.'), "{}", trap.name);
        }
    }
}
