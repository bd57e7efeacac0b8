//! Sweeps: a scenario at many points of its fields, replications of each, in shards and after interruptions, to the
//! same numbers.
//!
//! Must never print, and never know a command line or a file format of inputs: who sweeps brings what a point is.

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
