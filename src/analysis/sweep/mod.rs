//! Sweeps: replications of a scenario at many combinations of field values (points). Shards and interruptions do not
//! affect the results.
//!
//! Must never print or depend on the command line or input formats; the caller loads the points.

pub mod finished;
pub mod identity;
pub mod journal;
pub mod journal_error;
pub mod play;
pub mod points;
pub mod points_error;
pub mod range;
pub mod results;
pub mod row;
pub mod shard;
pub mod summary;
pub mod todo;

pub use finished::FinishedPoints;
pub use identity::SweepIdentity;
pub use journal_error::SweepJournalError;
pub use play::{HostInfo, play};
pub use points::{POINTS_MAX, SweepPoints};
pub use points_error::SweepPointsError;
pub use results::SweepResults;
pub use row::SweepRow;
pub use shard::{SweepShard, SweepShardError};
pub use summary::SweepSummary;
pub use todo::{WorkLimit, WorkTarget};
