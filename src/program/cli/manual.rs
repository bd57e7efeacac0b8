//! `completions` and `man`: shell completions and manual pages, generated from the command line definition.

use crate::{cli::failure::CommandFailure, cli::output};
use clap::Command;
use clap_complete::Shell;
use sim_report::files::rundir::RunDir;
use std::path::Path;

pub fn completions(mut command: Command, shell: Shell) -> Result<(), CommandFailure> {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    let text = String::from_utf8(text).map_err(|e| CommandFailure::Internal(e.to_string()))?;
    output::bytes(with_topologies(shell, &text).as_bytes())
}

/// Adds the names of the shipped topologies to the completion of `-t`. `clap_complete` generates files only.
fn with_topologies(shell: Shell, text: &str) -> String {
    const FILES: &str = "COMPREPLY=($(compgen -f \"${cur}\"))";
    let names = sim_inputs::topology_names().join(" ");
    let mut out = String::with_capacity(text.len());
    let mut before = "";
    for line in text.lines() {
        let line_out = match shell {
            Shell::Bash if before.trim() == "-t)" => {
                let both = format!("COMPREPLY=($(compgen -f \"${{cur}}\") $(compgen -W \"{names}\" -- \"${{cur}}\"))");
                line.replace(FILES, &both)
            }
            Shell::Zsh if line.starts_with("'-t+[") => {
                line.replace(":TOPOLOGY:_files'", &format!(":TOPOLOGY:{{compadd {names}; _files}}'"))
            }
            Shell::Fish if line.contains(" -s t -d ") => format!("{line} -a \"{names}\""),
            _ => line.to_owned(),
        };
        out.push_str(&line_out);
        out.push('\n');
        before = line;
    }
    out
}

/// Prints the manual page of the program, or writes the pages of all commands to a directory.
pub fn cli(mut command: Command, out: Option<&Path>) -> Result<(), CommandFailure> {
    // Sets the full names of the subcommands.
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

fn page(command: Command) -> Result<Vec<u8>, CommandFailure> {
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|e| CommandFailure::Internal(e.to_string()))?;
    Ok(text)
}

/// Writes the manual pages of a command and its subcommands: `jobset-sim.1`, `jobset-sim-run.1` and so on.
fn pages(command: Command, dir: &RunDir) -> Result<(), CommandFailure> {
    for inner in command.get_subcommands().filter(|c| c.get_name() != "help") {
        pages(inner.clone(), dir)?;
    }
    let name = command.get_display_name().unwrap_or(command.get_name());
    let name = name.replace(' ', "-");
    dir.write(&format!("{name}.1"), &page(command)?)?;
    Ok(())
}

#[cfg(test)]
#[path = "../../../tests/inside/program/cli/manual.rs"]
mod tests;
