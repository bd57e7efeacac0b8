//! Metrics of a run, folded from its records and outcome: restarts and their critical paths, table rows, the summary.
//!
//! Must never read engine state: every number is computed from records, tickets and the outcome.

pub mod assumed;
pub mod counted;
pub mod events;
pub mod fold;
pub mod kept;
pub mod node_states;
pub mod nodes;
pub mod occupancy;
pub mod pods;
pub mod queued;
pub mod restarts;
pub mod scraped;
pub mod story;
pub mod summary;
pub mod timeline;
pub mod training;
pub mod view;

pub use counted::{CountedFold, CountedUse};
pub use fold::{FoldedMetrics, MetricFolds};
pub use restarts::critical::CriticalSpan;
pub use restarts::fold::RestartFold;
pub use restarts::gate::RestartBottleneck;
pub use restarts::path::{CriticalPath, PathStep};
pub use restarts::phases::Phase;
pub use restarts::restart::{Milestone, RestartMetrics, RestartOutcome, RestartScope};
pub use restarts::spans::RestartSpan;
pub use restarts::witness::RestartBlocker;
pub use view::RunView;
