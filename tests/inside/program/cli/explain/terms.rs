//! Unit tests of `jobset_sim::cli::explain::terms`.

use super::*;
use crate::cli::command_line::CommandLine;
use clap::CommandFactory;

#[test]
fn options_with_equal_names_are_one_word() {
    let all = commands(CommandLine::command());
    let seeds: Vec<&GlossaryEntry> = all.iter().filter(|e| e.word == "--set").collect();
    assert!(seeds.len() >= 2, "{seeds:?}");
    assert!(all.iter().any(|e| e.word == "topology show"));
}
