//! What others embed: a scenario from files or from code, runs that can be watched and stopped, and what they leave.
//!
//! Everything here is re-exported at the root of the crate. Must never hold a rule of the model, nor a fold of its
//! own: it calls what the program calls.

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
pub use error::Error;
pub use fault::{Fault, NodeRef};
pub use jobset::JobSet;
pub use outcome::Outcome;
pub use record::Record;
pub use replications::{Replications, compared};
pub use restart::{Piece, Restart};
pub use scenario::Scenario;
pub use simulation::Simulation;
pub use topology::{Pool, Topology};
