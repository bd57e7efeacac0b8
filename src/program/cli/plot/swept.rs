//! `plot` of a directory of `sweep`, from the stored results. Only the point for the chart's footer is simulated.

use crate::cli::failure::{CommandFailure, bail, check_metric};
use crate::cli::inputs::{StoredRun, stored_run};
use crate::cli::plot::args::{ChartKind, PlotArgs, find_chart};
use crate::cli::sweep::stored::StoredSweep;
use sim_report::draw::scene::DrawScene;
use sim_report::figures::sweep_figure;
use sim_report::figures::sweep_figure::numeric_axis_named;

/// Reads a directory of `sweep`; `None` if the argument is not such a directory.
pub fn stored_sweep(args: &PlotArgs) -> Result<Option<StoredSweep>, CommandFailure> {
    let [dir] = args.runs.as_slice() else {
        return Ok(None);
    };
    if !stored_run::is_run(dir) {
        return Ok(None);
    }
    let StoredRun::Sweep(stored) = stored_run::stored(dir)? else {
        return Ok(None);
    };
    if !args.sets.is_empty() || args.seed.is_some() {
        bail!("--set and --seed apply to runs: to change these results, run `sweep` again");
    }
    let sweep = StoredSweep::read(dir, &stored)?;
    if let Some(metric) = &args.metric {
        check_metric("--metric", metric, sweep.results.names())?;
    }
    Ok(Some(sweep))
}

pub fn drawn(args: &PlotArgs) -> Result<DrawScene, CommandFailure> {
    let name = args.kind.name();
    let Some(sweep) = stored_sweep(args)? else {
        bail!("{name} needs one directory written by `sweep --out`");
    };
    let request: Vec<String> = args.metric.iter().cloned().collect();
    let charts = sweep_figure::figures(sweep.swept(), &request);
    if !charts.iter().any(|(own, _)| *own == name) {
        let needs = match args.kind {
            ChartKind::Heat => "two fields with at least two values each, and no others",
            ChartKind::Bands => "a field with numeric values, and no range",
            ChartKind::Knee => {
                "a field with numeric values, a metric with a best point, and costs: prices in the topology or the \
                 node-hours of a fleet"
            }
            _ => "a range, written LOW..HIGH",
        };
        let available: Vec<&str> = charts.iter().map(|(own, _)| *own).collect();
        let available = if available.is_empty() { "none".to_owned() } else { available.join(", ") };
        bail!("{name} needs {needs}; available charts: {available}");
    }
    find_chart(charts, &name)
}

pub fn scaling(args: &PlotArgs, sweep: &StoredSweep) -> Result<DrawScene, CommandFailure> {
    assert_eq!(args.kind, ChartKind::Scaling);
    let axis = numeric_axis_named(&sweep.results, args.over.as_deref())?;
    let metric = args.metric.clone().or_else(|| sweep.headline());
    let none = || CommandFailure::Invalid("all points have equal metrics".to_owned());
    let metric = metric.ok_or_else(none)?;
    let closed = sweep.closed_forms.iter().find(|closed| closed.applies_to(&metric));
    args.fitted(|size| sweep_figure::scaling_chart(sweep.swept(), (&metric, axis), closed, size))
}
