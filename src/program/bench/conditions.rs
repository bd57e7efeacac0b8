//! The values that gates can refer to: values of each row, statistics over the replications of a row or over all rows,
//! and counts of rows.
//!
//! A condition must never pass because there is nothing to measure.

use super::BaselineReport;
use super::against::moved;
use super::row::{BenchKey, BenchRow, BenchSample};
use super::selection::MissingRows;
use sim_analysis::metrics::Phase;
use sim_base::condition::{ConditionLimit, ConditionVerdict, FieldCondition};
use sim_base::stats::{quantile, sorted};

/// Statistics over the replications of a row, or of all rows.
const STATISTICS: [&str; 5] = ["min", "p50", "p95", "max", "mean"];
/// Suffix of statistics over the replications of all rows.
const ALL_ROWS: &str = ".all";
const COUNTS: [&str; 6] = ["rows.stuck", "rows.changed", "rows.slower", "rows.faster", "rows.new", MISSING];
const MISSING: &str = "rows.missing";
/// Counts of rows whose times differ from the baseline.
const COMPARING: [&str; 3] = ["rows.changed", "rows.slower", "rows.faster"];

#[derive(Clone, Debug, PartialEq)]
pub struct CheckedConditions {
    /// Condition text as given by the user.
    pub condition: String,
    pub failed: bool,
    /// Checked value; for conditions on rows, the value of the worst row.
    pub value: f64,
    /// Whether `value` is a fraction of the baseline.
    pub is_share: bool,
    /// Rows for which the condition is true with their values, for conditions on rows.
    pub rows: Vec<(String, f64)>,
    /// Rows that only one of the reports has, each with the reason, for conditions on missing rows that are true.
    pub missing: Vec<(String, &'static str)>,
}

/// What a name refers to.
enum GateMetric<'n> {
    /// A value of each row, or a statistic over its replications.
    Row(&'n str, Option<&'n str>),
    /// A statistic over the replications of all rows.
    AllRows(&'n str, &'n str),
    Count(&'n str),
}

/// Two reports and the rows that only one of them has.
pub struct BaselineComparison<'r> {
    pub now: &'r BaselineReport,
    pub before: Option<&'r BaselineReport>,
    pub missing: MissingRows,
}

/// Returns all names that conditions may use.
pub fn names() -> impl Iterator<Item = String> {
    let values = || ["ttr", "restarts"].into_iter().chain(Phase::ALL.map(Phase::as_str));
    let statistics = || values().flat_map(|name| STATISTICS.map(|of| format!("{name}.{of}")));
    let all = statistics().map(|name| format!("{name}{ALL_ROWS}"));
    let counts = COUNTS.map(str::to_owned);
    values().map(str::to_owned).chain(statistics()).chain(all).chain(counts)
}

fn gate_metric(name: &str) -> Option<GateMetric<'_>> {
    if COUNTS.contains(&name) {
        return Some(GateMetric::Count(name));
    }
    let is_value = |name: &str| {
        let phases = Phase::ALL.map(Phase::as_str);
        name == "ttr" || name == "restarts" || phases.contains(&name)
    };
    let of_row = name.strip_suffix(ALL_ROWS).unwrap_or(name);
    match of_row.rsplit_once('.') {
        Some((value, of)) if is_value(value) && STATISTICS.contains(&of) && of_row == name => {
            Some(GateMetric::Row(value, Some(of)))
        }
        Some((value, of)) if is_value(value) && STATISTICS.contains(&of) => Some(GateMetric::AllRows(value, of)),
        None if is_value(name) => Some(GateMetric::Row(name, None)),
        _ => None,
    }
}

/// Adds the gate on missing rows if there are gates and a baseline, and no gate refers to missing rows.
pub fn add_default(conditions: &mut Vec<FieldCondition>, has_baseline: bool) {
    let names_missing = |c: &FieldCondition| metric(&c.name).1 == MISSING;
    if has_baseline && !conditions.is_empty() && !conditions.iter().any(names_missing) {
        conditions.extend(format!("{MISSING} > 0").parse::<FieldCondition>());
    }
}

