//! `run --seeds N`: replications, their report as text or JSON, and their directory.

use crate::cli::inputs::{fail_if, node_level};
use crate::cli::{interrupt, output};
use crate::{cli::args::TableFormat, cli::failure::CommandFailure, cli::output::ProgressLine, cli::run::args::RunArgs};
use crate::{cli::run::simulate, cli::run::simulate::RunInput};
use sim_analysis::experiment::fail_if::ConditionGroup;
use sim_analysis::experiment::{
    ExperimentSubject, LimitSink, ReplicationLimits, ReplicationResult, ReplicationSet, SimulatedReplication,
    never_placed, simulate_replication,
};
use sim_analysis::metrics::MetricFolds;
use sim_api::spec::ModelLevel;
use sim_base::Duration;
use sim_base::condition::FieldCondition;
use sim_base::escape::for_markdown;
use sim_engine::SimulationInput;
use sim_engine::record::EndReason;
use sim_report::console::replications;
use sim_report::files::rundir::RunDir;

pub fn cli(args: &RunArgs, loaded: &RunInput, conditions: &[FieldCondition]) -> Result<(), CommandFailure> {
    let n = args.seeds.unwrap_or(1);
    let limits = interrupt::limits();
    let dir = args.out.as_deref().map(RunDir::create).transpose()?;
    let level = loaded.level;
    let subject = subject(args, loaded, level)?;
    // The report takes object names from the first replication, and input errors occur before the threads start.
    let first = first(loaded, level, &limits)?;
    let progress = ProgressLine::new(args.quiet, |done| format!("{done}/{n} replications"));
    let reach = |done| progress.reach(1 + done);
    let threads = args.input.threads();
    // At level `pods` the first replication is already simulated.
    let from = u64::from(level == ModelLevel::Pods);
    let rest = subject.replicate((loaded.seed, from..n), (threads, &limits), &reach)?;
    drop(progress);
    let view = first.view(loaded.seed, &loaded.not_modelled);
    let mut rows = Vec::new();
    rows.extend((from > 0).then(|| ReplicationResult::from_run(&view, 0)));
    rows.extend(rest);
    let mut all = ReplicationSet::from_results(&view, &rows);
    let finished = rows.len() as u64;
    let mark = interrupt::mark((&mut all.interrupted, &mut all.warnings), (finished, n));
    if let Some(dir) = dir {
        keep(dir, (&all, &rows), loaded, &mark)?;
    }
    print_result(args, &all, &rows)?;
    if all.interrupted {
        let kept = format!("{finished} of {n} replications were finished and are reported");
        return Err(interrupt::failure(&kept));
    }
    match never_placed(rows.iter().map(|r| r.never_placed.as_deref())) {
        Some(why) => Err(CommandFailure::CannotBePlaced(why)),
        None if conditions.is_empty() => Ok(()),
        None => {
            let jobsets: Vec<String> = view.names.jobsets.iter().map(|j| j.name.clone()).collect();
            fail_if::check(conditions, &[ConditionGroup::evaluate("", &jobsets, &rows)])
        }
    }
}

fn subject(args: &RunArgs, loaded: &RunInput, level: ModelLevel) -> Result<ExperimentSubject, CommandFailure> {
    Ok(match level {
        ModelLevel::Nodes => ExperimentSubject::Nodes(node_level::measured(&loaded.scenario, args.quiet)?),
        ModelLevel::Pods => ExperimentSubject::Pods {
            scenario: Box::new(loaded.scenario.clone()),
            not_modelled: loaded.not_modelled.clone(),
        },
    })
}

/// Simulates the first replication with the same folds as the others. At level `nodes`, simulates only the
/// first second of it, to obtain the object names.
fn first(
    loaded: &RunInput, level: ModelLevel, limits: &ReplicationLimits,
) -> Result<SimulatedReplication, CommandFailure> {
    let mut sim = match level {
        ModelLevel::Pods => simulate::simulation(loaded)?,
        ModelLevel::Nodes => {
            let mut scenario = loaded.scenario.clone();
            scenario.fault_processes.clear();
            scenario.node_spares = None;
            scenario.stop.at = Duration::from_secs(1);
            SimulationInput::new(&scenario)?
        }
    };
    let folds = MetricFolds::new(sim.scenario(), false).without_paths();
    let (replication, _) = simulate_replication(&mut sim, (loaded.seed, 0), folds, LimitSink::sink(limits));
    match replication.outcome.end_reason {
        EndReason::Stopped => Err(interrupt::failure("no replication was finished")),
        _ => Ok(replication),
    }
}

fn print_result(args: &RunArgs, all: &ReplicationSet, rows: &[ReplicationResult]) -> Result<(), CommandFailure> {
    match args.format {
        TableFormat::Json => output::json(all),
        TableFormat::Csv => output::bytes(&replications::table(all, rows).csv()),
        TableFormat::Md => {
            let table = replications::estimates_table(all).without_empty_columns().with_short_numbers().markdown();
            let (scenario, n) = (for_markdown(&all.scenario), all.replications);
            output::result(&format!("{scenario}, {n} replications of seed {}\n\n{table}", all.seed))
        }
        TableFormat::Text => {
            let style = output::report_style(&args.display, args.verbosity);
            output::styled(&replications::text(all, &style), &style)
        }
    }
}

fn keep(
    dir: RunDir, (all, rows): (&ReplicationSet, &[ReplicationResult]), loaded: &RunInput, mark: &str,
) -> Result<(), CommandFailure> {
    dir.write_json("summary.json", all)?;
    dir.write("replications.csv", &replications::table(all, rows).csv())?;
    dir.write_inputs(&loaded.inputs.files, &format!("{}{mark}", loaded.inputs.command))?;
    dir.commit()?;
    Ok(())
}
