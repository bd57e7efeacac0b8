//! Unit tests of `jobset_sim::cli::command_line`.

use super::*;
use crate::cli::inputs::words;
use clap::CommandFactory;

#[test]
fn the_command_line_is_consistent_and_every_help_has_an_example() {
    CommandLine::command().debug_assert();
    for sub in CommandLine::command().get_subcommands() {
        let help = sub.get_after_help().map(ToString::to_string);
        assert!(help.is_some_and(|h| h.contains("Example")), "{}", sub.get_name());
    }
}

#[test]
fn a_scenario_excludes_manifests_and_one_of_them_is_needed() {
    for (line, ok) in [
        ("run a.yaml", true),
        ("run -f a.yaml -f - -t t.yaml", true),
        ("run a.yaml -f b.yaml", false),
        ("run", false),
        ("run a.yaml --seeds 0", false),
        ("run a.yaml --set x", false),
        ("run a.yaml --set x=", true),
    ] {
        let words = std::iter::once("jobset-sim").chain(line.split(' '));
        assert_eq!(CommandLine::try_parse_from(words).is_ok(), ok, "{line}");
    }
}

#[test]
fn help_lists_every_command_once_in_a_group() {
    let cli = CommandLine::command();
    let commands = cli.get_subcommands().map(|c| c.get_name());
    let mut commands: Vec<&str> = commands.filter(|name| *name != "help").collect();
    let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    assert!(listed.len() <= 22, "{}", listed.len());
    commands.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, commands);
    let help = CommandLine::command().render_help().to_string();
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

/// Pages that list complete commands.
const PAGES: [&str; 2] = [include_str!("../../../../README.md"), include_str!("../../../../docs/README.md")];

#[test]
fn commands_that_pages_list_can_be_typed() {
    let mut read = 0;
    for span in PAGES.iter().flat_map(|page| page.split('`')) {
        let command = span.rsplit("| ").next().unwrap_or(span);
        if !command.starts_with("jobset-sim ") || command.contains(['\n', '…']) || command.contains("COMMAND") {
            continue;
        }
        let words = words(command).into_iter();
        // A redirection ends the command.
        let words: Vec<String> = words.take_while(|w| !w.starts_with('>')).collect();
        if let Err(refused) = CommandLine::try_parse_from(&words) {
            let is_help = refused.kind() == clap::error::ErrorKind::DisplayHelp;
            assert!(is_help, "{command}: {refused}");
        }
        read += 1;
    }
    assert!(read > 20, "{read}");
}
