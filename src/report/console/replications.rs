//! Console output of `run --seeds N`: latency and phases of each restart over the replications.

use super::compare::{MAIN_METRICS, format_metric_row, format_seconds_row, is_headline_metric};
use super::page::{Block, Page, Rank, table_block, wrapped};
use super::style::Detail;
use super::waterfall::WaterfallStyle;
use crate::estimates::{COLUMNS, EstimateFormat, HEAD, cells};
use crate::table::Table;
use sim_analysis::experiment::{JobSetEstimates, MetricEstimate, ReplicationResult, ReplicationSet, WorkCost};
use sim_analysis::format::{count, seconds};
use sim_analysis::metrics::Phase;
use sim_api::spec::ModelLevel;
use sim_base::Duration;
use sim_base::escape::for_cell;
use sim_base::stats::MeanEstimate;

/// Preferred widths of the name, count and value columns of an estimate.
const PREFERRED_WIDTHS: [usize; 3] = [22, 5, 9];

/// Maximum number of lines of the summary.
const LINES: usize = 45;

pub fn text(all: &ReplicationSet, style: &WaterfallStyle) -> String {
    let mut page = Page::new(LINES, style);
    let head = ReplicationsHead {
        version: all.version,
        scenario: &all.scenario,
        digest: &all.digest,
        replications: count(all.replications as u64, all.level.replication_term()),
        seed: all.seed,
        outcomes: all.outcomes.to_string(),
    };
    page.push(head.block(style));
    page.push(main_metrics(all, style));
    push_jobsets(&mut page, all, style);
    page.push(costs(&all.cost, style));
    let sentence = |text: String| wrapped(&text, style.width - 2, SENTENCE_LINES, style).join("\n  ");
    let warnings = all.warnings.iter().map(|warning| sentence(format!("Warning: {warning}")));
    page.push(Block::new(Rank::Support, "").entries(warnings).noun("warning"));
    if !all.not_modelled.is_empty() {
        let text = sentence(format!("Not modelled: {}", all.not_modelled.join(", ")));
        page.push(Block::text(Rank::Note, text));
    }
    page.push(closing(all, style));
    page.finish()
}

/// Number of JobSets with metrics of 0 in the summary.
const MAX_JOBSETS: usize = 3;
/// Maximum number of lines of a warning in the summary.
const SENTENCE_LINES: usize = 3;

/// Names the output that a summary does not contain; empty with all details.
fn closing(all: &ReplicationSet, style: &WaterfallStyle) -> Block {
    Block::text(
        Rank::Answer,
        match (style.detail, all.level) {
            (Detail::Full, _) => "",
            (Detail::Brief, ModelLevel::Pods) => {
                "More: --verbose, --out DIR; without --seeds, `run` prints events and waits."
            }
            (Detail::Brief, ModelLevel::Nodes) => "More: --verbose, --out DIR.",
        },
    )
}

/// Title, outcomes and digest of the replications of a scenario or fleet.
pub(crate) struct ReplicationsHead<'a> {
    pub version: &'a str,
    pub scenario: &'a str,
    pub digest: &'a str,
    /// Number of replications as text.
    pub replications: String,
    pub seed: u64,
    pub outcomes: String,
}

impl ReplicationsHead<'_> {
    pub fn block(&self, style: &WaterfallStyle) -> Block {
        let ReplicationsHead { version, scenario, digest, replications, seed, outcomes } = self;
        let title = format!("jobset-sim {version}: {scenario}, {replications}, seed {seed}");
        Block::text(Rank::Answer, format!("{}\n  {outcomes}\n  digest {digest}", style.bold(&title)))
    }
}

/// Returns the estimates of the main metrics, with the names that `compare` uses.
fn main_metrics(all: &ReplicationSet, style: &WaterfallStyle) -> Block {
    let mut table = EstimateFormat::new(&HEAD, PREFERRED_WIDTHS);
    for names in MAIN_METRICS {
        let of_name = |name: &'static str| {
            // The summary of many JobSets omits those without restarts.
            let is_long = style.detail == Detail::Brief && all.job_sets.len() > MAX_JOBSETS;
            let may_be_zero = !name.starts_with("cost.") && !is_long;
            let has_value = move |e: &MetricEstimate| e.n > 0 && (may_be_zero || e.mean != Some(0.0));
            let own = all.metrics.iter().filter(move |(_, e)| has_value(e));
            own.filter(move |(metric, _)| is_headline_metric(metric, name))
        };
        let mut with_values = names.iter().filter(|name| of_name(name).next().is_some());
        let Some(name) = with_values.next() else {
            continue;
        };
        let beside = if *name == "restarts" { beside_restarts(all) } else { Vec::new() };
        for (metric, e) in of_name(name).chain(beside) {
            let [low, high] = e.ci95.filter(|_| e.n > 1).map_or([None; 2], |bounds| bounds.map(Some));
            let cells = format_metric_row(metric, [e.p10, e.p50, e.p90, e.mean, low, high]);
            let [p10, p50, p90, mean, low_text, high_text] = cells;
            let interval = if low.is_some() { format!("{low_text} to {high_text}") } else { "-".to_owned() };
            let quantiles = [p10, p50, p90, mean];
            let start = [metric.clone(), e.n.to_string()].into_iter();
            table.row(start.chain(quantiles).chain([interval]).collect());
        }
    }
    table_block(Rank::Main, "Main metrics", &table.formatted(style), style).noun("metric").minimum(4, 0)
}

