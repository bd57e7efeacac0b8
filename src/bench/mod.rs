//! `bench ttr`: the standard restart-latency suite in virtual seconds, exact, and held against a baseline; `bench self`
//! (`own`): the speed of the program itself.
//!
//! What is played is a table, `suite.yaml`. Must never measure wall time, and never know a command line.

pub mod against;
pub mod conditions;
pub mod junit;
pub mod own;
pub mod page;
pub mod play;
pub mod print;
pub mod row;
pub mod scene;
pub mod suite;

pub use against::{Moved, Report};
pub use row::{Key, Row};
pub use suite::{Combination, Suite};

/// Path and value, as `--set` takes them.
pub type Set = (String, String);
