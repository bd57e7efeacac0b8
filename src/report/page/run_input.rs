//! Inputs of the page of one run.

use crate::assumptions::deciding::Defaults;
use sim_analysis::metrics::occupancy::Occupancy;
use sim_analysis::metrics::queued::Queued;
use sim_analysis::metrics::{RunView, Witness};

/// A run and the data that its page shows.
pub struct Told<'a> {
    pub run: RunView<'a>,
    pub witness: &'a Witness,
    pub pods: &'a Occupancy,
    pub queued: &'a Queued,
    pub defaults: &'a Defaults,
    /// Commands that repeat the run and the page.
    pub commands: &'a [String],
    /// Digest of the inputs.
    pub inputs: &'a str,
    /// Objects and files of the inputs that were not simulated.
    pub skipped: &'a [String],
}
