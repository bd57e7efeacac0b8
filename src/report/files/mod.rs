//! Output files for scripts: the run directory, CSV, JSON, event logs, Perfetto and OpenMetrics.

pub mod columns;
pub mod compare_tables;
pub mod csv;
pub mod event_objects;
pub mod events;
pub mod json;
pub mod openmetrics;
pub(crate) mod openmetrics_requests;
pub(crate) mod openmetrics_text;
pub mod perfetto;
pub(crate) mod perfetto_tracks;
pub mod proto;
pub mod rundir;
pub mod rundir_error;
pub mod sweep_tables;
