//! `schema scenario|fleet|topology|timing`: prints the JSON Schema for editors, or the reference page.

use crate::{cli::failure::CommandFailure, cli::output};

#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    #[arg(value_enum)]
    pub kind: SchemaKind,
    /// Output format: JSON Schema or reference page
    #[arg(long, value_enum, default_value = "json")]
    pub format: SchemaFormat,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SchemaKind {
    Scenario,
    /// Format of Fleet files
    Fleet,
    Topology,
    /// Field `timing` of a scenario
    Timing,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SchemaFormat {
    Json,
    Md,
}

pub fn cli(args: &SchemaArgs) -> Result<(), CommandFailure> {
    let kind = match args.kind {
        SchemaKind::Scenario => "Scenario",
        SchemaKind::Fleet => "Fleet",
        SchemaKind::Topology => "Topology",
        SchemaKind::Timing => "Timing",
    };
    let none = || CommandFailure::Internal(format!("no schema for {kind}"));
    match args.format {
        SchemaFormat::Json => output::json(&sim_inputs::json_schema(kind).ok_or_else(none)?),
        SchemaFormat::Md => output::result(&sim_inputs::reference_page(kind).ok_or_else(none)?),
    }
}
