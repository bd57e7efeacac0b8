//! Unit tests of `jobset_sim::cli::manual`.

use super::*;
use crate::cli::command_line::CommandLine;
use clap::CommandFactory;

#[test]
fn shells_complete_shipped_topologies_and_files_after_t() {
    for (shell, part) in [(Shell::Bash, "compgen -W \""), (Shell::Zsh, ":TOPOLOGY:{compadd "), (Shell::Fish, " -a \"")]
    {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut CommandLine::command(), "jobset-sim", &mut text);
        let plain = String::from_utf8(text).expect("UTF-8");
        let with = with_topologies(shell, &plain);
        let n = with.matches("small-16").count();
        assert!(n > 10 && with.contains(part), "{shell}: {n}");
        assert_eq!(with.lines().count(), plain.lines().count());
    }
}
