//! Console output of `run --check-collapsed`: the full and the reduced model side by side, per replication.

use super::waterfall::Style;
use crate::table::Table;
use serde::Serialize;
use sim_analysis::experiment::{Agreement, BriefRestart, Checked, Collapsed, Counted, Differences};
use sim_analysis::format::{count, with_sign, wrap};
use std::fmt::Write;

/// Results of the full and the reduced model over all replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Number of full simulations that were run to measure restart times for the reduced model.
    pub measured_plays: u64,
    /// Largest spread in seconds among the measured restart times of one kind, from which the reduced model samples.
    #[serde(rename = "spread_s")]
    pub spread_s: f64,
    /// Number of replications with equal restart counts and terminal states in both models.
    pub equal: usize,
    /// Number of replications whose goodput difference is within the bound.
    pub within_bound: usize,
    /// Number of replications with a fault close to a boundary between two outcomes. Their results may differ.
    pub close: usize,
    /// Reduced model − full model over all replications; `None` without replications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differences: Option<Differences>,
    /// Results per replication, in order.
    pub replications: Vec<Row>,
}

fn differences(rows: &[Row]) -> Option<Differences> {
    let both = |of: &dyn Fn(&Side) -> f64| {
        rows.iter()
            .map(|r| [of(&r.pods), of(&r.collapsed)])
            .collect()
    };
    let restarts: Vec<[f64; 2]> = both(&|side| f64::from(side.restarts));
    let goodput: Vec<[f64; 2]> = both(&|side| side.goodput);
    let bounds = rows.iter().map(|row| row.bound).collect();
    Differences::of(&restarts, &goodput, bounds)
}

fn sentence(differences: &Differences) -> String {
    let (restarts, goodput) = (&differences.restarts, &differences.goodput);
    let more = |restarts: f64| with_sign(restarts, 3);
    let so = match differences.uneven.is_empty() {
        true => "",
        false => " That does not even out.",
    };
    format!(
        "On average collapsed replications have {} restarts (95 % interval {} to {}) and {} goodput ({} to {}) beside \
         those with every pod.{so}",
        more(restarts.mean),
        more(restarts.ci95[0]),
        more(restarts.ci95[1]),
        more_percent(goodput.mean),
        more_percent(goodput.ci95[0]),
        more_percent(goodput.ci95[1])
    )
}

/// Results of one replication.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Index of the replication.
    pub replication: u64,
    /// Result of the full model, which simulates every pod.
    pub pods: Side,
    /// Result of the reduced model.
    pub collapsed: Side,
    /// Largest permitted difference in goodput.
    pub bound: f64,
    /// Number of faults close to a boundary between two outcomes.
    pub close_calls: u32,
    /// Agreement of the two models.
    pub verdict: Agreement,
    /// The first restart that differs between the models, with start and end in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<String>,
}

/// Describes the first restart that exists in only one model, starts at least 1 s apart or ends at least 60 s apart.
fn parts(checked: &Checked) -> Option<String> {
    let [pods, collapsed] = [&checked.pods, &checked.collapsed].map(|r| &r.jobsets[0].each);
    let told = |r: Option<&BriefRestart>| match r {
        Some(r) => format!("{:.1} to {:.1} s", r.start.seconds(), r.end.seconds()),
        None => "none".to_owned(),
    };
    let near = |a: &BriefRestart, b: &BriefRestart| {
        let off = |x: f64, y: f64| (x - y).abs();
        off(a.start.seconds(), b.start.seconds()) < 1.0
            && off(a.end.seconds(), b.end.seconds()) < 60.0
    };
    let n = pods.len().max(collapsed.len());
    let first = (0..n).find(|i| {
        let both = pods.get(*i).zip(collapsed.get(*i));
        both.is_none_or(|(a, b)| !near(a, b))
    })?;
    Some(format!(
        "restart {}: {} with every pod, {} collapsed",
        first + 1,
        told(pods.get(first)),
        told(collapsed.get(first))
    ))
}

/// Result of one model for one replication.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// The value of `status.restarts` at the end.
    pub restarts: u32,
    /// The value of `status.restartsCountTowardsMax` at the end.
    pub restarts_count_towards_max: u32,
    /// One of `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// Goodput of the training job.
    pub goodput: f64,
}

fn side(counted: Counted, goodput: f64) -> Side {
    Side {
        restarts: counted.restarts,
        restarts_count_towards_max: counted.counts,
        terminal_state: counted.terminal_state,
        goodput,
    }
}

fn row(checked: &Checked) -> Row {
    let (pods, collapsed) = checked.goodput();
    let verdict = checked.agreement();
    Row {
        parts: parts(checked).filter(|_| verdict != Agreement::Equal),
        replication: checked.pods.replication,
        pods: side(Counted::of(&checked.pods), pods),
        collapsed: side(Counted::of(&checked.collapsed), collapsed),
        bound: checked.bound,
        close_calls: checked.close_calls,
        verdict,
    }
}

