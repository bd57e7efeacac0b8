//! The report page of a comparison: the conclusion, charts, estimates, paired differences and caveats.
//!
//! The estimates are those of `compare` and are not computed here.

use super::reproduce::ReproductionSteps;
use super::run_parts::NOT_MODELLED;
use super::{KeyFigure, PageBlock, PageChart, PageSection, ReportPage};
use crate::console::compare::{
    conclusion, estimates, failures, format_metric_value, multiplicity_note, sequential_note, split_by_difference,
};
use crate::figures::compare_figure::{ComparedVariants, figures, provenance};
use crate::{assumptions::sensitivity, assumptions::sensitivity::SensitiveResult, table::Table};
use sim_analysis::experiment::{CompareVerdict, MetricEstimate, SimulatedVariant, VariantComparison};
use sim_analysis::format::{count, thousands};

/// Builds the page. `commands` contains the commands that repeat the comparison and the page, `inputs` the digest of
/// the inputs.
pub fn page(
    all: &VariantComparison, simulated_variants: &[SimulatedVariant], dominant: &[SensitiveResult],
    (commands, inputs): (&[String], &str),
) -> ReportPage {
    let n = all.variants.iter().map(|v| v.replications).max().unwrap_or(0) as u64;
    let conclusion = conclusion(all, &[]);
    let mut page = ReportPage {
        kicker: format!("jobset-sim report: comparison of {}", all.scenario),
        title: failures(all)
            .unwrap_or_else(|| conclusion_without_numbers(&conclusion))
            .trim_end_matches('.')
            .to_owned(),
        lead: format!(
            "{conclusion} {} of {}, {} each, with common random numbers: all variants are exposed to the same faults. \
             Differences are paired and have 95 % intervals. A difference whose interval contains zero is inconclusive \
             and does not rank the variants.",
            count(all.variants.len() as u64, "variant"),
            all.scenario,
            count(n, "replication"),
        ),
        figures: vec![
            figure("variants", thousands(all.variants.len() as u64)),
            figure("replications per variant", thousands(n)),
            figure("seed", all.seed.to_string()),
        ],
        sections: Vec::new(),
        provenance_lines: provenance(all),
    };
    let assumption_lines = sensitivity::footer_lines(dominant);
    let of = ComparedVariants {
        all,
        simulated_variants,
        assumption_lines: &assumption_lines,
        is_slide: false,
        window: None,
    };
    let charts = figures(of).into_iter().map(|(name, scene)| {
        PageBlock::Chart(PageChart {
            name: name.to_owned(),
            alt: format!("{}: {name} by variant", all.scenario),
            scene,
        })
    });
    let mut section = |id, title, blocks| page.push(PageSection::new(id, title, blocks));
    section("charts", "Charts", charts.collect());
    section("variants", "Changes per variant", variant_changes(all, simulated_variants));
    section("numbers", "Metrics", numbers(all));
    section("differences", "Paired differences", differences(all));
    section("assumptions", "Relevant assumptions", sensitivity::blocks(dominant));
    let limits = NOT_MODELLED.map(str::to_owned).to_vec();
    let mut distrust = Vec::new();
    let notes: Vec<String> = multiplicity_note(all).into_iter().chain(sequential_note(all, &[])).collect();
    if !notes.is_empty() {
        distrust.push(PageBlock::List(notes));
    }
    if !all.warnings.is_empty() {
        distrust.push(PageBlock::Heading("Warnings".to_owned()));
        distrust.push(PageBlock::List(all.warnings.clone()));
    }
    distrust.push(PageBlock::Heading("Not modelled in any run".to_owned()));
    distrust.push(PageBlock::List(limits));
    section("limits", "Caveats", distrust);
    let mut reproduction = ReproductionSteps::new(commands, &page.provenance_lines, inputs);
    reproduction.assumptions = sensitivity::merge_assumptions(dominant);
    page.push(reproduction.section());
    page
}

/// Returns the conclusion without its numbers, which is the title of the page.
fn conclusion_without_numbers(conclusion: &str) -> String {
    let first = conclusion.split(": ").next().unwrap_or(conclusion);
    first.trim_end_matches('.').to_owned()
}

