//! Deterministic discrete-event simulation of Kubernetes JobSets on modelled accelerator clusters.
//!
//! What happens to a JobSet when something fails, how long each restart takes, and why: without a cluster, in virtual
//! time. The program `jobset-sim` prints it; this crate gives it to your own program.
//!
//! A [`Scenario`] is everything a run needs. It comes from a file, or is built in code:
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
//! # Ok::<(), jobset_sim::Error>(())
//! ```
//!
//! | you want | it is |
//! |---|---|
//! | a scenario file, with values changed | [`Scenario::from_file_with`] |
//! | JobSets of your manifests, a cluster just large enough | [`Scenario::from_manifest`] |
//! | a scenario in code | [`Scenario::builder`], [`JobSet`], [`Topology`], [`Fault`] |
//! | every error with file, line and column | [`Error::diagnostics`] |
//! | to see what happens, and to stop when you have seen enough | [`Simulation::observe`], [`Record`], [`Body`] |
//! | to stop from another thread, or after so many events | [`StopFlag`], [`Simulation::max_events`] |
//! | the state of each JobSet and Job, costs, as data or JSON | [`Outcome::summary`] |
//! | restarts: milestones, phases, what each piece waited for | [`Outcome::restarts`], [`Restart`] |
//! | where the accelerators' time went | [`Outcome::ledger`] |
//! | what a training job came to, goodput | [`Outcome::training`], [`Outcome::summary`] |
//! | chance: many replications on all cores, mean and interval | [`Replications`], [`Estimate`] |
//!
//! Equal inputs and seeds give equal records, on every machine and any number of threads. `examples/embed.rs` is a
//! whole program.
//!
//! What is re-exported here is the interface for others. The modules below are how it works inside; `ARCHITECTURE.md`
//! explains them, and they change without notice.

mod bench;
pub mod cli;
mod facade;
mod step;
pub mod words;

#[doc(inline)]
pub use facade::{
    Error, Fault, JobSet, NodeRef, Outcome, Piece, Pool, Record, Replications, Restart, Scenario,
    ScenarioBuilder, Simulation, Topology, compared,
};
#[doc(inline)]
pub use sim_analysis::experiment::StopFlag;
#[doc(inline)]
pub use sim_analysis::metrics::summary::Summary;
#[doc(inline)]
pub use sim_analysis::metrics::{Ending, Milestone, Phase, Shape as RestartShape};
#[doc(inline)]
pub use sim_api::spec::StopWhen;
#[doc(inline)]
pub use sim_base::stats::Estimate;
#[doc(inline)]
pub use sim_base::{Duration, JobId, JobSetId, NodeId, PodId, TextId, Time};
#[doc(inline)]
pub use sim_engine::record::{
    About, Body, Deleter, EndReason, JobConditionType, JobSetConditionType, Ledger, LedgerCategory,
    LedgerSums, NodeReady, ObjectRef, RunOutcome, TrainingOutcome, TrainingPhase,
};
#[doc(inline)]
pub use sim_engine::{CannotRun, Impossible};
#[doc(inline)]
pub use sim_inputs::{Diagnostic, Diagnostics};

/// The code of the README is run like any other example.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
