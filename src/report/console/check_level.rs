//! Console output of `run --check-level`: both levels of detail side by side, per replication and on average.

use super::waterfall::WaterfallStyle;
use crate::table::Table;
use serde::Serialize;
use sim_analysis::experiment::{CheckedLevels, LevelDifference, LevelVerdict, NodesExperiment, level_differences};
use sim_analysis::format::{count, percent, with_sign, wrap};
use std::fmt::Write;

/// Results at both levels over all replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LevelCheck {
    pub scenario: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of replications in which all JobSets have equal restart counts and terminal states.
    pub equal: usize,
    /// Level nodes − level pods, by quantity.
    pub differences: Vec<LevelDifference>,
    /// The least agreement among the quantities.
    pub verdict: LevelVerdict,
    /// Results per replication, in order.
    pub replications: Vec<CheckRow>,
}

/// Results of one replication.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckRow {
    /// Number of the replication.
    pub replication: u64,
    /// Result at level `pods`.
    pub pods: CheckSide,
    /// Result at level `nodes`.
    pub nodes: CheckSide,
    /// True if restart counts and terminal states are equal.
    pub is_equal: bool,
}

/// Result at one level for one replication, over all JobSets.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckSide {
    /// Number of restarts.
    pub restarts: u32,
    /// Terminal states, `running` for a JobSet without one, separated by commas.
    pub terminal_states: String,
    /// Mean goodput of the training jobs.
    pub goodput: f64,
}

fn row(checked: &CheckedLevels) -> CheckRow {
    let goodput = checked.goodput();
    let side = |result: &sim_analysis::experiment::ReplicationResult, goodput| {
        let states = result.jobsets.iter().map(|jobset| match jobset.terminal_state {
            "" => "running",
            state => state,
        });
        CheckSide {
            restarts: result.jobsets.iter().map(|jobset| jobset.all_restarts).sum(),
            terminal_states: states.collect::<Vec<_>>().join(","),
            goodput,
        }
    };
    CheckRow {
        replication: checked.pods.replication,
        pods: side(&checked.pods, goodput[0]),
        nodes: side(&checked.nodes, goodput[1]),
        is_equal: checked.is_equal(),
    }
}

impl LevelCheck {
    /// Builds the report from the checked replications.
    pub fn from_checks(nodes: &NodesExperiment, seed: u64, all: &[CheckedLevels]) -> LevelCheck {
        let differences = level_differences(all);
        LevelCheck {
            scenario: nodes.scenario().name.clone(),
            seed,
            equal: all.iter().filter(|checked| checked.is_equal()).count(),
            verdict: differences.iter().map(|of| of.verdict).max().unwrap_or(LevelVerdict::Inconclusive),
            differences,
            replications: all.iter().map(row).collect(),
        }
    }

    /// Returns why the check fails: the quantities in which the levels differ. `None` if none differs.
    pub fn failure(&self) -> Option<String> {
        let differ = self.differences.iter().filter(|of| of.verdict == LevelVerdict::Differ);
        let names: Vec<&str> = differ.map(|of| of.name).collect();
        (!names.is_empty()).then(|| format!("the levels differ in {}", names.join(" and ")))
    }

    /// Returns the tables for the console.
    pub fn text(&self, style: &WaterfallStyle) -> String {
        let mut out = String::new();
        let n = self.replications.len();
        let title =
            format!("{}: {}, seed {}, levels pods and nodes", self.scenario, count(n as u64, "replication"), self.seed);
        let _ = writeln!(out, "{}\n", style.bold(&title));
        let head = format!(
            "  {:>4}  {:>13}  {:<23}  {:>9}  {:>9}  {:>10}",
            "", "restarts", "end", "pods", "nodes", "difference"
        );
        let _ = writeln!(out, "{}", style.dim(&head));
        for row in &self.replications {
            let (pods, nodes) = (&row.pods, &row.nodes);
            let both = |a: &str, b: &str| if a == b { a.to_owned() } else { format!("{a} | {b}") };
            let _ = writeln!(
                out,
                "  {:>4}  {:>13}  {:<23}  {:>9}  {:>9}  {:>10}",
                row.replication,
                both(&pods.restarts.to_string(), &nodes.restarts.to_string()),
                both(&pods.terminal_states, &nodes.terminal_states),
                percent(pods.goodput, 3),
                percent(nodes.goodput, 3),
                format!("{} %", with_sign((nodes.goodput - pods.goodput) * 100.0, 3))
            );
        }
        out.push('\n');
        out.push_str(&self.means(style));
        out
    }

    /// Returns the means with their differences, and how many replications are equal.
    pub fn means(&self, style: &WaterfallStyle) -> String {
        let mut out = String::new();
        let n = self.replications.len();
        let head = format!(
            "  {:<18}{:>10}  {:>10}  {:>30}  {:>9}",
            "mean", "pods", "nodes", "difference (95 % CI)", "accepted"
        );
        let _ = writeln!(out, "{}", style.dim(&head));
        for of in &self.differences {
            let [low, high] = of.difference.ci95;
            let sign = |value: f64| with_sign(value, 3);
            let needed = of.replications_needed.map(|n| format!(": {n} replications needed"));
            let _ = writeln!(
                out,
                "  {:<18}{:>10.3}  {:>10.3}  {:>30}  {:>9}  {}{}",
                of.name,
                of.pods,
                of.nodes,
                format!("{} ({} to {})", sign(of.difference.mean), sign(low), sign(high)),
                format!("{:.3}", of.tolerance),
                of.verdict.name(),
                needed.unwrap_or_default()
            );
        }
        let sentence = format!(
            "Restart counts and terminal states are equal in {} of {n} replications. Both levels have the same faults; \
             choices among equal nodes are drawn separately.",
            self.equal
        );
        out.push('\n');
        for line in wrap(&sentence, style.width) {
            let _ = writeln!(out, "{line}");
        }
        out
    }

    /// Returns the CSV table with one row per replication.
    pub fn table(&self) -> Table {
        let mut table = Table::new(
            "replication restarts_pods restarts_nodes end_pods end_nodes goodput_pods goodput_nodes equal".split(' '),
        );
        for row in &self.replications {
            table.push([
                row.replication.to_string(),
                row.pods.restarts.to_string(),
                row.nodes.restarts.to_string(),
                row.pods.terminal_states.clone(),
                row.nodes.terminal_states.clone(),
                row.pods.goodput.to_string(),
                row.nodes.goodput.to_string(),
                row.is_equal.to_string(),
            ]);
        }
        table
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/report/console/check_level.rs"]
mod tests;
