//! The inputs of the page of one run.

use crate::metrics::occupancy::Occupancy;
use crate::metrics::queued::Queued;
use crate::metrics::{RunView, Witness};
use crate::report::deciding::Defaults;

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
