//! What many command lines share: formats, how text looks, `PATH=VALUE`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How text looks.
#[derive(Debug, Args)]
pub struct Look {
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// The formats of results that are tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    Text,
    Json,
    Csv,
    Md,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// Output options.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Write summary.json, a table, charts and the inputs here; it must not exist yet
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
