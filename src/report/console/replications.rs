//! Console output of `run --seeds N`: latency and phases of each restart over the replications.

use super::compare::{MAIN_METRICS, format_metric_value, is_headline_metric};
use super::waterfall::WaterfallStyle;
use crate::estimates::{COLUMNS, EstimateFormat, HEAD, cells};
use crate::table::Table;
use sim_analysis::experiment::{JobSetEstimates, MetricEstimate, ReplicationResult, ReplicationSet, WorkCost};
use sim_analysis::format::{count, seconds, wrap};
use sim_analysis::metrics::Phase;
use sim_base::Duration;
use sim_base::escape::for_cell;
use sim_base::stats::MeanEstimate;
use std::fmt::Write;

/// Preferred widths of the name, count and value columns of an estimate.
const PREFERRED_WIDTHS: [usize; 3] = [22, 5, 9];

pub fn text(all: &ReplicationSet, style: &WaterfallStyle) -> String {
    let mut out = String::new();
    let head = ReplicationsHead {
        version: all.version,
        scenario: &all.scenario,
        digest: &all.digest,
        replications: count(all.replications as u64, all.level.replication_term()),
        seed: all.seed,
        outcomes: all.outcomes.to_string(),
    };
    head.write(&mut out, style);
    write_main_metrics(&mut out, all, style);
    for jobset in &all.job_sets {
        write_jobset(&mut out, jobset, style);
    }
    costs(&mut out, &all.cost, style);
    let mut push_line = |text: &str| {
        for (i, line) in wrap(text, style.width - 2).iter().enumerate() {
            let _ = writeln!(out, "{}{line}", if i == 0 { "" } else { "  " });
        }
    };
    for warning in &all.warnings {
        push_line(&format!("Warning: {warning}"));
    }
    if !all.not_modelled.is_empty() {
        push_line(&format!("Not modelled: {}", all.not_modelled.join(", ")));
    }
    out
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
    pub fn write(&self, out: &mut String, style: &WaterfallStyle) {
        let ReplicationsHead { version, scenario, digest, replications, seed, outcomes } = self;
        let title = format!("jobset-sim {version}: {scenario}, {replications}, seed {seed}");
        let _ = writeln!(out, "{}", style.bold(&title));
        let _ = writeln!(out, "  {outcomes}");
        let _ = writeln!(out, "  digest {digest}\n");
    }
}

/// Writes the estimates of the main metrics, with the names that `compare` uses.
fn write_main_metrics(out: &mut String, all: &ReplicationSet, style: &WaterfallStyle) {
    let mut table = EstimateFormat::new(&HEAD, PREFERRED_WIDTHS);
    for names in MAIN_METRICS {
        let of_name = |name: &'static str| {
            let has_value = |e: &MetricEstimate| e.n > 0 && !(name.starts_with("cost.") && e.mean == Some(0.0));
            let own = all.metrics.iter().filter(move |(_, e)| has_value(e));
            own.filter(move |(metric, _)| is_headline_metric(metric, name))
        };
        let mut with_values = names.iter().filter(|name| of_name(name).next().is_some());
        let Some(name) = with_values.next() else {
            continue;
        };
        for (metric, e) in of_name(name) {
            let cell = |v: Option<f64>| v.map_or("-".to_owned(), |v| format_metric_value(metric, v));
            let interval = match e.ci95 {
                Some([low, high]) if e.n > 1 => {
                    format!("{} to {}", cell(Some(low)), cell(Some(high)))
                }
                _ => "-".to_owned(),
            };
            let quantiles = [e.p10, e.p50, e.p90, e.mean].map(cell);
            let start = [metric.clone(), e.n.to_string()].into_iter();
            table.row(start.chain(quantiles).chain([interval]).collect());
        }
    }
    let _ = writeln!(out, "{}", style.bold("Main metrics"));
    table.write(out, style);
    out.push('\n');
}

