//! The report page of a comparison: the conclusion, charts, estimates, paired differences and caveats.
//!
//! The estimates are those of `compare` and are not computed here.

use super::reproduce::Reproduction;
use super::run_parts::NOT_MODELLED;
use super::{Block, Chart, KeyFigure, Page, Section};
use crate::assumptions::hanging;
use crate::assumptions::hanging::Hung;
use crate::console::compare::{conclusion, estimates, parted, shown};
use crate::figures::compare_figure::{figures, provenance};
use crate::table::Table;
use sim_analysis::experiment::{Comparison, MetricEstimate, PlayedVariant, Verdict};
use sim_analysis::format::{count, thousands};

/// Builds the page. `commands` contains the commands that repeat the comparison and the page, `inputs` the digest of
/// the inputs.
pub fn page(
    all: &Comparison,
    played: &[PlayedVariant],
    hung: &[Hung],
    (commands, inputs): (&[String], &str),
) -> Page {
    let n = all
        .variants
        .iter()
        .map(|v| v.replications)
        .max()
        .unwrap_or(0) as u64;
    let conclusion = conclusion(all);
    let mut page = Page {
        kicker: format!("jobset-sim report: comparison of {}", all.scenario),
        title: answer(&conclusion),
        lead: format!(
            "{conclusion} {} of {} under the same random numbers, {} each: variant and variant meet the same faults, so what is \
             told are differences of pairs, with 95 % intervals. What contains zero is not separated, and nothing is \
             ranked by it.",
            count(all.variants.len() as u64, "variant"),
            all.scenario,
            count(n, "replication"),
        ),
        figures: vec![
            figure("variants", thousands(all.variants.len() as u64)),
            figure("replications of each", thousands(n)),
            figure("seed", all.seed.to_string()),
        ],
        sections: Vec::new(),
        foot: provenance(all),
    };
    let charts = figures(all, played, &hanging::foot(hung))
        .into_iter()
        .map(|(name, scene)| {
            Block::Chart(Chart {
                name: name.to_owned(),
                alt: format!("{}: {name} of the variants", all.scenario),
                scene,
            })
        });
    let mut section = |id, title, blocks| page.push(Section::new(id, title, blocks));
    section("charts", "What tells the variants apart", charts.collect());
    section(
        "variants",
        "What each variant changes",
        changes(all, played),
    );
    section("numbers", "Each metric", numbers(all));
    section("differences", "Paired differences", differences(all));
    section(
        "assumptions",
        "Assumptions that mattered",
        hanging::blocks(hung),
    );
    let limits = NOT_MODELLED.map(str::to_owned).to_vec();
    let mut distrust = Vec::new();
    if !all.warnings.is_empty() {
        distrust.push(Block::Heading("Warnings of the runs".to_owned()));
        distrust.push(Block::List(all.warnings.clone()));
    }
    distrust.push(Block::Heading("Never modelled".to_owned()));
    distrust.push(Block::List(limits));
    section("limits", "What to distrust", distrust);
    let mut reproduction = Reproduction::new(commands, &page.foot, inputs);
    reproduction.depends_on = hanging::together(hung);
    page.push(reproduction.section());
    page
}

/// Returns the conclusion without its numbers, which is the title of the page.
fn answer(conclusion: &str) -> String {
    let first = conclusion.split(": ").next().unwrap_or(conclusion);
    first.trim_end_matches('.').to_owned()
}

fn figure(what: &str, value: String) -> KeyFigure {
    KeyFigure {
        what: what.to_owned(),
        value,
    }
}

fn changes(all: &Comparison, played: &[PlayedVariant]) -> Vec<Block> {
    let mut rows = Vec::new();
    for (i, v) in played.iter().enumerate() {
        if v.changes.is_empty() {
            let what = if i == 0 {
                "the scenario itself"
            } else {
                "nothing"
            };
            rows.push(vec![
                v.name.clone(),
                what.to_owned(),
                String::new(),
                String::new(),
            ]);
        }
        for c in &v.changes {
            let because = match c.because.as_str() {
                "" => "asked for",
                because => because,
            };
            let cells = [&v.name, &c.path, &c.value, because];
            rows.push(cells.map(str::to_owned).to_vec());
        }
    }
    let digests = all.variants.iter();
    let digests = digests.map(|v| format!("{}: digest {:016x}", v.name, v.digest));
    vec![
        Block::Table(
            Table::new(["variant", "field", "value", "because"])
                .with_rows(rows)
                .open(40),
        ),
        Block::List(digests.collect()),
    ]
}

fn value(metric: &str, e: &MetricEstimate) -> [String; 3] {
    let show = |v: Option<f64>| v.map_or("-".to_owned(), |v| shown(metric, v));
    let interval = e.ci95.map_or("-".to_owned(), |[low, high]| {
        format!("{} to {}", shown(metric, low), shown(metric, high))
    });
    let quantiles = format!("{} / {} / {}", show(e.p10), show(e.p50), show(e.p90));
    [show(e.mean), interval, quantiles]
}

fn numbers(all: &Comparison) -> Vec<Block> {
    let (told, same) = parted(all);
    let mut rows = Vec::new();
    for metric in &told {
        for (name, e) in estimates(all, metric) {
            let [mean, interval, quantiles] = value(metric, e);
            let out = match e.stuck + e.cut {
                0 => String::new(),
                n => thousands(n as u64),
            };
            let n = thousands(e.n as u64);
            let cells = [metric, name, &mean, &interval, &quantiles, &n, &out];
            rows.push(cells.map(str::to_owned).to_vec());
        }
    }
    let mut blocks = vec![Block::Table(
        Table::new([
            "metric",
            "variant",
            "mean",
            "95 % interval",
            "p10 / p50 / p90",
            "n",
            "stuck or cut",
        ])
        .numbers(&[2, 3, 4, 5, 6])
        .with_rows(rows)
        .open(24),
    )];
    if !same.is_empty() {
        let n = count(same.len() as u64, "metric");
        let text = format!("Equal in all variants, {n}: {}.", same.join(", "));
        blocks.push(Block::Text(text));
    }
    blocks
}

fn differences(all: &Comparison) -> Vec<Block> {
    let (told, _) = parted(all);
    let mut rows = Vec::new();
    for metric in &told {
        for p in all.paired.iter().filter(|p| p.metric == **metric) {
            let d = &p.difference;
            let better = match p.verdict {
                Verdict::A => p.a.clone(),
                Verdict::B => p.b.clone(),
                Verdict::NotSeparated => match p.needed {
                    Some(n) => format!("not separated; about {} pairs would", thousands(n as u64)),
                    None => "not separated".to_owned(),
                },
            };
            rows.push(vec![
                (*metric).to_owned(),
                format!("{} less {}", p.b, p.a),
                shown(metric, d.mean),
                format!(
                    "{} to {}",
                    shown(metric, d.ci95[0]),
                    shown(metric, d.ci95[1])
                ),
                thousands(d.n as u64),
                better,
            ]);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(
        Table::new([
            "metric",
            "difference",
            "mean",
            "95 % interval",
            "pairs",
            "better",
        ])
        .numbers(&[2, 3, 4])
        .with_rows(rows)
        .open(24),
    )]
}
