//! Reads `kubectl` output from a real cluster, reconstructs the life of one JobSet from it and creates a recording
//! that can be replayed.
//!
//! All functions are pure: the input is text, the output is data. Nothing is simulated and no cluster is contacted.
//! Missing information is listed, never invented.

pub mod anonymous;
mod cluster;
pub mod commands;
mod facts;
mod faults;
pub mod life;
pub mod milestones;
pub mod recording;
mod script;
pub mod sighting;
pub mod stamp;
pub mod text;
pub mod when;

pub use life::Life;
pub use recording::{Imported, import};
pub use sighting::{Reader, Sighting};
pub use text::Problem;
