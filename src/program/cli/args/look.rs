//! What many command lines share: formats, how text looks, `PATH=VALUE`.

use clap::{Args, ValueEnum};

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

pub fn path_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((path, value)) if !path.is_empty() => Ok((path.to_owned(), value.to_owned())),
        _ => Err("write PATH=VALUE, e.g. controlPlane.preset=stock".to_owned()),
    }
}
