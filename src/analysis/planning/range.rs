//! A field and the range of its value: `parameters.mtbf=10d..40d`.

use serde::Serialize;
use sim_base::Duration;
use std::fmt;

/// Kind of the bounds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RangeUnit {
    /// The values are integers.
    Whole,
    /// The values are real numbers.
    Number,
    /// Durations, in seconds.
    Seconds,
}

/// A field with the bounds of its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterRange {
    /// The text as written.
    #[serde(skip)]
    pub text: String,
    /// Path of the field.
    pub path: String,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// Kind of the bounds.
    pub unit: RangeUnit,
}

const FORM: &str = "write PATH=LOW..HIGH with numbers or durations, e.g. parameters.mtbf=10d..40d";

/// A text that is not a field with a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterRangeError {
    /// The text as written.
    pub text: String,
    /// The reason why it is invalid.
    pub problem: ParameterRangeProblem,
}

/// Reason why a text is not a field with a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterRangeProblem {
    /// There is no `=` followed by `..`.
    NoRange,
    /// The path of the field is empty.
    NoPath,
    /// A bound is neither a number nor a duration.
    InvalidBound {
        /// The bound as written.
        bound: String,
    },
    /// One bound is a number, the other one a duration.
    MixedUnits {
        /// The lower bound as written.
        low: String,
        /// The upper bound as written.
        high: String,
    },
    /// The lower bound is not below the upper bound.
    EmptyRange {
        /// The lower bound as written.
        low: String,
        /// The upper bound as written.
        high: String,
    },
}

impl fmt::Display for ParameterRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}; {FORM}", self.text, self.problem)
    }
}

impl fmt::Display for ParameterRangeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterRangeProblem::NoRange => f.write_str("no range"),
            ParameterRangeProblem::NoPath => f.write_str("no path"),
            ParameterRangeProblem::InvalidBound { bound } => {
                write!(f, "{bound:?} is neither a number nor a duration")
            }
            ParameterRangeProblem::MixedUnits { low, high } => {
                write!(f, "{low} and {high} have different units: use two numbers or two durations")
            }
            ParameterRangeProblem::EmptyRange { low, high } => {
                write!(f, "the range is empty: {low} is not below {high}")
            }
        }
    }
}

impl std::error::Error for ParameterRangeError {}

impl std::str::FromStr for ParameterRange {
    type Err = ParameterRangeError;

    fn from_str(text: &str) -> Result<ParameterRange, ParameterRangeError> {
        let wrong = |problem: ParameterRangeProblem| ParameterRangeError { text: text.to_owned(), problem };
        let parts = text.rsplit_once('=').and_then(|(p, r)| Some((p, r.split_once("..")?)));
        let (path, (low, high)) = parts.ok_or_else(|| wrong(ParameterRangeProblem::NoRange))?;
        let (path, low, high) = (path.trim(), low.trim(), high.trim());
        if path.is_empty() {
            return Err(wrong(ParameterRangeProblem::NoPath));
        }
        let read = |word: &str| {
            let result = number(word);
            result.ok_or_else(|| wrong(ParameterRangeProblem::InvalidBound { bound: word.to_owned() }))
        };
        let ((from, a), (to, b)) = (read(low)?, read(high)?);
        let unit = match (a, b) {
            (a, b) if a == b => a,
            (RangeUnit::Seconds, _) | (_, RangeUnit::Seconds) => {
                return Err(wrong(ParameterRangeProblem::MixedUnits { low: low.to_owned(), high: high.to_owned() }));
            }
            _ => RangeUnit::Number,
        };
        if from >= to {
            return Err(wrong(ParameterRangeProblem::EmptyRange { low: low.to_owned(), high: high.to_owned() }));
        }
        Ok(ParameterRange { text: text.to_owned(), path: path.to_owned(), low: from, high: to, unit })
    }
}

fn number(word: &str) -> Option<(f64, RangeUnit)> {
    if let Ok(integer) = word.parse::<i64>() {
        return Some((integer as f64, RangeUnit::Whole));
    }
    match word.parse::<f64>() {
        Ok(number) => number.is_finite().then_some((number, RangeUnit::Number)),
        Err(_) => {
            let length = word.parse::<Duration>().ok()?;
            Some((length.seconds(), RangeUnit::Seconds))
        }
    }
}

impl ParameterRange {
    /// Formats a value as in a file.
    pub fn written(&self, value: f64) -> String {
        match self.unit {
            RangeUnit::Whole => format!("{}", value.round() as i64),
            RangeUnit::Number => format!("{value}"),
            RangeUnit::Seconds => format!("{}ms", (value * 1e3).round() as u64),
        }
    }

    /// Returns true if the scale is logarithmic: both bounds are positive and far apart.
    pub fn is_log(&self) -> bool {
        self.low > 0.0 && self.high >= 8.0 * self.low
    }

    /// Returns the value at this fraction of the range.
    pub fn at(&self, share: f64) -> f64 {
        let value = if self.is_log() {
            self.low * libm::pow(self.high / self.low, share)
        } else {
            self.low + (self.high - self.low) * share
        };
        match self.unit {
            RangeUnit::Whole => value.round(),
            RangeUnit::Number | RangeUnit::Seconds => value,
        }
    }
}
