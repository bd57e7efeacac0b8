//! Deterministic discrete-event simulation of Kubernetes JobSets on modelled accelerator clusters.
//!
//! The simulation shows what happens to a JobSet when something fails, how long each restart takes, and why. It runs in
//! virtual time and needs no cluster. The program `jobset-sim` prints the results; this crate provides them as an API.
//!
//! A [`Scenario`] contains all inputs of a run. It is read from a file or built in code:
//!
//! ```
//! use jobset_sim::{Duration, Fault, JobSet, Scenario, Simulation};
//!
//! let train = JobSet::new("train").replicated_job("workers", 4, 8).max_restarts(3);
//! let scenario = Scenario::builder("one failure")
//!     .jobset(train)
//!     .fault(Fault::container_exit("train-workers-2-5", 1).after_ready(Duration::from_secs(60)))
//!     .build()?;
//!
//! let mut simulation = Simulation::new(&scenario)?;
//! let outcome = simulation.run(scenario.seed(), 0);
//!
//! for restart in outcome.restarts() {
//!     println!("{}: {} pods were ready again at {}", restart.cause(), restart.pods(), restart.end());
//!     for piece in restart.pieces() {
//!         println!("  {} {}: {}", piece.phase.as_str(), piece.takes, piece.what);
//!     }
//! }
//! assert_eq!(outcome.summary().job_sets[0].restarts, 1);
//! # Ok::<(), jobset_sim::SimulationError>(())
//! ```
//!
//! | task | item |
//! |---|---|
//! | read a scenario file and override values | [`Scenario::from_file_with`] |
//! | simulate the JobSets of manifests on the smallest cluster that fits | [`Scenario::from_manifest`] |
//! | build a scenario in code | [`Scenario::builder`], [`JobSet`], [`Topology`], [`Fault`] |
//! | get all errors with file, line and column | [`SimulationError::diagnostics`] |
//! | observe the records of a run, and stop it at any record | [`Simulation::observe`], [`Record`], [`Body`] |
//! | stop a run from another thread, or after a number of events | [`StopFlag`], [`Simulation::max_events`] |
//! | get the state of each JobSet and Job, and costs, as data or JSON | [`SimulationOutcome::summary`] |
//! | get restarts with milestones, phases and wait reasons | [`SimulationOutcome::restarts`], [`Restart`] |
//! | get the use of accelerator time | [`SimulationOutcome::ledger`] |
//! | get the progress and goodput of training jobs | [`SimulationOutcome::training`], [`SimulationOutcome::summary`] |
//! | run replications on all cores, with mean and confidence interval | [`Replications`], [`MeanEstimate`] |
//!
//! Equal inputs and seeds give equal records on every machine and with any number of threads. `examples/embed.rs` is a
//! complete example.
//!
//! The items re-exported here are the public interface. The modules below are internal and may change in any version;
//! `ARCHITECTURE.md` describes them.

mod bench;
pub mod cli;
mod facade;
pub mod glossary;
mod step;

#[doc(inline)]
pub use facade::{
    Fault, JobSet, NodeRef, Pool, Record, Replications, Restart, RestartPiece, Scenario, ScenarioBuilder, Simulation,
    SimulationError, SimulationOutcome, Topology, compared,
};
#[doc(inline)]
pub use sim_analysis::experiment::StopFlag;
#[doc(inline)]
pub use sim_analysis::metrics::summary::RunSummary;
#[doc(inline)]
pub use sim_analysis::metrics::{Milestone, Phase, RestartOutcome, RestartScope as RestartShape};
#[doc(inline)]
pub use sim_api::spec::StopWhen;
#[doc(inline)]
pub use sim_base::stats::MeanEstimate;
#[doc(inline)]
pub use sim_base::{Duration, JobId, JobSetId, NodeId, PodId, SimTime, TextId};
#[doc(inline)]
pub use sim_engine::record::{
    Body, DeletionActor, EndReason, JobConditionType, JobSetConditionType, LedgerCategory, LedgerSums, NodeReady,
    ObjectRef, RunOutcome, TicketSubject, TimeLedger, TrainingOutcome, TrainingPhase,
};
#[doc(inline)]
pub use sim_engine::{CannotRun, PrepareError};
#[doc(inline)]
pub use sim_inputs::{Diagnostic, Diagnostics};

/// Runs the code blocks of the README as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
