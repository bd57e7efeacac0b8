//! What people and scripts read: text, tables, run directories, logs, charts.
//!
//! Must never compute a statistic or look into the engine: `metrics` did that.

pub mod assumptions;
pub mod atomic_write;
pub mod console;
pub mod decisions;
pub mod draw;
pub mod estimates;
pub mod export;
pub mod figures;
pub mod files;
pub mod page;
pub mod planning;
pub mod rundiff;
pub mod sweep_pick;
pub mod table;
pub mod timeline;
