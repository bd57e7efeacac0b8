//! `bench self`: how fast the program is on this machine, row by row of its own budget. Wall time is measured by
//! `cli/bench_self`.

mod budget;
mod files;
pub mod print;

pub use budget::{BUDGET, Budget, Standing, Unit};
pub use files::{Files, load};

use crate::base::condition::Condition;
use serde::{Deserialize, Serialize};

/// The name of the format.
pub const SCHEMA: &str = "jobset-sim/bench-self/v1";

/// One row, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfRow {
    /// As `--only` and `--fail-if` name it.
    pub name: String,
    /// What was measured.
    pub what: String,
    /// `1/s`, `s`, `B` or a ratio, `x`.
    pub unit: String,
    /// In that unit; null where it cannot be measured here.
    pub value: Option<f64>,
    /// What is the floor, and what is hoped for.
    pub must: f64,
    #[allow(missing_docs)]
    pub aim: f64,
    /// How it stands to both.
    pub standing: String,
    /// Why there is no value.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
}

/// What was measured, and what is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfReport {
    #[allow(missing_docs)]
    pub schema: String,
    #[allow(missing_docs)]
    pub version: String,
    /// Cores that the operating system gives to it.
    pub cores: usize,
    #[allow(missing_docs)]
    pub rows: Vec<SelfRow>,
    /// Rows are small ones, to see that they can be measured: they stand to nothing.
    #[serde(default)]
    pub trial: bool,
}

/// How many rows miss their floor.
pub const MISSED: &str = "rows.missed";

impl SelfReport {
    /// Of rows that were measured.
    pub fn of(rows: Vec<SelfRow>, (cores, trial): (usize, bool)) -> SelfReport {
        SelfReport {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cores,
            rows,
            trial,
        }
    }

    /// What this version wrote.
    pub fn read(text: &str) -> Result<SelfReport, String> {
        let report: SelfReport = serde_json::from_str(text).map_err(|e| e.to_string())?;
        match report.schema == SCHEMA {
            true => Ok(report),
            false => Err(format!("schema {:?} instead of {SCHEMA:?}", report.schema)),
        }
    }

    /// The number of that name, in its unit.
    pub fn value(&self, name: &str) -> Option<f64> {
        if name == MISSED {
            let missed = |row: &&SelfRow| row.standing == Standing::Missed.as_str();
            return Some(self.rows.iter().filter(missed).count() as f64);
        }
        self.rows.iter().find(|row| row.name == name)?.value
    }
}

/// Whether `condition` is about something, before anything is measured.
pub fn known(condition: &Condition, has_baseline: bool) -> Result<(), String> {
    let names = || BUDGET.iter().map(|row| row.name).chain([MISSED]);
    match names().any(|name| name == condition.name) {
        false => Err(condition.unknown(names())),
        true if condition.is_relative() && !has_baseline => Err(format!(
            "--fail-if {:?} needs --against BASELINE",
            condition.text()
        )),
        true => Ok(()),
    }
}

/// Whether it fails; what was not measured is refused: nothing passes for want of a number.
pub fn check(
    condition: &Condition,
    now: &SelfReport,
    before: Option<&SelfReport>,
) -> Result<bool, String> {
    let nothing = || {
        let text = condition.text();
        format!("--fail-if {text:?}: it was not measured")
    };
    let value = now.value(&condition.name).ok_or_else(nothing)?;
    let reference = before.and_then(|before| before.value(&condition.name));
    if condition.is_relative() && reference.is_none() {
        return Err(nothing());
    }
    Ok(condition.holds(value, reference)?.failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(values: &[(&str, Option<f64>)]) -> SelfReport {
        let row = |(name, value): &(&str, Option<f64>)| {
            let budget = BUDGET.iter().find(|b| b.name == *name).expect("a row");
            budget.row(value.ok_or_else(|| "no reason".to_owned()))
        };
        SelfReport::of(values.iter().map(row).collect(), (2, false))
    }

    #[test]
    fn rows_stand_where_their_budget_says_and_conditions_are_about_them() {
        let now = report(&[
            ("queue.5000", Some(14.5e6)),
            ("collapsed.54d", Some(0.003)),
            ("threads.2", Some(1.97)),
            ("memory.5000", None),
        ]);
        let standing: Vec<&str> = now.rows.iter().map(|r| r.standing.as_str()).collect();
        assert_eq!(standing, ["must", "missed", "aim", ""]);
        let before = report(&[("queue.5000", Some(20e6)), ("collapsed.54d", Some(0.003))]);
        for (text, failed) in [
            ("rows.missed > 0", Ok(true)),
            ("rows.missed > 1", Ok(false)),
            ("collapsed.54d > 2ms", Ok(true)),
            ("queue.5000 < 14M", Ok(false)),
            ("queue.5000 < -20%", Ok(true)),
            ("collapsed.54d > +5%", Ok(false)),
            ("memory.5000 > 64M", Err(())),
            ("threads.2 < -1%", Err(())),
        ] {
            let condition: Condition = text.parse().expect("a condition");
            known(&condition, true).expect("a name");
            let found = check(&condition, &now, Some(&before)).map_err(|_| ());
            assert_eq!(found, failed, "{text}");
        }
        let unknown: Condition = "speed > 1".parse().expect("a condition");
        assert!(known(&unknown, true).is_err());
        let relative: Condition = "queue.5000 < -5%".parse().expect("a condition");
        assert!(known(&relative, false).is_err());
        let text = serde_json::to_string(&now).expect("json");
        assert_eq!(SelfReport::read(&text).expect("its own"), now);
    }
}
