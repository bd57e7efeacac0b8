//! The reduced model of a scenario with pods: the JobSet is one unit, with restart times measured by simulating this
//! scenario with the engine.
//!
//! The faults of a replication are those of the engine, the arithmetic of training is the engine's
//! (`training_model`), and the effect of a fault is looked up among measured ones (`measurement`). Everything that is
//! not modelled is rejected by name (`unsupported`): the model never guesses where the levels may differ.

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
