//! `run --check-level`: compares replications of both levels of detail with the same faults.

use crate::cli::inputs::node_level::{self, CheckedReplications};
use crate::cli::{interrupt, output};
use crate::{cli::args::TableFormat, cli::failure::CommandFailure};
use crate::{cli::run::args::RunArgs, cli::run::simulate::RunInput};

/// Default number of replications.
const REPLICATIONS: u64 = 20;

pub fn cli(args: &RunArgs, loaded: &RunInput) -> Result<(), CommandFailure> {
    let n = args.seeds.unwrap_or(REPLICATIONS);
    let nodes = node_level::measured(&loaded.scenario, args.quiet)?;
    let which = CheckedReplications { seed: loaded.seed, n, threads: args.input.threads(), limit: args.time_limit };
    let checked = which.check(&nodes, args.quiet)?;
    match args.format {
        TableFormat::Json => output::json(&checked)?,
        TableFormat::Csv => output::bytes(&checked.table().csv())?,
        TableFormat::Md => output::result(&checked.table().without_empty_columns().markdown())?,
        TableFormat::Text => {
            let style = output::report_style(&args.display, args.verbosity);
            output::styled(&checked.text(&style), &style)?;
        }
    }
    if interrupt::limits().flag.is_raised() {
        return Err(interrupt::failure(&which.kept(&checked)));
    }
    checked.failure().map_or(Ok(()), |why| Err(CommandFailure::Gate(why)))
}
