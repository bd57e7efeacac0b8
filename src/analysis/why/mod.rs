//! Why something took as long as it did, or never came: the critical path of a restart, of a start or of a pod, and
//! what would have been different, found out by playing again.
//!
//! Must never guess: every "what if" is a run of its own. Must never know a command line.

pub mod blocked;
mod edits;
mod edits_cluster;
pub mod explain;
pub mod facts;
mod improve;
pub mod json;
pub mod levers;
pub mod tries;

pub use blocked::Blocked;
pub use explain::{Asked, NoAnswer, Subject, WhatIf, Why, explain};

use sim_inputs::LoadedScenario;

/// Path and value, as `--set` takes them.
pub type Set = (String, String);
/// Reads the inputs again with more overrides; the error is a sentence.
pub type Load<'l> = dyn Fn(&[Set]) -> Result<LoadedScenario, String> + Sync + 'l;
