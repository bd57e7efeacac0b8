//! Output for users and scripts: console text, tables, run directories, logs and charts.
//!
//! This crate neither computes statistics nor accesses the engine. It renders the results of `metrics`.

pub mod assumptions;
pub mod atomic_write;
pub mod console;
pub mod decisions;
pub mod draw;
pub mod estimates;
pub mod export;
pub mod export_error;
pub mod figures;
pub mod files;
pub mod metric_label;
pub mod page;
pub mod planning;
pub mod rundiff;
pub mod rundiff_error;
pub mod sweep_selection;
pub mod table;
pub mod timeline;
