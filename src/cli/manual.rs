//! `completions` and `man`: shell completions and manual pages, from the description of the command line.

use super::args::Cli;
use super::{Failure, output};
use crate::report::rundir::RunDir;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::path::Path;

pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    output::bytes(&text)
}

/// The page of the program, or all pages into a directory.
pub fn cli(out: Option<&Path>) -> Result<(), Failure> {
    let mut command = Cli::command();
    // Fills in the full names of subcommands.
    command.build();
    match out {
        None => output::bytes(&page(command)?),
        Some(out) => {
            let dir = RunDir::create(out)?;
            pages(command, &dir)?;
            dir.commit()?;
            Ok(())
        }
    }
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|e| Failure::Internal(e.to_string()))?;
    Ok(text)
}

/// `jobset-sim.1`, `jobset-sim-run.1` and so on.
fn pages(command: Command, dir: &RunDir) -> Result<(), Failure> {
    for inner in command.get_subcommands().filter(|c| c.get_name() != "help") {
        pages(inner.clone(), dir)?;
    }
    let name = command.get_display_name().unwrap_or(command.get_name());
    let name = name.replace(' ', "-");
    dir.write(&format!("{name}.1"), &page(command)?)?;
    Ok(())
}
