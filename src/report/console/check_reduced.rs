//! Console output of `run --check-reduced`: the full and the reduced model side by side, per replication.

use super::waterfall::WaterfallStyle;
use crate::table::Table;
use serde::Serialize;
use sim_analysis::experiment::{
    BriefRestart, CheckedModel, CountedEvents, ModelAgreement, ModelDifferences, ReducedExperiment,
};
use sim_analysis::format::{count, percent, with_sign, wrap};
use std::fmt::Write;

/// Results of the full and the reduced model over all replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCheck {
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
    pub differences: Option<ModelDifferences>,
    /// Results per replication, in order.
    pub replications: Vec<CheckRow>,
}

fn differences(rows: &[CheckRow]) -> Option<ModelDifferences> {
    let both = |of: &dyn Fn(&CheckSide) -> f64| rows.iter().map(|r| [of(&r.pods), of(&r.reduced)]).collect();
    let restarts: Vec<[f64; 2]> = both(&|side| f64::from(side.restarts));
    let goodput: Vec<[f64; 2]> = both(&|side| side.goodput);
    let bounds = rows.iter().map(|row| row.bound).collect();
    ModelDifferences::compare(&restarts, &goodput, bounds)
}

fn sentence(differences: &ModelDifferences) -> String {
    let (restarts, goodput) = (&differences.restarts, &differences.goodput);
    let more = |restarts: f64| with_sign(restarts, 3);
    let so = if differences.uneven.is_empty() { "" } else { " This difference does not average out." };
    format!(
        "Mean difference of the reduced model from the full model: {} restarts (95 % CI {} to {}), {} goodput ({} to {}).\
         {so}",
        more(restarts.mean),
        more(restarts.ci95[0]),
        more(restarts.ci95[1]),
        percent_difference(goodput.mean),
        percent_difference(goodput.ci95[0]),
        percent_difference(goodput.ci95[1])
    )
}

/// Results of one replication.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckRow {
    /// Index of the replication.
    pub replication: u64,
    /// Result of the full model, which simulates every pod.
    pub pods: CheckSide,
    /// Result of the reduced model.
    pub reduced: CheckSide,
    /// Largest permitted difference in goodput.
    pub bound: f64,
    /// Number of faults close to a boundary between two outcomes.
    pub boundary_cases: u32,
    pub verdict: ModelAgreement,
    /// The first restart that differs between the models, with start and end in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<String>,
}

/// Describes the first restart that exists in only one model, starts at least 1 s apart or ends at least 60 s apart.
fn describe_first_difference(checked: &CheckedModel) -> Option<String> {
    let [pods, reduced] = [&checked.pods, &checked.reduced].map(|r| &r.jobsets[0].each);
    let describe = |r: Option<&BriefRestart>| match r {
        Some(r) => format!("{:.1} to {:.1} s", r.start.seconds(), r.end.seconds()),
        None => "none".to_owned(),
    };
    let near = |a: &BriefRestart, b: &BriefRestart| {
        let off = |x: f64, y: f64| (x - y).abs();
        off(a.start.seconds(), b.start.seconds()) < 1.0 && off(a.end.seconds(), b.end.seconds()) < 60.0
    };
    let n = pods.len().max(reduced.len());
    let first = (0..n).find(|i| {
        let both = pods.get(*i).zip(reduced.get(*i));
        both.is_none_or(|(a, b)| !near(a, b))
    })?;
    Some(format!(
        "restart {}: {} in the full model, {} in the reduced model",
        first + 1,
        describe(pods.get(first)),
        describe(reduced.get(first))
    ))
}

/// Result of one model for one replication.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckSide {
    /// The value of `status.restarts` at the end.
    pub restarts: u32,
    /// The value of `status.restartsCountTowardsMax` at the end.
    pub restarts_count_towards_max: u32,
    /// One of `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// Goodput of the training job.
    pub goodput: f64,
}

fn side(counted: CountedEvents, goodput: f64) -> CheckSide {
    CheckSide {
        restarts: counted.restarts,
        restarts_count_towards_max: counted.counts,
        terminal_state: counted.terminal_state,
        goodput,
    }
}

fn row(checked: &CheckedModel) -> CheckRow {
    let (pods, reduced) = checked.goodput();
    let verdict = checked.agreement();
    CheckRow {
        parts: describe_first_difference(checked).filter(|_| verdict != ModelAgreement::Equal),
        replication: checked.pods.replication,
        pods: side(CountedEvents::from_replication(&checked.pods), pods),
        reduced: side(CountedEvents::from_replication(&checked.reduced), reduced),
        bound: checked.bound,
        boundary_cases: checked.boundary_cases,
        verdict,
    }
}

