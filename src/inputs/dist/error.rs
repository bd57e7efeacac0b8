//! Errors of distributions.

use crate::read::SecondsError;
use sim_base::time::DurationError;
use std::fmt;

const FORMS: &str = "2s, {uniform: [low, high]}, {logNormal: {median, sigma}}, {exponential: {mean}}, \
                     {weibull: {mean, shape}}, {gamma: {mean, shape}}, {empirical: [values]}";

#[derive(Clone, Debug, PartialEq)]
pub enum DistributionError {
    /// The value does not have the form of a distribution.
    UnknownForm,
    UnknownName {
        name: String,
    },
    MissingField {
        field: &'static str,
    },
    Time(SecondsError),
    /// The numbers of values and weights differ.
    WeightCount {
        values: usize,
        weights: usize,
    },
    /// All weights of an empirical distribution are zero.
    ZeroWeights,
    /// `uniform` does not have two times.
    UniformLength,
    /// The lower limit of `uniform` exceeds the upper one.
    EmptyRange {
        low_s: f64,
        high_s: f64,
    },
    /// The parameters of `logNormal` are neither of the two supported pairs.
    LogNormalFields,
    /// The quantiles of `logNormal` are not positive or not in order.
    QuantileOrder {
        p50_s: f64,
        p95_s: f64,
    },
}

impl fmt::Display for DistributionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DistributionError::UnknownForm => {
                write!(f, "not a distribution; supported forms: {FORMS}")
            }
            DistributionError::UnknownName { name } => {
                write!(f, "unknown distribution {name:?}; supported forms: {FORMS}")
            }
            DistributionError::MissingField { field } => write!(f, "{field} is missing"),
            DistributionError::Time(error) => error.fmt(f),
            DistributionError::WeightCount { values, weights } => {
                write!(f, "the number of weights ({weights}) differs from the number of values ({values})")
            }
            DistributionError::ZeroWeights => f.write_str("all weights are zero: at least one must be positive"),
            DistributionError::UniformLength => f.write_str("uniform requires two times: [low, high]"),
            DistributionError::EmptyRange { low_s, high_s } => {
                write!(f, "the range of uniform is empty: low is {low_s} s and high is {high_s} s")
            }
            DistributionError::LogNormalFields => f.write_str("logNormal requires {median, sigma} or {p50, p95}"),
            DistributionError::QuantileOrder { p50_s, p95_s } => {
                write!(f, "p50 is {p50_s} s and p95 is {p95_s} s: 0 < p50 <= p95 is required")
            }
        }
    }
}

impl std::error::Error for DistributionError {}

impl From<SecondsError> for DistributionError {
    fn from(error: SecondsError) -> DistributionError {
        DistributionError::Time(error)
    }
}

impl From<DurationError> for DistributionError {
    fn from(error: DurationError) -> DistributionError {
        DistributionError::Time(error.into())
    }
}
