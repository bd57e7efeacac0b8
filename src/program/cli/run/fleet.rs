//! `run` for a fleet file: its replications.

use crate::cli::inputs::{ExperimentInput, copy_scenario, experiment_input, fail_if};
use crate::cli::run::args::{RunArgs, TraceFormat};
use crate::cli::{interrupt, output};
use crate::{cli::args::TableFormat, cli::failure::CommandFailure, cli::output::ProgressLine};
use sim_analysis::experiment;
use sim_analysis::experiment::fail_if::ConditionGroup;
use sim_analysis::experiment::{FleetReplications, ReplicationResult, compared};
use sim_inputs::LoadedFleet;
use sim_report::console::fleets;
use sim_report::files::rundir::RunDir;

pub fn cli(args: &RunArgs, input: &ExperimentInput, loaded: &LoadedFleet) -> Result<(), CommandFailure> {
    refuse(args)?;
    let conditions = fail_if::read(&args.fail_if)?;
    fail_if::absolute(&conditions)?;
    let fleet = &loaded.fleet;
    let names = ConditionGroup::from_names("", experiment::fleet_metric_names(fleet));
    fail_if::check_names(&conditions, &[names])?;
    let limits = interrupt::limits();
    let dir = args.out.as_deref().map(RunDir::create).transpose()?;
    let (seed, n) = (args.input.seed.unwrap_or(fleet.seed), args.seeds.unwrap_or(1));
    let progress = ProgressLine::new(args.quiet, |done| format!("{done}/{n} replications"));
    let threads = args.input.threads();
    let play =
        |reach: &(dyn Fn(u64) + Sync)| experiment::replicate_fleet(fleet, (seed, 0..n), (threads, &limits), reach);
    let rows = play(&|done| progress.reach(done))?;
    drop(progress);
    if rows.is_empty() {
        return Err(interrupt::failure("no replication was finished"));
    }
    let summarize = |rows: &[_]| FleetReplications::from_replications((fleet, &loaded.parameters), seed, rows);
    let mut all = summarize(&rows);
    let mark = interrupt::mark((&mut all.interrupted, &mut all.warnings), (rows.len() as u64, n));
    // The digests are compared only if no run was interrupted; an interruption is reported as such.
    if args.paranoid && !all.interrupted {
        let again = play(&|_| {})?;
        if again.len() < rows.len() {
            return Err(interrupt::failure("no results were kept"));
        }
        if summarize(&again).digest != all.digest {
            let text = "two runs of the same fleet have different digests";
            return Err(CommandFailure::Internal(text.to_owned()));
        }
    }
    if let Some(dir) = dir {
        dir.write_json("summary.json", &all)?;
        dir.write("replications.csv", &fleets::csv(seed, &rows))?;
        let kept = copy_scenario(&loaded.inputs, &input.options((seed, args.seeds)));
        dir.write_inputs(&kept.files, &(kept.command + &mark))?;
        dir.commit()?;
    }
    match args.format {
        TableFormat::Json => output::json(&all)?,
        TableFormat::Csv => output::bytes(&fleets::csv(seed, &rows))?,
        TableFormat::Md => {
            output::result(&fleets::table(seed, &rows).without_empty_columns().with_short_numbers().markdown())?
        }
        TableFormat::Text => {
            let style = output::report_style(&args.display, args.verbosity);
            output::styled(&fleets::text(&all, &style), &style)?;
        }
    }
    if all.interrupted {
        let kept = format!("{} of {n} replications were finished and are reported", rows.len());
        return Err(interrupt::failure(&kept));
    }
    if conditions.is_empty() {
        return Ok(());
    }
    let rows: Vec<ReplicationResult> = (0..).zip(&rows).map(|(i, row)| compared(row, i)).collect();
    fail_if::check(&conditions, &[ConditionGroup::evaluate("", &[], &rows)])
}

/// Returns an error for options that need pods.
fn refuse(args: &RunArgs) -> Result<(), CommandFailure> {
    let option = match args {
        a if a.check_level => "--check-level",
        a if a.show_effective => "--show-effective",
        a if a.trace == TraceFormat::Decisions => "--trace decisions",
        _ => return Ok(()),
    };
    Err(experiment_input::needs_pods(option))
}
