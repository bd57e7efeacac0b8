//! The report page of a sweep: the conclusion, charts over the swept fields, all points and caveats.
//!
//! The estimates are those of the sweep and are not computed here.

use super::reproduce::Reproduction;
use super::run_parts::NOT_MODELLED;
use super::{Block, Chart, KeyFigure, Page, Section};
use crate::assumptions::hanging;
use crate::assumptions::hanging::Hung;
use crate::console::compare::{shown, unit};
use crate::console::sweep::conclusion;
use crate::figures::sweep_figure;
use crate::figures::sweep_figure::{Closed, Swept, axis_of};
use crate::sweep_pick::{axis_names, told};
use crate::table::Table;
use sim_analysis::experiment::Better;
use sim_analysis::format::{count, thousands};
use sim_analysis::sweep::Results;

/// Width and height of a chart over a swept field on the page.
const SIZE: (u32, u32) = (1600, 800);

/// The data that the page of a sweep shows.
pub struct Told<'a> {
    pub of: Swept<'a>,
    pub hung: &'a [Hung],
    /// Closed form of restart latencies, if there is one.
    pub closed: Option<&'a Closed>,
    /// Warnings of the runs.
    pub warnings: &'a [String],
    /// Commands that repeat the sweep and the page.
    pub commands: &'a [String],
    /// Digest of the inputs.
    pub inputs: &'a str,
}

pub fn page(told: &Told<'_>) -> Page {
    let (identity, all) = (told.of.identity, told.of.results);
    let points = all.points().count();
    let n = (0..points).map(|p| all.rows(p).len()).max().unwrap_or(0) as u64;
    let sentence = conclusion(all);
    let mut page = Page {
        kicker: format!("jobset-sim report: sweep of {}", identity.scenario),
        title: sentence
            .split(": ")
            .next()
            .unwrap_or(&sentence)
            .trim_end_matches('.')
            .to_owned(),
        lead: format!(
            "{sentence} {} of {}, {} each, all under the same random numbers: point and point meet the same faults, so \
             what is worse than the best is so in paired differences with 95 % intervals.",
            count(points as u64, "point"),
            identity.scenario,
            count(n, "replication"),
        ),
        figures: vec![
            figure("points", thousands(points as u64)),
            figure("replications of each", thousands(n)),
            figure("seed", identity.seed.to_string()),
        ],
        sections: Vec::new(),
        foot: sweep_figure::provenance(told.of),
    };
    let mut section = |id, title, blocks| page.push(Section::new(id, title, blocks));
    section("charts", "What tells the points apart", charts(told));
    section("fields", "What is varied", fields(told));
    section("numbers", "Each point", numbers(all));
    section(
        "assumptions",
        "Assumptions that mattered",
        hanging::blocks(told.hung),
    );
    section("limits", "What to distrust", limits(told));
    let mut reproduction = Reproduction::new(told.commands, &page.foot, told.inputs);
    reproduction.depends_on = hanging::together(told.hung);
    page.push(reproduction.section());
    page
}

fn figure(what: &str, value: String) -> KeyFigure {
    KeyFigure {
        what: what.to_owned(),
        value,
    }
}

fn charts(told: &Told<'_>) -> Vec<Block> {
    let (identity, all) = (told.of.identity, told.of.results);
    let chart = |name: &str, scene| {
        Block::Chart(Chart {
            name: name.to_owned(),
            alt: format!("{}: {name} of the points", identity.scenario),
            scene,
        })
    };
    let drawn = sweep_figure::figures(told.of, &[]).into_iter();
    let mut blocks: Vec<Block> = drawn.map(|(name, scene)| chart(name, scene)).collect();
    let latency = told_metrics(all);
    let latency = latency.iter().find(|m| sweep_figure::has_closed_form(m));
    if let (Some(metric), Some(closed), Ok(axis)) = (latency, told.closed, axis_of(all, None)) {
        let scene = sweep_figure::over(told.of, (metric, axis), Some(closed), SIZE);
        blocks.push(chart("scaling", scene));
    }
    blocks
}

fn told_metrics(all: &Results) -> Vec<String> {
    told(all, &[])
}

fn fields(told: &Told<'_>) -> Vec<Block> {
    let identity = told.of.identity;
    let row = |axis: &sim_analysis::sweep::identity::AxisText| {
        let text = axis.told();
        let values = text.split_once('=').map_or("", |(_, values)| values);
        vec![axis.path.clone(), values.replace(',', ", ")]
    };
    let mut blocks = vec![Block::Table(
        Table::new(["field", "values"]).with_rows(identity.axes.iter().map(row)),
    )];
    if let Some(n) = identity.latin_hypercube {
        let text = format!(
            "Ranges are those of a Latin hypercube of {}.",
            count(n, "point")
        );
        blocks.push(Block::Text(text));
    }
    blocks
}

/// Returns a table per selected metric, with the points in order of their means, best first.
fn numbers(all: &Results) -> Vec<Block> {
    let names = axis_names(all);
    let mut blocks = Vec::new();
    for metric in told_metrics(all) {
        let better = match sim_analysis::experiment::better(&metric) {
            Better::Higher => "higher is better",
            Better::Lower => "lower is better",
        };
        blocks.push(Block::Heading(format!(
            "{metric} ({}{better})",
            unit(&metric)
        )));
        blocks.push(Block::Table(
            Table::new(
                names
                    .iter()
                    .map(String::as_str)
                    .chain([
                        "mean",
                        "95 % interval",
                        "p10 / p50 / p90",
                        "n",
                        "stuck or cut",
                        "",
                    ])
                    .map(str::to_owned),
            )
            .with_rows(rows(all, &metric))
            .open(24),
        ));
    }
    if all.names().len() > blocks.len() / 2 {
        let names = all.names().join(", ");
        blocks.push(Block::Text(format!(
            "Measured as well, in replications.csv: {names}."
        )));
    }
    blocks
}

fn rows(all: &Results, metric: &str) -> Vec<Vec<String>> {
    let best = all.best(metric);
    let means = all.means(metric);
    let mut order: Vec<usize> = (0..all.points().count()).collect();
    let sign = match sim_analysis::experiment::better(metric) {
        Better::Higher => -1.0,
        Better::Lower => 1.0,
    };
    let key = |p: &usize| means[*p].map_or(f64::INFINITY, |m| m * sign);
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let row = |p: usize| {
        let e = all.estimate(p, metric);
        let show = |v: Option<f64>| v.map_or("-".to_owned(), |v| shown(metric, v));
        let interval = match e.ci95 {
            Some([low, high]) if e.n > 1 => {
                format!("{} to {}", shown(metric, low), shown(metric, high))
            }
            _ => "-".to_owned(),
        };
        let rank = match &best {
            Some(best) if best.point == p => "best",
            Some(best) if best.not_separated.contains(&p) => "not separated from the best",
            _ => "",
        };
        let values = all.points().values(p).into_iter().map(str::to_owned);
        let out = match e.stuck + e.cut {
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

fn limits(told: &Told<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            blocks.push(Block::Heading(title.to_owned()));
            blocks.push(Block::List(lines));
        }
    };
    list("Attention", told.warnings.to_vec());
    let best = "The best point is the best of those that were played: with many points one of them is lucky. What is not \
                separated from it may be as good.";
    list("How far to generalize", vec![best.to_owned()]);
    list("Never modelled", NOT_MODELLED.map(str::to_owned).to_vec());
    blocks
}
