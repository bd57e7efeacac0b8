//! What people and scripts read: text, tables, run directories, logs, charts.
//!
//! Must never compute a statistic or look into the engine: `metrics` did that.

pub mod assumed;
pub mod chart;
pub mod check_collapsed;
pub mod compare;
pub mod compare_figure;
mod compare_ledger;
pub mod compare_tables;
mod compare_time;
pub mod csv;
mod decided_by;
pub mod deciding;
mod decision_failure;
mod decision_in_place;
mod decision_job;
mod decision_layout;
mod decision_records;
mod decision_text;
pub mod decisions;
pub mod event_objects;
pub mod events;
pub mod export;
pub mod figure;
pub mod fleets;
pub mod golden;
pub mod json;
pub mod map_figure;
pub mod openmetrics;
pub mod page;
pub mod perfetto;
mod perfetto_tracks;
pub mod planning;
mod proto;
pub mod provenance;
pub mod replications;
#[cfg(test)]
mod report_tests;
pub mod rundiff;
pub mod rundir;
pub mod scaling_figure;
pub mod scene;
pub mod side_by_side;
pub mod story;
mod svg;
pub mod sweep_figure;
mod sweep_pick;
pub mod sweep_tables;
pub mod sweep_text;
pub mod text;
pub mod timeline;
pub mod timeline_figure;
pub mod training;
pub mod waterfall;
pub mod waterfall_figure;
pub mod whole;
pub mod words;
