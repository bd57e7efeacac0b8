//! Command line of `diff`.

use crate::cli::args::{DisplayStyle, OutputFormat};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Run directory written by `run --out`
    #[arg(value_name = "RUN")]
    pub a: PathBuf,
    /// Second run directory (may be from another version of the program), or recording of a real control plane
    #[arg(value_name = "RUN|RECORDING")]
    pub b: PathBuf,
    /// Exit with code 5 if this condition is true, e.g. 'diff.records > 0' (repeatable)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    #[command(flatten)]
    pub display: DisplayStyle,
}
