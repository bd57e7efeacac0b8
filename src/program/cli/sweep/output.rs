//! Output of a sweep: results on standard output and files of its directory.

use crate::cli::failure::{CommandFailure, check_metric};
use crate::cli::sweep::request::SweepRequest;
use crate::{cli::args::TableFormat, cli::inputs::fail_if, cli::output, cli::sweep::args::SweepOutputArgs};
use serde::Serialize;
use sim_analysis::experiment::fail_if::ConditionGroup;
use sim_analysis::experiment::never_placed;
use sim_analysis::sweep::{
    FinishedPoints, SweepIdentity, SweepPoints, SweepResults, SweepShard, SweepSummary, WorkTarget,
};
use sim_base::condition::FieldCondition;
use sim_report::console::sweep;
use sim_report::figures::sweep_figure;
use sim_report::figures::sweep_figure::SweptMetric;
use sim_report::files::rundir::RunDir;
use sim_report::files::sweep_tables;

/// Content of `summary.json` and of `--format json`.
#[derive(Serialize)]
struct SweepOutputSummary {
    #[serde(flatten)]
    summary: SweepSummary,
    /// First sentence of the text report.
    conclusion: String,
}

impl SweepOutputSummary {
    fn new(identity: &SweepIdentity, results: &SweepResults, request: &[String]) -> SweepOutputSummary {
        let conclusion = sweep::conclusion(results, request);
        SweepOutputSummary { summary: SweepSummary::new(identity, results), conclusion }
    }
}

/// Parses the conditions of `--fail-if` before anything is simulated.
pub fn conditions(args: &SweepOutputArgs) -> Result<Vec<FieldCondition>, CommandFailure> {
    fail_if::read(&args.fail_if)
}

/// Returns an error for unknown names in conditions; all points have the metrics of the first one.
pub fn check_names(conditions: &[FieldCondition], sweep: &SweepRequest) -> Result<(), CommandFailure> {
    if conditions.is_empty() {
        return Ok(());
    }
    let names = sweep.load(0)?.metric_names();
    let group = |point: usize| ConditionGroup::from_names(&point.to_string(), names.clone());
    fail_if::check_names(conditions, &(0..sweep.points.count()).map(group).collect::<Vec<_>>())
}

/// Returns an error if no pod was placed at any point, and checks the conditions at all points.
pub fn gates(conditions: &[FieldCondition], results: &SweepResults) -> Result<(), CommandFailure> {
    let rows = (0..results.points().count()).flat_map(|point| results.rows(point));
    if let Some(why) = never_placed(rows.map(|r| r.never_placed.as_deref())) {
        return Err(CommandFailure::CannotBePlaced(why));
    }
    let group = |point: usize| {
        let of = |name: &String| {
            let column = results.column(point, name);
            let values: Vec<_> = column.iter().map(|m| (name.clone(), *m)).collect();
            values
        };
        let title = format!("point {point} ({})", results.points().name(point));
        let all = results.names().iter().flat_map(of);
        ConditionGroup::from_values(&point.to_string(), &title, all)
    };
    if conditions.is_empty() {
        return Ok(());
    }
    let groups: Vec<ConditionGroup> = (0..results.points().count()).map(group).collect();
    fail_if::check(conditions, &groups)
}

pub fn results(args: &SweepOutputArgs, identity: &SweepIdentity, results: &SweepResults) -> Result<(), CommandFailure> {
    for metric in &args.metrics {
        check_metric("--metric", metric, results.names())?;
    }
    match args.format {
        TableFormat::Json => output::json(&SweepOutputSummary::new(identity, results, &args.metrics)),
        TableFormat::Csv => output::bytes(&sweep_tables::estimates(results).csv()),
        TableFormat::Md => output::result(&sweep_tables::markdown(results, &args.metrics)),
        TableFormat::Text => {
            let style = output::style(&args.display);
            let text = sweep::text(identity, results, &args.metrics, &style);
            output::styled(&text, &style)
        }
    }
}

/// Writes the files of a whole sweep.
pub fn keep(
    dir: &RunDir, args: &SweepOutputArgs, of: SweptMetric<'_>, (files, command): (&[(String, String)], &str),
) -> Result<(), CommandFailure> {
    let (identity, results) = (of.identity, of.results);
    for metric in &args.metrics {
        check_metric("--metric", metric, results.names())?;
    }
    dir.write_json("summary.json", &SweepOutputSummary::new(identity, results, &args.metrics))?;
    let rows = sweep_tables::replications(identity.seed, results).csv();
    dir.write("replications.csv", &rows)?;
    dir.write_inputs(files, command)?;
    let figures = sweep_figure::figures(of, &args.metrics);
    if figures.is_empty() {
        return Ok(());
    }
    for (name, scene) in figures {
        dir.write_chart(&format!("charts/{name}"), &scene)?;
    }
    Ok(())
}

/// Prints a note about the points at which the precision of `--until` was not reached.
pub fn note_imprecise_points(
    identity: &SweepIdentity, target: &WorkTarget, shard: SweepShard, finished: &FinishedPoints, points: &SweepPoints,
) {
    let own = |point: &usize| shard.contains(*point as u64);
    let all: Vec<usize> = target.imprecise_points(finished).into_iter().filter(own).collect();
    let Some(first) = all.first() else {
        return;
    };
    let text = format!(
        "--until {}: precision not reached after {} replications at {} points, the first is {}",
        identity.until.as_deref().unwrap_or(""),
        target.replications,
        all.len(),
        points.name(*first)
    );
    output::note(&text);
}
