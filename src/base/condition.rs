//! The language of `--fail-if`: a name, an operator, and a limit with a unit, absolute or relative to a reference.
//! `NAME OPERATOR LIMIT`; the available names are defined by the caller. Documented in `docs/compare.md`.

#![deny(missing_docs)]

mod error;

pub use error::ConditionError;

use std::fmt;

/// Operator of the comparison.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CompareOperator {
    /// The operator `>=`.
    AtLeast,
    /// The operator `<=`.
    AtMost,
    /// The operator `==`.
    Equal,
    /// The operator `!=`.
    NotEqual,
    /// The operator `>`.
    Above,
    /// The operator `<`.
    Below,
}

/// Longest operators first, so that `>=` is not parsed as `>`.
const OPERATORS: [(&str, CompareOperator); 6] = [
    (">=", CompareOperator::AtLeast),
    ("<=", CompareOperator::AtMost),
    ("==", CompareOperator::Equal),
    ("!=", CompareOperator::NotEqual),
    (">", CompareOperator::Above),
    ("<", CompareOperator::Below),
];

/// Factor per unit: seconds for units of time, otherwise a multiplier.
static UNITS: [(&str, f64); 10] = [
    ("%", 0.01),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
    ("k", 1e3),
    ("M", 1e6),
];

/// The limit of a condition.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum ConditionLimit {
    /// An absolute value: `5`, `2m`, `5%` (0.05).
    Absolute(f64),
    /// A difference from the reference: `+10s`, `-3`.
    Change(f64),
    /// A difference relative to the reference: `+2%`, `-0.5%`.
    Share(f64),
}

/// A parsed condition.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldCondition {
    text: String,
    /// Name of the metric.
    pub name: String,
    /// Operator of the comparison.
    pub operator: CompareOperator,
    /// Limit of the comparison.
    pub limit: ConditionLimit,
}

impl fmt::Display for FieldCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for FieldCondition {
    type Err = ConditionError;

    fn from_str(written: &str) -> Result<FieldCondition, ConditionError> {
        let text = written.to_owned();
        let Some(at) = written.find(['<', '>', '=', '!']) else {
            return Err(ConditionError::NoOperator(text));
        };
        let (name, rest) = written.split_at(at);
        let operator = OPERATORS.iter().find_map(|(o, operator)| Some((*operator, rest.strip_prefix(o)?)));
        let Some((operator, limit)) = operator else {
            return Err(ConditionError::UnknownOperator(text));
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(ConditionError::NoName(text));
        }
        let Some(limit) = parse_limit(limit.trim()) else {
            let limit = rest.to_owned();
            return Err(ConditionError::InvalidLimit { text, limit });
        };
        Ok(FieldCondition { text, name: name.to_owned(), operator, limit })
    }
}

fn parse_limit(text: &str) -> Option<ConditionLimit> {
    let signed = text.starts_with(['+', '-']);
    let unit = |(unit, factor): &'static (&str, f64)| {
        let number = text.strip_suffix(unit)?.trim_end();
        Some((*unit, number.parse::<f64>().ok()?, *factor))
    };
    let (unit, number, factor) = match text.parse::<f64>() {
        Ok(number) => ("", number, 1.0),
        Err(_) => UNITS.iter().find_map(unit)?,
    };
    // Rounded, so that 5 % and 0.05 are equal numbers.
    let value = match unit {
        "%" => number / 100.0,
        _ => number * factor,
    };
    let limit = match (signed, unit) {
        (true, "%") => ConditionLimit::Share(value),
        (true, _) => ConditionLimit::Change(value),
        (false, _) => ConditionLimit::Absolute(value),
    };
    value.is_finite().then_some(limit)
}

/// Result of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionVerdict {
    /// The metric, or its change relative to the reference.
    pub value: f64,
    /// True if the condition is met, which means failure.
    pub failed: bool,
}

impl FieldCondition {
    /// Returns the condition as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if the condition needs a reference.
    pub fn is_relative(&self) -> bool {
        !matches!(self.limit, ConditionLimit::Absolute(_))
    }

    /// Evaluates the condition. Fails if it needs a reference and there is none.
    pub fn evaluate(&self, now: f64, reference: Option<f64>) -> Result<ConditionVerdict, ConditionError> {
        let missing = || ConditionError::NoReference(self.text.clone());
        let (value, limit) = match self.limit {
            ConditionLimit::Absolute(limit) => (now, limit),
            ConditionLimit::Change(limit) => (now - reference.ok_or_else(missing)?, limit),
            ConditionLimit::Share(limit) => {
                let of = reference.ok_or_else(missing)?;
                let change = now - of;
                // Any change relative to zero is infinite.
                let share = if change == 0.0 { 0.0 } else { change / of.abs() };
                (share, limit)
            }
        };
        let failed = match self.operator {
            CompareOperator::AtLeast => value >= limit,
            CompareOperator::AtMost => value <= limit,
            CompareOperator::Equal => value == limit,
            CompareOperator::NotEqual => value != limit,
            CompareOperator::Above => value > limit,
            CompareOperator::Below => value < limit,
        };
        Ok(ConditionVerdict { value, failed })
    }

    /// Returns the error for an unknown name, with the available names.
    pub fn unknown_name_error<'n>(&self, names: impl Iterator<Item = &'n str>) -> ConditionError {
        ConditionError::UnknownName {
            text: self.text.clone(),
            name: self.name.clone(),
            known: names.map(str::to_owned).collect(),
        }
    }
}