/// Returns an error for unknown names and missing baselines, before anything is simulated.
pub fn known(condition: &FieldCondition, has_baseline: bool) -> Result<(), String> {
    let result = gate_metric(metric(&condition.name).1);
    if result.is_none() {
        let names: Vec<String> = names().collect();
        let text = condition.unknown_name_error(names.iter().map(String::as_str));
        return Err(format!("{text}; ROW:NAME limits a name to the rows whose first parts are ROW"));
    }
    let compares = matches!(result, Some(GateMetric::Count(name)) if name != "rows.stuck");
    if (condition.is_relative() || compares) && !has_baseline {
        Err(format!("--fail-if {:?} needs --against BASELINE", condition.text()))
    } else {
        Ok(())
    }
}

/// Returns an error for a condition that compares rows with different numbers of replications. `rows` are the rows of
/// this run, which have `seeds` replications each.
pub fn comparable(
    condition: &FieldCondition, before: &BaselineReport, (rows, seeds): (&[BenchKey], u64),
) -> Result<(), String> {
    let (first, name) = metric(&condition.name);
    let counts_changes = matches!(gate_metric(name), Some(GateMetric::Count(name)) if COMPARING.contains(&name));
    if !condition.is_relative() && !counts_changes {
        return Ok(());
    }
    let compared = before.rows.iter().filter(|row| begins_with(&row.key.text(), first) && rows.contains(&row.key));
    let other = compared.map(|row| row.samples().len() as u64).find(|n| *n != seeds);
    other.map_or(Ok(()), |n| {
        Err(format!(
            "--fail-if {:?} cannot be checked: the baseline has {n} replications per row, and this run has {seeds}; use --seeds {n}",
            condition.text()
        ))
    })
}

/// Splits `drain/5000:ttr` into the first parts of the rows' names and the metric.
fn metric(name: &str) -> (&str, &str) {
    name.rsplit_once(':').unwrap_or(("", name))
}

