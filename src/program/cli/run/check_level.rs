//! `run --check-level`: compares replications of both levels of detail with the same faults.

use crate::cli::{interrupt, output};
use crate::{cli::args::TableFormat, cli::failure::CommandFailure, cli::inputs::node_level};
use crate::{cli::output::ProgressLine, cli::run::args::RunArgs, cli::run::simulate::RunInput};
use sim_analysis::experiment::check_levels;
use sim_report::console::check_level::LevelCheck;

/// Default number of replications.
const REPLICATIONS: u64 = 20;

pub fn cli(args: &RunArgs, loaded: &RunInput) -> Result<(), CommandFailure> {
    let n = args.seeds.unwrap_or(REPLICATIONS);
    let nodes = node_level::measured(&loaded.scenario, args.quiet)?;
    let limits = interrupt::limits();
    let text = |done| format!("{done}/{n} replications at both levels");
    let progress = ProgressLine::new(args.quiet, text);
    let reach = |done| progress.reach(done);
    let threads = args.input.threads();
    let all = check_levels(&nodes, (loaded.seed, n), (threads, &limits), &reach)?;
    drop(progress);
    let checked = LevelCheck::from_checks(&nodes, loaded.seed, &all);
    match args.format {
        TableFormat::Json => output::json(&checked)?,
        TableFormat::Csv => output::bytes(&checked.table().csv())?,
        TableFormat::Md => output::result(&checked.table().without_empty_columns().markdown())?,
        TableFormat::Text => {
            let style = output::report_style(&args.display, args.verbosity);
            output::styled(&checked.text(&style), &style)?;
        }
    }
    if (all.len() as u64) < n {
        let kept = format!("{} of {n} replications were checked", all.len());
        return Err(interrupt::failure(&kept));
    }
    checked.failure().map_or(Ok(()), |why| Err(CommandFailure::Gate(why)))
}
