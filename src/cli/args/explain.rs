//! `explain` and `assumptions`: words, what would be made of a manifest, and defaults.

use super::{Format, Look, ObjectFormat, PlayArgs, TableFormat};
use clap::{Arg, Args, Subcommand, value_parser};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct ExplainArgs {
    /// A word that the program prints or reads, or a topic; without it the topics are listed
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// List all words, a line each
    #[arg(long, conflicts_with = "words")]
    pub list: bool,
    /// Only words of this kind: column, field, rule, option ...
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub look: Look,
    #[command(subcommand)]
    pub command: Option<ExplainCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ExplainCommand {
    /// Print the Jobs, Services, claims and pods that would be created
    #[command(after_help = "Example: jobset-sim explain children -f jobset.yaml")]
    Children(ExplainChildrenArgs),
}

#[derive(Debug, Args)]
pub struct ExplainChildrenArgs {
    /// Manifests: a file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-", required = true)]
    pub manifests: Vec<String>,
    #[arg(long, value_enum, default_value_t = ObjectFormat::Yaml)]
    pub format: ObjectFormat,
    /// JobSet's feature gates, e.g. RestartJob=false,ElasticJobSet=true [default: those that the manifests use]
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',')]
    pub feature_gates: Vec<String>,
}

#[derive(Debug, Args)]
pub struct AssumptionsArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Replications of each value [default: 5]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1_000_000))]
    pub seeds: Option<u64>,
    /// What is looked at [default: goodput of a training job, else restartLatency_s.p50, else end.t_s]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// By how many percent each value is made smaller and larger
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = value_parser!(u8).range(1..=90))]
    pub step: u8,
    /// Only the values: nothing is played
    #[arg(long)]
    pub values: bool,
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Print results only: no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

/// The positional of `PlayArgs`, and it may be absent.
pub fn run_or_scenario() -> Arg {
    Arg::new("scenario")
        .value_name("RUN|SCENARIO")
        .help("A run directory that `run --out` wrote, or a scenario file; without it, and without -f, all defaults are listed")
        .value_parser(value_parser!(PathBuf))
        .conflicts_with_all(["manifests", "topology"])
}