/// Whether the first parts of a row's name are `first`.
fn begins_with(row: &str, first: &str) -> bool {
    let first = first.trim_end_matches('/');
    let rest = row.strip_prefix(first);
    first.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a value of a row, or a statistic over its replications. Times are in seconds; the recovery time of a row
/// that never recovers is infinite.
fn row_value(row: &BenchRow, name: &str, statistic: Option<&str>) -> Option<f64> {
    match statistic {
        Some(of) => over(row.samples(), name, of),
        None if name == "ttr" => Some(row.ttr_ns.map_or(f64::INFINITY, |ns| ns as f64 / 1e9)),
        None if name == "restarts" => Some(row.restarts as f64),
        None => Some(row.phases_ns.get(name).map_or(0.0, |ns| *ns as f64 / 1e9)),
    }
}

pub fn check(condition: &FieldCondition, reports: &BaselineComparison<'_>) -> Result<CheckedConditions, String> {
    let (first, name) = metric(&condition.name);
    let nothing = || format!("--fail-if {:?}: no row matches", condition.text());
    let rows = reports.now.rows.iter();
    let rows: Vec<&BenchRow> = rows.filter(|r| begins_with(&r.key.text(), first)).collect();
    let mut checked = CheckedConditions {
        condition: condition.to_string(),
        failed: false,
        value: 0.0,
        is_share: matches!(condition.limit, ConditionLimit::Share(_)),
        rows: Vec::new(),
        missing: Vec::new(),
    };
    // Relative conditions use only the rows that are in both reports. Gates on `rows.missing` report the others.
    let old = |row: &BenchRow| reports.before.filter(|_| condition.is_relative())?.find(row);
    let compared = rows.iter().filter(|r| !condition.is_relative() || old(r).is_some());
    let compared: Vec<&BenchRow> = compared.copied().collect();
    match gate_metric(name).ok_or_else(nothing)? {
        GateMetric::Row(name, statistic) => {
            for row in &compared {
                let reference = old(row).and_then(|r| row_value(r, name, statistic));
                let now = row_value(row, name, statistic).ok_or_else(nothing)?;
                let verdict = evaluate(condition, now, reference)?;
                if verdict.failed {
                    let worse = !checked.failed || verdict.value.abs() > checked.value.abs();
                    checked.value = if worse { verdict.value } else { checked.value };
                    checked.failed = true;
                    checked.rows.push((row.key.text(), verdict.value));
                }
            }
            // With no row in both reports, only the gate on missing rows can decide.
            if rows.is_empty() || (compared.is_empty() && reports.missing == MissingRows::default()) {
                return Err(nothing());
            }
        }
        GateMetric::AllRows(name, statistic) => {
            let pooled = |rows: &mut dyn Iterator<Item = &BenchRow>| {
                over(rows.flat_map(BenchRow::samples).collect(), name, statistic)
            };
            let now = pooled(&mut compared.iter().copied()).ok_or_else(nothing)?;
            let reference = pooled(&mut compared.iter().filter_map(|r| old(r)));
            let verdict = evaluate(condition, now, reference)?;
            (checked.failed, checked.value) = (verdict.failed, verdict.value);
        }
        GateMetric::Count(name) => {
            let value = count(name, &rows, (first, reports));
            let verdict = evaluate(condition, value, None)?;
            (checked.failed, checked.value) = (verdict.failed, verdict.value);
            if name == MISSING && verdict.failed {
                checked.missing = reports.missing.reasons(|row| begins_with(row, first));
            }
        }
    }
    Ok(checked)
}

/// Evaluates a condition. If it is relative, a row that recovers neither now nor in the baseline is unchanged.
fn evaluate(condition: &FieldCondition, now: f64, reference: Option<f64>) -> Result<ConditionVerdict, String> {
    let (now, reference) = match reference {
        Some(before) if condition.is_relative() && now.is_infinite() && before.is_infinite() => (0.0, Some(0.0)),
        other => (now, other),
    };
    condition.evaluate(now, reference).map_err(|e| e.to_string())
}

fn over(samples: Vec<BenchSample>, name: &str, statistic: &str) -> Option<f64> {
    let values: Vec<f64> = samples.iter().map(|s| s.value(name)).collect();
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let sorted = sorted(values);
    Some(match statistic {
        "min" => *sorted.first()?,
        "max" => *sorted.last()?,
        "mean" if n > 0.0 => sum / n,
        "p50" => quantile(&sorted, 0.5)?,
        "p95" => quantile(&sorted, 0.95)?,
        _ => return None,
    })
}

/// Counts rows whose first parts are `first`; `rows` are those of this run.
fn count(name: &str, rows: &[&BenchRow], (first, reports): (&str, &BaselineComparison<'_>)) -> f64 {
    let changed = reports.before.map(|before| moved(reports.now, before)).unwrap_or_default();
    let changed = changed.iter().filter(|m| begins_with(&m.row.key.text(), first));
    let named = |names: &[String]| names.iter().filter(|n| begins_with(n, first)).count();
    let new = named(&reports.missing.not_in_baseline);
    let n = match name {
        "rows.stuck" => rows.iter().filter(|r| r.is_stuck()).count(),
        "rows.changed" => changed.count(),
        "rows.slower" => changed.filter(|m| m.share() > 0.0).count(),
        "rows.faster" => changed.filter(|m| m.share() < 0.0).count(),
        MISSING => new + named(&reports.missing.not_run),
        _ => new,
    };
    n as f64
}

#[cfg(test)]
#[path = "../../../tests/inside/program/bench/conditions.rs"]
mod tests;
