//! The language of `--fail-if`: a name, an operator, and a limit with a unit, absolute or relative to a reference.
//! `NAME OPERATOR LIMIT`; the available names are defined by the caller. Documented in `docs/fail-if.md`.

#![deny(missing_docs)]

use std::fmt;

/// Comparison operator.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    Above,
    /// `<`
    Below,
}

/// Longest operators first, so that `>=` is not parsed as `>`.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    (">", Operator::Above),
    ("<", Operator::Below),
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
pub enum Limit {
    /// An absolute value: `5`, `2m`, `5%` (0.05).
    Absolute(f64),
    /// A difference from the reference: `+10s`, `-3`.
    Change(f64),
    /// A difference relative to the reference: `+2%`, `-0.5%`.
    Share(f64),
}

/// A parsed condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    /// Name of the metric.
    pub name: String,
    /// Comparison operator.
    pub operator: Operator,
    /// Limit of the comparison.
    pub limit: Limit,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Describes the syntax of a condition.
const FORM: &str = "write NAME OPERATOR LIMIT, with >, >=, <, <=, == or !=; the limit is a number, perhaps with %, ns, us, ms, s, m, h, d, k or M; \
    with + or - it is a change against the reference, such as +2%";

impl std::str::FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let wrong = |what: String| format!("--fail-if {text:?}: {what}; {FORM}");
        let at = text.find(['<', '>', '=', '!']);
        let (name, rest) = at
            .map(|at| text.split_at(at))
            .ok_or_else(|| wrong("no operator".to_owned()))?;
        let operator = OPERATORS
            .iter()
            .find_map(|(o, operator)| Some((*operator, rest.strip_prefix(o)?)));
        let (operator, limit) = operator.ok_or_else(|| wrong("no such operator".to_owned()))?;
        let name = name.trim();
        if name.is_empty() {
            return Err(wrong("no name".to_owned()));
        }
        let limit = read_limit(limit.trim());
        let bad = || wrong(format!("{:?} is not a number with a unit or without", rest));
        Ok(Condition {
            text: text.to_owned(),
            name: name.to_owned(),
            operator,
            limit: limit.ok_or_else(bad)?,
        })
    }
}

fn read_limit(text: &str) -> Option<Limit> {
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
        (true, "%") => Limit::Share(value),
        (true, _) => Limit::Change(value),
        (false, _) => Limit::Absolute(value),
    };
    value.is_finite().then_some(limit)
}

/// Result of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The metric, or its change relative to the reference.
    pub value: f64,
    /// True if the condition is met, which means failure.
    pub failed: bool,
}

impl Condition {
    /// Returns the condition as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if the condition needs a reference.
    pub fn is_relative(&self) -> bool {
        !matches!(self.limit, Limit::Absolute(_))
    }

    /// Evaluates the condition. Fails if it needs a reference and there is none.
    pub fn holds(&self, now: f64, reference: Option<f64>) -> Result<Verdict, String> {
        let missing = || {
            format!(
                "--fail-if {:?}: there is nothing to compare with",
                self.text
            )
        };
        let (value, limit) = match self.limit {
            Limit::Absolute(limit) => (now, limit),
            Limit::Change(limit) => (now - reference.ok_or_else(missing)?, limit),
            Limit::Share(limit) => {
                let of = reference.ok_or_else(missing)?;
                let change = now - of;
                // Any change relative to zero is infinite.
                let share = if change == 0.0 {
                    0.0
                } else {
                    change / of.abs()
                };
                (share, limit)
            }
        };
        let failed = match self.operator {
            Operator::AtLeast => value >= limit,
            Operator::AtMost => value <= limit,
            Operator::Equal => value == limit,
            Operator::NotEqual => value != limit,
            Operator::Above => value > limit,
            Operator::Below => value < limit,
        };
        Ok(Verdict { value, failed })
    }

    /// Error message for an unknown name, with the available names and a suggestion.
    pub fn unknown<'n>(&self, names: impl Iterator<Item = &'n str>) -> String {
        let names: Vec<&str> = names.collect();
        format!(
            "--fail-if {:?}: {:?} is not a name; the names are {}",
            self.text,
            self.name,
            names.join(", ")
        )
    }
}
