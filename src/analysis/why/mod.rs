//! Explanations of durations: the critical path of a restart, a start or a pod, and the effect of changes, found by
//! simulating them.
//!
//! Every what-if is a separate run, never an estimate. Must never depend on the command line.

pub mod blocked;
mod change_trial;
mod edits;
mod edits_cluster;
pub mod explain;
pub mod facts;
pub mod idle_domains;
mod improve;
pub mod json;
pub mod levers;
mod lost_nodes;
pub mod no_answer;
pub mod same_restart;
pub mod trials;

pub use blocked::BlockedJobSet;
pub use explain::{WhatIf, WhyExplanation, WhyRequest, WhySubject, explain};
pub use no_answer::{NoAnswer, TrialError};

use sim_inputs::LoadedScenario;

/// Path and value of an override, as for `--set`.
pub type OverrideSetter = (String, String);
/// Reads the inputs with additional overrides. The error is a complete sentence.
pub type ScenarioLoader<'l> = dyn Fn(&[OverrideSetter]) -> Result<LoadedScenario, String> + Sync + 'l;
