//! The command lines of `sweep`.

use super::{Look, PlayArgs, TableFormat};
use crate::cli::sweep::{AxisArg, ShardArg, parse_grid, parse_range, parse_shard};
use crate::cli::variants;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SweepArgs {
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    #[command(flatten)]
    pub play: PlayArgs,
    #[command(flatten)]
    pub over: OverArgs,
    /// Play one part of the sweep: I/N, or auto, where I and N come from a Slurm array or from Open MPI; auto/N in an
    /// Indexed Job
    #[arg(long, value_name = "I/N|auto|auto/N", value_parser = parse_shard, requires = "out")]
    pub shard: Option<ShardArg>,
    /// Write summary.json, replications.csv, charts and the inputs here. An unfinished sweep is in DIR.unfinished, and
    /// the same command goes on with it. {shard} in it stands for the number of the shard
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub tell: SweepTellArgs,
}

/// How results are told.
#[derive(Debug, Args)]
pub struct SweepTellArgs {
    /// csv: a row for each point and metric
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Metrics that are told and drawn, e.g. goodput,cost.total [default: what a reviewer asks for first]
    #[arg(long = "metric", value_name = "NAMES", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// Print results only: no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

/// What is varied, and how often each point is played.
#[derive(Debug, Args)]
pub struct OverArgs {
    /// An axis with its values, e.g. 'parameters.spares=0,2,4,8'; any path of --set; repeatable
    #[arg(long = "grid", value_name = "PATH=VALUE,VALUE", value_parser = parse_grid)]
    pub grids: Vec<AxisArg>,
    /// An axis from which --lhs takes values, e.g. 'parameters.interval=5m..2h:log'; repeatable
    #[arg(long = "range", value_name = "PATH=LOW..HIGH[:log]", value_parser = parse_range)]
    pub ranges: Vec<AxisArg>,
    /// Points of a Latin hypercube over all ranges
    #[arg(long, value_name = "N")]
    pub lhs: Option<u64>,
    /// Replications of each point [default: the experiment's, or 20]; with --until the most of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub seeds: Option<u64>,
    /// Play each point until the 95 % interval of a metric's mean is so narrow, e.g. 'goodput ±1%'
    #[arg(long, value_name = "METRIC ±SHARE%", value_parser = variants::parse_until)]
    pub until: Option<variants::Until>,
}

#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Put the shards of a sweep together: the same files as one machine's
    #[command(after_help = "Example: jobset-sim sweep merge shards/* --out result")]
    Merge(MergeArgs),
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Directories of shards, or a directory that holds them
    #[arg(value_name = "DIR", required = true)]
    pub dirs: Vec<PathBuf>,
    /// Write what one machine would have written here; it must not exist yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub tell: SweepTellArgs,
}
