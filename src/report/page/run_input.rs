//! The inputs of the page of one run.

use crate::assumptions::deciding::Defaults;
use sim_analysis::metrics::occupancy::Occupancy;
use sim_analysis::metrics::queued::Queued;
use sim_analysis::metrics::{RunView, Witness};

/// A run, and what a page needs beside it.
pub struct Told<'a> {
    pub run: RunView<'a>,
    pub witness: &'a Witness,
    pub pods: &'a Occupancy,
    pub queued: &'a Queued,
    pub defaults: &'a Defaults,
    /// What repeats the run, and the page.
    pub commands: &'a [String],
    /// Digest of the inputs.
    pub inputs: &'a str,
    /// Objects and files of the inputs that were not played.
    pub skipped: &'a [String],
}
