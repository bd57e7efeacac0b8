//! Sweeps: replications of a scenario at many combinations of field values (points). Shards and interruptions do not
//! affect the results.
//!
//! Must never print or depend on the command line or input formats; the caller loads the points.

pub mod finished;
pub mod identity;
pub mod journal;
pub mod play;
pub mod points;
pub mod range;
pub mod results;
pub mod row;
pub mod shard;
pub mod summary;
pub mod todo;

pub use finished::Finished;
pub use identity::Identity;
pub use play::{Host, play};
pub use points::{POINTS_MAX, Points};
pub use results::Results;
pub use row::Row;
pub use shard::Shard;
pub use summary::SweepSummary;
pub use todo::{Target, Until};
