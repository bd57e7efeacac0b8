//! The command line of `explain`.

use super::{Format, Look, ObjectFormat};
use clap::{Arg, Args, Subcommand, value_parser};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct ExplainArgs {
    /// Word that the program prints or reads, or topic [default: list the topics]
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// List all words, one per line
    #[arg(long, conflicts_with = "words")]
    pub list: bool,
    /// List or explain words of this kind only: column, field, rule, option ...
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
    /// Print the Jobs, Services, claims and pods created for a manifest
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

/// The positional of `PlayArgs` for commands that work without it.
pub fn run_or_scenario() -> Arg {
    Arg::new("scenario")
        .value_name("RUN|SCENARIO")
        .help("Run directory that `run --out` wrote, or scenario file; without it and without -f all defaults are listed")
        .value_parser(value_parser!(PathBuf))
        .conflicts_with_all(["manifests", "topology"])
}
