//! `plot scaling`: restart time by number of nodes, or a metric of a sweep over a field, with the closed form.

use crate::cli::inputs::{LoadedRun, model_defaults};
use crate::{cli::bench, cli::failure::CommandFailure, cli::plot::args::PlotArgs, cli::plot::labels};
use crate::{cli::plot::one::chosen, cli::plot::swept};
use sim_report::assumptions::provenance;
use sim_report::assumptions::sensitivity;
use sim_report::assumptions::sensitivity::SensitiveResult;
use sim_report::draw::scene::DrawScene;
use sim_report::figures::scaling_figure;
use sim_report::figures::scaling_figure::{
    ScalingAxes, ScalingLine, TOKEN_BUCKET_NAME, TOKEN_BUCKET_SCOPE, token_bucket,
};

/// Draws the chart of a sweep or of a result of `bench ttr`; `None` for runs.
pub fn stored(args: &PlotArgs) -> Result<Option<DrawScene>, CommandFailure> {
    match swept::stored_sweep(args)? {
        Some(sweep) => swept::scaling(args, &sweep).map(Some),
        None => benchmark(args),
    }
}

fn benchmark(args: &PlotArgs) -> Result<Option<DrawScene>, CommandFailure> {
    let [path] = args.runs.as_slice() else {
        return Ok(None);
    };
    if path.extension().is_none_or(|e| e != "json") {
        return Ok(None);
    }
    let report = bench::baseline(path)?;
    let cases = crate::bench::page::cases(&report.rows);
    let case = args.case.clone().or(cases.first().cloned()).unwrap_or_default();
    let own = report.rows.iter().find(|r| r.key.case == case);
    let preset = own.map_or(String::new(), |r| r.key.preset.clone());
    let preset = args.preset.clone().unwrap_or(preset);
    let assumptions = bench::decided(&report, &case, &preset);
    let beside: (crate::bench::page::PageRates<'_>, _) = (&bench::rates, sensitivity::footer_lines(&assumptions));
    let drawn = args.fitted_if_any(|size| crate::bench::page::chart(&report, (&case, &preset), &beside, size))?;
    let text = format!(
        "{}: case {case:?} with preset {preset:?} has fewer than two cluster sizes; cases in the file: {}",
        path.display(),
        cases.join(", ")
    );
    drawn.map(Some).ok_or(CommandFailure::Invalid(text))
}

/// Draws the longest restart of each run by number of nodes, with one line per strategy and control plane.
pub fn of_runs(args: &PlotArgs, runs: &[LoadedRun]) -> Result<DrawScene, CommandFailure> {
    let mut lines: Vec<ScalingLine> = Vec::new();
    let (mut named, mut rates, mut assumptions) = (Vec::new(), Vec::new(), Vec::new());
    let defaults = model_defaults();
    let series = labels::series(runs, args)?;
    for (one, name) in runs.iter().zip(&series) {
        let run = one.view();
        let (_, r) = chosen(args, &run)?;
        assumptions.push(SensitiveResult::from_restarts("", &run, &[r], &defaults));
        let nodes = run.scenario.topology.nodes() as f64;
        let at = lines.iter().position(|l| l.name == *name).unwrap_or_else(|| {
            lines.push(ScalingLine::new(name.clone()));
            lines.len() - 1
        });
        lines[at].points.push((nodes, r.total().seconds()));
        let rate = run.scenario.control_plane.kube_controller_manager;
        rates.push((nodes, rate.qps, f64::from(rate.burst)));
        named.push((format!("{nodes} nodes"), run));
    }
    lines.iter_mut().for_each(|l| l.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let mut foot = provenance::runs_provenance(&named);
    let (_, rate, burst) = rates[0];
    if rates.iter().all(|r| (r.1, r.2) == (rate, burst)) {
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        lines.push(ScalingLine {
            points: rates.iter().map(|r| (r.0, token_bucket(r.0, rate, burst))).collect(),
            is_closed_form: true,
            ..ScalingLine::new(TOKEN_BUCKET_NAME.to_owned())
        });
        foot.push(format!("closed form: (nodes - {burst}) / {rate} s, {TOKEN_BUCKET_SCOPE}"));
    }
    let names = ("Time to recover", "longest restart of each run");
    foot.extend(sensitivity::footer_lines(&assumptions));
    args.fitted(|size| scaling_figure::scaling(names, &ScalingAxes::NODES_TO_RECOVERY, &lines, &foot, size))
}
