//! Metrics of a run, folded from its records and outcome: restarts and their critical paths, table rows, the summary.
//!
//! Must never read engine state: every number is computed from records, tickets and the outcome.

pub mod admission;
pub mod assumed;
pub mod events;
pub mod fold;
pub mod node_states;
pub mod nodes;
pub mod occupancy;
pub mod occurrence_counts;
pub mod open_metrics;
pub mod pods;
pub mod queue_lengths;
pub mod record_buffer;
pub mod restarts;
pub mod step_time;
pub mod story;
pub mod summary;
pub mod timeline;
pub mod training;
pub mod view;

pub use fold::{FoldedMetrics, MetricFolds};
pub use occurrence_counts::{CountedFold, CountedUse, RestartTotals};
pub use restarts::blockers::RestartBlocker;
pub use restarts::bottleneck::RestartBottleneck;
pub use restarts::critical_spans::CriticalSpan;
pub use restarts::fold::RestartFold;
pub use restarts::path::{CriticalPath, PathStep};
pub use restarts::phases::Phase;
pub use restarts::restart::{Milestone, RestartMetrics, RestartOutcome, RestartScope};
pub use restarts::spans::RestartSpan;
pub use view::{FailedJobSet, RunView};
