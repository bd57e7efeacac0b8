//! The values that `--fail-if` can refer to: values of each row, statistics over all rows, and counts of rows.
//!
//! A condition must never pass because there is nothing to measure.

use super::against::{BaselineReport, moved};
use super::row::BenchRow;
use sim_analysis::metrics::Phase;
use sim_base::condition::FieldCondition;
use sim_base::stats::{quantile, sorted};

/// Statistics over all rows.
const OVER: [&str; 5] = ["min", "p50", "p95", "max", "mean"];
/// Names of the row counts.
const COUNTS: [&str; 5] = ["rows.stuck", "rows.changed", "rows.slower", "rows.faster", "rows.new"];

/// Result of checking a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedConditions {
    /// Condition text as given on the command line.
    pub condition: String,
    pub failed: bool,
    /// Checked value; for conditions on rows, the value of the worst row.
    pub value: f64,
    /// Whether `value` is a fraction of the baseline.
    pub is_share: bool,
    /// Rows for which the condition is true, for conditions on rows.
    pub rows: Vec<String>,
}

/// Kind of value that a name refers to.
enum MeasuredNumber<'n> {
    /// A value of each row.
    Each(&'n str),
    /// A statistic over all rows: value and statistic.
    Over(&'n str, &'n str),
    Count(&'n str),
}

/// Returns all names that conditions may use.
pub fn names() -> impl Iterator<Item = String> {
    let of_row = || ["ttr", "restarts"].into_iter().chain(Phase::ALL.map(Phase::as_str));
    let over = of_row().flat_map(|name| OVER.map(|over| format!("{name}.{over}")));
    let counts = COUNTS.map(str::to_owned);
    of_row().map(str::to_owned).chain(over).chain(counts)
}

fn number(name: &str) -> Option<MeasuredNumber<'_>> {
    let of_row = |name: &str| {
        let phases = Phase::ALL.map(Phase::as_str);
        name == "ttr" || name == "restarts" || phases.contains(&name)
    };
    if COUNTS.contains(&name) {
        return Some(MeasuredNumber::Count(name));
    }
    match name.rsplit_once('.') {
        Some((row, over)) if of_row(row) && OVER.contains(&over) => Some(MeasuredNumber::Over(row, over)),
        None if of_row(name) => Some(MeasuredNumber::Each(name)),
        _ => None,
    }
}

/// Returns an error for unknown names and missing baselines, before anything is simulated.
pub fn known(condition: &FieldCondition, has_baseline: bool) -> Result<(), String> {
    let found = number(metric(&condition.name).1);
    if found.is_none() {
        let names: Vec<String> = names().collect();
        let text = condition.unknown_name_error(names.iter().map(String::as_str));
        return Err(format!(
            "{text}; ROW:NAME limits a name to the rows that begin with ROW"
        ));
    }
    let compares = matches!(found, Some(MeasuredNumber::Count(name)) if name != "rows.stuck");
    if (condition.is_relative() || compares) && !has_baseline {
        Err(format!("--fail-if {:?} needs --against BASELINE", condition.text()))
    } else {
        Ok(())
    }
}

/// Splits `drain/5000:ttr` into the row prefix and the name.
fn metric(name: &str) -> (&str, &str) {
    name.rsplit_once(':').unwrap_or(("", name))
}

/// Returns a value of a row; times are in seconds. The recovery time of a row that never recovers is infinite.
fn value(row: &BenchRow, name: &str) -> f64 {
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    match name {
        "ttr" => row.ttr_ns.map_or(f64::INFINITY, seconds),
        "restarts" => row.restarts as f64,
        phase => seconds(row.phases_ns.get(phase).copied().unwrap_or(0)),
    }
}

