//! Folds over records and outcomes: restarts, what gated them, rows of the tables, the summary.
//!
//! Must never look into the engine: every number here comes from records, tickets and the outcome.

pub mod assumed;
pub mod counted;
pub mod critical;
pub mod events;
pub mod fold;
pub mod gate;
pub mod kept;
pub mod node_states;
pub mod nodes;
pub mod occupancy;
pub mod path;
pub mod phases;
pub mod pods;
pub mod queued;
pub mod restart;
pub mod restart_fold;
mod restart_milestones;
mod restart_path;
pub mod scraped;
pub mod spans;
pub mod steps;
pub mod story;
pub mod summary;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod testing_lines;
#[cfg(test)]
mod testing_run;
mod tickets;
pub mod timeline;
pub mod training;
pub mod trouble;
pub mod view;
pub mod waits;
pub mod witness;

pub use counted::{CountedFold, Used};
pub use critical::CriticalSpan;
pub use fold::{Folded, Folds};
pub use gate::Gate;
pub use path::{Path, PathStep};
pub use phases::Phase;
pub use restart::{Ending, Milestone, Restart, Shape};
pub use restart_fold::RestartFold;
pub use spans::Span;
pub use view::RunView;
pub use witness::Witness;
