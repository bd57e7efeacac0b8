//! The commands of `--help`, grouped by task. clap has no groups for subcommands.

use clap::{Command, Subcommand};
use std::fmt::Write;

/// Groups and their commands, in the order of `--help`.
pub const GROUPS: [(&str, &[&str]); 6] = [
    ("Simulate", &["run", "step", "demo"]),
    (
        "Compare and plan",
        &["compare", "sweep", "plan", "sensitivity", "bench", "diff"],
    ),
    ("Explain", &["why", "lint", "explain"]),
    ("Reports and charts", &["report", "plot"]),
    (
        "Clusters and recordings",
        &["topology", "recording", "validate"],
    ),
    (
        "Reference and set-up",
        &["new", "schema", "completions", "man"],
    ),
];

/// Like clap's default without the list of subcommands, which `before_help` has.
pub const HELP_TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";

/// The commands by group, one line each with its help text.
pub fn list() -> String {
    let all = super::Command::augment_subcommands(Command::new("jobset-sim"));
    let mut text = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(text, "{group}:");
        for name in names {
            let about = all.find_subcommand(name).and_then(|c| c.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn help_lists_every_command_once_in_a_group() {
        let cli = Cli::command();
        let commands = cli.get_subcommands().map(|c| c.get_name());
        let mut commands: Vec<&str> = commands.filter(|name| *name != "help").collect();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        assert!(listed.len() <= 22, "{}", listed.len());
        commands.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, commands);
        let help = Cli::command().render_help().to_string();
        for name in commands {
            let line = format!("\n  {name} ");
            assert_eq!(help.matches(&line).count(), 1, "{name}: {help}");
        }
    }

    #[test]
    fn every_command_has_a_line_that_fits() {
        for line in list().lines() {
            assert!(line.chars().count() <= 100, "{line}");
            assert!(!line.ends_with(' '), "{line}: no help text");
        }
    }
}
