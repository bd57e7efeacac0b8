//! The collapsed level of a scenario with pods: one gang instead of its pods, with restart times that are measured by
//! playing the engine on this very scenario.
//!
//! The faults of a replication are those that the engine would meet, the arithmetic of training is the engine's
//! (`training`), and what a fault does is looked up in what the engine did with one like it (`measure`). What is not
//! modelled is refused by name (`refuse`): where the levels cannot be equal, nothing is guessed.

#![deny(missing_docs)]

mod along;
mod bits;
mod chance_range;
pub mod choices;
mod gang;
mod ledger;
pub mod measurement;
mod observation;
mod outcome;
mod refuse;
mod run;
mod seats;
mod strike;
mod trainer;

pub use choices::{Choice, UNEVEN, choices};
pub use measurement::lab::NotMeasured;
pub use measurement::measure::Measured;
pub use outcome::{CollapsedOutcome, Counting, Recovery};
pub use refuse::why_not;
pub use run::CollapsedPlayer;
