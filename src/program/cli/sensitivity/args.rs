//! Command line of `sensitivity`.

use crate::cli::args::{InputArgs, OutputArgs};
use clap::{Arg, Args, value_parser};
use sim_analysis::planning::ParameterRange;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct SensitivityArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Metric to analyze [default: for elasticities goodput of a training job, else restartLatency_s.p50, else
    /// end.t_s; for ranges goodput, or effective_training_ratio for a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Number of replications per value [default: 5; with --ranges or --input 40 at level pods, 400 otherwise]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=10_000_000))]
    pub seeds: Option<u64>,
    /// Change of each value for its elasticity in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = value_parser!(u8).range(1..=90),
        conflicts_with_all = ["ranges", "inputs", "parameters_only"])]
    pub step: u8,
    /// Print the parameters only, without replications
    #[arg(long, conflicts_with_all = ["metric", "seeds", "ranges", "inputs"])]
    pub parameters_only: bool,
    /// Vary each input that has a published range over that range, one at a time
    #[arg(long, conflicts_with = "inputs")]
    pub ranges: bool,
    /// Vary this input over a range, one at a time (repeatable)
    #[arg(long = "input", value_name = "PATH=LOW..HIGH")]
    pub inputs: Vec<ParameterRange>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Returns the optional positional argument for commands that also work without inputs.
pub fn run_or_scenario() -> Arg {
    Arg::new("scenario")
        .value_name("RUN|SCENARIO")
        .help("Run directory written by `run --out`, or scenario file [default: list all defaults]")
        .value_parser(value_parser!(PathBuf))
        .conflicts_with_all(["manifests", "topology"])
}
