//! Inputs of the page of one run.

use crate::assumptions::dominant::AssumedDefaults;
use sim_analysis::metrics::occupancy::NodeOccupancy;
use sim_analysis::metrics::queue_lengths::QueuedWork;
use sim_analysis::metrics::{RestartBlocker, RunView};

/// A run and the data that its page shows.
pub struct RunInputText<'a> {
    pub run: RunView<'a>,
    pub blockers: &'a RestartBlocker,
    pub pods: &'a NodeOccupancy,
    pub queued: &'a QueuedWork,
    pub defaults: &'a AssumedDefaults,
    /// Commands that repeat the run and the page.
    pub commands: &'a [String],
    pub inputs: &'a str,
    /// Objects and files of the inputs that were not simulated.
    pub skipped: &'a [String],
}
