//! A target such as `goodput.p10 >= 0.9`, and its test against replications: satisfied, missed, or inconclusive.

use super::sample::{SampleRow, values};
use crate::experiment::{limit_outside_share, sample_kind};
use serde::Serialize;
use sim_base::condition::{CompareOperator, ConditionLimit, FieldCondition};
use sim_base::stats::{PlannedLooks, mean_interval, quantile, quantile_interval, sorted, student};
use std::fmt;

/// Statistic over the replications.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum TargetStatistic {
    /// The quantile at this probability.
    Quantile(f64),
    /// The arithmetic mean.
    Mean,
}

/// A bound on a statistic of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricTarget {
    /// The text as written.
    pub text: String,
    /// Metric of a replication.
    pub metric: String,
    /// Statistic over the replications.
    pub statistic: TargetStatistic,
    /// True for a lower bound, false for an upper bound.
    pub at_least: bool,
    /// The bound, in the unit of the metric.
    pub limit: f64,
}

/// Result of testing a target against replications.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TargetJudgement {
    /// The whole confidence interval satisfies the bound.
    Meets,
    /// The whole confidence interval violates the bound.
    Misses,
    /// Inconclusive: the interval contains the bound.
    Open,
}

const FORM: &str = "write METRIC.QUANTILE OPERATOR LIMIT, e.g. 'goodput.p10 >= 0.9' (one run in ten may be worse) or 'timeToComplete_s.p90 <= 30d'";

/// A text that is not a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricTargetError {
    /// The text as written.
    pub text: String,
    /// The reason why it is invalid.
    pub problem: MetricTargetProblem,
}

/// Reason why a text is not a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetricTargetProblem {
    /// The text is not a condition.
    InvalidCondition {
        /// The reason, without the text of the condition.
        reason: String,
    },
    /// The operator is not a bound.
    NoBound,
    /// The limit is a change against a reference.
    RelativeLimit,
    /// The metric never has values beyond the limit.
    LimitOutOfRange {
        /// The reason for the refusal.
        reason: String,
    },
    /// The metric has no statistic.
    NoStatistic {
        /// Name of the metric.
        metric: String,
    },
}

impl fmt::Display for MetricTargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.text, self.problem)
    }
}

impl fmt::Display for MetricTargetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricTargetProblem::InvalidCondition { reason } => write!(f, "{reason}; {FORM}"),
            MetricTargetProblem::NoBound => f.write_str("a target needs a bound: use >= or <="),
            MetricTargetProblem::RelativeLimit => {
                f.write_str("a target has no reference for a relative change: use an absolute limit")
            }
            MetricTargetProblem::LimitOutOfRange { reason } => f.write_str(reason),
            MetricTargetProblem::NoStatistic { metric } => {
                write!(f, "add a statistic over the replications, e.g. {metric}.p10 for the 10th percentile; {FORM}")
            }
        }
    }
}

impl std::error::Error for MetricTargetError {}

impl std::str::FromStr for MetricTarget {
    type Err = MetricTargetError;

    fn from_str(text: &str) -> Result<MetricTarget, MetricTargetError> {
        let wrong = |problem: MetricTargetProblem| MetricTargetError { text: text.to_owned(), problem };
        let read = text.parse::<FieldCondition>();
        let condition = read.map_err(|error| {
            let why = error.to_string();
            let what = why.split_once(": ").map_or(why.as_str(), |(_, rest)| rest);
            let reason = what.split(';').next().unwrap_or(what).to_owned();
            wrong(MetricTargetProblem::InvalidCondition { reason })
        })?;
        let at_least = match condition.operator {
            CompareOperator::AtLeast | CompareOperator::Above => true,
            CompareOperator::AtMost | CompareOperator::Below => false,
            CompareOperator::Equal | CompareOperator::NotEqual => {
                return Err(wrong(MetricTargetProblem::NoBound));
            }
        };
        let ConditionLimit::Absolute(limit) = condition.limit else {
            return Err(wrong(MetricTargetProblem::RelativeLimit));
        };
        let (metric, last) = condition.name.rsplit_once('.').unwrap_or((&condition.name, ""));
        let statistic = statistic(last)
            .ok_or_else(|| wrong(MetricTargetProblem::NoStatistic { metric: condition.name.clone() }))?;
        if let Some(reason) = limit_outside_share(metric, limit) {
            return Err(wrong(MetricTargetProblem::LimitOutOfRange { reason }));
        }
        Ok(MetricTarget { text: text.to_owned(), metric: metric.to_owned(), statistic, at_least, limit })
    }
}

