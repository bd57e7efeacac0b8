//! The report page of `bench ttr`: times to recover by cluster size, with the closed form of a token bucket.

use super::print::{cell, lines, planes, sizes};
use super::{BaselineReport, BenchRow};
use sim_analysis::format::{count, thousands};
use sim_report::assumptions::sensitivity;
use sim_report::assumptions::sensitivity::SensitiveResult;
use sim_report::draw::scene::DrawScene;
use sim_report::figures::scaling_figure::{
    ScalingAxes, ScalingLine, TOKEN_BUCKET_NAME, TOKEN_BUCKET_SCOPE, scaling, token_bucket,
};
use sim_report::page::reproduce::ReproductionSteps;
use sim_report::page::{KeyFigure, NOT_MODELLED, PageBlock, PageChart, PageSection, ReportPage};
use sim_report::table::Table;

/// Returns the rate and burst of kube-controller-manager in a preset.
pub type PageRates<'a> = &'a dyn Fn(&str) -> Option<(f64, f64)>;

const SIZE: (u32, u32) = (1600, 800);

/// Returns the dominant assumptions of the rows of a case with a preset.
pub type DecidedRow<'a> = &'a dyn Fn(&str, &str) -> Vec<SensitiveResult>;

pub fn page(
    report: &BaselineReport, (rates, decided): (PageRates<'_>, DecidedRow<'_>), commands: &[String],
) -> ReportPage {
    let rows = &report.rows;
    let never = rows.iter().filter(|r| r.is_stuck()).count();
    let mut page = ReportPage {
        kicker: "jobset-sim report: bench ttr".to_owned(),
        title: format!(
            "Time to recover: {}, {} without recovery",
            count(rows.len() as u64, "row"),
            thousands(never as u64)
        ),
        lead: "Virtual time in seconds from a fault until all pods stay ready, the longest of several. Results \
               are exact: a repetition with the same seed gives the same times to the nanosecond."
            .to_owned(),
        figures: vec![
            figure("rows", rows.len() as u64),
            figure("rows without recovery", never as u64),
            figure("nodes in the largest cluster", rows.iter().map(|r| r.key.nodes).max().unwrap_or(0)),
        ],
        sections: Vec::new(),
        provenance_lines: vec![foot(report)],
    };
    let (mut charts, mut dominant) = (Vec::new(), Vec::new());
    for case in cases(rows) {
        let preset = rows.iter().find(|r| r.key.case == case);
        let preset = preset.map_or("", |r| r.key.preset.as_str());
        let own = decided(&case, preset);
        let beside = (rates, sensitivity::footer_lines(&own));
        let Some(scene) = chart(report, (&case, preset), &beside, SIZE) else {
            continue;
        };
        dominant.extend(own);
        charts.push(PageBlock::Chart(PageChart {
            name: format!("scaling-{case}"),
            alt: format!("{case}: time to recover by number of nodes, preset {preset}"),
            scene,
        }));
    }
    page.push(PageSection::new("scaling", "By cluster size", charts));
    let tables = planes(report).into_iter().flat_map(|(plane, rows)| {
        let sizes = sizes(&rows);
        let mut head = vec!["case".to_owned(), "strategy".to_owned()];
        head.extend(sizes.iter().map(|n| count(*n, "node")));
        let line = |line: (&str, &str)| {
            let mut row = vec![line.0.to_owned(), line.1.to_owned()];
            row.extend(sizes.iter().map(|n| cell(&rows, line, *n)));
            row
        };
        let all = lines(&rows).into_iter().map(line);
        let table = Table::new(head).with_number_columns(&[2, 3, 4, 5, 6, 7]).with_rows(all);
        [PageBlock::Heading(plane), PageBlock::Table(table)]
    });
    page.push(PageSection::new("rows", "All rows", tables.collect()));
    let not_run = vec![PageBlock::List(report.not_run.clone())];
    if !report.not_run.is_empty() {
        page.push(PageSection::new("not-run", "Not run", not_run));
    }
    page.push(PageSection::new("assumptions", "Relevant assumptions", sensitivity::blocks(&dominant)));
    let never = PageBlock::List(NOT_MODELLED.map(str::to_owned).to_vec());
    let limits = vec![PageBlock::Heading("Not modelled".to_owned()), never];
    page.push(PageSection::new("limits", "Caveats", limits));
    let suite = "the suite of this version";
    let mut reproduction = ReproductionSteps::new(commands, &page.provenance_lines, suite);
    reproduction.assumptions = sensitivity::merge_assumptions(&dominant);
    page.push(reproduction.section());
    page
}

fn figure(what: &str, n: u64) -> KeyFigure {
    KeyFigure { label: what.to_owned(), value: thousands(n) }
}

fn foot(report: &BaselineReport) -> String {
    let digest = |row: Option<&BenchRow>| row.map_or("none".to_owned(), |r| r.digest.clone());
    let (first, last) = (digest(report.rows.first()), digest(report.rows.last()));
    format!(
        "jobset-sim {}  ·  bench ttr  ·  {}  ·  digests {first} to {last}",
        report.version,
        count(report.rows.len() as u64, "row")
    )
}

/// Returns the cases in the order of the rows.
pub fn cases(rows: &[BenchRow]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for row in rows {
        if !all.contains(&row.key.case) {
            all.push(row.key.case.clone());
        }
    }
    all
}

/// Draws one case with one preset: a line per strategy for the Kubernetes version of the first row, and the token
/// bucket. `None` if no strategy has two sizes.
pub fn chart(
    report: &BaselineReport, (case, preset): (&str, &str), (rates, footer): &(PageRates<'_>, Vec<String>),
    size: (u32, u32),
) -> Option<DrawScene> {
    let own = report.rows.iter();
    let own: Vec<&BenchRow> = own.filter(|r| r.key.case == case && r.key.preset == preset).collect();
    let version = own.first()?.key.kubernetes.clone();
    let mut all: Vec<ScalingLine> = Vec::new();
    for row in own.iter().filter(|r| r.key.kubernetes == version) {
        let Some(ttr) = row.ttr() else { continue };
        let name = &row.key.strategy;
        let at = all.iter().position(|l| l.name == *name).unwrap_or_else(|| {
            all.push(ScalingLine::new(name.clone()));
            all.len() - 1
        });
        all[at].points.push((row.key.nodes as f64, ttr.seconds()));
    }
    all.iter_mut().for_each(|l| l.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    if all.iter().all(|l| l.points.len() < 2) {
        return None;
    }
    let mut below = vec![foot(report)];
    below.extend_from_slice(footer);
    if let Some((rate, burst)) = rates(preset) {
        let sizes: Vec<u64> = sizes(&own);
        all.push(ScalingLine {
            points: sizes.iter().map(|n| (*n as f64, token_bucket(*n as f64, rate, burst))).collect(),
            is_closed_form: true,
            ..ScalingLine::new(TOKEN_BUCKET_NAME.to_owned())
        });
        below.push(format!("closed form: (nodes - {burst}) / {rate} s, {TOKEN_BUCKET_SCOPE}"));
    }
    let title = format!("{case}: time to recover");
    let subtitle = format!("preset {preset}, Kubernetes {version}");
    Some(scaling((&title, &subtitle), &ScalingAxes::NODES_TO_RECOVERY, &all, &below, size))
}
