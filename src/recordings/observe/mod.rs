//! What `kubectl` printed of a real cluster, read as the life of one JobSet, and as a recording that can be played.
//!
//! Pure: texts in, data out. Nothing here runs, simulates or asks a cluster. What the texts do not hold is named, never
//! made up.

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