fn statistic(word: &str) -> Option<TargetStatistic> {
    if word == "mean" {
        return Some(TargetStatistic::Mean);
    }
    let percent: f64 = word.strip_prefix('p')?.parse().ok()?;
    let inside = percent > 0.0 && percent < 100.0;
    inside.then_some(TargetStatistic::Quantile(percent / 100.0))
}

/// An estimate with its confidence interval.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct EstimatedTarget {
    /// The point estimate.
    pub value: f64,
    /// Confidence interval; `None` for a bound that requires more values.
    pub interval: [Option<f64>; 2],
}

impl MetricTarget {
    /// Estimates the statistic of a sample; `None` without values.
    pub fn estimate(&self, sample: &[SampleRow], level: f64) -> Option<EstimatedTarget> {
        let values = sorted(values(sample));
        match self.statistic {
            TargetStatistic::Quantile(p) => {
                Some(EstimatedTarget { value: quantile(&values, p)?, interval: quantile_interval(&values, p, level) })
            }
            TargetStatistic::Mean => {
                let interval = mean_interval(&values, sample_kind(&self.metric), level)?;
                let bound = |v: f64| v.is_finite().then_some(v);
                Some(EstimatedTarget {
                    value: student::StudentMean::from_values(&values)?.mean,
                    interval: interval.map(bound),
                })
            }
        }
    }

    /// Tests a sample against the bound at this confidence level.
    pub fn test_sample(&self, sample: &[SampleRow], level: f64) -> TargetJudgement {
        self.estimate(sample, level).map_or(TargetJudgement::Open, |estimated| self.judge(estimated.interval))
    }

    fn judge(&self, [low, high]: [Option<f64>; 2]) -> TargetJudgement {
        let (good, bad) = if self.at_least {
            (low.map(|v| v >= self.limit), high.map(|v| v < self.limit))
        } else {
            (high.map(|v| v <= self.limit), low.map(|v| v > self.limit))
        };
        match (good, bad) {
            (Some(true), _) => TargetJudgement::Meets,
            (_, Some(true)) => TargetJudgement::Misses,
            _ => TargetJudgement::Open,
        }
    }

    /// Estimates the statistic after a stop at one of several looks. The interval has the level of the design, and
    /// leads to the same judgment as that of the look.
    pub fn final_estimate(
        &self, sample: &[SampleRow], (design, stage): (&PlannedLooks, usize),
    ) -> Option<EstimatedTarget> {
        let of_look = self.estimate(sample, design.looks[stage].level)?;
        let at_level = |level: f64| self.estimate(sample, level).map_or([None; 2], |estimated| estimated.interval);
        let interval = design.final_interval(stage, self.limit, at_level);
        // They may differ at the limit, because the interval is not that of a normal statistic.
        let is_equal = self.judge(interval) == self.judge(of_look.interval);
        Some(if is_equal { EstimatedTarget { interval, ..of_look } } else { of_look })
    }

    /// Returns the name of the statistic, such as `p10` or `mean`.
    pub fn statistic_name(&self) -> String {
        match self.statistic {
            TargetStatistic::Mean => "mean".to_owned(),
            TargetStatistic::Quantile(p) => format!("p{}", (p * 1e8).round() / 1e6),
        }
    }
}