/// Returns the metrics that explain the restarts in the tables of JobSets: evictions by Kueue, which are not in
/// `restarts`, and recoveries if their number differs.
fn beside_restarts(all: &ReplicationSet) -> Vec<(&String, &MetricEstimate)> {
    let of = |prefix: &str, name: &str| {
        let name = format!("{prefix}{name}");
        all.metrics.iter().find(|(metric, _)| **metric == name)
    };
    let mut rows = Vec::new();
    for (metric, restarts) in all.metrics.iter().filter(|(metric, _)| is_headline_metric(metric, "restarts")) {
        let prefix = metric.strip_suffix("restarts").unwrap_or_default();
        let recoveries = of(prefix, "recoveries");
        rows.extend(recoveries.filter(|(_, e)| e.n > 0 && e.mean != restarts.mean));
        rows.extend(of(prefix, "evictions").filter(|(_, e)| e.n > 0 && e.mean != Some(0.0)));
    }
    rows
}

/// Adds the restarts of each JobSet. A summary has those of one JobSet, and a line for each other one.
fn push_jobsets(page: &mut Page<'_>, all: &ReplicationSet, style: &WaterfallStyle) {
    let states = |jobset: &JobSetEstimates| {
        let states = jobset.terminal_states.iter();
        let states = states.map(|(s, n)| format!("{} {n}", if s.is_empty() { "not finished" } else { s }));
        format!("JobSet {}: {}", jobset.name, states.collect::<Vec<_>>().join(", "))
    };
    let is_brief = style.detail == Detail::Brief;
    let restarted = all.job_sets.iter().position(|jobset| !jobset.each_restart.is_empty()).unwrap_or(0);
    let mut others = Vec::new();
    for (at, jobset) in all.job_sets.iter().enumerate() {
        let title = states(jobset);
        let n = jobset.each_restart.len() as u64;
        if is_brief && at != restarted {
            others.push(format!("{title}; {}", if n == 0 { "no restart".to_owned() } else { count(n, "restart") }));
        } else if n == 0 {
            let text = format!("{}\n  no restart in any replication", style.bold(&title));
            page.push(Block::text(Rank::Main, text));
        } else {
            let divided = if is_brief { 1 } else { usize::MAX };
            let table = restarts_table(jobset, divided).formatted(style);
            page.push(table_block(Rank::Main, &title, &table, style).minimum(PHASES_MIN, 0));
        }
    }
    page.push(Block::new(Rank::Support, "").entries(others).noun("JobSet").growth(Rank::Note));
}

/// Number of rows of a JobSet that a summary contains if it has few lines: a restart and its phases.
const PHASES_MIN: usize = 6;

/// Returns the estimates of the restarts, of which the first `divided` ones have a row per phase.
fn restarts_table(jobset: &JobSetEstimates, divided: usize) -> EstimateFormat {
    let mut table = EstimateFormat::new(&HEAD, PREFERRED_WIDTHS);
    for (at, r) in jobset.each_restart.iter().enumerate() {
        if r.not_ended > 0 && r.ended > 0 {
            table.text(format!(
                "ATTENTION: restart {} ended in {} of {}; the estimates exclude the other {}",
                r.restart,
                r.ended,
                count((r.ended + r.not_ended) as u64, "replication"),
                r.not_ended
            ));
        }
        if let Some(total) = &r.total_s {
            add_estimate(&mut table, &format!("restart {}", r.restart), total);
            for phase in Phase::ALL.map(Phase::as_str).into_iter().filter(|_| at < divided) {
                if let Some(e) = r.phases_s.get(phase) {
                    add_estimate(&mut table, &format!("  {phase}"), e);
                }
            }
        } else {
            table.text(format!("restart {}: all pods ready again in no replication", r.restart));
        }
    }
    table
}

