//! Options for output that several commands share: format, colors, output directory.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options for colors and character set.
#[derive(Debug, Args)]
pub struct DisplayStyle {
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
    /// Use ASCII characters only
    #[arg(long)]
    pub ascii: bool,
}

/// Option of commands that print a summary by default.
#[derive(Copy, Clone, Debug, Args)]
pub struct Verbosity {
    /// Print all sections and rows as text [default: a summary]
    #[arg(long)]
    pub verbose: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// Output formats of commands that print tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    Text,
    Json,
    Csv,
    Md,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    Text,
    Json,
}

/// Options for result format, output directory and progress.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Write summary.json, a table, charts and copies of the inputs to this new directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Do not print progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub display: DisplayStyle,
}
