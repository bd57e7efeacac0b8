//! Command line of `explain`.

use crate::cli::args::{DisplayStyle, OutputFormat};
use crate::cli::explain::manifest_children::ExplainChildrenArgs;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct ExplainArgs {
    /// Term of the output or the inputs [default: print an overview]
    #[arg(value_name = "TERM")]
    pub words: Vec<String>,
    /// List all terms, one per line
    #[arg(long, conflicts_with = "words")]
    pub list: bool,
    /// List or explain only terms of this kind: column, field, rule, option ...
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    #[command(flatten)]
    pub display: DisplayStyle,
    #[command(subcommand)]
    pub command: Option<ExplainCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ExplainCommand {
    /// Print the Jobs, Services, claims and pods created for a manifest
    #[command(after_help = "Example: jobset-sim explain children -f jobset.yaml")]
    Children(ExplainChildrenArgs),
}
