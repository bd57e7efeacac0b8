//! A sweep as CSV and Markdown tables, and the CSV table of its replications.

use super::compare_tables::mean_cell;
use crate::estimates::{COLUMNS, MISSING_COLUMNS, metric_cells};
use crate::sweep_selection::{axis_names, selected_metrics};
use crate::table::Table;
use sim_analysis::sweep::SweepResults;
use sim_analysis::sweep::results::BestPoint;
use sim_base::escape::for_markdown;

/// Returns a row per point and metric.
pub fn estimates(all: &SweepResults) -> Table {
    let paths = all.points().axes().iter().map(|a| a.path.as_str());
    let numbers = [&["metric"][..], &COLUMNS, &MISSING_COLUMNS, &["rank"]].concat();
    let header: Vec<&str> = ["point"].into_iter().chain(paths).chain(numbers).collect();
    let mut table = Table::new(header);
    let best: Vec<Vec<BestPoint>> = all.names().iter().map(|name| all.best_choices(name)).collect();
    for point in 0..all.points().count() {
        for (metric, best) in all.names().iter().zip(&best) {
            let e = all.estimate(point, metric);
            let values = all.points().values(point).into_iter().map(str::to_owned);
            let point_named = [point.to_string()].into_iter().chain(values);
            let rank = if all.has_replications() { rank(best, point).to_owned() } else { String::new() };
            let row = point_named.chain([metric.clone()]).chain(metric_cells(&e));
            table.push(row.chain([rank]));
        }
    }
    table
}

fn rank(best: &[BestPoint], point: usize) -> &'static str {
    match best {
        all if all.iter().any(|best| best.point == point) => "best",
        all if all.iter().any(|best| best.equal.contains(&point)) => "equal",
        all if all.iter().any(|best| best.inconclusive.contains(&point)) => "inconclusive",
        all if all.iter().any(|best| best.unranked.contains(&point)) => "unranked",
        _ => "",
    }
}

/// Returns `replications.csv` with a row per point and replication. Metrics are exact; cells of undefined metrics
/// are empty.
pub fn replications(seed: u64, all: &SweepResults) -> Table {
    let paths = all.points().axes().iter().map(|a| a.path.as_str());
    let header = ["point"].into_iter().chain(paths);
    let header = header.chain(["replication", "seed", "outcome", "end_reason", "digest"]);
    let header: Vec<&str> = header.chain(all.names().iter().map(String::as_str)).collect();
    let mut table = Table::new(header);
    for point in 0..all.points().count() {
        let values: Vec<String> = all.points().values(point).into_iter().map(str::to_owned).collect();
        let columns: Vec<_> = all.names().iter().map(|name| all.column(point, name)).collect();
        for (i, row) in all.rows(point).iter().enumerate() {
            let head = [point.to_string()].into_iter().chain(values.iter().cloned());
            let head = head.chain([
                row.replication.to_string(),
                seed.to_string(),
                row.outcome.as_str().to_owned(),
                row.end_reason.clone(),
                format!("{:016x}", row.digest),
            ]);
            let measured = columns.iter().map(|column| column[i].value());
            let measured = measured.map(|v| v.map_or(String::new(), |v| v.to_string()));
            table.push(head.chain(measured));
        }
    }
    table
}

/// Returns Markdown for a design document: the conclusion and a table of the means of the selected metrics.
pub fn markdown(all: &SweepResults, request: &[String]) -> String {
    let metrics = selected_metrics(all, request);
    let mut table = Table::new(axis_names(all).into_iter().chain(metrics.iter().cloned()));
    for point in 0..all.points().count() {
        let values = all.points().values(point).into_iter().map(str::to_owned);
        let mean = |metric: &String| mean_cell(metric, &all.estimate(point, metric));
        table.push(values.chain(metrics.iter().map(mean)));
    }
    format!("{}\n\n{}", for_markdown(&crate::console::sweep::conclusion(all, request)), table.markdown())
}