/// Returns the accelerator cost by activity in descending order, with the total at the end.
fn costs(cost: &WorkCost, style: &WaterfallStyle) -> Block {
    let Some(total) = cost.total.filter(|total| total.mean > 0.0) else {
        return Block::new(Rank::Note, "");
    };
    let of = |(name, e): (&&'static str, &Option<MeanEstimate>)| e.map(|e| (*name, e));
    let mut all: Vec<(&str, MeanEstimate)> = cost.by_category.iter().filter_map(of).collect();
    all.retain(|(_, e)| e.mean > 0.0);
    all.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    all.push(("total", total));
    let money = |v: f64| format!("{v:.2}");
    let title = format!("Cost in {} by accelerator activity", for_cell(&cost.currency));
    let mut table = EstimateFormat::new(&HEAD, PREFERRED_WIDTHS);
    for (name, e) in all {
        add_formatted_estimate(&mut table, name, &e, money);
    }
    table_block(Rank::Support, &title, &table.formatted(style), style).minimum(1, 1)
}

fn add_estimate(table: &mut EstimateFormat, name: &str, e: &MeanEstimate) {
    let values = [e.p10, e.p50, e.p90, e.mean, e.ci95[0], e.ci95[1]];
    let [p10, p50, p90, mean, low, high] =
        format_seconds_row(values.map(Some), |v| seconds(Duration::from_seconds_f64(v)));
    let interval = if e.n > 1 { format!("{low} to {high}") } else { "-".to_owned() };
    table.row(vec![name.to_owned(), e.n.to_string(), p10, p50, p90, mean, interval]);
}

/// Adds a row for an estimate, with its values formatted by `show`.
fn add_formatted_estimate(table: &mut EstimateFormat, name: &str, e: &MeanEstimate, show: impl Fn(f64) -> String) {
    let interval = if e.n > 1 { format!("{} to {}", show(e.ci95[0]), show(e.ci95[1])) } else { "-".to_owned() };
    table.row(vec![name.to_owned(), e.n.to_string(), show(e.p10), show(e.p50), show(e.p90), show(e.mean), interval]);
}

/// Returns a table with a row per JobSet and estimate. Values are seconds or shares.
pub fn estimates_table(all: &ReplicationSet) -> Table {
    let mut table = Table::new(["jobset", "what", "unit"].into_iter().chain(COLUMNS));
    for jobset in &all.job_sets {
        let ettr = jobset.training.as_ref().and_then(|t| t.ettr);
        let mut rows = vec![("goodput".to_owned(), "share", jobset.goodput), ("ettr".to_owned(), "share", ettr)];
        for r in &jobset.each_restart {
            rows.push((format!("restart {}", r.restart), "s", r.total_s));
            for phase in Phase::ALL.map(Phase::as_str) {
                let estimate = r.phases_s.get(phase).copied();
                rows.push((format!("restart {} {phase}", r.restart), "s", estimate));
            }
        }
        for (what, unit, e) in rows.into_iter().filter_map(|(what, unit, e)| Some((what, unit, e?))) {
            let named = [jobset.name.clone(), what, unit.to_owned()].into_iter();
            table.push(named.chain(cells(&e)));
        }
    }
    table
}

/// Returns `replications.csv` with a row per replication and JobSet.
pub fn table(all: &ReplicationSet, rows: &[ReplicationResult]) -> Table {
    let header = "replication seed jobset terminal_state end_s outcome end_reason restarts \
    recoveries restart_budget_used status_restarts restarts_count_towards_max latency_p50_s latency_p95_s latency_max_s cost digest"
        .split(' ');
    let mut table = Table::new(header);
    for r in rows {
        for (j, name) in r.jobsets.iter().zip(&all.job_sets) {
            let optional = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
            let row = [
                r.replication.to_string(),
                all.seed.to_string(),
                name.name.clone(),
                j.terminal_state.to_owned(),
                r.end_s.to_string(),
                r.outcome().as_str().to_owned(),
                r.end_reason.to_owned(),
                j.all_restarts.to_string(),
                j.each.len().to_string(),
                j.restart_budget_used.to_string(),
                j.restarts.to_string(),
                j.restarts_count_towards_max.to_string(),
                optional(j.latency_quantile(0.5).seconds()),
                optional(j.latency_quantile(0.95).seconds()),
                optional(j.latency_quantile(1.0).seconds()),
                r.cost.to_string(),
                format!("{:016x}", r.digest),
            ];
            table.push(row);
        }
    }
    table
}
