//! `run --seeds N`: replications, their report as text or JSON, and their directory.

use crate::cli::args::TableFormat;
use crate::cli::failure::Failure;
use crate::cli::inputs::{fail_if, reduced_model};
use crate::cli::output::ProgressLine;
use crate::cli::run::args::RunArgs;
use crate::cli::run::simulate;
use crate::cli::run::simulate::RunInput;
use crate::cli::{interrupt, output};
use sim_analysis::experiment::fail_if::Group;
use sim_analysis::experiment::{
    Limited, Limits, Played, Replication, Replications, Subject, never_placed, play,
};
use sim_analysis::metrics::Folds;
use sim_api::spec::Level;
use sim_base::Duration;
use sim_base::condition::Condition;
use sim_base::plain::for_markdown;
use sim_engine::Simulation;
use sim_engine::record::EndReason;
use sim_report::console::replications;
use sim_report::files::rundir::RunDir;

pub fn cli(args: &RunArgs, loaded: &RunInput, conditions: &[Condition]) -> Result<(), Failure> {
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
    let from = u64::from(level == Level::Pods);
    let rest = subject.replicate((loaded.seed, from..n), (threads, &limits), &reach)?;
    drop(progress);
    let view = first.view(loaded.seed, &loaded.not_modelled);
    let mut rows = Vec::new();
    rows.extend((from > 0).then(|| Replication::of(&view, 0)));
    rows.extend(rest);
    let all = Replications::of(&view, &rows);
    if let Some(dir) = dir {
        keep(dir, &all, &rows, loaded)?;
    }
    print_result(args, &all, &rows)?;
    let finished = rows.len();
    if (finished as u64) < n {
        let kept = format!("{finished} of {n} replications are finished, and these are reported");
        return Err(interrupt::failure(&kept));
    }
    match never_placed(rows.iter().map(|r| r.never_placed.as_deref())) {
        Some(why) => Err(Failure::CannotBePlaced(why)),
        None if conditions.is_empty() => Ok(()),
        None => {
            let jobsets: Vec<String> = view.names.jobsets.iter().map(|j| j.name.clone()).collect();
            fail_if::check(conditions, &[Group::of("", &jobsets, &rows)])
        }
    }
}

fn subject(args: &RunArgs, loaded: &RunInput, level: Level) -> Result<Subject, Failure> {
    Ok(match level {
        Level::Collapsed => {
            Subject::Collapsed(reduced_model::measured(&loaded.scenario, args.quiet)?)
        }
        Level::Pods => Subject::Pods {
            scenario: Box::new(loaded.scenario.clone()),
            not_modelled: loaded.not_modelled.clone(),
        },
    })
}

/// Simulates the first replication with the same folds as the others. With the reduced model, simulates only the
/// first second of it, to obtain the object names.
fn first(loaded: &RunInput, level: Level, limits: &Limits) -> Result<Played, Failure> {
    let mut sim = match level {
        Level::Pods => simulate::simulation(loaded)?,
        Level::Collapsed => {
            let mut scenario = loaded.scenario.clone();
            scenario.fault_processes.clear();
            scenario.node_spares = None;
            scenario.stop.at = Duration::from_secs(1);
            Simulation::new(&scenario)?
        }
    };
    let folds = Folds::new(sim.scenario(), false).without_paths();
    let (played, _) = play(&mut sim, (loaded.seed, 0), folds, Limited::by(limits));
    match played.outcome.end_reason {
        EndReason::Stopped => Err(interrupt::failure("no replication is finished")),
        _ => Ok(played),
    }
}

fn print_result(args: &RunArgs, all: &Replications, rows: &[Replication]) -> Result<(), Failure> {
    match args.format {
        TableFormat::Json => output::json(all),
        TableFormat::Csv => output::bytes(&replications::table(all, rows).csv()),
        TableFormat::Md => {
            let table = replications::estimates_table(all)
                .without_empty_columns()
                .markdown();
            let (scenario, n) = (for_markdown(&all.scenario), all.replications);
            output::result(&format!(
                "{scenario}, {n} replications of seed {}\n\n{table}",
                all.seed
            ))
        }
        TableFormat::Text => {
            let style = output::style(&args.look);
            output::styled(&replications::text(all, &style), &style)
        }
    }
}

fn keep(
    dir: RunDir,
    all: &Replications,
    rows: &[Replication],
    loaded: &RunInput,
) -> Result<(), Failure> {
    dir.write_json("summary.json", all)?;
    dir.write("replications.csv", &replications::table(all, rows).csv())?;
    dir.write_inputs(&loaded.inputs.files, &loaded.inputs.command)?;
    dir.commit()?;
    Ok(())
}