pub fn check(
    condition: &FieldCondition,
    now: &BaselineReport,
    before: Option<&BaselineReport>,
) -> Result<CheckedConditions, String> {
    let (prefix, name) = metric(&condition.name);
    let of = |report: &BaselineReport| -> Vec<BenchRow> {
        let rows = report.rows.iter();
        rows.filter(|r| r.key.text().starts_with(prefix)).cloned().collect()
    };
    let rows = of(now);
    // Relative conditions use only the rows that are in both reports.
    let old: Option<Vec<Option<&BenchRow>>> = before.map(|b| rows.iter().map(|r| b.find(r)).collect());
    let nothing = || format!("--fail-if {:?}: no row matches", condition.text());
    let is_share = matches!(condition.limit, sim_base::condition::ConditionLimit::Share(_));
    let mut checked = CheckedConditions {
        condition: condition.to_string(),
        failed: false,
        value: 0.0,
        is_share,
        rows: Vec::new(),
    };
    match number(name).ok_or_else(nothing)? {
        MeasuredNumber::Each(name) => {
            let mut seen = 0;
            for (i, row) in rows.iter().enumerate() {
                let reference = old.as_ref().and_then(|old| old[i]).map(|r| value(r, name));
                if condition.is_relative() && reference.is_none() {
                    continue;
                }
                seen += 1;
                let (now, reference) = both_ended(value(row, name), reference);
                let verdict = condition.evaluate(now, reference);
                let verdict = verdict.map_err(|e| e.to_string())?;
                if verdict.failed {
                    let worse = !checked.failed || verdict.value.abs() > checked.value.abs();
                    checked.value = if worse { verdict.value } else { checked.value };
                    checked.failed = true;
                    checked.rows.push(row.key.text());
                }
            }
            if seen == 0 {
                return Err(nothing());
            }
        }
        MeasuredNumber::Over(name, over) => {
            let common = |i: &usize| {
                old.as_ref()
                    .is_none_or(|old| old[*i].is_some() || !condition.is_relative())
            };
            let which: Vec<usize> = (0..rows.len()).filter(common).collect();
            let number = |of: &dyn Fn(usize) -> f64| over_all(which.iter().map(|i| of(*i)).collect(), over);
            let now = number(&|i| value(&rows[i], name)).ok_or_else(nothing)?;
            let reference = match (&old, condition.is_relative()) {
                (Some(old), true) => number(&|i| old[i].map_or(0.0, |r| value(r, name))),
                _ => None,
            };
            let (now, reference) = both_ended(now, reference);
            let verdict = condition.evaluate(now, reference);
            let verdict = verdict.map_err(|e| e.to_string())?;
            (checked.failed, checked.value) = (verdict.failed, verdict.value);
        }
        MeasuredNumber::Count(name) => {
            let verdict = condition.evaluate(count(name, now, before), None);
            let verdict = verdict.map_err(|e| e.to_string())?;
            (checked.failed, checked.value) = (verdict.failed, verdict.value);
        }
    }
    Ok(checked)
}

/// Treats a row that recovers neither now nor in the baseline as unchanged.
fn both_ended(now: f64, reference: Option<f64>) -> (f64, Option<f64>) {
    match reference {
        Some(before) if now.is_infinite() && before.is_infinite() => (0.0, Some(0.0)),
        other => (now, other),
    }
}

fn over_all(values: Vec<f64>, over: &str) -> Option<f64> {
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let sorted = sorted(values);
    Some(match over {
        "min" => *sorted.first()?,
        "max" => *sorted.last()?,
        "mean" if n > 0.0 => sum / n,
        "p50" => quantile(&sorted, 0.5)?,
        "p95" => quantile(&sorted, 0.95)?,
        _ => return None,
    })
}

fn count(name: &str, now: &BaselineReport, before: Option<&BaselineReport>) -> f64 {
    let count = |n: usize| n as f64;
    let changed = before.map(|before| moved(now, before)).unwrap_or_default();
    match name {
        "rows.stuck" => count(now.rows.iter().filter(|r| r.ttr_ns.is_none()).count()),
        "rows.changed" => count(changed.len()),
        "rows.slower" => count(changed.iter().filter(|m| m.share() > 0.0).count()),
        "rows.faster" => count(changed.iter().filter(|m| m.share() < 0.0).count()),
        _ => count(
            now.rows
                .iter()
                .filter(|r| before.is_none_or(|b| b.find(r).is_none()))
                .count(),
        ),
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/program/bench/conditions.rs"]
mod tests;