impl ModelCheck {
    /// Builds the report from the checked replications.
    pub fn from_checks(reduced: &ReducedExperiment, seed: u64, all: &[CheckedModel]) -> ModelCheck {
        let count = |is: &dyn Fn(&CheckedModel) -> bool| all.iter().filter(|c| is(c)).count();
        let rows: Vec<CheckRow> = all.iter().map(row).collect();
        ModelCheck {
            scenario: reduced.scenario().name.clone(),
            seed,
            measured_plays: reduced.measured().trial_count(),
            spread_s: reduced.measured().spread_s(),
            equal: count(&CheckedModel::is_equal),
            within_bound: count(&CheckedModel::is_within_bound),
            close: count(&|c| c.boundary_cases > 0),
            differences: differences(&rows),
            replications: rows,
        }
    }

    /// Returns why the check fails: replications that differ without a boundary case, more than half of the
    /// replications differing, or differences that do not average out. `None` if it passes.
    pub fn failure(&self) -> Option<String> {
        let rows = &self.replications;
        let are = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let (different, close, of) = (are(ModelAgreement::Different), are(ModelAgreement::Close), rows.len());
        if different > 0 || close * 2 > of {
            let differ = different + close;
            return Some(format!("the models differ in {differ} of {of} replications"));
        }
        let uneven = &self.differences.as_ref()?.uneven;
        let sentence = || format!("the models differ on average in {}", uneven.join(" and "));
        (!uneven.is_empty()).then(sentence)
    }

    /// Returns the table for the console.
    pub fn text(&self, style: &WaterfallStyle) -> String {
        let mut out = String::new();
        let n = self.replications.len();
        let title = format!(
            "{}: {}, seed {}, full and reduced model",
            self.scenario,
            count(n as u64, "replication"),
            self.seed
        );
        let _ = writeln!(out, "{}\n", style.bold(&title));
        let head = format!(
            "  {:>4}  {:>11}  {:>11}  {:<11}  {:>9}  {:>9}  {:>10}  {:>8}  {:>5}",
            "", "restarts", "counted", "end", "goodput", "reduced", "difference", "bound", "close"
        );
        let _ = writeln!(out, "{}", style.dim(&head));
        for row in &self.replications {
            let (a, b) = (&row.pods, &row.reduced);
            let both = |a: u32, b: u32| {
                if a == b { a.to_string() } else { format!("{a} | {b}") }
            };
            let end = |s: &'static str| if s.is_empty() { "running" } else { s };
            let ends = if a.terminal_state == b.terminal_state {
                end(a.terminal_state).to_owned()
            } else {
                format!("{} | {}", end(a.terminal_state), end(b.terminal_state))
            };
            let line = format!(
                "  {:>4}  {:>11}  {:>11}  {:<11}  {:>9}  {:>9}  {:>10}  {:>8}  {:>5}",
                row.replication,
                both(a.restarts, b.restarts),
                both(a.restarts_count_towards_max, b.restarts_count_towards_max),
                ends,
                percent(a.goodput, 4),
                percent(b.goodput, 4),
                percent_difference(b.goodput - a.goodput),
                percent(row.bound, 4),
                row.boundary_cases
            );
            let _ = match row.verdict {
                ModelAgreement::Different => writeln!(out, "{line}  {}", row.verdict.name()),
                ModelAgreement::Equal | ModelAgreement::Close => writeln!(out, "{line}"),
            };
            if let Some(parts) = &row.parts {
                let _ = writeln!(out, "        {parts}");
            }
        }
        let accuracy = format!(
            "Restart counts and terminal states are equal in {} of {n} replications; goodput is within its bound in {}. \
             {} have a fault close to a boundary between two outcomes, so their results may differ. Bound of a \
             replication: for each restart, twice the largest spread of the restart times measured for its kind \
             (at most {:.3} s), plus the work that this shifts across a checkpoint. \
             Restart times were measured in {}.",
            self.equal,
            self.within_bound,
            self.close,
            self.spread_s,
            count(self.measured_plays, "full simulation")
        );
        let differs = self.differences.as_ref();
        let differs = differs.filter(|d| self.equal < n || !d.uneven.is_empty());
        let accuracy = [Some(accuracy), differs.map(sentence)];
        for paragraph in accuracy.into_iter().flatten() {
            out.push('\n');
            for line in wrap(&paragraph, style.width) {
                let _ = writeln!(out, "{line}");
            }
        }
        out
    }

    /// Returns the CSV table with one row per replication.
    pub fn table(&self) -> Table {
        let mut table = Table::new(
            "replication restarts_pods restarts_reduced counted_pods counted_reduced end_pods end_reduced \
    goodput_pods goodput_reduced bound boundary_cases verdict"
                .split(' '),
        );
        for row in &self.replications {
            let (a, b) = (&row.pods, &row.reduced);
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
                row.boundary_cases.to_string(),
                row.verdict.name().to_owned(),
            ]);
        }
        table
    }
}

fn percent_difference(share: f64) -> String {
    format!("{} %", with_sign(share * 100.0, 4))
}

#[cfg(test)]
#[path = "../../../tests/inside/report/console/check_reduced.rs"]
mod tests;
