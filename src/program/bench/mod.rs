//! `bench ttr`: the standard restart-latency suite in virtual time, and its comparison with a baseline.
//!
//! The suite is a table in `suite.yaml`. This module neither measures wall-clock time nor parses the command line.

pub mod against;
pub mod conditions;
pub mod junit;
pub mod page;
pub mod play;
pub mod print;
pub mod row;
pub mod scene;
pub mod selection;
pub mod suite;

pub use against::BaselineReport;
pub use row::BenchRow;

/// Path and value of a field override.
pub type BenchSetting = (String, String);
