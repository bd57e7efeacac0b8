//! Sweeps: replications of a scenario at many combinations of field values (points). Shards and interruptions do not
//! affect the results.
//!
//! Must never print or depend on the command line or input formats; the caller loads the points.

pub mod finished_points;
pub mod identity;
pub mod journal;
pub mod journal_error;
pub mod points;
pub mod points_error;
pub mod range;
pub mod results;
pub mod row;
pub mod shard;
pub mod simulate;
pub mod summary;
pub mod work_plan;

pub use finished_points::FinishedPoints;
pub use identity::SweepIdentity;
pub use journal_error::SweepJournalError;
pub use points::{POINTS_MAX, SweepPoints};
pub use points_error::SweepPointsError;
pub use results::SweepResults;
pub use row::SweepRow;
pub use shard::{SweepShard, SweepShardError};
pub use simulate::{HostInfo, simulate};
pub use summary::SweepSummary;
pub use work_plan::{WorkLimit, WorkTarget};