fn figure(what: &str, value: String) -> KeyFigure {
    KeyFigure { label: what.to_owned(), value }
}

fn variant_changes(all: &VariantComparison, simulated_variants: &[SimulatedVariant]) -> Vec<PageBlock> {
    let mut rows = Vec::new();
    for (i, v) in simulated_variants.iter().enumerate() {
        if v.changes.is_empty() {
            let what = if i == 0 { "the unmodified scenario" } else { "no changes" };
            rows.push(vec![v.name.clone(), what.to_owned(), String::new(), String::new()]);
        }
        for c in &v.changes {
            let because = match c.because.as_str() {
                "" => "requested",
                because => because,
            };
            let cells = [&v.name, &c.path, &c.value, because];
            rows.push(cells.map(str::to_owned).to_vec());
        }
    }
    let digests = all.variants.iter();
    let digests = digests.map(|v| format!("{}: {}; digest {:016x}", v.name, v.outcomes, v.digest));
    vec![
        PageBlock::Table(Table::new(["variant", "field", "value", "reason"]).with_rows(rows).with_initial_rows(40)),
        PageBlock::List(digests.collect()),
    ]
}

fn metric_cells(metric: &str, e: &MetricEstimate) -> [String; 3] {
    let show = |v: Option<f64>| v.map_or("-".to_owned(), |v| format_metric_value(metric, v));
    let interval = e.ci95.map_or("-".to_owned(), |[low, high]| {
        format!("{} to {}", format_metric_value(metric, low), format_metric_value(metric, high))
    });
    let quantiles = format!("{} / {} / {}", show(e.p10), show(e.p50), show(e.p90));
    [show(e.mean), interval, quantiles]
}

fn numbers(all: &VariantComparison) -> Vec<PageBlock> {
    let (different, same) = split_by_difference(all);
    let mut rows = Vec::new();
    for metric in &different {
        for (name, e) in estimates(all, metric) {
            let [mean, interval, quantiles] = metric_cells(metric, e);
            let out = match e.excluded() {
                0 => String::new(),
                n => thousands(n as u64),
            };
            let n = thousands(e.n as u64);
            let cells = [metric, name, &mean, &interval, &quantiles, &n, &out];
            rows.push(cells.map(str::to_owned).to_vec());
        }
    }
    let mut blocks = vec![PageBlock::Table(
        Table::new(["metric", "variant", "mean", "95 % interval", "p10 / p50 / p90", "n", "excluded"])
            .with_number_columns(&[2, 3, 4, 5, 6])
            .with_rows(rows)
            .with_initial_rows(24),
    )];
    if !same.is_empty() {
        let n = count(same.len() as u64, "metric");
        let text = format!("Equal in all variants, {n}: {}.", same.join(", "));
        blocks.push(PageBlock::Text(text));
    }
    blocks
}

fn differences(all: &VariantComparison) -> Vec<PageBlock> {
    let (different, _) = split_by_difference(all);
    let mut rows = Vec::new();
    for metric in &different {
        for p in all.paired.iter().filter(|p| p.metric == **metric) {
            let d = &p.difference;
            let better = match p.verdict {
                CompareVerdict::A => p.a.clone(),
                CompareVerdict::B => p.b.clone(),
                CompareVerdict::Inconclusive => "inconclusive".to_owned(),
                CompareVerdict::NoDifference => "no difference".to_owned(),
                CompareVerdict::CompletesLess => "completes less often".to_owned(),
            };
            rows.push(vec![
                (*metric).to_owned(),
                format!("{} − {}", p.b, p.a),
                format_metric_value(metric, d.mean),
                format!("{} to {}", format_metric_value(metric, d.ci95[0]), format_metric_value(metric, d.ci95[1])),
                thousands(d.n as u64),
                better,
            ]);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    vec![PageBlock::Table(
        Table::new(["metric", "difference", "mean", "95 % interval", "pairs", "better"])
            .with_number_columns(&[2, 3, 4])
            .with_rows(rows)
            .with_initial_rows(24),
    )]
}
