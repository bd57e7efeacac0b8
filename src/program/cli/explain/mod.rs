//! `explain`: explains a term, or lists the children of a manifest.

pub mod args;
mod children;
mod manifest_children;
mod terms;
mod yaml;

use crate::cli::explain::args::{ExplainArgs, ExplainCommand};
use crate::cli::failure::CommandFailure;

/// Runs the command. `command_line` returns the definition of all commands and options.
pub fn cli(args: &ExplainArgs, command_line: impl FnOnce() -> clap::Command) -> Result<(), CommandFailure> {
    match &args.command {
        Some(ExplainCommand::Children(args)) => manifest_children::cli(args),
        None => terms::cli(args, command_line()),
    }
}
