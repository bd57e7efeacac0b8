//! `schema scenario|fleet|topology|timing`: the JSON Schema for editors, or the reference page for people.

use super::args::{SchemaArgs, SchemaFormat, SchemaKind};
use super::{Failure, output};

pub fn cli(args: &SchemaArgs) -> Result<(), Failure> {
    let kind = match args.kind {
        SchemaKind::Scenario => "Scenario",
        SchemaKind::Fleet => "Fleet",
        SchemaKind::Topology => "Topology",
        SchemaKind::Timing => "Timing",
    };
    let none = || Failure::Internal(format!("there is no schema of {kind}"));
    match args.format {
        SchemaFormat::Json => output::json(&sim_inputs::json_schema(kind).ok_or_else(none)?),
        SchemaFormat::Md => output::result(&sim_inputs::reference_page(kind).ok_or_else(none)?),
    }
}
