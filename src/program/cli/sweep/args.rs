//! Command lines of `sweep`, `sweep merge` and `sweep plan`.

use crate::cli::args::{DisplayStyle, InputArgs, TableFormat, TimeLimit, parse_until};
use crate::cli::sweep::axes::{AxisArg, ShardArg, parse_grid, parse_range, parse_shard};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SweepArgs {
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub over: AxisArgs,
    /// Run one shard of the sweep: I/N, or auto with I and N from a Slurm array or Open MPI, or auto/N in an Indexed
    /// Job
    #[arg(long, value_name = "I/N|auto|auto/N", value_parser = parse_shard, requires = "out", conflicts_with = "fail_if")]
    pub shard: Option<ShardArg>,
    /// Write summary.json, replications.csv, charts and the inputs to this new directory; {shard} is replaced with
    /// the number of the shard. An interrupted sweep remains in DIR.unfinished, and the same command resumes it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: SweepOutputArgs,
}

/// Options for the output of results.
#[derive(Debug, Args)]
pub struct SweepOutputArgs {
    /// Output format; csv prints one row per point and metric
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Metrics to print and draw, e.g. goodput,cost.total [default: up to three main metrics in which points differ]
    #[arg(long = "metric", value_name = "NAMES", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// Exit with code 5 if this condition is true at any point, e.g. 'goodput@p10 < 0.8', or at one point, e.g.
    /// '3:goodput < 0.9' (repeatable, docs/compare.md)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Do not print progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub display: DisplayStyle,
}

/// Options for the axes and the number of replications per point.
#[derive(Debug, Args)]
pub struct AxisArgs {
    /// Axis with its values, e.g. 'parameters.spares=0,2,4,8'; any path of --set (repeatable)
    #[arg(long = "grid", value_name = "PATH=VALUE,VALUE", value_parser = parse_grid)]
    pub grids: Vec<AxisArg>,
    /// Axis from which --lhs draws values, e.g. 'parameters.interval=5m..2h:log' (repeatable)
    #[arg(long = "range", value_name = "PATH=LOW..HIGH[:log]", value_parser = parse_range)]
    pub ranges: Vec<AxisArg>,
    /// Number of points of a Latin hypercube over all ranges
    #[arg(long, value_name = "N")]
    pub lhs: Option<u64>,
    /// Number of replications per point; with --until the maximum [default: that of the experiment, else 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub seeds: Option<u64>,
    /// Add replications until the 95 % interval of the metric's mean is within ±SHARE at every point, e.g.
    /// 'goodput ±1%'
    #[arg(long, value_name = "METRIC ±SHARE%", value_parser = parse_until)]
    pub until: Option<TimeLimit>,
}

#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Merge the shards of a sweep into the files of an unsharded run
    #[command(after_help = "Example: jobset-sim sweep merge shards/* --out result")]
    Merge(MergeArgs),
    /// Print the size of a sweep, and the manifests or scripts that start its shards
    #[command(
        after_help = "Examples:\n  jobset-sim sweep plan scenario.yaml --grid 'parameters.spares=0,2,4,8' --seeds 1000\n  jobset-sim sweep plan scenario.yaml --engine indexed-job --cpus 4 --claim results > plan.yaml\n  jobset-sim sweep plan scenario.yaml --engine slurm --shards 50 > sweep.sbatch\n\nNothing is submitted. Without --shards, a few replications are simulated to measure their run time."
    )]
    Plan(Box<SweepPlanArgs>),
}

#[derive(Debug, Args)]
pub struct SweepPlanArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub over: AxisArgs,
    /// System that starts the shards [default: print the size only]
    #[arg(long, value_enum)]
    pub engine: Option<SweepEngine>,
    /// Number of shards [default: shards of about four minutes each, from a timed pilot]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub shards: Option<u64>,
    /// Number of cores per shard
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub cpus: u16,
    /// Directory of the merged result; the shards are written to DIR-shards
    #[arg(long, value_name = "DIR", default_value = "sweep-result", value_parser = one_line)]
    pub out: String,
    /// Name of the Job or job array [default: name of the scenario]
    #[arg(long, value_name = "NAME", value_parser = object_name)]
    pub name: Option<String>,
    /// Container image of the Indexed Job [default: jobset-sim with the tag of this version]
    #[arg(long, value_name = "IMAGE", value_parser = image)]
    pub image: Option<String>,
    /// PersistentVolumeClaim for the results of an Indexed Job
    #[arg(long, value_name = "NAME", default_value = "jobset-sim", value_parser = object_name)]
    pub claim: String,
    /// Do not print notices
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum SweepEngine {
    /// Kubernetes Job with one index per shard
    IndexedJob,
    /// Slurm job array
    Slurm,
    /// Ray driver in Python
    Ray,
    /// GNU parallel, on one machine or over ssh
    Parallel,
}

fn object_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let ends = |c: Option<char>| c.is_some_and(|c| c != '-');
    let fits = text.len() <= 63 && text.chars().all(plain);
    if fits && ends(text.chars().next()) && ends(text.chars().last()) {
        Ok(text.to_owned())
    } else {
        Err("expected at most 63 lower case letters, digits and -".to_owned())
    }
}

/// Parses a directory name without control characters, because scripts contain it in comments.
fn one_line(text: &str) -> Result<String, String> {
    if !text.is_empty() && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err("expected a directory name without line breaks".to_owned())
    }
}

fn image(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "./:@_-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("expected the name of a container image".to_owned())
    }
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Directories of shards, or a directory that contains them
    #[arg(value_name = "DIR", required = true)]
    pub dirs: Vec<PathBuf>,
    /// Write the merged result to this new directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: SweepOutputArgs,
}
