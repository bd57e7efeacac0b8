//! `recording`: from the output of `kubectl` to recordings, presets and counterfactuals.

pub mod calibrate;
pub mod commands;
pub mod import;
pub mod replay;
mod replay_plane;

use super::Failure;
use super::args::{RecordingArgs, RecordingCommand};

pub fn cli(args: &RecordingArgs) -> Result<(), Failure> {
    match &args.command {
        RecordingCommand::Commands(args) => commands::cli(args),
        RecordingCommand::Import(args) => import::cli(args),
        RecordingCommand::Calibrate(args) => calibrate::cli(args),
        RecordingCommand::Replay(args) => replay::cli(args),
    }
}
