//! Public interface for embedding: scenarios from files or code, simulations that can be observed and stopped, and
//! their outcomes.
//!
//! All items are re-exported at the root of the crate. This module must never contain rules of the model or separate
//! folds: it calls the same functions as the program.

#![deny(missing_docs)]

mod builder;
mod error;
mod fault;
mod jobset;
mod outcome;
mod record;
mod replications;
mod restart;
mod scenario;
mod simulation;
mod topology;

pub use builder::ScenarioBuilder;
pub use error::SimulationError;
pub use fault::{Fault, NodeRef};
pub use jobset::JobSet;
pub use outcome::SimulationOutcome;
pub use record::Record;
pub use replications::{Replications, compared};
pub use restart::{Restart, RestartPiece};
pub use scenario::Scenario;
pub use simulation::Simulation;
pub use topology::{Pool, Topology};
