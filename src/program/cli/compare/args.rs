//! Command line of `compare`.

use crate::cli::args::{DisplayStyle, InputArgs, TableFormat, TimeLimit, VariantArg, Verbosity};
use crate::cli::args::{parse_until, parse_variant};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Add a variant (repeatable)
    #[arg(long = "variant", value_name = "NAME: PATH=VALUE, ...", value_parser = parse_variant)]
    pub variants: Vec<VariantArg>,
    /// Add a variant for each of these restart strategies: all, or e.g. Recreate,InPlaceRestart
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub strategies: Vec<String>,
    /// Number of replications per variant; with --until the maximum [default: that of the experiment, else 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    /// Add replications until the 95 % interval of the metric's mean is within ±SHARE in every variant, e.g.
    /// 'restartLatency_s.p50 ±1%'
    #[arg(long, value_name = "METRIC ±SHARE%", value_parser = parse_until)]
    pub until: Option<TimeLimit>,
    /// Exit with code 5 if this condition is true, e.g. 'restartLatency_s.p50 > +5%' (repeatable, docs/compare.md)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Write summary.json, replications.csv and copies of the inputs to this new directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Metrics to print in full, e.g. goodput,cost.total [default: one table of the main metrics]
    #[arg(long = "metric", value_name = "NAMES", value_delimiter = ',', conflicts_with = "verbose")]
    pub metrics: Vec<String>,
    /// Same as --verbose
    #[arg(long, conflicts_with = "metrics", hide = true)]
    pub all: bool,
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Do not print progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub display: DisplayStyle,
    /// Only these replications of these variants, for the directory of an interrupted comparison; empty: all.
    #[arg(skip)]
    pub held: Vec<(String, u64)>,
}
