//! Experiments: single runs with their metrics, parallel replications, and estimates over them.
//!
//! Must never print or depend on the command line, because `cli` and the library facade both use it.

#![deny(missing_docs)]

pub mod collapsed;
pub mod collapsed_check;
pub mod compare;
pub mod counted;
pub mod derivative;
pub mod fail_if;
pub mod fleets;
pub mod metric;
pub mod mixed;
pub mod over_time;
pub mod parallel;
pub mod play;
pub mod player;
pub mod replication;
pub mod replications;
pub mod stop;
pub mod subject;
pub mod verify;
mod warned;

pub use collapsed::{Collapsed, NotCollapsed};
pub use collapsed_check::{Agreement, Checked, Counted, Differences, check_collapsed};
pub use compare::{
    Change, Comparison, MetricEstimate, PairedEstimate, PlayedVariant, VariantEstimates, Verdict,
};
pub use counted::{CountedRun, UsedAt, count_restarts, with_maintenance_rule, without_limit};
pub use derivative::{Derivative, Side, derivative, headline};
pub use fleets::{FleetReplications, compared, replicate_fleet};
pub use metric::{Better, Measured, better, is_by_cause, metrics, unnamed};
pub use mixed::{Had, MixedRuns};
pub use parallel::{NoRuns, in_parallel};
pub use play::{Played, play};
pub use player::Player;
pub use replication::{BriefRestart, ReplicatedJobSet, Replication, never_placed};
pub use replications::{Cost, JobSetEstimates, Replications};
pub use stop::{Limited, Limits, StopFlag};
pub use subject::{Subject, SubjectPlayer};
pub use verify::{NotVerified, verify};
pub use warned::warnings_of;
