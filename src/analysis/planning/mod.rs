//! Planning: the smallest value that satisfies a target, the best checkpoint interval, restart budgets,
//! sensitivities, break-even values, and probabilities of rare events.
//!
//! The caller provides the replications; this module knows neither files nor output. Each search compares candidates
//! under common random numbers.

#![deny(missing_docs)]

pub mod breakeven;
pub mod budget;
pub mod closed;
pub mod interval;
pub mod least;
pub mod range;
pub mod rare;
mod redrawn;
pub mod sample;
pub mod several;
mod splitting;
pub mod target;
pub mod tornado;

pub use budget::{BudgetQuestion, LossBudget};
pub use closed::ClosedForm;
pub use least::{MinimumSearch, SearchAnswer, SearchCandidate, SearchPlan, least};
pub use range::{ParameterRange, ParameterRangeError, ParameterRangeProblem, RangeUnit};
pub use sample::{SampleMetric, SampleRow};
pub use target::{
    MetricTarget, MetricTargetError, MetricTargetProblem, TargetJudgement, TargetStatistic,
};
