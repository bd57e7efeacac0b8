//! `bench ttr`: the standard restart-latency suite in virtual seconds, and its comparison with a baseline.
//!
//! The suite is a table, `suite.yaml`. This module neither measures wall time nor parses a command line.

pub mod against;
pub mod conditions;
pub mod junit;
pub mod page;
pub mod play;
pub mod print;
pub mod row;
pub mod scene;
pub mod suite;

pub use against::Report;
pub use row::Row;

/// Path and value, as `--set` takes them.
pub type Set = (String, String);
