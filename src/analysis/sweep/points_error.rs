//! Errors of the axes and points of a sweep.

use super::points::POINTS_MAX;
use super::range::SweepRangeError;
use std::fmt;

/// Reason why the axes of a sweep have no points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepPointsError {
    NoAxis,
    /// An axis of a stored sweep has neither values nor a range.
    IncompleteAxis,
    /// A range needs the number of points of its hypercube.
    MissingHypercube,
    HypercubeWithoutRange {
        points: u64,
    },
    EmptyHypercube,
    InvalidRange {
        path: String,
        error: SweepRangeError,
    },
    /// The product of the numbers of values exceeds the maximum.
    TooManyPoints {
        factors: Vec<u64>,
    },
    NotFieldPath {
        path: String,
    },
    RepeatedAxis {
        path: String,
    },
    /// The field of an axis is inside the field of another axis.
    NestedAxes {
        inner: String,
        outer: String,
    },
    NoValue {
        path: String,
    },
    RepeatedValue {
        path: String,
        value: String,
    },
}

/// Formats the number of points as a product, with its result if it fits 64 bits.
fn product(factors: &[u64]) -> String {
    let texts: Vec<String> = factors.iter().map(u64::to_string).collect();
    let all = factors.iter().try_fold(1u64, |n, f| n.checked_mul(*f));
    match all {
        Some(n) => format!("{} = {n}", texts.join(" x ")),
        None => texts.join(" x "),
    }
}

impl fmt::Display for SweepPointsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use SweepPointsError as Problem;
        match self {
            Problem::NoAxis => f.write_str(
                "there is nothing to vary: add --grid 'PATH=VALUE,VALUE', or --range 'PATH=LOW..HIGH' with \
                --lhs N, or `experiment.sweep` in the scenario",
            ),
            Problem::IncompleteAxis => f.write_str("an axis needs either values or a range"),
            Problem::MissingHypercube => f.write_str(
                "a range requires the number of points of its Latin hypercube: add --lhs N, or \
                    latinHypercube in the scenario",
            ),
            Problem::HypercubeWithoutRange { points } => {
                write!(f, "a Latin hypercube of {points} points requires a range: add --range 'PATH=LOW..HIGH'")
            }
            Problem::EmptyHypercube => f.write_str("a Latin hypercube requires at least 1 point"),
            Problem::InvalidRange { path, error } => write!(f, "{path}: {error}"),
            Problem::TooManyPoints { factors } => {
                write!(f, "too many points: {}; a sweep may have at most {POINTS_MAX}", product(factors))
            }
            Problem::NotFieldPath { path } => write!(f, "{path:?} is not the path of a field"),
            Problem::RepeatedAxis { path } => write!(f, "two axes vary {path}"),
            Problem::NestedAxes { inner, outer } => {
                write!(f, "two axes contradict each other: {inner} is a field inside {outer}")
            }
            Problem::NoValue { path } => write!(f, "the axis {path} has no value"),
            Problem::RepeatedValue { path, value } => {
                write!(f, "the axis {path} has the value {value} twice")
            }
        }
    }
}

impl std::error::Error for SweepPointsError {}
