//! Answers of a planner: the least that meets a target, the best interval, the budget of restarts, what matters most,
//! where one choice overtakes another, and chances that are too small to be counted.
//!
//! It asks whoever plays for replications, and knows neither files nor printing. Each search plays all it compares
//! under the same random numbers.

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

pub use budget::{Budget, Question};
pub use closed::ClosedForm;
pub use least::{Answer, Candidate, Least, Plan, least};
pub use range::{Range, Unit};
pub use sample::{Row, Sample};
pub use target::{Judgement, Statistic, Target};
