//! The report page of a sweep: the conclusion, charts over the swept fields, all points and caveats.
//!
//! The estimates are those of the sweep and are not computed here.

use super::reproduce::ReproductionSteps;
use super::run_parts::NOT_MODELLED;
use super::{KeyFigure, PageBlock, PageChart, PageSection, ReportPage};
use crate::console::compare::{format_metric_value, unit};
use crate::console::sweep::{UNRANKED, conclusion, multiplicity_note};
use crate::figures::sweep_figure::{ClosedFormCurve, SweptMetric, numeric_axis_named};
use crate::sweep_selection::{axis_names, selected_metrics};
use crate::{assumptions::sensitivity, assumptions::sensitivity::SensitiveResult};
use crate::{figures::sweep_figure, table::Table};
use sim_analysis::experiment::BetterDirection;
use sim_analysis::format::{count, thousands};
use sim_analysis::sweep::SweepResults;

/// Width and height of a chart over a swept field on the page.
const SIZE: (u32, u32) = (1600, 800);

/// The data that the page of a sweep shows.
pub struct SweepText<'a> {
    pub swept: SweptMetric<'a>,
    pub sensitivities: &'a [SensitiveResult],
    /// Closed forms of metrics.
    pub closed_forms: &'a [ClosedFormCurve],
    pub warnings: &'a [String],
    /// Commands that repeat the sweep and the page.
    pub commands: &'a [String],
    pub inputs: &'a str,
}

pub fn page(view: &SweepText<'_>) -> ReportPage {
    let (identity, all) = (view.swept.identity, view.swept.results);
    let points = all.points().count();
    let n = (0..points).map(|p| all.rows(p).len()).max().unwrap_or(0) as u64;
    let sentence = conclusion(all, &[]);
    let mut page = ReportPage {
        kicker: format!("jobset-sim report: sweep of {}", identity.scenario),
        title: sentence.split(": ").next().unwrap_or(&sentence).trim_end_matches('.').to_owned(),
        lead: format!(
            "{sentence} {} of {}, {} each, with common random numbers: all points are exposed to the same faults. \
             Differences from the best point are paired and have 95 % intervals.",
            count(points as u64, "point"),
            identity.scenario,
            count(n, "replication"),
        ),
        figures: vec![
            figure("points", thousands(points as u64)),
            figure("replications per point", thousands(n)),
            figure("seed", identity.seed.to_string()),
        ],
        sections: Vec::new(),
        provenance_lines: sweep_figure::provenance(view.swept),
    };
    let mut section = |id, title, blocks| page.push(PageSection::new(id, title, blocks));
    section("charts", "Charts", charts(view));
    section("fields", "Swept fields", fields(view));
    section("numbers", "Points", numbers(all));
    section("assumptions", "Relevant assumptions", sensitivity::blocks(view.sensitivities));
    section("limits", "Caveats", limits(view));
    let mut reproduction = ReproductionSteps::new(view.commands, &page.provenance_lines, view.inputs);
    reproduction.assumptions = sensitivity::merge_assumptions(view.sensitivities);
    page.push(reproduction.section());
    page
}

fn figure(what: &str, value: String) -> KeyFigure {
    KeyFigure { label: what.to_owned(), value }
}

fn charts(view: &SweepText<'_>) -> Vec<PageBlock> {
    let (identity, all) = (view.swept.identity, view.swept.results);
    let chart = |name: &str, scene| {
        PageBlock::Chart(PageChart {
            name: name.to_owned(),
            alt: format!("{}: {name} by point", identity.scenario),
            scene,
        })
    };
    let drawn = sweep_figure::figures(view.swept, &[]).into_iter();
    let mut blocks: Vec<PageBlock> = drawn.map(|(name, scene)| chart(name, scene)).collect();
    let Ok(axis) = numeric_axis_named(all, None) else {
        return blocks;
    };
    let metrics = default_metrics(all);
    for (nth, closed) in view.closed_forms.iter().enumerate() {
        if let Some(metric) = metrics.iter().find(|metric| closed.applies_to(metric)) {
            let scene = sweep_figure::scaling_chart(view.swept, (metric, axis), Some(closed), SIZE);
            let name = if nth == 0 { "scaling".to_owned() } else { format!("scaling-{}", nth + 1) };
            blocks.push(chart(&name, scene));
        }
    }
    blocks
}

