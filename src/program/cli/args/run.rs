//! The command lines of what plays a scenario: `run`, `compare`, `why`, `demo`.

use super::{Format, Look, TableFormat};
use crate::cli::inputs::{fail, variants};
use crate::step::breaks::Break;
use clap::{Args, ValueEnum};
use sim_api::spec::Level;
use std::path::PathBuf;

/// What is played: a scenario, or manifests on a cluster; and what is changed in it.
#[derive(Clone, Debug, Args)]
pub struct PlayArgs {
    /// Scenario file; it names its topology and manifests
    #[arg(required_unless_present_any = ["manifests", "topology"], conflicts_with_all = ["manifests", "topology"])]
    pub scenario: Option<PathBuf>,
    /// Manifests instead of a scenario: a file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-")]
    pub manifests: Vec<String>,
    /// Cluster for the manifests: a file, or a name that `topology list` has [default: one that is just large enough]
    #[arg(short = 't', value_name = "TOPOLOGY", requires = "manifests")]
    pub topology: Option<PathBuf>,
    /// Override any field: of the scenario, e.g. faults.0.afterReady=60s, or of its JobSets, e.g.
    /// spec.failurePolicy.maxRestarts=5; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = super::path_value)]
    pub sets: Vec<(String, String)>,
    /// One failure on top of the scenario: POD:exit=CODE, POD:delete or POD:evict, then @TIME: 10m after the start, or
    /// ready+10m, after every pod was ready [default: ready]; repeatable
    #[arg(long = "fail", value_name = "POD:exit=CODE@TIME", value_parser = fail::parse)]
    pub fails: Vec<fail::Fail>,
    /// Seed of every random number [default: the scenario's]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Number of worker threads (does not affect results) [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Level of detail of replications: every pod, or the reduced model of one JobSet with measured restart times
    /// (docs/collapsed.md) [default: that of the experiment, else pods]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub level: Option<LevelArg>,
}

/// How much detail replications have.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// Every pod
    Pods,
    /// The reduced model
    Collapsed,
}

impl PlayArgs {
    /// How much detail is asked for, if it is said.
    pub fn level(&self) -> Option<Level> {
        self.level.map(|level| match level {
            LevelArg::Pods => Level::Pods,
            LevelArg::Collapsed => Level::Collapsed,
        })
    }

    /// As many threads, or 0 for one per core.
    pub fn threads(&self) -> usize {
        self.threads.map_or(0, usize::from)
    }
}

#[derive(Debug, Args)]
pub struct StepArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Stop at a kind of record, e.g. PodFinished, RestartCounted.restarts=2, jobset.condition=RestartingJobSet;
    /// repeatable
    #[arg(long = "break", value_name = "KIND[.MEMBER=VALUE]")]
    pub breaks: Vec<Break>,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Run N replications and report quantiles and intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub seeds: Option<u64>,
    /// Run N replications (20 without --seeds) at both levels with the same faults and compare them; exit code 5 if
    /// restarts or goodput differ by more than the bounds (docs/collapsed.md)
    #[arg(long, conflicts_with_all = ["show_effective", "out", "fail_if", "paranoid"])]
    pub check_collapsed: bool,
    /// Print the JobSets as the API server stores them, with all defaults, and do not run
    #[arg(long)]
    pub show_effective: bool,
    /// Write the run directory here; it must not exist yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Output format; csv and md print restarts; with --seeds, csv prints one row per replication and md the estimates
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Print results only: no notices, no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
    /// Exit with code 5 if this is true, e.g. 'restartLatency_s.max > 2m'; repeatable (docs/fail-if.md)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Run twice, compare the digests, and check that the ledger closes
    #[arg(long)]
    pub paranoid: bool,
    /// Records and decisions to write
    #[arg(long, value_enum, default_value_t = Trace::Events)]
    pub trace: Trace,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Additional variant; repeatable
    #[arg(long = "variant", value_name = "NAME: PATH=VALUE, ...", value_parser = variants::parse_variant)]
    pub variants: Vec<variants::VariantArg>,
    /// One variant for each of these restart strategies: all, or e.g. Recreate,InPlaceRestart
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub strategies: Vec<String>,
    /// Replications of each variant; with --until the maximum [default: that of the experiment, else 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    /// Add replications until the 95 % interval of the metric's mean is within ±SHARE in every variant, e.g.
    /// 'restartLatency_s.p50 ±1%'
    #[arg(long, value_name = "METRIC ±SHARE%", value_parser = variants::parse_until)]
    pub until: Option<variants::Until>,
    /// Exit with code 5 if this is true, e.g. 'restartLatency_s.p50 > +5%'; repeatable (docs/fail-if.md)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Write summary.json, replications.csv and the inputs here; it must not exist yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Print results only: no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct WhyArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Number of the restart, as `run` prints it [default: an unfinished restart, else the longest]
    #[arg(long, value_name = "N", conflicts_with = "pod")]
    pub restart: Option<usize>,
    /// Pod to explain, by its name without the random suffix
    #[arg(long, value_name = "POD")]
    pub pod: Option<String>,
    /// Print the critical path only, without what-ifs
    #[arg(long)]
    pub path_only: bool,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Directory for the charts and both runs [default: jobset-sim-demo, or the next free jobset-sim-demo-2, -3 ...]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Output format; json prints the summaries of both runs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Trace {
    /// No events.ndjson
    None,
    /// Every record, in events.ndjson
    Events,
    /// Also the decisions of each controller, printed instead of the report and in decisions.log
    Decisions,
}
