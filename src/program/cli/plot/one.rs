//! `plot` of single runs: one restart step by step, restarts side by side, pods and queues over time, the node map.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{LoadedRun, model_defaults, note_not_modelled};
use crate::cli::plot::args::{ChartKind, PlotArgs};
use crate::{cli::args::InputArgs, cli::plot::labels};
use sim_analysis::format;
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_base::SimTime;
use sim_report::assumptions::provenance;
use sim_report::draw::scene::DrawScene;
use sim_report::figures::{admission_figure, restart_figure, timeline_figure, waterfall_figure};
use sim_report::timeline;
use std::path::Path;

pub fn load_run(args: &PlotArgs, path: &Path) -> Result<LoadedRun, CommandFailure> {
    let run = LoadedRun::simulate_window(&of_path(args, path), "plot", args.window)?;
    if !args.quiet {
        note_not_modelled(&run.not_modelled);
    }
    Ok(run)
}

pub fn of_path(args: &PlotArgs, path: &Path) -> InputArgs {
    InputArgs {
        level: None,
        scenario: Some(path.to_owned()),
        manifests: Vec::new(),
        topology: None,
        sets: args.sets.clone(),
        fails: Vec::new(),
        seed: args.seed,
        threads: None,
    }
}

/// Returns the selected restart and its index.
pub fn chosen<'r>(args: &PlotArgs, run: &RunView<'r>) -> Result<(usize, &'r RestartMetrics), CommandFailure> {
    let all = run.restarts();
    let there = format::count(all.len() as u64, "restart");
    let name = &run.scenario.name;
    let result = match args.restart {
        Some(n) => n.checked_sub(1).filter(|i| *i < all.len()),
        None => sim_analysis::metrics::restarts::restart::longest(all),
    };
    let none = || CommandFailure::Invalid(format!("{name} has {there}; restart numbers start at 1"));
    result.map(|i| (i, &all[i])).ok_or_else(none)
}

pub fn only<'w>(args: &PlotArgs, runs: &'w [LoadedRun]) -> Result<&'w LoadedRun, CommandFailure> {
    let [one] = runs else {
        let kind = args.kind.name();
        bail!("{kind} needs a single run; `plot restarts` draws several side by side");
    };
    Ok(one)
}

pub fn waterfall(args: &PlotArgs, runs: &[LoadedRun]) -> Result<DrawScene, CommandFailure> {
    let run = only(args, runs)?.view();
    let (i, r) = chosen(args, &run)?;
    let foot = provenance::footer_lines(&run, &[r], &model_defaults());
    args.fitted(|size| waterfall_figure::waterfall(&run, r, i + 1, &foot, size))
}

pub fn over_time(args: &PlotArgs, runs: &[LoadedRun], name: &str) -> Result<DrawScene, CommandFailure> {
    let one = only(args, runs)?;
    let run = one.view();
    let mut lanes = timeline::timeline(&run, &one.pods, &one.queued, one.window);
    if let Some(n) = args.restart.filter(|_| args.window.is_none()) {
        let (i, _) = chosen(args, &run)?;
        let request = format!("restart {}", i + 1);
        let at = lanes.windows.iter().position(|w| w.name == request);
        let at = at.ok_or_else(|| {
            let close = timeline::MAX_HIGHLIGHTED;
            CommandFailure::Invalid(format!(
                "restart {n} is not among the {close} longest; only these have data over time"
            ))
        })?;
        lanes.windows.swap(0, at);
    }
    let all: Vec<&RestartMetrics> = run.restarts().iter().collect();
    let foot = provenance::footer_lines(&run, &all, &model_defaults());
    let none = || {
        let (name, moments) = (&run.scenario.name, lanes.moments.len());
        CommandFailure::Invalid(format!(
            "{name}: nothing to draw, all queues are empty at the {moments} instants of the chart; --restart or --window \
             shows a shorter time in more detail"
        ))
    };
    args.fitted_if_any(|size| timeline_figure::chart_of(&run, &lanes, name, &foot, size))?.ok_or_else(none)
}

/// Draws the quotas or the Workloads of Kueue.
pub fn admission(args: &PlotArgs, runs: &[LoadedRun]) -> Result<DrawScene, CommandFailure> {
    let one = only(args, runs)?;
    let run = one.view();
    let foot = provenance::footer_lines(&run, &[], &model_defaults());
    let end = run.outcome.end;
    let window = args.window.map(|(from, to)| (SimTime::ZERO + from, (SimTime::ZERO + to).min(end)));
    let scene = args.fitted_if_any(|size| match args.kind {
        ChartKind::Quota => admission_figure::quota(&run, window, &foot, size),
        _ => admission_figure::workloads(&run, window, &foot, size),
    })?;
    let name = &run.scenario.name;
    scene.ok_or_else(|| CommandFailure::Invalid(format!("{name}: nothing to draw, no Workload of Kueue has quota")))
}

pub fn restarts(args: &PlotArgs, runs: &[LoadedRun]) -> Result<DrawScene, CommandFailure> {
    let views: Vec<RunView<'_>> = runs.iter().map(LoadedRun::view).collect();
    let mut shown = Vec::new();
    for run in &views {
        shown.push(chosen(args, run)?.1);
    }
    let names = labels::of_restarts(args, runs, &shown);
    let bars: Vec<_> = names.into_iter().zip(shown.into_iter().cloned()).collect();
    let named: Vec<_> = bars.iter().map(|b| b.0.clone()).zip(views.iter().copied()).collect();
    let mut foot = provenance::runs_provenance(&named);
    let defaults = model_defaults();
    for ((run, bar), name) in views.iter().zip(&bars).zip(&named) {
        let footer = provenance::assumption_line(run, &[&bar.1], &defaults);
        foot.push(match views.len() {
            1 => footer,
            _ => format!("{} {footer}", name.0),
        });
    }
    let origin = format::common_origin(views.iter().zip(&bars).map(|(run, bar)| format::origin(run, &bar.1)));
    let end = format::common_end(bars.iter().map(|(_, restart)| restart.ending));
    let title = format!("Time from the {origin} {end}");
    let cause_of = |at: usize| format::cause(&views[at], &bars[at].1.cause);
    let mut causes: Vec<String> = Vec::new();
    for cause in (0..bars.len()).map(cause_of) {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    let cause = match causes.as_slice() {
        [cause] => cause.clone(),
        _ => (0..bars.len()).map(|at| format!("{}: {}", bars[at].0, cause_of(at))).collect::<Vec<_>>().join("; "),
    };
    let cause = views.iter().fold(cause, |text, run| run.with_failures(&text));
    args.fitted(|size| restart_figure::restart_bars(&title, &cause, &bars, &foot, size))
}