fn default_metrics(all: &SweepResults) -> Vec<String> {
    selected_metrics(all, &[])
}

fn fields(view: &SweepText<'_>) -> Vec<PageBlock> {
    let identity = view.swept.identity;
    let row = |axis: &sim_analysis::sweep::identity::AxisText| {
        let text = axis.command_line_text();
        let values = text.split_once('=').map_or("", |(_, values)| values);
        vec![axis.path.clone(), values.replace(',', ", ")]
    };
    let mut blocks = vec![PageBlock::Table(Table::new(["field", "values"]).with_rows(identity.axes.iter().map(row)))];
    if let Some(n) = identity.latin_hypercube {
        let text = format!("Ranges are sampled with a Latin hypercube of {}.", count(n, "point"));
        blocks.push(PageBlock::Text(text));
    }
    blocks
}

/// Returns a table per selected metric, with the points in order of their means, best first.
fn numbers(all: &SweepResults) -> Vec<PageBlock> {
    let names = axis_names(all);
    let mut blocks = Vec::new();
    for metric in default_metrics(all) {
        let better = match sim_analysis::experiment::better(&metric) {
            BetterDirection::Higher => "higher is better",
            BetterDirection::Lower => "lower is better",
        };
        blocks.push(PageBlock::Heading(format!("{metric} ({}{better})", unit(&metric))));
        blocks.push(PageBlock::Table(
            Table::new(
                names
                    .iter()
                    .map(String::as_str)
                    .chain(["mean", "95 % interval", "p10 / p50 / p90", "n", "excluded", ""])
                    .map(str::to_owned),
            )
            .with_rows(rows(all, &metric))
            .with_initial_rows(24),
        ));
    }
    if all.names().len() > blocks.len() / 2 {
        let names = all.names().join(", ");
        blocks.push(PageBlock::Text(format!("All metrics in replications.csv: {names}.")));
    }
    blocks
}

fn rows(all: &SweepResults, metric: &str) -> Vec<Vec<String>> {
    let best = all.best_choices(metric);
    let means = all.means(metric);
    let mut order: Vec<usize> = (0..all.points().count()).collect();
    let sign = match sim_analysis::experiment::better(metric) {
        BetterDirection::Higher => -1.0,
        BetterDirection::Lower => 1.0,
    };
    let key = |p: &usize| means[*p].map_or(f64::INFINITY, |m| m * sign);
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let row = |p: usize| {
        let e = all.estimate(p, metric);
        let show = |v: Option<f64>| v.map_or("-".to_owned(), |v| format_metric_value(metric, v));
        let interval = match e.ci95 {
            Some([low, high]) if e.n > 1 => {
                format!("{} to {}", format_metric_value(metric, low), format_metric_value(metric, high))
            }
            _ => "-".to_owned(),
        };
        let rank = match &best {
            all if all.iter().any(|best| best.point == p) => "best mean",
            all if all.iter().any(|best| best.equal.contains(&p)) => "no difference from the best mean",
            all if all.iter().any(|best| best.inconclusive.contains(&p)) => "inconclusive against the best mean",
            all if all.iter().any(|best| best.unranked.contains(&p)) => UNRANKED,
            _ => "",
        };
        let values = all.points().values(p).into_iter().map(str::to_owned);
        let out = match e.excluded() {
            0 => String::new(),
            n => thousands(n as u64),
        };
        values
            .chain([
                show(e.mean),
                interval,
                format!("{} / {} / {}", show(e.p10), show(e.p50), show(e.p90)),
                thousands(e.n as u64),
                out,
                rank.to_owned(),
            ])
            .collect()
    };
    order.into_iter().map(row).collect()
}

fn limits(view: &SweepText<'_>) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            blocks.push(PageBlock::Heading(title.to_owned()));
            blocks.push(PageBlock::List(lines));
        }
    };
    list("Warnings", view.warnings.to_vec());
    let best = "The best point is the best of the simulated points. With many points, one of them may be best by chance; \
                points with an inconclusive difference may be equally good.";
    let generalization = [best.to_owned()].into_iter().chain(multiplicity_note(view.swept.results));
    list("Generalization", generalization.collect());
    list("Not modelled in any run", NOT_MODELLED.map(str::to_owned).to_vec());
    blocks
}
