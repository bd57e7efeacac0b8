//! The collapsed level of a scenario with pods: one gang instead of its pods, with restart times that are measured by
//! playing the engine on this very scenario.
//!
//! The faults of a replication are those that the engine would meet, the arithmetic of training is the engine's
//! (`training`), and what a fault does is looked up in what the engine did with one like it (`measure`). What is not
//! modelled is refused by name (`refuse`): where the levels cannot be equal, nothing is guessed.

#![deny(missing_docs)]

mod along;
mod bench;
mod bits;
mod chance_range;
mod choices;
mod curve;
mod curves;
mod effect;
mod fewer;
mod forks;
mod gang;
mod lab;
mod ledger;
mod measure;
mod observation;
mod outcome;
mod pairs;
mod refuse;
mod run;
mod search;
mod seats;
mod strike;
mod trainer;
mod trials;
mod tried;

pub use choices::{Choice, UNEVEN, choices};
pub use lab::NotMeasured;
pub use measure::Measured;
pub use outcome::{CollapsedOutcome, Counting, Recovery};
pub use refuse::why_not;
pub use run::CollapsedPlayer;