impl Check {
    /// Builds the report from the checked replications.
    pub fn of(collapsed: &Collapsed, seed: u64, all: &[Checked]) -> Check {
        let count = |is: &dyn Fn(&Checked) -> bool| all.iter().filter(|c| is(c)).count();
        let rows: Vec<Row> = all.iter().map(row).collect();
        Check {
            scenario: collapsed.scenario().name.clone(),
            seed,
            measured_plays: collapsed.measured().plays(),
            spread_s: collapsed.measured().spread_s(),
            equal: count(&Checked::is_equal),
            within_bound: count(&Checked::is_within_bound),
            close: count(&|c| c.close_calls > 0),
            differences: differences(&rows),
            replications: rows,
        }
    }

    /// Returns why the check fails: replications that differ without a boundary case, more than half of the
    /// replications differing, or differences that do not average out. `None` if it passes.
    pub fn failure(&self) -> Option<String> {
        let rows = &self.replications;
        let are = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let (different, close, of) = (are(Agreement::Different), are(Agreement::Close), rows.len());
        if different > 0 || close * 2 > of {
            let differ = different + close;
            return Some(format!(
                "the levels differ in {differ} of {of} replications"
            ));
        }
        let uneven = &self.differences.as_ref()?.uneven;
        let told = || format!("the levels differ in {} on average", uneven.join(" and "));
        (!uneven.is_empty()).then(told)
    }

    /// Returns the table for the console.
    pub fn text(&self, style: &Style) -> String {
        let mut out = String::new();
        let n = self.replications.len();
        let title = format!(
            "{}: {} of seed {} with every pod, and collapsed",
            self.scenario,
            count(n as u64, "replication"),
            self.seed
        );
        let _ = writeln!(out, "{}\n", style.bold(&title));
        let head = format!(
            "  {:>4}  {:>13}  {:>13}  {:<11}  {:>9}  {:>9}  {:>10}  {:>8}  {:>5}",
            "",
            "restarts",
            "that count",
            "end",
            "goodput",
            "collapsed",
            "difference",
            "bound",
            "close"
        );
        let _ = writeln!(out, "{}", style.dim(&head));
        for row in &self.replications {
            let (a, b) = (&row.pods, &row.collapsed);
            let both = |a: u32, b: u32| match a == b {
                true => a.to_string(),
                false => format!("{a} | {b}"),
            };
            let end = |s: &'static str| if s.is_empty() { "runs" } else { s };
            let ends = match a.terminal_state == b.terminal_state {
                true => end(a.terminal_state).to_owned(),
                false => format!("{} | {}", end(a.terminal_state), end(b.terminal_state)),
            };
            let line = format!(
                "  {:>4}  {:>13}  {:>13}  {:<11}  {:>9}  {:>9}  {:>10}  {:>8}  {:>5}",
                row.replication,
                both(a.restarts, b.restarts),
                both(a.restarts_count_towards_max, b.restarts_count_towards_max),
                ends,
                percent(a.goodput),
                percent(b.goodput),
                more_percent(b.goodput - a.goodput),
                format!("{:.4} %", row.bound * 100.0),
                row.close_calls
            );
            let _ = match row.verdict {
                Agreement::Different => writeln!(out, "{line}  {}", row.verdict.name()),
                Agreement::Equal | Agreement::Close => writeln!(out, "{line}"),
            };
            if let Some(parts) = &row.parts {
                let _ = writeln!(out, "        {parts}");
            }
        }
        let told = format!(
            "Restarts and ends are equal in {} of {n} replications, goodput is within its bound in {}; {} had a fault \
             so near an edge that they need not be. The bound of a replication: for each restart twice the widest \
             spread of the times that were measured for its kind ({:.3} s at most), and what that moves over the edge \
             of a checkpoint. \
             Measured in {}.",
            self.equal,
            self.within_bound,
            self.close,
            self.spread_s,
            count(self.measured_plays, "play")
        );
        let differs = self.differences.as_ref();
        let differs = differs.filter(|d| self.equal < n || !d.uneven.is_empty());
        let told = [Some(told), differs.map(sentence)];
        for paragraph in told.into_iter().flatten() {
            out.push('\n');
            for line in wrap(&paragraph, style.width) {
                let _ = writeln!(out, "{line}");
            }
        }
        out
    }

    /// Returns the CSV table with one row per replication.
    pub fn table(&self) -> Table {
        let mut table = Table::new([
            "replication",
            "restarts_pods",
            "restarts_collapsed",
            "counted_pods",
            "counted_collapsed",
            "end_pods",
            "end_collapsed",
            "goodput_pods",
            "goodput_collapsed",
            "bound",
            "close_calls",
            "verdict",
        ]);
        for row in &self.replications {
            let (a, b) = (&row.pods, &row.collapsed);
            table.push([
                row.replication.to_string(),
                a.restarts.to_string(),
                b.restarts.to_string(),
                a.restarts_count_towards_max.to_string(),
                b.restarts_count_towards_max.to_string(),
                a.terminal_state.to_owned(),
                b.terminal_state.to_owned(),
                a.goodput.to_string(),
                b.goodput.to_string(),
                row.bound.to_string(),
                row.close_calls.to_string(),
                row.verdict.name().to_owned(),
            ]);
        }
        table
    }
}

fn more_percent(share: f64) -> String {
    format!("{} %", with_sign(share * 100.0, 4))
}

fn percent(share: f64) -> String {
    format!("{:.4} %", share * 100.0)
}

#[cfg(test)]
#[path = "../../../tests/inside/report/console/check_collapsed.rs"]
mod tests;
