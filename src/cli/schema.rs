//! `schema scenario|topology`: the JSON Schema for editors.

use super::args::{SchemaArgs, SchemaKind};
use super::{Failure, output};
use crate::manifest;

pub fn cli(args: &SchemaArgs) -> Result<(), Failure> {
    let kind = match args.kind {
        SchemaKind::Scenario => "Scenario",
        SchemaKind::Topology => "Topology",
    };
    let schema = manifest::json_schema(kind)
        .ok_or_else(|| Failure::Internal(format!("there is no schema of {kind}")))?;
    output::json(&schema)
}
