//! `run`: one run of a scenario, its report as text or JSON, and its run directory.

pub mod args;
mod check_level;
mod effective;
mod fleet;
mod kueue_load;
mod seeds;
pub mod simulate;

use crate::cli::args::TableFormat;
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{ExperimentInput, LoadedInput, fail_if, note_not_modelled};
use crate::cli::run::args::{RunArgs, TraceFormat};
use crate::cli::run::simulate::{FinishedRun, RunInput};
use crate::cli::{interrupt, output};
use sim_analysis::experiment;
use sim_analysis::experiment::fail_if::ConditionGroup;
use sim_analysis::experiment::{NotVerified, ReplicationResult};
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::assumed;
use sim_analysis::metrics::summary::RunSummary;
use sim_api::spec::ModelLevel;
use sim_base::condition::FieldCondition;
use sim_base::escape::for_markdown;
use sim_report::console::text;
use sim_report::files::csv;
use sim_report::files::rundir::RunDir;

pub fn cli(args: &RunArgs) -> Result<(), CommandFailure> {
    if let Some(source) = kueue_load::source(args) {
        return kueue_load::cli(args, &source);
    }
    let input = ExperimentInput::read(&args.input)?;
    let loaded = match input.load(&[])? {
        LoadedInput::Fleet(loaded) => return fleet::cli(args, &input, &loaded),
        LoadedInput::Pods(loaded) => RunInput::of_run(&input, *loaded, args),
    };
    if args.show_effective {
        return effective::cli(args.format, &loaded);
    }
    if args.trace == TraceFormat::Decisions && is_table(args.format) {
        bail!("--trace decisions supports --format text and json only");
    }
    if args.explain_placement && (args.format != TableFormat::Text || loaded.level == ModelLevel::Nodes) {
        bail!("--explain-placement needs a run with pods and --format text; `why --format json` has the same data");
    }
    let conditions = fail_if::read(&args.fail_if)?;
    fail_if::absolute(&conditions)?;
    let names = experiment::metric_names(&loaded.scenario);
    fail_if::check_names(&conditions, &[ConditionGroup::from_names("", names)])?;
    if !args.quiet {
        notices(&loaded, args);
    }
    if args.check_level {
        return check_level::cli(args, &loaded);
    }
    // Level nodes has no single run with pods to report, so its first replication is reported.
    if args.seeds.is_some() || loaded.level == ModelLevel::Nodes {
        if args.paranoid && args.seeds.is_none() {
            bail!("--paranoid needs a run with pods: add --level pods");
        }
        if args.trace == TraceFormat::Decisions {
            bail!("--trace decisions needs a single run: remove --seeds, or choose a run with --seed");
        }
        return seeds::cli(args, &loaded, &conditions);
    }
    let limits = interrupt::limits();
    // Created before the run, so that no run is lost if the directory cannot be written.
    let dir = args.out.as_deref().map(RunDir::create).transpose()?;
    let done = simulate::play(&loaded, &limits, dir.as_ref(), (args.trace, args.explain_placement))?;
    let view = done.view(&loaded);
    if args.paranoid {
        let mut again = simulate::simulation(&loaded)?;
        experiment::verify(&mut again, &view, &limits).map_err(|why| match why {
            NotVerified::Stopped => interrupt::failure("no results were kept"),
            NotVerified::Differs(text) => CommandFailure::Internal(text),
        })?;
    }
    if let (Some(dir), Some((log, ndjson))) = (&dir, &done.decisions) {
        dir.write("decisions.log", log.as_bytes())?;
        dir.write("decisions.ndjson", ndjson)?;
    }
    let target = dir.map(|dir| simulate::keep(dir, &view, &loaded)).transpose()?;
    print_result(args, &view, &done, target.as_deref())?;
    // Whether pods can never be placed is known only after the run.
    match view.never_placed() {
        Some(why) => Err(CommandFailure::CannotBePlaced(why)),
        None if conditions.is_empty() => Ok(()),
        None => gates(&conditions, &view),
    }
}

fn gates(conditions: &[FieldCondition], view: &RunView<'_>) -> Result<(), CommandFailure> {
    let jobsets: Vec<String> = view.names.jobsets.iter().map(|j| j.name.clone()).collect();
    let group = ConditionGroup::evaluate("", &jobsets, &[ReplicationResult::from_run(view, 0)]);
    fail_if::check(conditions, &[group])
}

fn print_result(
    args: &RunArgs, view: &RunView<'_>, done: &FinishedRun, target: Option<&str>,
) -> Result<(), CommandFailure> {
    let style = output::report_style(&args.display, args.verbosity);
    match (&done.decisions, args.format) {
        (Some((_, ndjson)), TableFormat::Json) => output::bytes(ndjson),
        (Some((log, _)), _) => output::styled(&text::decisions(view, log, target, &style), &style),
        (None, TableFormat::Json) => output::json(&RunSummary::from_run(view)),
        (None, TableFormat::Csv) => output::bytes(&csv::restarts(view).csv()),
        (None, TableFormat::Md) => {
            let table = if view.restarts().is_empty() {
                "No restarts.\n".to_owned()
            } else {
                csv::restarts(view).without_empty_columns().markdown()
            };
            let (name, seed) = (for_markdown(&view.scenario.name), view.seed);
            output::result(&format!("Restarts of {name}, seed {seed}\n\n{table}"))
        }
        (None, TableFormat::Text) => output::styled(&text::run(view, target, &style), &style),
    }
}

fn is_table(format: TableFormat) -> bool {
    matches!(format, TableFormat::Csv | TableFormat::Md)
}

fn notices(loaded: &RunInput, args: &RunArgs) {
    // The text report of a single run already contains the note.
    if args.format != TableFormat::Text || args.seeds.is_some() {
        let assumed = assumed::containers(&loaded.scenario);
        if let Some(hint) = &assumed.hint {
            let assumptions_text = assumed.sentences().join("; ");
            output::note(&format!("note: {assumptions_text}; {hint}"));
        }
        if let Some(composition) = loaded.scenario.topology.composition() {
            output::note(&format!("note: cluster generated for the JobSets: {composition}"));
        }
    }
    if is_table(args.format) {
        note_not_modelled(&loaded.not_modelled);
    }
    if !loaded.skipped.is_empty() {
        output::note(&format!("not simulated: {}", loaded.skipped.join(", ")));
    }
}
