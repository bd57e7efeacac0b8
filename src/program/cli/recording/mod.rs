//! `recording`: creates recordings from the output of `kubectl`, and presets and counterfactuals from recordings.

pub mod calibrate;
pub mod commands;
pub mod import;
pub mod replay;
mod replay_plane;

use crate::cli::failure::CommandFailure;

#[derive(Debug, clap::Args)]
pub struct RecordingArgs {
    #[command(subcommand)]
    pub command: RecordingCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum RecordingCommand {
    /// Print the kubectl commands that record a restart
    #[command(
        after_help = "Examples:\n  jobset-sim recording commands -f jobset.yaml\n  jobset-sim recording commands --jobset train -n research --format script > record.sh\n\nNo cluster is contacted, and the printed commands only read from it. `recording import` reads their output."
    )]
    Commands(commands::CommandsArgs),
    /// Create a recording from the output of kubectl
    #[command(
        after_help = "Examples:\n  jobset-sim recording import watch-*.json nodes.json --out incident.json\n  jobset-sim recording import after.yaml --anonymize --out incident.json\n\n`recording commands` prints what to save. Milestones that the files do not contain are listed as unknown."
    )]
    Import(import::ImportArgs),
    /// Estimate client rates, latencies and start-up times and write them as a preset file
    #[command(
        after_help = "Examples:\n  jobset-sim recording calibrate incident.json --metrics apiserver-metrics.txt --out my-cluster.yaml\n  jobset-sim recording calibrate incident-*.json --format json\n\nEvery estimate has a 95 % interval. Parameters that the data do not determine are listed without an estimate."
    )]
    Calibrate(calibrate::CalibrateArgs),
    /// Simulate an incident unchanged and with a change, such as another restart strategy
    #[command(
        after_help = "Examples:\n  jobset-sim recording replay incident.json --counterfactual strategy=BlockingRecreate\n  jobset-sim recording replay run-1 --counterfactual spec.failurePolicy.maxRestarts=9\n  jobset-sim recording replay incident.json --counterfactual controlPlane.kubeControllerManager.qps=200\n\nBoth runs have the same faults and random numbers, so the difference is the effect of the change."
    )]
    Replay(replay::ReplayArgs),
}

pub fn cli(args: &RecordingArgs) -> Result<(), CommandFailure> {
    match &args.command {
        RecordingCommand::Commands(args) => commands::cli(args),
        RecordingCommand::Import(args) => import::cli(args),
        RecordingCommand::Calibrate(args) => calibrate::cli(args),
        RecordingCommand::Replay(args) => replay::cli(args),
    }
}
