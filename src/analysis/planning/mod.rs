//! Planning: the smallest value that satisfies a target, the best checkpoint interval, restart budgets,
//! sensitivities, break-even values, and probabilities of rare events.
//!
//! The caller provides the replications; this module knows neither files nor output. Each search compares candidates
//! under common random numbers.

#![deny(missing_docs)]

pub mod breakeven;
pub mod budget;
pub mod closed_form;
pub mod interval;
pub mod minimum;
pub mod minimum_multi;
pub mod range;
pub mod rare;
mod resampling;
pub mod sample;
mod splitting;
pub mod target;
pub mod tornado;

pub use budget::{BudgetQuestion, LossBudget};
pub use closed_form::ClosedForm;
pub use minimum::{MinimumSearch, SearchAnswer, SearchCandidate, SearchPlan, find_minimum};
pub use range::{ParameterRange, ParameterRangeError, ParameterRangeProblem, RangeUnit};
pub use sample::{SampleMetric, SampleRow};
pub use target::{MetricTarget, MetricTargetError, MetricTargetProblem, TargetJudgement, TargetStatistic};