fn write_jobset(out: &mut String, jobset: &JobSetEstimates, style: &WaterfallStyle) {
    let states: Vec<String> = jobset
        .terminal_states
        .iter()
        .map(|(s, n)| format!("{} {n}", if s.is_empty() { "not finished" } else { s }))
        .collect();
    let _ = writeln!(out, "{}", style.bold(&format!("JobSet {}: {}", jobset.name, states.join(", "))));
    let mut table = EstimateFormat::new(&HEAD, PREFERRED_WIDTHS);
    for r in &jobset.each_restart {
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
            for phase in Phase::ALL.map(Phase::as_str) {
                if let Some(e) = r.phases_s.get(phase) {
                    add_estimate(&mut table, &format!("  {phase}"), e);
                }
            }
        } else {
            table.text(format!("restart {}: all pods ready again in no replication", r.restart));
        }
    }
    if jobset.each_restart.is_empty() {
        table.text("no restart in any replication".to_owned());
    }
    table.write(out, style);
    out.push('\n');
}

/// Writes the accelerator cost by activity in descending order.
fn costs(out: &mut String, cost: &WorkCost, style: &WaterfallStyle) {
    let Some(total) = cost.total.filter(|total| total.mean > 0.0) else {
        return;
    };
    let of = |(name, e): (&&'static str, &Option<MeanEstimate>)| e.map(|e| (*name, e));
    let mut all: Vec<(&str, MeanEstimate)> = cost.by_category.iter().filter_map(of).collect();
    all.retain(|(_, e)| e.mean > 0.0);
    all.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    all.push(("total", total));
    let money = |v: f64| format!("{v:.2}");
    let title = format!("Cost in {} by accelerator activity", for_cell(&cost.currency));
    let _ = writeln!(out, "{}", style.bold(&title));
    let mut table = EstimateFormat::new(&HEAD, PREFERRED_WIDTHS);
    for (name, e) in all {
        add_formatted_estimate(&mut table, name, &e, money);
    }
    table.write(out, style);
    out.push('\n');
}

fn add_estimate(table: &mut EstimateFormat, name: &str, e: &MeanEstimate) {
    add_formatted_estimate(table, name, e, |v| seconds(Duration::from_seconds_f64(v)));
}

/// Adds a row for an estimate, with its values formatted by `show`.
fn add_formatted_estimate(table: &mut EstimateFormat, name: &str, e: &MeanEstimate, show: impl Fn(f64) -> String) {
    let interval = format!("{} to {}", show(e.ci95[0]), show(e.ci95[1]));
    table.row(vec![name.to_owned(), e.n.to_string(), show(e.p10), show(e.p50), show(e.p90), show(e.mean), interval]);
}

/// Returns a table with a row per JobSet and estimate. Values are seconds or shares.
pub fn estimates_table(all: &ReplicationSet) -> Table {
    let mut table = Table::new(["jobset", "what"].into_iter().chain(COLUMNS));
    for jobset in &all.job_sets {
        let ettr = jobset.training.as_ref().and_then(|t| t.ettr);
        let mut rows = vec![("goodput".to_owned(), jobset.goodput), ("ettr".to_owned(), ettr)];
        for r in &jobset.each_restart {
            rows.push((format!("restart {}", r.restart), r.total_s));
            for phase in Phase::ALL.map(Phase::as_str) {
                let estimate = r.phases_s.get(phase).copied();
                rows.push((format!("restart {} {phase}", r.restart), estimate));
            }
        }
        for (what, e) in rows.into_iter().filter_map(|(what, e)| Some((what, e?))) {
            let named = [jobset.name.clone(), what].into_iter();
            table.push(named.chain(cells(&e)));
        }
    }
    table
}

/// Returns `replications.csv` with a row per replication and JobSet.
pub fn table(all: &ReplicationSet, rows: &[ReplicationResult]) -> Table {
    let header = "replication seed jobset terminal_state end outcome end_reason restarts \
    restarts_count_towards_max latency_p50 latency_p95 latency_max cost digest"
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
