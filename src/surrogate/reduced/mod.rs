//! The reduced model of a scenario with pods. The JobSet is one unit, and its restart times are measured by
//! simulating the same scenario with the engine.
//!
//! The faults of a replication and the arithmetic of training (`sim_reliability`) are those of the engine. The effect
//! of a fault is looked up in the measurements (`measurement`). Scenarios with unsupported features are rejected
//! with the names of the features, so the model never guesses an effect.

#![deny(missing_docs)]

pub mod accuracy;
mod apply_fault;
mod bit_set;
mod chance_range;
mod jobset_pods;
mod ledger;
pub mod measurement;
mod observation;
mod outcome;
mod overlapping_fault;
mod refuse;
mod run;
mod slots;
mod trainer;

pub use accuracy::{AccuracyParameter, MEAN_DIFFERENCE_MAX, accuracy_parameters};
pub use measurement::measure::MeasuredFault;
pub use measurement::trial_runner::NotMeasured;
pub use outcome::{OutcomeCounter, RecoveryKind, ReducedOutcome};
pub use refuse::why_not;
pub use run::ReducedSimulator;
