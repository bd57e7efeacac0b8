//! Command line of `run`.

use crate::cli::args::{DisplayStyle, InputArgs, TableFormat, Verbosity};
use crate::cli::inputs::node_level::CHECK_TIME;
use clap::{Args, ValueEnum};
use sim_base::Duration;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Run N replications and report quantiles and confidence intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub seeds: Option<u64>,
    /// Run N replications (20 without --seeds) at both levels of detail with the same faults and compare them; exit
    /// with code 5 if they differ (docs/levels.md)
    #[arg(long, conflicts_with_all = ["show_effective", "out", "fail_if", "paranoid", "trace"])]
    pub check_level: bool,
    /// Stop --check-level after this time on the clock, and compare the replications that are finished by then
    #[arg(long, value_name = "DURATION", default_value = CHECK_TIME, requires = "check_level")]
    pub time_limit: Duration,
    /// Print the JobSets as stored by the API server, with all defaults, and do not run
    #[arg(long, conflicts_with_all = ["out", "seeds", "fail_if", "paranoid", "trace"])]
    pub show_effective: bool,
    /// Write the run to this new directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Output format; csv and md print restarts; with --seeds, csv prints one row per replication and md the estimates
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Do not print notices or progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub display: DisplayStyle,
    /// Exit with code 5 if this condition is true, e.g. 'restartLatency_s.max > 2m' (repeatable, docs/compare.md)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Run twice, compare the digests, and check that the time ledger adds up
    #[arg(long)]
    pub paranoid: bool,
    /// Print for each pod without a node at the end which plugin rejects which nodes, and the smallest change that
    /// admits it
    #[arg(long, conflicts_with_all = ["seeds", "check_level", "show_effective"])]
    pub explain_placement: bool,
    /// Records and decisions to write
    #[arg(long, value_enum, default_value_t = TraceFormat::Events)]
    pub trace: TraceFormat,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// Do not write events.ndjson
    None,
    /// Write all records to events.ndjson
    Events,
    /// Also write the decisions of all controllers to decisions.log, and print them instead of the report
    Decisions,
}
