//! Reads `kubectl` output from a real cluster, reconstructs the life of one JobSet from it and creates a recording
//! that can be replayed.
//!
//! All functions are pure: the input is text, the output is data. Nothing is simulated and no cluster is contacted.
//! Missing information is listed, never invented.

pub mod anonymizer;
mod cluster;
pub mod commands;
mod facts;
mod faults;
pub mod lifecycle;
pub mod milestones;
pub mod object_version;
pub mod recording;
pub mod restart_error;
mod script;
pub mod text;
pub mod timestamp;
pub mod write_time;

pub use lifecycle::ObservedLifecycle;
pub use object_version::{ObjectReadError, ObjectVersion, WatchReader};
pub use recording::{ImportedRecording, import};
pub use restart_error::{MissingMilestone, RestartImportError};
pub use text::TextProblem;
